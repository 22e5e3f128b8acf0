#include "measure/power/table/counter_role.h"

#include <cmath>
#include <map>
#include <vector>

#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::measure {

CounterRole counter_role(std::string_view name) {
  static const std::map<std::string_view, CounterRole> roles = {{"cpu_utilisation", CounterRole::kLoad},
                                                                {"cpu_utilization", CounterRole::kLoad},
                                                                {"cpu_util", CounterRole::kLoad},
                                                                {"utilisation", CounterRole::kLoad},
                                                                {"utilization", CounterRole::kLoad},
                                                                {"cpu_percent", CounterRole::kLoad},
                                                                {"cpu_share", CounterRole::kLoad},
                                                                {"cpu_user", CounterRole::kUser},
                                                                {"cpu_system", CounterRole::kSystem},
                                                                {"cpu_wio", CounterRole::kWait},
                                                                {"cpu_iowait", CounterRole::kWait},
                                                                {"cpu-cycles", CounterRole::kCycles},
                                                                {"cycles", CounterRole::kCycles},
                                                                {"CPU_CYCLES", CounterRole::kCycles},
                                                                {"cpu_cycles", CounterRole::kCycles},
                                                                {"instructions", CounterRole::kInstructions},
                                                                {"INST_RETIRED", CounterRole::kInstructions},
                                                                {"instructions_retired", CounterRole::kInstructions}};
  const auto found = roles.find(name);
  return found == roles.end() ? CounterRole::kOther : found->second;
}

bool is_share(CounterRole role) {
  return role == CounterRole::kLoad || role == CounterRole::kUser || role == CounterRole::kSystem ||
         role == CounterRole::kWait;
}

double share_divisor(const Eigen::VectorXd& values) {
  std::vector<double> known;
  for (const double value : values) {
    if (!std::isnan(value)) known.push_back(value);
  }
  const bool percent = !known.empty() && quantile(known, 0.9) > kMostShare;
  return percent || (!known.empty() && quantile(known, 0.5) > 1) ? kPercent : 1;
}

bool says_percent(std::string_view name) { return lower_case(name).ends_with("percent"); }

}  // namespace perfcast::measure
