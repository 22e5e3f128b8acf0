#pragma once
// A claim about the performance of an AI system: what was said, as far as it was said. What is absent was not stated;
// nothing is assumed in its place.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/audit/claim_units.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// A number as it was printed: in base units (s, 1/s, FLOP/s, bytes/s, ratio), with half a unit of its last digit.
struct ClaimedNumber {
  ClaimMetric metric = ClaimMetric::kLatency;
  double value = 0;
  double half_unit = 0;
  std::string text;  // "5.28 ms"

  // The range that a bound is held against: rounding, but never more than 5%, which "2000" would leave open.
  double least() const { return value - slack(); }
  double most() const { return value + slack(); }

  double slack() const { return half_unit < 0.05 * value ? half_unit : 0.05 * value; }
};

// How good the implementation is that something was measured with, from below.
enum class ClaimRung { kUnstated, kNaive, kCompiler, kHand, kFramework, kLibrary };
enum class LatencyDefinition { kUnstated, kEndToEnd, kKernel, kPerToken, kFirstToken, kInverseThroughput };
enum class LatencyStatistic { kUnstated, kMean, kPercentile };
// What a rate of tokens is of.
enum class ClaimPhase { kDecode, kPrefill, kTraining };
enum class ClaimScope { kUnstated, kSystem, kPerUser };

// What a speed-up is over: another claim of the file, or what is said of it here.
struct ClaimedBaseline {
  std::string claim;  // id; empty: the fields below
  std::optional<ClaimedNumber> number;
  std::string device, precision;
  ClaimRung rung = ClaimRung::kUnstated;
  std::optional<int64_t> threads;
};

struct ClaimedSpeedup {
  ClaimedNumber ratio;
  ClaimedBaseline over;
};

struct ClaimedAccuracy {
  double ratio = 0;  // 76.46% is 0.7646
  std::string metric;
  std::optional<double> reference_ratio;
  std::optional<double> least_share;  // of the reference
};

struct Claim {
  std::string id, says, source, system, device, model, precision, weights, dataset, split, libraries, language;
  std::vector<ClaimedNumber> numbers;  // the main one first
  std::vector<ClaimedSpeedup> speedups;
  std::optional<ClaimedAccuracy> accuracy;
  std::vector<int64_t> shape;  // m, n, k of a product
  std::optional<int64_t> devices, batch, concurrency, sequence, input_tokens, output_tokens, threads;
  std::optional<double> tokens_per_step;  // speculative decoding: tokens that one pass of the model yields, mean
  std::optional<bool> speculative, sparse, padded, offload, prefix_cached, in_cache;
  LatencyDefinition latency_definition = LatencyDefinition::kUnstated;
  LatencyStatistic statistic = LatencyStatistic::kUnstated;
  ClaimScope scope = ClaimScope::kUnstated;
  ClaimPhase phase = ClaimPhase::kDecode;
  bool phase_stated = false;  // else a rate of tokens is read as one of new tokens, and may count prompts
  ClaimRung rung = ClaimRung::kUnstated;
  std::vector<std::string>
      assumed;  // fields that the claim's author did not state and that whoever wrote it down chose

  const ClaimedNumber* find(ClaimMetric metric) const {
    for (const ClaimedNumber& number : numbers) {
      if (number.metric == metric) return &number;
    }
    return nullptr;
  }
};

struct ClaimsFile {
  std::string source;
  std::vector<DeviceFacts> devices;  // that the file brings along, before those of the catalogue
  std::vector<Claim> claims;
};

}  // namespace perfcast::ai
