#include "ai/results/result_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/statistics.h"

namespace perfcast::ai {

double samples_per_joule(const PublishedResult& result) {
  const double rate = std::isnan(result.samples_per_s) ? result_rate_per_s(result) : result.samples_per_s;
  return rate / result.power_w;
}

std::vector<TaskTable> task_tables(const std::vector<PublishedResult>& results,
                                   const std::vector<DeviceFacts>& devices) {
  struct Building {
    TaskEntry entry;
    std::vector<double> rates;
    std::set<std::string> systems;
  };
  std::map<std::pair<std::string, std::string>, std::map<std::string, Building>> tasks;
  for (const PublishedResult& result : results) {
    const double rate = result_rate_per_s(result);
    if (!result.valid || !(rate > 0)) continue;
    const ResultAccelerator accelerator = result_accelerator(result, devices);
    Building& building = tasks[{result.model, result.scenario}][accelerator.name];
    const double own = scales_with_accelerators(result.scenario) ? rate / static_cast<double>(accelerator.count) : rate;
    TaskEntry& entry = building.entry;
    building.systems.insert(result.submitter + "/" + result.platform);
    building.rates.push_back(own);
    if (!(entry.best_per_accelerator >= own)) {
      entry.best_per_accelerator = own;
      entry.best_version = result.version;
      entry.best_platform = result.submitter + "/" + result.platform;
      entry.best_count = accelerator.count;
      if (result.scenario == "SingleStream") entry.best_latency_s = 1 / rate;
      if (result.scenario == "MultiStream") entry.best_latency_s = kMultiStreamSamples / rate;
      if (result.scenario == kTrainingScenario) entry.best_training_s = 1 / rate;
    }
    const double per_joule = samples_per_joule(result);
    if (std::isnan(per_joule)) continue;
    ++entry.with_power;
    if (!(entry.best_samples_per_j >= per_joule)) entry.best_samples_per_j = per_joule;
  }
  std::vector<TaskTable> tables;
  tables.reserve(tasks.size());
  for (auto& [task, accelerators] : tasks) {
    TaskTable table{task.first, task.second, {}};
    table.entries.reserve(accelerators.size());
    for (auto& [name, building] : accelerators) {
      building.entry.accelerator = name;
      building.entry.results = building.rates.size();
      building.entry.systems = building.systems.size();
      building.entry.median_per_accelerator = median(std::move(building.rates));
      table.entries.push_back(std::move(building.entry));
    }
    std::stable_sort(table.entries.begin(), table.entries.end(), [](const TaskEntry& a, const TaskEntry& b) {
      return a.best_per_accelerator > b.best_per_accelerator;
    });
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace perfcast::ai
