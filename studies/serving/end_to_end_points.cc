#include "studies/serving/end_to_end_points.h"

#include <algorithm>
#include <tuple>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/stored_format.h"
#include "ai/serving/drawn_trace.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/table_row.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr double kMilli = 1e-3;
// Of lengths that are drawn evenly between 80 and 100% of what was asked for: mean, deviation of the logs.
constexpr double kDrawnMean = 0.9, kDrawnSpread = 0.065;
constexpr int64_t kRequestsOfClient = 10, kLeastRequests = 16, kMostRequests = 20000;

struct EngineName {
  const char *in_table, *ours;
};
constexpr EngineName kEngines[] = {{"vllm", "vllm"}, {"sglang", "sglang"}, {"trtllm", "tensorrt-llm"}};

struct ModelName {
  const char *in_table, *ours;
};
constexpr ModelName kModels[] = {
    {"deepseek-ai/DeepSeek-R1", "deepseek-r1"},      {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
    {"nvidia/DeepSeek-R1-NVFP4", "deepseek-r1"},     {"nvidia/DeepSeek-V3.1-NVFP4", "deepseek-v3"},
    {"openai/gpt-oss-120b", "gpt-oss-120b"},         {"moonshotai/Kimi-K2.5", "kimi-k2.5"},
    {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"}, {"meta-llama/Llama-3.1-8B-Instruct", "llama3.1-8b"}};

// The row as a point, or why it can't be one.
std::string point_of(const TableRow& row, EndToEndPoint& point) {
  const auto degree = [&](const char* column) { return row.integer(column).value_or(1); };
  const std::string backend = row.text("backend");
  const auto* engine = std::find_if(std::begin(kEngines), std::end(kEngines),
                                    [&](const EngineName& name) { return backend == name.in_table; });
  if (engine == std::end(kEngines)) return "engine not known";
  const auto prompt = row.integer("isl"), output = row.integer("osl"), batch = row.integer("batch_size");
  const auto first = row.positive("silicon_ttft_ms"), further = row.positive("silicon_tpot_ms");
  if (!prompt || !output || !batch || *prompt < 1 || *output < 2 || *batch < 1) return "no tokens or clients stated";
  if (!first || !further) return "no time above 0";
  if (degree("pp_size") != 1) return "pipeline parallel";
  const int64_t tensor = degree("tp_size"), data = degree("attention_dp_size"), experts_tensor = degree("moe_tp_size"),
                experts = degree("moe_ep_size");
  point.engine = engine->ours;
  point.system = row.text("system");
  point.model = row.text("model_path");
  point.precision = row.text("precision");
  point.prompt_tokens = *prompt;
  point.output_tokens = *output;
  point.clients = *batch;
  point.tensor_parallel = tensor;
  point.groups = data;
  const bool twice = experts_tensor > 1 && experts_tensor == experts && experts_tensor * experts == tensor * data;
  if (twice) (tensor > 1 ? point.tensor_parallel : point.groups) = experts;
  point.drawn_lengths = row.text("silicon_data_source").find("local file") == std::string::npos;
  point.first_s = *first * kMilli;
  point.further_s = *further * kMilli;
  if (point.first_s > point.further_s * static_cast<double>(*output)) return "waits longer than it runs";
  return {};
}

auto setting_of(const EndToEndPoint& point) {
  return std::tuple(point.engine, point.system, point.model, point.precision, point.prompt_tokens, point.output_tokens,
                    point.clients, point.tensor_parallel, point.groups, point.drawn_lengths);
}

}  // namespace

Result<EndToEndPoints> read_end_to_end(const std::string& path) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  const auto table = CsvTable::parse(*text, path);
  if (!table) return table.error();
  for (const char* column :
       {"backend", "system", "model_path", "mode", "isl", "osl", "batch_size", "silicon_ttft_ms", "silicon_tpot_ms"}) {
    if (const auto found = table->column(column); !found) return found.error();
  }
  EndToEndPoints result;
  std::map<decltype(setting_of({})), std::vector<EndToEndPoint>> settings;
  for (size_t i = 0; i < table->rows(); ++i) {
    const TableRow row(*table, i);
    EndToEndPoint point;
    const std::string problem =
        row.text("mode") == "agg" ? point_of(row, point) : "prompts and tokens on different devices";
    if (!problem.empty()) {
      ++result.left_out[problem];
      continue;
    }
    settings[setting_of(point)].push_back(point);
  }
  for (const auto& [setting, rows] : settings) {
    EndToEndPoint point = rows.front();
    std::vector<double> first, further;
    for (const EndToEndPoint& row : rows) {
      first.push_back(row.first_s);
      further.push_back(row.further_s);
    }
    point.first_s = median(first);
    point.further_s = median(further);
    result.points.push_back(std::move(point));
  }
  return result;
}

Result<LlmConfig> model_of(const EndToEndPoint& point) {
  const auto* name = std::find_if(std::begin(kModels), std::end(kModels),
                                  [&](const ModelName& each) { return point.model == each.in_table; });
  if (name == std::end(kModels)) return Error{"unknown-model", point.model + " is not known", "", ""};
  auto config = built_in_model(name->ours);
  if (!config) return config.error();
  // gpt-oss and Kimi ship in 4 bits, whatever the table calls it; of others attention stays in 16 bits.
  if (config->stored_weight_name == "mxfp4" || config->stored_weight_name == "int4") return config;
  if (point.precision == "fp4") {
    config->stored_precision = Precision::kBf16;
    store_quantised({.name = "nvfp4", .bits = 4.5, .activations = Precision::kFp8, .kept_attention = 1}, *config);
  } else if (point.precision == "fp8" && config->stored_weight_name.empty()) {
    config->stored_precision = Precision::kBf16;
    store_quantised({.name = "fp8", .bits = 8, .activations = Precision::kFp8}, *config);
  } else if (point.precision != "fp8" && !point.precision.empty() && point.precision != "bf16") {
    return Error{"unknown-precision", point.precision + " is not known", "", ""};
  }
  return config;
}

int64_t receive_steps_of(const EndToEndPoint& point) {
  if (point.engine != "sglang" || !point.drawn_lengths) return 1;
  return point.clients * point.groups >= 16 ? 30 : 10;
}

ServingTrace trace_of(const EndToEndPoint& point) {
  TraceShape shape;
  const double share = point.drawn_lengths ? kDrawnMean : 1;
  shape.log_spread = point.drawn_lengths ? kDrawnSpread : 0;
  shape.prompt_tokens = share * static_cast<double>(point.prompt_tokens);
  shape.output_tokens = share * static_cast<double>(point.output_tokens);
  shape.requests = std::clamp(kRequestsOfClient * point.clients * point.groups, kLeastRequests, kMostRequests);
  return draw_trace(shape);
}

}  // namespace perfcast::ai::serving_study
