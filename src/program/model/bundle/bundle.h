#pragma once
// A bundle is one file: 8 bytes magic "PCBUNDLE", uint32 version, uint64 header bytes, JSON header, raw little-endian
// tensors (64-byte aligned), CRC-32 of all before it. It holds a fitted predictor and what turns its output into a
// forecast: platforms, conformal quantiles, residual covariance, training features, card.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/model/features/model_inputs.h"
#include "program/model/forecast/calibration.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class ScalingModel;  // program/model/scaling/scaling_model.h

struct ModelCard {
  std::string name, created_utc, perfcast_version, model;
  std::vector<Source> sources;  // data and licences
  std::string licence;          // of the bundle itself
  // perfcast.evaluation/1 of the split that it was chosen by; null: none
  std::shared_ptr<const Json> scores;
  std::string notes;
};

struct Bundle {
  ModelCard card;
  std::vector<Platform> platforms;  // order of the predictor's outputs
  std::vector<Server> servers;
  std::vector<Program> programs;              // trained on
  std::vector<std::string> instruction_sets;  // of the training profiles
  ModelInputs model_inputs;                   // that distances and explanations use
  std::vector<std::string> feature_names;
  Eigen::MatrixXd training_features;                          // P x F, as model_inputs makes them
  Eigen::MatrixXd training_log_rpv;                           // P x J, NaN where absent
  Eigen::VectorXd training_log_seconds_per_instruction_mean;  // P: mean over platforms, for absolute seconds
  MetricValues typical_rates;  // events per instruction of a typical training program, of the metrics features use
  Calibration calibration;
  double distance_limit = 0;      // feature distance to the nearest training program above it: out of distribution
  double kernel_share_limit = 0;  // share of CPU time in the kernel above it: likewise
  std::shared_ptr<Predictor> predictor;
  std::shared_ptr<const ScalingModel> scaling;  // of many copies on its servers; null: none was learned
};

// Any corrupt, truncated or future file is "bad-bundle" / "future-version"; never reads past the end.
Result<Bundle> read_bundle(const std::string& path);
Result<Bundle> parse_bundle(std::string bytes, const std::string& source);
Status write_bundle(const Bundle& bundle, const std::string& path);
// What write_bundle writes. The same bundle gives the same bytes.
Result<std::string> bundle_bytes(const Bundle& bundle);

}  // namespace perfcast::program
