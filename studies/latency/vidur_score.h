#pragma once
// Trains the half-precision models on Vidur's profiles and says how well they forecast what was held out of the fit.

#include <string>
#include <vector>

#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/half_precision.h"
#include "base/result.h"
#include "studies/latency/vidur_reader.h"

namespace perfcast::ai::latency_study {

struct VidurScore {
  std::string work;    // "products", "vectors", "all-reduce"
  std::string split;   // what was held out
  std::string device;  // the catalogue's name
  size_t rows = 0;     // scored; each row once
  // Absolute errors relative to the measured time, and that of the roofline alone.
  double mean_error = 0, median_error = 0, error_of_90 = 0, roofline_mean_error = 0;
  double fixed_shares_error = kUnknown;  // mean, of the roofline at the shares of roofline_shares.h; of products
  // Share of the rows inside the interval that is to hold 90 of 100, its width taken from other held-out models (or
  // devices) than the one scored. Not-a-number where there are no such others.
  double coverage_90 = kUnknown;
};

struct VidurReproduction {
  std::vector<VidurScore> scores;
  HalfPrecisionBundle bundle;  // fitted to all rows, its errors from the held-out ones
};

struct VidurScoreOptions {
  size_t every = 1;                   // takes about one row in so many: a quick look
  double most_trained_tokens = 1024;  // in the split by tokens
};

// The splits: each language model in turn ("LLM"), products of more tokens than the most trained ("tokens"), each
// device in turn, forecast from its nearest kin ("device"); for all-reduces each number of workers in turn ("workers").
// "bad-vidur": fewer than two language models on a device, or fewer than two devices; else fit_half_precision's and
// find_device's errors.
Result<VidurReproduction> reproduce_vidur(const VidurProfile& profile, const std::vector<VidurAllReduce>& all_reduces,
                                          const DeviceCatalogue& catalogue, const VidurScoreOptions& options = {});

}  // namespace perfcast::ai::latency_study
