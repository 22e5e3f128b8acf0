#include "place/workload/place_llm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ai/llm_forecast/cpu_work.h"
#include "base/text.h"
#include "machine/meter/accelerator_power.h"
#include "place/workload/host_link.h"
#include "place/workload/place_bound.h"

namespace perfcast::place {
namespace {

constexpr double kTokenBytes = 4;  // an index of the vocabulary
// Standard deviation of log time, assumed, of what a CPU's model says of weights in a format that it wasn't fitted to:
// other kernels, which unpack nothing or compute in fp32.
constexpr double kOtherFormatLogError = 0.42;
constexpr double kGibBytes = 1024.0 * 1024 * 1024;

double count_of(int64_t value) { return static_cast<double>(value); }

PlaceBound cpu_bound(const ai::TokenForecast& forecast) {
  if (forecast.memory_share >= std::max(forecast.compute_share, forecast.barrier_share)) return PlaceBound::kMemory;
  return forecast.compute_share >= forecast.barrier_share ? PlaceBound::kCompute : PlaceBound::kThreads;
}

std::string engine_details(const ai::EngineTerms& engine) {
  const std::string host = engine.host.cpu.empty() ? "host not known (--host)" : "host " + engine.host.cpu;
  return fmt::format("accelerators under {} {}, {}", engine.profile->name, engine.profile->version, host);
}

}  // namespace

bool is_fitted_on_cpus(ai::Precision weights) {
  static const std::set<ai::Precision> fitted = {ai::Precision::kInt4,   ai::Precision::kQ4_0,   ai::Precision::kQ4_K_S,
                                                 ai::Precision::kQ4_K_M, ai::Precision::kQ5_K_S, ai::Precision::kQ5_K_M,
                                                 ai::Precision::kQ5_0};
  return fitted.contains(weights);
}

Result<LlmPlacer> LlmPlacer::create(LlmPlaceRequest request, const std::vector<PlaceDevice>& devices,
                                    const std::vector<PlaceCpu>& cpus, const ai::TokenBundle& tokens) {
  if (Status status = ai::check_config(request.config); !status) return status.error();
  LlmPlacer placer(std::move(request), devices, cpus, tokens);
  const LlmPlaceRequest& own = placer.request_;
  placer.shared_.reserve(devices.size());
  for (const PlaceDevice& device : devices) {
    ai::DeviceTerms terms;
    terms.step.link_bytes_per_s = own.link_bytes_per_s;
    terms.step.launch = own.graph_launch ? ai::LaunchMode::kGraph : ai::LaunchMode::kStream;
    terms.engine = own.engine;
    auto forecaster = ai::LlmForecaster::create(own.config, device, terms);
    if (!forecaster) return forecaster.error();
    placer.shared_.push_back({*std::move(forecaster), std::max<int64_t>(1, own.request.tensor_parallel)});
  }
  if (!own.config.has_cache()) return placer;
  auto work = ai::cpu_work_of(own.config, own.cpu_weights, own.cpu_bits_per_value);
  if (!work) return work.error();
  placer.work_ = std::move(*work);
  return placer;
}

LlmPlacer::Seconds LlmPlacer::seconds_of(const ai::LlmForecast& forecast, const DeviceFacts& device) const {
  Seconds seconds;
  seconds.whole = forecast.request_s;
  if (device.kind == DeviceKind::kCpu) return seconds;
  const HostLink link = host_link_of(device, request_.host_link_bytes_per_s);
  seconds.assumed = link.assumed;
  const ai::LlmRequest& asked = forecast.request;
  const double tokens =
      count_of(asked.batch) * count_of(asked.sequence + (forecast.generates ? asked.output_tokens : 0));
  seconds.transfer = link.seconds(kTokenBytes * tokens, 2);
  seconds.load = link.seconds(forecast.memory.weights, 1);  // to each device over its own link
  seconds.whole += seconds.transfer;
  if (request_.count_load) seconds.whole += seconds.load;
  return seconds;
}

std::optional<double> LlmPlacer::modelled_power_w(const ai::LlmForecast& forecast, const DeviceFacts& device,
                                                  double whole_s) {
  if (!forecast.power_is_modelled) return std::nullopt;
  const double waiting_w = device.power_w * accelerator_power_ratio({});  // while bytes come over the link
  return (forecast.power_w * forecast.request_s + waiting_w * (whole_s - forecast.request_s)) / whole_s;
}

PlacementRow LlmPlacer::row_of(size_t index, std::optional<Error>& refusal) {
  const PlaceDevice& device = devices_[index];
  const DeviceFacts& facts = device->device();
  Shared& shared = shared_[index];
  PlacementRow row;
  row.device = facts.name;
  row.kind = kind_of(facts);
  row.aliases = facts.aliases;
  const std::string& stored = request_.config.stored_weight_name;
  row.precision = !request_.request.weight_bits_per_value ? std::string(ai::info(request_.request.weights).name)
                  : stored.empty() ? fmt::format("{:.3g} bits", *request_.request.weight_bits_per_value)
                                   : stored;
  ai::LlmRequest asked = request_.request;
  asked.tensor_parallel = shared.devices;
  ai::LlmForecast forecast;
  const auto refuse = [&](const Error& error) {
    row.note = error.message;
    if (!refusal || error.kind == ErrorKind::kUsage) refusal = error;
    return row;
  };
  if (Status status = shared.forecaster.forecast(asked, forecast); !status) return refuse(status.error());
  if (forecast.memory.known() && !forecast.memory.fits()) {
    const auto holding = shared.forecaster.smallest_tensor_parallel(asked);
    if (holding) row.fits_on = *holding;
    if (request_.request.tensor_parallel == 0 && holding && *holding <= kMostShared) {
      ai::LlmForecast together;
      asked.tensor_parallel = *holding;
      if (Status status = shared.forecaster.forecast(asked, together); status) {
        forecast = together;
        shared.devices = *holding;
        row.fits_on = std::nullopt;
      } else {
        row.note = status.error().message;
      }
    }
  }
  row.count = count_of(shared.devices);
  if (request_.engine.profile) {
    row.engine = ai::engine_words(request_.engine, forecast.basis);
    const bool lacks = forecast.basis == ai::TimeBasis::kKernels && forecast.generates;
    if (lacks && row.note.empty()) row.note = ai::why_no_engine(request_.config, facts) + "; one would take longer";
  }
  row.basis = forecast.calibrated ? PlaceBasis::kFitted : PlaceBasis::kDatasheet;
  row.needed_bytes = forecast.memory.model();
  row.memory_bytes = if_known(forecast.memory.available);
  if (forecast.memory.known()) row.fits = forecast.memory.fits();
  row.prefill_s = forecast.prefill_s;
  row.token_s = if_known(forecast.token_s);
  row.tokens_per_s = forecast.tokens_per_s;
  const Seconds seconds = seconds_of(forecast, facts);
  row.time_s = seconds.whole;
  row.transfer_s = seconds.transfer;
  double least_s = forecast.prefill.roofline_s;
  if (forecast.generates) least_s += static_cast<double>(asked.output_tokens - 1) * forecast.token.roofline_s;
  if (least_s > 0) row.least_s = least_s;
  if (facts.kind != DeviceKind::kCpu) row.load_s = seconds.load;
  row.host_link_assumed = seconds.assumed;
  const double generation_s = forecast.request_s - forecast.prefill_s;
  const double moved_s = seconds.whole - forecast.request_s;
  const double log_sd = (forecast.request_s * forecast.request_log_sd() + moved_s * kHostCopyLogError) / seconds.whole;
  row.lower_s = *row.time_s * std::exp(-ai::kInterval90 * log_sd);
  row.upper_s = *row.time_s * std::exp(ai::kInterval90 * log_sd);
  row.prefill_bound = place_bound_of(forecast.prefill.bound());
  if (forecast.generates) row.token_bound = place_bound_of(forecast.token.bound());
  row.bound = !row.fits.value_or(true)             ? PlaceBound::kCapacity
              : moved_s > forecast.request_s       ? PlaceBound::kTransfer
              : generation_s >= forecast.prefill_s ? row.token_bound
                                                   : row.prefill_bound;
  row.power_w = modelled_power_w(forecast, facts, seconds.whole);
  if (row.power_w) {
    row.energy_basis = EnergyBasis::kModelled;
  } else {
    row.power_w = if_known(facts.power_w);
  }
  row.price_time();
  return row;
}

PlacementRow LlmPlacer::row_of(const PlaceCpu& cpu) const {
  PlacementRow row;
  row.device = cpu.name();
  row.kind = PlaceKind::kCpu;
  row.vcpus = cpu.facts.vcpus;
  row.instance = cpu.instance;
  row.price_per_hour = if_known(cpu.price_per_hour);
  row.note = cpu.note;
  if (!work_) {
    row.note = "no times of encoders on CPUs are known";
    return row;
  }
  row.precision = request_.cpu_bits_per_value ? fmt::format("{:.3g} bits", *request_.cpu_bits_per_value)
                                              : std::string(ai::info(request_.cpu_weights).name);
  const ai::LlmRequest& asked = request_.request;
  const auto prefill = tokens_.forecast(cpu.facts, *work_, ai::TokenPhase::kPrefill, asked.sequence);
  // The bundle's generation starts without a prompt: as many tokens as give the same mean context.
  const auto generation =
      tokens_.forecast(cpu.facts, *work_, ai::TokenPhase::kGeneration, 2 * asked.sequence + asked.output_tokens);
  if (!prefill || !generation) {
    row.note = (prefill ? generation : prefill).error().message;
    return row;
  }
  row.basis = PlaceBasis::kFitted;
  if (request_.engine.profile) row.engine = "llama.cpp";
  cpu.set_power(cpu.facts.cores, row);
  const double batch = count_of(asked.batch);
  row.needed_bytes = work_->file_bytes + work_->kv_bytes_per_token * count_of(asked.sequence + asked.output_tokens);
  if (cpu.facts.memory_gib > 0) {
    row.memory_bytes = cpu.facts.memory_gib * kGibBytes;
    row.fits = *row.needed_bytes <= (1 - ai::kMemoryReserve) * *row.memory_bytes;
  }
  row.transfer_s = 0;
  row.prefill_s = batch * count_of(asked.sequence) / prefill->tokens_per_s;
  row.token_s = batch / generation->tokens_per_s;
  row.tokens_per_s = generation->tokens_per_s;
  const auto whole_s = [&](double prompt_rate, double token_rate) {
    return batch * (count_of(asked.sequence) / prompt_rate + count_of(asked.output_tokens - 1) / token_rate);
  };
  row.time_s = whole_s(prefill->tokens_per_s, generation->tokens_per_s);
  const double widening =
      is_fitted_on_cpus(request_.cpu_weights) ? 1 : std::exp(ai::kInterval90 * kOtherFormatLogError);
  row.lower_s = if_known(whole_s(prefill->high, generation->high) / widening);
  row.upper_s = if_known(whole_s(prefill->low, generation->low) * widening);
  row.prefill_bound = cpu_bound(*prefill);
  row.token_bound = cpu_bound(*generation);
  row.bound = !row.fits.value_or(true)           ? PlaceBound::kCapacity
              : *row.time_s > 2 * *row.prefill_s ? row.token_bound
                                                 : row.prefill_bound;
  row.price_time();
  return row;
}

Result<Placement> LlmPlacer::place() {
  Placement placement;
  placement.kind = PlacedWorkload::kLlm;
  placement.workload = request_.config.name;
  const ai::LlmRequest& asked = request_.request;
  placement.details =
      work_ ? fmt::format("batch {}, prompt {}, {} new tokens", asked.batch, asked.sequence, asked.output_tokens)
            : fmt::format("batch {}, {} tokens", asked.batch, asked.sequence);
  if (request_.engine.profile && work_) placement.details += "; " + engine_details(request_.engine);
  placement.rows.reserve(devices_.size() + cpus_.size());
  std::optional<Error> refusal;
  for (size_t i = 0; i < devices_.size(); ++i) placement.rows.push_back(row_of(i, refusal));
  for (const PlaceCpu& cpu : cpus_) placement.rows.push_back(row_of(cpu));
  const bool none = std::none_of(placement.rows.begin(), placement.rows.end(),
                                 [](const PlacementRow& row) { return row.time_s.has_value(); });
  // What is wrong with the request is so on every device.
  if (refusal && (none || refusal->kind == ErrorKind::kUsage)) return *refusal;
  if (!cpus_.empty() && work_) {
    if (asked.batch > 1) {
      placement.notes.emplace_back(
          "CPUs serve the batch one sequence after the other: nothing was measured of batches there");
    }
    if (!is_fitted_on_cpus(request_.cpu_weights)) {
      placement.notes.push_back(fmt::format(
          "CPUs: weights {} are carried over from 4 to 5 bits a weight, which the models were fitted to; intervals are "
          "wider",
          ai::info(request_.cpu_weights).name));
    }
  }
  if (!cpus_.empty() && work_ && !devices_.empty() && !request_.cpu_bits_per_value &&
      request_.cpu_weights != asked.weights) {
    placement.notes.push_back(fmt::format(
        "weights are {} on accelerators and {} on CPUs, as each is usually run; --weight-precision compares like with "
        "like",
        ai::weights_name(request_.config, asked.weights, asked.weight_bits_per_value),
        ai::info(request_.cpu_weights).name));
  }
  placement.notes.insert(placement.notes.end(), request_.config.notes.begin(), request_.config.notes.end());
  return placement;
}

std::optional<SizedTime> LlmPlacer::at_size(const std::string& device, int64_t batch) {
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->device().name != device) continue;
    ai::LlmRequest asked = request_.request;
    asked.batch = batch;
    asked.tensor_parallel = shared_[i].devices;
    ai::LlmForecast forecast;
    if (!shared_[i].forecaster.forecast(asked, forecast)) return std::nullopt;
    if (forecast.memory.known() && !forecast.memory.fits()) return std::nullopt;
    const DeviceFacts& facts = devices_[i]->device();
    const double whole_s = seconds_of(forecast, facts).whole;
    return SizedTime{whole_s, modelled_power_w(forecast, facts, whole_s)};
  }
  for (const PlaceCpu& cpu : cpus_) {
    if (cpu.name() != device) continue;
    const PlacementRow row = row_of(cpu);
    if (!row.time_s || !row.fits.value_or(true)) return std::nullopt;
    return SizedTime{*row.time_s / count_of(request_.request.batch) * count_of(batch), std::nullopt};
  }
  return std::nullopt;
}

}  // namespace perfcast::place
