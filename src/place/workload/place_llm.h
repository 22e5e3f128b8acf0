#pragma once
// A language model on every device: a batch of requests from the prompts to the last token, with what it needs in
// memory and how many devices hold it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/llm_forecast/llm_forecast.h"
#include "base/result.h"
#include "base/unknown.h"
#include "place/workload/place_product.h"
#include "place/workload/placement.h"

namespace perfcast::place {

struct LlmPlaceRequest {
  ai::LlmConfig config;
  // Its tensor_parallel: devices that share the model; 0: as few as hold it, at most kMostShared.
  ai::LlmRequest request;
  bool graph_launch = false;
  ai::EngineTerms engine;  // of accelerators; CPUs run llama.cpp
  // Of CPUs, where those of `request` are the usual ones and nobody asked for them.
  ai::Precision cpu_weights = ai::Precision::kQ4_K_M;
  std::optional<double> cpu_bits_per_value;
  double host_link_bytes_per_s = kUnknown;
  double link_bytes_per_s = kUnknown;  // between devices that share the model, in the place of their own
  bool count_load = false;             // the time includes bringing the weights to the device, once
};
inline constexpr int64_t kMostShared = 8;  // devices of one node

// Formats in which the CPUs' model was fitted: 4 to 5 bits a weight. Others are carried over.
bool is_fitted_on_cpus(ai::Precision weights);

class LlmPlacer {
 public:
  // Errors of check_config(), and of cpu_work_of() but "no-decoder": encoders have no forecast on CPUs, and rows say
  // so. Devices, CPUs and bundle must outlive it.
  static Result<LlmPlacer> create(LlmPlaceRequest request, const std::vector<PlaceDevice>& devices,
                                  const std::vector<PlaceCpu>& cpus, const ai::TokenBundle& tokens);

  // Not finished: see finish_placement(). A device that refuses (no units, too few heads, no link) has a row that says
  // why; the error is the refusal where there is no other row, or where the request itself is wrong.
  Result<Placement> place();
  // Of a row of place() by its name, with another batch and as many devices; absent where they don't hold it.
  std::optional<SizedTime> at_size(const std::string& device, int64_t batch);

 private:
  struct Shared {
    ai::LlmForecaster forecaster;
    int64_t devices = 1;  // that share the model
  };

  LlmPlacer(LlmPlaceRequest request, const std::vector<PlaceDevice>& devices, const std::vector<PlaceCpu>& cpus,
            const ai::TokenBundle& tokens)
      : request_(std::move(request)), devices_(devices), cpus_(cpus), tokens_(tokens) {}

  PlacementRow row_of(size_t device, std::optional<Error>& refusal);
  PlacementRow row_of(const PlaceCpu& cpu) const;
  // The whole time of a forecast on a device, with its transfers, and of these alone.
  struct Seconds {
    double whole = 0, transfer = 0, load = 0;
    bool assumed = false;
  };
  Seconds seconds_of(const ai::LlmForecast& forecast, const DeviceFacts& device) const;
  // Of one device, over `whole_s`; absent where it isn't modelled.
  static std::optional<double> modelled_power_w(const ai::LlmForecast& forecast, const DeviceFacts& device,
                                                double whole_s);

  LlmPlaceRequest request_;
  const std::vector<PlaceDevice>& devices_;
  const std::vector<PlaceCpu>& cpus_;
  const ai::TokenBundle& tokens_;
  std::optional<ai::LlmWork> work_;  // absent for encoders
  std::vector<Shared> shared_;       // as devices_
};

}  // namespace perfcast::place
