#include "cli/schedule_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "evaluate/evaluate.h"

namespace perfcast {
namespace {

// Columns of the table that carry the cluster's groups.
Result<std::vector<size_t>> columns_of(const TrainingTable& table, const Cluster& cluster) {
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

}  // namespace

Result<ProgramMix> mix_from_corpus(const CommonOptions& common, const CorpusMixOptions& options,
                                   const Cluster& cluster) {
  const auto loaded = load_table(common, options.table);
  if (!loaded) return loaded.error();
  const TrainingTable& table = loaded->table;
  const auto columns = columns_of(table, cluster);
  if (!columns) return columns.error();

  EvaluationOptions evaluation;
  evaluation.models = {options.model};
  evaluation.seed = common.seed;
  evaluation.threads = common.threads;
  ProgressLine progress(common);
  evaluation.progress = [&progress](const std::string& text) { progress.show("forecasts: " + text); };
  const auto evaluated = evaluate(table, evaluation);
  if (!evaluated) return evaluated.error();
  const auto& models = evaluated->first_seed.models;
  const auto model = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == options.model; });
  if (model == models.end()) {
    return usage_error("unknown-model", "no forecasts by '" + printable(options.model) + "'", "--model",
                       "see evaluate --help");
  }

  size_t anchor = columns->size();
  for (size_t i = 0; i < columns->size(); ++i) {
    if (cluster.groups[i].platform == options.measured_on) anchor = i;
  }
  if (!options.measured_on.empty() && anchor == columns->size()) {
    std::vector<std::string> names;
    for (const NodeGroup& group : cluster.groups) names.push_back(group.platform);
    return usage_error("unknown-platform",
                       "'" + printable(options.measured_on) + "' is none of the cluster's platforms", "--measured-on",
                       "one of: " + nearest_names(options.measured_on, names));
  }
  ProgramMix mix;
  for (const NodeGroup& group : cluster.groups) mix.platforms.push_back(group.platform);
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
    program.cores = options.cores;
    for (size_t i = 0; i < columns->size(); ++i) {
      program.time_s.push_back((*times)[i] * options.mean_job_s);
      program.forecast_s.push_back((*forecasts)[i] * options.mean_job_s);
      const double predicted = *entry(model->entries.predicted)((*columns)[i]);
      program.lower_s.push_back(program.forecast_s[i] *
                                std::exp(*entry(model->entries.lower)((*columns)[i]) - predicted));
      program.upper_s.push_back(program.forecast_s[i] *
                                std::exp(*entry(model->entries.upper)((*columns)[i]) - predicted));
    }
    if (anchor < columns->size()) {
      const double level = program.time_s[anchor] / program.forecast_s[anchor];
      for (auto* times_s : {&program.forecast_s, &program.lower_s, &program.upper_s}) {
        for (double& seconds : *times_s) seconds *= level;
      }
    }
    mix.programs.push_back(std::move(program));
  }
  if (mix.programs.empty()) {
    return Error{"empty-corpus", "no program with a profile was measured on every platform of the cluster",
                 common.corpus, "platforms that share programs; see perfcast corpus info"};
  }
  mix.source = fmt::format("{} programs of {}; forecasts by {} without the program's family", mix.programs.size(),
                           std::filesystem::path(common.corpus).filename().string(), options.model);
  return mix;
}

}  // namespace perfcast
