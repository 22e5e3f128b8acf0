#include "ai/load/peak_search.h"

#include <cmath>

namespace perfcast::ai {
namespace {

constexpr double kStep = 2;

}  // namespace

std::optional<double> PeakSearch::next() const {
  const bool close = valid_ && invalid_ && *invalid_ / *valid_ <= 1 + precision_;
  if (close || trials_ >= most_trials_) return std::nullopt;
  return next_;
}

void PeakSearch::tell(bool valid) {
  ++trials_;
  (valid ? valid_ : invalid_) = next_;
  if (valid_ && invalid_) {
    next_ = std::sqrt(*valid_ * *invalid_);
  } else {
    next_ = valid ? next_ * kStep : next_ / kStep;
  }
}

}  // namespace perfcast::ai
