#include "program/corpus/importers/perf_stat_importer.h"

#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr double kFullTimePercent = 99.995;  // printed with two decimals

struct PerfLine {
  std::string value, unit, event;
  std::optional<double> running_percent;
};

struct EventName {
  std::string name, modifier;  // "cycles", "k"
};

// "cycles:u", "cpu_core/cycles/", "cpu_atom/cycles/k" -> the event without its PMU; u and none are the same.
EventName split_event(const std::string& event) {
  EventName result{event, ""};
  const size_t first = event.find('/'), last = event.rfind('/');
  if (first != std::string::npos && last != first) {
    const std::string pmu = event.substr(0, first), inner = event.substr(first + 1, last - first - 1);
    result.modifier = event.substr(last + 1);
    if (result.modifier.starts_with(':')) result.modifier.erase(0, 1);
    // Raw encodings and uncore PMUs keep their whole name.
    result.name = pmu.starts_with("cpu") && inner.find('=') == std::string::npos ? inner : event.substr(0, last + 1);
  } else if (const size_t colon = event.rfind(':');
             colon != std::string::npos && event.find_first_not_of("ukhGHpPDSIWe", colon + 1) == std::string::npos) {
    result.name = event.substr(0, colon);
    result.modifier = event.substr(colon + 1);
  }
  if (result.modifier == "u") result.modifier.clear();
  return result;
}

bool is_no_value(std::string_view cell) { return cell.size() > 2 && cell.front() == '<' && cell.back() == '>'; }

// [time] [CPU or socket] [number of CPUs] value unit event run-time percent ...
std::optional<PerfLine> read_fields(const std::vector<std::string>& cells) {
  for (size_t i = 0; i < 4 && i + 2 < cells.size(); ++i) {
    const std::string_view value = trim(cells[i]), unit = trim(cells[i + 1]);
    if (!is_no_value(value) && !parse_number(value)) continue;
    if (is_no_value(unit) || parse_number(unit)) continue;  // not the value yet
    PerfLine line{std::string(value), std::string(unit), cells[i + 2], std::nullopt};
    // A raw event such as cpu/event=0x3c,umask=0x1/ holds the separator.
    size_t next = i + 3;
    const auto open = [&] {
      return line.event.find('/') != std::string::npos && line.event.find('/') == line.event.rfind('/');
    };
    while (open() && next < cells.size()) line.event += "," + cells[next++];
    if (trim(line.event).empty() || parse_number(line.event)) return std::nullopt;
    if (next + 1 < cells.size()) line.running_percent = parse_number(cells[next + 1]);
    return line;
  }
  return std::nullopt;
}

Result<std::optional<PerfLine>> read_json_line(std::string_view text, const std::string& where) {
  const auto json = parse_json(text, where);
  if (!json) return json.error();
  if (!json->is_object()) return Error{"bad-perf-stat", "the line is no object", where, "output of perf stat -j"};
  const auto text_of = [&](const char* key) {
    const auto found = json->find(key);
    if (found == json->end()) return std::string();
    return found->is_string() ? found->get<std::string>() : found->is_number() ? found->dump() : std::string();
  };
  PerfLine line{text_of("counter-value"), text_of("unit"), text_of("event"), parse_number(text_of("pcnt-running"))};
  if (line.event.empty() || line.value.empty()) return std::optional<PerfLine>();  // a derived metric alone
  return std::optional<PerfLine>(line);
}

void add_line(const PerfLine& line, ToolProfile& profile, std::map<std::string, double>& shares) {
  EventName event = split_event(std::string(trim(line.event)));
  std::string unit(trim(line.unit));
  if (unit.empty() && (event.name == "task-clock" || event.name == "cpu-clock")) unit = "msec";  // older perf
  const auto value = parse_number(line.value);
  if (!value) {
    const std::string reason =
        is_no_value(line.value) ? line.value.substr(1, line.value.size() - 2) : "no finite number";
    profile.miss(event.name + (event.modifier.empty() ? "" : ":" + event.modifier), unit, reason);
    return;
  }
  if (event.modifier.empty() && unit == "ns" && event.name == "duration_time") {
    profile.set("wall_s", *value * 1e-9);
    return;
  }
  profile.add(event.name, *value, unit, event.modifier);
  if (line.running_percent && *line.running_percent < kFullTimePercent) {
    const auto [share, is_new] = shares.emplace(line.event, *line.running_percent);
    if (!is_new) share->second = std::min(share->second, *line.running_percent);
  }
}

}  // namespace

Result<std::vector<StoredProfile>> read_perf_stat(std::string_view text, const std::string& path) {
  const ToolFileNames names = names_of_tool_file(text, path);
  ToolProfile profile("perf", "perf_event", "perf_");
  profile.set_host(names.host);
  std::map<std::string, double> shares;
  char separator = 0;
  size_t number = 0;
  for (const std::string& raw : split(text, '\n')) {
    const std::string where = path + ":" + std::to_string(++number);
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '{') {
      const auto read = read_json_line(line, where);
      if (!read) return read.error();
      if (*read) add_line(**read, profile, shares);
      continue;
    }
    std::optional<PerfLine> read;
    for (const char candidate : {',', ';', '\t', '|'}) {
      if (separator != 0 && candidate != separator) continue;
      const std::vector<std::string> cells = split(raw, candidate);
      read = read_fields(cells);
      // Metrics that perf derives stand in lines of their own whose first fields are empty.
      const bool is_derived = cells.size() > 3 && trim(cells[0]).empty() && trim(cells[2]).empty();
      if (read || (separator != 0 && is_derived)) {
        separator = candidate;
        break;
      }
      if (separator != 0) break;
    }
    if (read) {
      add_line(*read, profile, shares);
    } else if (separator == 0 || split(raw, separator).size() < 4) {
      return Error{"bad-perf-stat", "the line is no counter of perf stat: '" + printable(line.substr(0, 60)) + "'",
                   where, "output of perf stat -j or perf stat -x,"};
    }
  }
  for (const auto& [event, share] : shares) {
    profile.warn("multiplexed",
                 "perf counted " + printable(event) + " for " + human_number(share) + "% of the time and scaled it up",
                 "fewer events at once, or several runs");
  }
  if (profile.empty()) {
    return Error{"no-rows", "no event has a value", path, "output of perf stat -j or perf stat -x,"};
  }
  std::vector<StoredProfile> profiles;
  profiles.push_back(std::move(profile).finish(names.program));
  return profiles;
}

Result<Import> import_perf_stat(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("perf-stat", path, catalogue, read_perf_stat);
}

}  // namespace perfcast::program
