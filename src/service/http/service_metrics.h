#pragma once
// What the service has done, for Prometheus.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/unknown.h"

namespace perfcast::service {

class ServiceMetrics {
 public:
  // From any thread. `operation`: of the table, or of the service: "metrics"; "other" for what is none.
  void count_request(const std::string& operation, int status, double seconds);
  void count_forecasts(int64_t forecasts, int64_t out_of_distribution);
  void count_reload(bool succeeded);

  struct Now {
    std::string bundle = {};  // its name; empty: none
    double bundle_created_unix_s = kUnknown;
    int64_t in_flight = 0, jobs_waiting = 0, jobs_running = 0;
    std::string version = {};
  };
  // The text exposition format, version 0.0.4.
  std::string text(const Now& now) const;

 private:
  static constexpr std::array<double, 12> kBounds_s = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                       0.05,   0.1,   0.25,   1,     10,   60};
  struct Durations {
    std::array<int64_t, kBounds_s.size() + 1> counts = {};
    double sum_s = 0;
  };

  mutable std::mutex lock_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  std::map<std::string, Durations> durations_;
  int64_t forecasts_ = 0, out_of_distribution_ = 0, reloads_ = 0, failed_reloads_ = 0;
};

// "2026-11-20T10:00:00Z" -> seconds since 1970; not a number where it isn't one.
double unix_s_of_utc(const std::string& text);

}  // namespace perfcast::service
