#include "fleet/simulate/queueing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perfcast::fleet {

double erlang_c(int64_t servers, double erlangs) {
  if (servers <= 0 || erlangs >= static_cast<double>(servers)) return 1;
  if (erlangs <= 0) return 0;
  // Erlang B by its recursion, which neither overflows nor cancels.
  double blocked = 1;
  for (int64_t c = 1; c <= servers; ++c) blocked = erlangs * blocked / (static_cast<double>(c) + erlangs * blocked);
  const double load = erlangs / static_cast<double>(servers);
  return blocked / (1 - load * (1 - blocked));
}

double mean_wait_mmc_s(int64_t servers, double arrivals_per_s, double mean_service_s) {
  const double erlangs = arrivals_per_s * mean_service_s;
  const double spare = static_cast<double>(servers) - erlangs;
  if (spare <= 0) return std::numeric_limits<double>::infinity();
  return erlang_c(servers, erlangs) * mean_service_s / spare;
}

double wait_quantile_mmc_s(int64_t servers, double arrivals_per_s, double mean_service_s, double probability) {
  const double erlangs = arrivals_per_s * mean_service_s;
  const double spare = static_cast<double>(servers) - erlangs;
  if (spare <= 0) return std::numeric_limits<double>::infinity();
  // P(wait > t) = C exp(-spare t / service)
  const double waits = erlang_c(servers, erlangs);
  return std::max(0.0, std::log(waits / (1 - probability)) * mean_service_s / spare);
}

double mean_wait_ggc_s(int64_t servers, double arrivals_per_s, double mean_service_s, double arrival_scv,
                       double service_scv) {
  return mean_wait_mmc_s(servers, arrivals_per_s, mean_service_s) * (arrival_scv + service_scv) / 2;
}

}  // namespace perfcast::fleet
