#include "fleet/traces/philly_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "fleet/traces/name_index.h"

namespace perfcast::fleet {
namespace {

// Days from 1970-01-01 of a date of the Gregorian calendar, the years counted from March so that leap days come last.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
  const int64_t from_march = month > 2 ? month - 3 : month + 9;
  const int64_t years = month > 2 ? year : year - 1;
  return 365 * years + years / 4 - years / 100 + years / 400 + (153 * from_march + 2) / 5 + day - 719469;
}

constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";

// Seconds from 1970 as if local time never jumped.
std::optional<int64_t> parse_timestamp(std::string_view text) {
  if (text.size() != kShape.size()) return std::nullopt;
  std::array<int64_t, 6> parts = {};
  size_t part = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] != 'd') {
      if (text[i] != kShape[i]) return std::nullopt;
      ++part;
    } else {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      parts[part] = parts[part] * 10 + (text[i] - '0');
    }
  }
  const auto [year, month, day, hour, minute, second] = parts;
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1970 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int64_t last = kDays[static_cast<size_t>(month - 1)] + (leap && month == 2 ? 1 : 0);
  if (day < 1 || day > last) return std::nullopt;
  return ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

struct Columns {
  size_t timestamp = 0, duration = 0, gpus = 0, gpu_time = 0, cluster = 0;
};

Result<Columns> find_columns(const CsvTable& table) {
  Columns columns;
  for (const auto& [name, to] : {std::pair{"timestamp", &columns.timestamp}, std::pair{"duration", &columns.duration},
                                 std::pair{"num_gpus", &columns.gpus}, std::pair{"gpu_time", &columns.gpu_time},
                                 std::pair{"cluster", &columns.cluster}}) {
    const auto found = table.column(name);
    if (!found) return found.error();
    *to = *found;
  }
  return columns;
}

struct PhillyCounts {
  size_t no_gpus = 0, no_duration = 0, other_gpu_time = 0, identical = 0, doubtful = 0, later = 0, unsorted = 0;
};

void write_notes(const PhillyCounts& counts, bool clocks_go_back, std::vector<std::string>& notes) {
  const auto note = [&](size_t count, const std::string& what) {
    if (count > 0) notes.push_back(fmt::format("{} {} {}", count, count == 1 ? "job" : "jobs", what));
  };
  note(counts.no_gpus, "without GPUs: left out");
  note(counts.no_duration, "without a duration: left out");
  note(counts.other_gpu_time, "whose gpu_time isn't duration times GPUs: the duration taken");
  note(counts.identical, "the same as another in every column: kept");
  note(counts.unsorted, "earlier than the row above: sorted");
  note(counts.doubtful,
       "in the hour before 2017-11-05 02:00, which local time may have passed twice: as its first pass");
  note(counts.later, clocks_go_back ? "after clocks went back: an hour later than their timestamp"
                                    : "after 2017-11-05 02:00, where clocks may have gone back: as they stand");
}

}  // namespace

Result<Workload> parse_philly_trace(std::string_view text, const std::string& source, const PhillyOptions& options) {
  const auto table = CsvTable::parse(text, source);
  if (!table) return table.error();
  const auto columns = find_columns(*table);
  if (!columns) return columns.error();
  const int64_t back_s = *parse_timestamp("2017-11-05 02:00:00");
  Workload workload;
  workload.source = source;
  workload.platforms = {options.platform};
  NameIndex owners(workload.owners);
  PhillyCounts counts;
  std::unordered_set<std::string> seen;
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string_view timestamp = table->cell(row, columns->timestamp);
    const auto bad = [&](std::string message, std::string expected) {
      return Error{"bad-job", std::move(message), table->where(row), std::move(expected)};
    };
    const auto at_s = parse_timestamp(timestamp);
    if (!at_s) {
      return bad("'" + printable(timestamp.substr(0, 40)) + "' is no time", "YYYY-MM-DD HH:MM:SS from 1970 on");
    }
    const auto duration_s = table->number(row, columns->duration);
    const auto gpus = table->number(row, columns->gpus);
    const auto gpu_time_s = table->number(row, columns->gpu_time);
    for (const auto* number : {&duration_s, &gpus, &gpu_time_s}) {
      if (!*number) return number->error();
      if (**number && ***number < 0) return bad(fmt::format("{} is negative", ***number), "numbers from 0");
    }
    if (gpus->value_or(0) == 0) {
      ++counts.no_gpus;
      continue;
    }
    if (!*duration_s) {
      ++counts.no_duration;
      continue;
    }
    if (**gpus != std::floor(**gpus) || **gpus > INT32_MAX) {
      return bad(fmt::format("{} GPUs", **gpus), fmt::format("a whole number up to {}", INT32_MAX));
    }
    if (*gpu_time_s && std::abs(**gpu_time_s - **duration_s * **gpus) > 0.5) ++counts.other_gpu_time;
    std::string whole;
    for (size_t column = 0; column < table->columns().size(); ++column) {
      whole += table->cell(row, column);
      whole += '\n';
    }
    counts.identical += seen.insert(std::move(whole)).second ? 0 : 1;
    const bool later = *at_s >= back_s;
    counts.later += later ? 1 : 0;
    counts.doubtful += !later && *at_s >= back_s - 3600 ? 1 : 0;

    JobRequest job;
    job.id = static_cast<int64_t>(row) + 1;
    job.arrival_s = static_cast<double>(*at_s + (later && options.clocks_go_back ? 3600 : 0));
    job.cores = 0;
    job.gpus = static_cast<int32_t>(**gpus);
    job.spread = true;
    const std::string_view cluster = table->cell(row, columns->cluster);
    if (!cluster.empty()) job.owner = owners.of(std::string(cluster));
    workload.jobs.push_back(job);
    workload.time_s.push_back(**duration_s);
  }
  if (counts.later == workload.size()) counts.later = 0;  // no job from before: no clock went back between them
  counts.unsorted = sort_by_arrival(workload);
  if (!workload.jobs.empty()) {
    const double first_s = workload.jobs[0].arrival_s;
    for (JobRequest& job : workload.jobs) job.arrival_s -= first_s;
  }
  write_notes(counts, options.clocks_go_back, workload.notes);
  if (Status checked = check_workload(workload); !checked) return checked.error();
  return workload;
}

Result<Workload> read_philly_trace(const std::string& path, const PhillyOptions& options) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_philly_trace(*text, path, options);
}

}  // namespace perfcast::fleet
