#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/option_table.h"
#include "cli/output_width.h"
#include "profile/core/design.h"

namespace perfcast::cli {
namespace {

constexpr auto kLineEvery = std::chrono::seconds(10);
constexpr double kWorthSaying_s = 2;
constexpr size_t kLineChars = 160;
constexpr const char* kForms[] = {"--csv", "--markdown"};  // whose lines stay whole

// The parser would take -1 and 1e30 for other numbers. Empty: it is one.
std::string out_of_seeds(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (problem == std::errc() && end == text.data() + text.size()) return "";
  return printable(text) + " is no seed: a whole number from 0 to 18446744073709551615";
}

// Neither a file nor a form that programs read.
bool is_for_people(const std::string& text, const CommonOptions& options) {
  if (options.json || options.output != "-" || options.verb == nullptr) return false;
  if (text.starts_with('{') || text.starts_with('[') || options.verb->get_option_no_throw("--json") == nullptr)
    return false;
  return std::none_of(std::begin(kForms), std::end(kForms), [&](const char* form) {
    const CLI::Option* option = options.verb->get_option_no_throw(form);
    return option != nullptr && option->count() > 0;
  });
}

}  // namespace

void add_common_options(CLI::App& verb, CommandContext& context, unsigned further) {
  CommonOptions& options = context.options;
  if (options.corpus.empty()) options.corpus = in_user_data("perfcast.db");
  if (options.bundle.empty()) options.bundle = shipped_file("bundles/cpus.pcb");
  if ((further & kCorpusOption) != 0) {
    add_advanced(verb, "--corpus", options.corpus, "FILE",
                 "The corpus: a file (SQLite), or the address of a PostgreSQL database, such as "
                 "postgresql://user@host/lab.")
        ->each([&options](const std::string&) { options.corpus_given = true; })
        ->capture_default_str()
        ->group(kCommonGroup);
  }
  if ((further & kBundleOption) != 0) {
    add_advanced(verb, "--bundle", options.bundle, "FILE", "The bundle of trained models.")
        ->each([&options](const std::string&) { options.bundle_given = true; })
        ->capture_default_str()
        ->group(kCommonGroup);
  }
  add_advanced(verb, "-o,--output", options.output, "FILE", "Writes the result into this file; - is standard output.")
      ->capture_default_str()
      ->group(kCommonGroup);
  add_advanced(verb, "--json", options.json, "Prints the result for machines.")->group(kCommonGroup);
  if ((further & kShowOutputOption) != 0) {
    add_advanced(verb, "--show-output", options.show_output, "Sends the measured program's stdout to stderr.")
        ->group(kCommonGroup);
  }
  if ((further & kQuietOption) != 0) {
    add_advanced(verb, "--quiet", options.quiet, "Prints no progress and no notes.")->group(kCommonGroup);
  }
  if ((further & kSeedOption) != 0) {
    add_advanced(verb, "--seed", options.seed, "N", "The seed of everything that is drawn at random.")
        ->each([&options](const std::string&) { options.seed_given = true; })
        ->check(CLI::Validator(out_of_seeds, "", "seed"))
        ->capture_default_str()
        ->group(kCommonGroup);
  }
  if ((further & kThreadsOption) != 0) {
    add_advanced(verb, "--threads", options.threads, "N", "Computes with this many threads.")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str()
        ->group(kCommonGroup);
  }
}

std::string in_user_data(const std::string& name) {
  const std::string folder = user_data_folder();
  return folder.empty() ? folder : folder + "/" + name;
}

std::string shipped_file(const std::string& name) {
  const auto is_there = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  if (const char* share = std::getenv("PERFCAST_SHARE"); share != nullptr && *share != '\0') {
    return std::string(share) + "/" + name;
  }
  std::error_code problem;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    std::string installed = (binary.parent_path().parent_path() / "share" / "perfcast" / name).string();
    if (is_there(installed)) return installed;
  }
  return std::string(PERFCAST_SOURCE_SHARE) + "/" + name;
}

std::shared_ptr<const std::vector<CoreDesign>> shipped_core_designs() {
  auto designs = read_core_designs(shipped_file("cores/designs.json"));
  return designs ? std::make_shared<const std::vector<CoreDesign>>(std::move(*designs)) : nullptr;
}

int report_error(const Error& problem, const CommonOptions& options) {
  const Error error = options.verb == nullptr ? problem : with_option_names(problem, *options.verb);
  if (options.json) {
    const std::string text = to_text(to_json(error));
    std::fputs(text.c_str(), stdout);
  } else {
    const std::string text = fitted("perfcast: " + to_text(error) + "\n");
    std::fputs(text.c_str(), stderr);
  }
  if (error.kind == ErrorKind::kInterrupted) return kExitBySignal + interrupting_signal();
  return error.kind == ErrorKind::kUsage ? kExitUsage : kExitFailure;
}

int write_result(const std::string& text, const CommonOptions& options, NewFile access) {
  const std::string shown = is_for_people(text, options) ? fitted(text) : text;
  if (const Status status = write_file_atomically(options.output, shown, access); !status) {
    if (status.error().kind == ErrorKind::kReaderGone) return kExitDone;
    CommonOptions how = options;
    how.json = options.json && options.output != "-";  // where stdout itself failed, only stderr is left
    return report_error(status.error(), how);
  }
  return kExitDone;
}

bool is_colour_wanted() {
  const char* forbidden = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (forbidden == nullptr || *forbidden == '\0') && terminal != nullptr &&
         std::string(terminal) != "dumb";
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code problem;
  const auto canonical = [&problem](const std::string& path) {
    const auto whole = std::filesystem::absolute(path, problem);
    const auto result = problem ? whole : std::filesystem::weakly_canonical(whole, problem);
    return problem ? whole.lexically_normal() : result;
  };
  return a == b || canonical(a) == canonical(b);
}

Status check_not_read(const std::string& option, const std::string& output, const std::vector<std::string>& read) {
  if (output.empty() || output == "-") return {};
  for (const std::string& path : read) {
    if (!path.empty() && same_file(output, path))
      return usage_error("bad-usage", "'" + printable(output) + "' is read, too: it would be lost", option,
                         "another file");
  }
  return {};
}

ProgressLine::ProgressLine(const CommonOptions& options)
    : enabled_(!options.quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  if (enabled_) clock_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

ProgressLine::~ProgressLine() {
  if (clock_.joinable()) {
    clock_.request_stop();
    clock_.join();
  }
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::follow(const std::stop_token& stop) {
  std::unique_lock lock(lock_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    if (!stop.stop_requested()) draw();
  }
}

void ProgressLine::draw() {
  const auto now = Clock::now();
  if (text_.empty() || (!terminal_ && now - printed_ < kLineEvery)) return;
  std::string line = printable(text_).substr(0, kLineChars);
  const double since_s = std::chrono::duration<double>(now - since_).count();
  if (since_s >= kWorthSaying_s) line += fmt::format(" {:.0f} s", since_s);
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "perfcast: %s\n", line.c_str());
  std::fflush(stderr);
  shown_ = terminal_;
  printed_ = now;
}

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  const std::lock_guard guard(lock_);
  if (text != text_) since_ = Clock::now();
  text_ = text;
  if (terminal_) draw();
}

}  // namespace perfcast::cli
