#include "profile/suite/suite_tools.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/csv.h"
#include "base/json.h"
#include "base/process/program_inspector.h"
#include "base/process/tool.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kAnswerLimit_s = 30;
constexpr const char* kHarness = "perfcast-harness";

Result<double> field_of(const std::map<std::string, std::string>& fields, const std::string& name,
                        const std::string& source) {
  const auto found = fields.find(name);
  const auto value = found == fields.end() ? std::nullopt : parse_number(found->second);
  if (value && *value >= 0) return *value;
  return Error{"bad-number",
               found == fields.end() ? name + " is missing" : name + " is '" + printable(found->second) + "'", source,
               "a number that is not negative"};
}

bool is_executable(const std::string& path) {
  std::error_code problem;
  return std::filesystem::is_regular_file(path, problem);
}

}  // namespace

Result<WorkReport> parse_stress_ng_metrics(std::string_view yaml, const std::string& stressor,
                                           const std::string& source) {
  bool inside = false;
  bool found = false;
  std::map<std::string, std::string> fields;
  for (const std::string& line : split(yaml, '\n')) {
    std::string_view text = trim(line);
    if (text == "metrics:") {
      inside = true;
      continue;
    }
    if (!inside) continue;
    if (!line.empty() && std::isspace(static_cast<unsigned char>(line[0])) == 0 && !text.empty()) break;
    if (text.starts_with("- ")) {
      if (found) break;
      text = trim(text.substr(2));
    }
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string key(trim(text.substr(0, colon)));
    const std::string value(trim(text.substr(colon + 1)));
    if (key == "stressor") {
      found = value == stressor;
    } else if (found) {
      fields.emplace(key, value);  // the first of a name: a stressor's own metrics follow
    }
  }
  if (fields.empty()) {
    return Error{"no-metrics", "stress-ng reports nothing about " + stressor + ": it skipped or failed it", source,
                 "a stressor that works here"};
  }
  WorkReport report;
  for (const auto& [name, target] :
       {std::pair{"bogo-ops", &report.work_units}, std::pair{"user-time", &report.user_s},
        std::pair{"system-time", &report.system_s}, std::pair{"wall-clock-time", &report.wall_s}}) {
    const auto value = field_of(fields, name, source);
    if (!value) return value.error();
    *target = *value;
  }
  if (report.work_units <= 0) {
    return Error{"no-work", stressor + " ended without having done an operation", source, "a stressor that works here"};
  }
  return report;
}

Result<WorkReport> parse_harness_report(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  WorkReport report;
  report.work_units = in.number("work_units");
  report.user_s = in.number("user_s");
  report.system_s = in.number("system_s");
  report.wall_s = in.number("wall_s");
  if (schema != "perfcast.harness/1") in.complain("schema", "'" + printable(schema) + "'", "perfcast.harness/1");
  if (report.work_units <= 0) in.complain("work_units", "no work", "a number above 0");
  if (const Status status = in.finish(); !status) return status.error();
  return report;
}

std::string parse_stress_ng_version(std::string_view text) {
  // "stress-ng, version 0.20.01 (gcc 12.2.0, x86_64 Linux 6.1)"
  constexpr std::string_view kHead = "stress-ng, version ";
  if (!text.starts_with(kHead)) return "";
  text.remove_prefix(kHead.size());
  return std::string(text.substr(0, text.find_first_of(" \n")));
}

std::set<std::string> parse_stress_ng_stressors(std::string_view text) {
  std::set<std::string> names;
  std::string name;
  for (const char c : std::string(text) + '\n') {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      name += c;
    } else if (!name.empty()) {
      names.insert(std::move(name));
      name.clear();
    }
  }
  return names;
}

Result<StressNg> find_stress_ng(const std::string& path) {
  StressNg tool;
  tool.path = path.empty() ? find_in_path("stress-ng") : path;
  if (tool.path.empty() || !is_executable(tool.path)) {
    return Error{"tool-missing", "stress-ng is not there", path.empty() ? "PATH" : path,
                 "--stress-ng PATH of a stress-ng built from source, of the suite's version (0.20.01 for cloud)"};
  }
  const auto version = answer_of({tool.path, "--version"}, kAnswerLimit_s);
  if (version) tool.version = parse_stress_ng_version(*version);
  if (tool.version.empty()) {
    return Error{"not-stress-ng", "it does not tell a version of stress-ng", tool.path, "the stress-ng program"};
  }
  const auto names = answer_of({tool.path, "--stressors"}, kAnswerLimit_s);
  if (!names) return names.error();
  tool.stressors = parse_stress_ng_stressors(*names);
  return tool;
}

Result<Harness> find_harness(const std::string& path) {
  Harness harness;
  harness.path = path;
  if (path.empty()) {
    std::error_code problem;
    const auto binary = std::filesystem::read_symlink("/proc/self/exe", problem);
    const std::string beside = problem ? "" : (binary.parent_path() / kHarness).string();
    harness.path = is_executable(beside) ? beside : find_in_path(kHarness);
  }
  if (harness.path.empty() || !is_executable(harness.path)) {
    return Error{"tool-missing", std::string(kHarness) + " is not there", path.empty() ? "PATH" : path,
                 "a build with libbz2-dev, liblz4-dev, libssl-dev and libzstd-dev installed"};
  }
  const auto text = answer_of({harness.path, "list"}, kAnswerLimit_s);
  if (!text) return text.error();
  const auto json = parse_json(*text, harness.path);
  if (!json) return json.error();
  JsonReader in(*json, harness.path);
  if (const Json* compressors = in.require_object("compressors")) {
    for (const auto& [name, version] : compressors->items()) harness.compressors.insert(name);
  }
  harness.crypto = !in.string_or("crypto", "").empty();
  if (const Status status = in.finish(); !status) return status.error();
  return harness;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void remove_file(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace perfcast
