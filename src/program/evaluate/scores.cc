#include "program/evaluate/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

struct LogEntry {
  int64_t row, column;
  double truth, predicted;
};

std::vector<LogEntry> log_entries_of(const ScoreInput& input) {
  std::vector<LogEntry> entries;
  for (int64_t row = 0; row < input.truth.rows(); ++row) {
    for (int64_t column = 0; column < input.truth.cols(); ++column) {
      const double truth = input.truth(row, column), predicted = input.predicted(row, column);
      if (std::isfinite(truth) && std::isfinite(predicted)) entries.push_back({row, column, truth, predicted});
    }
  }
  return entries;
}

// 1 - SSE/SST; none where the truth does not vary.
std::optional<double> determination(double squared_error, double squared_spread) {
  if (!(squared_spread > 0)) return std::nullopt;
  return 1 - squared_error / squared_spread;
}

void score_values(const std::vector<LogEntry>& entries, int64_t columns, Scores& scores) {
  double sum = 0, squared_error = 0, absolute_error = 0;
  std::vector<double> column_sum(columns, 0);
  std::vector<int64_t> column_count(columns, 0);
  std::vector<double> errors;
  for (const LogEntry& entry : entries) {
    sum += entry.truth;
    column_sum[entry.column] += entry.truth;
    ++column_count[entry.column];
    squared_error += (entry.predicted - entry.truth) * (entry.predicted - entry.truth);
    absolute_error += std::abs(entry.predicted - entry.truth);
    errors.push_back(std::abs(std::expm1(entry.predicted - entry.truth)));
  }
  const auto samples = static_cast<double>(entries.size());
  const double center = sum / samples;
  double squares = 0, platform_squares = 0;
  for (const LogEntry& entry : entries) {
    const double of_column = entry.truth - column_sum[entry.column] / static_cast<double>(column_count[entry.column]);
    squares += (entry.truth - center) * (entry.truth - center);
    platform_squares += of_column * of_column;
  }
  scores.r2_log = determination(squared_error, squares);
  scores.r2_log_platform = determination(squared_error, platform_squares);
  scores.mse_log = squared_error / samples;
  scores.mae_log = absolute_error / samples;
  scores.mape = mean(errors);
  scores.median_error = median(errors);
}

// One row's entries at a time: `visit(first, end)`.
template <typename Visit>
void for_each_row(const std::vector<LogEntry>& entries, const Visit& visit) {
  for (size_t first = 0; first < entries.size();) {
    size_t end = first;
    while (end < entries.size() && entries[end].row == entries[first].row) ++end;
    visit(entries.data() + first, entries.data() + end);
    first = end;
  }
}

// The paper's R2, and the errors it is made of: linear times relative to the fastest platform, on either side.
void score_linear(const std::vector<LogEntry>& entries, Scores& scores) {
  std::vector<double> truths;
  double squared_error = 0, absolute_error = 0;
  for_each_row(entries, [&](const LogEntry* first, const LogEntry* end) {
    if (end - first < 2) return;
    double best = first->truth, best_predicted = first->predicted;
    for (const LogEntry* entry = first; entry != end; ++entry) {
      best = std::min(best, entry->truth);
      best_predicted = std::min(best_predicted, entry->predicted);
    }
    for (const LogEntry* entry = first; entry != end; ++entry) {
      const double truth = std::exp(entry->truth - best), predicted = std::exp(entry->predicted - best_predicted);
      truths.push_back(truth);
      squared_error += (predicted - truth) * (predicted - truth);
      absolute_error += std::abs(predicted - truth);
    }
  });
  if (truths.empty()) return;
  const double center = mean(truths);
  double squares = 0;
  for (const double truth : truths) squares += (truth - center) * (truth - center);
  scores.r2 = determination(squared_error, squares);
  scores.mse = squared_error / static_cast<double>(truths.size());
  scores.mae = absolute_error / static_cast<double>(truths.size());
}

// Shares that are counted row by row, shared by models and the majority vote.
struct OrderCounts {
  double pairs_right = 0;
  int64_t pairs = 0, whole = 0, whole_right = 0, choices = 0, best_right = 0;
  double regret_sum = 0, tau_sum = 0;
  int64_t orders = 0;

  void add_pair(int64_t predicted_sign, int64_t truth_sign) {
    ++pairs;
    if (predicted_sign == 0) {
      pairs_right += 0.5;  // undecided: as good as a coin
    } else if (predicted_sign == truth_sign) {
      pairs_right += 1;
    }
  }
  void add_choice(double chosen, double best) {
    ++choices;
    if (chosen <= best) ++best_right;
    regret_sum += std::exp(chosen - best);
  }
  void add_tau(double tau) {
    ++orders;
    tau_sum += tau;
  }
  void write(Scores& scores) const {
    if (pairs > 0) scores.pair_order = pairs_right / static_cast<double>(pairs);
    if (whole > 0) scores.sos = static_cast<double>(whole_right) / static_cast<double>(whole);
    if (choices > 0) {
      scores.best_share = static_cast<double>(best_right) / static_cast<double>(choices);
      scores.regret = regret_sum / static_cast<double>(choices);
    }
    if (orders > 0) scores.kendall_tau = tau_sum / static_cast<double>(orders);
  }
};

std::vector<int64_t> complete_sizes(const ScoreInput& input) {
  if (!input.complete.empty()) return input.complete;
  return std::vector<int64_t>(static_cast<size_t>(input.truth.rows()), columns_in_use(input.truth));
}

int sign(double value) { return (value > 0) - (value < 0); }

// Absent: the measured times all tie. 0: the forecasts do.
std::optional<double> tau_of_row(const LogEntry* first, const LogEntry* end) {
  std::vector<double> truth, predicted;
  for (const LogEntry* entry = first; entry != end; ++entry) {
    truth.push_back(entry->truth);
    predicted.push_back(entry->predicted);
  }
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  if (!(*low < *high)) return std::nullopt;
  const double tau = kendall_tau(truth, predicted);
  return std::isnan(tau) ? 0 : tau;
}

void score_order(const ScoreInput& input, const std::vector<LogEntry>& entries, Scores& scores) {
  static const double kApart = std::log(kPairApartRatio);
  const std::vector<int64_t> complete = complete_sizes(input);
  OrderCounts counts;
  for_each_row(entries, [&](const LogEntry* first, const LogEntry* end) {
    if (end - first < 2) return;
    bool same_order = true;
    for (const LogEntry* a = first; a != end; ++a) {
      for (const LogEntry* b = a + 1; b != end; ++b) {
        const int truth = sign(a->truth - b->truth), predicted = sign(a->predicted - b->predicted);
        if (std::abs(a->truth - b->truth) > kApart) counts.add_pair(predicted, truth);
        if (truth != 0 && predicted != truth) same_order = false;
      }
    }
    if (end - first == complete[first->row]) {
      ++counts.whole;
      if (same_order) ++counts.whole_right;
    }
    if (const auto tau = tau_of_row(first, end)) counts.add_tau(*tau);
    const auto by_prediction = [](const LogEntry& a, const LogEntry& b) { return a.predicted < b.predicted; };
    const auto by_truth = [](const LogEntry& a, const LogEntry& b) { return a.truth < b.truth; };
    const LogEntry* chosen = std::min_element(first, end, by_prediction);
    if (!input.best.empty()) {
      const int64_t column = input.best[first->row];
      const LogEntry* const said =
          std::find_if(first, end, [&](const LogEntry& entry) { return entry.column == column; });
      if (said != end) chosen = said;
    }
    counts.add_choice(chosen->truth, std::min_element(first, end, by_truth)->truth);
  });
  counts.write(scores);
}

void score_coverage(const ScoreInput& input, const std::vector<LogEntry>& entries, Scores& scores) {
  if (input.lower.size() == 0 || input.upper.size() == 0) return;
  struct Share {
    int64_t inside = 0, total = 0;
  };
  std::map<std::string, Share> by_family;
  Share all;
  std::vector<double> half_widths;
  for (const LogEntry& entry : entries) {
    const double lower = input.lower(entry.row, entry.column), upper = input.upper(entry.row, entry.column);
    if (std::isnan(lower) || std::isnan(upper)) continue;
    const bool inside = lower <= entry.truth && entry.truth <= upper;
    half_widths.push_back((upper - lower) / 2);
    Share& family = by_family[input.families[entry.row]];
    for (Share* share : {&family, &all}) {
      ++share->total;
      share->inside += inside ? 1 : 0;
    }
  }
  if (all.total == 0) return;
  scores.coverage_90 = static_cast<double>(all.inside) / static_cast<double>(all.total);
  double covered = 0;
  for (const auto& [name, share] : by_family) covered += static_cast<double>(share.inside) / share.total;
  const auto families = static_cast<int64_t>(by_family.size());
  const auto [low, high] = binomial_interval(std::llround(covered), families, 0.95);
  scores.coverage_90_lower = low;
  scores.coverage_90_upper = high;
  scores.interval_90_factor = std::exp(median(std::move(half_widths)));
}

void count(const std::vector<LogEntry>& entries, const std::vector<std::string>& families, Scores& scores) {
  std::set<int64_t> rows;
  std::set<std::string> names;
  for (const LogEntry& entry : entries) {
    if (rows.insert(entry.row).second) names.insert(families[entry.row]);
  }
  scores.n = static_cast<int64_t>(entries.size());
  scores.programs = static_cast<int64_t>(rows.size());
  scores.families = static_cast<int64_t>(names.size());
}

}  // namespace

int64_t columns_in_use(const Eigen::MatrixXd& truth) {
  int64_t used = 0;
  for (int64_t column = 0; column < truth.cols(); ++column) {
    used += truth.col(column).array().isFinite().any() ? 1 : 0;
  }
  return used;
}

Scores score(const ScoreInput& input) {
  Scores scores;
  const std::vector<LogEntry> entries = log_entries_of(input);
  if (entries.empty()) return scores;
  count(entries, input.families, scores);
  score_values(entries, input.truth.cols(), scores);
  score_linear(entries, scores);
  score_order(input, entries, scores);
  score_coverage(input, entries, scores);
  return scores;
}

void relative_to(int64_t reference, ScoreInput& input) {
  const auto shift = [](Eigen::MatrixXd& values, int64_t row, double by) {
    if (values.size() > 0) values.row(row).array() -= by;
  };
  for (int64_t row = 0; row < input.truth.rows(); ++row) {
    double truth = kUnknown, predicted = kUnknown;
    if (reference >= 0) {
      truth = input.truth(row, reference);
      predicted = input.predicted(row, reference);
    } else {
      double truth_sum = 0, predicted_sum = 0;
      int64_t present = 0;
      for (int64_t column = 0; column < input.truth.cols(); ++column) {
        if (!std::isfinite(input.truth(row, column)) || !std::isfinite(input.predicted(row, column))) continue;
        truth_sum += input.truth(row, column);
        predicted_sum += input.predicted(row, column);
        ++present;
      }
      if (present > 0) {
        truth = truth_sum / static_cast<double>(present);
        predicted = predicted_sum / static_cast<double>(present);
      }
    }
    shift(input.truth, row, truth);
    shift(input.predicted, row, predicted);
    shift(input.lower, row, predicted);
    shift(input.upper, row, predicted);
    if (reference >= 0) {
      input.truth(row, reference) = kUnknown;
      input.predicted(row, reference) = kUnknown;
    }
  }
}

MajorityVote::MajorityVote(const Eigen::MatrixXd& training) {
  const int64_t columns = training.cols();
  votes_ = Eigen::MatrixXi::Zero(columns, columns);
  std::vector<int64_t> wins(columns, 0), measured(columns, 0);
  std::map<std::vector<int64_t>, int64_t> orders;
  for (int64_t row = 0; row < training.rows(); ++row) {
    const auto values = training.row(row);
    std::vector<int64_t> order;
    for (int64_t a = 0; a < columns; ++a) {
      if (!std::isfinite(values(a))) continue;
      order.push_back(a);
      ++measured[a];
      for (int64_t b = 0; b < columns; ++b) {
        if (std::isfinite(values(b))) votes_(a, b) += sign(values(a) - values(b));
      }
    }
    if (order.empty()) continue;
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values(a) < values(b); });
    ++wins[order.front()];
    if (static_cast<int64_t>(order.size()) == columns) ++orders[order];
  }
  const auto agreement = [&](const std::vector<int64_t>& order) {
    int64_t sum = 0;
    for (size_t a = 0; a < order.size(); ++a) {
      for (size_t b = a + 1; b < order.size(); ++b) sum -= votes_(order[a], order[b]);
    }
    return sum;
  };
  int64_t most = 0, best_agreement = 0;
  for (const auto& [order, times] : orders) {
    const int64_t agrees = agreement(order);
    if (times > most || (times == most && agrees > best_agreement)) {
      most = times;
      best_agreement = agrees;
      order_ = order;
    }
  }
  for (int64_t a = 0; a < columns; ++a) {
    if (measured[a] == 0) continue;
    // Shares, not counts: a platform that few rows hold must be able to win.
    if (fastest_ < 0 || wins[a] * measured[fastest_] > wins[fastest_] * measured[a]) fastest_ = a;
  }
}

int MajorityVote::pair(int64_t first, int64_t second) const { return sign(votes_(first, second)); }

Scores score_majority(const ScoreInput& input, const std::vector<const MajorityVote*>& votes) {
  static const double kApart = std::log(kPairApartRatio);
  const Eigen::MatrixXd& truth = input.truth;
  ScoreInput all = input;
  all.predicted = truth;  // only to list the entries
  const std::vector<LogEntry> entries = log_entries_of(all);
  const std::vector<int64_t> complete = complete_sizes(input);
  Scores scores;
  count(entries, input.families, scores);
  OrderCounts counts;
  for_each_row(entries, [&](const LogEntry* first, const LogEntry* end) {
    const MajorityVote& vote = *votes[first->row];
    if (end - first < 2) return;
    const auto row = truth.row(first->row);
    double best = first->truth;
    double concordance = 0, decided = 0, apart = 0;  // tau-b: pairs that tie on neither, on either side
    for (const LogEntry* a = first; a != end; ++a) {
      best = std::min(best, a->truth);
      for (const LogEntry* b = a + 1; b != end; ++b) {
        const int voted = vote.pair(a->column, b->column), measured = sign(a->truth - b->truth);
        if (std::abs(a->truth - b->truth) > kApart) counts.add_pair(voted, measured);
        concordance += voted * measured;
        decided += std::abs(voted);
        apart += std::abs(measured);
      }
    }
    if (apart > 0) counts.add_tau(decided > 0 ? concordance / std::sqrt(decided * apart) : 0);
    if (end - first == complete[first->row]) {
      ++counts.whole;
      double previous = -std::numeric_limits<double>::infinity();
      bool same = !vote.order().empty();
      for (const int64_t column : vote.order()) {
        if (!std::isfinite(row(column))) continue;  // a reference column that is no sample
        if (row(column) < previous) same = false;
        previous = row(column);
      }
      if (same) ++counts.whole_right;
    }
    if (vote.fastest() >= 0 && std::isfinite(row(vote.fastest()))) counts.add_choice(row(vote.fastest()), best);
  });
  counts.write(scores);
  return scores;
}

}  // namespace perfcast::program
