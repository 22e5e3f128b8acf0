#pragma once
// A device, an engine and a model's work whose times can be computed by hand.

#include "ai/engine/cpu_engine_profile.h"
#include "ai/engine/engine_step.h"

namespace perfcast::ai::engine_test {

// 1 TB/s, 100 TFLOP/s in half precision, 100 units at 1 GHz: 1 TFLOP/s a unit.
inline DeviceFacts device() {
  DeviceFacts facts;
  facts.name = "Test GPU";
  facts.vendor = "NVIDIA";
  facts.generation = "hopper";
  facts.memory_bytes = 80e9;
  facts.memory_bytes_per_s = 1e12;
  facts.units = 100;
  facts.clock_hz = 1e9;
  facts.link_bytes_per_s = 2e11;
  facts.host_link_bytes_per_s = 5e10;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 1e14;
  return facts;
}

inline EngineProfile profile() {
  EngineProfile profile;
  profile.name = "vllm";
  profile.version = "1";
  profile.source = "invented";
  profile.models = {"ten"};
  profile.unsplit_generations = {"ampere"};
  profile.large_chunk_exceptions = {"a100"};
  EngineConstants& c = profile.constants;
  c.weight_bandwidth_share = 0.8;
  c.cache_bandwidth_share = 0.5;
  c.step_cycles = 400e3;
  c.kernel_cycles = 5e3;
  c.sampler_truncation_cycles = 200e3;
  c.unsplit_key_ns = 80;
  c.all_reduce_cycles = 10e3;
  c.all_reduce_device_cycles = 1e3;
  c.nccl_link_us = 20;
  c.nccl_pcie_us = 40;
  c.host_step_ms = 2;
  c.host_penalty_ms = 0.5;
  c.host_several_ms = 0.25;
  c.first_fixed_ms = 10;
  c.prompt_token_us = 4;
  c.eager_step_ms = 9;
  c.eager_layer_ms = 0.5;
  c.eager_several_ratio = 1.5;
  c.overlap_exponent = 1;
  c.link_bandwidth_share = 0.5;
  c.pcie_bandwidth_share = 0.4;
  profile.spread = {0.05, 0.1, 0.2, 0.3, 8, 0.06, 0.01, 0.03, 0.4, 0.2};
  return profile;
}

// Ten layers of 80 MB, a head of 40 MB, 1,000 tokens of context, on one device.
inline EngineWork work() {
  EngineWork work;
  work.model = "ten";
  work.request.prompt_tokens = 900;
  work.request.output_tokens = 200;
  work.layers = work.attention_layers = 10;
  work.kernels_per_layer = 2;
  work.dense_bytes = 800e6;
  work.head_bytes = 40e6;
  work.product_flops = 800e6;
  work.product_fill_flops = 1e6;
  work.head_dim = 128;
  work.heads = 8;
  work.kv_heads = 2;
  work.cache_bytes_per_token = 1024;
  work.attention_flops_per_key = work.prefill_flops_per_key = 4096;
  work.activation_bytes_per_token = 100e3;
  work.hidden = 1024;
  return work;
}

// Two nodes of five cores of Zen 3 with two threads each; each core reads 130 GB/s of its level-1 cache, each node 50
// GB/s of its memory.
inline CpuFacts cpu() {
  CpuFacts facts;
  facts.name = "AMD EPYC 7763 64-Core Processor";
  facts.vendor = "AMD";
  facts.arch = "x86_64";
  facts.cpu_family = 25;
  facts.model = 1;
  facts.flags = {"avx2", "sha"};
  facts.vcpus = 20;
  facts.cores = 10;
  facts.numa_nodes = 2;
  facts.read_bytes_per_s.front() = 1.3e12;
  facts.read_bytes_per_s.back() = 100e9;
  return facts;
}

// Ten layers of 1,000 values; 400 MB.
inline LlmWork cpu_work() {
  LlmWork work;
  work.name = "ten";
  work.layers = 10;
  work.hidden = 1000;
  work.vocabulary = 50000;
  work.parameters = 200e6;
  work.weight_bytes = work.file_bytes = 400e6;
  work.kv_bytes_per_token = 1000;
  work.prefill_macs_per_token = 150e6;
  work.attention_macs_per_token_token = 20e3;
  return work;
}

inline CpuEngineProfile cpu_profile() {
  CpuEngineProfile profile;
  profile.name = "vllm";
  profile.version = "1";
  profile.source = "invented";
  profile.rows = 100;
  profile.models = {{"ten", 400e6, {0.5, 0.4, 1.3}}, {"large", 40e9, {0.35, 0.9, 0.5}}};
  profile.cpus = {"amd epyc 7763 (25-1)"};
  for (const CpuEngineConstant& constant : cpu_engine_constants()) profile.constants.*constant.member = constant.start;
  profile.measured = {0.3, 0.4, 0.5};
  profile.of_kin = {0.6, 0.8, 1.0};
  return profile;
}

inline EngineHost host(double level = 1) {
  EngineHost host;
  host.cpu = "a host";
  host.level = level;
  host.known = true;
  return host;
}

}  // namespace perfcast::ai::engine_test
