#include "power/model/power_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/json.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "model/forecast/conformal.h"

namespace perfcast {
namespace {

constexpr size_t kFewestRows = 30, kFewestWorkloads = 3, kStretches = 5;
constexpr double kBelow = 0.05, kAbove = 0.1;  // forecasts leave the range of the training rows by no more
constexpr const char* kSchema = "perfcast.power-model/1";
constexpr size_t kMostListed = 100000;
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
      if (kind == PowerFormKind::kSharedLine) continue;
      if (kind == PowerFormKind::kNonnegative) {
        for (const double share : kPenaltyShares) {
          if (Status done = try_form(samples, set, kind, share); !done) return done;
        }
      } else if (Status done = try_form(samples, set, kind, kPenaltyShares[0]); !done) {
        return done;
      }
    }
    if (options_.blends) try_blends(set);
    return {};
  }

  // The best line, where it may be the form; of the others those that are clearly better: by more than the standard
  // error of the difference over workloads. Few workloads are left out, and many candidates tried: the least error of
  // all is luck.
  const Candidate& best() const {
    const Candidate* line = nullptr;
    for (const Candidate& candidate : candidates_) {
      if (candidate.allowed && candidate.kind == PowerFormKind::kSharedLine && blends_.count(candidate.name) == 0 &&
          (line == nullptr || candidate.error < line->error)) {
        line = &candidate;
      }
    }
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
    const LineMoments moments(samples.inputs, samples.target, samples.design.group, samples.design.workload, which_);
    for (const SharedLineOptions& line : line_choices()) {
      Candidate candidate =
          named(PowerFormKind::kSharedLine, set, fmt::format("{:g}/{:g}", line.shared_penalty, line.own_penalty));
      candidate.options.line = line;
      candidate.allowed =
          std::find(options_.forms.begin(), options_.forms.end(), PowerFormKind::kSharedLine) != options_.forms.end();
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

  Status try_form(const PowerSamples& samples, ActivitySet set, PowerFormKind kind, double penalty_share) {
    Candidate candidate =
        named(kind, set, kind == PowerFormKind::kNonnegative ? fmt::format("{:g}", penalty_share) : "");
    candidate.options.penalty_share = penalty_share;
    candidate.options.seed = options_.seed;
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
    return mean(gains) > standard_deviation(gains) / std::sqrt(static_cast<double>(gains.size()));
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

// What the errors of a card are by, as its JSON has it.
const char* by_key(const PowerModelCard& card) { return card.left_out == "machine" ? "machine" : "workload"; }

// What saying each group's mean power, of all other workloads, would have cost.
double error_of_means(const PowerSamples& samples, const std::vector<size_t>& which) {
  std::map<std::pair<int, int>, std::pair<double, double>> sums;
  for (const size_t r : which) {
    auto& [sum, count] = sums[{samples.design.group[r], samples.design.workload[r]}];
    sum += samples.design.watts(static_cast<Eigen::Index>(r));
    ++count;
  }
  std::map<std::pair<int, int>, double> others;
  for (const auto& [cell, own] : sums) {
    double sum = 0, count = 0;
    for (const auto& [other, of] : sums) {
      if (other.first != cell.first || other.second == cell.second) continue;
      sum += of.first / of.second;
      ++count;
    }
    others[cell] = count > 0 ? sum / count : own.first / own.second;
  }
  Eigen::VectorXd means(static_cast<Eigen::Index>(which.size()));
  for (size_t i = 0; i < which.size(); ++i) {
    means(static_cast<Eigen::Index>(i)) = others[{samples.design.group[which[i]], samples.design.workload[which[i]]}];
  }
  return cell_error(samples.design, which, means);
}

}  // namespace

std::vector<size_t> all_rows(const PowerTable& table) {
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

double cell_error(const PowerDesign& design, const std::vector<size_t>& which, const Eigen::VectorXd& forecast_watts) {
  std::map<std::pair<int, int>, std::pair<double, double>> cells;
  for (size_t i = 0; i < which.size(); ++i) {
    const double measured = design.watts(static_cast<Eigen::Index>(which[i]));
    const double error = std::abs(forecast_watts(static_cast<Eigen::Index>(i)) / measured - 1);
    if (std::isnan(error)) continue;
    auto& [sum, count] = cells[{design.group[which[i]], design.workload[which[i]]}];
    sum += error;
    ++count;
  }
  if (cells.empty()) return kUnknown;
  double total = 0;
  for (const auto& [cell, sums] : cells) total += sums.first / sums.second;
  return total / static_cast<double>(cells.size());
}

double log_cell_error(const PowerSamples& samples, const std::vector<size_t>& which,
                      const Eigen::VectorXd& log_target) {
  Eigen::VectorXd watts(log_target.size());
  for (Eigen::Index i = 0; i < watts.size(); ++i) {
    watts(i) =
        std::exp(log_target(i) + samples.design.log_scale(static_cast<Eigen::Index>(which[static_cast<size_t>(i)])));
  }
  return cell_error(samples.design, which, watts);
}

Result<PowerModel> PowerModel::fit(const PowerTable& table, const std::vector<size_t>& which,
                                   const PowerModelOptions& options) {
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
  card.mean_power_error = error_of_means(samples, rows);
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
  log_target = log_target.array().max(lowest_ - kBelow).min(highest_ + kAbove);
  PowerForecast forecast;
  forecast.watts = (log_target + samples.design.log_scale).array().exp();
  Eigen::ArrayXd width = Eigen::ArrayXd::Constant(forecast.watts.size(), half_width_);
  if (forms_.size() == 1) {
    if (const Eigen::VectorXd own = forms_[0]->half_widths(samples, rows); own.size() > 0) width = own.array();
  }
  forecast.lower = forecast.watts.array() * (-width).exp();
  forecast.upper = forecast.watts.array() * width.exp();
  return forecast;
}

Json PowerModel::to_json() const {
  Json by_workload = Json::array(), tried = Json::array(), forms = Json::array();
  for (const auto& [name, error] : card_.error_by_workload)
    by_workload.push_back({{by_key(card_), name}, {"error_ratio", error}});
  for (const auto& [name, error] : card_.tried) tried.push_back({{"model", name}, {"error_ratio", error}});
  for (const auto& form : forms_) forms.push_back(form->to_json());
  Json json = {{"schema", kSchema}};
  json["card"] = {{"rows", card_.rows},
                  {"chosen", card_.chosen},
                  {"left_out", card_.left_out},
                  {"error_ratio", card_.error},
                  {"mean_power_error_ratio", card_.mean_power_error},
                  {std::string("error_by_") + by_key(card_), by_workload},
                  {"tried", tried},
                  {"units", "watts; counters are events a second or shares"}};
  if (card_.new_machine) {
    json["card"]["new_machine"] = {{"machine", card_.new_machine->machine},
                                   {"samples_count", card_.new_machine->samples},
                                   {"known_machines_count", card_.new_machine->known_machines}};
  }
  json["features"] = features_.to_json();
  json["groups"] = groups_;
  if (!settings_.empty()) json["settings"] = settings_json(settings_);
  json["centre"] = std::vector<double>(scale_.centre.begin(), scale_.centre.end());
  json["scale"] = std::vector<double>(scale_.scale.begin(), scale_.scale.end());
  json["lowest_log"] = lowest_;
  json["highest_log"] = highest_;
  json["coverage_ratio"] = coverage_;
  json["half_width_log"] = half_width_;
  json["forms"] = forms;
  return json;
}

Result<PowerModel> PowerModel::from_json(const Json& json, const std::string& source) {
  JsonReader in(json, source);
  if (const std::string schema = in.string("schema"); in.complaints().empty() && schema != kSchema) {
    return Error{"bad-json-field", "'" + printable(schema) + "' is no model of power", source,
                 std::string(kSchema) + ", as `perfcast power fit` writes it"};
  }
  PowerModel model;
  const Json* card = in.require_object("card");
  const Json* features = in.require_object("features");
  const Json* forms = in.require_array("forms");
  const Json* centre = in.require_array("centre");
  const Json* scale = in.require_array("scale");
  const Json* settings = in.array("settings");
  model.groups_ = in.strings("groups");
  model.lowest_ = in.number("lowest_log");
  model.highest_ = in.number("highest_log");
  model.coverage_ = in.number("coverage_ratio");
  model.half_width_ = in.number("half_width_log");
  if (Status done = in.finish(); !done) return done.error();
  if (model.lowest_ > model.highest_ || model.half_width_ < 0 || !(model.coverage_ > 0 && model.coverage_ < 1)) {
    in.complain("lowest_log", "limits that exclude each other", "a range, a coverage in (0, 1), a width of at least 0");
  }
  if (centre->size() != scale->size() || centre->size() > kMostListed || forms->empty() || forms->size() > 8) {
    in.complain("scale", "another number of inputs", "as many as in centre, and one to eight forms");
  }
  if (Status done = in.finish(); !done) return done.error();
  const auto size = static_cast<Eigen::Index>(centre->size());
  model.scale_.centre.resize(size);
  model.scale_.scale.resize(size);
  for (Eigen::Index c = 0; c < size; ++c) {
    const Json& shift = (*centre)[static_cast<size_t>(c)];
    const Json& width = (*scale)[static_cast<size_t>(c)];
    if (!shift.is_number() || !width.is_number() || !(width.get<double>() > 0) || !std::isfinite(shift.get<double>())) {
      in.complain("scale", "an entry that is no number above 0", "numbers");
      if (Status done = in.finish(); !done) return done.error();
    }
    model.scale_.centre(c) = shift.get<double>();
    model.scale_.scale(c) = width.get<double>();
  }
  if (settings != nullptr) {
    auto known = settings_from_json(*settings, model.groups_.size(), source);
    if (!known) return known.error();
    model.settings_ = std::move(*known);
  }
  auto read = ActivityFeatures::from_json(*features, source + ".features");
  if (!read) return read.error();
  model.features_ = std::move(*read);
  for (size_t i = 0; i < forms->size(); ++i) {
    auto form =
        power_form_from_json((*forms)[i], source + ".forms[" + std::to_string(i) + "]", size, model.groups_.size());
    if (!form) return form.error();
    model.forms_.push_back(std::move(*form));
  }
  JsonReader facts(*card, source + ".card");
  model.card_.rows = static_cast<size_t>(std::max<int64_t>(0, facts.integer("rows")));
  model.card_.chosen = facts.string("chosen");
  model.card_.left_out = facts.string("left_out");
  model.card_.error = facts.number("error_ratio");
  model.card_.mean_power_error = facts.number("mean_power_error_ratio");
  const auto list = [&](const char* key, const char* name_key, std::vector<std::pair<std::string, double>>& into) {
    const Json* entries = facts.require_array(key);
    if (entries == nullptr) return;
    for (size_t i = 0; i < entries->size(); ++i) {
      JsonReader entry((*entries)[i], source + ".card." + key + "[" + std::to_string(i) + "]");
      into.emplace_back(entry.string(name_key), entry.number("error_ratio"));
      if (!entry.finish()) facts.complain(key, "an entry of another form", "a name and error_ratio");
    }
  };
  list((std::string("error_by_") + by_key(model.card_)).c_str(), by_key(model.card_), model.card_.error_by_workload);
  list("tried", "model", model.card_.tried);
  const Json* of_new = facts.object("new_machine");
  if (Status done = facts.finish(); !done) return done.error();
  if (of_new != nullptr) {
    JsonReader entry(*of_new, source + ".card.new_machine");
    NewMachineCard& into = model.card_.new_machine.emplace();
    into.machine = entry.string("machine");
    into.samples = static_cast<size_t>(std::max<int64_t>(0, entry.integer("samples_count")));
    into.known_machines = static_cast<size_t>(std::max<int64_t>(0, entry.integer("known_machines_count")));
    if (Status done = entry.finish(); !done) return done.error();
  }
  model.card_.groups = model.groups_;
  if (!model.card_.new_machine) {
    for (const auto& [name, error] : model.card_.error_by_workload) model.card_.workloads.push_back(name);
  }
  return model;
}

}  // namespace perfcast
