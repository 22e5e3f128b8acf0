#include "fleet/traces/gavel_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/random.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

constexpr int64_t kMostGpus = int64_t{1} << 20;
constexpr double kMostSteps = 1e18, kMostArrival_s = 1e12;  // far above any trace; keeps sums finite

// A number of a cell in [least, most]; blank only where `blank` says what it stands for.
Result<double> number(const CsvTable& table, size_t row, size_t column, double least, double most, const char* code,
                      std::optional<double> blank = std::nullopt) {
  const auto value = table.number(row, column);
  if (!value) return value.error();
  if (*value && **value >= least && **value <= most) return **value;
  if (!*value && blank) return *blank;
  const std::string found = *value ? fmt::format("{} is {}", table.columns()[column], **value)
                                   : fmt::format("{} is blank", table.columns()[column]);
  return Error{code, found, table.where(row), fmt::format("a number from {} to {}", least, most)};
}

Result<int32_t> gpu_count(const CsvTable& table, size_t row, size_t column, const char* code) {
  const auto value = number(table, row, column, 1, static_cast<double>(kMostGpus), code);
  if (!value) return value.error();
  if (*value != std::floor(*value)) {
    return Error{code, fmt::format("{} GPUs", *value), table.where(row), "a whole number of GPUs"};
  }
  return static_cast<int32_t>(*value);
}

JobRequest gpu_job(int64_t id, double arrival_s, int32_t gpus, int32_t program) {
  JobRequest job;
  job.id = id;
  job.arrival_s = arrival_s;
  job.cores = 0;
  job.gpus = gpus;
  job.spread = true;
  job.program = program;
  return job;
}

void add_times(const GavelThroughputs& throughputs, int64_t type, double steps, std::vector<double>& times) {
  const size_t platforms = throughputs.platforms.size();
  for (size_t j = 0; j < platforms; ++j) {
    times.push_back(type < 0 ? kUnknown : steps / throughputs.steps_per_s[static_cast<size_t>(type) * platforms + j]);
  }
}

}  // namespace

int64_t GavelThroughputs::find(std::string_view name, int64_t gpus) const {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].gpus == gpus && types[i].name == name) return static_cast<int64_t>(i);
  }
  return -1;
}

Result<GavelThroughputs> parse_gavel_throughputs(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  const auto type = table->column("job_type");
  if (!type) return type.error();
  const auto scale = table->column("scale_factor");
  if (!scale) return scale.error();
  GavelThroughputs result;
  std::vector<size_t> columns;
  for (size_t j = 0; j < table->columns().size(); ++j) {
    const std::string& name = table->columns()[j];
    if (j == *type || j == *scale || name.empty() || name.ends_with("_unconsolidated")) continue;
    columns.push_back(j);
    result.platforms.push_back(name);
  }
  if (columns.empty() || table->rows() == 0) {
    return Error{"bad-gavel-table", columns.empty() ? "no column of a platform" : "no job types", source,
                 "job_type, scale_factor and steps/s on each platform"};
  }
  std::set<std::pair<std::string, int32_t>> seen;
  for (size_t i = 0; i < table->rows(); ++i) {
    const auto gpus = gpu_count(*table, i, *scale, "bad-gavel-table");
    if (!gpus) return gpus.error();
    const std::string name(trim(table->cell(i, *type)));
    if (name.empty() || !seen.emplace(name, *gpus).second) {
      return Error{"bad-gavel-table", fmt::format("the job type '{}' is blank or comes twice", printable(name)),
                   table->where(i), "each job type and scale factor once"};
    }
    result.types.push_back({name, *gpus});
    for (const size_t column : columns) {
      const auto rate = number(*table, i, column, 0, kMostSteps, "bad-gavel-table", 0);
      if (!rate) return rate.error();
      if (*rate > 0 && *rate < 1 / kMostSteps) {
        return Error{"bad-gavel-table", fmt::format("{} steps/s", *rate), table->where(i), "0 where it can't run"};
      }
      result.steps_per_s.push_back(*rate > 0 ? *rate : kUnknown);
    }
  }
  return result;
}

Result<std::vector<GavelTraceJob>> parse_gavel_traces(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  size_t at[6] = {};
  const char* const names[] = {"trace", "job_type", "scale_factor", "total_steps", "arrival_s", "priority_weight"};
  for (size_t i = 0; i < 6; ++i) {
    const auto column = table->column(names[i]);
    if (!column) return column.error();
    at[i] = *column;
  }
  std::vector<GavelTraceJob> jobs;
  jobs.reserve(table->rows());
  for (size_t i = 0; i < table->rows(); ++i) {
    constexpr const char* kBad = "bad-gavel-trace";
    const auto gpus = gpu_count(*table, i, at[2], kBad);
    if (!gpus) return gpus.error();
    const auto steps = number(*table, i, at[3], 0, kMostSteps, kBad);
    if (!steps) return steps.error();
    const auto arrival = number(*table, i, at[4], 0, kMostArrival_s, kBad);
    if (!arrival) return arrival.error();
    const auto priority = number(*table, i, at[5], 1e-9, 1e9, kBad, 1);
    if (!priority) return priority.error();
    jobs.push_back({std::string(table->cell(i, at[0])), std::string(trim(table->cell(i, at[1]))), *gpus, *steps,
                    *arrival, *priority});
  }
  return jobs;
}

Result<Workload> gavel_workload(const GavelThroughputs& throughputs, const std::vector<GavelTraceJob>& jobs,
                                std::string_view trace) {
  Workload workload;
  workload.platforms = throughputs.platforms;
  workload.source = trace.empty() ? "Gavel" : "Gavel, trace " + printable(trace);
  std::map<std::string, int32_t> programs;
  std::vector<std::string> names;
  int64_t unknown = 0;
  for (const GavelTraceJob& job : jobs) {
    if (names.empty() || std::find(names.begin(), names.end(), job.trace) == names.end()) names.push_back(job.trace);
    if (!trace.empty() && job.trace != trace) continue;
    const auto [program, is_new] = programs.emplace(job.job_type, static_cast<int32_t>(workload.programs.size()));
    if (is_new) workload.programs.push_back(job.job_type);
    workload.jobs.push_back(gpu_job(static_cast<int64_t>(workload.size()), job.arrival_s, job.gpus, program->second));
    workload.jobs.back().priority = job.priority;
    const int64_t type = throughputs.find(job.job_type, job.gpus);
    unknown += type < 0 ? 1 : 0;
    add_times(throughputs, type, job.steps, workload.time_s);
  }
  if (workload.jobs.empty()) {
    return usage_error("unknown-trace", fmt::format("no jobs of the trace '{}'", printable(trace)), "",
                       "one of " + nearest_names(trace, names, 12));
  }
  if (unknown > 0) {
    workload.notes.push_back(fmt::format("{} jobs are of a type whose speed on that many GPUs isn't known", unknown));
  }
  if (const size_t misplaced = sort_by_arrival(workload); misplaced > 0) {
    workload.notes.push_back(fmt::format("{} jobs were put in order of arrival", misplaced));
  }
  return workload;
}

Result<Workload> generate_gavel_trace(const GavelThroughputs& throughputs, const GavelTraceOptions& options) {
  if (options.jobs < 1 || options.jobs > 10'000'000) {
    return usage_error("bad-usage", fmt::format("{} jobs", options.jobs), "jobs", "1 to 10000000");
  }
  if (!(options.jobs_per_hour >= 1e-3 && options.jobs_per_hour <= 1e9)) {
    return usage_error("bad-usage", fmt::format("{} jobs per hour", options.jobs_per_hour), "jobs per hour",
                       "0.001 to 1e9");
  }
  const auto named = std::find(throughputs.platforms.begin(), throughputs.platforms.end(), options.duration_on);
  if (named == throughputs.platforms.end()) {
    return Error{"missing-platform", fmt::format("no throughputs on '{}'", printable(options.duration_on)), "",
                 "one of " + join(throughputs.platforms, ", ")};
  }
  const auto column = static_cast<size_t>(named - throughputs.platforms.begin());
  const auto rate_of = [&](int64_t type) {
    return throughputs.steps_per_s[static_cast<size_t>(type) * throughputs.platforms.size() + column];
  };
  Workload workload;
  std::vector<int64_t> types;
  for (size_t i = 0; i < throughputs.types.size(); ++i) {
    if (throughputs.types[i].gpus != 1 || std::isnan(rate_of(static_cast<int64_t>(i)))) continue;
    types.push_back(static_cast<int64_t>(i));
    workload.programs.push_back(throughputs.types[i].name);
  }
  if (types.empty()) {
    return Error{"bad-gavel-table", fmt::format("no type of one GPU runs on {}", printable(options.duration_on)), "",
                 "rows with scale_factor 1"};
  }
  workload.platforms = throughputs.platforms;
  workload.source =
      fmt::format("Gavel's continuous trace, {} jobs per hour, seed {}", options.jobs_per_hour, options.seed);
  Random random(options.seed);
  double now_s = 0;
  for (int64_t i = 0; i < options.jobs; ++i) {
    if (i > 0) now_s -= std::log(1 - random.uniform()) * 3600 / options.jobs_per_hour;
    const uint64_t pick = random.below(types.size());
    const bool is_short = random.uniform() < 0.8;
    const double minutes = std::pow(10.0, is_short ? random.uniform(1.5, 3) : random.uniform(3, 4));
    workload.jobs.push_back(gpu_job(i, now_s, 1, static_cast<int32_t>(pick)));
    add_times(throughputs, types[pick], minutes * 60 * rate_of(types[pick]), workload.time_s);
  }
  return workload;
}

}  // namespace perfcast::fleet
