#pragma once
// The time of a transformer's operators on this machine, learned from steps of other transformers that were timed here.
//
// An operator takes what it costs to begin and to go through its values, and the longer of reading and computing, with
// some of both where they are close:
//   t = sum of a_i * additive_i + ((b * bytes / rate)^p + (sum of c_j * compute_j)^p)^(1/p)
//   rate = memory's * (read(footprint) / memory's)^g
// where read() is what this machine reads per second when it goes through so many bytes over and over (HostRates), and
// a, b, c >= 0, p of 1 to 8 and g of 1/2 to 3/2, which says what caches are worth to such work, are fitted to the
// logarithms of measured times: for each form of work, phase and, of what isn't a product, name.

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ai/transformer_forecast/host_rates.h"
#include "ai/transformer_forecast/step_times.h"
#include "ai/transformer_forecast/step_work.h"
#include "base/result.h"

namespace perfcast::ai {

// A timed step of a transformer; `model` tells the transformers apart.
struct StepSample {
  std::string model;
  LlmConfig config;
  StepPoint point;
  StepTimes times;
};

struct OperatorForecast {
  OperatorName name = OperatorName::kTokenEmbedding;
  double seconds = 0, lower_s = 0, upper_s = 0;  // 90%
  double roofline_s = 0;                         // bandwidth of the memory and peak alone
};

struct StepForecast {
  double seconds = 0, lower_s = 0, upper_s = 0;  // as its operators': 90%; NaN where `beyond` says that none is known
  // What of the step lies outside of all that was learned from, in words: nothing says how far such a forecast is off.
  std::vector<std::string> beyond;
  // The longer of all bytes at the memory's bandwidth and all operations at the peak: the rival. Weights in bytes count
  // with the peak of bytes where the CPU has one.
  double roofline_s = 0;
  std::vector<OperatorForecast> operators;  // each name once, in the order of execution
};

// A step of the calibration, and what was forecast of it by the others.
struct LeftOutStep {
  std::string model;
  StepPoint point;
  double forecast_s = 0, measured_s = 0;
};

// A tenth further than what was learned from is no further.
inline constexpr double kNoFurther = 1.1;

class HostModel {
 public:
  // All samples with weights of one precision and the threads of `facts`. Intervals are the largest of nine in ten
  // relative errors of transformers that were left out, each in turn, by phase, and by operator. "too-few-runs" where
  // there are fewer than three transformers.
  static Result<HostModel> fit(const HostRates& facts, Precision precision, const std::vector<StepSample>& samples);

  Result<StepForecast> forecast(const LlmConfig& config, const StepPoint& point) const;

  const HostRates& facts() const { return facts_; }
  Precision precision() const { return precision_; }
  // Mean relative error of transformers left out, by phase: what intervals are made of.
  double left_out_error(LlmPhase phase) const;
  const std::vector<LeftOutStep>& left_out() const { return left_out_; }

 private:
  struct Key {
    LlmPhase phase;
    WorkForm form;
    OperatorName name;  // of products: kQkvProjection
    bool operator<(const Key& other) const {
      return std::tie(phase, form, name) < std::tie(other.phase, other.form, other.name);
    }
  };
  struct Fitted {
    std::vector<double> additive, compute;
    double memory = 0, cache_power = 1, power = 1;
  };
  // Of the steps of a phase that were learned from. A pass of prompts is a matter of its rows, of tokens of its
  // sequences.
  struct Learned {
    double least_weights = 0, most_weights = 0, least_rows = 0, most_rows = 0, most_tokens = 0;
  };
  static double rows_of(const StepPoint& point);
  void learn_ranges(const StepSample& sample, const StepWork& step);
  std::vector<std::string> beyond(const StepWork& step, const StepPoint& point) const;
  static Key key_of(LlmPhase phase, const OperatorWork& work);
  Status fit_forms(const std::vector<const StepSample*>& samples);
  // Sums of operators by name, in the order of execution; without intervals and what is beyond.
  Result<StepForecast> point_forecast(const LlmConfig& config, const StepPoint& point) const;
  double seconds_of(const StepWork& step, LlmPhase phase, const OperatorWork& work) const;

  HostRates facts_;
  Precision precision_ = Precision::kFp32;
  std::map<Key, Fitted> fitted_;
  std::vector<LeftOutStep> left_out_;
  std::map<LlmPhase, Learned> learned_;
  std::map<LlmPhase, double> step_width_;  // of a logarithm
  std::map<std::pair<LlmPhase, OperatorName>, double> operator_width_;
};

}  // namespace perfcast::ai
