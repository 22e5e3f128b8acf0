#include "studies/engines/engine_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/statistics.h"
#include "studies/engines/engine_baselines.h"

namespace perfcast::ai::engines_study {
namespace {

constexpr int64_t kFewestDevices = 3;
constexpr const char* kParts[] = {"all", "one GPU", "several GPUs"};

bool is_in(const EngineRow& row, std::string_view part) {
  return part == kParts[0] || row.is_several() == (part == kParts[2]);
}

// Half widths of the logs of one row's interval; NaN: none.
using Widths = std::vector<double>;

EngineScore score(const std::vector<EngineRow>& rows, const std::vector<double>& forecasts, EngineTarget target,
                  const Widths& widths, const std::vector<bool>& counts) {
  EngineScore result;
  result.target = target;
  double weight = 0, error = 0, signed_error = 0, covered = 0, with_interval = 0;
  std::vector<std::pair<double, double>> sizes;  // error, weight
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!counts[i] || !(forecasts[i] > 0)) continue;
    const double ratio = forecasts[i] / measured_s(rows[i], target) - 1, own = rows[i].weight;
    ++result.n;
    weight += own;
    error += own * std::abs(ratio);
    signed_error += own * ratio;
    sizes.emplace_back(std::abs(ratio), own);
    if (widths.empty() || std::isnan(widths[i])) continue;
    with_interval += own;
    if (std::abs(std::log1p(ratio)) <= widths[i]) covered += own;
  }
  if (result.n == 0) return result;
  result.mean_error = error / weight;
  result.bias = signed_error / weight;
  if (with_interval > 0) result.coverage = covered / with_interval;
  std::sort(sizes.begin(), sizes.end());
  double below = 0;
  for (const auto& [size, own] : sizes) {
    below += own;
    result.median_error = size;
    if (below >= weight / 2) break;
  }
  return result;
}

class Evaluator {
 public:
  Evaluator(const std::vector<EngineRow>& rows, const EngineProfile& start, const DeviceProvider& today)
      : rows_(rows), start_(start), today_(today) {}

  Result<EngineEvaluation> run();

 private:
  using Forecasts = std::vector<EngineRowForecast>;
  struct Split {
    std::string name;
    std::vector<std::string> groups;  // of each row
    Forecasts ours, unnamed;          // each row's by the fit without its group; unnamed: its host's level not known
    std::map<EngineTarget, std::vector<double>> four;  // likewise the four constants'
  };

  std::vector<std::string> groups_of(const std::string& split) const;
  Result<Split> left_out(const std::string& name) const;
  // Of the groups that a split leaves out; rows with `without` are kept out.
  LeftOutSpread spread(const Split& split, EngineTarget target, std::optional<bool> several, bool unnamed,
                       const std::vector<bool>& without) const;
  // What a model that nobody measured adds.
  double new_model_log_sd(EngineTarget target, const std::vector<bool>& without) const;
  // Of intervals of the rows of one group, as they would be without it.
  Widths widths(EngineTarget target, const Split& split) const;
  void add_scores(const std::string& split, const char* predictor, EngineTarget target,
                  const std::vector<double>& forecasts, const Widths& widths);
  void add_groups(const Split& split);
  void add_baselines();
  void set_spread();
  void add_unnamed_hosts();

  const std::vector<EngineRow>& rows_;
  const EngineProfile& start_;
  const DeviceProvider& today_;
  EngineEvaluation result_;
  std::vector<Split> splits_;  // devices, generations, models
};

std::vector<double> seconds_of(const std::vector<EngineRowForecast>& forecasts, EngineTarget target) {
  std::vector<double> seconds;
  for (const EngineRowForecast& forecast : forecasts) seconds.push_back(forecast_s(forecast, target));
  return seconds;
}

std::vector<std::string> Evaluator::groups_of(const std::string& split) const {
  std::vector<std::string> groups;
  for (const EngineRow& row : rows_) {
    groups.push_back(split == kDeviceOut       ? row.device_name
                     : split == kGenerationOut ? generation_of(row.device)
                                               : row.model_name);
  }
  return groups;
}

Result<Evaluator::Split> Evaluator::left_out(const std::string& name) const {
  Split split = {name, groups_of(name), Forecasts(rows_.size()), Forecasts(rows_.size()), {}};
  for (const EngineTarget target : kEngineTargets) split.four[target].assign(rows_.size(), kUnknown);
  for (const std::string& group : std::set<std::string>(split.groups.begin(), split.groups.end())) {
    std::vector<bool> use(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) use[i] = split.groups[i] != group;
    const auto profile = fit_engine(start_, rows_, use);
    if (!profile) return profile.error();
    for (const EngineTarget target : kEngineTargets) {
      const auto four = four_constants(rows_, use, target);
      if (!four) return four.error();
      for (size_t i = 0; i < rows_.size(); ++i) {
        if (!use[i]) split.four[target][i] = (*four)[i];
      }
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (use[i]) continue;
      split.ours[i] = forecast_row(*profile, rows_[i]);
      EngineRow unnamed = rows_[i];
      unnamed.host = EngineHost();
      split.unnamed[i] = forecast_row(*profile, unnamed);
    }
  }
  return split;
}

LeftOutSpread Evaluator::spread(const Split& split, EngineTarget target, std::optional<bool> several, bool unnamed,
                                const std::vector<bool>& without) const {
  std::vector<LeftOutResidual> residuals;
  const Forecasts& forecasts = unnamed ? split.unnamed : split.ours;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if ((several && rows_[i].is_several() != *several) || (!without.empty() && without[i])) continue;
    residuals.push_back(
        {split.groups[i], std::log(measured_s(rows_[i], target) / forecast_s(forecasts[i], target)), rows_[i].weight});
  }
  return left_out_spread(residuals);
}

double Evaluator::new_model_log_sd(EngineTarget target, const std::vector<bool>& without) const {
  const double models = spread(splits_.back(), target, std::nullopt, false, without).log_sd;
  const double devices = spread(splits_.front(), target, std::nullopt, false, without).log_sd;
  return std::sqrt(std::max(0.0, models * models - devices * devices));
}

Widths Evaluator::widths(EngineTarget target, const Split& split) const {
  // The interval of a further token is that of the client's time per token.
  const EngineTarget of = target == EngineTarget::kFirstToken ? target : EngineTarget::kClientToken;
  Widths widths(rows_.size(), kUnknown);
  for (const std::string& group : std::set<std::string>(split.groups.begin(), split.groups.end())) {
    std::vector<bool> without(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) without[i] = split.groups[i] == group;
    const double added = split.name == kModelOut ? kNormal95 * new_model_log_sd(of, without) : 0;
    const int64_t devices = spread(splits_.front(), of, std::nullopt, false, without).groups;
    if (devices < 2) continue;
    for (const bool several : {false, true}) {
      const double width = std::hypot(added, spread(splits_.front(), of, several, false, without).log_sd *
                                                 student_quantile(0.95, static_cast<double>(devices - 1)));
      for (size_t i = 0; i < rows_.size(); ++i) {
        if (without[i] && rows_[i].is_several() == several) widths[i] = width;
      }
    }
  }
  return widths;
}

void Evaluator::add_scores(const std::string& split, const char* predictor, EngineTarget target,
                           const std::vector<double>& forecasts, const Widths& widths) {
  for (const char* part : kParts) {
    std::vector<bool> counts(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) counts[i] = is_in(rows_[i], part);
    EngineScore found = score(rows_, forecasts, target, widths, counts);
    if (found.n == 0) continue;
    found.split = split;
    found.predictor = predictor;
    found.part = part;
    result_.scores.push_back(std::move(found));
  }
}

void Evaluator::add_groups(const Split& split) {
  for (const std::string& group : std::set<std::string>(split.groups.begin(), split.groups.end())) {
    std::vector<bool> counts(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) counts[i] = split.groups[i] == group;
    for (const EngineTarget target : kEngineTargets) {
      EngineScore found = score(rows_, seconds_of(split.ours, target), target, widths(target, split), counts);
      found.split = split.name;
      found.predictor = kOurs;
      found.part = group;
      result_.groups.push_back(std::move(found));
    }
  }
}

void Evaluator::add_baselines() {
  std::vector<BaselineForecast> kernels;
  for (const EngineRow& row : rows_) kernels.push_back(kernels_alone(row, today_));
  for (const EngineTarget target : kEngineTargets) {
    std::vector<double> seconds;
    Widths widths;
    for (const BaselineForecast& one : kernels) {
      seconds.push_back(forecast_s(one.times, target));
      widths.push_back(kNormal95 * (target == EngineTarget::kFirstToken ? one.first_log_sd : one.token_log_sd));
    }
    add_scores(kDeviceOut, kKernels, target, seconds, widths);
    add_scores(kSameSetting, kFloor, target, other_servers(rows_, target), {});
  }
}

void Evaluator::set_spread() {
  const auto three_digits = [](double value) { return std::round(value * 1e3) / 1e3; };
  const Split& devices = splits_.front();
  const auto sd = [&](EngineTarget target, bool several) {
    return three_digits(spread(devices, target, several, false, {}).log_sd);
  };
  EngineSpread& known = result_.profile.spread;
  known.token_one_log_sd = sd(EngineTarget::kClientToken, false);
  known.token_several_log_sd = sd(EngineTarget::kClientToken, true);
  known.first_one_log_sd = sd(EngineTarget::kFirstToken, false);
  known.first_several_log_sd = sd(EngineTarget::kFirstToken, true);
  known.devices = spread(devices, EngineTarget::kClientToken, std::nullopt, false, {}).groups;
  known.new_model_token_log_sd = three_digits(new_model_log_sd(EngineTarget::kClientToken, {}));
  known.new_model_first_log_sd = three_digits(new_model_log_sd(EngineTarget::kFirstToken, {}));
  // What a level that isn't known adds.
  const auto further = [&](EngineTarget target) {
    const double with = spread(devices, target, std::nullopt, true, {}).log_sd;
    const double without = spread(devices, target, std::nullopt, false, {}).log_sd;
    return three_digits(std::sqrt(std::max(0.0, with * with - without * without)));
  };
  known.unknown_host_token_log_sd = further(EngineTarget::kClientToken);
  known.unknown_host_first_log_sd = further(EngineTarget::kFirstToken);
  const std::vector<std::string>& models = splits_.back().groups;
  const std::set<std::string> unique(models.begin(), models.end());
  result_.profile.models.assign(unique.begin(), unique.end());
}

void Evaluator::add_unnamed_hosts() {
  const EngineSpread& known = result_.profile.spread;
  for (const EngineTarget target : kEngineTargets) {
    const bool first = target == EngineTarget::kFirstToken;
    const double added = kNormal95 * (first ? known.unknown_host_first_log_sd : known.unknown_host_token_log_sd);
    Widths wider = widths(target, splits_.front());
    for (double& width : wider) width = std::hypot(width, added);
    add_scores(kUnnamedHost, kOurs, target, seconds_of(splits_.front().unnamed, target), wider);
  }
}

Result<EngineEvaluation> Evaluator::run() {
  const std::vector<std::string> devices = groups_of(kDeviceOut);
  const auto different = static_cast<int64_t>(std::set<std::string>(devices.begin(), devices.end()).size());
  if (different < kFewestDevices) {
    return Error{"too-few-rows", fmt::format("{} devices", different), "", fmt::format("{} or more", kFewestDevices)};
  }
  auto profile = fit_engine(start_, rows_);
  if (!profile) return profile.error();
  result_.profile = std::move(*profile);
  for (const char* name : {kDeviceOut, kGenerationOut, kModelOut}) {
    auto split = left_out(name);
    if (!split) return split.error();
    splits_.push_back(std::move(*split));
  }
  set_spread();
  for (const Split& split : splits_) {
    for (const EngineTarget target : kEngineTargets) {
      add_scores(split.name, kOurs, target, seconds_of(split.ours, target), widths(target, split));
      add_scores(split.name, kFourConstants, target, split.four.at(target), {});
    }
    add_groups(split);
  }
  add_unnamed_hosts();
  add_baselines();
  return std::move(result_);
}

}  // namespace

const char* to_string(EngineTarget target) {
  return target == EngineTarget::kClientToken    ? "time per token"
         : target == EngineTarget::kFurtherToken ? "further token"
                                                 : "first token";
}

double measured_s(const EngineRow& row, EngineTarget target) {
  return target == EngineTarget::kClientToken    ? row.client_token_s
         : target == EngineTarget::kFurtherToken ? row.further_s
                                                 : row.first_s;
}

double forecast_s(const EngineRowForecast& forecast, EngineTarget target) {
  return target == EngineTarget::kClientToken    ? forecast.client_token_s
         : target == EngineTarget::kFurtherToken ? forecast.further_s
                                                 : forecast.first_s;
}

std::string generation_of(const DeviceFacts& device) {
  return std::isnan(device.process_nm) ? device.generation
                                       : fmt::format("{}, {:g} nm", device.generation, device.process_nm);
}

Result<EngineEvaluation> evaluate_engine(const std::vector<EngineRow>& rows, const EngineProfile& start,
                                         const DeviceProvider& today) {
  return Evaluator(rows, start, today).run();
}

}  // namespace perfcast::ai::engines_study
