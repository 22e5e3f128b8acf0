#include "program/corpus/all_cores.h"

#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::program {

std::vector<AllCoresRun> all_cores_runs(const Corpus& corpus) {
  std::map<std::string, const Program*> applications;
  for (const Program& program : corpus.programs) {
    if (program.group == "application" && program.excluded.empty()) applications.emplace(program.id, &program);
  }
  using Key = std::pair<std::string, std::string>;     // program, platform
  std::map<Key, std::map<std::string, double>> alone;  // by server
  for (const Run& run : corpus.runs) {
    if (run.threads == 1 && !run.results_count && !run.server.empty() && run.time_s > 0 &&
        applications.contains(run.program))
      alone[{run.program, run.platform}][run.server] = std::log(run.time_s);
  }
  std::vector<AllCoresRun> result;
  for (const MachineRun& run : corpus.machine_runs) {
    const auto program = applications.find(run.program);
    const auto times = alone.find({run.program, run.platform});
    if (program == applications.end() || times == alone.end() || !(run.time_s > 0)) continue;
    std::vector<double> others;
    for (const auto& [server, log_time] : times->second) {
      if (server != run.server || times->second.size() == 1) others.push_back(log_time);
    }
    const double log_alone = median(std::move(others));
    result.push_back({run.program, program->second->family, run.platform, run.server, run.copies, log_alone,
                      std::log(run.time_s) - log_alone});
  }
  return result;
}

std::map<std::string, AllCoresFamilies> all_cores_families(const std::vector<AllCoresRun>& runs) {
  std::map<std::string, std::map<std::string, std::vector<double>>> logs;
  for (const AllCoresRun& run : runs) logs[run.server + "\t" + run.platform][run.family].push_back(run.log_slowdown);
  std::map<std::string, AllCoresFamilies> result;
  for (const auto& [server, families] : logs) {
    for (const auto& [family, values] : families) result[server][family] = mean(values);
  }
  return result;
}

AllCoresLevel all_cores_level(const AllCoresFamilies& families, const std::string& without) {
  std::vector<double> logs;
  for (const auto& [family, log_slowdown] : families) {
    if (family != without) logs.push_back(log_slowdown);
  }
  if (logs.empty()) return {};
  return {logs.size(), mean(logs), logs.size() > 1 ? standard_deviation(logs) : 0};
}

double all_cores_half_width(const AllCoresLevel& level) {
  const auto n = static_cast<double>(level.families);
  return level.families < 2 ? kUnknown : student_quantile(0.95, n - 1) * level.deviation * std::sqrt(1 + 1 / n);
}

void state_all_cores(const std::vector<AllCoresRun>& runs, std::vector<Server>& servers) {
  const std::map<std::string, AllCoresFamilies> known = all_cores_families(runs);
  for (Server& server : servers) {
    for (const char* fact : {kAllCoresSlowdown, kAllCoresDeviation, kAllCoresFamilies}) server.facts.erase(fact);
    const auto found = known.find(server.vendor + "/" + server.name + "\t" + server.platform);
    if (found == known.end()) continue;
    const AllCoresLevel level = all_cores_level(found->second);
    if (level.families < kAllCoresLeastFamilies) continue;
    server.facts[kAllCoresSlowdown] = std::exp(level.log_slowdown);
    server.facts[kAllCoresDeviation] = level.deviation;
    server.facts[kAllCoresFamilies] = static_cast<double>(level.families);
  }
}

std::optional<AllCoresLevel> all_cores_level_of(const Server& server) {
  const auto slowdown = server.facts.find(kAllCoresSlowdown), deviation = server.facts.find(kAllCoresDeviation),
             families = server.facts.find(kAllCoresFamilies);
  for (const auto& fact : {slowdown, deviation, families}) {
    if (fact == server.facts.end()) return std::nullopt;
  }
  if (!(slowdown->second > 0) || !(deviation->second >= 0) || !(families->second >= kAllCoresLeastFamilies))
    return std::nullopt;
  return AllCoresLevel{static_cast<size_t>(families->second), std::log(slowdown->second), deviation->second};
}

}  // namespace perfcast::program
