#include "program/forecast/workload_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "program/forecast/platform_filter.h"

namespace perfcast::program {
namespace {

struct ProgramOfRound {
  ProgramForecast forecast;
  double runs = 1;
};

// A round's rows, the same platforms of every program.
using RowOfProgram = std::vector<const PlatformRow*>;

Status check(const std::vector<WorkloadPart>& parts, const ForecastRequest& request) {
  if (parts.empty()) return usage_error("bad-usage", "a workload of no program", "", "a profile or more");
  for (const WorkloadPart& part : parts) {
    if (part.runs > 0 && std::isfinite(part.runs)) continue;
    return usage_error("bad-usage", fmt::format("{} runs of a program in a round", part.runs), "weights",
                       "a number above 0 for each profile");
  }
  if (!request.measured_s.empty()) {
    return usage_error("bad-usage", "measured times are of one program, and these are several", "measured",
                       "each program by itself");
  }
  return {};
}

std::string runs_text(double runs) { return fmt::format("{:g}", runs); }

// Whatever a program says, said once; with its name where not all say it.
template <typename Item, typename Text>
std::vector<Item> said_together(const std::vector<ProgramOfRound>& programs, std::vector<Item> ForecastReport::*member,
                                Text text) {
  std::map<std::string, size_t> speakers;
  for (const ProgramOfRound& program : programs) {
    for (const Item& item : program.forecast.report.*member) ++speakers[text(item)];
  }
  std::vector<Item> result;
  for (const ProgramOfRound& program : programs) {
    for (Item item : program.forecast.report.*member) {
      const auto said = speakers.find(text(item));
      if (said == speakers.end()) continue;  // by one before
      const bool by_all = said->second == programs.size();
      if (by_all) speakers.erase(said);
      if (!by_all) text(item).insert(0, program.forecast.report.program + ": ");
      result.push_back(std::move(item));
    }
  }
  return result;
}

// Time of a round; its interval with the programs' errors taken to be alike.
void add_time(const std::vector<ProgramOfRound>& programs, const RowOfProgram& rows, PlatformRow& sum) {
  sum.time_s = sum.time_lower_s = sum.time_upper_s = 0;
  for (size_t p = 0; p < rows.size(); ++p) {
    *sum.time_s += programs[p].runs * *rows[p]->time_s;
    *sum.time_lower_s += programs[p].runs * *rows[p]->time_lower_s;
    *sum.time_upper_s += programs[p].runs * *rows[p]->time_upper_s;
  }
}

double share_of(const ProgramOfRound& program, const PlatformRow& row, const PlatformRow& sum) {
  return program.runs * *row.time_s / *sum.time_s;
}

const InstanceRow* same_instance(const PlatformRow& row, const InstanceRow& wanted) {
  for (const InstanceRow& instance : row.instances) {
    if (instance.server.vendor == wanted.server.vendor && instance.server.name == wanted.server.name) return &instance;
  }
  return nullptr;
}

// A round on an instance: the programs' runs one after the other, or each program's copies together while it is its
// turn.
InstanceRow round_on(const std::vector<ProgramOfRound>& programs, const RowOfProgram& rows, const InstanceRow& first) {
  InstanceRow sum = first;
  sum.wall_s = sum.core_s = sum.cost = 0;
  double hours = 0, hours_lower = 0, hours_upper = 0, sharing = 0;
  bool has_wall = true, has_rate = true;
  for (size_t p = 0; p < rows.size(); ++p) {
    const InstanceRow* instance = same_instance(*rows[p], first);
    has_wall = has_wall && instance != nullptr && instance->wall_s && instance->core_s;
    has_rate = has_rate && instance != nullptr && instance->runs_per_hour;
    if (instance == nullptr) continue;
    const double runs = programs[p].runs;
    sum.memory_limits |= instance->memory_limits;
    if (instance->copies) sum.copies = std::min(sum.copies.value_or(*instance->copies), *instance->copies);
    if (has_wall) {
      *sum.wall_s += runs * *instance->wall_s;
      *sum.core_s += runs * *instance->core_s;
    }
    if (has_rate) {
      hours += runs / *instance->runs_per_hour;
      hours_lower += runs / *instance->runs_per_hour_upper;
      hours_upper += runs / *instance->runs_per_hour_lower;
      sharing += runs / *instance->runs_per_hour * instance->sharing_half_width;
    }
  }
  sum.runs_per_hour = sum.runs_per_hour_lower = sum.runs_per_hour_upper = sum.cost_per_1000 = std::nullopt;
  if (has_rate) {
    sum.runs_per_hour = 1 / hours;
    sum.runs_per_hour_lower = 1 / hours_upper;
    sum.runs_per_hour_upper = 1 / hours_lower;
    sum.sharing_half_width = sharing / hours;
    if (sum.price_per_hour) sum.cost_per_1000 = kRunsOfCost * *sum.price_per_hour * hours;
  }
  sum.cost.reset();
  if (!has_wall) {
    sum.wall_s.reset();
    sum.core_s.reset();
  } else if (sum.price_per_hour) {
    sum.cost = *sum.price_per_hour * *sum.wall_s / kSecondsPerHour;
  }
  return sum;
}

void add_instances(const std::vector<ProgramOfRound>& programs, const RowOfProgram& rows,
                   const std::vector<PlatformFilter>& filters, std::optional<ForecastRequest::Sort> sort,
                   PlatformRow& sum) {
  sum.instances.clear();
  sum.cost.reset();
  for (const InstanceRow& first : rows.front()->instances) {
    if (!passes(filters, first.server)) continue;
    InstanceRow instance = round_on(programs, rows, first);
    if (instance.may_be_chosen && instance.cost && (!sum.cost || *instance.cost < *sum.cost)) sum.cost = instance.cost;
    sum.instances.push_back(std::move(instance));
  }
  std::stable_sort(sum.instances.begin(), sum.instances.end(),
                   [sort](const InstanceRow& a, const InstanceRow& b) { return instance_order(a, b, sort); });
}

// Relative to the reference by seconds of a round: a mean of the programs' relative times would weigh a long one like a
// short one.
void set_relative(const ForecastReport& first, double log_reference_s, const std::vector<ProgramOfRound>& programs,
                  const std::vector<RowOfProgram>& rows, std::vector<PlatformRow>& sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    PlatformRow& sum = sums[i];
    sum.rpv = std::exp(std::log(*sum.time_s) - log_reference_s);
    if (sum.platform.id == first.reference) sum.rpv = 1;
    double log_lower = 0, log_upper = 0;
    for (size_t p = 0; p < programs.size(); ++p) {
      const PlatformRow& row = *rows[i][p];
      const double share = share_of(programs[p], row, sum);
      log_lower += share * std::log(row.lower / row.rpv);
      log_upper += share * std::log(row.upper / row.rpv);
    }
    sum.lower = sum.rpv * std::exp(log_lower);
    sum.upper = sum.rpv * std::exp(log_upper);
  }
}

}  // namespace

Result<ForecastReport> forecast_workload(const Forecaster& forecaster, const std::vector<WorkloadPart>& parts,
                                         const ForecastRequest& request) {
  if (Status status = check(parts, request); !status) return status.error();
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();
  const Bundle& bundle = forecaster.bundle();
  ForecastRequest of_one = request;
  of_one.filters.clear();  // a reference may be filtered out
  of_one.top = 0;
  of_one.sort.reset();
  std::vector<ProgramOfRound> programs;
  for (const WorkloadPart& part : parts) {
    auto forecast = forecast_in_full(forecaster, part.profile, of_one);
    const std::string name = part.profile.program.empty() ? join(part.profile.command, " ") : part.profile.program;
    if (!forecast) {
      Error error = forecast.error();
      error.message.insert(0, printable(name) + ": ");
      return error;
    }
    if (!forecast->report.rows.front().time_s) {
      return Error{"unknown-host",
                   printable(name) + ": its seconds are not known, as its host (" +
                       printable(forecast->report.host_cpu.empty() ? "unknown CPU" : forecast->report.host_cpu) +
                       ") is like none of the known platforms, and what a workload takes is a sum of seconds",
                   "host", "the platform that the profiles were taken on"};
    }
    programs.push_back({std::move(*forecast), part.runs});
  }

  const ForecastReport& first = programs.front().forecast.report;
  std::map<std::string, RowOfProgram> row_of_platform;
  for (const ProgramOfRound& program : programs) {
    for (const PlatformRow& row : program.forecast.report.rows) row_of_platform[row.platform.id].push_back(&row);
  }
  ForecastReport report;
  report.bundle = first.bundle;
  report.model = first.model;
  report.reference = first.reference;
  report.reference_name = first.reference_name;
  report.host_cpu = first.host_cpu;
  report.host = first.host;
  report.host_platform = first.host_platform;
  report.host_runners_up = first.host_runners_up;
  report.time_basis = first.time_basis;
  report.currency = first.currency;
  report.unmatched_prices = first.unmatched_prices;
  report.price_source = first.price_source;
  report.price_date = first.price_date;
  report.price_regions = first.price_regions;
  report.types_left_out = first.types_left_out;
  report.sort = request.sort;
  report.notes = said_together(
      programs, &ForecastReport::notes, [](auto& note) -> auto& { return note; });
  report.warnings = said_together(
      programs, &ForecastReport::warnings, [](auto& warning) -> auto& { return warning.message; });

  // In the order of the bundle, as the covariance is.
  std::vector<RowOfProgram> rows;
  double log_mean_s = 0, log_reference_s = 0;
  for (const Platform& platform : bundle.platforms) {
    rows.push_back(row_of_platform.at(platform.id));
    PlatformRow sum = *rows.back().front();
    add_time(programs, rows.back(), sum);
    for (const PlatformRow* row : rows.back()) sum.is_host = sum.is_host && row->is_host;
    add_instances(programs, rows.back(), *filters, request.sort, sum);
    log_mean_s += std::log(*sum.time_s) / static_cast<double>(bundle.platforms.size());
    if (platform.id == report.reference) log_reference_s = std::log(*sum.time_s);
    report.rows.push_back(std::move(sum));
  }
  set_relative(first, report.reference == "mean" ? log_mean_s : log_reference_s, programs, rows, report.rows);

  const auto platforms = static_cast<Eigen::Index>(bundle.platforms.size());
  Eigen::VectorXd half_width = Eigen::VectorXd::Zero(platforms);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(platforms, platforms);
  std::vector<std::string> names;
  double host_s = 0;
  bool has_host_s = true;
  for (size_t p = 0; p < programs.size(); ++p) {
    const ProgramOfRound& program = programs[p];
    const ForecastReport& own = program.forecast.report;
    double mean_share = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double share = share_of(program, *rows[i][p], report.rows[i]);
      mean_share += share / static_cast<double>(rows.size());
      half_width(static_cast<Eigen::Index>(i)) += share * program.forecast.half_width(static_cast<Eigen::Index>(i));
    }
    covariance += mean_share * program.forecast.covariance;
    report.in_distribution &= own.in_distribution;
    names.push_back(runs_text(program.runs) + " x " + own.program);
    report.programs.push_back({own.program, program.runs, mean_share, own.in_distribution,
                               own.nearest.empty() ? "" : own.nearest.front().program});
    has_host_s = has_host_s && own.host_time_s.has_value();
    host_s += program.runs * own.host_time_s.value_or(0);
    const bool same_host =
        own.host_platform && report.host_platform && own.host_platform->id == report.host_platform->id;
    if (p > 0 && !same_host) report.notes.push_back(own.program + ": profiled on another host, " + own.host_cpu);
    if (own.time_basis != report.time_basis) report.time_basis = "mixed";
  }
  report.program = join(names, ", ");
  if (has_host_s) report.host_time_s = host_s;

  if (Status kept = keep_wanted(bundle, request, report.rows); !kept) return kept.error();
  if (request.prices) report.choice = choice_among(bundle, report.rows, covariance, half_width, request.within_ratio);
  cut_to_top(request, report.rows);
  return report;
}

}  // namespace perfcast::program
