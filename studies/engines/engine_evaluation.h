#pragma once
// How well an engine's times are forecast on what was left out, beside two baselines and the noise floor.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/engine/engine_fit.h"
#include "ai/llm_forecast/device_provider.h"
#include "base/report/table.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai::engines_study {

inline constexpr const char* kOurs = "perfcast";
inline constexpr const char* kKernels = "kernels alone";
inline constexpr const char* kFourConstants = "four constants";
inline constexpr const char* kFloor = "noise floor: other servers";
inline constexpr const char* kDeviceOut = "a device left out";
inline constexpr const char* kGenerationOut = "a generation left out";
inline constexpr const char* kModelOut = "a model left out";
inline constexpr const char* kUnnamedHost = "a device left out, its host not named";
inline constexpr const char* kSameSetting = "same device, model, prompt and degree";

enum class EngineTarget : uint8_t { kClientToken, kFurtherToken, kFirstToken };
inline constexpr EngineTarget kEngineTargets[] = {EngineTarget::kClientToken, EngineTarget::kFurtherToken,
                                                  EngineTarget::kFirstToken};
const char* to_string(EngineTarget target);  // "time per token", "further token", "first token"
double measured_s(const EngineRow& row, EngineTarget target);
double forecast_s(const EngineRowForecast& forecast, EngineTarget target);

// Rows weigh as in the fit: those of one device, model, prompt and degree 1 together.
struct EngineScore {
  std::string split, predictor;
  EngineTarget target = EngineTarget::kClientToken;
  std::string part;                                       // "all", "one GPU", "several GPUs"; of one group: its name
  int64_t n = 0;                                          // rows
  double mean_error = kUnknown, median_error = kUnknown;  // |forecast / measured - 1|
  double bias = kUnknown;                                 // mean of forecast / measured - 1
  double coverage = kUnknown;                             // of 90% intervals
};

struct EngineEvaluation {
  std::vector<EngineScore> scores;
  std::vector<EngineScore> groups;  // of each device, generation and model left out, ours alone
  EngineProfile profile;            // fitted on all rows, with its spread
};

// "too-few-rows" below three devices; errors of fit_engine. `today` forecasts kernels alone.
Result<EngineEvaluation> evaluate_engine(const std::vector<EngineRow>& rows, const EngineProfile& start,
                                         const DeviceProvider& today);

ReportTable engine_scores_table(const std::vector<EngineScore>& scores);
ReportTable engine_constants_table(const EngineProfile& profile);

// What is shipped: the measured profile, and those that borrow its constants.
EngineBundle make_engine_bundle(const EngineEvaluation& evaluation, const HostLevels& hosts);

// What a group is called under a split: a generation with its process where several share a name.
std::string generation_of(const DeviceFacts& device);

}  // namespace perfcast::ai::engines_study
