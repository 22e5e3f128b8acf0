#include "service/http/rate_limit.h"

#include <algorithm>

namespace perfcast::service {

bool RateLimit::takes(const std::string& client, Clock::time_point now) {
  if (!(rate_ > 0)) return true;
  const double most = std::max(1.0, rate_ * kBurst_s);
  const std::lock_guard guard(lock_);
  const auto tokens_of = [&](const Bucket& bucket) {
    return std::min(most, bucket.tokens + rate_ * std::chrono::duration<double>(now - bucket.filled).count());
  };
  if (buckets_.size() >= kMostClients && !buckets_.contains(client)) {
    std::erase_if(buckets_, [&](const auto& each) { return tokens_of(each.second) >= most; });
    if (buckets_.size() >= kMostClients) return false;
  }
  Bucket& bucket = buckets_.try_emplace(client, Bucket{most, now}).first->second;
  bucket = {tokens_of(bucket), now};
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

}  // namespace perfcast::service
