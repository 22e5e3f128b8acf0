#pragma once
// Percentiles of latencies as the field defines them, and a histogram for what is too many to be kept.

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::ai {

// sorted[floor(n p)]: no interpolation; `sorted` ascending and not empty, 0 <= p < 1.
int64_t field_percentile(std::span<const int64_t> sorted, double p);

struct LatencySummary {
  int64_t count = 0;
  int64_t min = 0, max = 0;
  int64_t mean = 0;  // cut to an integer, as the field's logs have it
  int64_t p50 = 0, p90 = 0, p95 = 0, p97 = 0, p99 = 0, p999 = 0;
};
// All zero where there are none: look at count.
LatencySummary summarise_sorted(std::span<const int64_t> sorted);
LatencySummary summarise(std::vector<int64_t> values);

// Counts of values above 0 in buckets that are 1/128 of their value wide; what is larger than 2^62 counts in the last.
// add() from any thread, without locks.
class LatencyHistogram {
 public:
  void add(int64_t value, uint64_t count = 1) {
    buckets_[bucket_of(value)].fetch_add(count, std::memory_order_relaxed);
  }
  void clear();
  uint64_t count() const;
  // The value that a share of p of the values is below, within a bucket's half width: 0.4%; 0 where there are none.
  int64_t percentile(double p) const;

  static constexpr int kSubBits = 7;

 private:
  static constexpr size_t kSub = size_t{1} << kSubBits;
  static constexpr size_t kBuckets = (63 - kSubBits) * kSub;
  static size_t bucket_of(int64_t value);
  static int64_t middle_of(size_t bucket);
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
};

}  // namespace perfcast::ai
