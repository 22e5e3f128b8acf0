#pragma once
// Scores as DESIGN defines them, from log relative times. Pure arithmetic: no model, no corpus, no I/O.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perfcast::program {

// Rows are programs, columns platforms, values natural logs of relative time; NaN: absent. An entry counts where both
// truth and prediction are there. Both sides must be relative to the same reference: see relative_to().
struct ScoreInput {
  Eigen::MatrixXd truth;
  Eigen::MatrixXd predicted;
  // 90% intervals; 0 x 0 where the model gives none.
  Eigen::MatrixXd lower, upper;
  std::vector<std::string> families;  // of the rows
  // Per row: entries of a row that was measured on all platforms that are scored. Empty: as many as there are columns
  // with any truth.
  std::vector<int64_t> complete;
  // Per row: the column that a model says is the fastest where it says so apart from times; -1, or empty: the least
  // prediction.
  std::vector<int64_t> best = {};
};

// Columns that hold any truth at all: all platforms of the evaluation, without a reference column that was taken out.
int64_t columns_in_use(const Eigen::MatrixXd& truth);

// Absent: the score has no sample (no complete row for `sos`, no pair over 5% apart, no spread to explain, ...).
struct Scores {
  int64_t n = 0;         // entries
  int64_t programs = 0;  // rows with at least one entry
  int64_t families = 0;  // of those rows
  std::optional<double> r2_log, r2_log_platform, r2;
  std::optional<double> mape, median_error;
  // Mean squared and mean absolute error of the linear times that `r2` is about (relative to the row's fastest
  // platform, on either side), and of the logs of relative times.
  std::optional<double> mse, mae, mse_log, mae_log;
  std::optional<double> pair_order, sos, best_share, regret;
  // Mean over rows of Kendall's tau-b between predicted and measured times. A row whose measured times all tie is no
  // sample; a forecast that puts all platforms level has found no order: 0.
  std::optional<double> kendall_tau;
  std::optional<double> coverage_90;
  // 95% binomial interval of the coverage where families, not entries, are the independent samples.
  std::optional<double> coverage_90_lower, coverage_90_upper;
  // Width of the 90% intervals, as a factor: the median of sqrt(upper / lower), 1.2 for "from forecast / 1.2 to
  // forecast x 1.2".
  std::optional<double> interval_90_factor;
};

// Pairs of platforms this close in measured time have no order worth scoring.
inline constexpr double kPairApartRatio = 1.05;

Scores score(const ScoreInput& input);

// Every score by the name that it has in perfcast.evaluation/1, in the order of reports.
struct ScoreField {
  const char* name;
  std::optional<double> Scores::*value;
};
std::span<const ScoreField> score_fields();

// Mean of each score over repetitions (seeds) that have it; counts are those of the first.
Scores average(const std::vector<Scores>& repetitions);
// Standard deviation (n - 1) of each score over the repetitions that have it; absent below two of them. Counts are 0.
Scores spread(const std::vector<Scores>& repetitions);

// Each row minus its mean over the entries that are present in both (`reference` < 0), or minus its entry in column
// `reference`, which then becomes absent: it is 0 by definition and no sample. Rows without the reference become
// absent. Changes both sides, and the intervals where given, alike.
void relative_to(int64_t reference, ScoreInput& input);

// What the training rows most often show: the whole order, the order of each pair, the fastest platform. The baseline
// for every score that speaks of order.
class MajorityVote {
 public:
  // Rows of log times, NaN where absent.
  explicit MajorityVote(const Eigen::MatrixXd& training);

  // -1: the first platform is faster in most training rows; 1: slower; 0: undecided.
  int pair(int64_t first, int64_t second) const;
  // Platforms from fastest to slowest, as most complete training rows have them; ties go to the order that agrees
  // with more pair votes. Empty where no training row is complete.
  const std::vector<int64_t>& order() const { return order_; }
  // Index of the platform that is most often the fastest, counted where it was measured; -1: no training row.
  int64_t fastest() const { return fastest_; }

 private:
  Eigen::MatrixXi votes_;
  std::vector<int64_t> order_;
  int64_t fastest_ = -1;
};

// Scores of majority votes on the truth of `input`: one vote per row (rows of one fold share theirs). Kendall's tau is
// that of the pair votes, which need no complete training row.
Scores score_majority(const ScoreInput& input, const std::vector<const MajorityVote*>& votes);

}  // namespace perfcast::program
