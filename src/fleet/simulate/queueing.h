#pragma once
// Waiting times of queues that have formulas: what the simulator is held against, and where capacity planning starts.
// Rates are per second, times in seconds. Infinite where the load is 1 or more.

#include <cstdint>

namespace perfcast::fleet {

// Probability that an arrival waits in M/M/c with c servers and an offered load of `erlangs` (Erlang's C formula).
double erlang_c(int64_t servers, double erlangs);

// Mean wait before service in M/M/c.
double mean_wait_mmc_s(int64_t servers, double arrivals_per_s, double mean_service_s);
// The time that a share `probability` of the arrivals waits at most, in M/M/c.
double wait_quantile_mmc_s(int64_t servers, double arrivals_per_s, double mean_service_s, double probability);

// G/G/c, Allen and Cunneen's approximation: M/M/c times (arrival_scv + service_scv) / 2; scv: variance / mean^2 of the
// times between arrivals, of the service time.
double mean_wait_ggc_s(int64_t servers, double arrivals_per_s, double mean_service_s, double arrival_scv,
                       double service_scv);

}  // namespace perfcast::fleet
