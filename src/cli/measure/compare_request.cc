#include "cli/measure/compare_request.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/csv.h"
#include "base/process/duration.h"
#include "base/text.h"
#include "fleet/slurm/job_script.h"
#include "measure/compare/comparison_report.h"
#include "measure/compare/result_file.h"

namespace perfcast::cli {
namespace {

// "2%" or 0.02; 2 alone would be 200%, which nobody means.
Result<double> parse_ratio(const std::string& text, const char* option) {
  const bool is_percent = text.ends_with('%');
  const auto value = parse_number(trim(is_percent ? text.substr(0, text.size() - 1) : text));
  if (value && *value >= 0 && *value < (is_percent ? 10000 : 1)) return is_percent ? *value / 100 : *value;
  return usage_error("bad-usage", "'" + printable(text) + "' is no ratio", option, "such as 2% or 0.02");
}

// Whether a shell would make something of the text that a split into words doesn't.
bool needs_shell(const std::string& text) {
  if (text.find_first_of("|&;<>$`*?~(){}[]!#\\\n") != std::string::npos) return true;
  const std::string first(trim(text).substr(0, trim(text).find_first_of(" \t'\"")));
  return first.find('=') != std::string::npos && first.find('/') > first.find('=');  // NAME=value before a command
}

// By a shell only where one of them needs it, and then both, as its start is timed and counted, too.
Status take_commands(const std::array<std::string, 2>& texts, measure::CompareRequest& request) {
  bool by_shell = false;
  for (const std::string& text : texts) by_shell = by_shell || needs_shell(measure::with_tree(text, "tree"));
  for (size_t i = 0; i < 2; ++i) {
    if (measure::is_compared_file(texts[i])) continue;
    auto words = fleet::shell_words(texts[i], fleet::LineKind::kCommand);
    if (!words || words->empty()) {
      return usage_error("bad-usage", "'" + printable(texts[i]) + "' is no command", i == 0 ? "A" : "B",
                         "a command in quotes, such as \"xz -6 -k -c file\"");
    }
    request.commands[i] = by_shell ? std::vector<std::string>{"/bin/sh", "-c", texts[i]} : std::move(*words);
  }
  if (by_shell) request.notes.emplace_back("both are run by /bin/sh, whose start is part of their times and counts");
  if (std::any_of(texts.begin(), texts.end(), [](const auto& text) { return text.find('|') != std::string::npos; }))
    request.notes.emplace_back("of a pipeline only the last command's failure is noticed");
  return {};
}

Status take_duration(const std::string& text, const char* option, double& seconds) {
  if (text.empty()) return {};
  const auto parsed = parse_duration_s(text, option);
  if (!parsed) return parsed.error();
  seconds = *parsed;
  return {};
}

}  // namespace

Result<measure::CompareRequest> compare_request(const CompareArguments& arguments, const CommonOptions& options) {
  measure::CompareRequest request;
  if (Status taken = take_commands({arguments.a, arguments.b}, request); !taken) return taken.error();
  if (Status taken = take_duration(arguments.budget, "--time-limit", request.budget_s); !taken) return taken.error();
  if (arguments.by_counts() && !arguments.time_limit_given) request.budget_s = 0;
  if (Status taken = take_duration(arguments.limit, "--run-limit", request.limit_s); !taken) return taken.error();
  const auto threshold = parse_ratio(arguments.threshold, "--threshold");
  if (!threshold) return threshold.error();
  request.threshold_ratio = *threshold;
  request.time = arguments.measure == "cpu" ? measure::ComparedTime::kCpu : measure::ComparedTime::kWall;
  request.error_ratio = arguments.error;
  request.around = arguments.around;
  request.warmups = arguments.warmups;
  request.counted_runs = arguments.counted_runs;
  request.accept_failure = arguments.accept_failure;
  request.seed = options.seed;
  return request;
}

Result<measure::SessionRequest> session_request(const CompareArguments& arguments) {
  measure::SessionRequest request;
  const auto threshold = parse_ratio(arguments.threshold, "--threshold");
  if (!threshold) return threshold.error();
  request.threshold_ratio = *threshold;
  request.error_ratio = arguments.error;
  request.time = arguments.measure == "cpu" ? measure::ComparedTime::kCpu : measure::ComparedTime::kWall;
  if (!arguments.between_sessions.empty()) {
    const auto between = parse_ratio(arguments.between_sessions, "--between-sessions");
    if (!between) return between.error();
    request.between_sessions = *between;
  }
  return request;
}

Result<measure::RevisionRequest> revision_request(const CompareArguments& arguments, const CommonOptions& options) {
  if (arguments.at.size() != 2) {
    return usage_error("bad-usage", fmt::format("--at is given {} times", arguments.at.size()), "--at",
                       "two revisions, the older first: --at v1 --at HEAD");
  }
  if (arguments.build.empty()) {
    return usage_error("bad-usage", "nothing says how a revision is built", "--build",
                       "a command, such as --build \"make -j2\"; --build true where there is nothing to build");
  }
  for (const std::string& text : {arguments.a, arguments.b}) {
    if (text.find(measure::kTreeMark) != std::string::npos) continue;
    return usage_error("bad-usage", "'" + printable(text) + "' doesn't say where the revision's build is", "A",
                       "a command with {tree} for the top of the revision's tree, such as \"{tree}/prog input\"");
  }
  measure::RevisionRequest request;
  auto comparison = compare_request(arguments, options);
  if (!comparison) return comparison.error();
  request.comparison = std::move(*comparison);
  request.build = arguments.build;
  request.by_counts = arguments.by_counts();
  if (Status taken = take_duration(arguments.build_limit, "--build-limit", request.build_limit_s); !taken)
    return taken.error();
  if (!arguments.trees.empty()) {
    request.trees = std::filesystem::absolute(arguments.trees).lexically_normal().string();
    if (needs_shell(request.trees) || request.trees.find_first_of(" \t'\"") != std::string::npos) {
      return usage_error("bad-usage", "a shell would not take '" + printable(request.trees) + "' for one word",
                         "--trees", "a path of letters, digits and / . _ -");
    }
  }
  return request;
}

RunLog::~RunLog() {
  if (descriptor_ < 0) return;
  fdatasync(descriptor_);  // not after each run: that would disturb the next
  close(descriptor_);
}

Status RunLog::open_at(const std::string& path) {
  path_ = path;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return descriptor_ >= 0 ? Status() : failed();
}

Status RunLog::add(const measure::ComparedRun& run) {
  const std::string line = measure::run_line(run);
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed();
    done += static_cast<size_t>(written);
  }
  return {};
}

Status RunLog::failed() const {
  return environment_error("cannot-write", std::string("cannot write the log: ") + std::strerror(errno), path_,
                           "a place with room");
}

}  // namespace perfcast::cli
