#include "ai/engine/engine_fit.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "ai/latency/fit/bounded_least_squares.h"
#include "ai/llm/model_catalogue.h"
#include "base/csv.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kHuber = 0.1;   // log errors beyond it count linearly
constexpr double kScale = 0.05;  // of a log error that is as bad as one standard deviation of a prior
constexpr int64_t kFewestRows = 20;

// Log-normal: centre, and standard deviation of the log.
struct Prior {
  double EngineConstants::*member;
  double centre, log_sd;
};
using C = EngineConstants;
// Of further tokens: shares of a sheet's speed, some microseconds a kernel or an all-reduce, some milliseconds of host.
constexpr Prior kTokenPriors[] = {
    {&C::weight_bandwidth_share, 0.8, 0.3},
    {&C::step_cycles, 0.5e6, 0.5},
    {&C::kernel_cycles, 4e3, 0.4},
    {&C::cache_bandwidth_share, 0.7, 0.4},
    {&C::unsplit_key_ns, 37, 0.5},
    {&C::sampler_truncation_cycles, 0.3e6, 1},
    {&C::host_step_ms, 2, 0.5},
    {&C::host_penalty_ms, 0.5, 1},
    {&C::all_reduce_cycles, 14e3, 0.7},
    {&C::all_reduce_device_cycles, 2e3, 0.7},
    {&C::nccl_link_us, 12, 0.6},
    {&C::nccl_pcie_us, 25, 0.6},
    {&C::host_several_ms, 0.5, 1},
};
constexpr Prior kFirstPriors[] = {
    {&C::operand_feed_loss, 0.1, 0.4},   {&C::flops_per_j, 1e12, 0.3},         {&C::first_fixed_ms, 14, 0.4},
    {&C::prompt_token_us, 2, 1},         {&C::eager_step_ms, 5, 0.7},          {&C::eager_layer_ms, 0.2, 0.7},
    {&C::overlap_exponent, 1.3, 0.25},   {&C::link_bandwidth_share, 0.4, 0.6}, {&C::pcie_bandwidth_share, 0.4, 0.6},
    {&C::eager_several_ratio, 1.3, 0.3},
};

// Its square is twice Huber's loss, so that least squares of it are Huber's fit.
double huber_root(double error) {
  const double size = std::abs(error);
  if (size <= kHuber) return error;
  return std::copysign(std::sqrt(2 * kHuber * (size - kHuber / 2)), error);
}

// More isn't known; and what is written is what was scored.
double six_digits(double value) { return parse_number(fmt::format("{:.6g}", value)).value_or(value); }

template <typename Time>
Status fit_stage(EngineProfile& profile, const Prior* priors, Index count, const std::vector<const EngineRow*>& rows,
                 const std::vector<double>& weights, double EngineRow::*measured, const Time& time) {
  VectorXd start(count), lower(count), upper(count);
  for (Index i = 0; i < count; ++i) {
    start[i] = std::log(priors[i].centre);
    lower[i] = -std::numeric_limits<double>::infinity();
    upper[i] = std::numeric_limits<double>::infinity();
    if (priors[i].member == &C::overlap_exponent) lower[i] = 0;  // below, the parts would take longer than their sum
  }
  const auto set = [&](const VectorXd& logs, EngineProfile& into) {
    for (Index i = 0; i < count; ++i) into.constants.*priors[i].member = std::exp(logs[i]);
  };
  EngineProfile trial = profile;
  const Index size = static_cast<Index>(rows.size());
  const auto residuals = [&](const VectorXd& logs, Eigen::Ref<VectorXd> out) {
    set(logs, trial);
    for (Index i = 0; i < size; ++i) {
      const EngineRow& row = *rows[static_cast<size_t>(i)];
      out[i] =
          std::sqrt(weights[static_cast<size_t>(i)]) * huber_root(std::log(time(trial, row) / row.*measured)) / kScale;
    }
    for (Index i = 0; i < count; ++i) out[size + i] = (logs[i] - std::log(priors[i].centre)) / priors[i].log_sd;
  };
  BoundedFitOptions options;
  options.max_iterations = 60;
  options.tolerance = 1e-9;
  const auto fit = fit_bounded(residuals, size + count, start, lower, upper, options);
  if (!fit) return fit.error();
  set(fit->parameters, profile);
  for (Index i = 0; i < count; ++i) {
    double& constant = profile.constants.*priors[i].member;
    constant = six_digits(constant);
  }
  return {};
}

auto combination_of(const EngineRow& row) {
  return std::tuple(row.device_name, row.model_name, row.work.request.prompt_tokens, row.work.request.tensor_parallel);
}

// Weights of the used rows; a combination whose rows are used in part weighs 1 all the same.
std::vector<double> weights_of(const std::vector<const EngineRow*>& rows) {
  std::map<decltype(combination_of(*rows.front())), double> counts;
  for (const EngineRow* row : rows) counts[combination_of(*row)] += 1;
  std::vector<double> weights;
  weights.reserve(rows.size());
  for (const EngineRow* row : rows) weights.push_back(1 / counts[combination_of(*row)]);
  return weights;
}

// "NVIDIA A40-16Q", a slice of 16 GB: the card's name.
std::string card_of(const std::string& gpu) {
  const size_t dash = gpu.rfind('-');
  if (dash == std::string::npos || !gpu.ends_with("Q")) return gpu;
  const std::string size = gpu.substr(dash + 1, gpu.size() - dash - 2);
  const bool is_size = !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
  return is_size ? gpu.substr(0, dash) : gpu;
}

std::optional<Precision> precision_of(const std::string& name) {
  if (name == "bfloat16") return Precision::kBf16;
  if (name == "float16" || name == "half") return Precision::kFp16;
  return precision_named(name);
}

}  // namespace

EngineRows engine_rows(const std::vector<VllmPoint>& points, const DeviceCatalogue& devices, const HostLevels& hosts) {
  EngineRows result;
  std::set<std::string> notes;
  for (const VllmPoint& point : points) {
    const auto device = find_device(devices, card_of(point.gpu));
    const auto config = built_in_model(point.model);
    const auto precision = precision_of(point.precision);
    if (!device || !config || !precision) {
      const Error& error = !device ? device.error() : !config ? config.error() : Error{};
      notes.insert(!device || !config ? error.message : "precision '" + printable(point.precision) + "'");
      continue;
    }
    EngineRequest request;
    request.prompt_tokens = point.prompt_tokens;
    request.output_tokens = point.output_tokens;
    request.tensor_parallel = point.tensor_parallel;
    request.weights = request.activations = request.kv = *precision;
    request.sampler = sampler_defaults(*config);
    auto work = engine_work(*config, request);
    const Status checked = work ? check_engine_device(**device, request) : Status(work.error());
    if (!checked) {
      notes.insert(checked.error().message);
      continue;
    }
    EngineRow row;
    row.device_name = point.gpu;
    row.model_name = config->name;
    row.server = point.vendor + "/" + point.server;
    row.work = std::move(*work);
    row.device = **device;
    if (auto host = hosts.find(point.cpu)) {
      row.host = std::move(*host);
    } else {
      notes.insert("level of the host '" + printable(point.cpu) + "' isn't known");
    }
    row.further_s = point.further_s;
    row.first_s = point.first_s;
    row.client_token_s = point.client_token_s;
    result.rows.push_back(std::move(row));
  }
  weigh_rows(result.rows);
  std::set<decltype(combination_of(EngineRow()))> combinations;
  for (const EngineRow& row : result.rows) combinations.insert(combination_of(row));
  result.combinations = static_cast<int64_t>(combinations.size());
  result.notes.assign(notes.begin(), notes.end());
  return result;
}

void weigh_rows(std::vector<EngineRow>& rows) {
  if (rows.empty()) return;
  std::vector<const EngineRow*> all;
  all.reserve(rows.size());
  for (const EngineRow& row : rows) all.push_back(&row);
  const std::vector<double> weights = weights_of(all);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].weight = weights[i];
}

EngineProfile vllm_rules() {
  EngineProfile profile;
  profile.name = "vllm";
  profile.overlaps_host = true;
  // FlashAttention 2; version 3, on Hopper and later, splits every context.
  profile.unsplit_generations = {"pascal", "volta", "turing", "ampere", "ada"};
  profile.large_chunk_exceptions = {"a100"};
  for (const Prior& prior : kTokenPriors) profile.constants.*prior.member = prior.centre;
  for (const Prior& prior : kFirstPriors) profile.constants.*prior.member = prior.centre;
  // Single streams don't show these: chosen on points with several requests at once, nearly the same with any device
  // left out (studies/serving).
  profile.constants.host_sequence_us = 20;
  profile.constants.sampler_value_bytes = 90;
  profile.constants.sampler_sort_bytes = 120;
  profile.constants.front_token_us = 55;
  profile.constants.front_request_ms = 1.2;
  profile.constants.prompt_step_ms = 6.5;
  return profile;
}

Result<EngineProfile> fit_engine(const EngineProfile& start, const std::vector<EngineRow>& rows,
                                 const std::vector<bool>& use) {
  std::vector<const EngineRow*> used;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (use.empty() || use[i]) used.push_back(&rows[i]);
  }
  if (static_cast<int64_t>(used.size()) < kFewestRows) {
    return Error{"too-few-rows", std::to_string(used.size()) + " single streams", "", "20 or more"};
  }
  const std::vector<double> weights = weights_of(used);
  EngineProfile profile = start;
  const Status token = fit_stage(profile, kTokenPriors, std::size(kTokenPriors), used, weights, &EngineRow::further_s,
                                 [](const EngineProfile& p, const EngineRow& row) {
                                   return engine_token_time(p, row.work, row.device, row.host).seconds;
                                 });
  if (!token) return token.error();
  const Status first = fit_stage(profile, kFirstPriors, std::size(kFirstPriors), used, weights, &EngineRow::first_s,
                                 [](const EngineProfile& p, const EngineRow& row) {
                                   return engine_first_time(p, row.work, row.device, row.host).seconds;
                                 });
  if (!first) return first.error();
  profile.rows = static_cast<int64_t>(used.size());
  std::set<std::string> devices;
  for (const EngineRow* row : used) devices.insert(row->device.name);
  profile.devices.assign(devices.begin(), devices.end());
  return profile;
}

EngineRowForecast forecast_row(const EngineProfile& profile, const EngineRow& row) {
  EngineRowForecast forecast;
  forecast.further_s = engine_token_time(profile, row.work, row.device, row.host).seconds;
  forecast.first_s = engine_first_time(profile, row.work, row.device, row.host).seconds;
  forecast.client_token_s =
      client_token_s(forecast.first_s, forecast.further_s, static_cast<double>(row.work.request.output_tokens));
  return forecast;
}

LeftOutSpread left_out_spread(const std::vector<LeftOutResidual>& residuals) {
  std::map<std::string, std::pair<double, double>> groups;  // sums of weighted squares, of weights
  for (const LeftOutResidual& residual : residuals) {
    auto& [squares, weight] = groups[residual.group];
    squares += residual.weight * residual.log_ratio * residual.log_ratio;
    weight += residual.weight;
  }
  LeftOutSpread spread;
  double sum = 0;
  for (const auto& [group, sums] : groups) {
    if (!(sums.second > 0)) continue;
    sum += sums.first / sums.second;
    ++spread.groups;
  }
  if (spread.groups > 0) spread.log_sd = std::sqrt(sum / static_cast<double>(spread.groups));
  return spread;
}

}  // namespace perfcast::ai
