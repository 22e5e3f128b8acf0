#include "studies/latency/neusight_score.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::ai::latency_study {
namespace {

constexpr double kBytes = 4;

// How often backward reads or writes a tensor of the operator's size: gradients in and out, saved inputs, outputs.
double backward_passes(const std::string& op) {
  static const std::map<std::string, double> kPasses = {
      {"add", 0},     {"addu", 0},               // the gradient is handed on
      {"mulu", 2},    {"divu", 2}, {"div", 2},   // times a constant
      {"relu", 3},    {"gelu", 3}, {"tanh", 3},  // gradient, saved value, result
      {"mul", 6},     {"pow", 8},  {"powu", 8},  // both sides; two products and a power
      {"softmax", 3}, {"ln", 5},
  };
  const auto found = kPasses.find(op);
  return found == kPasses.end() ? 2 : found->second;
}

double stream_seconds(const GpuModels& models, double values) {
  const double rate = models.vectors.unary[VectorTerm::kStreamRate];
  return values * kBytes / (models.device.memory_bytes_per_s * rate);
}

StepSeconds part_seconds(const GpuModels& models, const TracedOperator& traced, const TracedPart& part) {
  const ProductShape& s = part.shape;
  switch (part.kind) {
    case TracedPart::Kind::kLinear:
      return {models.product(s).seconds, models.product({1, s.m, s.n, s.k, true}).seconds +
                                             models.product({1, s.n, s.m, s.k, true}).seconds +
                                             stream_seconds(models, 3 * s.k * s.n)};
    case TracedPart::Kind::kBatched:
      return {models.product(s).seconds, models.product({s.batch, s.m, s.n, s.k, false}).seconds +
                                             models.product({s.batch, s.k, s.m, s.n, false}).seconds};
    case TracedPart::Kind::kVector:
      return {models.vector({vector_kind(part.op).value_or(VectorKind::kUnary), part.rows, part.columns}).seconds,
              stream_seconds(models, backward_passes(part.op) * part.rows * part.columns)};
    case TracedPart::Kind::kMemory:
      break;
  }
  if (traced.op == "getitem") return {};  // a view: nothing moves
  double values = 0;
  for (const double tensor : part.tensors) values += tensor;
  const double back = traced.op == "contiguous" ? 0 : 2 * part.tensors.back();
  return {stream_seconds(models, values), stream_seconds(models, back)};
}

double times_of(const TimedModel& timed, const TracedOperator& traced) {
  return traced.segment == "layer" ? static_cast<double>(timed.layers) : 1;
}

}  // namespace

StepSeconds step_seconds(const GpuModels& models, const TimedModel& timed) {
  StepSeconds sum;
  for (const TracedOperator& traced : timed.operators) {
    const double times = times_of(timed, traced);
    for (const TracedPart& part : traced.parts) {
      const StepSeconds one = part_seconds(models, traced, part);
      sum.forward_s += times * one.forward_s;
      sum.backward_s += times * one.backward_s;
    }
  }
  if (!timed.training) sum.backward_s = 0;
  return sum;
}

StepSeconds labelled_seconds(const TimedModel& timed) {
  StepSeconds sum;
  for (const TracedOperator& traced : timed.operators) {
    const double times = times_of(timed, traced);
    sum.forward_s += times * traced.label_forward_s;
    if (timed.training) sum.backward_s += times * traced.label_backward_s;
  }
  return sum;
}

std::vector<EndToEndRow> end_to_end(const GpuModels& models, std::span<const TimedModel> timed,
                                    const std::string& device) {
  std::vector<EndToEndRow> rows;
  for (const TimedModel& one : timed) {
    if (one.device != device || one.operators.empty()) continue;
    rows.push_back({&one, step_seconds(models, one).total(), labelled_seconds(one).total()});
  }
  return rows;
}

ErrorSummary product_errors(const GpuModels& models, std::span<const ProfiledProduct> rows, bool weights,
                            double log_error) {
  std::vector<double> errors;
  double sum = 0, inside = 0;
  for (const ProfiledProduct& row : rows) {
    if (row.shape.weights != weights) continue;
    const OperatorTime time = models.product(row.shape);
    const double ratio = (time.seconds + time.launch_seconds) / row.seconds;
    errors.push_back(ratio - 1);
    sum += std::abs(ratio - 1);
    if (std::abs(std::log(ratio)) <= kInterval90 * log_error) inside += 1;
  }
  ErrorSummary summary;
  summary.n = errors.size();
  if (errors.empty()) return summary;
  const auto n = static_cast<double>(errors.size());
  summary.mean_abs = sum / n;
  summary.bias = median(errors);
  summary.within_90 = inside / n;
  return summary;
}

double published_error(std::span<const PublishedPrediction> predictions, const std::string& method,
                       std::span<const EndToEndRow> rows) {
  double sum = 0;
  for (const EndToEndRow& row : rows) {
    const auto found = std::find_if(predictions.begin(), predictions.end(), [&](const PublishedPrediction& p) {
      return p.method == method && p.device == row.timed->device && p.model == row.timed->model &&
             p.training == row.timed->training && p.sequence == row.timed->sequence && p.batch == row.timed->batch;
    });
    if (found == predictions.end()) return kUnknown;
    sum += std::abs(found->seconds / row.timed->seconds - 1);
  }
  return rows.empty() ? kUnknown : sum / static_cast<double>(rows.size());
}

}  // namespace perfcast::ai::latency_study
