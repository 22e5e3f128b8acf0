#pragma once
// What a serving engine takes on a CPU server for the first token and for each further one. One step has one form,
// whether it reads a prompt or writes a token:
//
//   step(T tokens of S sequences, c tokens of context on average), n threads
//     = ((W / (n g))^p + (W / (share x bandwidth))^p)^(1/p)            weights through cores and through memory
//     + [T > 1] (T products + S head + attention_ratio x T c products of attention) / (n^(1 - loss) x rate)
//     + (T x layers x width x activation / n^a + layers x barrier x n^b + host) x slowness
//     + S x vocabulary x sort x slowness                               where the model's defaults cut the vocabulary
//   rate = products a cycle x clock x share of the path
//   slowness = (130 GB/s / level-1 read bandwidth of a core)^k, x one_core where there is no second one
//   further token = step(1, 1, prompt);  first token = step(prompt, 1, prompt / 2) + HTTP x slowness
//
// Single streams of vLLM were measured: dense models in 16 bits.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/cpu_tokens/cpu_facts.h"
#include "ai/cpu_tokens/llm_work.h"
#include "ai/llm/precision.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// All are 0 or more. Threads are one for each physical core that the engine uses.
struct CpuEngineConstants {
  double plain_product_share = 0;      // of the peak: vector units without instructions for bf16, and all of fp16
  double dot_product_share = 0;        // ... with them (AVX512_BF16, Arm's BFMMLA)
  double tile_product_share = 0;       // ... AMX
  double plain_core_gb_per_s = 0;      // weights that a thread takes in, one token at a time
  double half_core_gb_per_s = 0;       // ... with instructions for bf16
  double memory_bandwidth_share = 0;   // of the measured read bandwidth
  double overlap_exponent = 1;         // p; 1: cores and memory one after the other
  double product_thread_loss = 0;      // exponent of threads
  double attention_ratio = 0;          // cost of its products over that of others
  double activation_ns = 0;            // of one value of one token, on one thread
  double activation_thread_gain = 0;   // a
  double barrier_us = 0;               // of one layer, on one thread
  double barrier_thread_exponent = 0;  // b
  double host_ms = 0;                  // scheduler, inputs, output
  double sort_ns = 0;                  // of one word of the vocabulary
  double slowness_exponent = 0;        // k
  double one_core_ratio = 1;
  double http_ms = 0;  // with tokeniser and client
};

// Constants by their names in JSON, for fits and tables. Those of a factor are fitted as logarithms.
struct CpuEngineConstant {
  const char* name;
  double CpuEngineConstants::*member;
  double start, least, most;
  bool is_factor;
};
const std::vector<CpuEngineConstant>& cpu_engine_constants();

// How products are computed.
enum class CpuPath : uint8_t { kPlain, kDot, kTile };
std::string_view name_of(CpuPath path);  // "plain", "bf16", "AMX"

// What the engine makes of a machine: vLLM binds each of its processes to one NUMA node, with a thread for each
// physical core but one, which is kept for the server. So a machine of four nodes is as fast as a quarter of it, unless
// four processes share the model.
struct CpuEngineMachine {
  double threads = 1;
  bool has_one_core = false;                    // in a node: the server shares it
  double memory_bytes_per_s = kUnknown;         // of the nodes in use
  double level1_bytes_per_s = kUnknown;         // of one core
  CpuPath path = CpuPath::kPlain;               // in `precision`
  double products_per_cycle = 0, clock_hz = 0;  // of a core; typical of its design when all are busy
};

// The 16-bit format that the engine takes by default: bf16 with AVX-512 or on Arm, else fp16.
Precision usual_cpu_precision(const CpuFacts& cpu);

// Core design, finer than core_design(): "cooper-lake" has instructions for bf16 that "cascade-lake" lacks.
std::string cpu_engine_design(const CpuFacts& cpu);

// `processes` share the model, each on its NUMA node. "unknown-bandwidth"; "bad-usage" at "tensor-parallel" where there
// are fewer nodes; "unsupported-precision" for anything but fp16 and bf16; errors of check_cpu_facts().
Result<CpuEngineMachine> cpu_engine_machine(const CpuFacts& cpu, Precision precision, int64_t processes);
// The same, unchecked.
CpuEngineMachine cpu_engine_machine_of(const CpuFacts& cpu, Precision precision, int64_t processes);

// Seconds. `work` is in 16 bits.
struct CpuEngineStep {
  double core_s = 0, memory_s = 0;  // alone; weights_s is of both
  double weights_s = 0, products_s = 0, attention_s = 0, activations_s = 0, barriers_s = 0, host_s = 0, sort_s = 0;
  double seconds = 0;
};
CpuEngineStep cpu_engine_step(const CpuEngineConstants& constants, const CpuEngineMachine& machine, const LlmWork& work,
                              bool sorts, double tokens, double sequences, double context);

// How much longer one core takes for the host's work than a usual one.
double cpu_engine_slowness(const CpuEngineConstants& constants, const CpuEngineMachine& machine);

struct CpuEngineTimes {
  CpuEngineStep token, first;
  double http_s = 0;  // of the first token, beside its step
  double further_s() const { return token.seconds; }
  double first_s() const { return first.seconds + http_s; }
};
CpuEngineTimes cpu_engine_times(const CpuEngineConstants& constants, const CpuEngineMachine& machine,
                                const LlmWork& work, bool sorts, double prompt_tokens);

}  // namespace perfcast::ai
