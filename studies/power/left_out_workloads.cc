#include "studies/power/left_out_workloads.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "measure/power/model/activity_features.h"
#include "measure/power/model/shared_line.h"

namespace perfcast::measure::power_study {
namespace {

constexpr double kLeastWatts = 0.01;

template <typename Of>
double mean_over(const CellScores& cells, const Of& of) {
  double sum = 0, count = 0;
  for (const auto& [key, score] : cells) {
    if (std::isnan(of(score))) continue;
    sum += of(score);
    ++count;
  }
  return count > 0 ? sum / count : kUnknown;
}

// Groups as designs have them: machines at their settings.
PowerDesign groups_of(const PowerTable& table) {
  return ActivityFeatures::learn(table, {}, ActivitySet::kLoad).design(table);
}

// The load that a table tells: the second input of the plainest set.
Eigen::VectorXd load_of(const PowerTable& table, const std::vector<size_t>& rows) {
  const PowerDesign design = ActivityFeatures::learn(table, rows, ActivitySet::kLoad).design(table);
  for (size_t c = 0; c < design.names.size(); ++c) {
    if (design.names[c] == "load") return design.rows.col(static_cast<Eigen::Index>(c));
  }
  return Eigen::VectorXd::Zero(design.rows.rows());
}

Eigen::VectorXd least_squares(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& target) {
  // Columns brought to one size: counts are up to 1e9.
  Eigen::VectorXd size = inputs.cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300);
  const Eigen::MatrixXd scaled = inputs * size.cwiseInverse().asDiagonal();
  const Eigen::VectorXd solution = solve_semidefinite(scaled.transpose() * scaled, scaled.transpose() * target);
  return solution.cwiseQuotient(size);
}

// A line in `inputs` for each group; groups without rows get none and forecast NaN.
PowerForecast lines_by_group(const PowerDesign& groups, const PowerTable& table, const Eigen::MatrixXd& inputs,
                             const std::vector<size_t>& train, const std::vector<size_t>& test) {
  std::map<int, std::vector<Eigen::Index>> of;
  for (const size_t r : train) of[groups.group[r]].push_back(static_cast<Eigen::Index>(r));
  std::map<int, Eigen::VectorXd> lines;
  for (const auto& [group, rows] : of) {
    lines[group] = least_squares(inputs(rows, Eigen::all), table.watts(rows));
  }
  PowerForecast forecast;
  forecast.watts = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(test.size()), kUnknown);
  for (size_t i = 0; i < test.size(); ++i) {
    const auto found = lines.find(groups.group[test[i]]);
    if (found == lines.end()) continue;
    forecast.watts(static_cast<Eigen::Index>(i)) =
        std::max(kLeastWatts, inputs.row(static_cast<Eigen::Index>(test[i])).dot(found->second));
  }
  return forecast;
}

// Bottom-up: the events that lower the error on left-out workloads, over all groups.
std::vector<Eigen::Index> searched_events(const PowerDesign& groups, const PowerTable& table,
                                          const Eigen::MatrixXd& events, const std::vector<size_t>& train,
                                          size_t count) {
  const Eigen::Index size = events.cols();
  const Eigen::RowVectorXd scale = events.cwiseAbs().colwise().maxCoeff().cwiseMax(1e-300);
  Eigen::MatrixXd scaled = events * scale.cwiseInverse().asDiagonal();
  const LineMoments moments(scaled, table.watts, groups.group, groups.workload, train);
  std::set<int> of_groups, of_workloads;
  for (const LineMoments::Cell& cell : moments.cells()) {
    of_groups.insert(cell.group);
    of_workloads.insert(cell.workload);
  }
  const std::vector<int> workloads(of_workloads.begin(), of_workloads.end());
  const int folds = std::min<int>(6, static_cast<int>(workloads.size()));
  std::map<int, int> fold_of;
  for (size_t i = 0; i < workloads.size(); ++i) fold_of[workloads[i]] = static_cast<int>(i) % folds;
  const auto error = [&](const std::vector<Eigen::Index>& chosen) {
    double total = 0;
    for (const int group : of_groups) {
      for (int fold = 0; fold < folds; ++fold) {
        Eigen::MatrixXd gram =
            Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(chosen.size()), static_cast<Eigen::Index>(chosen.size()));
        Eigen::VectorXd moment = Eigen::VectorXd::Zero(gram.rows());
        for (const LineMoments::Cell& cell : moments.cells()) {
          if (cell.group != group || fold_of[cell.workload] == fold) continue;
          gram += cell.rows * cell.gram(chosen, chosen);
          moment += cell.rows * cell.moment(chosen);
        }
        const Eigen::VectorXd line = solve_semidefinite(gram, moment);
        for (const LineMoments::Cell& cell : moments.cells()) {
          if (cell.group != group || fold_of[cell.workload] != fold) continue;
          const Eigen::VectorXd part = cell.moment(chosen);
          total +=
              std::sqrt(std::max(0.0, cell.square - 2 * line.dot(part) + line.dot(cell.gram(chosen, chosen) * line)));
        }
      }
    }
    return total;
  };
  std::vector<Eigen::Index> chosen = {size - 1};  // the constant
  while (chosen.size() <= count) {
    Eigen::Index best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index c = 0; c + 1 < size; ++c) {
      if (std::find(chosen.begin(), chosen.end(), c) != chosen.end()) continue;
      std::vector<Eigen::Index> with = chosen;
      with.push_back(c);
      const double of = error(with);
      if (of < least) {
        least = of;
        best = c;
      }
    }
    if (best < 0) break;
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace

double MethodScores::error() const {
  return mean_over(cells, [](const CellScore& s) { return s.error; });
}
double MethodScores::mean_error() const {
  return mean_over(cells, [](const CellScore& s) { return s.mean_error; });
}
double MethodScores::covered() const {
  return mean_over(cells, [](const CellScore& s) { return s.covered; });
}
double MethodScores::error_of_group(int group) const {
  CellScores own;
  for (const auto& [key, score] : cells) {
    if (key.first == group) own[key] = score;
  }
  return mean_over(own, [](const CellScore& s) { return s.error; });
}

void add_scores(const PowerDesign& groups, const std::vector<size_t>& rows, const PowerForecast& forecast,
                CellScores& into) {
  struct Sums {
    double error = 0, forecast = 0, measured = 0, covered = 0, count = 0;
  };
  std::map<std::pair<int, int>, Sums> sums;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const double measured = groups.watts(static_cast<Eigen::Index>(rows[i]));
    if (std::isnan(measured) || std::isnan(forecast.watts(at))) continue;
    Sums& of = sums[{groups.group[rows[i]], groups.workload[rows[i]]}];
    of.error += std::abs(forecast.watts(at) / measured - 1);
    of.forecast += forecast.watts(at);
    of.measured += measured;
    if (forecast.lower.size() > 0 && measured >= forecast.lower(at) && measured <= forecast.upper(at)) ++of.covered;
    ++of.count;
  }
  for (const auto& [key, of] : sums) {
    into[key] = {of.error / of.count, std::abs(of.forecast / of.measured - 1),
                 forecast.lower.size() > 0 ? of.covered / of.count : kUnknown};
  }
}

Result<MethodScores> leave_workloads_out(const PowerTable& table, const LeftOutRequest& request,
                                         const std::string& name, const PowerMethod& method) {
  const PowerDesign groups = groups_of(table);
  std::vector<int> scored;
  for (size_t w = 0; w < table.workloads.size(); ++w) {
    if (request.scored(table.workloads[w])) scored.push_back(static_cast<int>(w));
  }
  std::vector<CellScores> parts(scored.size());
  const Status done = parallel_for(scored.size(), request.threads, [&](size_t i) -> Status {
    std::vector<size_t> train, test;
    for (size_t r = 0; r < table.rows(); ++r) (table.workload[r] == scored[i] ? test : train).push_back(r);
    const auto forecast = method(table, train, test);
    if (!forecast) return forecast.error();
    add_scores(groups, test, *forecast, parts[i]);
    return {};
  });
  if (!done) return done.error();
  MethodScores result;
  result.method = name;
  for (const CellScores& part : parts) result.cells.insert(part.begin(), part.end());
  return result;
}

PowerMethod model_method(const PowerModelOptions& options) {
  return [options](const PowerTable& table, const std::vector<size_t>& train,
                   const std::vector<size_t>& test) -> Result<PowerForecast> {
    const auto model = PowerModel::fit(table, train, options);
    if (!model) return model.error();
    return model->forecast(table_part(table, test));
  };
}

PowerMethod form_method(PowerFormKind kind, ActivitySet set) {
  return [kind, set](const PowerTable& table, const std::vector<size_t>& train,
                     const std::vector<size_t>& test) -> Result<PowerForecast> {
    const PowerSamples samples = PowerSamples::of(ActivityFeatures::learn(table, train, set).design(table), train);
    const auto form = make_power_form(kind, {});
    if (Status done = form->fit(samples, train); !done) return done.error();
    PowerForecast forecast;
    forecast.watts = form->forecast(samples, test);
    for (size_t i = 0; i < test.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      forecast.watts(at) = std::exp(forecast.watts(at) + samples.design.log_scale(static_cast<Eigen::Index>(test[i])));
    }
    return forecast;
  };
}

PowerMethod utilisation_line() {
  return [](const PowerTable& table, const std::vector<size_t>& train,
            const std::vector<size_t>& test) -> Result<PowerForecast> {
    Eigen::MatrixXd inputs(static_cast<Eigen::Index>(table.rows()), 2);
    inputs.col(0) = load_of(table, train).array().isNaN().select(0, load_of(table, train));
    inputs.col(1).setOnes();
    return lines_by_group(groups_of(table), table, inputs, train, test);
  };
}

PowerMethod events_regression(size_t events) {
  return [events](const PowerTable& table, const std::vector<size_t>& train,
                  const std::vector<size_t>& test) -> Result<PowerForecast> {
    const PowerDesign groups = groups_of(table);
    Eigen::MatrixXd inputs(table.values.rows(), table.values.cols() + 1);
    inputs.leftCols(table.values.cols()) = table.values.array().isNaN().select(0, table.values);
    inputs.col(table.values.cols()).setOnes();
    if (events > 0) {
      const Eigen::MatrixXd chosen = inputs(Eigen::all, searched_events(groups, table, inputs, train, events));
      inputs = chosen;
    }
    return lines_by_group(groups, table, inputs, train, test);
  };
}

PowerMethod mean_power() {
  return [](const PowerTable& table, const std::vector<size_t>& train,
            const std::vector<size_t>& test) -> Result<PowerForecast> {
    const Eigen::MatrixXd inputs = Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(table.rows()), 1);
    return lines_by_group(groups_of(table), table, inputs, train, test);
  };
}

MethodScores known_workload_floor(const PowerTable& table, const LeftOutRequest& request, double block_s) {
  const std::vector<size_t> all = all_rows(table);
  PowerSamples samples =
      PowerSamples::of(ActivityFeatures::learn(table, all, ActivitySet::kCounters).design(table), all);
  std::map<std::pair<int, int>, std::vector<size_t>> cells;
  for (const size_t r : all) {
    if (request.scored(table.workloads[static_cast<size_t>(table.workload[r])])) {
      cells[{samples.design.group[r], samples.design.workload[r]}].push_back(r);
    }
  }
  MethodScores result;
  result.method = "known workload";
  for (const auto& [key, rows] : cells) {
    std::vector<size_t> even, odd;
    const double begin_s = table.time_s(static_cast<Eigen::Index>(rows.front()));
    for (const size_t r : rows) {
      const double block = std::floor((table.time_s(static_cast<Eigen::Index>(r)) - begin_s) / block_s);
      (std::fmod(std::abs(block), 2) < 1 ? even : odd).push_back(r);
    }
    if (even.empty() || odd.empty()) continue;
    const LineMoments moments(samples.inputs, samples.target, samples.design.group, samples.design.workload, even);
    const SharedLine line = SharedLine::fit(moments, [](const LineMoments::Cell&) { return true; }, {1e-2, 1, 1});
    PowerForecast forecast;
    forecast.watts.resize(static_cast<Eigen::Index>(odd.size()));
    for (size_t i = 0; i < odd.size(); ++i) {
      const auto r = static_cast<Eigen::Index>(odd[i]);
      forecast.watts(static_cast<Eigen::Index>(i)) =
          std::exp(samples.inputs.row(r).dot(line.coefficients(key.first)) + samples.design.log_scale(r));
    }
    add_scores(samples.design, odd, forecast, result.cells);
  }
  return result;
}

MethodScores other_run_floor(const PowerTable& table) {
  const PowerDesign groups = groups_of(table);
  std::map<std::pair<int, int>, std::map<int, std::vector<size_t>>> runs;
  for (size_t r = 0; r < table.rows(); ++r) runs[{groups.group[r], groups.workload[r]}][table.run[r]].push_back(r);
  MethodScores result;
  result.method = "the other run";
  for (const auto& [key, of] : runs) {
    if (of.size() < 2) continue;
    const std::vector<size_t>& first = of.begin()->second;
    const std::vector<size_t>& second = std::next(of.begin())->second;
    const size_t count = std::min(first.size(), second.size());
    PowerForecast forecast;
    forecast.watts.resize(static_cast<Eigen::Index>(count));
    std::vector<size_t> rows;
    for (size_t i = 0; i < count; ++i) {
      rows.push_back(second[i]);
      forecast.watts(static_cast<Eigen::Index>(i)) = table.watts(static_cast<Eigen::Index>(first[i]));
    }
    add_scores(groups, rows, forecast, result.cells);
  }
  return result;
}

}  // namespace perfcast::measure::power_study
