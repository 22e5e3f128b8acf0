#pragma once
// The score above which a row is an alarm, so that by chance alone as many alarms come a day as are allowed.
//
// Scores above a low level come in clusters, one unusual moment each. The largest scores of clusters are taken for
// exponential above the k-th largest, s_k (peaks over threshold; Coles 2001, ch. 4 and 5.3), so that a level L is
// passed
//   rate(L) = k / T exp(-(L - s_k) / beta) times a day,   beta: the mean of what the k largest lie above s_k.
// The level is where that is the allowed rate. It follows the stream: clusters of later days join. What passed the
// level counts as censored there, and no more often than chance allows a few times over: real faults are not to raise
// it.

#include <cstddef>
#include <vector>

namespace perfcast::measure {

class Archive;

// How rare such a score is by chance: minor down to a tenth of the allowed rate, major to a thousandth, critical
// beyond.
enum class Severity { kMinor, kMajor, kCritical };
const char* to_text(Severity severity);

class AlarmLevel {
 public:
  // The largest score of each cluster within `days`.
  void fit(std::vector<float> maxima, double days, double allowed_per_day);
  // A cluster that ended, with its largest score.
  void add(float maximum);
  void pass(double days) { days_ += days; }
  // Fits anew to what was added.
  void follow();

  double level() const { return level_; }
  double beta() const { return beta_; }
  Severity severity(double score) const;

  void archive(Archive& archive);

 private:
  void refit();

  double allowed_per_day_ = 1, days_ = 0;
  double level_ = 1e30, beta_ = 1;
  double alarms_ = 0;          // clusters above the level of their time
  std::vector<float> maxima_;  // of those below; at most kMost, the largest
};

// Follows scores and says when a cluster ended.
struct ScoreClusters {
  float low = 0;         // what is above belongs to a cluster
  size_t gap_rows = 30;  // that end one
  float maximum = 0;
  size_t quiet_rows = 0;
  bool open = false;

  // True where the row ended a cluster, whose largest score `maximum` then is.
  bool ends(float score);
};

}  // namespace perfcast::measure
