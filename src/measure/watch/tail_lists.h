#pragma once
// How rare values are, each beside the past of its own list. Time is cut into blocks of 30 rows. A list keeps the 24
// largest of the largest values of its blocks. Above the K-th largest, s_K, they are taken for exponential (peaks over
// threshold; Coles 2001, ch. 4), and so a block has a value of s or more by chance
//   P = K / N e^(-(s - s_K) / beta),  N: blocks so far; K: 16, or N / 2 where that is less
// with beta from the median of the K, as few moments far out are to raise it little. nats: -log P.
// Where past values say less of later ones (what a network leaves in a state that it hardly knows), beta counts as
// known from 8 values, and P = K / N (1 + (s - s_K) / (8 beta))^-8: the predictive tail of an exponential, a Pareto's.
// What was about as large in two earlier blocks is as rare as that says, whatever the tail.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace perfcast::measure {

class Archive;

class TailLists {
 public:
  static constexpr size_t kBlockRows = 30;

  enum class Beta { kKnown, kFromFew };
  explicit TailLists(Beta beta = Beta::kKnown) : beta_(beta) {}
  // `channels` x `columns` lists, all empty. They say nothing until they know `least_blocks`.
  void reset(size_t channels, size_t columns, uint32_t least_blocks = 3);
  size_t channels() const { return columns_ > 0 ? bound_.size() / columns_ : 0; }
  // A row's values of one channel, times `sign`; NaN: none. nats, by column: the largest so far stay.
  void look(size_t channel, float sign, const float* values, float* nats);
  // The block is over: its largest values are part of the past.
  void end_block();
  // nats of this value, where it may have been there before.
  float nats(size_t channel, size_t column, float value) const;
  // What the usual blocks don't pass; infinite while there are too few.
  float bound(size_t channel, size_t column) const { return bound_[channel * columns_ + column]; }
  float block_most(size_t channel, size_t column) const { return block_most_[channel * columns_ + column]; }
  // What lasts is usual from now on, up to this value: all that the list holds moves.
  void move_bound(size_t channel, size_t column, float to);

  void archive(Archive& archive, size_t channels, size_t columns);

 private:
  static constexpr size_t kKept = 24, kUsed = 16;

  void add(size_t list, float value);
  void fit(size_t list);

  Beta beta_;
  size_t columns_ = 0;
  uint32_t least_blocks_ = 3;
  std::vector<float> block_most_;  // of the present block
  std::vector<float> bound_, inverse_beta_, base_;
  std::vector<float> kept_;               // lists x kKept, falling
  std::vector<uint32_t> blocks_, known_;  // N; how many are kept
};

}  // namespace perfcast::measure
