#include "program/corpus/importers/perf_stat_importer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/perf_stat_report.h"
#include "program/corpus/importers/perf_stat_rows.h"

namespace perfcast::program {
namespace {

constexpr double kFullTimePercent = 99.995;  // printed with two decimals

struct EventName {
  std::string name, modifier;  // "cycles", "k"
  std::string pmu;             // of a hybrid CPU, "cpu_core": one kind of its cores
};

// "cycles:u", "cpu_core/cycles/", "cpu_atom/cycles/k" -> the event without its PMU; u and none are the same.
EventName split_event(const std::string& event) {
  EventName result{event, "", ""};
  const size_t first = event.find('/'), last = event.rfind('/');
  if (first != std::string::npos && last != first) {
    const std::string pmu = event.substr(0, first), inner = event.substr(first + 1, last - first - 1);
    result.modifier = event.substr(last + 1);
    if (result.modifier.starts_with(':')) result.modifier.erase(0, 1);
    // Raw encodings and uncore PMUs keep their whole name.
    const bool is_of_cpu = pmu.starts_with("cpu") && inner.find('=') == std::string::npos;
    result.name = is_of_cpu ? inner : event.substr(0, last + 1);
    if (is_of_cpu && pmu.starts_with("cpu_")) result.pmu = pmu;
  } else if (const size_t colon = event.rfind(':');
             colon != std::string::npos && event.find_first_not_of("ukhGHpPDSIWe", colon + 1) == std::string::npos) {
    result.name = event.substr(0, colon);
    result.modifier = event.substr(colon + 1);
  }
  if (result.modifier == "u") result.modifier.clear();
  return result;
}

// Counts of one event at one time and place: one, or one for each kind of core of a hybrid CPU.
struct Count {
  std::string shown, unit;
  EventName event;
  double sum = 0;       // of the values
  double weighted = 0;  // by the percentage of the time
  double percent_sum = 0;
  size_t kinds = 0;
  bool has_percent = true;

  // perf scales each count up to all of the time, as if only that kind of core had run the program. Where the shares
  // add up to the time of one, the program moved between the kinds: each count holds for its share.
  bool is_divided() const { return kinds > 1 && has_percent && percent_sum > 0 && percent_sum <= kMostRunningPercent; }
  double value() const { return is_divided() ? weighted / percent_sum : sum; }
  double percent() const { return is_divided() ? percent_sum : percent_sum / static_cast<double>(kinds); }
};

class ProfileOfRows {
 public:
  ProfileOfRows() : profile_("perf", "perf_event", "perf_") {}
  void add(const PerfStatRow& row);
  ToolProfile finish(const std::string& host, const std::string& form) &&;

 private:
  ToolProfile profile_;
  std::map<std::tuple<std::string, std::string, std::string>, Count> counts_;  // interval, place, event
  std::map<std::string, double> wall_s_;                                       // by place
};

void ProfileOfRows::add(const PerfStatRow& row) {
  EventName event = split_event(row.event);
  std::string unit = row.unit;
  if (unit.empty() && (event.name == "task-clock" || event.name == "cpu-clock")) unit = "msec";  // older perf
  const std::string name = event.name + (event.modifier.empty() ? "" : ":" + event.modifier);
  if (!row.value) {
    profile_.miss(name, unit, row.why_missing);
    return;
  }
  if (event.modifier.empty() && unit == "ns" && event.name == "duration_time") {
    wall_s_[row.place] += *row.value * 1e-9;
    return;
  }
  // Only kinds of cores share one count.
  Count& count = counts_[{row.interval, row.place, event.pmu.empty() ? name + "\n" + row.event : name}];
  count.shown = row.event;
  count.unit = unit;
  count.event = event;
  ++count.kinds;
  count.sum += *row.value;
  count.weighted += *row.value * row.running_percent.value_or(0);
  count.percent_sum += row.running_percent.value_or(100);
  count.has_percent = count.has_percent && row.running_percent.has_value();
}

ToolProfile ProfileOfRows::finish(const std::string& host, const std::string& form) && {
  profile_.set_host(host);
  std::map<std::string, double> shares;  // the smallest of each event
  size_t divided = 0;
  for (const auto& [key, count] : counts_) {
    profile_.add(count.event.name, count.value(), count.unit, count.event.modifier);
    divided += count.is_divided() ? 1 : 0;
    if (count.percent() >= kFullTimePercent) continue;
    const auto [share, is_new] = shares.emplace(count.shown, count.percent());
    if (!is_new) share->second = std::min(share->second, count.percent());
  }
  double wall_s = 0;
  for (const auto& [place, seconds] : wall_s_) wall_s = std::max(wall_s, seconds);
  if (wall_s > 0) profile_.set("wall_s", wall_s);
  for (const auto& [event, share] : shares) {
    profile_.warn("multiplexed",
                  "perf counted " + printable(event) + " for " + human_number(share) + "% of the time and scaled it up",
                  "fewer events at once, or several runs");
  }
  if (divided > 0) {
    profile_.warn(
        "hybrid-cores",
        "the program ran on two kinds of cores: perf had scaled the counts of each up to all of the time, and "
        "they were brought back to its share",
        "perf stat with the program bound to one kind of core");
  }
  if (!form.empty()) profile_.warn("number-form", "the file was read as having " + form, "perf stat with LC_ALL=C");
  return std::move(profile_);
}

}  // namespace

Result<std::vector<StoredProfile>> read_perf_stat(std::string_view text, const std::string& path) {
  const ToolFileNames names = names_of_tool_file(text, path);
  auto read = is_perf_stat_report(text) ? read_perf_stat_report(text, path) : read_perf_stat_rows(text, path);
  if (!read) return read.error();
  const auto any = [&](auto fits) { return std::any_of(read->rows.begin(), read->rows.end(), fits); };
  const auto is_sum = [](const PerfStatRow& row) { return row.is_summary || row.interval.empty(); };
  // The sum of the intervals stands beside them.
  if (any(is_sum) && any([&](const PerfStatRow& row) { return !is_sum(row); })) {
    std::erase_if(read->rows, [&](const PerfStatRow& row) { return !is_sum(row); });
  }
  std::map<std::string, ProfileOfRows> of_cgroup;
  for (const PerfStatRow& row : read->rows) of_cgroup[row.cgroup].add(row);
  std::vector<StoredProfile> profiles;
  for (auto& [cgroup, rows] : of_cgroup) {
    ToolProfile profile = std::move(rows).finish(names.host, read->form);
    if (profile.empty()) continue;
    profiles.push_back(std::move(profile).finish(
        of_cgroup.size() == 1 || cgroup.empty() ? names.program : names.program + "." + id_segment(cgroup)));
  }
  if (profiles.empty()) {
    return Error{"no-rows", "no event has a value", path, "output of perf stat -j or perf stat -x,"};
  }
  return profiles;
}

Result<Import> import_perf_stat(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("perf-stat", path, catalogue, read_perf_stat);
}

}  // namespace perfcast::program
