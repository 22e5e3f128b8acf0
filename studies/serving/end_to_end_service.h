#pragma once
// Measured deployments, simulated: the service as the benchmark started it, under its load.

#include <memory>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/serving/serving_forecast.h"
#include "studies/serving/end_to_end_points.h"

namespace perfcast::ai::serving_study {

// Where the benchmark asks for something else than the engine's own defaults. As its scripts of 2026 have it: SGLang
// and TensorRT-LLM keep keys in 8 bits, and so does vLLM with gpt-oss on a B200; a step of TensorRT-LLM holds 8,192
// tokens or one whole prompt beside a token of each client (gpt-oss: 20,000), one of SGLang 16,384 (fp8: 32,768; on
// four devices 8,192); SGLang looks for new requests every 10 steps, and every 30 from 16 clients; groups of
// TensorRT-LLM let prompts in together, within 60 steps (gpt-oss: 50, the engine's default); both send tokens 10 at a
// time (gpt-oss on TensorRT-LLM: 20; SGLang in fp8: 30), but for the first. gpt-oss computes in 8 bits on a B200. Runs
// from elsewhere state nothing: the engine's defaults.
struct ServiceSettings {
  Precision kv = Precision::kBf16;
  std::optional<Precision> activations;  // else as the model is stored
  int64_t sent_tokens = 1;               // of an answer at a time
  std::optional<int64_t> step_tokens;    // else the engine's own
  int64_t receive_steps = 1, balance_steps = 0;
};
ServiceSettings settings_of(const EndToEndPoint& point);

// Means of requests.
struct SimulatedTimes {
  double further_s = 0, first_s = 0;
};

class EndToEndService {
 public:
  // "unknown-device"; errors of model_of().
  static Result<EndToEndService> of(const EndToEndPoint& point, const DeviceCatalogue& devices);

  const EndToEndPoint& point() const { return point_; }
  const std::string& device_name() const { return request_.devices.front().facts.name; }
  // Steps and front end by so many half widths of the profile's 90% interval slower.
  Result<SimulatedTimes> simulate(const EngineProfile& profile, double half_widths = 0) const;

 private:
  EndToEndPoint point_;
  int64_t sent_tokens_ = 1;
  ServingRequestFor request_;  // but the profile
};

}  // namespace perfcast::ai::serving_study
