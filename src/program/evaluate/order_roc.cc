#include "program/evaluate/order_roc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.h"

namespace perfcast::program {
namespace {

bool has_entry(const ScoreInput& input, int64_t row, int64_t column) {
  return std::isfinite(input.truth(row, column)) && std::isfinite(input.predicted(row, column));
}

// Platforms of the row that count, in the voted order; empty unless the row was measured and forecast on all of them.
std::vector<int64_t> voted_order(const ScoreInput& input, const MajorityVote& vote, int64_t row, int64_t complete) {
  std::vector<int64_t> order;
  for (const int64_t column : vote.order()) {
    if (has_entry(input, row, column)) order.push_back(column);  // a reference column is none
  }
  if (static_cast<int64_t>(order.size()) != complete || order.size() < 2) order.clear();
  return order;
}

OrderScores scores_of(std::vector<RocSample> orders, std::vector<RocSample> pairs) {
  const Roc order = roc_of(std::move(orders)), pair = roc_of(std::move(pairs));
  OrderScores scores;
  if (order.auc) {
    scores.order_auc = order.auc;
    scores.order_sensitivity = order.sensitivity;
    scores.order_specificity = order.specificity;
  }
  if (pair.auc) {
    scores.pair_auc = pair.auc;
    scores.pair_sensitivity = pair.sensitivity;
    scores.pair_specificity = pair.specificity;
  }
  return scores;
}

}  // namespace

Roc roc_of(std::vector<RocSample> samples) {
  Roc roc;
  int64_t true_positives = 0, true_negatives = 0;
  for (const RocSample& sample : samples) {
    ++(sample.positive ? roc.positives : roc.negatives);
    if (sample.positive && sample.score > 0) ++true_positives;
    if (!sample.positive && !(sample.score > 0)) ++true_negatives;
  }
  const auto positives = static_cast<double>(roc.positives), negatives = static_cast<double>(roc.negatives);
  if (roc.positives > 0) roc.sensitivity = static_cast<double>(true_positives) / positives;
  if (roc.negatives > 0) roc.specificity = static_cast<double>(true_negatives) / negatives;
  if (roc.positives == 0 || roc.negatives == 0) return roc;

  std::sort(samples.begin(), samples.end(), [](const RocSample& a, const RocSample& b) { return a.score > b.score; });
  roc.curve.push_back({0, 0, std::numeric_limits<double>::infinity()});
  int64_t above_positive = 0, above_negative = 0;
  double pairs_won = 0;  // (positive, negative) pairs that the score orders right; ties half
  for (size_t first = 0; first < samples.size();) {
    int64_t tied_positive = 0, tied_negative = 0;
    size_t end = first;
    for (; end < samples.size() && samples[end].score == samples[first].score; ++end) {
      ++(samples[end].positive ? tied_positive : tied_negative);
    }
    pairs_won += static_cast<double>(tied_negative) *
                 (static_cast<double>(above_positive) + 0.5 * static_cast<double>(tied_positive));
    above_positive += tied_positive;
    above_negative += tied_negative;
    roc.curve.push_back({static_cast<double>(above_negative) / negatives,
                         static_cast<double>(above_positive) / positives, samples[first].score});
    first = end;
  }
  roc.auc = pairs_won / (positives * negatives);
  return roc;
}

std::vector<RocPoint> thinned(const std::vector<RocPoint>& curve, double step) {
  std::vector<RocPoint> kept;
  for (size_t i = 0; i < curve.size(); ++i) {
    const bool end = i == 0 || i + 1 == curve.size();
    if (end || curve[i].false_positive_rate - kept.back().false_positive_rate >= step ||
        curve[i].true_positive_rate - kept.back().true_positive_rate >= step) {
      kept.push_back(curve[i]);
    }
  }
  return kept;
}

std::vector<RocSample> order_samples(const ScoreInput& input, const MajorityVotes& votes) {
  std::vector<RocSample> samples;
  const int64_t in_use = columns_in_use(input.truth);
  for (int64_t row = 0; row < input.truth.rows(); ++row) {
    const auto index = static_cast<size_t>(row);
    if (votes[index] == nullptr) continue;
    const int64_t complete = input.complete.empty() ? in_use : input.complete[index];
    const std::vector<int64_t> order = voted_order(input, *votes[index], row, complete);
    if (order.empty()) continue;
    RocSample sample{std::numeric_limits<double>::infinity(), true};
    for (size_t i = 1; i < order.size(); ++i) {
      sample.score = std::min(sample.score, input.predicted(row, order[i]) - input.predicted(row, order[i - 1]));
      if (input.truth(row, order[i]) < input.truth(row, order[i - 1])) sample.positive = false;
    }
    samples.push_back(sample);
  }
  return samples;
}

std::vector<RocSample> pair_samples(const ScoreInput& input, const MajorityVotes& votes) {
  static const double kApart = std::log(kPairApartRatio);
  std::vector<RocSample> samples;
  for (int64_t row = 0; row < input.truth.rows(); ++row) {
    const MajorityVote* vote = votes[static_cast<size_t>(row)].get();
    if (vote == nullptr) continue;
    for (int64_t a = 0; a < input.truth.cols(); ++a) {
      if (!has_entry(input, row, a)) continue;
      for (int64_t b = a + 1; b < input.truth.cols(); ++b) {
        if (!has_entry(input, row, b) || vote->pair(a, b) == 0) continue;
        const double gap = input.truth(row, a) - input.truth(row, b);
        if (std::abs(gap) <= kApart) continue;
        const int voted = vote->pair(a, b);  // -1: a is the faster
        samples.push_back({voted * (input.predicted(row, a) - input.predicted(row, b)), (gap > 0) == (voted > 0)});
      }
    }
  }
  return samples;
}

OrderScores order_scores(const ScoreInput& input, const MajorityVotes& votes) {
  return scores_of(order_samples(input, votes), pair_samples(input, votes));
}

OrderScores majority_order_scores(const ScoreInput& input, const MajorityVotes& votes) {
  ScoreInput truth = input;
  truth.predicted = truth.truth;
  std::vector<RocSample> orders = order_samples(truth, votes), pairs = pair_samples(truth, votes);
  for (std::vector<RocSample>* samples : {&orders, &pairs}) {
    for (RocSample& sample : *samples) sample.score = 1;
  }
  return scores_of(std::move(orders), std::move(pairs));
}

OrderScores average(const std::vector<OrderScores>& repetitions) {
  OrderScores result;
  for (const auto field : {&OrderScores::order_auc, &OrderScores::order_sensitivity, &OrderScores::order_specificity,
                           &OrderScores::pair_auc, &OrderScores::pair_sensitivity, &OrderScores::pair_specificity}) {
    std::vector<double> values;
    for (const OrderScores& scores : repetitions) {
      if (scores.*field) values.push_back(*(scores.*field));
    }
    if (!values.empty()) result.*field = mean(values);
  }
  return result;
}

}  // namespace perfcast::program
