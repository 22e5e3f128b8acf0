#include "program/corpus/server_levels.h"

#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"

namespace perfcast::program {

std::set<std::string> application_ids(const std::vector<Program>& programs) {
  std::set<std::string> ids;
  for (const Program& program : programs) {
    if (program.group == "application") ids.insert(program.id);
  }
  return ids;
}

void state_server_levels(const std::vector<Run>& runs, const std::set<std::string>& programs,
                         std::vector<Server>& servers) {
  // By platform and program, of each server: log times. Programs that share a source's label have the same times.
  using Key = std::pair<std::string, std::string>;
  std::map<Key, std::map<std::string, std::vector<double>>> logs;
  for (const Run& run : runs) {
    if (run.threads != 1 || run.server.empty() || !(run.time_s > 0) || !programs.contains(run.program)) continue;
    logs[{run.platform, run.program}][run.server].push_back(std::log(run.time_s));
  }
  std::map<Key, std::vector<double>> apart;  // by platform and server
  for (const auto& [key, of_servers] : logs) {
    if (of_servers.size() < 2) continue;
    std::vector<double> own;
    own.reserve(of_servers.size());
    for (const auto& [server, times] : of_servers) own.push_back(median(times));
    const double centre = median(own);
    size_t i = 0;
    for (const auto& [server, times] : of_servers) apart[{key.first, server}].push_back(own[i++] - centre);
  }
  for (Server& server : servers) {
    server.facts.erase(kServerTimeRatio);
    server.facts.erase(kServerDeviation);
    const auto found = apart.find({server.platform, server.vendor + "/" + server.name});
    if (found == apart.end()) continue;
    double squares = 0;
    for (const double value : found->second) squares += value * value;
    server.facts[kServerTimeRatio] = std::exp(median(found->second));
    server.facts[kServerDeviation] = std::sqrt(squares / static_cast<double>(found->second.size()));
  }
}

}  // namespace perfcast::program
