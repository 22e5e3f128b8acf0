#include "studies/serving/end_to_end_points.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/stored_format.h"
#include "ai/serving/drawn_trace.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/table_row.h"
#include "base/text.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr double kMilli = 1e-3;
// Of lengths that are drawn evenly between 80 and 100% of what was asked for: mean, deviation of the logs. Others are
// drawn as widely: clients whose answers are all equally long would go in step for ever, which measured ones don't.
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
    {"deepseek-ai/DeepSeek-R1", "deepseek-r1"},      {"deepseek-ai/DeepSeek-V3", "deepseek-r1"},
    {"nvidia/DeepSeek-R1-NVFP4", "deepseek-r1"},     {"nvidia/DeepSeek-V3.1-NVFP4", "deepseek-v3"},
    {"openai/gpt-oss-120b", "gpt-oss-120b"},         {"moonshotai/Kimi-K2.5", "kimi-k2.5"},
    {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"}, {"meta-llama/Llama-3.1-8B-Instruct", "llama3.1-8b"}};

// The date after one of the marks, "2026-04-27" of "db-dump/2026-04-27"; empty: there is none.
std::string date_after(std::string_view source, std::initializer_list<std::string_view> marks) {
  constexpr size_t kDateLength = 10;
  for (const std::string_view mark : marks) {
    const size_t at = source.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view date = source.substr(at + mark.size(), kDateLength);
    if (date.find_first_not_of("0123456789-") == std::string_view::npos) return std::string(date);
  }
  return {};
}

// "silicon_concurrency=64"; empty where it isn't there.
std::optional<int64_t> stated_clients(std::string_view source) {
  constexpr std::string_view kMark = "silicon_concurrency=";
  const size_t at = source.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = source.substr(at + kMark.size());
  const auto number = parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

struct Degrees {
  int64_t tensor = 1, data = 1, experts_tensor = 1, experts = 1;
};

// The point's degrees; exports may state them twice over, as the product of two that are the same devices.
void set_degrees(const Degrees& stated, EndToEndPoint& point) {
  point.tensor_parallel = stated.tensor;
  point.groups = stated.data;
  const int64_t expert_devices = stated.experts_tensor * stated.experts;
  if (!point.drawn_lengths || expert_devices != stated.tensor * stated.data) return;
  if (stated.experts_tensor > 1 && stated.experts_tensor == stated.experts) {
    (stated.tensor > 1 ? point.tensor_parallel : point.groups) = stated.experts;
  } else if (stated.data > 1 && stated.data == stated.tensor) {
    point.tensor_parallel = 1;
  }
}

// The row as a point, or why it can't be one.
std::string point_of(const TableRow& row, EndToEndPoint& point) {
  const auto degree = [&](const char* column) { return row.integer(column).value_or(1); };
  const std::string backend = row.text("backend"), name = row.text("model_path");
  const auto* engine = std::find_if(std::begin(kEngines), std::end(kEngines),
                                    [&](const EngineName& each) { return backend == each.in_table; });
  if (engine == std::end(kEngines)) return "engine not known";
  const auto* model = std::find_if(std::begin(kModels), std::end(kModels),
                                   [&](const ModelName& each) { return name == each.in_table; });
  if (model == std::end(kModels)) return "model not known";
  const auto prompt = row.integer("isl"), output = row.integer("osl"), batch = row.integer("batch_size");
  const auto first = row.positive("silicon_ttft_ms"), further = row.positive("silicon_tpot_ms");
  if (!prompt || !output || !batch || *prompt < 1 || *output < 2 || *batch < 1) return "no tokens or clients stated";
  if (!first || !further) return "no time above 0";
  if (degree("pp_size") != 1) return "pipeline parallel";
  if (row.text("backend_version").empty()) return "version of the engine not stated";
  point.engine = engine->ours;
  point.model = model->ours;
  point.system = row.text("system");
  point.precision = row.text("precision");
  point.prompt_tokens = *prompt;
  point.output_tokens = *output;
  const int64_t data = degree("attention_dp_size"), clients = *batch * data;
  const std::string source = row.text("silicon_data_source");
  if (stated_clients(source).value_or(clients) != clients) return "numbers of clients that contradict each other";
  point.drawn_lengths = source.find("local file") == std::string::npos;
  set_degrees({degree("tp_size"), data, degree("moe_tp_size"), degree("moe_ep_size")}, point);
  if (clients % point.groups != 0) return "numbers of clients that contradict each other";
  point.clients = clients / point.groups;
  point.first_s = *first * kMilli;
  point.further_s = *further * kMilli;
  if (point.first_s > point.further_s * static_cast<double>(*output)) return "waits longer than it runs";
  return {};
}

struct DatedPoint {
  EndToEndPoint point;
  std::string exported, measured;
};

auto setting_of(const DatedPoint& row) {
  const EndToEndPoint& point = row.point;
  return std::tuple(point.engine, point.system, point.model, point.precision, point.prompt_tokens, point.output_tokens,
                    point.clients, point.tensor_parallel, point.groups, point.drawn_lengths);
}

auto runs_of(const EndToEndPoint& point) {
  return std::tuple(point.engine, point.system, point.model, point.precision);
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
  std::vector<DatedPoint> rows;
  std::map<decltype(runs_of({})), std::string> newest;
  for (size_t i = 0; i < table->rows(); ++i) {
    const TableRow row(*table, i);
    DatedPoint one;
    const std::string problem =
        row.text("mode") == "agg" ? point_of(row, one.point) : "prompts and tokens on different devices";
    if (!problem.empty()) {
      ++result.left_out[problem];
      continue;
    }
    const std::string source = row.text("silicon_data_source");
    one.exported = date_after(source, {"db-dump/", "source_file="});
    one.measured = date_after(source, {"measured="});
    std::string& last = newest[runs_of(one.point)];
    last = std::max(last, one.exported);
    rows.push_back(std::move(one));
  }
  std::map<decltype(setting_of({})), std::vector<DatedPoint>> settings;
  for (DatedPoint& row : rows) {
    if (row.exported == newest[runs_of(row.point)]) {
      settings[setting_of(row)].push_back(std::move(row));
    } else {
      ++result.left_out["an older export of the same runs"];
    }
  }
  for (const auto& [setting, same] : settings) {
    std::string last;
    for (const DatedPoint& row : same) last = std::max(last, row.measured);
    EndToEndPoint point = same.front().point;
    std::vector<double> first, further;
    for (const DatedPoint& row : same) {
      if (row.measured != last) {
        ++result.left_out["an older version of the engine in the same setting"];
        continue;
      }
      first.push_back(row.point.first_s);
      further.push_back(row.point.further_s);
    }
    point.first_s = median(first);
    point.further_s = median(further);
    result.points.push_back(std::move(point));
  }
  return result;
}

Result<LlmConfig> model_of(const EndToEndPoint& point) {
  auto config = built_in_model(point.model);
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

ServingTrace trace_of(const EndToEndPoint& point) {
  TraceShape shape;
  const double share = point.drawn_lengths ? kDrawnMean : 1;
  shape.log_spread = kDrawnSpread;
  shape.prompt_tokens = share * static_cast<double>(point.prompt_tokens);
  shape.output_tokens = share * static_cast<double>(point.output_tokens);
  shape.requests = std::clamp(kRequestsOfClient * point.clients * point.groups, kLeastRequests, kMostRequests);
  return draw_trace(shape);
}

}  // namespace perfcast::ai::serving_study
