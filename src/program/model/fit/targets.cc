#include "program/model/fit/targets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/unknown.h"
#include "program/model/predictor.h"

namespace perfcast::program {

Eigen::MatrixXd log_rpv(const TrainingTable& table) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  Eigen::MatrixXd values = Eigen::MatrixXd::Constant(programs, platforms, kUnknown);
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

double measured_variance(const PlatformTime& time) {
  constexpr double kLeastLogError = 0.01, kUsualLogError = 0.05;
  const double error = std::isfinite(time.log_error) ? std::max(kLeastLogError, time.log_error) : kUsualLogError;
  return error * error;
}

Eigen::VectorXd weighted_mean(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  return rows.transpose() * weights / weights.sum();
}

Eigen::VectorXd log_seconds_per_instruction(const TrainingTable& table, const Targets& targets) {
  Eigen::VectorXd result = Eigen::VectorXd::Constant(targets.log_seconds.size(), kUnknown);
  for (Eigen::Index p = 0; p < result.size(); ++p) {
    const Profile& profile = table.profiles[static_cast<size_t>(p)];
    const auto instructions = profile.metrics.find("instructions_count");
    if (!profile.work_units || instructions == profile.metrics.end()) continue;
    const double per_unit = instructions->second / *profile.work_units;
    if (per_unit > 0 && std::isfinite(per_unit)) result(p) = targets.log_seconds(p) - std::log(per_unit);
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

}  // namespace perfcast::program
