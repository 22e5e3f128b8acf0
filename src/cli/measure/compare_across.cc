#include "cli/measure/compare_across.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/last_profile.h"
#include "measure/compare/result_file.h"
#include "program/across/across_comparison.h"
#include "program/across/across_report.h"
#include "program/forecast/forecast.h"

namespace perfcast::cli {
namespace {

constexpr size_t kHostLimitBytes = size_t{1} << 20;

// A file of that name is what lscpu printed.
Result<std::string> host_text(const std::string& given) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(given, problem)) return given;
  auto text = read_file(given, kHostLimitBytes);
  if (!text) return text.error();
  return *text + "\n";
}

Result<measure::ComparedFile> read_results(const std::string& path, const std::string& where) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    return usage_error("file-not-found", "'" + printable(path) + "' is no file of results", where,
                       "--across with two files of results, each with the host that it came from");
  }
  auto file = measure::read_compared_file(path, false);
  if (!file) return file.error();
  if (file->results.benchmarks.empty())
    return Error{"no-results", "it has no times", path, "results with times: compare --json, hyperfine, ..."};
  return file;
}

// Of the option, or else of the file.
Result<program::NamedMachine> machine_of(const program::Bundle& bundle, const std::string& given,
                                         const std::string& option, const measure::ResultFile& file) {
  if (!given.empty()) {
    const auto text = host_text(given);
    if (!text) return text.error();
    return program::machine_called(bundle, *text, option);
  }
  if (file.host.name.empty() && !file.host.model) {
    return usage_error(
        "unknown-host", printable(file.path) + ", of " + file.tool + ", doesn't say its host", option,
        "the CPU model, an instance type such as aws:m7g.large, or a file with what lscpu printed there");
  }
  auto machine = program::machine_of(bundle, file.host, printable(file.path));
  if (!machine) {
    Error error = machine.error();
    error.expected = option + " with a CPU that is known: " + error.expected;
    return error;
  }
  return machine;
}

Result<program::MachineFactor> factor_of(const program::Forecaster& forecaster,
                                         const std::array<program::NamedMachine, 2>& machines,
                                         const std::array<measure::ComparedFile, 2>& files,
                                         const CompareArguments& arguments) {
  std::optional<Profile> profile = files[0].profile;  // of the version that the machines alone are asked about
  if (!arguments.profile.empty()) {
    auto read = read_profile(profile_path(arguments.profile));
    if (!read) return read.error();
    profile = std::move(*read);
  }
  if (!profile) return program::factor_of_group(forecaster.bundle(), machines, arguments.kind);
  if (Status ran = program::check_success(*profile, arguments.accept_failure); !ran) return ran.error();
  return program::factor_of_profile(forecaster, machines, *profile);
}

Result<program::AcrossComparison> compare(const CompareArguments& arguments, const CommonOptions& options) {
  const auto session = session_request(arguments);
  if (!session) return session.error();
  if (!arguments.profile.empty()) {
    if (Status there = check_profiles({arguments.profile}); !there) return there.error();
  }
  auto a = read_results(arguments.a, "A");
  if (!a) return a.error();
  auto b = read_results(arguments.b, "B");
  if (!b) return b.error();
  std::vector<measure::ComparedFile> earlier;
  for (const std::string& path : arguments.earlier) {
    auto file = read_results(path, "--earlier");
    if (!file) return file.error();
    earlier.push_back(std::move(*file));
  }
  const auto forecaster = open_forecaster(options);
  if (!forecaster) return forecaster.error();
  const program::Bundle& bundle = forecaster->bundle();
  const auto host_a = machine_of(bundle, arguments.host_a, "--host-a", a->results);
  if (!host_a) return host_a.error();
  const auto host_b = machine_of(bundle, arguments.host_b, "--host-b", b->results);
  if (!host_b) return host_b.error();

  program::AcrossRequest request;
  auto factor = factor_of(*forecaster, {*host_a, *host_b}, {*a, *b}, arguments);
  if (!factor) return factor.error();
  request.factor = std::move(*factor);
  for (measure::ComparedFile& file : earlier) {
    program::EarlierResult result{std::move(file.results), *host_b};
    // A file that doesn't say it is of B's CPU model, as the option says.
    if (!result.file.host.name.empty() || result.file.host.model) {
      auto machine = program::machine_of(bundle, result.file.host, printable(result.file.path));
      if (!machine) return machine.error();
      if (machine->platform != host_b->platform) result.machine = std::move(*machine);
    }
    request.earlier.push_back(std::move(result));
  }
  request.a = std::move(a->results);
  request.b = std::move(b->results);
  request.session = *session;
  return program::compare_across(request);
}

}  // namespace

Status check_across(const CompareArguments& arguments) {
  const auto wrong = [](const std::string& message, const char* option, const char* expected) {
    return usage_error("bad-usage", message, option, expected);
  };
  if (!arguments.across) {
    for (const auto& [option, is_given] : {std::pair{"--host-a", !arguments.host_a.empty()},
                                           {"--host-b", !arguments.host_b.empty()},
                                           {"--earlier", !arguments.earlier.empty()},
                                           {"--profile", !arguments.profile.empty()},
                                           {"--kind", arguments.kind != CompareArguments().kind}}) {
      if (is_given) return wrong("this option is only for results from two machines", option, "--across, too");
    }
    return {};
  }
  if (arguments.b.empty()) return wrong("B is missing", "B", "a second file of results");
  if (arguments.by_counts())
    return wrong("counts do not depend on the machine", "--measure", "without --across: perfcast compare A B");
  if (!arguments.between_sessions.empty())
    return wrong("servers differ by more than sessions do", "--between-sessions", "--across without it");
  if (!arguments.at.empty() || !arguments.build.empty() || arguments.bisect)
    return wrong("revisions are built and run here, on one machine", "--across", "two files of results");
  return {};
}

int run_across(const CompareArguments& arguments, const CommonOptions& options) {
  const auto comparison = compare(arguments, options);
  if (!comparison) return report_error(comparison.error(), options);
  const measure::CommandTexts files = {arguments.a, arguments.b};
  const int written = write_result(options.json ? to_text(program::across_json(*comparison, files))
                                                : program::across_text(*comparison, files, arguments.markdown),
                                   options);
  if (written != kExitDone) return written;
  if (comparison->any(measure::CompareVerdict::kSlower)) return kExitRegression;
  return comparison->any(measure::CompareVerdict::kUnclear) ? kExitUnclear : kExitDone;
}

}  // namespace perfcast::cli
