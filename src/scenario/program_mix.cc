#include "scenario/program_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "evaluate/evaluate.h"
#include "model/predictor.h"

namespace perfcast {
namespace {

// The program's times over the columns, relative to their geometric mean; nothing where one is absent.
std::optional<std::vector<double>> relative(const std::vector<size_t>& columns, const auto& log_at) {
  std::vector<double> values;
  double sum = 0;
  for (const size_t column : columns) {
    const std::optional<double> value = log_at(column);
    if (!value || std::isnan(*value)) return std::nullopt;
    values.push_back(*value);
    sum += *value;
  }
  for (double& value : values) value = std::exp(value - sum / static_cast<double>(columns.size()));
  return values;
}

std::vector<std::string> platform_names(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const NodeGroup& group : cluster.groups) names.push_back(group.platform);
  return names;
}

// The group where programs were measured; nothing: none is named.
Result<std::optional<size_t>> measured_group(const Cluster& cluster, const std::string& measured_on) {
  if (measured_on.empty()) return std::optional<size_t>();
  const std::vector<std::string> names = platform_names(cluster);
  const auto found = std::find(names.begin(), names.end(), measured_on);
  if (found != names.end()) return std::optional<size_t>(static_cast<size_t>(found - names.begin()));
  return usage_error("unknown-platform", "'" + printable(measured_on) + "' is none of the cluster's platforms",
                     "measured_on", "one of: " + nearest_names(measured_on, names));
}

}  // namespace

Result<std::vector<size_t>> platforms_of_cluster(const TrainingTable& table, const Cluster& cluster) {
  std::vector<std::string> names;
  for (const Platform& platform : table.platforms) names.push_back(platform.name);
  std::vector<size_t> columns;
  for (const NodeGroup& group : cluster.groups) {
    const auto found = std::find_if(table.platforms.begin(), table.platforms.end(), [&](const Platform& platform) {
      return platform.name == group.platform || platform.id == group.platform;
    });
    if (found == table.platforms.end()) {
      return Error{"missing-platform", "the corpus has too few runs on '" + printable(group.platform) + "'",
                   "the cluster", "for example " + nearest_names(group.platform, names)};
    }
    columns.push_back(static_cast<size_t>(found - table.platforms.begin()));
  }
  return columns;
}

Result<ProgramMix> make_program_mix(const TrainingTable& table, const Cluster& cluster,
                                    const ProgramMixRequest& request) {
  const auto columns = platforms_of_cluster(table, cluster);
  if (!columns) return columns.error();
  const auto anchor = measured_group(cluster, request.measured_on);
  if (!anchor) return anchor.error();

  EvaluationOptions evaluation;
  evaluation.models = {request.model};
  evaluation.seed = request.seed;
  evaluation.threads = request.threads;
  evaluation.progress = request.progress;
  const auto evaluated = evaluate(table, evaluation);
  if (!evaluated) return evaluated.error();
  const auto& models = evaluated->first_seed.models;
  const auto model = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == request.model; });
  if (model == models.end()) {
    return usage_error("unknown-model", "no forecasts by '" + printable(request.model) + "'", "model",
                       "one of " + join(predictor_families(), ", "));
  }

  ProgramMix mix;
  mix.platforms = platform_names(cluster);
  for (size_t row = 0; row < table.programs.size(); ++row) {
    const auto entry = [&](const Eigen::MatrixXd& matrix) {
      return [&matrix, row](size_t column) -> std::optional<double> {
        return matrix(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column));
      };
    };
    const auto times = relative(*columns, [&](size_t column) -> std::optional<double> {
      const auto& time = table.at(row, column);
      return time ? std::optional<double>(time->log_time) : std::nullopt;
    });
    const auto forecasts = relative(*columns, entry(model->entries.predicted));
    if (!times || !forecasts) continue;
    MixProgram program;
    program.name = table.programs[row].id;
    program.cores = request.cores;
    for (size_t i = 0; i < columns->size(); ++i) {
      const double predicted = *entry(model->entries.predicted)((*columns)[i]);
      program.time_s.push_back((*times)[i] * request.mean_job_s);
      program.forecast_s.push_back((*forecasts)[i] * request.mean_job_s);
      program.lower_s.push_back(program.forecast_s[i] *
                                std::exp(*entry(model->entries.lower)((*columns)[i]) - predicted));
      program.upper_s.push_back(program.forecast_s[i] *
                                std::exp(*entry(model->entries.upper)((*columns)[i]) - predicted));
    }
    if (*anchor) {
      const double level = program.time_s[**anchor] / program.forecast_s[**anchor];
      for (auto* times_s : {&program.forecast_s, &program.lower_s, &program.upper_s}) {
        for (double& seconds : *times_s) seconds *= level;
      }
    }
    mix.programs.push_back(std::move(program));
  }
  if (mix.programs.empty()) {
    return Error{"empty-corpus", "no program with a profile was measured on every platform of the cluster",
                 request.corpus, "platforms that share programs with profiles"};
  }
  mix.source = fmt::format("{} programs of {}; forecasts by {} without the program's family", mix.programs.size(),
                           std::filesystem::path(request.corpus).filename().string(), request.model);
  return mix;
}

}  // namespace perfcast
