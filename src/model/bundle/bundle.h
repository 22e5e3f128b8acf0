#pragma once
// A bundle is one file: 8 bytes magic "PCBUNDLE", uint32 version, uint64 header bytes, JSON header, raw little-endian
// tensors (64-byte aligned), CRC-32 of all before it. It holds a fitted predictor and what turns its output into a
// forecast: platforms, conformal quantiles, residual covariance, training features, card.

#include <Eigen/Dense>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "corpus/corpus.h"
#include "model/features/feature_space.h"
#include "model/forecast/calibration.h"
#include "model/predictor.h"

namespace perfcast {

// Named arrays of double or float (kept in the precision they were put in), and small JSON values.
class TensorMap {
 public:
  void put(const std::string& name, const Eigen::MatrixXd& values);
  void put_float(const std::string& name, const Eigen::MatrixXf& values);
  void put_bytes(const std::string& name, const std::string& bytes);  // opaque state of a library's model
  void put_json(const std::string& name, Json value);
  // "bad-bundle" where absent, or where rows/cols >= 0 differ.
  Result<Eigen::MatrixXd> get(const std::string& name, int64_t rows = -1, int64_t cols = -1) const;
  Result<Eigen::MatrixXf> get_float(const std::string& name, int64_t rows = -1, int64_t cols = -1) const;
  Result<std::string> get_bytes(const std::string& name) const;
  Result<Json> get_json(const std::string& name) const;
  // Views under "prefix/": for models made of models.
  TensorMap within(const std::string& prefix) const;
  void put_within(const std::string& prefix, const TensorMap& other);

 private:
  friend class BundleCodec;
  std::map<std::string, Eigen::MatrixXd> doubles_;
  std::map<std::string, Eigen::MatrixXf> floats_;
  std::map<std::string, std::string> bytes_;
  std::map<std::string, Json> json_;
};

struct ModelCard {
  std::string name, created_utc, perfcast_version, model;
  std::vector<Source> sources;  // data and licences
  std::string licence;          // of the bundle itself
  Json scores;                  // perfcast.evaluation/1 of the split that it was chosen by
  std::string notes;
};

struct Bundle {
  ModelCard card;
  std::vector<Platform> platforms;  // order of the predictor's outputs
  std::vector<Server> servers;
  std::vector<Program> programs;              // trained on
  std::vector<std::string> instruction_sets;  // of the training profiles
  HostFacts training_host;
  FeatureSpace feature_space;  // that distances and explanations use
  std::vector<std::string> feature_names;
  Eigen::MatrixXd training_features;                          // P x F, as model/features.h makes them
  Eigen::MatrixXd training_log_rpv;                           // P x J, NaN where absent
  Eigen::VectorXd training_log_seconds_per_instruction_mean;  // P: mean over platforms, for absolute seconds
  MetricValues typical_rates;  // events per instruction of a typical training program, of the metrics features use
  Calibration calibration;
  double distance_limit = 0;      // feature distance to the nearest training program above it: out of distribution
  double kernel_share_limit = 0;  // share of CPU time in the kernel above it: likewise
  std::shared_ptr<Predictor> predictor;
};

// Any corrupt, truncated or future file is "bad-bundle" / "future-version"; never reads past the end.
Result<Bundle> read_bundle(const std::string& path);
Result<Bundle> parse_bundle(const std::string& bytes, const std::string& source);
Status write_bundle(const Bundle& bundle, const std::string& path);
// What write_bundle writes. The same bundle gives the same bytes.
Result<std::string> bundle_bytes(const Bundle& bundle);

}  // namespace perfcast
