#pragma once
// Scores of simulated deployments beside measured ones, and the profiles that they vouch for.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/result.h"
#include "base/unknown.h"
#include "studies/serving/end_to_end_points.h"

namespace perfcast::ai::serving_study {

struct EndToEndScore {
  std::string engine, split, predictor, part, figure;
  int64_t n = 0;
  // Means of requests: forecast over measured, less 1.
  double mean_error = kUnknown, median_error = kUnknown, bias = kUnknown, coverage = kUnknown;
};

struct EndToEndEvaluation {
  std::vector<EndToEndScore> scores;
  std::vector<EngineProfile> profiles;  // by all of their points; of vLLM, the ratios of its intervals are new
};

// vLLM is simulated as it is shipped, TensorRT-LLM by its rules and vLLM's constants: no point is fitted. SGLang has
// one constant of its own, what the host takes to launch a kernel of experts or latents. All its points are of one
// model on one device: it is fitted with each format left out, and once on TensorRT-LLM's points of other models. 90%
// intervals of these two are those of points left out: the root of the mean over groups of their mean squares, without
// the group. Those of all three are then made wider or narrower by width_ratio() of the other groups.
// "too-few-rows"; points that can't be simulated.
Result<EndToEndEvaluation> evaluate_end_to_end(const std::vector<EndToEndPoint>& points, const DeviceCatalogue& devices,
                                               const EngineBundle& bundle, int threads);

// The profiles in place of those of their names.
void set_profiles(const EndToEndEvaluation& evaluation, EngineBundle& bundle);

}  // namespace perfcast::ai::serving_study
