#include "program/evaluate/scaling_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "program/evaluate/server_forecast.h"
#include "program/model/scaling/scaling_model.h"

namespace perfcast::program {
namespace {

constexpr double kScalingCoverage = 0.9;
constexpr const char* kAll = "all";

class Evaluator {
 public:
  Evaluator(const ScalingFit& fit, const std::vector<OneCopyForecast>& one_copy)
      : fit_(fit), table_(fit.table()), one_copy_(one_copy) {}
  ScalingEvaluation run();

 private:
  Eigen::MatrixXd nothing() const {
    return Eigen::MatrixXd::Constant(table_.log_alone.rows(), table_.log_alone.cols(), kUnknown);
  }
  // Mean over the other families of the program's group, of each class that `class_of` tells machines apart by.
  template <typename ClassOf>
  Eigen::MatrixXd group_means(ClassOf class_of) const;
  // `log_together`: forecast of table_.log_together. `half_width`: empty without intervals.
  void add(const std::string& name, const Eigen::MatrixXd& log_together, const Eigen::MatrixXd& half_width = {});
  void add_slowdown(const std::string& name, const Eigen::MatrixXd& log_slowdown,
                    const Eigen::MatrixXd& half_width = {}) {
    add(name, table_.log_alone_usual + log_slowdown, half_width);
  }
  // What a bundle made without the program's family would say. `errors`: of the model that knows the times.
  void add_one_copies(const ScalingErrors& errors);
  // Half widths by intervals that know nothing of the row's family.
  Eigen::MatrixXd half_widths(const LeftOutForecast& forecast, bool with_departures) const;

  const ScalingFit& fit_;
  const ScalingTable& table_;
  const std::vector<OneCopyForecast>& one_copy_;
  ScalingEvaluation evaluation_;
};

void Evaluator::add(const std::string& name, const Eigen::MatrixXd& log_together, const Eigen::MatrixXd& half_width) {
  std::vector<std::string> groups(std::begin(kScalingGroups), std::end(kScalingGroups));
  groups.emplace_back(kAll);
  for (const std::string& group : groups) {
    std::vector<Eigen::Index> rows;
    ScoreInput input;
    for (size_t i = 0; i < table_.groups.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (group != kAll && table_.groups[i] != group) continue;
      if (!(fit_.log_slowdown().row(row) + log_together.row(row)).array().isFinite().any()) continue;
      rows.push_back(row);
      input.families.push_back(table_.programs[i].family);
    }
    if (rows.empty()) continue;
    // Of throughput: the more the better.
    input.truth = -table_.log_together(rows, Eigen::all);
    input.predicted = -log_together(rows, Eigen::all);
    for (size_t r = 0; r < rows.size(); ++r) {
      for (Eigen::Index s = 0; s < input.truth.cols(); ++s) {
        if (!fit_.is_measured(rows[r], s)) input.truth(static_cast<Eigen::Index>(r), s) = kUnknown;
      }
    }
    if (half_width.size() > 0) {
      input.lower = input.predicted - half_width(rows, Eigen::all);
      input.upper = input.predicted + half_width(rows, Eigen::all);
    }
    Eigen::MatrixXd copies_of_a_vcpu = table_.copies(rows, Eigen::all).array().log();
    for (Eigen::Index s = 0; s < copies_of_a_vcpu.cols(); ++s)
      copies_of_a_vcpu.col(s).array() -= std::log(table_.machines[static_cast<size_t>(s)].vcpus);
    evaluation_.rows.push_back(scaling_row(group, name, input, copies_of_a_vcpu));
  }
}

template <typename ClassOf>
Eigen::MatrixXd Evaluator::group_means(ClassOf class_of) const {
  Eigen::MatrixXd means = nothing();
  for (Eigen::Index i = 0; i < means.rows(); ++i) {
    const auto at = static_cast<size_t>(i);
    std::map<decltype(class_of(Eigen::Index{0})), std::pair<double, double>> sums;
    for (Eigen::Index other = 0; other < means.rows(); ++other) {
      const auto of = static_cast<size_t>(other);
      if (table_.groups[of] != table_.groups[at] || table_.programs[of].family == table_.programs[at].family) continue;
      for (Eigen::Index s = 0; s < means.cols(); ++s) {
        if (!fit_.is_measured(other, s)) continue;
        auto& [sum, count] = sums[class_of(s)];
        sum += fit_.log_slowdown()(other, s);
        ++count;
      }
    }
    for (Eigen::Index s = 0; s < means.cols(); ++s) {
      if (const auto found = sums.find(class_of(s)); found != sums.end())
        means(i, s) = found->second.first / found->second.second;
    }
  }
  return means;
}

Eigen::MatrixXd Evaluator::half_widths(const LeftOutForecast& forecast, bool with_departures) const {
  const ScalingErrors errors = errors_of(fit_, forecast, with_departures);
  Eigen::MatrixXd half = nothing();
  std::map<std::string, ScalingIntervals> intervals;
  for (Eigen::Index i = 0; i < half.rows(); ++i) {
    const std::string& family = table_.programs[static_cast<size_t>(i)].family;
    auto found = intervals.find(family);
    if (found == intervals.end())
      found = intervals.emplace(family, fit_intervals(fit_, errors, kScalingCoverage, family)).first;
    for (Eigen::Index s = 0; s < half.cols(); ++s) {
      if (std::isfinite(errors.log_error(i, s)))
        half(i, s) = found->second.half_width(errors.features[static_cast<size_t>(i)].row(s).transpose());
    }
  }
  return half;
}

void Evaluator::add_one_copies(const ScalingErrors& errors) {
  const std::vector<ServerForecast> forecasts = forecast_servers(fit_, errors, kScalingCoverage, one_copy_);
  for (size_t m = 0; m < forecasts.size(); ++m) {
    const std::string name = "one copy's time by " + one_copy_[m].model;
    add(name + ", x copies", forecasts[m].one_core);
    add(name + ", whole model", forecasts[m].log_together, forecasts[m].half_width);
  }
}

ScalingEvaluation Evaluator::run() {
  std::set<std::string> families;
  for (const Program& program : table_.programs) families.insert(program.family);
  evaluation_.programs = static_cast<int64_t>(table_.programs.size());
  evaluation_.families = static_cast<int64_t>(families.size());
  evaluation_.machines = static_cast<int64_t>(table_.machines.size());
  evaluation_.classes = static_cast<int64_t>(fit_.classes().size());
  evaluation_.faulty = fit_.faulty();

  const LeftOutForecast known = forecast_without_families(fit_);
  LeftOutForecast facts = {nothing(), nothing()};
  Eigen::MatrixXd physics = nothing();
  for (const std::string& family : families) {
    const LeftOutForecast without = forecast_without_family_and_platforms(fit_, family);
    const Eigen::VectorXd costs = fit_.costs(family);
    for (size_t i = 0; i < table_.programs.size(); ++i) {
      if (table_.programs[i].family != family) continue;
      const auto row = static_cast<Eigen::Index>(i);
      facts.log_slowdown.row(row) = without.log_slowdown.row(row);
      facts.log_departure.row(row) = without.log_departure.row(row);
      for (Eigen::Index s = 0; s < physics.cols(); ++s) {
        if (fit_.is_measured(row, s)) physics(row, s) = fit_.log_physics(row, s, costs);
      }
    }
  }
  add_slowdown("one core x copies", Eigen::MatrixXd::Zero(physics.rows(), physics.cols()));
  add_slowdown("mean of the group's others, by threads of a core",
               group_means([&](Eigen::Index s) { return table_.machines[static_cast<size_t>(s)].siblings; }));
  add_slowdown("mean of the group's others on the server", group_means([](Eigen::Index s) { return s; }));
  add_slowdown("physics alone", physics);
  add_slowdown("whole model", known.log_slowdown + known.log_departure, half_widths(known, true));
  add_slowdown("whole model, one-core times of the CPU model alone", known.log_slowdown, half_widths(known, false));
  add_slowdown("CPU model left out: facts", facts.log_slowdown, half_widths(facts, false));
  add_slowdown("CPU model left out: facts, other programs' one-core times on the server",
               facts.log_slowdown + facts.log_departure, half_widths(facts, true));
  if (!one_copy_.empty()) add_one_copies(errors_of(fit_, known, true));
  add_slowdown("true slowdown (floor)", fit_.log_slowdown());
  return std::move(evaluation_);
}

std::string percent_cell(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.1f}", 100 * *ratio) : "-";
}
std::string ratio_cell(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : "-"; }

// Of the choice of a server for the program of a row.
double regret_of(const ScoreInput& input, const Eigen::MatrixXd& log_of_a_vcpu, Eigen::Index row) {
  double best_forecast = -std::numeric_limits<double>::infinity(), best = best_forecast, chosen = 0;
  for (Eigen::Index s = 0; s < input.truth.cols(); ++s) {
    if (std::isnan(input.truth(row, s)) || std::isnan(input.predicted(row, s))) continue;
    const double truth = input.truth(row, s) + log_of_a_vcpu(row, s);
    const double forecast = input.predicted(row, s) + log_of_a_vcpu(row, s);
    best = std::max(best, truth);
    if (forecast <= best_forecast) continue;
    best_forecast = forecast;
    chosen = truth;
  }
  return std::exp(best - chosen);
}

}  // namespace

ScalingRow scaling_row(const std::string& group, const std::string& forecast, const ScoreInput& input,
                       const Eigen::MatrixXd& log_of_a_vcpu) {
  ScalingRow result{group, forecast, score(input), {}, 0, 0};
  std::vector<double> regrets;
  for (Eigen::Index row = 0; row < input.truth.rows(); ++row) regrets.push_back(regret_of(input, log_of_a_vcpu, row));
  std::sort(regrets.begin(), regrets.end());
  result.regret_median = median(regrets);
  result.regret_90 = regrets[static_cast<size_t>(std::ceil(0.9 * static_cast<double>(regrets.size()))) - 1];
  ScoreInput relative = input;
  for (Eigen::Index r = 0; r < input.truth.rows(); ++r) {
    double truth = 0, predicted = 0, count = 0;
    for (Eigen::Index s = 0; s < input.truth.cols(); ++s) {
      if (std::isnan(input.truth(r, s)) || std::isnan(input.predicted(r, s))) continue;
      truth += input.truth(r, s);
      predicted += input.predicted(r, s);
      ++count;
    }
    relative.truth.row(r).array() -= truth / count;
    for (Eigen::MatrixXd* matrix : {&relative.predicted, &relative.lower, &relative.upper}) {
      if (matrix->size() > 0) matrix->row(r).array() -= predicted / count;
    }
  }
  result.relative = score(relative);
  return result;
}

Result<ScalingEvaluation> evaluate_scaling(const ScalingFit& fit, const std::vector<OneCopyForecast>& one_copy) {
  std::set<std::string> families;
  for (const Program& program : fit.table().programs) families.insert(program.family);
  if (families.size() < 2) {
    return Error{"too-few-families", "a family can't be left out of one", "",
                 "a corpus with programs of several families"};
  }
  return Evaluator(fit, one_copy).run();
}

Json to_json(const ScalingEvaluation& evaluation) {
  Json rows = Json::array();
  const auto scores_of = [](const Scores& scores) {
    Json json = {{"n", scores.n}, {"programs", scores.programs}, {"families", scores.families}};
    for (const ScoreField& field : score_fields()) {
      if (const auto& value = scores.*field.value) json[field.name] = *value;
    }
    return json;
  };
  for (const ScalingRow& row : evaluation.rows) {
    rows.push_back({{"group", row.group},
                    {"forecast", row.forecast},
                    {"absolute", scores_of(row.absolute)},
                    {"relative", scores_of(row.relative)},
                    {"regret_median_ratio", row.regret_median},
                    {"regret_90_ratio", row.regret_90}});
  }
  return {{"schema", "perfcast.scaling_evaluation/1"},
          {"programs_count", evaluation.programs},
          {"families_count", evaluation.families},
          {"machines_count", evaluation.machines},
          {"machine_classes_count", evaluation.classes},
          {"faulty_machines", evaluation.faulty},
          {"rows", std::move(rows)}};
}

std::string to_text(const ScalingEvaluation& evaluation) {
  TextTable table;
  table.add_column("group", TextTable::Align::kLeft);
  table.add_column("forecast of the throughput when all run", TextTable::Align::kLeft);
  for (const char* column :
       {"programs", "error %", "relative error %", "pair order", "coverage", "regret", "regret 90%"})
    table.add_column(column, TextTable::Align::kRight);
  for (const ScalingRow& row : evaluation.rows) {
    table.add_row({row.group, row.forecast, std::to_string(row.absolute.programs), percent_cell(row.absolute.mape),
                   percent_cell(row.relative.mape), ratio_cell(row.absolute.pair_order),
                   ratio_cell(row.absolute.coverage_90), fmt::format("{:.3f}", row.regret_median),
                   fmt::format("{:.3f}", row.regret_90)});
  }
  std::string text = fmt::format(
      "{} programs of {} families, each family left out; {} servers of {} classes; the time of one copy known for the "
      "CPU "
      "model\n",
      evaluation.programs, evaluation.families, evaluation.machines, evaluation.classes);
  if (!evaluation.faulty.empty())
    text += "servers left out as faulty: " + printable(join(evaluation.faulty, ", ")) + "\n";
  return text + "\n" + table.to_text() +
         "\nerror: mean |forecast / measured - 1|; relative: of throughputs over the program's own mean over the "
         "servers\n"
         "regret: at one price for every vCPU, the true cost on the server chosen by forecast over the least, median "
         "and 90th "
         "percentile of the programs\n";
}

}  // namespace perfcast::program
