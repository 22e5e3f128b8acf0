#include "program/evaluate/paired_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "base/random.h"
#include "base/statistics.h"
#include "program/evaluate/program_groups.h"

namespace perfcast::program {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What the split leaves out as a whole: a unit for each row, or for each column.
struct Units {
  std::vector<int64_t> of_row, of_column;  // one of them is empty
  int64_t count = 0;
  int64_t at(int64_t row, int64_t column) const {
    return of_column.empty() ? of_row[static_cast<size_t>(row)] : of_column[static_cast<size_t>(column)];
  }
};

Units units_of(const TrainingTable& table, Split split) {
  Units units;
  std::map<std::string, int64_t> index;
  if (parts_platforms(split)) {
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const std::string key = split == Split::kPlatform ? std::to_string(j) : kept_together(split, table.platforms[j]);
      units.of_column.push_back(index.try_emplace(key, static_cast<int64_t>(index.size())).first->second);
    }
    units.count = static_cast<int64_t>(index.size());
    return units;
  }
  for (size_t i = 0; i < table.programs.size(); ++i) {
    const std::string key = kept_together(split, table.programs[i], i);
    units.of_row.push_back(index.try_emplace(key, static_cast<int64_t>(index.size())).first->second);
  }
  units.count = static_cast<int64_t>(index.size());
  return units;
}

// How much a forecast is worth that puts `predicted` between two platforms whose measured distance is `truth`.
double order_credit(double predicted, double truth) {
  if (predicted == 0) return 0.5;  // undecided: as good as a coin
  return (predicted > 0) == (truth > 0) ? 1 : 0;
}

// The samples that two models share, and what they differ by.
class PairedSamples {
 public:
  PairedSamples(const ScoreInput& a, const ScoreInput& b) : a_(a), b_(b) {}

  void add_errors(const std::vector<int64_t>& rows, const Units& units, Eigen::Ref<Eigen::VectorXd> sums,
                  Eigen::Ref<Eigen::VectorXd> counts) const {
    for (const int64_t row : rows) {
      for (int64_t j = 0; j < a_.truth.cols(); ++j) {
        if (!has(row, j)) continue;
        const int64_t unit = units.at(row, j);
        sums(unit) +=
            std::abs(a_.predicted(row, j) - a_.truth(row, j)) - std::abs(b_.predicted(row, j) - b_.truth(row, j));
        counts(unit) += 1;
      }
    }
  }

  void add_orders(const std::vector<int64_t>& rows, const Units& units, Eigen::Ref<Eigen::VectorXd> sums,
                  Eigen::Ref<Eigen::VectorXd> counts) const {
    static const double kApart = std::log(kPairApartRatio);
    for (const int64_t row : rows) {
      const int64_t unit = units.of_row[static_cast<size_t>(row)];
      for (int64_t j = 0; j < a_.truth.cols(); ++j) {
        if (!has(row, j)) continue;
        for (int64_t k = j + 1; k < a_.truth.cols(); ++k) {
          if (!has(row, k)) continue;
          const double truth = a_.truth(row, j) - a_.truth(row, k);
          if (!(std::abs(truth) > kApart)) continue;
          sums(unit) += order_credit(a_.predicted(row, j) - a_.predicted(row, k), truth) -
                        order_credit(b_.predicted(row, j) - b_.predicted(row, k), truth);
          counts(unit) += 1;
        }
      }
    }
  }

 private:
  bool has(int64_t row, int64_t column) const {
    return std::isfinite(a_.truth(row, column)) && std::isfinite(a_.predicted(row, column)) &&
           std::isfinite(b_.truth(row, column)) && std::isfinite(b_.predicted(row, column));
  }

  const ScoreInput &a_, &b_;
};

}  // namespace

double bootstrap_tail_share(int64_t units) {
  const auto n = static_cast<double>(units);
  return 0.5 * std::erfc(std::sqrt(n / (n - 1)) * student_quantile(0.975, n - 1) / std::sqrt(2.0));
}

std::vector<MeanDifference> bootstrap_mean_difference(const Eigen::MatrixXd& sums, const Eigen::MatrixXd& counts,
                                                      uint64_t seed, int64_t resamples) {
  const Eigen::Index columns = sums.cols();
  // Units without a sample in any column are not part of the draw. A row: its sums, then its counts.
  std::vector<Eigen::Index> sampled;
  for (Eigen::Index unit = 0; unit < sums.rows(); ++unit) {
    if ((counts.row(unit).array() > 0).any()) sampled.push_back(unit);
  }
  RowMajor units(static_cast<Eigen::Index>(sampled.size()), 2 * columns);
  units << sums(sampled, Eigen::all), counts(sampled, Eigen::all);
  const Eigen::RowVectorXd total = units.colwise().sum();

  std::vector<std::vector<double>> means(static_cast<size_t>(columns));
  Random random(seed);
  Eigen::RowVectorXd drawn(2 * columns);
  for (int64_t resample = 0; resample < resamples && !sampled.empty(); ++resample) {
    drawn.setZero();
    for (size_t i = 0; i < sampled.size(); ++i)
      drawn += units.row(static_cast<Eigen::Index>(random.below(sampled.size())));
    for (Eigen::Index c = 0; c < columns; ++c) {
      // A draw of units without a sample in this column has no mean.
      if (drawn(columns + c) > 0) means[static_cast<size_t>(c)].push_back(drawn(c) / drawn(columns + c));
    }
  }

  std::vector<MeanDifference> differences(static_cast<size_t>(columns));
  for (Eigen::Index c = 0; c < columns; ++c) {
    MeanDifference& difference = differences[static_cast<size_t>(c)];
    difference.units = (units.col(columns + c).array() > 0).count();
    if (difference.units == 0) continue;
    difference.difference = total(c) / total(columns + c);
    const std::vector<double>& of_column = means[static_cast<size_t>(c)];
    if (difference.units < kFewestUnits || of_column.empty()) continue;
    const double tail = bootstrap_tail_share(difference.units);
    difference.lower = quantile(of_column, tail);
    difference.upper = quantile(of_column, 1 - tail);
  }
  return differences;
}

std::vector<PairedComparison> compare_models(const TrainingTable& table, Split split, std::vector<ComparedModel> models,
                                             uint64_t seed) {
  std::stable_sort(models.begin(), models.end(),
                   [](const ComparedModel& a, const ComparedModel& b) { return a.mae_log < b.mae_log; });
  std::vector<std::pair<const ComparedModel*, const ComparedModel*>> pairs;
  for (size_t a = 0; a < models.size() && (a == 0 || models.size() <= kEachWithEach); ++a) {
    for (size_t b = a + 1; b < models.size(); ++b) pairs.emplace_back(&models[a], &models[b]);
  }
  std::vector<std::string> metrics = {"mae_log"};
  if (!parts_platforms(split)) metrics.emplace_back("pair_order");

  const Units units = units_of(table, split);
  const auto per_pair = static_cast<Eigen::Index>(metrics.size());
  const std::vector<ProgramGroup> groups = program_groups(table);
  std::vector<std::vector<MeanDifference>> by_group;
  for (const ProgramGroup& group : groups) {
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(units.count, static_cast<Eigen::Index>(pairs.size()) * per_pair);
    Eigen::MatrixXd counts = sums;
    Eigen::Index column = 0;
    for (const auto& [a, b] : pairs) {
      for (size_t r = 0; r < a->repetitions.size(); ++r) {
        const PairedSamples samples(a->repetitions[r], b->repetitions[r]);
        samples.add_errors(group.rows, units, sums.col(column), counts.col(column));
        if (per_pair > 1) samples.add_orders(group.rows, units, sums.col(column + 1), counts.col(column + 1));
      }
      column += per_pair;
    }
    by_group.push_back(bootstrap_mean_difference(sums, counts, seed));
  }

  std::vector<PairedComparison> comparisons;
  for (size_t p = 0; p < pairs.size(); ++p) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t m = 0; m < metrics.size(); ++m) {
        const MeanDifference& found = by_group[g][p * metrics.size() + m];
        if (found.units == 0) continue;
        comparisons.push_back({pairs[p].first->name, pairs[p].second->name, groups[g].name, metrics[m],
                               found.difference, found.lower, found.upper, found.significant(), found.units});
      }
    }
  }
  return comparisons;
}

}  // namespace perfcast::program
