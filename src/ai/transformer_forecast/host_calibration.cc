#include "ai/transformer_forecast/host_calibration.h"

#include <algorithm>

#include "ai/transformer/transformer_model.h"

namespace perfcast::ai {
namespace {

struct CalibrationRow {
  int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
  bool tied;
};

// 11 to 113 million weights that a step reads; groups of 1 to 7 queries; the smallest first.
constexpr CalibrationRow kCalibrationRows[] = {
    {9, 224, 3, 1, 64, 736, 24064, true},   {8, 320, 5, 5, 64, 896, 16000, false},
    {10, 384, 6, 3, 64, 1024, 6016, true},  {6, 448, 7, 1, 64, 1152, 24000, true},
    {4, 640, 5, 1, 128, 1728, 12032, true}, {8, 512, 8, 4, 64, 1408, 4096, true},
    {5, 896, 14, 2, 64, 2432, 20032, true}, {3, 1280, 20, 4, 64, 3456, 10048, true},
    {4, 1536, 24, 8, 64, 4096, 8000, true}};
// 198 and 396 million, made only where a forecast is asked for of more than those above read.
constexpr CalibrationRow kLargeRows[] = {{5, 1792, 14, 2, 128, 4864, 16000, false},
                                         {17, 1408, 22, 2, 64, 4096, 20032, false}};
constexpr size_t kQuickRows = 3;
constexpr int64_t kQuickTokens = 160;  // of a prompt step

// Batch and what is attended to; batch and prompt.
constexpr StepPoint kDecodePoints[] = {
    {LlmPhase::kDecode, 1, 40},  {LlmPhase::kDecode, 1, 300}, {LlmPhase::kDecode, 2, 120},
    {LlmPhase::kDecode, 3, 60},  {LlmPhase::kDecode, 4, 40},  {LlmPhase::kDecode, 4, 300},
    {LlmPhase::kDecode, 6, 150}, {LlmPhase::kDecode, 8, 40},  {LlmPhase::kDecode, 8, 200}};
constexpr StepPoint kPromptPoints[] = {{LlmPhase::kPrefill, 1, 24},  {LlmPhase::kPrefill, 1, 75},
                                       {LlmPhase::kPrefill, 1, 160}, {LlmPhase::kPrefill, 1, 320},
                                       {LlmPhase::kPrefill, 3, 48},  {LlmPhase::kPrefill, 5, 96}};
constexpr int64_t kSlots = 8, kContext = 320;
constexpr double kDecodeBudget_s = 0.06, kPromptBudget_s = 0.1;

TransformerModel calibration_model(const CalibrationRow& row, size_t index) {
  TransformerModel model = *built_in_transformer(built_in_transformers().front());
  LlmConfig& config = model.config;
  config.name = "calibration " + std::to_string(index + 1);
  config.layers = row.layers;
  config.hidden = row.hidden;
  config.heads = row.heads;
  config.kv_heads = row.kv_heads;
  config.head_dim = row.head_dim;
  config.ffn = row.ffn;
  config.vocab = row.vocab;
  config.tied_embeddings = row.tied;
  return model;
}

}  // namespace

Result<std::vector<TransformerModel>> calibration_models(const CalibrationOptions& options) {
  std::vector<TransformerModel> models;
  if (options.quick) {
    for (size_t i = 0; i < kQuickRows; ++i) models.push_back(calibration_model(kCalibrationRows[i], i));
    return models;
  }
  double read_weights = 0;
  const auto add = [&](const CalibrationRow& row) -> Status {
    models.push_back(calibration_model(row, models.size()));
    const auto step = step_work(models.back().config, options.precision, kDecodePoints[0]);
    if (!step) return step.error();
    read_weights = std::max(read_weights, step->weights);
    return {};
  };
  for (const CalibrationRow& row : kCalibrationRows) {
    if (auto status = add(row); !status) return status.error();
  }
  for (const CalibrationRow& row : kLargeRows) {
    if (options.most_weights <= kNoFurther * read_weights) break;
    if (auto status = add(row); !status) return status.error();
  }
  return models;
}

Result<HostCalibration> HostCalibration::create(const CalibrationOptions& options) {
  HostCalibration calibration(options, options.quick ? 16.0 * (1 << 20) : 512.0 * (1 << 20));
  TransformerOptions with;
  with.precision = options.precision;
  with.threads = options.threads;
  with.slots = kSlots;
  with.context = kContext;
  auto models = calibration_models(options);
  if (!models) return models.error();
  calibration.subjects_.reserve(models->size());
  for (size_t i = 0; i < models->size(); ++i) {
    auto transformer = Transformer::random((*models)[i], options.seed + i, with);
    if (!transformer) return transformer.error();
    Subject subject;
    subject.transformer = std::make_unique<Transformer>(std::move(*transformer));
    for (const StepPoint& point : kDecodePoints) subject.steps.emplace_back(point);
    for (const StepPoint& point : kPromptPoints) {
      if (!options.quick || point.batch * point.tokens <= kQuickTokens) subject.steps.emplace_back(point);
    }
    calibration.subjects_.push_back(std::move(subject));
  }
  return calibration;
}

Error interrupted_forecast() { return interrupted_error("interrupted while the forecast was made"); }

Status HostCalibration::run_round(const std::function<bool()>& is_interrupted) {
  host_.run_round();
  for (Subject& subject : subjects_) {
    for (StepMeasurement& step : subject.steps) {
      if (is_interrupted && is_interrupted()) return interrupted_forecast();
      const bool decode = step.point().phase == LlmPhase::kDecode;
      const double budget_s = options_.quick ? 0 : decode ? kDecodeBudget_s : kPromptBudget_s;
      if (auto status = step.run(*subject.transformer, budget_s, decode ? 3 : 1); !status) return status;
    }
  }
  return {};
}

std::vector<StepSample> HostCalibration::samples() const {
  std::vector<StepSample> samples;
  for (const Subject& subject : subjects_) {
    const LlmConfig& config = subject.transformer->model().config;
    for (const StepMeasurement& step : subject.steps) {
      samples.push_back({config.name, config, step.point(), step.times()});
    }
  }
  return samples;
}

}  // namespace perfcast::ai
