#pragma once
// What serving a model on a device comes to: time to the first token, time of each further one, tokens per second,
// memory, energy, cost.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ai/engine/engine_step.h"
#include "ai/llm_forecast/step_time.h"
#include "base/result.h"
#include "base/unknown.h"
#include "machine/meter/accelerator_power.h"

namespace perfcast::ai {

// `batch` sequences that start and end together: a prompt of `sequence` tokens, then `output_tokens` new ones, of which
// prefill gives the first. Encoders have no output tokens; of ViT `sequence` is its patches and the class token.
struct LlmRequest {
  int64_t batch = 1, sequence = 1, output_tokens = 128, tensor_parallel = 1;
  Precision weights = Precision::kFp16, activations = Precision::kFp16, kv = Precision::kFp16;
  std::optional<double> weight_bits_per_value;
  bool fused_attention = true;  // and skips what the causal mask hides; else scores go through memory, all of them

  bool operator==(const LlmRequest&) const = default;
};

// The engine that runs the model, and the host that it runs on.
struct EngineTerms {
  std::shared_ptr<const EngineProfile> profile;  // null: kernels alone
  EngineHost host;
  bool kernels = false;  // times of kernels stand for the device's work, as of a device that a user timed
};

// What is known of a device beside its latency model.
struct DeviceTerms {
  double power_w = kUnknown;         // of one device while it serves; not known: see LlmForecast::power_w
  double price_per_hour = kUnknown;  // of one device, in US dollars
  StepSettings step;
  EngineTerms engine;
};

// What the times of a forecast are made of.
enum class TimeBasis : uint8_t {
  kKernels,          // kernels alone
  kEngine,           // an engine's single stream (ai/engine/engine_step.h)
  kEngineOnKernels,  // what an engine adds (host, sampler, tokeniser) to times of kernels
};

// Parts of both times with an engine, in seconds.
struct EngineParts {
  EngineTokenTime token;
  EngineFirstTime first;  // its parts add up
  // Of the device's work on a token, what the models of kernels say: all of it with kEngineOnKernels; with a batch what
  // its further sequences add to a single stream. Beside the parts of `token`, whose device_s has it.
  double token_operators_s = 0;
};

// Of each device's memory: what the driver, the libraries' workspaces and fragmentation take. Serving engines keep as
// much back by default.
inline constexpr double kMemoryReserve = 0.1;
// Standard deviations of a 90% interval.
inline constexpr double kInterval90 = 1.6448536269514722;

// Bytes on each of tensor_parallel devices.
struct MemoryNeed {
  double weights = 0;
  double kv = 0;           // of the whole batch at its longest: the prompt and all new tokens
  double activations = 0;  // the widest moment of prefill: the whole batch at once, with an engine its chunk of tokens
  double reserve = kUnknown;
  double total = 0;  // with the reserve, where the device's memory is known
  double available = kUnknown;

  double model() const { return weights + kv + activations; }  // the same for every device
  bool known() const { return available > 0; }
  bool fits() const { return total <= available; }  // false where not known
  double missing() const { return known() && !fits() ? total - available : 0; }
};

// What can't be said is NaN: the time of a token of an encoder, energy without a power, cost without a price.
struct LlmForecast {
  LlmRequest request;
  bool generates = true;  // a decoder: there are tokens after the first
  // Measurements of the device stand behind its products, of the prompt and of a token; with kEngine: behind the
  // engine's profile.
  bool calibrated = false;
  StepTime prefill;  // of the whole batch
  StepTime token;    // one token of each sequence, at the mean context: sequence + ceil(output_tokens / 2)
  int64_t mean_context = 0;

  TimeBasis basis = TimeBasis::kKernels;
  EngineParts engine;                // but for kKernels
  uint32_t engine_unmeasured = 0;    // bits of EngineUnmeasured: why times of kernels are in it
  double client_token_s = kUnknown;  // request_s over output tokens: what clients print as TPOT

  double prefill_s = 0, token_s = kUnknown;
  double tokens_per_s = 0;      // batch / token_s; of encoders the prompts' tokens over prefill_s
  double lower = 0, upper = 0;  // of tokens_per_s, 90%
  double request_s = 0;         // prefill_s + (output_tokens - 1) * token_s
  double output_per_s = 0;      // new tokens over request_s: prefill included
  // Of one device, mean over the request: the terms' power, else of accelerators the stated power times the share that
  // machine/meter/accelerator_power.h has for prompt and tokens, else (of CPUs) the stated power.
  double power_w = kUnknown;
  bool power_is_modelled = false;
  double power_log_sd = 0;                 // standard deviation of the log of a modelled power
  double energy_j_per_million = kUnknown;  // tokens of output_per_s, at power_w from first to last
  double cost_per_million = kUnknown;      // likewise, in US dollars
  MemoryNeed memory;

  const StepTime& main_step() const { return generates ? token : prefill; }
  // Of prompt and tokens, which err together: a standard deviation of the log of request_s.
  double request_log_sd() const;
  // Joules are within this factor up and down, 90%; of modelled power.
  double energy_ratio90() const;
};

// Of a step, while it runs; absent where the device's peak or bandwidth isn't known.
std::optional<AcceleratorLoad> load_of(const StepTime& step);

// Why an engine's profile doesn't speak of the model on the device at all, so that kernels alone are forecast; empty:
// it does.
std::string why_no_engine(const LlmConfig& config, const DeviceFacts& device);

// What times are made of: "vllm 0.22", "llama.cpp b4000, by physics", "vllm 0.22 + kernels", "kernels only".
std::string engine_words(const EngineTerms& engine, TimeBasis basis);

// One model on one device. Reuses its operator graph and the times of operators; not for several threads at once.
class LlmForecaster {
 public:
  // check_config()'s errors.
  static Result<LlmForecaster> create(LlmConfig config, std::shared_ptr<const LatencyModel> model,
                                      DeviceTerms terms = {});

  // Errors of build_operators() and StepTimer; "bad-usage" at "output-tokens" where prompt and new tokens are more
  // than the model's learned positions. No allocation but the memo's.
  Status forecast(const LlmRequest& request, LlmForecast& forecast);

  // The least number of devices that share the model and hold it with this request; none where even one head on each
  // is too much, or memory isn't known.
  std::optional<int64_t> smallest_tensor_parallel(const LlmRequest& request);

  const LlmConfig& config() const { return config_; }
  const LatencyModel& model() const { return timer_.model(); }
  const DeviceTerms& terms() const { return terms_; }
  size_t remembered() const { return timer_.remembered(); }

 private:
  LlmForecaster(LlmConfig config, std::shared_ptr<const LatencyModel> model, DeviceTerms terms);
  Status build(const LlmRequest& request);
  Result<MemoryNeed> memory_of(const LlmRequest& request) const;
  // An engine's single stream of a request, and the kernels of one (where they were asked for).
  struct SingleStream {
    LlmRequest request;  // of batch 1
    SamplerDefaults sampler;
    EngineWork work;
    EngineForecast engine;
    double prefill_device_s = kUnknown, token_device_s = kUnknown;
  };
  Status time_steps(StepTime& prefill, StepTime& token);
  Result<SingleStream*> single_stream(const LlmRequest& request);
  Status time_single_kernels(const LlmRequest& request, SingleStream& single);
  Status add_engine(LlmForecast& forecast);
  void finish(LlmForecast& forecast) const;
  void set_power(LlmForecast& forecast) const;

  LlmConfig config_;
  DeviceTerms terms_;
  StepTimer timer_;
  LlmWorkload prefill_, decode_;  // of the last request
  OperatorGraph prefill_graph_, decode_graph_;
  DeviceFacts engine_device_;  // with the link that was given
  bool engine_runs_ = false, engine_measured_ = false;
  std::optional<SingleStream> single_;  // the last one
};

// The prompt of a request where none is given: usual_sequence(), shortened so that the new tokens find room in what
// the model has positions for.
int64_t usual_prompt(const LlmConfig& config, int64_t output_tokens);

}  // namespace perfcast::ai
