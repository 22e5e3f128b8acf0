// Language models on devices: llm/analyze, llm/forecast, and what these know.

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "ai/llm/analysis.h"
#include "ai/llm_forecast/forecast_report.h"
#include "ai/llm_forecast/llm_forecast.h"
#include "base/json.h"
#include "service/llm_fields.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

constexpr double kMostTokens = 1e9, kMostBatch = 1e9;
constexpr size_t kMostGrid = 4096;  // rows of an answer

std::vector<Field> joined(std::vector<Field> first, std::vector<Field> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
  return first;
}

// Use cases name fields with hyphens.
Error with_underscores(Error error) {
  if (error.kind == ErrorKind::kUsage) std::replace(error.where.begin(), error.where.end(), '-', '_');
  return error;
}

Result<Answer> run_analyze(const Context&, const Request& request, const Watch&) {
  const auto config = model_of(request);
  if (!config) return config.error();
  ai::LlmWorkload workload;
  const std::string phase = request.text("phase", "prefill");
  workload.phase = phase == "decode"  ? ai::LlmPhase::kDecode
                   : phase == "train" ? ai::LlmPhase::kTrain
                                      : ai::LlmPhase::kPrefill;
  workload.batch = request.integer("batch").value_or(1);
  workload.sequence = request.integer("sequence").value_or(ai::usual_sequence(*config));
  if (request.has("context") && workload.phase != ai::LlmPhase::kDecode) {
    return usage_error("bad-usage", "a context is what decoding attends to", "context", "phase decode, or sequence");
  }
  workload.context = request.integer("context").value_or(0);
  workload.head_all_positions = !request.yes("last_position");
  workload.fused_attention = !request.yes("eager_attention");
  workload.skip_masked = request.yes("skip_masked");
  ai::WorkloadFormats formats = formats_of(request);
  formats.tensor_parallel = request.integer("tensor_parallel").value_or(1);
  if (Status taken = ai::take_formats(*config, formats, workload); !taken) return taken.error();
  const auto analysis = ai::analyze_llm(*config, workload);
  if (!analysis) return with_underscores(analysis.error());
  return Answer{compact_text(ai::analysis_json(*analysis))};
}

Result<ai::SweepGrid> grid_of(const ai::LlmConfig& config, const Request& request) {
  ai::SweepGrid grid;
  ai::LlmWorkload formats;
  if (Status taken = ai::take_formats(config, formats_of(request), formats); !taken) return taken.error();
  grid.request.weights = formats.weights;
  grid.request.activations = formats.activations;
  grid.request.kv = formats.kv;
  grid.request.weight_bits_per_value = formats.weight_bits_per_value;
  grid.request.fused_attention = !request.yes("eager_attention");
  grid.request.output_tokens = request.integer("output_tokens").value_or(128);
  if (request.has("batch")) grid.batches = request.integers("batch");
  if (request.has("tensor_parallel")) grid.tensor_parallels = request.integers("tensor_parallel");
  grid.sequences = request.has("sequence") ? request.integers("sequence")
                                           : std::vector<int64_t>{ai::usual_prompt(config, grid.request.output_tokens)};
  return grid;
}

Result<Answer> run_llm_forecast(const Context& context, const Request& request, const Watch&) {
  const auto config = model_of(request);
  if (!config) return config.error();
  const auto grid = grid_of(*config, request);
  if (!grid) return grid.error();
  const bool of_kernels = request.yes("eager_attention") || request.yes("graph_launch");
  if (of_kernels && request.has("engine") && request.text("engine") != ai::kNoEngine) {
    return usage_error("bad-usage", "eager_attention and graph_launch are of kernels without an engine", "engine",
                       "engine none with them");
  }
  const auto engine = of_kernels ? Result<ai::EngineTerms>(ai::EngineTerms()) : engine_of(context, request);
  if (!engine) return engine.error();
  auto devices = devices_of(context, request, *engine, false);
  if (!devices) return devices.error();
  if (grid->size() * devices->size() > kMostGrid) {
    return usage_error("bad-usage", std::to_string(grid->size() * devices->size()) + " forecasts in one request",
                       "batch", "at most " + std::to_string(kMostGrid) + ": devices x batches x sequences x degrees");
  }
  for (ai::ForecastDevice& device : *devices) {
    device.terms.step.launch = request.yes("graph_launch") ? ai::LaunchMode::kGraph : ai::LaunchMode::kStream;
    if (const auto link = request.number("link_bytes_per_s")) device.terms.step.link_bytes_per_s = *link;
  }
  if (Status taken = take_amounts(context, request, "power_w", *devices, &ai::DeviceTerms::power_w); !taken) {
    return taken.error();
  }
  const auto report = ai::report_forecast(*config, *devices, *grid);
  if (!report) return with_underscores(report.error());
  return Answer{compact_text(ai::forecast_json(*report))};
}

Result<Answer> run_models(const Context&, const Request&, const Watch&) {
  return Answer{compact_text(ai::model_list_json())};
}

Result<Answer> run_devices(const Context& context, const Request&, const Watch&) {
  const auto provider = context.devices();
  if (!provider) return provider.error();
  const auto list = ai::device_list_json(**provider);
  if (!list) return list.error();
  return Answer{compact_text(*list)};
}

}  // namespace

std::vector<Operation> llm_operations() {
  return {
      {.name = "llm/models",
       .summary = "Lists the built-in language models.",
       .answer = "perfcast.llm.models/1",
       .run = run_models},
      {.name = "llm/devices",
       .summary = "Lists the devices that forecasts of language models know.",
       .answer = "perfcast.llm.devices/1",
       .run = run_devices},
      {.name = "llm/analyze",
       .summary = "Lists every operator of one step of a model: its sizes, products, bytes and intensity.",
       .answer = "perfcast.llm.analysis/1",
       .fields = joined(
           model_fields(),
           {{.name = "phase",
             .meaning = "The step whose operators are listed. Default: prefill.",
             .choices = {"prefill", "decode", "train"}},
            {.name = "batch",
             .kind = FieldKind::kInteger,
             .meaning = "How many sequences (or images) run at once. Default: 1.",
             .least = 1,
             .most = kMostBatch},
            {.name = "sequence",
             .kind = FieldKind::kInteger,
             .meaning = "How many tokens each sequence has. Default: 2048, or as many as the model takes.",
             .least = 1,
             .most = kMostTokens},
            {.name = "context",
             .kind = FieldKind::kInteger,
             .meaning = "With phase decode: how many tokens a new token attends to, itself included.",
             .least = 1,
             .most = kMostTokens},
            {.name = "tensor_parallel",
             .kind = FieldKind::kInteger,
             .meaning = "The number of devices that share every layer. Default: 1.",
             .least = 1,
             .most = 65536},
            {.name = "last_position",
             .kind = FieldKind::kYes,
             .meaning = "In prefill, computes the output head for the last position alone."},
            {.name = "eager_attention", .kind = FieldKind::kYes, .meaning = "Writes attention scores to memory."},
            {.name = "skip_masked",
             .kind = FieldKind::kYes,
             .meaning = "Leaves out the attention scores that the causal mask hides."}}),
       .run = run_analyze},
      {.name = "llm/forecast",
       .summary = "Forecasts time, tokens/s, memory, energy and cost of a model on devices.",
       .answer = "perfcast.llm.forecast/1",
       .fields = joined(joined(model_fields(), engine_fields()),
                        {{.name = "batch",
                          .kind = FieldKind::kIntegers,
                          .meaning = "How many sequences run at once. Default: 1.",
                          .least = 1,
                          .most = kMostBatch},
                         {.name = "sequence",
                          .kind = FieldKind::kIntegers,
                          .meaning = "How many tokens the prompt has. Default: 2048, or as many as the model takes.",
                          .least = 1,
                          .most = kMostTokens},
                         {.name = "output_tokens",
                          .kind = FieldKind::kInteger,
                          .meaning = "How many new tokens each sequence gets. Default: 128.",
                          .least = 1,
                          .most = kMostTokens},
                         {.name = "tensor_parallel",
                          .kind = FieldKind::kIntegers,
                          .meaning = "How many devices share every layer. Default: 1.",
                          .least = 1,
                          .most = 65536},
                         {.name = "link_bytes_per_s",
                          .kind = FieldKind::kNumber,
                          .meaning = "What a device sends to another. Default: as its data sheet says.",
                          .unit = "bytes/s",
                          .least = 1,
                          .most = 1e18},
                         {.name = "power_w",
                          .kind = FieldKind::kAmounts,
                          .meaning = "What one device draws while it serves, by device.",
                          .unit = "W",
                          .least = 1e-3,
                          .most = 1e9},
                         {.name = "eager_attention",
                          .kind = FieldKind::kYes,
                          .meaning = "Of kernels without an engine: attention scores go through memory."},
                         {.name = "graph_launch",
                          .kind = FieldKind::kYes,
                          .meaning = "Of kernels without an engine: they are launched as one graph."}}),
       .run = run_llm_forecast}};
}

}  // namespace perfcast::service
