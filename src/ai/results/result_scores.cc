#include "ai/results/result_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/parallel.h"
#include "base/statistics.h"
#include "learn/conformal/conformal.h"

namespace perfcast::ai {
namespace {

constexpr double kCoverage = 0.9;
constexpr std::array<const char*, kResultSplits> kSplitNames = {"system", "accelerator", "generation"};

const std::string& group_name(const ResultRow& row, ResultSplit split) {
  return split == ResultSplit::kSystem ? row.system : split == ResultSplit::kAccelerator ? row.whole : row.generation;
}

// Of all accelerators that a result's scenario keeps busy; kUnknown without facts.
double log_peak(const ResultRow& row) {
  const double count = scales_with_accelerators(row.scenario) ? std::log(static_cast<double>(row.count)) : 0;
  return row.facts[static_cast<size_t>(ResultFact::kPeak)] + count;
}

double error_of(double forecast, double log_rate) { return std::abs(std::exp(forecast - log_rate) - 1); }

// Whole generations dealt into folds, the largest first, each to the fold with the fewest rows.
std::vector<size_t> generation_folds(const std::vector<ResultRow>& rows, size_t folds) {
  std::map<std::string, size_t> sizes;
  for (const ResultRow& row : rows) ++sizes[row.generation];
  std::vector<std::pair<size_t, std::string>> order;
  order.reserve(sizes.size());
  for (const auto& [name, size] : sizes) order.emplace_back(size, name);
  std::sort(order.rbegin(), order.rend());
  std::vector<size_t> filled(folds, 0);
  std::map<std::string, size_t> fold_of;
  for (const auto& [size, name] : order) {
    const auto least = static_cast<size_t>(std::min_element(filled.begin(), filled.end()) - filled.begin());
    fold_of[name] = least;
    filled[least] += size;
  }
  std::vector<size_t> result;
  result.reserve(rows.size());
  for (const ResultRow& row : rows) result.push_back(fold_of[row.generation]);
  return result;
}

double calibrated_width(const std::vector<ScoredRow>& rows, const std::vector<int>& group,
                        const std::function<bool(size_t)>& used) {
  std::vector<double> scores;
  std::vector<int64_t> families;
  scores.reserve(rows.size());
  families.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!used(i)) continue;
    scores.push_back(std::abs(rows[i].forecast - rows[i].log_rate) / rows[i].deviation);
    families.push_back(group[i]);
  }
  ConformalScores conformal;
  conformal.scores = Eigen::Map<const Eigen::VectorXd>(scores.data(), static_cast<Eigen::Index>(scores.size()));
  conformal.family = std::move(families);
  return conformal_quantile(conformal, kCoverage);
}

// What covers rows of a group that isn't among those of `used`.
WidthsByScenario calibrated_widths(const std::vector<ResultRow>& results, const std::vector<ScoredRow>& rows,
                                   const std::vector<int>& group, const std::function<bool(size_t)>& used) {
  constexpr size_t kFewestGroups = 20;
  WidthsByScenario widths;
  widths[""] = calibrated_width(rows, group, used);
  std::map<std::string, std::set<int>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (used(i)) groups[results[i].scenario].insert(group[i]);
  }
  for (const auto& [name, members] : groups) {
    if (members.size() < kFewestGroups) continue;
    const std::string& scenario = name;
    widths[scenario] = calibrated_width(
        rows, group, [&used, &results, &scenario](size_t i) { return used(i) && results[i].scenario == scenario; });
  }
  return widths;
}

void measure_noise(const std::vector<ResultRow>& rows, ResultScores& scores) {
  std::map<std::string, std::vector<const ResultRow*>> alike;
  for (const ResultRow& row : rows) {
    alike[fmt::format("{}|{}|{}|{}|{}|{}", row.accelerator, row.count, row.nodes, row.model, row.scenario, row.version)]
        .push_back(&row);
  }
  std::vector<double> errors;
  errors.reserve(rows.size());
  for (const auto& [name, members] : alike) {
    for (const ResultRow* row : members) {
      std::vector<double> others;
      others.reserve(members.size());
      for (const ResultRow* other : members) {
        if (other->submitter != row->submitter) others.push_back(other->log_rate);
      }
      if (!others.empty()) errors.push_back(error_of(median(std::move(others)), row->log_rate));
    }
  }
  scores.noise_rows = errors.size();
  scores.noise_floor = median(std::move(errors));
}

}  // namespace

std::string name_of(ResultSplit split) { return kSplitNames[static_cast<size_t>(split)]; }

std::vector<int> split_groups(const std::vector<ResultRow>& rows, ResultSplit split) {
  std::map<std::string, int> names;
  std::vector<int> groups;
  groups.reserve(rows.size());
  for (const ResultRow& row : rows)
    groups.push_back(names.emplace(group_name(row, split), static_cast<int>(names.size())).first->second);
  return groups;
}

std::vector<double> scaled_by_peak(const std::vector<ResultRow>& rows, const std::vector<int>& group) {
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> tasks;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].knows_facts()) tasks[{rows[i].model, rows[i].scenario}].push_back(i);
  }
  std::vector<double> forecasts(rows.size(), kUnknown);
  for (const auto& [task, members] : tasks) {
    for (const size_t i : members) {
      std::vector<double> shares;
      shares.reserve(members.size());
      for (const size_t j : members) {
        if (group[j] != group[i]) shares.push_back(rows[j].log_rate - log_peak(rows[j]));
      }
      if (!shares.empty()) forecasts[i] = log_peak(rows[i]) + median(std::move(shares));
    }
  }
  return forecasts;
}

double scaled_by_peak(const std::vector<ResultRow>& rows, const ResultRow& asked) {
  std::vector<double> shares;
  shares.reserve(rows.size());
  for (const ResultRow& row : rows) {
    if (row.knows_facts() && row.model == asked.model && row.scenario == asked.scenario)
      shares.push_back(row.log_rate - log_peak(row));
  }
  return log_peak(asked) + median(std::move(shares));
}

ResultScore score_rows(const std::string& name, const std::vector<ScoredRow>& rows, const std::vector<int>& group,
                       const std::function<bool(const ScoredRow&)>& taken) {
  ResultScore score;
  score.scenario = name;
  std::vector<double> errors, there, baselines, widths;
  errors.reserve(rows.size());
  there.reserve(rows.size());
  baselines.reserve(rows.size());
  widths.reserve(rows.size());
  std::set<int> groups;
  double covered = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ScoredRow& row = rows[i];
    if (!taken(row)) continue;
    groups.insert(group[i]);
    errors.push_back(error_of(row.forecast, row.log_rate));
    widths.push_back(std::exp(row.upper - row.lower));
    if (row.log_rate >= row.lower && row.log_rate <= row.upper) covered += 1;
    if (std::isnan(row.baseline)) continue;
    there.push_back(errors.back());
    baselines.push_back(error_of(row.baseline, row.log_rate));
  }
  score.rows = errors.size();
  score.groups = groups.size();
  score.baseline_rows = there.size();
  if (score.rows > 0) score.coverage_90 = covered / static_cast<double>(score.rows);
  score.mean_error = mean(errors);
  score.mean_error_there = mean(there);
  score.baseline_mean_error = mean(baselines);
  score.median_error = median(std::move(errors));
  score.median_error_there = median(std::move(there));
  score.baseline_median_error = median(std::move(baselines));
  score.interval_ratio = median(std::move(widths));
  return score;
}

double width_for(const WidthsByScenario& widths, const std::string& scenario) {
  const auto own = widths.find(scenario);
  return own != widths.end() ? own->second : widths.at("");
}

WidthsByScenario interval_widths(const ResultModel& model, ResultSplit split) {
  const std::vector<int> group = split_groups(model.rows(), split);
  const std::vector<ResultForecast> left_out = model.leave_out(group);
  std::vector<ScoredRow> rows(left_out.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].log_rate = model.rows()[i].log_rate;
    rows[i].forecast = left_out[i].log_rate;
    rows[i].deviation = left_out[i].deviation;
  }
  return calibrated_widths(model.rows(), rows, group, [](size_t) { return true; });
}

Result<ResultScores> score_results(const std::vector<ResultRow>& rows, const ResultFitOptions& options,
                                   const std::function<void(const std::string&)>& progress) {
  ResultScores scores;
  const std::set<std::string> generations = [&rows] {
    std::set<std::string> names;
    for (const ResultRow& row : rows) names.insert(row.generation);
    return names;
  }();
  scores.folds = std::min(kResultFolds, generations.size());
  if (scores.folds < 2) {
    return Error{"too-few-results", "all results are of one generation of accelerators: none can be left out", "",
                 "results of two generations or more"};
  }
  const std::vector<size_t> fold = generation_folds(rows, scores.folds);
  std::array<std::vector<int>, kResultSplits> groups;
  scores.splits.resize(kResultSplits);
  for (size_t s = 0; s < kResultSplits; ++s) {
    scores.splits[s].split = static_cast<ResultSplit>(s);
    groups[s] = split_groups(rows, scores.splits[s].split);
    scores.splits[s].rows.resize(rows.size());
    const std::vector<double> baseline = scaled_by_peak(rows, groups[s]);
    for (size_t i = 0; i < rows.size(); ++i) {
      scores.splits[s].rows[i].row = i;
      scores.splits[s].rows[i].log_rate = rows[i].log_rate;
      scores.splits[s].rows[i].baseline = baseline[i];
    }
  }
  const Status folds_done = parallel_for(scores.folds, options.threads, [&](size_t f) -> Status {
    if (progress) progress(fmt::format("learning without fold {} of {} ...", f + 1, scores.folds));
    std::vector<size_t> used;
    used.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (fold[i] != f) used.push_back(i);
    }
    const auto fit = fit_results(rows, used, options);
    if (!fit) return fit.error();
    const auto model = ResultModel::create(rows, *fit);
    if (!model) return model.error();
    for (size_t s = 0; s < kResultSplits; ++s) {
      const std::vector<ResultForecast> left_out = model->leave_out(groups[s]);
      for (size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) continue;
        scores.splits[s].rows[i].forecast = left_out[i].log_rate;
        scores.splits[s].rows[i].deviation = left_out[i].deviation;
      }
    }
    return {};
  });
  if (!folds_done) return folds_done.error();
  std::set<std::string> scenarios;
  for (const ResultRow& row : rows) scenarios.insert(row.scenario);
  for (size_t s = 0; s < kResultSplits; ++s) {
    SplitScores& split = scores.splits[s];
    for (size_t f = 0; f < scores.folds; ++f) {
      const WidthsByScenario widths =
          calibrated_widths(rows, split.rows, groups[s], [&fold, f](size_t i) { return fold[i] != f; });
      for (size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) continue;
        ScoredRow& row = split.rows[i];
        const double half = width_for(widths, rows[i].scenario) * row.deviation;
        row.lower = row.forecast - half;
        row.upper = row.forecast + half;
      }
    }
    split.scores.push_back(score_rows("all", split.rows, groups[s], [](const ScoredRow&) { return true; }));
    for (const std::string& scenario : scenarios) {
      split.scores.push_back(score_rows(scenario, split.rows, groups[s],
                                        [&](const ScoredRow& row) { return rows[row.row].scenario == scenario; }));
    }
  }
  measure_noise(rows, scores);
  return scores;
}

}  // namespace perfcast::ai
