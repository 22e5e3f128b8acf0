#include "model/fit/training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/parallel.h"
#include "model/bundle/tensor_map.h"
#include "model/fit/fit_checkpoint.h"

namespace perfcast {

Eigen::MatrixXd log_rpv(const TrainingTable& table) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  Eigen::MatrixXd values = Eigen::MatrixXd::Constant(programs, platforms, std::numeric_limits<double>::quiet_NaN());
  for (Eigen::Index p = 0; p < programs; ++p) {
    double sum = 0;
    int64_t count = 0;
    for (Eigen::Index j = 0; j < platforms; ++j) {
      const auto& time = table.at(static_cast<size_t>(p), static_cast<size_t>(j));
      if (!time) continue;
      values(p, j) = time->log_time;
      sum += time->log_time;
      ++count;
    }
    if (count > 0) values.row(p).array() -= sum / static_cast<double>(count);
  }
  return values;
}

Result<Targets> make_targets(const TrainingTable& table) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  if (programs == 0 || platforms == 0) {
    return Error{"empty-table", "there is nothing to train on", "", "programs with profiles and times on platforms"};
  }
  Targets targets;
  Eigen::MatrixXd& times = targets.log_rpv;
  times = Eigen::MatrixXd::Zero(programs, platforms);
  targets.present = Eigen::MatrixXd::Zero(programs, platforms);
  for (Eigen::Index p = 0; p < programs; ++p) {
    for (Eigen::Index j = 0; j < platforms; ++j) {
      const auto& time = table.at(static_cast<size_t>(p), static_cast<size_t>(j));
      if (!time) continue;
      times(p, j) = time->log_time;
      targets.present(p, j) = 1;
    }
  }
  const Eigen::VectorXd in_row = targets.present.rowwise().sum();
  const Eigen::VectorXd in_column = targets.present.colwise().sum();
  for (Eigen::Index p = 0; p < programs; ++p) {
    if (in_row(p) == 0) {
      return Error{"unmeasured", "the program has no time on any platform", table.programs[static_cast<size_t>(p)].id,
                   "at least one measured time per program"};
    }
  }
  for (Eigen::Index j = 0; j < platforms; ++j) {
    if (in_column(j) == 0) {
      return Error{"unmeasured", "no program was timed on the platform", table.platforms[static_cast<size_t>(j)].id,
                   "at least one measured time per platform"};
    }
  }

  // Two-way means by alternating projection; with no holes one round is exact.
  Eigen::VectorXd row = Eigen::VectorXd::Zero(programs);
  Eigen::VectorXd column = Eigen::VectorXd::Zero(platforms);
  const bool complete = targets.present.minCoeff() == 1;
  for (int round = 0; round < (complete ? 1 : 50); ++round) {
    row = ((times.rowwise() - column.transpose()).cwiseProduct(targets.present)).rowwise().sum().cwiseQuotient(in_row);
    column =
        ((times.colwise() - row).cwiseProduct(targets.present)).colwise().sum().transpose().cwiseQuotient(in_column);
  }
  for (Eigen::Index p = 0; p < programs; ++p) {
    for (Eigen::Index j = 0; j < platforms; ++j) {
      if (targets.present(p, j) == 0) times(p, j) = row(p) + column(j);
    }
  }
  targets.log_seconds = times.rowwise().mean();
  times.colwise() -= targets.log_seconds;

  std::map<std::string, int64_t> index;
  for (const Program& program : table.programs) {
    targets.family.push_back(index.try_emplace(program.family, static_cast<int64_t>(index.size())).first->second);
  }
  targets.families = static_cast<int64_t>(index.size());
  std::vector<double> members(index.size(), 0);
  for (const int64_t family : targets.family) ++members[static_cast<size_t>(family)];
  targets.weights.resize(programs);
  for (Eigen::Index p = 0; p < programs; ++p) {
    targets.weights(p) = 1 / std::sqrt(members[static_cast<size_t>(targets.family[static_cast<size_t>(p)])]);
  }
  return targets;
}

Eigen::VectorXd weighted_mean(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  return rows.transpose() * weights / weights.sum();
}

Eigen::VectorXd log_seconds_per_instruction(const TrainingTable& table, const Targets& targets) {
  Eigen::VectorXd result =
      Eigen::VectorXd::Constant(targets.log_seconds.size(), std::numeric_limits<double>::quiet_NaN());
  for (Eigen::Index p = 0; p < result.size(); ++p) {
    const Profile& profile = table.profiles[static_cast<size_t>(p)];
    const auto instructions = profile.metrics.find("instructions_count");
    if (!profile.work_units || instructions == profile.metrics.end()) continue;
    const double per_unit = instructions->second / *profile.work_units;
    if (per_unit > 0 && std::isfinite(per_unit)) result(p) = targets.log_seconds(p) - std::log(per_unit);
  }
  return result;
}

Standardiser Standardiser::fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  Standardiser result;
  result.centre = Eigen::VectorXd::Zero(rows.cols());
  result.scale = Eigen::VectorXd::Ones(rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    double total = 0;
    double sum = 0;
    double squares = 0;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (std::isnan(rows(r, c))) continue;
      total += weights(r);
      sum += weights(r) * rows(r, c);
    }
    if (total == 0) continue;
    const double centre = sum / total;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (!std::isnan(rows(r, c))) squares += weights(r) * (rows(r, c) - centre) * (rows(r, c) - centre);
    }
    result.centre(c) = centre;
    const double deviation = std::sqrt(squares / total);
    // A column that never varied in training says nothing: values far off it must not dominate distances.
    if (deviation > 1e-6) result.scale(c) = deviation;
  }
  return result;
}

Eigen::MatrixXd Standardiser::apply(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd result(rows.rows(), rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      const double value = (rows(r, c) - centre(c)) / scale(c);
      result(r, c) = std::isnan(value) ? 0 : std::clamp(value, -limit, limit);
    }
  }
  return result;
}

Eigen::MatrixXd Standardiser::apply_with_gaps(const Eigen::MatrixXd& rows) const {
  return rows.array().isNaN().select(rows, apply(rows));
}

void Standardiser::save(TensorMap& tensors) const {
  tensors.put("feature_centre", centre);
  tensors.put("feature_scale", scale);
  tensors.put("feature_limit", Eigen::MatrixXd::Constant(1, 1, limit));
}

Status Standardiser::load(const TensorMap& tensors, int64_t columns) {
  const auto read_centre = tensors.get("feature_centre", columns, 1);
  if (!read_centre) return read_centre.error();
  const auto read_scale = tensors.get("feature_scale", columns, 1);
  if (!read_scale) return read_scale.error();
  const auto read_limit = tensors.get("feature_limit", 1, 1);
  if (!read_limit) return read_limit.error();
  centre = read_centre->col(0);
  scale = read_scale->col(0);
  limit = (*read_limit)(0, 0);
  if (!(limit > 0) || (columns > 0 && !(scale.minCoeff() > 0))) {
    return Error{"bad-bundle", "feature scales must be positive", "feature_scale",
                 "a bundle written by perfcast train"};
  }
  return {};
}

std::vector<const Profile*> profiles_of(const TrainingTable& table) {
  std::vector<const Profile*> profiles;
  profiles.reserve(table.profiles.size());
  for (const Profile& profile : table.profiles) profiles.push_back(&profile);
  return profiles;
}

Status may_read_work(const TrainingTable& table) {
  if (table.inputs.counters == InputChoice::Counters::kAll) return {};
  return Error{"bad-inputs", "the model needs the whole instruction mix; the inputs are those of Table I alone", "",
               "all features, or a model of plain counters: knn, forest, kernel, gbt, lasso, cluster, dnn, ..."};
}

ProgramFeatures ProgramFeatures::fit(const TrainingTable& table, const Eigen::VectorXd& weights) {
  ProgramFeatures result;
  const auto profiles = profiles_of(table);
  result.space_ = FeatureSpace::choose(table);
  result.standardiser_ = Standardiser::fit(result.space_.extract(profiles), weights);
  return result;
}

Eigen::MatrixXd ProgramFeatures::rows(const std::vector<const Profile*>& profiles) const {
  return standardiser_.apply(space_.extract(profiles));
}

Eigen::MatrixXd ProgramFeatures::present(const std::vector<const Profile*>& profiles) const {
  return space_.extract(profiles).unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
}

void ProgramFeatures::save(TensorMap& tensors) const {
  space_.save(tensors);
  standardiser_.save(tensors);
}

Status ProgramFeatures::load(const TensorMap& tensors) {
  if (Status status = space_.load(tensors); !status) return status;
  return standardiser_.load(tensors, columns());
}

namespace {

FitOptions inner_options(const FitOptions& options, int64_t fold, int64_t folds) {
  FitOptions inner = options;
  inner.threads = 1;
  const std::string name = "fold " + std::to_string(fold + 1) + " of " + std::to_string(folds);
  inner.part += "/" + name;
  if (options.progress) {
    inner.progress = [name, progress = options.progress](const std::string& text) { progress(name + ": " + text); };
  }
  return inner;
}

// [test.size() x (J + 1)]: log RPV of the rows left out, and how far the model's parts disagree on them.
Result<Eigen::MatrixXd> forecast_left_out(const MakePredictor& make, const TrainingTable& table,
                                          const std::vector<size_t>& train, const std::vector<size_t>& test,
                                          const FitOptions& options) {
  const auto rows = static_cast<Eigen::Index>(test.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  if (auto kept = kept_forecasts(options, rows, platforms + 1)) return std::move(*kept);
  auto predictor = make();
  if (!predictor) return predictor.error();
  if (auto status = (*predictor)->fit(table.with_programs(train), options); !status) return status.error();
  std::vector<const Profile*> profiles;
  for (const size_t p : test) profiles.push_back(&table.profiles[p]);
  Eigen::MatrixXd forecasts(rows, platforms + 1);
  const Prediction prediction = (*predictor)->predict_with_disagreement(profiles);
  forecasts << prediction.log_rpv, prediction.disagreement;
  if (auto status = keep_forecasts(options, forecasts); !status) return status.error();
  return forecasts;
}

}  // namespace

std::vector<int64_t> left_out_with(const Targets& targets, const FitOptions& options) {
  const int64_t groups = options.inner_folds > 0 ? std::min(std::max<int64_t>(options.inner_folds, 2), targets.families)
                                                 : targets.families;
  std::vector<int64_t> group;
  for (const int64_t family : targets.family) group.push_back(family % groups);
  return group;
}

Result<Prediction> predict_out_of_family(const MakePredictor& make, const TrainingTable& table,
                                         const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  if (targets->families < 2) {
    return Error{"too-few-families", "leaving one family out leaves nothing to train on", "",
                 "programs of at least two families"};
  }
  Prediction result;
  result.log_rpv = Eigen::MatrixXd::Zero(targets->log_rpv.rows(), targets->log_rpv.cols());
  result.disagreement = Eigen::VectorXd::Zero(targets->log_rpv.rows());
  const std::vector<int64_t> group = left_out_with(*targets, options);
  const int64_t groups = 1 + *std::max_element(group.begin(), group.end());
  const auto without = [&](size_t left_out) -> Status {
    const auto fold = static_cast<int64_t>(left_out);
    std::vector<size_t> train;
    std::vector<size_t> test;
    for (size_t p = 0; p < group.size(); ++p) (group[p] == fold ? test : train).push_back(p);
    const auto forecasts = forecast_left_out(make, table, train, test, inner_options(options, fold, groups));
    if (!forecasts) return forecasts.error();
    for (size_t i = 0; i < test.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(test[i]);
      const auto from = static_cast<Eigen::Index>(i);
      result.log_rpv.row(row) = forecasts->row(from).head(result.log_rpv.cols());
      result.disagreement(row) = (*forecasts)(from, result.log_rpv.cols());
    }
    return {};
  };
  if (auto status = parallel_for(static_cast<size_t>(groups), options.threads, without); !status) {
    return status.error();
  }
  return result;
}

Eigen::VectorXd family_errors(const Eigen::MatrixXd& predicted, const Targets& targets) {
  Eigen::VectorXd error = Eigen::VectorXd::Zero(targets.families);
  Eigen::VectorXd count = Eigen::VectorXd::Zero(targets.families);
  for (Eigen::Index p = 0; p < predicted.rows(); ++p) {
    const auto family = static_cast<Eigen::Index>(targets.family[static_cast<size_t>(p)]);
    error(family) +=
        ((predicted.row(p) - targets.log_rpv.row(p)).cwiseProduct(targets.present.row(p))).cwiseAbs().sum();
    count(family) += targets.present.row(p).sum();
  }
  return error.cwiseQuotient(count);
}

double family_mean_error(const Eigen::MatrixXd& predicted, const Targets& targets) {
  const Eigen::VectorXd errors = family_errors(predicted, targets);
  double total = 0;
  for (const double error : errors) total += error;
  return total / static_cast<double>(targets.families);
}

}  // namespace perfcast
