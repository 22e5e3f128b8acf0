#pragma once
// A fitted weightless model as one network on a program's inputs as they are (not standardised), whose sums are the
// answer: nothing is multiplied any more. What `perfcast export` writes as source. Numbers of inputs are floats: one
// that lies on a threshold to within their rounding may fall on its other side.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/weightless/lut_network.h"
#include "program/model/fit/leading_components.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

enum class IntegerTask : uint8_t {
  kBestPlatform,  // votes, the most of which win
  kTimes,         // log RPV in units of the network's scale, a power of two; relative to the mean of all platforms
};

struct IntegerForecast {
  IntegerTask task = IntegerTask::kBestPlatform;
  LutNetwork network;
  ModelInputs inputs;              // of a profile
  std::vector<size_t> columns;     // of `inputs`: those that the network reads
  std::vector<float> fill;         // [columns] stands for one that is missing
  std::vector<int64_t> platforms;  // of the bundle: what each output is of

  std::vector<std::string> names() const;                // of the columns
  std::vector<float> row(const Profile& profile) const;  // NaN: missing
};

// `platforms`: columns to keep; empty: all. Errors: "unknown-platform" for one that isn't there; "not-exportable" for
// networks that can't be joined or numbers that no 32-bit sum holds.
Result<IntegerForecast> best_as_integers(const LutNetwork& votes, const StandardisedInputs& inputs,
                                         const std::vector<int64_t>& platforms);
// The mean of `networks`, whose outputs are the components, as one.
Result<IntegerForecast> times_as_integers(std::span<const LutNetwork> networks, const LeadingComponents& components,
                                          const StandardisedInputs& inputs, const std::vector<int64_t>& platforms);

}  // namespace perfcast::program
