#include <fmt/format.h>

#include <cmath>

#include "studies/engines/cpu_engine_evaluation.h"
#include "studies/engines/engine_evaluation.h"

namespace perfcast::ai::engines_study {
namespace {

EngineCard card_of(const EngineEvaluation& evaluation) {
  EngineCard card;
  card.purpose =
      "What serving engines take for the first token and for each further one, on devices, models and hosts that "
      "nobody measured: one request at a time.";
  card.data =
      "Spare Cores inspector data, https://github.com/SpareCores/sc-inspector-data: vLLM under guidellm on cloud "
      "servers with GPUs; levels of hosts from its programs of one thread";
  card.licence = "CC BY-SA 4.0; whoever passes this file on, changed or not, does so under the same licence";
  card.attribution = "Benchmarks of cloud servers by Spare Cores (sparecores.com)";
  card.limits =
      "Eight devices from Ampere to Hopper, four dense models of 0.1 to 8 billion weights in 16 bits, prompts of 256 "
      "to "
      "4,096 tokens, up to eight GPUs of one server. The form was found with all of these in sight; the split by "
      "generation is the stricter guide. Batches, other precisions, experts, latent attention and other vendors follow "
      "by physics.";
  for (const EngineScore& score : evaluation.scores) {
    if (score.predictor != kOurs || score.part != "all") continue;
    card.scores.push_back(fmt::format("{}, {}: mean error {:.1f}%, median {:.1f}%, n {}, 90% intervals cover {:.0f}%",
                                      to_string(score.target), score.split, 100 * score.mean_error,
                                      100 * score.median_error, score.n, 100 * score.coverage));
    if (score.split != kDeviceOut) continue;
    const double ratio = std::round(score.mean_error * 1e4) / 1e4;
    if (score.target == EngineTarget::kClientToken) card.token_error_ratio = ratio;
    if (score.target == EngineTarget::kFirstToken) card.first_error_ratio = ratio;
  }
  return card;
}

// Same kernels, another engine around them: what its end-to-end points leave open.
EngineProfile borrowed(const EngineProfile& vllm, const char* name, const char* version) {
  EngineProfile profile = vllm;
  profile.name = name;
  profile.version = version;
  profile.basis = EngineBasis::kWeaklyMeasured;
  profile.source = "constants of vllm; no single streams of this engine";
  profile.rows = 0;
  profile.models.clear();
  profile.devices.clear();
  EngineSpread& spread = profile.spread;
  spread.token_one_log_sd = spread.token_several_log_sd = 0.25;
  spread.first_one_log_sd = spread.first_several_log_sd = 0.6;
  spread.devices = 0;
  spread.new_model_token_log_sd = spread.new_model_first_log_sd = 0;  // no model is known
  return profile;
}

// Rules of its documentation: a step holds prompts or further tokens, prompts in chunks that grow with the memory, and
// only steps without prompts are graphs.
EngineProfile sglang(const EngineProfile& vllm) {
  EngineProfile profile = borrowed(vllm, "sglang", "0.5.9");
  profile.mixes_prompts = false;
  profile.large_chunk_exceptions.clear();
  profile.constants.graph_limit_tokens = 0;
  return profile;
}

// Likewise: a step holds 8,192 tokens on any device, and only steps without prompts are graphs.
EngineProfile tensorrt_llm(const EngineProfile& vllm) {
  EngineProfile profile = borrowed(vllm, "tensorrt-llm", "1.x");
  profile.large_chunk_exceptions.clear();
  profile.constants.chunk_tokens = profile.constants.large_chunk_tokens;
  profile.constants.graph_limit_tokens = 0;
  return profile;
}

// Kernels are launched one by one, and the host waits for each token before it prepares the next.
EngineProfile llama_cpp(const EngineProfile& vllm) {
  constexpr double kLaunch_us = 4;  // of one kernel, on a host of level 1
  EngineProfile profile = borrowed(vllm, "llama.cpp", "2025");
  profile.basis = EngineBasis::kPhysics;
  profile.source = "kernels of vllm; a launch for each kernel, no scheduler; nobody measured this engine on GPUs here";
  profile.overlaps_host = false;
  profile.unsplit_generations.clear();  // its decode kernel splits the context everywhere
  EngineConstants& constants = profile.constants;
  constants.host_step_ms = constants.host_penalty_ms = constants.host_several_ms = 0;
  constants.host_sequence_us = constants.prompt_step_ms = constants.front_token_us = constants.front_request_ms = 0;
  constants.host_kernel_us = kLaunch_us;
  constants.eager_step_ms = constants.eager_layer_ms = 0;
  constants.chunk_tokens = constants.large_chunk_tokens = 512;  // its default micro-batch
  profile.spread.token_one_log_sd = profile.spread.token_several_log_sd = 0.35;
  return profile;
}

// No engine: what the device does, back to back.
EngineProfile kernels_only(const EngineProfile& vllm) {
  EngineProfile profile = borrowed(vllm, "none", "");
  profile.basis = EngineBasis::kPhysics;
  profile.source = "kernels and all-reduces of vllm, without what an engine adds";
  EngineConstants& constants = profile.constants;
  constants.step_cycles = constants.sampler_truncation_cycles = 0;
  constants.host_step_ms = constants.host_penalty_ms = constants.host_several_ms = 0;
  constants.host_sequence_us = constants.prompt_step_ms = constants.front_token_us = constants.front_request_ms = 0;
  constants.sampler_value_bytes = constants.sampler_sort_bytes = 0;
  constants.first_fixed_ms = constants.prompt_token_us = 0;
  constants.eager_step_ms = constants.eager_layer_ms = 0;
  profile.spread.first_one_log_sd = profile.spread.first_several_log_sd = 0.3;
  return profile;
}

}  // namespace

EngineBundle make_engine_bundle(const EngineEvaluation& evaluation, const HostLevels& hosts) {
  EngineBundle bundle;
  bundle.card = card_of(evaluation);
  const EngineProfile& vllm = evaluation.profile;
  bundle.engines = {vllm, sglang(vllm), tensorrt_llm(vllm), llama_cpp(vllm), kernels_only(vllm)};
  bundle.hosts = hosts;
  return bundle;
}

void add_cpu_engine(const CpuEngineEvaluation& evaluation, EngineBundle& bundle) {
  bundle.cpu_engines.push_back(evaluation.profile);
  EngineCard& card = bundle.card;
  card.data += "; vLLM on cloud servers without GPUs, with their facts and measured bandwidths";
  card.limits +=
      fmt::format(" CPU servers: {} CPU models, {} language models; the form was found with all of them in sight.",
                  evaluation.profile.cpus.size(), evaluation.profile.models.size());
  for (const EngineScore& score : evaluation.scores) {
    if (score.predictor != kOurs || score.part != "all") continue;
    card.scores.push_back(fmt::format("on CPU servers, {}, {}: median error {:.1f}%, n {}, 90% intervals cover {:.0f}%",
                                      to_string(score.target), score.split, 100 * score.median_error, score.n,
                                      100 * score.coverage));
    if (score.split != kCpuOut) continue;
    const double ratio = std::round(score.median_error * 1e4) / 1e4;
    if (score.target == EngineTarget::kClientToken) card.cpu_token_error_ratio = ratio;
    if (score.target == EngineTarget::kFirstToken) card.cpu_first_error_ratio = ratio;
  }
}

ReportTable engine_scores_table(const std::vector<EngineScore>& scores) {
  using Row = EngineScore;
  using enum Quantity;
  return table_of<Row>("", scores,
                       {{"split", "split", kText, [](const Row& row) { return row.split; }},
                        {"target", "time", kText, [](const Row& row) { return to_string(row.target); }},
                        {"part", "part", kText, [](const Row& row) { return row.part; }},
                        {"predictor", "forecast by", kText, [](const Row& row) { return row.predictor; }},
                        {"n", "n", kCount, [](const Row& row) { return row.n; }},
                        {"mean_error", "mean error", kShare, [](const Row& row) { return row.mean_error; }, 1},
                        {"median_error", "median error", kShare, [](const Row& row) { return row.median_error; }, 1},
                        {"bias", "bias", kShare, [](const Row& row) { return row.bias; }, 1},
                        {"coverage_90", "in 90% interval", kShare, [](const Row& row) { return row.coverage; }, 1}});
}

ReportTable engine_constants_table(const EngineProfile& profile) {
  using Row = EngineConstant;
  return table_of<Row>(
      "", engine_constants(),
      {{"constant", "constant", Quantity::kText, [](const Row& row) { return row.name; }},
       {"value", profile.name, Quantity::kNumber, [&](const Row& row) { return profile.constants.*row.member; },
        [&](const Row& row) { return fmt::format("{:g}", profile.constants.*row.member); }}});
}

}  // namespace perfcast::ai::engines_study
