// The report for machines: CSV and JSON.
#include <fmt/format.h>

#include <cmath>

#include "ai/llm_forecast/forecast_report.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/report/put_known.h"

namespace perfcast::ai {
namespace {

// Whole bytes, so that a reader gets an integer; shares of packed formats are rounded up.
void put_bytes(Json& json, const char* name, double value) {
  constexpr double kLargestExact = 9'007'199'254'740'992;  // 2^53
  if (!std::isfinite(value)) return;
  if (value < kLargestExact) {
    json[name] = static_cast<int64_t>(std::ceil(value));
  } else {
    json[name] = value;
  }
}

Json classes_json(const LlmForecast& forecast) {
  Json list = Json::array();
  for (size_t i = 0; i < kOperatorClasses; ++i) {
    const auto operators = static_cast<OperatorClass>(i);
    const double first = forecast.prefill.seconds_of(operators);
    const double next = forecast.generates ? forecast.token.seconds_of(operators) : 0;
    if (!(first > 0) && !(next > 0)) continue;
    Json item{{"name", name_of(operators)}, {"prefill_s", first}};
    if (first > 0) item["prefill_bound"] = name_of(forecast.prefill.bound_of(operators));
    if (forecast.generates) {
      item["token_s"] = next;
      if (next > 0) item["token_bound"] = name_of(forecast.token.bound_of(operators));
    }
    list.push_back(std::move(item));
  }
  return list;
}

void put_detail(Json& json, const LlmForecast& forecast) {
  put_bytes(json, "weight_bytes", forecast.memory.weights);
  put_bytes(json, "kv_bytes", forecast.memory.kv);
  put_bytes(json, "activation_bytes", forecast.memory.activations);
  put_bytes(json, "reserve_bytes", forecast.memory.reserve);
  json["prefill_device_s"] = forecast.prefill.device_seconds;
  json["prefill_launch_s"] = forecast.prefill.launch_seconds;
  if (forecast.generates) {
    json["token_device_s"] = forecast.token.device_seconds;
    json["token_launch_s"] = forecast.token.launch_seconds;
    json["token_context"] = forecast.mean_context;
  }
  json["classes"] = classes_json(forecast);
}

// "given" by the user, "modelled" (energy/accelerator_power.h), or the data sheet's.
const char* power_basis(const LlmForecastReport& report, const ForecastRow& row) {
  if (row.power_is_modelled) return "modelled";
  return std::isfinite(report.devices[row.device].terms.power_w) ? "given" : "datasheet";
}

Json row_json(const LlmForecastReport& report, size_t i) {
  const ForecastRow& row = report.result.rows[i];
  Json json{
      {"device", report.device(row).name}, {"calibrated", row.calibrated},           {"batch", row.batch},
      {"sequence", row.sequence},          {"tensor_parallel", row.tensor_parallel}, {"prefill_s", row.prefill_s}};
  put_known(json, "token_s", row.token_s);
  json["tokens_per_s"] = row.tokens_per_s;
  json["lower"] = row.lower;
  json["upper"] = row.upper;
  if (row.memory_known) json["fits"] = row.fits;
  json["bound"] = name_of(row.bound());
  json["prefill_lower_s"] = row.prefill_lower_s;
  json["prefill_upper_s"] = row.prefill_upper_s;
  put_known(json, "prefill_roofline_s", row.prefill_roofline_s);
  json["prefill_bound"] = name_of(row.prefill_bound);
  put_known(json, "token_lower_s", row.token_lower_s);
  put_known(json, "token_upper_s", row.token_upper_s);
  put_known(json, "token_roofline_s", row.token_roofline_s);
  json["request_s"] = row.request_s;
  json["request_tokens_per_s"] = row.output_per_s;
  json["math"] = name_of(row.mode);
  put_bytes(json, "memory_bytes", row.memory_bytes);
  put_bytes(json, "device_memory_bytes", report.device(row).memory_bytes);
  if (row.memory_known && !row.fits) put_bytes(json, "missing_bytes", row.missing_bytes);
  if (report.fits_on[i] > 0) json["fits_on_devices"] = report.fits_on[i];
  put_known(json, "power_w", row.power_w);
  if (std::isfinite(row.power_w)) json["power_basis"] = power_basis(report, row);
  put_known(json, "energy_per_million_tokens_joules", row.energy_j_per_million);
  put_known(json, "energy_per_million_tokens_lower_joules", row.energy_lower_j_per_million);
  put_known(json, "energy_per_million_tokens_upper_joules", row.energy_upper_j_per_million);
  put_known(json, "cost_per_million_tokens_usd", row.cost_per_million);
  if (!report.details.empty()) put_detail(json, report.details[i]);
  return json;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace

std::string forecast_csv(const LlmForecastReport& report) {
  std::string text = csv_line({"device",
                               "calibrated",
                               "batch",
                               "sequence",
                               "output_tokens",
                               "tensor_parallel",
                               "prefill_s",
                               "prefill_lower_s",
                               "prefill_upper_s",
                               "prefill_roofline_s",
                               "prefill_bound",
                               "token_s",
                               "token_lower_s",
                               "token_upper_s",
                               "token_roofline_s",
                               "tokens_per_s",
                               "lower",
                               "upper",
                               "bound",
                               "request_s",
                               "request_tokens_per_s",
                               "math",
                               "memory_bytes",
                               "fits",
                               "missing_bytes",
                               "energy_per_million_tokens_joules",
                               "cost_per_million_tokens_usd",
                               "power_w",
                               "power_basis"});
  for (const ForecastRow& row : report.result.rows) {
    text += csv_line({report.device(row).name,
                      row.calibrated ? "true" : "false",
                      std::to_string(row.batch),
                      std::to_string(row.sequence),
                      row.generates ? std::to_string(report.grid.request.output_tokens) : "",
                      std::to_string(row.tensor_parallel),
                      cell(row.prefill_s),
                      cell(row.prefill_lower_s),
                      cell(row.prefill_upper_s),
                      cell(row.prefill_roofline_s),
                      std::string(name_of(row.prefill_bound)),
                      cell(row.token_s),
                      cell(row.token_lower_s),
                      cell(row.token_upper_s),
                      cell(row.token_roofline_s),
                      cell(row.tokens_per_s),
                      cell(row.lower),
                      cell(row.upper),
                      std::string(name_of(row.bound())),
                      cell(row.request_s),
                      cell(row.output_per_s),
                      std::string(name_of(row.mode)),
                      cell(row.memory_bytes),
                      !row.memory_known ? ""
                      : row.fits        ? "true"
                                        : "false",
                      row.memory_known ? cell(row.missing_bytes) : "",
                      cell(row.energy_j_per_million),
                      cell(row.cost_per_million),
                      cell(row.power_w),
                      std::isfinite(row.power_w) ? power_basis(report, row) : ""});
  }
  return text;
}

Json forecast_json(const LlmForecastReport& report) {
  const LlmRequest& request = report.grid.request;
  Json json{{"schema", "perfcast.llm.forecast/1"},
            {"model", report.config.name},
            {"source", report.config.source},
            {"parameters", report.parameters},
            {"weights", request.weight_bits_per_value ? "file" : info(request.weights).name},
            {"weight_bits", request.weight_bits_per_value.value_or(info(request.weights).bits_per_value)},
            {"activations", info(request.activations).name},
            {"kv", info(request.kv).name},
            {"fused_attention", request.fused_attention}};
  if (report.config.has_cache()) json["output_tokens"] = request.output_tokens;
  json["interval"] = 0.9;
  json["rows"] = Json::array();
  for (size_t i = 0; i < report.result.rows.size(); ++i) json["rows"].push_back(row_json(report, i));
  json["refused"] = report.result.refused;
  json["notes"] = report.notes;
  return json;
}

Result<Json> device_list_json(const DeviceProvider& provider) {
  Json json{{"schema", "perfcast.llm.devices/1"}, {"devices", Json::array()}};
  for (const std::string& name : provider.names()) {
    const auto model = provider.find(name);
    if (!model) return model.error();
    const DeviceFacts& facts = (*model)->device();
    Json item{{"name", facts.name}, {"aliases", facts.aliases}, {"vendor", facts.vendor}};
    put_bytes(item, "memory_bytes", facts.memory_bytes);
    put_known(item, "memory_bytes_per_s", facts.memory_bytes_per_s);
    put_known(item, "link_bytes_per_s", facts.link_bytes_per_s);
    put_known(item, "power_w", facts.power_w);
    item["peak_flop_per_s"] = Json::object();
    item["calibrated"] = Json::array();
    for (size_t i = 0; i < kMathModes; ++i) {
      const auto mode = static_cast<MathMode>(i);
      put_known(item["peak_flop_per_s"], std::string(name_of(mode)), facts.peak(mode));
      if ((*model)->supports(mode) && (*model)->calibrated(mode)) item["calibrated"].push_back(name_of(mode));
    }
    item["sources"] = facts.sources;
    json["devices"].push_back(std::move(item));
  }
  return json;
}

}  // namespace perfcast::ai
