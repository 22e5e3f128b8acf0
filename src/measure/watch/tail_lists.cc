#include "measure/watch/tail_lists.h"

#include <algorithm>
#include <cmath>

#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr float kNothing = -1e30f, kNever = 1e30f;
constexpr float kLeastBeta = 0.1f;      // usual deviations
constexpr float kAboutAsLarge = 0.25f;  // of what lies above the bound
constexpr float kFew = 8;               // values: the median of 16 says as much of beta as the mean of 8
constexpr uint32_t kOnceMore = 1;       // as large before: nothing usual yet
constexpr uint32_t kMostBlocks = 8192;  // then half of them are forgotten

}  // namespace

void TailLists::reset(size_t channels, size_t columns, uint32_t least_blocks) {
  least_blocks_ = least_blocks;
  const size_t lists = channels * columns;
  columns_ = columns;
  block_most_.assign(lists, kNothing);
  bound_.assign(lists, kNever);
  inverse_beta_.assign(lists, 1);
  base_.assign(lists, 0);
  kept_.assign(lists * kKept, 0);
  blocks_.assign(lists, 0);
  known_.assign(lists, 0);
}

void TailLists::look(size_t channel, float sign, const float* values, float* nats) {
  const size_t at = channel * columns_;
  score_tail(columns_, sign, values, bound_.data() + at, inverse_beta_.data() + at, base_.data() + at,
             block_most_.data() + at, nats);
}

void TailLists::end_block() {
  for (size_t list = 0; list < block_most_.size(); ++list) {
    if (block_most_[list] <= kNothing) continue;
    add(list, block_most_[list]);
    block_most_[list] = kNothing;
  }
}

void TailLists::add(size_t list, float value) {
  float* const kept = kept_.data() + list * kKept;
  uint32_t& known = known_[list];
  uint32_t& blocks = blocks_[list];
  ++blocks;
  const bool enters = known < kKept || value > kept[kKept - 1];
  if (enters) {
    known = std::min<uint32_t>(known + 1, kKept);
    size_t at = known - 1;
    for (; at > 0 && kept[at - 1] < value; --at) kept[at] = kept[at - 1];
    kept[at] = value;
  }
  if (blocks > kMostBlocks) {
    blocks /= 2;
    known = (known + 1) / 2;
    for (size_t i = 1; i < known; ++i) kept[i] = kept[2 * i];
  }
  fit(list);
}

void TailLists::fit(size_t list) {
  const float* const kept = kept_.data() + list * kKept;
  const uint32_t blocks = blocks_[list];
  if (blocks < least_blocks_) return;
  const size_t used = std::min<size_t>({kUsed, std::max<uint32_t>(blocks / 2, 1), known_[list]});
  bound_[list] = kept[used - 1];
  const float beta = (kept[used / 2] - kept[used - 1]) / 0.69314718f;
  inverse_beta_[list] = 1 / std::max(beta, kLeastBeta);
  base_[list] = std::log(static_cast<float>(blocks) / static_cast<float>(used));
}

float TailLists::nats(size_t channel, size_t column, float value) const {
  const size_t list = channel * columns_ + column;
  const float above = value - bound_[list];
  if (!(above > 0)) return 0;
  const float steps = above * inverse_beta_[list];
  const float rare = base_[list] + (beta_ == Beta::kKnown ? steps : kFew * std::log1p(steps / kFew));
  const float* const kept = kept_.data() + list * kKept;
  uint32_t before = 0;
  while (before < known_[list] && kept[before] >= value - kAboutAsLarge * above) ++before;
  if (before <= kOnceMore) return rare;
  return std::min(rare, std::log(static_cast<float>(blocks_[list]) / static_cast<float>(before - kOnceMore + 1)));
}

void TailLists::move_bound(size_t channel, size_t column, float to) {
  const size_t list = channel * columns_ + column;
  if (!(to > bound_[list])) return;
  float* const kept = kept_.data() + list * kKept;
  const float by = to - bound_[list];
  for (size_t i = 0; i < known_[list]; ++i) kept[i] += by;
  fit(list);
}

void TailLists::archive(Archive& archive, size_t channels, size_t columns) {
  const size_t lists = channels * columns;
  columns_ = columns;
  archive.value(least_blocks_);
  archive.array(block_most_, lists);
  archive.array(bound_, lists);
  archive.array(inverse_beta_, lists);
  archive.array(base_, lists);
  archive.array(kept_, lists * kKept);
  archive.array(blocks_, lists);
  archive.array(known_, lists);
  for (size_t list = 0; list < known_.size() && list < blocks_.size(); ++list) {
    if (known_[list] > kKept || (known_[list] == 0) != (blocks_[list] == 0)) archive.fail();
  }
}

}  // namespace perfcast::measure
