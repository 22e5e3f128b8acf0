#include "ai/load/latency_numbers.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace perfcast::ai {

int64_t field_percentile(std::span<const int64_t> sorted, double p) {
  const auto index = static_cast<size_t>(static_cast<double>(sorted.size()) * p);
  return sorted[std::min(index, sorted.size() - 1)];
}

LatencySummary summarise_sorted(std::span<const int64_t> sorted) {
  LatencySummary summary;
  if (sorted.empty()) return summary;
  summary.count = static_cast<int64_t>(sorted.size());
  summary.min = sorted.front();
  summary.max = sorted.back();
  // Of 2e8 latencies of 46 s each the sum is still an int64.
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), int64_t{0}) / summary.count;
  summary.p50 = field_percentile(sorted, 0.50);
  summary.p90 = field_percentile(sorted, 0.90);
  summary.p95 = field_percentile(sorted, 0.95);
  summary.p97 = field_percentile(sorted, 0.97);
  summary.p99 = field_percentile(sorted, 0.99);
  summary.p999 = field_percentile(sorted, 0.999);
  return summary;
}

LatencySummary summarise(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return summarise_sorted(values);
}

size_t LatencyHistogram::bucket_of(int64_t value) {
  const auto number = static_cast<uint64_t>(std::max<int64_t>(value, 0));
  if (number < kSub) return number;
  const auto octave = static_cast<size_t>(std::bit_width(number)) - 1 - kSubBits;  // 0: values of [kSub, 2 kSub)
  return std::min((octave + 1) * kSub + (number >> octave) - kSub, kBuckets - 1);
}

int64_t LatencyHistogram::middle_of(size_t bucket) {
  if (bucket < kSub) return static_cast<int64_t>(bucket);
  const size_t octave = bucket / kSub - 1;
  const uint64_t low = (kSub + bucket % kSub) << octave;
  return static_cast<int64_t>(low + ((uint64_t{1} << octave) >> 1));
}

void LatencyHistogram::clear() {
  for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
}

uint64_t LatencyHistogram::count() const {
  uint64_t sum = 0;
  for (const auto& bucket : buckets_) sum += bucket.load(std::memory_order_relaxed);
  return sum;
}

int64_t LatencyHistogram::percentile(double p) const {
  const auto rank = static_cast<uint64_t>(static_cast<double>(count()) * p);
  uint64_t below = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    below += buckets_[bucket].load(std::memory_order_relaxed);
    if (below > rank) return middle_of(bucket);
  }
  return 0;
}

}  // namespace perfcast::ai
