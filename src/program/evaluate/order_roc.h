#pragma once
// How well a forecast tells the programs that run in the usual order of platforms from those that do not: the ROC of
// "right order is the majority order" (Nichols, Yeom, Bhatele, Figure 5), for whole orders and for pairs of platforms.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "program/evaluate/scores.h"

namespace perfcast::program {

// A higher score says "positive" more loudly; the hard decision is score > 0, so a tie of two platforms agrees with no
// order.
struct RocSample {
  double score = 0;
  bool positive = false;
};

struct RocPoint {
  double false_positive_rate = 0, true_positive_rate = 0;
  double threshold = 0;  // samples with this score or more are called positive; infinity at (0, 0)
};

struct Roc {
  int64_t positives = 0, negatives = 0;
  std::optional<double> sensitivity;  // share of the positives that are called positive; none without a positive
  std::optional<double> specificity;  // share of the negatives that are not; none without a negative
  // Area under the curve = probability that a positive scores above a negative, ties half (Mann-Whitney). None where
  // one class is empty, and then there is no curve either.
  std::optional<double> auc;
  std::vector<RocPoint> curve;  // from (0, 0) to (1, 1), one point per distinct score
};

// Scores must not be NaN.
Roc roc_of(std::vector<RocSample> samples);

// The points that can be told apart in a plot: at least `step` from the one before in either rate; first and last stay.
std::vector<RocPoint> thinned(const std::vector<RocPoint>& curve, double step);

using MajorityVotes = std::vector<std::shared_ptr<const MajorityVote>>;  // one per row; null: the row has no vote

// Whole orders. A sample is a row that was measured and forecast on all platforms that are scored, and whose vote has
// an order. Positive: it runs in the order that the training rows of its fold show most often: along that order, its
// measured times never decrease. Score: the smallest step of the forecast along that order, in log time; it is positive
// exactly where the forecast has that order, and the further from 0, the more would have to change for another verdict.
std::vector<RocSample> order_samples(const ScoreInput& input, const MajorityVotes& votes);

// Pairs. A sample is a row and two platforms whose measured times are over 5% apart and on which the vote is decided.
// Positive: the measured order is the voted one. Score: log time forecast for the voted slower platform minus that for
// the voted faster one.
std::vector<RocSample> pair_samples(const ScoreInput& input, const MajorityVotes& votes);

// Both, without their curves. Absent where one class is empty: where nobody runs in the majority order, never to say so
// is no merit.
struct OrderScores {
  std::optional<double> order_auc, order_sensitivity, order_specificity;
  std::optional<double> pair_auc, pair_sensitivity, pair_specificity;
};
OrderScores order_scores(const ScoreInput& input, const MajorityVotes& votes);

// Of the majority vote itself, which calls every sample positive: what a model has to beat. Reads the truth alone.
OrderScores majority_order_scores(const ScoreInput& input, const MajorityVotes& votes);

// Mean of each score over the repetitions that have it.
OrderScores average(const std::vector<OrderScores>& repetitions);

}  // namespace perfcast::program
