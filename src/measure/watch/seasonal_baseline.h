#pragma once
// What each metric usually is, by itself: a median and a robust deviation of its transformed value, over all rows and,
// where the history spans two seasons or more, by part of the season (24 of them: hours of a day). Both follow the
// stream slowly, by steps of stochastic approximation (Robbins & Monro 1951; of a median: Tierney 1983), in memory that
// does not grow.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::measure {

class Archive;

class SeasonalBaseline {
 public:
  static constexpr size_t kParts = 24;

  // z: rows x columns, NaN absent. `season_s` 0: none.
  void fit(std::span<const float> z, std::span<const double> time_s, const std::vector<size_t>& rows_used,
           size_t columns, double season_s);

  // Which part's baseline a row of this time has.
  size_t part(double time_s) const;
  // u_j = (z_j - median) / deviation; 0 where absent.
  void score(const float* z, size_t part, float* u) const;
  double median(size_t part, size_t column) const;
  double deviation(size_t part, size_t column) const;
  // A step towards a row that nothing is wrong with.
  void adapt(const float* z, size_t part);

  void archive(Archive& archive, size_t columns);

 private:
  size_t columns_ = 0;
  double season_s_ = 0;
  bool seasonal_ = false;
  std::vector<float> median_, deviation_, inverse_;  // kParts + 1 rows (the last: all parts) x columns
};

}  // namespace perfcast::measure
