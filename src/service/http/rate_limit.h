#pragma once
// How many requests each client may send: as many at once as in two seconds, then so many a second.

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace perfcast::service {

class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  // 0: any number.
  explicit RateLimit(double requests_per_s) : rate_(requests_per_s) {}

  // Whether this client may send one more now. From any thread.
  bool takes(const std::string& client, Clock::time_point now);

 private:
  struct Bucket {
    double tokens = 0;
    Clock::time_point filled;
  };
  static constexpr double kBurst_s = 2;
  static constexpr size_t kMostClients = 65536;  // above it, those whose buckets are full are forgotten

  const double rate_;
  std::mutex lock_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace perfcast::service
