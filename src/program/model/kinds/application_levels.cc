#include "program/model/kinds/application_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/features/microarchitecture.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

constexpr int kLevelRounds = 25;          // of backfitting
constexpr double kFirstNoise = 0.01;      // variance of what a program is of its own, before any is estimated
constexpr double kLevelDeviation = 0.15;  // of a platform's level about its design's, beside what all programs take
constexpr double kDesignMembers = 1;      // platforms that the 0 counts for, which slopes of a design are drawn to
constexpr int64_t kLevelFolds = 8;
constexpr double kSlopeDeviations[] = {0.001, 0.02, 0.05, 0.1, 0.2};  // the first: hardly any

struct ApplicationTime {
  Eigen::Index platform = 0;
  double log_time = 0, variance = 0;
  size_t source = 0;  // the last one: none is named
};

struct ApplicationRow {
  std::vector<ApplicationTime> entries;
  Eigen::VectorXd inputs;  // K; of a program without a profile 0, what is usual
  size_t family = 0;
  double weight = 0;  // 1 / sqrt(programs of its family)
  bool profiled = false;
};

struct Applications {
  std::vector<ApplicationRow> rows;
  std::vector<size_t> design;  // J
  size_t designs = 0, sources = 0, families = 0;
  Eigen::VectorXd common;  // J
};

struct LevelEstimate {
  Eigen::VectorXd level;   // J
  Eigen::MatrixXd slopes;  // K x J
};

Applications applications_of(const TrainingTable& table, const Eigen::MatrixXd& inputs, const Eigen::VectorXd& common) {
  Applications result;
  result.sources = table.sources.size() + 1;
  result.common = common;
  const size_t columns = table.platforms.size();
  std::map<std::string, size_t> families;
  const auto add = [&](const Program& program, const std::optional<PlatformTime>* times, const Eigen::VectorXd& own,
                       bool profiled) {
    if (program.group != kApplicationGroup) return;
    ApplicationRow row;
    for (size_t j = 0; j < columns; ++j) {
      if (!times[j]) continue;
      row.entries.push_back({static_cast<Eigen::Index>(j), times[j]->log_time, measured_variance(*times[j]),
                             times[j]->source.value_or(result.sources - 1)});
    }
    if (row.entries.empty()) return;
    row.inputs = own;
    row.profiled = profiled;
    row.family = families.try_emplace(program.family, families.size()).first->second;
    result.rows.push_back(std::move(row));
  };
  for (size_t p = 0; p < table.programs.size(); ++p) {
    add(table.programs[p], &table.times[p * columns], inputs.row(static_cast<Eigen::Index>(p)).transpose(), true);
  }
  const Eigen::VectorXd usual = Eigen::VectorXd::Zero(inputs.cols());
  for (size_t p = 0; p < table.companions.size(); ++p) {
    add(table.companions[p], &table.companion_times[p * columns], usual, false);
  }
  result.families = families.size();
  std::vector<double> members(result.families, 0);
  for (const ApplicationRow& row : result.rows) ++members[row.family];
  for (ApplicationRow& row : result.rows) row.weight = 1 / std::sqrt(members[row.family]);
  result.design = designs_of(table.platforms);
  result.designs = *std::max_element(result.design.begin(), result.design.end()) + 1;
  return result;
}

// Rows of `values` [C x J], meant over the platforms of each design: [C x designs].
Eigen::MatrixXd design_means(const Eigen::MatrixXd& values, const Applications& data, double members_of_zero) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(values.rows(), static_cast<Eigen::Index>(data.designs));
  Eigen::VectorXd count = Eigen::VectorXd::Constant(sum.cols(), members_of_zero);
  for (Eigen::Index j = 0; j < values.cols(); ++j) {
    const auto design = static_cast<Eigen::Index>(data.design[static_cast<size_t>(j)]);
    sum.col(design) += values.col(j);
    count(design) += 1;
  }
  return sum * count.cwiseInverse().asDiagonal();
}

// Backfitting: the programs' offsets given the platforms, the platforms given the offsets, the noise given both.
// Families marked in `left_out` have no say.
LevelEstimate estimate_levels(const Applications& data, double slope_deviation, const std::vector<bool>& left_out) {
  const Eigen::Index platforms = data.common.size(), k = data.rows.empty() ? 0 : data.rows.front().inputs.size();
  LevelEstimate result{data.common, Eigen::MatrixXd::Zero(k, platforms)};
  Eigen::VectorXd noise = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(data.sources), kFirstNoise);
  const Eigen::VectorXd spread =
      (Eigen::VectorXd(k + 1) << kLevelDeviation, Eigen::VectorXd::Constant(k, slope_deviation)).finished();
  const Eigen::VectorXd pull = spread.cwiseAbs2().cwiseInverse();
  std::vector<double> offset(data.rows.size(), 0);
  for (int round = 0; round < kLevelRounds; ++round) {
    std::vector<Eigen::MatrixXd> precision(static_cast<size_t>(platforms), pull.asDiagonal());
    Eigen::MatrixXd right(k + 1, platforms);
    const Eigen::MatrixXd own_level = (result.level - data.common).transpose();
    const Eigen::MatrixXd levels = design_means(own_level, data, 0);
    const Eigen::MatrixXd slopes = design_means(result.slopes, data, kDesignMembers);
    for (Eigen::Index j = 0; j < platforms; ++j) {
      const auto design = static_cast<Eigen::Index>(data.design[static_cast<size_t>(j)]);
      right(0, j) = pull(0) * (data.common(j) + levels(0, design));
      if (k > 0) right.col(j).tail(k) = pull.tail(k).cwiseProduct(slopes.col(design));
    }
    Eigen::VectorXd left = Eigen::VectorXd::Zero(noise.size()), count = Eigen::VectorXd::Constant(noise.size(), 1e-9);
    for (size_t p = 0; p < data.rows.size(); ++p) {
      const ApplicationRow& row = data.rows[p];
      if (left_out[row.family]) continue;
      double sum = 0, weights = 0;
      std::vector<double> rest(row.entries.size());
      for (size_t i = 0; i < row.entries.size(); ++i) {
        const ApplicationTime& entry = row.entries[i];
        rest[i] = entry.log_time - result.level(entry.platform) - row.inputs.dot(result.slopes.col(entry.platform));
        const double weight = 1 / (entry.variance + noise(static_cast<Eigen::Index>(entry.source)));
        sum += weight * rest[i];
        weights += weight;
      }
      offset[p] = sum / weights;
      Eigen::VectorXd design(k + 1);
      design(0) = 1;
      design.tail(k) = row.inputs;
      const Eigen::MatrixXd square = design * design.transpose();
      for (size_t i = 0; i < row.entries.size(); ++i) {
        const ApplicationTime& entry = row.entries[i];
        const auto source = static_cast<Eigen::Index>(entry.source);
        const double weight = row.weight / (entry.variance + noise(source));
        precision[static_cast<size_t>(entry.platform)] += weight * square;
        right.col(entry.platform) += weight * (entry.log_time - offset[p]) * design;
        const double error = rest[i] - offset[p];
        left(source) += row.weight * std::max(0.0, error * error - entry.variance);
        count(source) += row.weight;
      }
    }
    for (Eigen::Index j = 0; j < platforms; ++j) {
      const Eigen::VectorXd of_platform = right.col(j);
      const Eigen::VectorXd solved = solve_positive_definite(precision[static_cast<size_t>(j)], of_platform);
      result.level(j) = solved(0);
      result.slopes.col(j) = solved.tail(k);
    }
    noise = left.cwiseQuotient(count).cwiseMax(1e-4);
  }
  return result;
}

// Mean absolute error of the families left out, each about its own mean, over profiled programs.
double left_out_error(const Applications& data, const LevelEstimate& known, const std::vector<bool>& left_out) {
  double total = 0, rows = 0;
  for (const ApplicationRow& row : data.rows) {
    if (!row.profiled || !left_out[row.family]) continue;
    std::vector<double> rest;
    double mean = 0;
    for (const ApplicationTime& entry : row.entries) {
      rest.push_back(entry.log_time - known.level(entry.platform) - row.inputs.dot(known.slopes.col(entry.platform)));
      mean += rest.back();
    }
    mean /= static_cast<double>(rest.size());
    double sum = 0;
    for (const double value : rest) sum += std::abs(value - mean);
    total += row.weight * sum / static_cast<double>(rest.size());
    rows += row.weight;
  }
  return rows > 0 ? total / rows : 0;
}

}  // namespace

void ApplicationLevels::fit(const TrainingTable& table, const Eigen::MatrixXd& inputs, const Eigen::VectorXd& common) {
  const Applications data = applications_of(table, inputs, common);
  double best = 0, least = std::numeric_limits<double>::infinity();
  if (inputs.cols() > 0 && data.families >= 2) {
    const int64_t folds = std::min<int64_t>(kLevelFolds, static_cast<int64_t>(data.families));
    for (const double deviation : kSlopeDeviations) {
      double error = 0;
      for (int64_t fold = 0; fold < folds; ++fold) {
        std::vector<bool> left_out(data.families);
        for (size_t family = 0; family < data.families; ++family) {
          left_out[family] = static_cast<int64_t>(family) % folds == fold;
        }
        error += left_out_error(data, estimate_levels(data, deviation, left_out), left_out);
      }
      if (error < least) {
        least = error;
        best = deviation;
      }
    }
  }
  const LevelEstimate all =
      estimate_levels(data, best > 0 ? best : kSlopeDeviations[0], std::vector<bool>(data.families, false));
  level_ = all.level.array() - all.level.mean();
  slopes_ = all.slopes.colwise() - all.slopes.rowwise().mean();
}

Eigen::MatrixXd ApplicationLevels::predict(const Eigen::MatrixXd& inputs) const {
  Eigen::MatrixXd result = inputs * slopes_;
  result.rowwise() += level_.transpose();
  return result;
}

void ApplicationLevels::save(TensorMap& tensors) const {
  tensors.put("level", level_);
  tensors.put("slopes", slopes_);
}

Status ApplicationLevels::load(const TensorMap& tensors, int64_t inputs) {
  auto level = tensors.get("level", -1, 1);
  if (!level) return level.error();
  auto slopes = tensors.get("slopes", inputs, level->rows());
  if (!slopes) return slopes.error();
  level_ = *level;
  slopes_ = std::move(*slopes);
  return {};
}

}  // namespace perfcast::program
