#pragma once
// The models against NeuSight's measurements that they were not fitted to: its test operators, and whole models summed
// from their traced operators.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ai/latency/model/gpu_models.h"
#include "studies/latency/neusight_data.h"

namespace perfcast::ai::latency_study {

// Standard deviations of a 90% interval of a normal distribution to each side.
inline constexpr double kInterval90 = 1.645;

struct StepSeconds {
  double forward_s = 0, backward_s = 0;
  double total() const { return forward_s + backward_s; }
};

// Launch-free operator times summed over begin + layers + end. Backward: two transposed products of each product, the
// gradients of vector operators by the tensors that they must read and write, and accumulation into the weights'
// gradients.
StepSeconds step_seconds(const GpuModels& models, const TimedModel& timed);
// The labels of the same operators: what perfect operator times would give.
StepSeconds labelled_seconds(const TimedModel& timed);

struct EndToEndRow {
  const TimedModel* timed = nullptr;
  double forecast_s = 0, operators_s = 0;
  bool inside_90 = false;  // the measured time is inside the forecast's interval, where one was asked for
  double error() const { return forecast_s / timed->seconds - 1; }
  double floor_error() const { return operators_s / timed->seconds - 1; }
};
// Of one device (as the timed models name it), traced configurations.
std::vector<EndToEndRow> end_to_end(const GpuModels& models, std::span<const TimedModel> timed,
                                    const std::string& device);

struct ErrorSummary {
  size_t n = 0;
  double mean_abs = 0, bias = 0;  // of forecast / measured - 1: mean of absolutes, median
  double within_90 = 0;           // share inside the 90% interval
};
// `log_error`: the standard deviation that the interval is made of.
ErrorSummary product_errors(const GpuModels& models, std::span<const ProfiledProduct> rows, bool weights,
                            double log_error);

// What a published predictor came to on exactly the configurations of `rows`; NaN where it lacks one.
double published_error(std::span<const PublishedPrediction> predictions, const std::string& method,
                       std::span<const EndToEndRow> rows);

}  // namespace perfcast::ai::latency_study
