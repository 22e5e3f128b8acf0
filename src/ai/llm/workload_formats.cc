#include "ai/llm/workload_formats.h"

#include "base/text.h"

namespace perfcast::ai {
namespace {

Result<Precision> known_precision(const std::string& name, const char* where) {
  if (const auto precision = precision_named(name)) return *precision;
  return usage_error("bad-usage", "there is no precision '" + printable(name) + "'", where,
                     "one of: " + join(precision_names(), ", "));
}

}  // namespace

Status take_formats(const LlmConfig& config, const WorkloadFormats& formats, LlmWorkload& workload) {
  const auto all = formats.precision.empty() ? Result<Precision>(config.stored_precision.value_or(Precision::kFp16))
                                             : known_precision(formats.precision, "precision");
  if (!all) return all.error();
  workload.weights = workload.activations = workload.kv = *all;
  // A GGUF file's weights are what they are; those that a config.json speaks of may be stored otherwise, and are for
  // training.
  const bool otherwise = !formats.precision.empty() || workload.phase == LlmPhase::kTrain;
  if (!otherwise && config.stored_activations) workload.activations = *config.stored_activations;
  const bool as_stored = config.stored_weight_bytes && (!otherwise || config.stored_weight_name.empty());
  if (!formats.weights.empty()) {
    const auto weights = known_precision(formats.weights, "weight_precision");
    if (!weights) return weights.error();
    workload.weights = *weights;
  } else if (as_stored) {
    const auto count = count_parameters(config);
    if (!count) return count.error();
    workload.weight_bits_per_value = *config.stored_weight_bytes * 8 / static_cast<double>(count->total);
  }
  if (!formats.kv.empty()) {
    const auto kv = known_precision(formats.kv, "kv_precision");
    if (!kv) return kv.error();
    workload.kv = *kv;
  }
  workload.tensor_parallel = formats.tensor_parallel;
  return {};
}

}  // namespace perfcast::ai
