#include "ai/engine/engine_step.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "machine/gpu/kernel_limits.h"

namespace perfcast::ai {
namespace {

constexpr double kMilli = 1e-3, kMicro = 1e-6, kNano = 1e-9;
// A kernel's tile has 64 rows of queries though there be one: products with keys and with values, 2 FLOP each.
constexpr double kUnsplitTileFlops = 64 * 4;
constexpr double kUnsplitHeadDim = 256;     // that unsplit_key_ns is stated for
constexpr double kAttentionOverRate = 1.2;  // attention feeds its operands from registers: less limited than products
constexpr double kFeedUnitFlops = 1024, kPowerProcessNm = 4;
constexpr double kLeastLaunchLevel = 0.5;
constexpr int64_t kMostChunks = 64;  // that are timed one by one

// Blackwell in data centres does so much more for a joule than Hopper, by the rates of large products in 16 bits that
// were measured alone (AIConfigurator's database: 1,688 and 840 TFLOP/s in nine of ten, at 1,000 and 700 W).
constexpr double kBlackwellPerJoule = 1.4;
constexpr double kHalfPrecisionBytes = 2;

double real(int64_t value) { return static_cast<double>(value); }

bool is_data_centre_blackwell(const DeviceFacts& device) {
  return has_self_feeding_matrix_units(device) && device.generation.starts_with("blackwell");
}

bool has_4_bit_products(const DeviceFacts& device, const EngineRequest& request) {
  return request.products_in_4_bits && is_data_centre_blackwell(device);
}

// Dense peak of products with weights: the precision of activations, or the next wider one that the device has. Units
// for 4 bits, on Blackwell, do twice what those for 8 bits do.
double product_peak(const DeviceFacts& device, const EngineRequest& request) {
  switch (request.activations) {
    case Precision::kFp8:
      if (device.peak(MathMode::kFp8) > 0) {
        return (has_4_bit_products(device, request) ? 2 : 1) * device.peak(MathMode::kFp8);
      }
      break;
    case Precision::kInt8:
      if (device.peak(MathMode::kInt8) > 0) return device.peak(MathMode::kInt8);
      break;
    case Precision::kFp32:
      return device.peak(MathMode::kFp32);
    case Precision::kTf32:
      return device.peak(MathMode::kTf32) > 0 ? device.peak(MathMode::kTf32) : device.peak(MathMode::kFp32);
    default:
      break;
  }
  return device.peak(MathMode::kHalf) > 0 ? device.peak(MathMode::kHalf) : device.peak(MathMode::kFp32);
}

double half_peak(const DeviceFacts& device) {
  return device.peak(MathMode::kHalf) > 0 ? device.peak(MathMode::kHalf) : device.peak(MathMode::kFp32);
}

bool is_several(const EngineWork& work) { return work.request.tensor_parallel > 1; }
double kernels_of(const EngineProfile& profile, const EngineWork& work) {
  return work.layers * (profile.constants.layer_kernels + work.kernels_per_layer);
}

// Cycles of all kernels of a step's layers beside what they read and compute. A layer of experts takes 55,000 to
// 106,000 cycles on Hopper and 31,000 to 57,000 on Blackwell in data centres where a device holds next to nothing of
// it (AIConfigurator's database, 1 and 2 tokens, by format).
double layer_cycles(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device) {
  const EngineConstants& c = profile.constants;
  return c.kernel_cycles * kernels_of(profile, work) +
         work.expert_layers * (is_data_centre_blackwell(device) ? c.expert_layer_fused_cycles : c.expert_layer_cycles);
}

bool is_unsplit_generation(const EngineProfile& profile, const DeviceFacts& device) {
  const auto& generations = profile.unsplit_generations;
  return std::find(generations.begin(), generations.end(), device.generation) != generations.end();
}

// Tokens of each of `batch` sequences, which share the keys they read: attention of `layers` layers that each see
// `context` tokens.
double attention_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device, double batch,
                   double tokens_each, double layers, double context, bool unsplit) {
  if (layers <= 0) return 0;
  const EngineConstants& c = profile.constants;
  const double peak = half_peak(device);
  const double cache_s =
      work.cache_bytes_per_token * context * batch / (c.cache_bandwidth_share * device.memory_bytes_per_s);
  double seconds = std::max(
      cache_s, work.attention_flops_per_key * context * batch * tokens_each / (c.prefill_attention_share * peak));
  if (unsplit) {
    const double key_s = kUnsplitTileFlops * work.head_dim / (peak / device.units) +
                         c.unsplit_key_ns * kNano * work.head_dim / kUnsplitHeadDim;
    seconds = std::max(seconds, context * key_s);
  }
  return layers * seconds;
}

double attention_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device, double batch,
                   double tokens_each, double context) {
  const bool may_stay = is_unsplit_generation(profile, device);
  const double window = work.window_tokens > 0 ? std::min(context, work.window_tokens) : context;
  return attention_s(profile, work, device, batch, tokens_each, work.attention_layers - work.windowed_layers, context,
                     may_stay && work.heads == work.kv_heads) +
         attention_s(profile, work, device, batch, tokens_each, work.windowed_layers, window, may_stay);
}

// Bytes/s that each of so many devices sends to the others.
double sent_bytes_per_s(const EngineProfile& profile, const DeviceFacts& device, const EngineHost& host,
                        int64_t devices) {
  const EngineConstants& c = profile.constants;
  if (has_link_among(device, devices)) return c.link_bandwidth_share * device.link_bytes_per_s;
  const double own = std::isnan(device.host_link_bytes_per_s) ? device.link_bytes_per_s : device.host_link_bytes_per_s;
  return c.pcie_bandwidth_share * (host.pcie_bytes_per_s < own ? host.pcie_bytes_per_s : own);
}

// Bytes that one device sends in all all-reduces of a step of `tokens` tokens. Sums stay in 16 bits where products take
// fewer.
double all_reduce_bytes(const EngineWork& work, double tokens) {
  const double devices = real(work.request.tensor_parallel);
  const double bytes = std::max(kHalfPrecisionBytes, bytes_per_value(work.request.activations));
  return 2 * work.layers * tokens * work.hidden * bytes * 2 * (devices - 1) / devices;
}

// Of one token: two in each layer and one of the embedding. The engine's own kernel serves two devices, or an even
// number up to eight with a link among all.
double all_reduce_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                    const EngineHost& host, double batch) {
  if (!is_several(work)) return 0;
  const EngineConstants& c = profile.constants;
  const int64_t devices = work.request.tensor_parallel;
  // One device's neighbours in the same node: a bridge of two is no link among four.
  const bool linked = has_link_among(device, devices);
  const bool own_kernel = devices == 2 || (linked && devices <= 8 && devices % 2 == 0);
  const double each = own_kernel
                          ? (c.all_reduce_cycles + c.all_reduce_device_cycles * real(devices - 2)) / device.clock_hz
                          : (linked ? c.nccl_link_us : c.nccl_pcie_us) * kMicro;
  // What further requests of the batch send: one token's bytes are in the measured time.
  const double further = all_reduce_bytes(work, batch - 1);
  return (2 * work.layers + 1) * each +
         (further > 0 ? further / sent_bytes_per_s(profile, device, host, work.request.tensor_parallel) : 0);
}

// Of engines that share experts, what one computes of its own tokens and of all: the busiest rank's part, of choices of
// experts that fall on ranks by chance.
struct ExpertShare {
  double all = 0;     // tokens of all ranks
  double tokens = 0;  // whose experts the busiest rank computes, as if it computed all experts of each
};
ExpertShare share_experts(const EngineWork& work, double own, double shared) {
  const double ranks = real(work.request.expert_ranks);
  ExpertShare share;
  share.all = shared > 0 ? shared : own * ranks;
  share.tokens = share.all / ranks;
  if (work.request.expert_ranks == 1 || !(share.all > 0)) return share;
  const double choices = share.all * work.active_experts;
  share.tokens *= std::min(ranks, 1 + work.busiest_rank * std::sqrt((ranks - 1) / choices));
  return share;
}

// Of so many tokens, with those of experts at what the rate of other products does in their time: experts have few
// tokens each, and their kernels reach 10 to 45% of the peak with thousands of tokens (AIConfigurator's database).
double product_flops(const EngineConstants& c, const EngineWork& work, const DeviceFacts& device, double tokens,
                     const ExpertShare& share, double fill_values) {
  const double dense = work.product_flops + fill_values * work.product_fill_flops;
  if (!(work.expert_flops > 0)) return tokens * dense;
  const bool narrow = work.request.activations == Precision::kFp8 || work.request.activations == Precision::kInt8;
  const double rate_share = has_4_bit_products(device, work.request) ? c.four_bit_expert_rate_share
                            : narrow                                 ? c.narrow_expert_rate_share
                                                                     : c.expert_rate_share;
  const double fill = fill_values * work.expert_fill_flops;
  return tokens * (dense - work.expert_flops - fill) + share.tokens * (work.expert_flops / rate_share + fill);
}

// Tokens to the ranks that hold an expert of theirs, and their sums back, in each layer with experts.
double exchange_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                  const EngineHost& host, const ExpertShare& share) {
  const int64_t ranks = work.request.expert_ranks;
  if (ranks == 1) return 0;
  const EngineConstants& c = profile.constants;
  const int64_t devices = ranks * work.request.tensor_parallel;
  const double visits = 1 - std::pow(1 - 1 / real(ranks), work.active_experts);  // of a rank by a token
  const double bytes = share.all * (1 - 1 / real(ranks)) * visits * work.hidden *
                       bytes_per_value(work.request.activations) / real(work.request.tensor_parallel);
  const double each_s = (has_link_among(device, devices) ? c.nccl_link_us : c.nccl_pcie_us) * kMicro +
                        bytes / sent_bytes_per_s(profile, device, host, devices);
  return 2 * work.expert_layers * each_s;
}

// FLOP/s of products in prefill: the peak, less what feeding operands costs, and what the board's power feeds.
double product_rate(const EngineConstants& c, const DeviceFacts& device, double peak) {
  const double per_unit_cycle = peak / device.units / device.clock_hz;
  double rate = peak / (1 + c.operand_feed_loss * per_unit_cycle / kFeedUnitFlops);
  if (c.flops_per_j > 0 && device.power_w > 0 && device.process_nm > 0) {
    // Narrower numbers do in proportion more for the same power.
    const double narrower = std::max(1.0, peak / half_peak(device));
    const double per_joule = (is_data_centre_blackwell(device) ? kBlackwellPerJoule : 1) * c.flops_per_j;
    rate = std::min(rate, narrower * per_joule * device.power_w * std::sqrt(kPowerProcessNm / device.process_nm));
  }
  return rate;
}

// Pairs of a query and a key it sees, of queries `done` to `done` + `tokens` of one prompt.
double pairs_of(double done, double tokens, double window) {
  const auto up_to = [&](double position) {
    return position <= window ? position * position / 2 : window * window / 2 + window * (position - window);
  };
  return up_to(done + tokens) - up_to(done);
}

// One chunk of a prompt.
struct PromptChunk {
  double tokens = 0;
  double full_pairs = 0, windowed_pairs = 0;  // in a layer
  double shared_tokens = 0;                   // as EngineBatch has it
};

// Device, and launches beside it.
class PrefillTimer {
 public:
  PrefillTimer(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device, const EngineHost& host)
      : profile_(profile), c_(profile.constants), work_(work), device_(device), host_(host) {
    const double peak = product_peak(device, work.request);
    rate_ = product_rate(c_, device, peak);
    const double halves = half_peak(device);
    attention_rate_ =
        c_.prefill_attention_share * std::min(halves, kAttentionOverRate * product_rate(c_, device, halves));
    link_ = is_several(work) ? sent_bytes_per_s(profile, device, host, work.request.tensor_parallel) : 1;
  }

  double device_s(const PromptChunk& chunk) const {
    const double bandwidth = c_.weight_bandwidth_share * device_.memory_bytes_per_s;
    const ExpertShare share = share_experts(work_, chunk.tokens, chunk.shared_tokens);
    const double products_s = product_flops(c_, work_, device_, chunk.tokens, share, c_.tile_fill_values) / rate_;
    const double weights_s = work_.weight_bytes(share.all) / bandwidth;
    const double p = c_.overlap_exponent;
    const double longer = std::max(products_s, weights_s), shorter = std::min(products_s, weights_s);
    const double both = longer > 0 ? longer * std::pow(1 + std::pow(shorter / longer, p), 1 / p) : 0;
    const double pairs = (work_.attention_layers - work_.windowed_layers) * chunk.full_pairs +
                         work_.windowed_layers * chunk.windowed_pairs;
    const double sent = is_several(work_) ? all_reduce_bytes(work_, chunk.tokens) : 0;
    return both + work_.prefill_flops_per_key * pairs / attention_rate_ +
           chunk.tokens * work_.activation_bytes_per_token / bandwidth +
           layer_cycles(profile_, work_, device_) / device_.clock_hz + sent / link_ +
           exchange_s(profile_, work_, device_, host_, share);
  }

  double launch_s(double tokens) const {
    double seconds = c_.host_kernel_us * kMicro * kernels_of(profile_, work_);
    if (tokens > c_.graph_limit_tokens) {
      const double layer_s = c_.eager_layer_ms * kMilli + c_.eager_kernel_us * kMicro * work_.special_kernels_per_layer;
      seconds +=
          (c_.eager_step_ms * kMilli + layer_s * work_.layers) * (is_several(work_) ? c_.eager_several_ratio : 1);
    }
    return seconds / std::max(host_.level, kLeastLaunchLevel);
  }

 private:
  const EngineProfile& profile_;
  const EngineConstants& c_;
  const EngineWork& work_;
  const DeviceFacts& device_;
  const EngineHost& host_;
  double rate_ = 0, attention_rate_ = 0, link_ = 1;
};

double host_step_s(const EngineProfile& profile, const EngineWork& work, const EngineHost& host) {
  const EngineConstants& c = profile.constants;
  return ((c.host_step_ms + (work.request.sampler.penalises ? c.host_penalty_ms : 0) +
           (is_several(work) ? c.host_several_ms : 0)) *
              kMilli +
          c.host_kernel_us * kMicro * kernels_of(profile, work)) /
         host.level;
}

double batch_host_s(const EngineProfile& profile, const EngineWork& work, const EngineHost& host, double decodes) {
  return host_step_s(profile, work, host) +
         profile.constants.host_sequence_us * kMicro * std::max(0.0, decodes - 1) / host.level;
}

// What choosing tokens takes beyond the first, whose choice is in the step's time.
double sampler_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device, double samples) {
  const EngineConstants& c = profile.constants;
  const double bytes = c.sampler_value_bytes + (work.request.sampler.truncates ? c.sampler_sort_bytes : 0);
  return std::max(0.0, samples - 1) * work.vocabulary * bytes / (c.weight_bandwidth_share * device.memory_bytes_per_s);
}

// A token of each of `sequences`, or several that are guesses, which see so many tokens in the mean.
struct TokenBatch {
  double sequences = 0, context = 0, tokens_each = 1, shared_tokens = 0;
};
EngineTokenTime token_time(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                           const EngineHost& host, const TokenBatch& of) {
  const EngineConstants& c = profile.constants;
  const double batch = of.sequences, context = of.context, tokens = batch * of.tokens_each;
  const ExpertShare share = share_experts(work, tokens, of.shared_tokens);
  EngineTokenTime time;
  const double read_s =
      (work.weight_bytes(share.all) + work.head_bytes) / (c.weight_bandwidth_share * device.memory_bytes_per_s) +
      work.state_bytes * tokens / (c.cache_bandwidth_share * device.memory_bytes_per_s);
  const double flops = product_flops(c, work, device, tokens, share, 0) + tokens * work.head_flops;
  time.weights_s = std::max(read_s, flops / product_rate(c, device, product_peak(device, work.request)));
  time.kernels_s = (c.step_cycles + layer_cycles(profile, work, device) +
                    (work.request.sampler.truncates ? c.sampler_truncation_cycles : 0)) /
                   device.clock_hz;
  time.attention_s = attention_s(profile, work, device, batch, of.tokens_each, context);
  time.all_reduce_s =
      all_reduce_s(profile, work, device, host, tokens) + exchange_s(profile, work, device, host, share);
  time.device_s = time.weights_s + time.kernels_s + time.attention_s + time.all_reduce_s;
  time.host_s = host_step_s(profile, work, host);
  time.seconds = profile.overlaps_host ? std::max(time.device_s, time.host_s) : time.device_s + time.host_s;
  return time;
}

// Chunks of all prompts, one after the other; `times` of each.
template <typename Take>
void for_each_chunk(const EngineWork& work, double chunk_tokens, const Take& take) {
  const double prompt = real(work.request.prompt_tokens), batch = real(work.request.batch), total = prompt * batch;
  const double window = work.window_tokens > 0 ? work.window_tokens : prompt;
  const auto chunks = static_cast<int64_t>(std::ceil(total / chunk_tokens));
  if (work.request.batch == 1 && chunks <= kMostChunks) {
    for (int64_t i = 0; i < chunks; ++i) {
      const double done = real(i) * chunk_tokens, tokens = std::min(chunk_tokens, prompt - done);
      take({tokens, pairs_of(done, tokens, prompt), pairs_of(done, tokens, window)}, 1.0);
    }
    return;
  }
  // Alike: the mean of them.
  const double count = real(chunks), mean = total / count;
  take({mean, batch * pairs_of(0, prompt, prompt) / count, batch * pairs_of(0, prompt, window) / count}, count);
}

void set_intervals(const EngineProfile& profile, const EngineWork& work, const EngineHost& host,
                   EngineForecast& forecast) {
  const EngineSpread& spread = profile.spread;
  const double quantile = spread.devices > 1 ? student_quantile(0.95, real(spread.devices - 1)) : kNormal95;
  const bool is_new = std::find(profile.models.begin(), profile.models.end(), work.model) == profile.models.end();
  const double unmeasured = std::popcount(forecast.unmeasured) * spread.unmeasured_log_sd * spread.unmeasured_log_sd;
  const auto half_width = [&](double log_sd, double new_model_log_sd, double unknown_host_log_sd) {
    const double model = is_new ? new_model_log_sd : 0, level = host.known ? 0 : unknown_host_log_sd;
    return std::hypot(quantile * log_sd, kNormal95 * std::sqrt(model * model + level * level + unmeasured));
  };
  const bool several = is_several(work);
  forecast.token_log_half_width = half_width(several ? spread.token_several_log_sd : spread.token_one_log_sd,
                                             spread.new_model_token_log_sd, spread.unknown_host_token_log_sd);
  forecast.first_log_half_width = half_width(several ? spread.first_several_log_sd : spread.first_one_log_sd,
                                             spread.new_model_first_log_sd, spread.unknown_host_first_log_sd);
}

}  // namespace

bool has_link_among(const DeviceFacts& device, int64_t devices) {
  if (devices < 2 || !(device.link_bytes_per_s > 0)) return false;
  // A "link" no faster than PCI Express is PCI Express.
  if (device.link_bytes_per_s <= device.host_link_bytes_per_s) return false;
  return !(device.linked_devices < real(devices));
}

EngineTokenTime engine_token_time(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                  const EngineHost& host) {
  return token_time(profile, work, device, host, {real(work.request.batch), work.context_tokens()});
}

double engine_step_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                     const EngineHost& host, const EngineBatch& batch) {
  const double context = batch.decodes > 0 ? batch.decode_context_tokens / batch.decodes : 0;
  const double stages = real(work.request.pipeline_stages);
  if (batch.prefill_tokens <= 0) {
    const TokenBatch tokens{batch.decodes, context, batch.tokens_per_decode, batch.shared_tokens};
    const double device_s =
        token_time(profile, work, device, host, tokens).device_s + sampler_s(profile, work, device, batch.samples);
    const double host_s = stages * batch_host_s(profile, work, host, batch.decodes);
    return profile.overlaps_host ? std::max(device_s, host_s) : device_s + host_s;
  }
  const EngineConstants& c = profile.constants;
  const double tokens = batch.tokens();
  const PrefillTimer timer(profile, work, device, host);
  double device_s = timer.device_s({tokens, batch.prefill_pairs, batch.prefill_windowed_pairs, batch.shared_tokens}) +
                    work.head_bytes / (c.weight_bandwidth_share * device.memory_bytes_per_s) +
                    c.step_cycles / device.clock_hz + sampler_s(profile, work, device, batch.samples);
  if (batch.decodes > 0) {
    // Kernels before Hopper read keys for all heads that share them at once, but not in steps that hold prompts.
    const double reads = is_unsplit_generation(profile, device) ? work.heads / work.kv_heads : 1;
    device_s += reads * attention_s(profile, work, device, batch.decodes, batch.tokens_per_decode, context) +
                work.state_bytes * batch.decodes / (c.cache_bandwidth_share * device.memory_bytes_per_s);
  }
  // Launches are a part of the host's step; beyond graphs they take longer than the rest of it.
  const double host_s = stages * (std::max(batch_host_s(profile, work, host, batch.decodes), timer.launch_s(tokens)) +
                                  c.prompt_step_ms * kMilli / host.level);
  return profile.overlaps_host ? std::max(device_s, host_s) : device_s + host_s;
}

StageHop stage_hop(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                   const EngineHost& host) {
  const EngineConstants& c = profile.constants;
  const int64_t devices = work.request.tensor_parallel * work.request.pipeline_stages;
  // Each device of a stage sends its part.
  const double bytes = work.hidden * bytes_per_value(work.request.activations) / real(work.request.tensor_parallel);
  return {(has_link_among(device, devices) ? c.nccl_link_us : c.nccl_pcie_us) * kMicro,
          bytes / sent_bytes_per_s(profile, device, host, devices)};
}

AcceleratorLoad engine_step_load(const EngineWork& work, const DeviceFacts& device, const EngineBatch& batch,
                                 double seconds) {
  if (!(seconds > 0)) return {};
  const double tokens = batch.tokens(), window = work.window_tokens;
  const ExpertShare share = share_experts(work, tokens, batch.shared_tokens);
  const double full = work.attention_layers - work.windowed_layers;
  const double seen = full * batch.decode_context_tokens +
                      work.windowed_layers * std::min(batch.decode_context_tokens, window * batch.decodes);
  const double pairs = full * batch.prefill_pairs + work.windowed_layers * batch.prefill_windowed_pairs;
  const double flops = tokens * (work.product_flops - work.expert_flops) + share.tokens * work.expert_flops +
                       work.attention_flops_per_key * seen * batch.tokens_per_decode +
                       work.prefill_flops_per_key * pairs;
  const double bytes = work.weight_bytes(share.all) + work.head_bytes + work.cache_bytes_per_token * seen +
                       work.activation_bytes_per_token * batch.prefill_tokens;
  return {.compute_ratio = flops / product_peak(device, work.request) / seconds,
          .memory_ratio = bytes / device.memory_bytes_per_s / seconds};
}

EngineFirstTime engine_first_time(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                  const EngineHost& host) {
  const EngineConstants& c = profile.constants;
  EngineFirstTime time;
  time.fixed_s = c.first_fixed_ms * kMilli / host.level;
  time.tokeniser_s =
      c.prompt_token_us * kMicro * real(work.request.prompt_tokens) * real(work.request.batch) / host.level;
  const PrefillTimer timer(profile, work, device, host);
  for_each_chunk(work, chunk_tokens(profile, device), [&](const PromptChunk& chunk, double times) {
    const double device_s = timer.device_s(chunk), launch_s = timer.launch_s(chunk.tokens);
    time.prefill_s += times * device_s;
    time.launch_s += times * std::max(0.0, launch_s - device_s);
  });
  time.prefill_s +=
      work.head_bytes / (c.weight_bandwidth_share * device.memory_bytes_per_s) + c.step_cycles / device.clock_hz;
  time.seconds = time.fixed_s + time.tokeniser_s + time.prefill_s + time.launch_s;
  return time;
}

Status check_engine_device(const DeviceFacts& device, const EngineRequest& request) {
  std::vector<std::string> missing;
  const auto need = [&](double value, const char* name) {
    if (!(value > 0)) missing.emplace_back(name);
  };
  need(device.memory_bytes_per_s, "memory_bytes_per_s");
  need(device.units, "units");
  need(device.clock_hz, "clock_hz");
  need(half_peak(device), "peak_flops.half");
  need(product_peak(device, request), "peak_flops");
  const bool are_several = request.tensor_parallel * request.expert_ranks * request.pipeline_stages > 1;
  if (are_several && !(device.link_bytes_per_s > 0) && !(device.host_link_bytes_per_s > 0)) {
    missing.emplace_back("link_bytes_per_s");
  }
  if (missing.empty()) return {};
  return Error{"unknown-fact",
               printable(device.name) + " has no " + join(missing, ", ") + ", which the time of an engine's step needs",
               "", "a device whose facts are known, or a file of facts (schema perfcast.devices/1)"};
}

Result<EngineForecast> forecast_engine(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                       const EngineHost& host) {
  if (Status status = check_engine_device(device, work.request); !status) return status.error();
  EngineForecast forecast;
  forecast.token = engine_token_time(profile, work, device, host);
  forecast.first = engine_first_time(profile, work, device, host);
  forecast.client_token_s =
      client_token_s(forecast.first.seconds, forecast.token.seconds, real(work.request.output_tokens));
  forecast.unmeasured = work.unmeasured | (device.vendor == "NVIDIA" || device.vendor.empty() ? 0U : kUnmeasuredVendor);
  set_intervals(profile, work, host, forecast);
  return forecast;
}

ServiceRatios service_ratios(const EngineProfile& profile, const EngineWork& work) {
  if (profile.basis == EngineBasis::kMeasured && !(work.experts > 0)) return {};
  return {profile.spread.service_token_ratio, profile.spread.service_first_ratio};
}

}  // namespace perfcast::ai
