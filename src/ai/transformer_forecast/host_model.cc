#include "ai/transformer_forecast/host_model.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ai/latency/fit/bounded_least_squares.h"
#include "ai/transformer/kernel/transformer_kernels.h"
#include "ai/transformer/transformer.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kMostPower = 8;
constexpr double kLeastCachePower = 0.5, kMostCachePower = 1.5;
constexpr double kSoftScale = 0.1;  // of log residuals
constexpr double kCoverage = 0.9;
constexpr double kLineBytes = 64;

// What of a launch's time grows with what, in units of its own; see the header.
struct WorkTerms {
  std::vector<double> additive;
  double memory_s = 0;  // at the memory's rate
  std::vector<double> compute;
  double footprint_bytes = 0;
};

// The time of reading: the memory's, made shorter by what caches hold of the footprint.
double reading_s(const WorkTerms& terms, const HostRates& facts, double cache_power) {
  const double rate = facts.read_bytes_per_s(terms.footprint_bytes);
  return terms.memory_s * std::pow(facts.memory_bytes_per_s() / rate, cache_power);
}

// Tiles of 1 to kTileRows rows that few rows are taken in.
std::vector<double> tiles_of(double rows) {
  std::vector<double> tiles(static_cast<size_t>(kTileRows), 0);
  const auto whole = static_cast<int64_t>(rows);
  const int64_t full = whole / kTileRows;
  tiles.back() = static_cast<double>(full);
  if (whole % kTileRows > 0) tiles[static_cast<size_t>(whole % kTileRows - 1)] += 1;
  return tiles;
}

// Of so many bytes that are gone through again, those that the second-level cache has no more, smoothly.
double spilled_share(double bytes, const HostRates& facts) { return bytes / (bytes + facts.l2_bytes); }

WorkTerms terms_of(const OperatorWork& work, double footprint_bytes, const HostRates& facts) {
  const double rate = facts.memory_bytes_per_s();
  const double cached_rate = facts.read_bytes_per_s(footprint_bytes);
  const double value_bytes = work.values * sizeof(float);
  const double weights = work.inputs * work.panels * static_cast<double>(kPanelColumns);
  switch (work.form) {
    case WorkForm::kFewRows: {
      std::vector<double> tiles = tiles_of(work.rows);
      for (double& tile : tiles) tile *= weights;
      return {{1, work.panels, work.rows * work.inputs, work.values},
              work.weight_bytes / rate,
              std::move(tiles),
              footprint_bytes};
    }
    case WorkForm::kManyRows: {
      const double inputs = work.rows * work.inputs;
      return {{1, work.calls, work.values, work.values * spilled_share(value_bytes, facts)},
              work.weight_bytes / rate,
              {work.rows * weights, inputs * work.calls, weights,
               inputs * work.calls * spilled_share(inputs * sizeof(float), facts)},
              footprint_bytes};
    }
    case WorkForm::kAttention:
      return {{1, work.tasks, work.rows, work.softmax_values},
              work.kv_bytes / rate,
              {work.tile_values.begin(), work.tile_values.end()},
              footprint_bytes};
    default:
      // Each value may come with a line of its own, from where the step's weights leave it.
      return {{1, work.values, work.values * spilled_share(value_bytes, facts), work.values * kLineBytes / cached_rate},
              0,
              {},
              footprint_bytes};
  }
}

double combine(const std::vector<double>& additive, double memory_s, double compute_s, double power) {
  double sum = 0;
  for (const double part : additive) sum += part;
  const double longest = std::max(memory_s, compute_s);
  if (!(longest > 0)) return sum;
  return sum +
         longest * std::pow(std::pow(memory_s / longest, power) + std::pow(compute_s / longest, power), 1 / power);
}

// A sample of one operator: launches that its time is the sum of.
struct TimedWork {
  std::vector<std::pair<double, WorkTerms>> launches;
  double seconds = 0;
};

// Parameters in units of a start at which each term alone would take a fair share of the times: all begin at 1.
class FormFit {
 public:
  FormFit(const std::vector<TimedWork>& samples, const HostRates& facts) : samples_(samples), facts_(facts) {
    const WorkTerms& shape = samples.front().launches.front().second;
    additive_ = shape.additive.size();
    compute_ = shape.compute.size();
    has_memory_ = compute_ > 0;
    const auto size = additive_ + compute_ + (has_memory_ ? 1 : 0);
    unit_.resize(size);
    for (size_t i = 0; i < size; ++i) unit_[i] = usual_unit(i);
    if (has_memory_) unit_[additive_] = 1;  // of the memory: its time at the measured rate
  }

  size_t parameters() const { return unit_.size() + (has_memory_ ? 2 : 0); }

  double seconds(const TimedWork& sample, const Eigen::VectorXd& parameters) const {
    double sum = 0;
    for (const auto& [count, terms] : sample.launches) {
      double flat = 0, memory_s = 0, compute_s = 0;
      for (size_t i = 0; i < additive_; ++i) flat += value(parameters, i) * terms.additive[i];
      if (has_memory_) memory_s = value(parameters, additive_) * reading_s(terms, facts_, cache_power(parameters));
      for (size_t i = 0; i < compute_; ++i) compute_s += value(parameters, additive_ + 1 + i) * terms.compute[i];
      sum += count * combine({flat}, memory_s, compute_s, power(parameters));
    }
    return sum;
  }
  double value(const Eigen::VectorXd& parameters, size_t i) const {
    return parameters(static_cast<Eigen::Index>(i)) * unit_[i];
  }
  double power(const Eigen::VectorXd& parameters) const { return has_memory_ ? parameters(parameters.size() - 1) : 1; }
  double cache_power(const Eigen::VectorXd& parameters) const {
    return has_memory_ ? parameters(parameters.size() - 2) : 1;
  }
  size_t additive() const { return additive_; }
  size_t compute() const { return compute_; }
  bool has_memory() const { return has_memory_; }
  std::vector<bool> seen_compute() const {
    std::vector<bool> seen(compute_);
    for (size_t i = 0; i < compute_; ++i) seen[i] = unit_[additive_ + 1 + i] > 0;
    return seen;
  }

 private:
  double term(const WorkTerms& terms, size_t i) const {
    if (i < additive_) return terms.additive[i];
    if (i == additive_) return terms.memory_s;
    return terms.compute[i - additive_ - 1];
  }
  double usual_unit(size_t i) const {
    std::vector<double> ratios;
    for (const TimedWork& sample : samples_) {
      double sum = 0;
      for (const auto& [count, terms] : sample.launches) sum += count * term(terms, i);
      if (sum > 0) ratios.push_back(sample.seconds / sum);
    }
    if (ratios.empty()) return 0;  // nothing says what it costs: see fill_unseen()
    // A lower quarter: a term that is nearly all of some samples must not be more than all of others.
    return quantile(std::move(ratios), 0.25) / 2;
  }

  const std::vector<TimedWork>& samples_;
  const HostRates& facts_;
  size_t additive_ = 0, compute_ = 0;
  bool has_memory_ = false;
  std::vector<double> unit_;
};

// A tile of so many rows that no sample had costs what lies between its neighbours.
void fill_unseen(std::vector<double>& costs, const std::vector<bool>& seen) {
  for (size_t i = 0; i < costs.size(); ++i) {
    if (seen[i]) continue;
    double sum = 0;
    int neighbours = 0;
    for (size_t below = i; below-- > 0;) {
      if (!seen[below]) continue;
      sum += costs[below];
      ++neighbours;
      break;
    }
    for (size_t above = i + 1; above < costs.size(); ++above) {
      if (!seen[above]) continue;
      sum += costs[above];
      ++neighbours;
      break;
    }
    if (neighbours > 0) costs[i] = sum / neighbours;
  }
}

// Of relative errors, in logarithms: what nine in ten don't pass, of one more as well.
double width_of(std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  const auto rank = static_cast<size_t>(std::ceil(kCoverage * static_cast<double>(errors.size() + 1)));
  return errors[std::min(rank, errors.size()) - 1];
}

}  // namespace

HostModel::Key HostModel::key_of(LlmPhase phase, const OperatorWork& work) {
  const bool product = work.form == WorkForm::kFewRows || work.form == WorkForm::kManyRows;
  // A prompt's head has few rows, as a token's products do.
  if (work.form == WorkForm::kFewRows) phase = LlmPhase::kDecode;
  // And tokens of many sequences are products of many rows.
  if (work.form == WorkForm::kManyRows) phase = LlmPhase::kPrefill;
  return {phase, work.form, product ? OperatorName::kQkvProjection : work.name};
}

Status HostModel::fit_forms(const std::vector<const StepSample*>& samples) {
  std::map<Key, std::vector<TimedWork>> by_key;
  for (const StepSample* sample : samples) {
    const auto step = step_work(sample->config, precision_, sample->point);
    if (!step) return step.error();
    std::map<OperatorName, std::vector<const OperatorWork*>> by_name;
    for (const OperatorWork& work : step->operators) by_name[work.name].push_back(&work);
    for (const auto& [name, works] : by_name) {
      const auto seconds = sample->times.operators.find(name);
      if (seconds == sample->times.operators.end() || !(seconds->second > 0)) continue;
      TimedWork timed;
      timed.seconds = seconds->second;
      bool alike = true;
      for (const OperatorWork* work : works) {
        alike = alike && work->form == works.front()->form;
        timed.launches.emplace_back(work->count, terms_of(*work, step->footprint_bytes, facts_));
      }
      if (alike) by_key[key_of(sample->point.phase, *works.front())].push_back(std::move(timed));
    }
  }
  fitted_.clear();
  for (const auto& entry : by_key) {
    const std::vector<TimedWork>& timed = entry.second;
    const FormFit form(timed, facts_);
    const auto count = static_cast<Eigen::Index>(form.parameters());
    Eigen::VectorXd start = Eigen::VectorXd::Ones(count), lower = Eigen::VectorXd::Zero(count);
    Eigen::VectorXd upper = Eigen::VectorXd::Constant(count, std::numeric_limits<double>::infinity());
    if (form.has_memory()) {
      start(count - 1) = 3;
      lower(count - 1) = 1;
      upper(count - 1) = kMostPower;
      lower(count - 2) = kLeastCachePower;
      upper(count - 2) = kMostCachePower;
    }
    BoundedFitOptions options;
    options.soft_scale = kSoftScale;
    const auto residuals = [&](const Eigen::VectorXd& parameters, Eigen::Ref<Eigen::VectorXd> into) {
      for (size_t i = 0; i < timed.size(); ++i) {
        into(static_cast<Eigen::Index>(i)) = std::log(form.seconds(timed[i], parameters) / timed[i].seconds);
      }
    };
    const auto fit = fit_bounded(residuals, static_cast<Eigen::Index>(timed.size()), start, lower, upper, options);
    if (!fit) return fit.error();
    Fitted fitted;
    fitted.power = form.power(fit->parameters);
    fitted.cache_power = form.cache_power(fit->parameters);
    for (size_t i = 0; i < form.additive(); ++i) fitted.additive.push_back(form.value(fit->parameters, i));
    if (form.has_memory()) fitted.memory = form.value(fit->parameters, form.additive());
    for (size_t i = 0; i < form.compute(); ++i) {
      fitted.compute.push_back(form.value(fit->parameters, form.additive() + 1 + i));
    }
    if (form.has_memory()) fill_unseen(fitted.compute, form.seen_compute());
    fitted_[entry.first] = std::move(fitted);
  }
  return {};
}

double HostModel::seconds_of(const StepWork& step, LlmPhase phase, const OperatorWork& work) const {
  const auto found = fitted_.find(key_of(phase, work));
  if (found == fitted_.end()) return kUnknown;
  const Fitted& fitted = found->second;
  const WorkTerms terms = terms_of(work, step.footprint_bytes, facts_);
  double flat = 0, compute_s = 0;
  for (size_t i = 0; i < fitted.additive.size(); ++i) flat += fitted.additive[i] * terms.additive[i];
  for (size_t i = 0; i < fitted.compute.size(); ++i) compute_s += fitted.compute[i] * terms.compute[i];
  const double memory_s = fitted.memory * reading_s(terms, facts_, fitted.cache_power);
  return work.count * combine({flat}, memory_s, compute_s, fitted.power);
}

Result<StepForecast> HostModel::point_forecast(const LlmConfig& config, const StepPoint& point) const {
  const auto step = step_work(config, precision_, point);
  if (!step) return step.error();
  StepForecast forecast;
  const double bandwidth = facts_.memory_bytes_per_s();
  const bool bytes = precision_ == Precision::kInt8 && !std::isnan(facts_.int8_ops_per_s);
  double all_bytes = 0, compute_s = 0;
  for (const OperatorWork& work : step->operators) {
    const double seconds = seconds_of(*step, point.phase, work);
    if (std::isnan(seconds)) {
      return Error{"too-few-runs", "no run has an operator like '" + operator_title(work.name) + "'", config.name,
                   "runs with as few or as many rows"};
    }
    auto* found = std::find_if(forecast.operators.data(), forecast.operators.data() + forecast.operators.size(),
                               [&](const OperatorForecast& each) { return each.name == work.name; });
    if (found == forecast.operators.data() + forecast.operators.size()) {
      forecast.operators.push_back({work.name});
      found = &forecast.operators.back();
    }
    const bool product = work.form == WorkForm::kFewRows || work.form == WorkForm::kManyRows;
    const double peak = bytes && product ? facts_.int8_ops_per_s : facts_.fp32_flops_per_s;
    const double flops_s = work.count * work.flops / peak, bytes_s = work.count * work.bytes / bandwidth;
    found->seconds += seconds;
    found->roofline_s += std::max(flops_s, bytes_s);
    forecast.seconds += seconds;
    all_bytes += bytes_s;
    compute_s += flops_s;
  }
  forecast.roofline_s = std::max(all_bytes, compute_s);
  return forecast;
}

double HostModel::rows_of(const StepPoint& point) {
  if (point.phase == LlmPhase::kDecode) return static_cast<double>(point.batch);
  return std::min(static_cast<double>(point.batch) * static_cast<double>(point.tokens), static_cast<double>(kPassRows));
}

void HostModel::learn_ranges(const StepSample& sample, const StepWork& step) {
  const double rows = rows_of(sample.point);
  const auto [found, is_new] = learned_.try_emplace(sample.point.phase);
  Learned& learned = found->second;
  learned.least_weights = is_new ? step.weights : std::min(learned.least_weights, step.weights);
  learned.most_weights = std::max(learned.most_weights, step.weights);
  learned.least_rows = is_new ? rows : std::min(learned.least_rows, rows);
  learned.most_rows = std::max(learned.most_rows, rows);
  learned.most_tokens = std::max(learned.most_tokens, static_cast<double>(sample.point.tokens));
}

std::vector<std::string> HostModel::beyond(const StepWork& step, const StepPoint& point) const {
  std::vector<std::string> beyond;
  const Learned& learned = learned_.at(point.phase);
  const auto hold = [&](double value, double least, double most, const std::string& what) {
    if (value >= least / kNoFurther && value <= most * kNoFurther) return;
    beyond.push_back(what + ": " + human_number(value) + " (" + (least > 0 ? human_number(least) + " to " : "up to ") +
                     human_number(most) + ")");
  };
  const bool decode = point.phase == LlmPhase::kDecode;
  hold(step.weights, learned.least_weights, learned.most_weights, "weights a step");
  hold(rows_of(point), learned.least_rows, learned.most_rows, decode ? "sequences" : "tokens of prompts in a pass");
  hold(static_cast<double>(point.tokens), 0, learned.most_tokens, decode ? "tokens of context" : "tokens of a prompt");
  return beyond;
}

Result<StepForecast> HostModel::forecast(const LlmConfig& config, const StepPoint& point) const {
  const auto stated = step_width_.find(point.phase);
  if (stated == step_width_.end()) {
    return Error{"too-few-runs", "no step of this phase was timed", config.name, "runs of both phases"};
  }
  auto forecast = point_forecast(config, point);
  if (!forecast) return forecast;
  const auto step = step_work(config, precision_, point);
  if (!step) return step.error();
  forecast->beyond = beyond(*step, point);
  if (!forecast->beyond.empty()) {
    forecast->lower_s = forecast->upper_s = kUnknown;
    for (OperatorForecast& each : forecast->operators) each.lower_s = each.upper_s = kUnknown;
    return forecast;
  }
  const double width = stated->second;
  forecast->lower_s = forecast->seconds * std::exp(-width);
  forecast->upper_s = forecast->seconds * std::exp(width);
  for (OperatorForecast& each : forecast->operators) {
    const auto found = operator_width_.find({point.phase, each.name});
    const double own = found == operator_width_.end() ? width : found->second;
    each.lower_s = each.seconds * std::exp(-own);
    each.upper_s = each.seconds * std::exp(own);
  }
  return forecast;
}

Result<HostModel> HostModel::fit(const HostRates& facts, Precision precision, const std::vector<StepSample>& samples) {
  HostModel model;
  model.facts_ = facts;
  model.precision_ = precision;
  std::set<std::string> names;
  for (const StepSample& sample : samples) names.insert(sample.model);
  if (names.size() < 3) {
    return Error{"too-few-runs", std::to_string(names.size()) + " transformers were timed", "", "three and more"};
  }
  std::map<LlmPhase, std::vector<double>> step_errors;
  std::map<std::pair<LlmPhase, OperatorName>, std::vector<double>> operator_errors;
  for (const std::string& name : names) {
    std::vector<const StepSample*> others;
    for (const StepSample& sample : samples) {
      if (sample.model != name) others.push_back(&sample);
    }
    if (auto status = model.fit_forms(others); !status) return status.error();
    for (const StepSample& sample : samples) {
      if (sample.model != name) continue;
      const auto forecast = model.point_forecast(sample.config, sample.point);
      if (!forecast) return forecast.error();
      const LlmPhase phase = sample.point.phase;
      model.left_out_.push_back({name, sample.point, forecast->seconds, sample.times.seconds});
      step_errors[phase].push_back(std::log(sample.times.seconds / forecast->seconds));
      for (const OperatorForecast& each : forecast->operators) {
        const auto measured = sample.times.operators.find(each.name);
        if (measured == sample.times.operators.end() || !(measured->second > 0) || !(each.seconds > 0)) continue;
        operator_errors[{phase, each.name}].push_back(std::log(measured->second / each.seconds));
      }
    }
  }
  for (auto& [phase, errors] : step_errors) model.step_width_[phase] = width_of(std::move(errors));
  for (auto& [key, errors] : operator_errors) model.operator_width_[key] = width_of(std::move(errors));
  std::vector<const StepSample*> all;
  all.reserve(samples.size());
  for (const StepSample& sample : samples) {
    const auto step = step_work(sample.config, precision, sample.point);
    if (!step) return step.error();
    model.learn_ranges(sample, *step);
    all.push_back(&sample);
  }
  if (auto status = model.fit_forms(all); !status) return status.error();
  return model;
}

double HostModel::left_out_error(LlmPhase phase) const {
  std::vector<double> errors;
  for (const LeftOutStep& step : left_out_) {
    if (step.point.phase == phase) errors.push_back(std::abs(step.forecast_s / step.measured_s - 1));
  }
  return mean(errors);
}

}  // namespace perfcast::ai
