#include "measure/power/model/power_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "learn/conformal/conformal.h"
#include "measure/power/table/table_settings.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFewestRows = 30, kFewestWorkloads = 3, kStretches = 5;
constexpr double kBelow = 0.05, kAbove = 0.1;  // forecasts leave the range of the training rows by no more
constexpr double kSurely = 3;                  // standard errors over samples that a gain must have
constexpr size_t kMostCompared = 4000, kFewestCompared = 10;

// Chosen from on inner folds.
const std::vector<SharedLineOptions>& line_choices() {
  static const std::vector<SharedLineOptions> choices = {{3e-4, 3e-3, 1e-4}, {1e-3, 1e-2, 1e-4}, {1e-3, 0.1, 1e-4},
                                                         {3e-3, 0.03, 1e-4}, {3e-3, 0.3, 1e-4},  {0.01, 0.1, 1e-4}};
  return choices;
}
constexpr double kPenaltyShares[] = {1e-3, 1e-2, 0.1};

// Workloads by when they are left out.
struct InnerFolds {
  std::map<int, int> of_workload;
  int count = 0;
};

// Where there are too few workloads, stretches of each group's rows stand for them.
void cut_by_time(PowerDesign& design, const std::vector<size_t>& which) {
  std::map<int, std::vector<size_t>> of_group;
  for (const size_t r : which) of_group[design.group[r]].push_back(r);
  design.workloads.clear();
  for (size_t s = 0; s < kStretches; ++s) design.workloads.push_back("stretch " + std::to_string(s + 1));
  for (const auto& [group, rows] : of_group) {
    for (size_t i = 0; i < rows.size(); ++i) design.workload[rows[i]] = static_cast<int>(i * kStretches / rows.size());
  }
}

InnerFolds make_folds(const PowerDesign& design, const std::vector<size_t>& which, int most, uint64_t seed) {
  std::set<int> present;
  for (const size_t r : which) present.insert(design.workload[r]);
  std::vector<int> order(present.begin(), present.end());
  std::sort(order.begin(), order.end(), [&design](int a, int b) {
    return design.workloads[static_cast<size_t>(a)] < design.workloads[static_cast<size_t>(b)];
  });
  Random random(seed);
  random.shuffle(order);
  InnerFolds folds;
  folds.count = std::min<int>(most, static_cast<int>(order.size()));
  for (size_t i = 0; i < order.size(); ++i)
    folds.of_workload[order[i]] = static_cast<int>(i) % std::max(folds.count, 1);
  return folds;
}

// What candidates are compared on: as many rows of each cell as it has where they are few, some thousands in all.
std::vector<size_t> compared_rows(const PowerDesign& design, const std::vector<size_t>& which, uint64_t seed) {
  std::map<std::pair<int, int>, std::vector<size_t>> cells;
  for (const size_t r : which) cells[{design.group[r], design.workload[r]}].push_back(r);
  const size_t each = std::max(kFewestCompared, kMostCompared / std::max<size_t>(1, cells.size()));
  Random random(seed);
  std::vector<size_t> rows;
  for (auto& [cell, of] : cells) {
    random.shuffle(of);
    of.resize(std::min(each, of.size()));
    rows.insert(rows.end(), of.begin(), of.end());
  }
  return rows;
}

struct Candidate {
  std::string name;
  PowerFormKind kind = PowerFormKind::kSharedLine;
  PowerFormOptions options;
  ActivitySet set = ActivitySet::kLoad;
  Eigen::VectorXd held_out;  // log target of each row that is compared
  double error = std::numeric_limits<double>::infinity();
  bool allowed = true;  // lines choose the inputs even where they may not be the form
};

std::vector<std::pair<std::string, double>> errors_by_workload(const PowerSamples& samples,
                                                               const std::vector<size_t>& which,
                                                               const Eigen::VectorXd& held_out) {
  std::map<int, std::pair<std::vector<size_t>, std::vector<double>>> of;
  for (size_t i = 0; i < which.size(); ++i) {
    auto& [rows, values] = of[samples.design.workload[which[i]]];
    rows.push_back(which[i]);
    values.push_back(held_out(static_cast<Eigen::Index>(i)));
  }
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [workload, entries] : of) {
    const Eigen::VectorXd values =
        Eigen::Map<const Eigen::VectorXd>(entries.second.data(), static_cast<Eigen::Index>(entries.second.size()));
    result.emplace_back(samples.design.workloads[static_cast<size_t>(workload)],
                        log_cell_error(samples, entries.first, values));
  }
  std::sort(result.begin(), result.end());
  return result;
}

class Chooser {
 public:
  Chooser(const PowerTable& table, const std::vector<size_t>& which, const PowerModelOptions& options)
      : table_(table), which_(which), options_(options) {
    std::set<int> workloads;
    for (const size_t r : which) workloads.insert(table.workload[r]);
    by_workload_ = workloads.size() >= kFewestWorkloads;
  }

  Status run() {
    for (const ActivitySet set : options_.sets) {
      if (Status done = try_lines(set); !done) return done;
    }
    const ActivitySet set =
        std::min_element(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
          return a.error < b.error;
        })->set;
    const PowerSamples& samples = samples_.at(set);
    for (const PowerFormKind kind : options_.forms) {
      if (kind == PowerFormKind::kSharedLine || kind == PowerFormKind::kLeastSquares) continue;
      PowerFormOptions form;
      form.penalty_share = kPenaltyShares[0];
      form.seed = options_.seed;
      if (kind == PowerFormKind::kNonnegative) {
        for (const double share : kPenaltyShares) {
          form.penalty_share = share;
          if (Status done = try_form(samples, set, kind, form, fmt::format("{:g}", share)); !done) return done;
        }
      } else if (Status done = try_form(samples, set, kind, form, ""); !done) {
        return done;
      }
    }
    if (options_.blends) try_blends(set);
    return is_allowed(PowerFormKind::kLeastSquares) ? try_least_squares() : Status();
  }

  // Least squares, which anybody would try first; in their place the best shared line where it is clearly better, by
  // more than the standard error of the difference over workloads. Of the others those that are clearly better than
  // that. Few workloads are left out, and many candidates tried: the least error of all is luck.
  const Candidate& best() const {
    const Candidate* line = least_of(PowerFormKind::kSharedLine);
    const Candidate* plain = least_of(PowerFormKind::kLeastSquares);
    if (plain != nullptr && (line == nullptr || !is_clearly_better(*line, *plain))) line = plain;
    const Candidate* best = line;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.allowed || (best != nullptr && candidate.error >= best->error)) continue;
      if (line == nullptr || is_clearly_better(candidate, *line)) {
        best = &candidate;
      }
    }
    return best != nullptr ? *best : candidates_.front();
  }
  // The forms that the best candidate is the mean of.
  std::vector<Candidate> members() const {
    const auto found = blends_.find(best().name);
    if (found == blends_.end()) return {best()};
    std::vector<Candidate> result;
    for (const size_t i : found->second) result.push_back(candidates_[i]);
    return result;
  }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const PowerSamples& samples() const { return samples_.at(best().set); }
  const ActivityFeatures& features() const { return features_.at(best().set); }
  bool by_workload() const { return by_workload_; }
  const std::vector<size_t>& compared() const { return compared_; }

 private:
  Status try_lines(ActivitySet set) {
    features_[set] = ActivityFeatures::learn(table_, which_, set);
    PowerDesign design = features_[set].design(table_);
    if (!by_workload_) cut_by_time(design, which_);
    const auto [at, fresh] = samples_.emplace(set, PowerSamples::of(std::move(design), which_));
    const PowerSamples& samples = at->second;
    folds_ = make_folds(samples.design, which_, options_.folds, options_.seed);
    if (compared_.empty()) compared_ = compared_rows(samples.design, which_, options_.seed);
    if (folds_.count < 2) {
      return Error{"too-few-samples", "there is nothing to leave out: all samples are of one stretch", "",
                   "samples of two workloads or more, or of a longer time"};
    }
    if (Status fits = check_line_size(samples.inputs.cols(), samples.design.group, samples.design.workload, which_);
        !fits) {
      return fits;
    }
    const LineMoments moments(samples.inputs, samples.target, samples.design.group, samples.design.workload, which_);
    for (const SharedLineOptions& line : line_choices()) {
      Candidate candidate =
          named(PowerFormKind::kSharedLine, set, fmt::format("{:g}/{:g}", line.shared_penalty, line.own_penalty));
      candidate.options.line = line;
      candidate.allowed = is_allowed(PowerFormKind::kSharedLine);
      candidate.held_out.resize(static_cast<Eigen::Index>(compared_.size()));
      for (int fold = 0; fold < folds_.count; ++fold) {
        const SharedLine fitted = SharedLine::fit(
            moments, [&](const LineMoments::Cell& cell) { return folds_.of_workload.at(cell.workload) != fold; }, line);
        std::map<int, Eigen::VectorXd> of;
        for (size_t i = 0; i < compared_.size(); ++i) {
          if (fold_of(samples, compared_[i]) != fold) continue;
          const int group = samples.design.group[compared_[i]];
          const auto [found, is_new] = of.try_emplace(group);
          if (is_new) found->second = fitted.coefficients(group);
          candidate.held_out(static_cast<Eigen::Index>(i)) =
              samples.inputs.row(static_cast<Eigen::Index>(compared_[i])).dot(found->second);
        }
      }
      finish(std::move(candidate), samples);
    }
    return {};
  }

  Status try_least_squares() {
    constexpr ActivitySet kSet = ActivitySet::kPlain;
    features_[kSet] = ActivityFeatures::learn(table_, which_, kSet);
    PowerDesign design = features_[kSet].design(table_);
    if (design.rows.cols() == 0) return {};
    if (!by_workload_) cut_by_time(design, which_);
    const bool has_groups = design.groups.size() > 1;
    const PowerSamples& samples = samples_.emplace(kSet, PowerSamples::of(std::move(design), which_)).first->second;
    for (const bool one_slope : {false, true}) {
      for (const bool relative : {false, true}) {
        if (one_slope && !has_groups) continue;
        PowerFormOptions form;
        form.one_slope = one_slope;
        form.relative = relative;
        const std::string setting = std::string(one_slope ? "one-slope " : "") + (relative ? "relative" : "absolute");
        if (Status done = try_form(samples, kSet, PowerFormKind::kLeastSquares, form, setting); !done) return done;
      }
    }
    return {};
  }

  bool is_allowed(PowerFormKind kind) const {
    return std::find(options_.forms.begin(), options_.forms.end(), kind) != options_.forms.end();
  }

  const Candidate* least_of(PowerFormKind kind) const {
    const Candidate* least = nullptr;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.allowed || candidate.kind != kind || blends_.count(candidate.name) > 0) continue;
      if (candidate.options.relative) continue;  // plain ones first
      if (least == nullptr || candidate.error < least->error) least = &candidate;
    }
    return least;
  }

  Status try_form(const PowerSamples& samples, ActivitySet set, PowerFormKind kind,
                  const PowerFormOptions& form_options, const std::string& setting) {
    Candidate candidate = named(kind, set, setting);
    candidate.options = form_options;
    candidate.held_out.resize(static_cast<Eigen::Index>(compared_.size()));
    for (int fold = 0; fold < folds_.count; ++fold) {
      std::vector<size_t> kept, out, places;
      for (const size_t r : which_) {
        if (fold_of(samples, r) != fold) kept.push_back(r);
      }
      for (size_t i = 0; i < compared_.size(); ++i) {
        if (fold_of(samples, compared_[i]) != fold) continue;
        out.push_back(compared_[i]);
        places.push_back(i);
      }
      const auto form = make_power_form(kind, candidate.options);
      if (Status done = form->fit(samples, kept); !done) return done;
      const Eigen::VectorXd forecast = form->forecast(samples, out);
      for (size_t i = 0; i < places.size(); ++i) {
        candidate.held_out(static_cast<Eigen::Index>(places[i])) = forecast(static_cast<Eigen::Index>(i));
      }
    }
    finish(std::move(candidate), samples);
    return {};
  }

  // Means of the best of several forms.
  void try_blends(ActivitySet set) {
    std::map<PowerFormKind, size_t> best_of;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].set != set || !candidates_[i].allowed) continue;
      const auto [at, fresh] = best_of.try_emplace(candidates_[i].kind, i);
      if (!fresh && candidates_[i].error < candidates_[at->second].error) at->second = i;
    }
    std::vector<size_t> singles;
    singles.reserve(best_of.size());
    for (const auto& [kind, at] : best_of) singles.push_back(at);
    for (unsigned subset = 1; subset < 1U << singles.size(); ++subset) {
      std::vector<size_t> members;
      std::vector<std::string> names;
      Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(compared_.size()));
      for (size_t i = 0; i < singles.size(); ++i) {
        if ((subset >> i & 1U) == 0) continue;
        members.push_back(singles[i]);
        names.emplace_back(to_text(candidates_[singles[i]].kind));
        sum += candidates_[singles[i]].held_out;
      }
      if (members.size() < 2) continue;
      Candidate blend = named(candidates_[members[0]].kind, set, "");
      blend.name = join(names, " + ");
      blend.held_out = sum / static_cast<double>(members.size());
      blends_[blend.name] = members;
      finish(std::move(blend), samples_.at(set));
    }
  }

  static Candidate named(PowerFormKind kind, ActivitySet set, const std::string& setting) {
    Candidate candidate;
    candidate.kind = kind;
    candidate.set = set;
    candidate.name =
        fmt::format("{}{}{} on {} inputs", to_text(kind), setting.empty() ? "" : " ", setting, to_text(set));
    return candidate;
  }

  bool is_clearly_better(const Candidate& candidate, const Candidate& line) const {
    const auto a = errors_by_workload(samples_.at(candidate.set), compared_, candidate.held_out);
    const auto b = errors_by_workload(samples_.at(line.set), compared_, line.held_out);
    std::vector<double> gains;
    gains.reserve(a.size());
    for (size_t i = 0; i < a.size(); ++i) gains.push_back(b[i].second - a[i].second);
    if (!(mean(gains) > standard_error(gains))) return false;
    // Of few samples the workloads agree by chance.
    const auto own = row_errors(candidate), others = row_errors(line);
    std::vector<double> by_row;
    for (size_t i = 0; i < own.size(); ++i) {
      if (const double gain = others[i] - own[i]; !std::isnan(gain)) by_row.push_back(gain);
    }
    return mean(by_row) > kSurely * standard_error(by_row);
  }
  static double standard_error(const std::vector<double>& values) {
    return standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
  }
  std::vector<double> row_errors(const Candidate& candidate) const {
    const PowerSamples& samples = samples_.at(candidate.set);
    std::vector<double> errors;
    errors.reserve(compared_.size());
    for (size_t i = 0; i < compared_.size(); ++i) {
      const double target = samples.target(static_cast<Eigen::Index>(compared_[i]));
      errors.push_back(std::abs(std::exp(candidate.held_out(static_cast<Eigen::Index>(i)) - target) - 1));
    }
    return errors;
  }

  int fold_of(const PowerSamples& samples, size_t row) const {
    return folds_.of_workload.at(samples.design.workload[row]);
  }

  void finish(Candidate candidate, const PowerSamples& samples) {
    candidate.error = log_cell_error(samples, compared_, candidate.held_out);
    candidates_.push_back(std::move(candidate));
  }

  const PowerTable& table_;
  const std::vector<size_t>& which_;
  const PowerModelOptions& options_;
  bool by_workload_ = true;
  InnerFolds folds_;
  std::vector<size_t> compared_;
  std::map<ActivitySet, ActivityFeatures> features_;
  std::map<ActivitySet, PowerSamples> samples_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::vector<size_t>> blends_;
};

}  // namespace

std::vector<size_t> all_rows(const PowerTable& table) {
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

Result<PowerModel> PowerModel::fit(const PowerTable& table, const std::vector<size_t>& which,
                                   const PowerModelOptions& options) {
  if (Status placed = check_settings(table); !placed) return placed.error();
  std::vector<size_t> rows;
  for (const size_t r : which) {
    if (!std::isnan(table.watts(static_cast<Eigen::Index>(r)))) rows.push_back(r);
  }
  if (rows.size() < kFewestRows) {
    return Error{"too-few-samples", fmt::format("{} samples with power", rows.size()), "",
                 fmt::format("at least {}, of idle and of load", kFewestRows)};
  }
  Chooser chooser(table, rows, options);
  if (Status done = chooser.run(); !done) return done.error();
  const PowerSamples& samples = chooser.samples();
  PowerModel model;
  model.features_ = chooser.features();
  model.scale_ = samples.scale;
  model.groups_ = samples.design.groups;
  model.settings_ = settings_of(table, rows, samples.design);
  for (const Candidate& member : chooser.members()) {
    std::shared_ptr<PowerForm> form = make_power_form(member.kind, member.options);
    if (Status done = form->fit(samples, rows); !done) return done.error();
    model.forms_.push_back(std::move(form));
  }
  model.lowest_ = std::numeric_limits<double>::infinity();
  model.highest_ = -model.lowest_;
  for (const size_t r : rows) {
    model.lowest_ = std::min(model.lowest_, samples.target(static_cast<Eigen::Index>(r)));
    model.highest_ = std::max(model.highest_, samples.target(static_cast<Eigen::Index>(r)));
  }
  const Candidate& best = chooser.best();
  ConformalScores scores;
  const std::vector<size_t>& compared = chooser.compared();
  scores.scores.resize(static_cast<Eigen::Index>(compared.size()), 1);
  for (size_t i = 0; i < compared.size(); ++i) {
    scores.scores(static_cast<Eigen::Index>(i), 0) =
        std::abs(best.held_out(static_cast<Eigen::Index>(i)) - samples.target(static_cast<Eigen::Index>(compared[i])));
    scores.family.push_back(samples.design.workload[compared[i]]);
  }
  model.coverage_ = options.coverage;
  model.half_width_ = conformal_quantile(scores, options.coverage);
  PowerModelCard& card = model.card_;
  card.rows = rows.size();
  card.groups = model.groups_;
  card.chosen = best.name;
  card.left_out = chooser.by_workload() ? "workload" : "stretch of time";
  card.error = best.error;
  card.mean_power_error = mean_power_error(samples, rows);
  card.error_by_workload = errors_by_workload(samples, compared, best.held_out);
  for (const auto& [name, error] : card.error_by_workload) card.workloads.push_back(name);
  for (const Candidate& candidate : chooser.candidates()) card.tried.emplace_back(candidate.name, candidate.error);
  return model;
}

bool PowerModel::knows(const std::string& group) const {
  return std::find(groups_.begin(), groups_.end(), group) != groups_.end();
}

Result<PowerForecast> PowerModel::forecast(const PowerTable& table) const {
  std::vector<std::string> missing;
  for (const std::string& name : features_.counters()) {
    if (table.counter(name) < 0) missing.push_back(printable(name));
  }
  if (!missing.empty()) {
    return Error{"missing-counters", "the samples lack " + join(missing, ", "), "",
                 "the counters that the model was made with: " + join(features_.counters(), ", ")};
  }
  if (Status placed = check_settings(table); !placed) return placed.error();
  PowerDesign design = features_.design(table);
  if (design.rows.cols() != scale_.centre.size()) {
    return Error{"missing-counters",
                 "the samples have other columns of frequency, voltage, temperature or cores than the model", "",
                 "the columns that the model was made with"};
  }
  // Groups by name: those of the model keep their numbers, others have none.
  std::vector<int> number;
  for (const std::string& group : design.groups) {
    const auto found = std::find(groups_.begin(), groups_.end(), group);
    number.push_back(found == groups_.end() ? -1 : static_cast<int>(found - groups_.begin()));
  }
  for (int& group : design.group) group = number[static_cast<size_t>(group)];
  const std::vector<size_t> rows = all_rows(table);
  const PowerSamples samples = PowerSamples::with_scale(std::move(design), scale_);
  Eigen::VectorXd log_target = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rows.size()));
  for (const auto& form : forms_) log_target += form->forecast(samples, rows);
  log_target /= static_cast<double>(forms_.size());
  // Plain lines hold as far again as the samples reach; other forms leave the range by little.
  const bool reaches = forms_.size() == 1 && forms_[0]->extrapolates();
  const double lowest = lowest_ - (reaches ? std::max(highest_ - lowest_, kBelow) : kBelow);
  const double highest = highest_ + (reaches ? std::max(highest_ - lowest_, kAbove) : kAbove);
  PowerForecast forecast;
  for (Eigen::Index r = 0; r < log_target.size(); ++r) {
    const bool is_far = !reaches && (samples.inputs.row(r).array().abs() >= kFarthestInput).any();
    forecast.is_held.push_back(is_far || log_target(r) < lowest || log_target(r) > highest);
  }
  log_target = log_target.array().max(lowest).min(highest);
  forecast.watts = (log_target + samples.design.log_scale).array().exp();
  for (Eigen::Index r = 0; r < forecast.watts.size(); ++r) {
    if (forecast.watts(r) > 0 && std::isfinite(forecast.watts(r))) continue;
    return Error{"bad-model", fmt::format("the model has no power for sample {}", r + 1), "",
                 "a model whose numbers are of the size of samples like these"};
  }
  Eigen::ArrayXd width = Eigen::ArrayXd::Constant(forecast.watts.size(), half_width_);
  if (forms_.size() == 1) {
    if (const Eigen::VectorXd own = forms_[0]->half_widths(samples, rows); own.size() > 0) width = own.array();
  }
  forecast.lower = forecast.watts.array() * (-width).exp();
  forecast.upper = forecast.watts.array() * width.exp();
  return forecast;
}

}  // namespace perfcast::measure
