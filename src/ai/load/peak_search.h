#pragma once
// The highest rate at which runs are valid: doubled until one isn't (or halved until one is), then the interval is
// halved, by the geometric mean, until its ends are close. What is valid at some rate is taken to be so at all lower
// ones, which queueing gives and noise may break: the answer is the highest rate that was seen to be valid.

#include <optional>

namespace perfcast::ai {

class PeakSearch {
 public:
  // Ends when the rates are within `precision` (0.02: 2%) of each other, or after `most_trials`.
  PeakSearch(double first_rate, double precision, int most_trials)
      : next_(first_rate), precision_(precision), most_trials_(most_trials) {}

  // The rate to try; none: it is over.
  std::optional<double> next() const;
  void tell(bool valid);                                    // of next()
  std::optional<double> best() const { return valid_; }     // highest valid one
  std::optional<double> bound() const { return invalid_; }  // lowest invalid one
  int trials() const { return trials_; }

 private:
  double next_, precision_;
  int most_trials_, trials_ = 0;
  std::optional<double> valid_, invalid_;
};

}  // namespace perfcast::ai
