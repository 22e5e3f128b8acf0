#pragma once
// How rare a row is beside what the metrics say of each other: what a network leaves of each metric, given the others
// (reconstruction.h), its means over some 8 and some 40 rows, and their tails, which come from rows behind those that
// the network was trained on. Where several metrics leave what it has seen of them, it knows nothing, and rows are not
// judged.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/watch/reconstruction.h"
#include "measure/watch/sighting.h"
#include "measure/watch/tail_lists.h"

namespace perfcast::measure {

class Archive;

class MetricRelations {
 public:
  bool is_known() const { return reconstruction_.columns() > 0; }
  // Anew from these rows of z; forgets the tails, which say nothing until they know `least_blocks`.
  Status learn(std::span<const float> z, size_t columns, const std::vector<size_t>& rows,
               const ReconstructionOptions& options, uint32_t least_blocks);
  // Trains on, from where it is, with some of the rows; kept where the others don't say that it got worse.
  Status refresh(std::span<const float> z, size_t columns, size_t rows, const ReconstructionOptions& options);

  // Of rows in bulk, to be looked at one by one.
  void infer(size_t rows, const float* z);
  // Row `at` of them, whose z these are. nats, by column: the largest so far stay.
  void look(size_t at, const float* z, float* nats);
  Sighting find(size_t column) const;
  Expected expected(size_t column, const Sighting& sighting, float z) const;
  void end_block() { tails_.end_block(); }
  // The means over 40 rows go on from those over 8: they still hold a fault that is over.
  void forget_long_means() { long_mean_ = short_mean_; }
  // What is seen now is usual from now on.
  void accept();

  void archive(Archive& archive, size_t columns);

 private:
  bool has_seen(const float* z) const;
  float statistic(Sight sight, size_t column) const;

  size_t columns_ = 0;
  Reconstruction reconstruction_;
  std::vector<float> e_, w_, short_mean_, long_mean_;
  std::vector<uint32_t> regimes_;
  std::vector<float> low_, high_;  // z that it was trained on
  uint32_t regime_ = 0;            // of the row at hand
  bool judges_ = false;            // that row
  // What a network leaves in a state that it hardly knows may be larger than all before.
  TailLists tails_{TailLists::Beta::kFromFew};
};

}  // namespace perfcast::measure
