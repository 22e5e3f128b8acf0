#pragma once
// From residuals to one score of a row, in nats: how rare the most unusual of its metrics is.
//
// Six statistics of each metric: |u| and |w| of the row, and of their means over some 8 and some 40 rows (exponentially
// weighted, of values clipped at 12), which see a small shift that lasts. Each has its own tail, from rows that the
// models were not trained on: above its quantile q of 98% it is taken for exponential, with the mean excess as beta
// (the generalised Pareto distribution's case of shape 0; Coles 2001, ch. 4), so that
//   surprise = -log P(statistic > t) = -log 0.02 + (t - q) / beta for t > q, else 0.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::measure {

class Archive;

enum class Channel : uint8_t { kBaseline, kBaselineShort, kBaselineLong, kJoint, kJointShort, kJointLong };
inline constexpr size_t kChannels = 6;
inline constexpr float kLeastSurprise = 3.912f;  // -log 0.02

class Surprise {
 public:
  void reset(size_t columns);
  // One row's u and w into all statistics; `absolute`: kChannels x columns.
  void update(const float* u, const float* w);
  std::span<const float> statistics() const { return statistics_; }
  // Tails from kChannels x columns statistics of each of `rows` rows. `use_*`: channels that are to count.
  void fit(std::span<const float> statistics, size_t rows, bool use_baseline, bool use_joint);
  // by_metric: the largest surprise of each metric's statistics. Returns the largest of all.
  float score(std::span<const float> statistics, float* by_metric) const;
  // The largest surprise of the statistics that see a fault within some rows: all but the means over 40.
  float quick_score() const;
  // Of one statistic with this value; 0 below its tail.
  float surprise_of(Channel channel, size_t column, float value) const;
  // Whether this mean over 40 rows lies in its tail.
  bool is_long_shift(Channel channel, size_t column) const;
  // Forgets the means of metrics whose last rows came from where they were before, not from where their means stand:
  // else a fault would last in them after its end. A CUSUM of the logarithm of the likelihood ratio of the two (Page
  // 1954) decides. For rows behind update(), while something is unusual.
  void forget_ended(const float* u, const float* w);
  void forget_all();

  void archive(Archive& archive, size_t columns);

 private:
  size_t columns_ = 0;
  std::vector<float> means_;       // 4 x columns: u short, u long, w short, w long
  std::vector<float> returning_;   // 2 x columns: the CUSUM of u, of w
  std::vector<float> statistics_;  // kChannels x columns
  std::vector<float> bound_, inverse_beta_;
};

}  // namespace perfcast::measure
