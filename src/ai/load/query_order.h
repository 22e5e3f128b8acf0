#pragma once
// Which samples come when: the same as the field's load generator (LoadGen 6.0) makes of the same settings and seeds
// with the same standard library, query by query, without holding them all.
//
// The data set's first samples are shuffled by the first seed and are what is loaded; multi stream repeats its first
// ones at the end, so that a query may be of neighbours. Of the second seed's numbers some pass before the first query:
// that generator shuffles two other orders first (every sample once; all samples in permutations), whether it uses them
// or not. Then indices are drawn with replacement. The third seed gives the gaps between arrivals: exponential, in
// seconds, cut to nanoseconds.

#include <cstdint>
#include <random>
#include <vector>

#include "ai/load/load_settings.h"

namespace perfcast::ai {

// Accuracy mode of a data set larger than what is loaded: one set after the other. Performance mode has one.
std::vector<std::vector<uint32_t>> sample_sets(const LoadSettings& settings);

class QueryOrder {
 public:
  // `loaded`: of sample_sets(). Settings that check() accepts.
  QueryOrder(const LoadSettings& settings, std::vector<uint32_t> loaded);

  // The next query: its samples and, of the server scenario, when it is due. False where there is no further one: in
  // performance mode those of single and multi stream have no end, whoever issues them knows when it is enough.
  bool next(std::vector<uint32_t>& samples, int64_t& due_ns);

  int64_t samples_per_query() const { return samples_per_query_; }
  const std::vector<uint32_t>& loaded() const { return loaded_; }

 private:
  bool is_over() const;
  void fill_offline(std::vector<uint32_t>& samples);
  int64_t draw_gap_ns();

  LoadSettings settings_;
  std::vector<uint32_t> loaded_;  // with the padding of multi stream
  int64_t drawn_from_ = 0;        // without it
  std::mt19937 sample_random_, schedule_random_;
  std::uniform_int_distribution<> index_;
  std::exponential_distribution<> gap_s_;
  std::vector<uint32_t> once_;          // accuracy: where each query begins
  std::vector<uint32_t> permutations_;  // equal issue
  int64_t samples_per_query_ = 1, least_queries_ = 1, duration_ns_ = 0;
  int64_t queries_ = 0, due_ns_ = 0, last_due_ns_ = 0;
};

}  // namespace perfcast::ai
