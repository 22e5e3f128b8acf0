#include "ai/results/training_results.h"

#include <map>
#include <tuple>

#include "ai/results/result_columns.h"
#include "ai/train_time/training_score.h"

namespace perfcast::ai {

Result<TrainingResults> parse_training_results(std::string_view csv, const std::string& source) {
  constexpr double kMinute_s = 60;
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  ResultColumns columns(*table);
  const auto version = columns.need("version"), division = columns.need("division");
  const auto submitter = columns.need("submitter"), platform = columns.need("platform");
  const auto benchmark = columns.need("benchmark"), minutes = columns.need("time_to_train_min");
  const auto status = columns.need("status"), accelerator = columns.need("accelerator");
  const auto per_node = columns.need("accels_per_node"), nodes = columns.need("nodes");
  const auto cpu = columns.find("host_cpu"), cpus = columns.find("host_cpus_per_node");
  const auto framework = columns.find("framework");
  if (Status there = columns.finish(); !there) return there.error();

  struct Entry {
    PublishedResult result;
    std::vector<std::optional<double>> times_s;
  };
  std::vector<Entry> entries;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, size_t> places;
  TrainingResults all;
  for (size_t row = 0; row < table->rows(); ++row) {
    ++all.runs;
    const auto key = std::tuple(columns.text(row, version), columns.text(row, division), columns.text(row, submitter),
                                columns.text(row, platform), columns.text(row, benchmark));
    const auto [place, is_new] = places.emplace(key, entries.size());
    if (is_new) {
      PublishedResult result;
      std::tie(result.version, result.division, result.submitter, result.platform, result.model) = key;
      result.scenario = kTrainingScenario;
      result.line = table->line(row);
      result.accelerator = columns.text(row, accelerator);
      result.host_cpu = columns.text(row, cpu);
      result.framework = columns.text(row, framework);
      result.accelerators_per_node = columns.count(row, per_node);
      result.nodes = columns.count(row, nodes);
      result.host_cpus_per_node = columns.count(row, cpus);
      entries.push_back({std::move(result), {}});
    }
    const double time_min = columns.positive(row, minutes);
    const bool finished = columns.text(row, status) == "success" && !std::isnan(time_min);
    if (!finished) ++all.unfinished_runs;
    entries[place->second].times_s.push_back(finished ? std::optional(kMinute_s * time_min) : std::nullopt);
  }
  if (Status read = columns.finish(); !read) return read.error();
  for (Entry& entry : entries) {
    const TrainingScore score = training_score(entry.times_s);
    if (!score.mean_s) {
      ++all.without_score;
      continue;
    }
    entry.result.training_s = *score.mean_s;
    entry.result.runs = score.runs;
    all.results.push_back(std::move(entry.result));
  }
  return all;
}

}  // namespace perfcast::ai
