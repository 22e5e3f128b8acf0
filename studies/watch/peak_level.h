#pragma once
// For methods that give plain scores: the score above which a row is an alarm, so that by chance alone as many alarms
// come a day as are allowed.
//
// Scores above a low level come in clusters, one unusual moment each. The largest scores of clusters are taken for
// exponential above the k-th largest, s_k (peaks over threshold; Coles 2001, ch. 4 and 5.3), so that a level L is
// passed
//   rate(L) = k / T exp(-(L - s_k) / beta) times a day,   beta: the mean of what the k largest lie above s_k.
// The level is where that is the allowed rate.

#include <cstddef>
#include <vector>

namespace perfcast::measure::watch_study {

// `maxima`: the largest score of each cluster within `days`.
double peak_level(std::vector<float> maxima, double days, double allowed_per_day);

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

}  // namespace perfcast::measure::watch_study
