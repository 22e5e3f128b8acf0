#include "place/jobs/program_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/unknown.h"
#include "program/evaluate/evaluate.h"
#include "program/evaluate/server_forecast.h"
#include "program/model/predictor.h"

namespace perfcast::place {
namespace {

constexpr double kCoverage = 0.9;

// Of one program on the groups of the cluster: log times, of any unit; NaN where unknown.
struct ProgramTimes {
  std::string name;
  std::vector<double> log_time, log_forecast, log_lower, log_upper;

  bool known() const {
    const auto unknown = [](double value) { return std::isnan(value); };
    return std::none_of(log_time.begin(), log_time.end(), unknown) &&
           std::none_of(log_forecast.begin(), log_forecast.end(), unknown);
  }
};

std::vector<std::string> platform_names(const fleet::Cluster& cluster) {
  std::vector<std::string> names;
  for (const fleet::NodeGroup& group : cluster.groups) names.push_back(group.platform);
  return names;
}

// The group where programs were measured; nothing: none is named.
Result<std::optional<size_t>> measured_group(const fleet::Cluster& cluster, const std::string& measured_on) {
  if (measured_on.empty()) return std::optional<size_t>();
  const std::vector<std::string> names = platform_names(cluster);
  const auto found = std::find(names.begin(), names.end(), measured_on);
  if (found != names.end()) return std::optional<size_t>(static_cast<size_t>(found - names.begin()));
  return usage_error("unknown-platform", "'" + printable(measured_on) + "' is none of the cluster's platforms",
                     "measured_on", "one of: " + nearest_names(measured_on, names));
}

double log_time_of(const program::TrainingTable& table, size_t program, size_t platform) {
  const auto& time = table.at(program, platform);
  return time ? time->log_time : kUnknown;
}

program::EvaluationOptions options_of(const ProgramMixRequest& request) {
  program::EvaluationOptions options;
  options.models = {request.model};
  options.seed = request.seed;
  options.threads = request.threads;
  options.progress = request.progress;
  return options;
}

// Groups are all CPU models.
Result<std::vector<ProgramTimes>> times_on_platforms(const program::TrainingTable& table,
                                                     const std::vector<GroupMachine>& machines,
                                                     const ProgramMixRequest& request) {
  const auto evaluated = program::evaluate(table, options_of(request));
  if (!evaluated) return evaluated.error();
  const auto& models = evaluated->first_seed.models;
  const auto model = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == request.model; });
  if (model == models.end()) {
    return usage_error("unknown-model", "no forecasts by '" + printable(request.model) + "'", "model",
                       "one of " + join(program::predictor_families(), ", "));
  }
  std::vector<ProgramTimes> all;
  for (size_t row = 0; row < table.programs.size(); ++row) {
    ProgramTimes program{table.programs[row].id, {}, {}, {}, {}};
    for (const GroupMachine& machine : machines) {
      const auto i = static_cast<Eigen::Index>(row), j = static_cast<Eigen::Index>(machine.platform);
      program.log_time.push_back(log_time_of(table, row, machine.platform));
      program.log_forecast.push_back(model->entries.predicted(i, j));
      program.log_lower.push_back(model->entries.lower(i, j));
      program.log_upper.push_back(model->entries.upper(i, j));
    }
    all.push_back(std::move(program));
  }
  return all;
}

// Some groups are instance types: programs that were timed as many copies on those.
class TimesOnInstances {
 public:
  TimesOnInstances(const program::TrainingTable& table, const fleet::Cluster& cluster,
                   const std::vector<GroupMachine>& machines, const ProgramMixRequest& request)
      : table_(table), cluster_(cluster), machines_(machines), request_(request), scaling_(*request.scaling) {}

  Result<std::vector<ProgramTimes>> run() {
    if (Status found = find_columns(); !found) return found.error();
    const auto one_copy = forecast_one_copies();
    if (!one_copy) return one_copy.error();
    if (request_.progress) request_.progress("how copies share machines, each family left out");
    const program::ScalingFit fit(scaling_);
    const program::ScalingErrors errors = program::errors_of(fit, program::forecast_without_families(fit), true);
    const program::ServerForecast servers = program::forecast_servers(fit, errors, kCoverage, {*one_copy}).front();
    std::vector<ProgramTimes> all;
    for (const auto& [row, of_scaling] : row_of_scaling_) {
      ProgramTimes program{table_.programs[row].id, {}, {}, {}, {}};
      for (size_t g = 0; g < machines_.size(); ++g) add_group(*one_copy, servers, row, of_scaling, g, program);
      all.push_back(std::move(program));
    }
    return all;
  }

 private:
  Status find_columns() {
    for (size_t row = 0; row < table_.programs.size(); ++row) {
      const auto found = std::find_if(scaling_.programs.begin(), scaling_.programs.end(),
                                      [&](const Program& program) { return program.id == table_.programs[row].id; });
      if (found != scaling_.programs.end())
        row_of_scaling_.emplace(row, static_cast<Eigen::Index>(found - scaling_.programs.begin()));
    }
    for (size_t g = 0; g < machines_.size(); ++g) {
      column_.push_back(-1);
      if (!machines_[g].server) continue;
      const program::Server& server = (*request_.servers)[*machines_[g].server];
      const auto found = std::find_if(scaling_.machines.begin(), scaling_.machines.end(), [&](const auto& machine) {
        return machine.provider == server.vendor && machine.name == server.name && machine.platform == server.platform;
      });
      if (found == scaling_.machines.end()) {
        std::vector<std::string> timed;
        for (const program::MachineFacts& machine : scaling_.machines)
          timed.push_back(machine.provider + " " + machine.name);
        const std::string& called = cluster_.groups[g].platform;
        return Error{"missing-platform", "no program was timed as many copies on " + printable(called), "the cluster",
                     "for example " + nearest_names(called, timed) + "; or a CPU model"};
      }
      column_.back() = found - scaling_.machines.begin();
    }
    return keep_measured();
  }

  // Log seconds per unit of work of a job on a group; NaN where nobody measured it. Compressors ran one copy on each
  // core, never two: of a job on every vCPU of a server with two threads a core nothing was measured.
  double log_time_on(size_t group, size_t row, Eigen::Index of_scaling) const {
    const Eigen::Index s = column_[group];
    if (s < 0) return log_time_of(table_, row, machines_[group].platform);
    const auto cores = static_cast<double>(cluster_.groups[group].cores_per_node);
    return scaling_.copies(of_scaling, s) == cores ? scaling_.log_together(of_scaling, s) : kUnknown;
  }

  // Leaves the programs that were measured on every group, before minutes of fits.
  Status keep_measured() {
    std::vector<int64_t> on_group(machines_.size(), 0);
    std::erase_if(row_of_scaling_, [&](const auto& entry) {
      bool everywhere = true;
      for (size_t g = 0; g < machines_.size(); ++g) {
        const bool measured = !std::isnan(log_time_on(g, entry.first, entry.second));
        on_group[g] += measured ? 1 : 0;
        everywhere = everywhere && measured;
      }
      return !everywhere;
    });
    if (!row_of_scaling_.empty()) return {};
    std::vector<std::string> counts;
    for (size_t g = 0; g < machines_.size(); ++g)
      counts.push_back(fmt::format("{} on {}", on_group[g], printable(cluster_.groups[g].platform)));
    return Error{
        "empty-corpus",
        "no program was measured on every group, instances with a copy on each of their cores: " + join(counts, ", "),
        request_.corpus, "groups that share programs with profiles"};
  }

  // Only of the programs that jobs may run: each family is a fit.
  Result<program::OneCopyForecast> forecast_one_copies() const {
    program::ScalingTable wanted;
    std::vector<Eigen::Index> rows;
    for (const auto& [row, of_scaling] : row_of_scaling_) {
      wanted.programs.push_back(scaling_.programs[static_cast<size_t>(of_scaling)]);
      wanted.profiles.push_back(scaling_.profiles[static_cast<size_t>(of_scaling)]);
      rows.push_back(of_scaling);
    }
    auto few = program::forecast_one_copy(wanted, table_, options_of(request_));
    if (!few) return few.error();
    program::OneCopyForecast all = std::move(few->front());
    for (Eigen::MatrixXd* matrix : {&all.forecast.predicted, &all.forecast.lower, &all.forecast.upper}) {
      Eigen::MatrixXd spread = Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(scaling_.programs.size()),
                                                         static_cast<Eigen::Index>(table_.platforms.size()), kUnknown);
      for (size_t r = 0; r < rows.size(); ++r) spread.row(rows[r]) = matrix->row(static_cast<Eigen::Index>(r));
      *matrix = std::move(spread);
    }
    return all;
  }

  void add_group(const program::OneCopyForecast& one_copy, const program::ServerForecast& servers, size_t row,
                 Eigen::Index of_scaling, size_t group, ProgramTimes& program) const {
    double log_forecast = kUnknown, half = kUnknown;
    const size_t platform = machines_[group].platform;
    const auto j = static_cast<Eigen::Index>(platform);
    if (const Eigen::Index s = column_[group]; s >= 0) {
      log_forecast = servers.log_together(of_scaling, s);  // NaN on servers left out as faulty
      half = servers.half_width(of_scaling, s);
    } else {
      log_forecast = servers.level(of_scaling) + one_copy.forecast.predicted(of_scaling, j);
      half = (one_copy.forecast.upper(of_scaling, j) - one_copy.forecast.lower(of_scaling, j)) / 2;
    }
    program.log_time.push_back(log_time_on(group, row, of_scaling));
    program.log_forecast.push_back(log_forecast);
    program.log_lower.push_back(log_forecast - half);
    program.log_upper.push_back(log_forecast + half);
  }

  const program::TrainingTable& table_;
  const fleet::Cluster& cluster_;
  const std::vector<GroupMachine>& machines_;
  const ProgramMixRequest& request_;
  const program::ScalingTable& scaling_;
  std::map<size_t, Eigen::Index> row_of_scaling_;  // of the table's rows
  std::vector<Eigen::Index> column_;               // of each group, among the scaling table's machines; -1: a CPU model
};

// At the level of `mean_job_s`, or right where the program was measured.
fleet::MixProgram mix_program(const ProgramTimes& times, const ProgramMixRequest& request,
                              std::optional<size_t> anchor) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  const double log_time = mean(times.log_time), log_forecast = mean(times.log_forecast);
  fleet::MixProgram program;
  program.name = times.name;
  program.cores = request.cores;
  for (size_t g = 0; g < times.log_time.size(); ++g) {
    const auto seconds = [&](double log_relative) { return std::exp(log_relative) * request.mean_job_s; };
    program.time_s.push_back(seconds(times.log_time[g] - log_time));
    program.forecast_s.push_back(seconds(times.log_forecast[g] - log_forecast));
    program.lower_s.push_back(seconds(times.log_lower[g] - log_forecast));
    program.upper_s.push_back(seconds(times.log_upper[g] - log_forecast));
  }
  if (!anchor) return program;
  const double level = program.time_s[*anchor] / program.forecast_s[*anchor];
  for (auto* times_s : {&program.forecast_s, &program.lower_s, &program.upper_s}) {
    for (double& seconds : *times_s) seconds *= level;
  }
  return program;
}

}  // namespace

Result<fleet::ProgramMix> make_program_mix(const program::TrainingTable& table, const fleet::Cluster& cluster,
                                           const std::vector<GroupMachine>& machines,
                                           const ProgramMixRequest& request) {
  const auto anchor = measured_group(cluster, request.measured_on);
  if (!anchor) return anchor.error();
  const bool any_instance =
      std::any_of(machines.begin(), machines.end(), [](const auto& machine) { return machine.server.has_value(); });
  if (any_instance && request.scaling == nullptr) {
    return Error{"empty-corpus", "no server of the corpus ran programs as many copies", request.corpus,
                 "a corpus with whole machines (perfcast import sparecores), or CPU models instead of instance types"};
  }
  const auto all = any_instance ? TimesOnInstances(table, cluster, machines, request).run()
                                : times_on_platforms(table, machines, request);
  if (!all) return all.error();

  fleet::ProgramMix mix;
  mix.platforms = platform_names(cluster);
  for (const ProgramTimes& times : *all) {
    if (times.known()) mix.programs.push_back(mix_program(times, request, *anchor));
  }
  if (mix.programs.empty()) {
    return Error{"empty-corpus", "no program with a profile was measured on every platform of the cluster",
                 request.corpus, "platforms that share programs with profiles"};
  }
  mix.source = fmt::format("{} programs of {}; forecasts by {} without the program's family", mix.programs.size(),
                           std::filesystem::path(request.corpus).filename().string(), request.model);
  if (any_instance) {
    mix.notes.emplace_back(
        "jobs on an instance take as long as where copies of their program, one on each vCPU, fill it, as measured; "
        "programs that were not timed so are left out");
  }
  return mix;
}

}  // namespace perfcast::place
