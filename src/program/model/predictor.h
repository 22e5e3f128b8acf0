#pragma once
// The one interface that every model family implements.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

enum class IntegerTask : uint8_t;  // program/model/weightless/integer_forecast.h
struct IntegerForecast;

// Where a training that takes long leaves what it has done, so that a killed one goes on. Models do no I/O: bytes go
// out and come in here, and whoever trains decides where they lie. Safe to call from several threads.
class FitCheckpoint {
 public:
  virtual ~FitCheckpoint() = default;
  // What save() was given for the part by this training or a killed one before it; empty: nothing.
  virtual std::string load(const std::string& part) = 0;
  // Empty bytes: the part is over and needs no more.
  virtual Status save(const std::string& part, std::string bytes) = 0;
};

// How a family is fitted, as JSON with its "schema"; null: its defaults.
using ModelSettings = std::shared_ptr<const Json>;

struct FitOptions {
  uint64_t seed = 1;
  int threads = 1;
  // Where out-of-family predictions are needed (intervals, choice of a model): groups of families that are left out in
  // turn; 0: each family alone, as many fits as there are families.
  int64_t inner_folds = 0;
  // What make_predictor() is to be given wherever the model of the fit is made anew: per fold, per family left out.
  ModelSettings settings = nullptr;
  std::function<void(const std::string&)> progress = nullptr;  // a line for people; from any thread
  FitCheckpoint* checkpoint = nullptr;
  std::string part = "model";  // names this fit's own in the checkpoint
};

// What a fitted model says about some programs.
struct Prediction {
  // [N x J] log RPV, each row's mean over the J platforms is 0.
  Eigen::MatrixXd log_rpv;
  // [N] standard deviation of log RPV over the parts that the family is made of (root mean square over the platforms):
  // where they disagree, a forecast is worth less. 0 for a family of one part.
  Eigen::VectorXd disagreement;
  // [N] the platform that the family says is the fastest, where it says so apart from times; empty: the least of
  // log_rpv.
  std::vector<int64_t> best = {};
  // [N] mean over the J platforms of log seconds of a unit of work, where the family says absolute times and can tell;
  // NaN or empty: it can't.
  Eigen::VectorXd log_seconds = {};
};

// A fitted model: features of a program -> log relative time on every platform it was fitted for.
class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual std::string family() const = 0;  // the name `train --model` takes
  // Of a family that chooses among others: what it chose.
  virtual std::string chosen_family() const { return family(); }

  // How the family is fitted, as JSON with its "schema"; null: there is nothing to set.
  virtual Json settings() const;
  // Settings of settings()' schema for later fits; absent keys stay as they are. "bad-config": an unknown key (the
  // valid ones are listed), or a value that can't be. `source` names where the JSON came from.
  virtual Status configure(const Json& settings, const std::string& source);

  // table: P programs with profiles x J platforms, entries may be absent (never filled in with a guess by callers).
  // Learns log RPV, natural log, centred per program over the platforms (reference: geometric mean).
  virtual Status fit(const TrainingTable& table, const FitOptions& options) = 0;

  // profiles -> [profiles.size() x J] log RPV, each row's mean over the J platforms is 0. Absent metrics are handled,
  // never read as 0. Does no I/O and reads no clock; safe to call from several threads.
  virtual Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const = 0;

  // Number of platforms J that predict() forecasts; 0 before fit or load.
  virtual int64_t outputs() const = 0;

  // predict(), and how far the parts disagree, for the price of one.
  virtual Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const;

  // [profiles.size() x platforms.size()] the part of log RPV, rows about any mean, that the fitted model knows of
  // platforms without times there: 0 but for models of cores and of kernels. What it learned besides has to be carried
  // over.
  virtual Eigen::MatrixXd prior_on(const std::vector<Platform>& platforms,
                                   const std::vector<const Profile*>& profiles) const;
  // [training programs x platforms.size()] the same of the programs that it was fitted on; 0 x 0: it has nothing to
  // say.
  virtual Eigen::MatrixXd prior_of_training(const std::vector<Platform>& platforms) const;

  // After fit(table, options): what a model made in the same way says about each program of the table without having
  // seen its family. Residuals of this are what intervals are calibrated on. "too-few-families" with fewer than two.
  virtual Result<Prediction> out_of_family(const TrainingTable& table, const FitOptions& options) const;

  // The fitted model as one network of look-up tables, for what reads no bundle. `platforms`: those to keep; empty:
  // all. "not-exportable": of families that are no tables, with those that are.
  virtual Result<IntegerForecast> as_integers(IntegerTask task, const std::vector<int64_t>& platforms) const;

  // State to and from a bundle. load() fails with "bad-bundle" where tensors are absent or of another shape.
  virtual void save(TensorMap& tensors) const = 0;
  virtual Status load(const TensorMap& tensors) = 0;
};

// An explicit list, and means of several as "forest+physics"; an unknown name is "unknown-model" with the valid ones
// listed.
Result<std::unique_ptr<Predictor>> make_predictor(const std::string& family);
// Configured where `settings` are of the family's schema; settings of other families leave it as it is.
Result<std::unique_ptr<Predictor>> make_predictor(const std::string& family, const ModelSettings& settings);
std::vector<std::string> predictor_families();

// [P x J] log RPV of a table, centred per row over the platforms present; NaN where absent.
Eigen::MatrixXd log_rpv(const TrainingTable& table);

}  // namespace perfcast::program
