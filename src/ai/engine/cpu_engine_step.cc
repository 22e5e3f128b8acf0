#include "ai/engine/cpu_engine_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "machine/facts/core_design.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {
namespace {

constexpr double kUsualLevel1 = 130e9, kLeastLevel1 = 60e9, kMostLevel1 = 230e9;  // bytes/s of a core
constexpr double kTwoCores = 1.5;                                                 // below, a node has one core
constexpr int64_t kCooperLakeStepping = 10;

struct Design {
  std::string_view name;
  CpuPath path;  // in bf16
  double products_per_cycle, clock_ghz;
};
// Products of 16-bit numbers on a core's units in a cycle, from the makers' manuals; clocks as such cores keep them
// when all are busy.
constexpr Design kDesigns[] = {
    {"sandy-bridge", CpuPath::kPlain, 8, 2.8},
    {"haswell", CpuPath::kPlain, 16, 2.6},
    {"broadwell", CpuPath::kPlain, 16, 2.8},
    {"skylake-client", CpuPath::kPlain, 16, 4.0},
    {"skylake-server", CpuPath::kPlain, 32, 2.7},
    {"cascade-lake", CpuPath::kPlain, 32, 2.9},
    {"cooper-lake", CpuPath::kDot, 64, 3.3},
    {"ice-lake", CpuPath::kPlain, 32, 3.2},
    {"sapphire-rapids", CpuPath::kTile, 1024, 3.0},
    {"granite-rapids", CpuPath::kTile, 1024, 3.2},
    {"zen1", CpuPath::kPlain, 8, 2.6},
    {"zen2", CpuPath::kPlain, 16, 3.2},
    {"zen3", CpuPath::kPlain, 16, 3.4},
    {"zen4", CpuPath::kDot, 32, 3.5},
    {"zen5", CpuPath::kDot, 64, 4.0},
    {"neoverse-n1", CpuPath::kPlain, 16, 3.0},
    {"neoverse-v1", CpuPath::kDot, 64, 2.6},
    {"neoverse-n2", CpuPath::kDot, 32, 3.4},
    {"neoverse-v2", CpuPath::kDot, 64, 2.8},
    {"neoverse-v3", CpuPath::kDot, 64, 3.5},
    {"neoverse-n3", CpuPath::kDot, 32, 3.4},
};
constexpr double kVectorProducts = 16;  // of a core without 512-bit vectors, or in fp16
constexpr double kWithoutTiles = 64;    // of a core that has AMX, where a cloud hides it

Design guessed_design(const CpuFacts& cpu) {
  const auto has = [&](const char* flag) { return cpu.flags.contains(flag); };
  if (has("amx")) return {"", CpuPath::kTile, 1024, 3.0};
  if (has("avx512f")) return {"", CpuPath::kPlain, 32, 3.0};
  if (has("sve")) return {"", CpuPath::kDot, 32, 3.0};
  return {"", CpuPath::kPlain, kVectorProducts, 3.0};
}

Design design_of(const CpuFacts& cpu) {
  const std::string name = cpu_engine_design(cpu);
  for (const Design& known : kDesigns) {
    if (known.name == name) return known;
  }
  return guessed_design(cpu);
}

}  // namespace

std::string cpu_engine_design(const CpuFacts& cpu) {
  std::string design = core_design(cpu);
  if (design == "cascade-lake" && cpu.stepping.value_or(0) >= kCooperLakeStepping) design = "cooper-lake";
  return design;
}

const std::vector<CpuEngineConstant>& cpu_engine_constants() {
  using C = CpuEngineConstants;
  static const std::vector<CpuEngineConstant> constants = {
      {"plain_product_share", &C::plain_product_share, 0.13, 1e-4, 10, true},
      {"dot_product_share", &C::dot_product_share, 0.8, 1e-4, 10, true},
      {"tile_product_share", &C::tile_product_share, 0.2, 1e-4, 10, true},
      {"plain_core_gb_per_s", &C::plain_core_gb_per_s, 8, 1e-3, 1e4, true},
      {"half_core_gb_per_s", &C::half_core_gb_per_s, 15, 1e-3, 1e4, true},
      {"memory_bandwidth_share", &C::memory_bandwidth_share, 0.8, 1e-3, 10, true},
      {"overlap_exponent", &C::overlap_exponent, 2, 1.001, 100, true},
      {"product_thread_loss", &C::product_thread_loss, 0, 0, 0.5, false},
      {"attention_ratio", &C::attention_ratio, 3, 1e-3, 1e3, true},
      {"activation_ns", &C::activation_ns, 2, 1e-4, 1e4, true},
      {"activation_thread_gain", &C::activation_thread_gain, 0.8, 0, 1, false},
      {"barrier_us", &C::barrier_us, 10, 1e-4, 1e5, true},
      {"barrier_thread_exponent", &C::barrier_thread_exponent, 0.5, 0, 1, false},
      {"host_ms", &C::host_ms, 4, 1e-4, 1e5, true},
      {"sort_ns", &C::sort_ns, 40, 1e-4, 1e6, true},
      {"slowness_exponent", &C::slowness_exponent, 1, 0, 3, false},
      {"one_core_ratio", &C::one_core_ratio, 1, 1, 20, true},
      {"http_ms", &C::http_ms, 8, 1e-4, 1e5, true},
  };
  return constants;
}

std::string_view name_of(CpuPath path) {
  return path == CpuPath::kTile ? "AMX" : path == CpuPath::kDot ? "bf16" : "plain";
}

Precision usual_cpu_precision(const CpuFacts& cpu) {
  return is_arm(cpu.arch) || cpu.flags.contains("avx512f") ? Precision::kBf16 : Precision::kFp16;
}

CpuEngineMachine cpu_engine_machine_of(const CpuFacts& cpu, Precision precision, int64_t processes) {
  CpuEngineMachine machine;
  const auto nodes = static_cast<double>(processes);
  const double node_cores = cpu.cores / cpu.numa_nodes;
  machine.threads = std::max(1.0, node_cores - 1) * nodes;
  machine.has_one_core = node_cores < kTwoCores;
  machine.memory_bytes_per_s = memory_bandwidth(cpu) / cpu.numa_nodes * nodes;
  machine.level1_bytes_per_s = read_bandwidth(cpu, kBandwidthBytes.front()) / cpu.cores;
  Design design = design_of(cpu);
  if (design.path == CpuPath::kTile && !cpu.flags.contains("amx")) {
    design.path = CpuPath::kDot;
    design.products_per_cycle = kWithoutTiles;
  }
  if (precision == Precision::kFp16 && !is_arm(cpu.arch)) {
    design.path = CpuPath::kPlain;
    design.products_per_cycle = std::min(design.products_per_cycle, kVectorProducts);
  }
  machine.path = design.path;
  machine.products_per_cycle = design.products_per_cycle;
  machine.clock_hz = design.clock_ghz * 1e9;
  return machine;
}

Result<CpuEngineMachine> cpu_engine_machine(const CpuFacts& cpu, Precision precision, int64_t processes) {
  if (const Status status = check_cpu_facts(cpu); !status) return status.error();
  if (precision != Precision::kFp16 && precision != Precision::kBf16) {
    return usage_error("unsupported-precision", fmt::format("nobody measured vLLM on CPUs in {}", info(precision).name),
                       "", "bf16 or fp16; llama.cpp has weights of fewer bits");
  }
  if (!has_bandwidth(cpu)) {
    return Error{"unknown-bandwidth", "the CPU's read bandwidth is not known", printable(cpu.name),
                 "a measurement, or that of CPUs like it"};
  }
  if (processes < 1 || static_cast<double>(processes) > cpu.numa_nodes) {
    return usage_error(
        "bad-usage",
        fmt::format("{} processes are more than {} has NUMA nodes: each takes one", processes, printable(cpu.name)),
        "tensor-parallel", fmt::format("1 to {}", cpu.numa_nodes));
  }
  return cpu_engine_machine_of(cpu, precision, processes);
}

CpuEngineStep cpu_engine_step(const CpuEngineConstants& constants, const CpuEngineMachine& machine, const LlmWork& work,
                              bool sorts, double tokens, double sequences, double context) {
  const double n = machine.threads, layers = static_cast<double>(work.layers), width = static_cast<double>(work.hidden);
  const double vocabulary = static_cast<double>(work.vocabulary);
  const double core_gb_per_s =
      machine.path == CpuPath::kPlain ? constants.plain_core_gb_per_s : constants.half_core_gb_per_s;
  CpuEngineStep step;
  step.core_s = work.weight_bytes / (n * core_gb_per_s * 1e9);
  step.memory_s = work.weight_bytes / (constants.memory_bandwidth_share * machine.memory_bytes_per_s);
  const double longer = std::max(step.core_s, step.memory_s), shorter = std::min(step.core_s, step.memory_s);
  const double power = constants.overlap_exponent;
  step.weights_s = longer * std::pow(1 + std::pow(shorter / longer, power), 1 / power);
  if (tokens > 1) {
    const double share = machine.path == CpuPath::kPlain ? constants.plain_product_share
                         : machine.path == CpuPath::kDot ? constants.dot_product_share
                                                         : constants.tile_product_share;
    const double rate =
        std::pow(n, 1 - constants.product_thread_loss) * machine.products_per_cycle * machine.clock_hz * share;
    step.products_s = (tokens * work.prefill_macs_per_token + sequences * vocabulary * width) / rate;
    step.attention_s = constants.attention_ratio * tokens * context * work.attention_macs_per_token_token / rate;
  }
  const double slowness = cpu_engine_slowness(constants, machine);
  step.activations_s = tokens * layers * width * constants.activation_ns * 1e-9 *
                       std::pow(n, -constants.activation_thread_gain) * slowness;
  step.barriers_s = layers * constants.barrier_us * 1e-6 * std::pow(n, constants.barrier_thread_exponent) * slowness;
  step.host_s = constants.host_ms * 1e-3 * slowness;
  step.sort_s = sorts ? sequences * vocabulary * constants.sort_ns * 1e-9 * slowness : 0;
  step.seconds = step.weights_s + step.products_s + step.attention_s + step.activations_s + step.barriers_s +
                 step.host_s + step.sort_s;
  return step;
}

double cpu_engine_slowness(const CpuEngineConstants& constants, const CpuEngineMachine& machine) {
  const double level1 = std::clamp(machine.level1_bytes_per_s, kLeastLevel1, kMostLevel1);
  return std::pow(kUsualLevel1 / level1, constants.slowness_exponent) *
         (machine.has_one_core ? constants.one_core_ratio : 1);
}

CpuEngineTimes cpu_engine_times(const CpuEngineConstants& constants, const CpuEngineMachine& machine,
                                const LlmWork& work, bool sorts, double prompt_tokens) {
  CpuEngineTimes times;
  times.token = cpu_engine_step(constants, machine, work, sorts, 1, 1, prompt_tokens);
  times.first = cpu_engine_step(constants, machine, work, sorts, prompt_tokens, 1, prompt_tokens / 2);
  times.http_s = constants.http_ms * 1e-3 * cpu_engine_slowness(constants, machine);
  return times;
}

}  // namespace perfcast::ai
