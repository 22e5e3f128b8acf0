// The rows of a report in every form, and the report as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ai/llm_forecast/forecast_report.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Whole bytes, so that a reader gets an integer; shares of packed formats are rounded up.
ReportValue whole_bytes(double value) {
  constexpr double kLargestExact = 9'007'199'254'740'992;  // 2^53
  if (value < kLargestExact) return static_cast<int64_t>(std::ceil(value));
  return value;
}

void put_bytes(Json& json, const char* name, double value) {
  const ReportValue bytes = whole_bytes(value);
  if (const auto* whole = std::get_if<int64_t>(&bytes.get())) {
    json[name] = *whole;
  } else {
    put_known(json, name, value);
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
  if (forecast.basis == TimeBasis::kKernels) return;
  const EngineTokenTime& token = forecast.engine.token;
  const EngineFirstTime& first = forecast.engine.first;
  json["token_parts"] = {{"weights_s", token.weights_s},
                         {"small_kernels_s", token.kernels_s},
                         {"attention_s", token.attention_s},
                         {"all_reduce_s", token.all_reduce_s},
                         {"operators_s", forecast.engine.token_operators_s},
                         {"host_s", token.host_s}};
  json["first_token_parts"] = {{"fixed_s", first.fixed_s},
                               {"tokeniser_s", first.tokeniser_s},
                               {"prefill_s", first.prefill_s},
                               {"launch_s", first.launch_s}};
}

// "measured", "weakly measured", "by physics"; "on kernels", "kernels only".
std::string engine_basis(const LlmForecastReport& report, const ForecastRow& row) {
  switch (row.basis) {
    case TimeBasis::kEngine:
      return std::string(name_of(report.engine(row).profile->basis));
    case TimeBasis::kEngineOnKernels:
      return "on kernels";
    case TimeBasis::kKernels:
      break;
  }
  return "kernels only";
}

// "given" by the user, "modelled" (machine/meter/accelerator_power.h), or the data sheet's.
const char* power_basis(const LlmForecastReport& report, const ForecastRow& row) {
  if (row.power_is_modelled) return "modelled";
  return std::isfinite(report.devices[row.device].terms.power_w) ? "given" : "datasheet";
}

// "yes", or how much is missing and how many devices would do.
std::string fits_text(const ForecastRow& row, int64_t fits_on) {
  if (!row.memory_known) return "?";
  if (row.fits) return "yes";
  std::string text = "no, " + human_bytes(row.missing_bytes) + " short";
  if (fits_on > row.tensor_parallel) text += fmt::format("; {} share it", fits_on);
  return text;
}

enum class Form { kText, kJson, kCsv };

// All columns, in the order of JSON.
ReportTable forecast_table(const LlmForecastReport& report, Form form) {
  using enum Quantity;
  const auto& rows = report.result.rows;
  const bool generates = report.config.has_cache();
  const bool engines =
      std::ranges::any_of(rows, [](const ForecastRow& row) { return row.basis != TimeBasis::kKernels; });
  const auto with_engine = [&](size_t i) { return rows[i].basis != TimeBasis::kKernels; };
  const bool shared = std::ranges::any_of(rows, [](const ForecastRow& row) { return row.tensor_parallel > 1; });
  std::vector<size_t> numbers(rows.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  const auto of = [&rows](auto ForecastRow::*member) {
    return [&rows, member](size_t i) { return ReportValue(rows[i].*member); };
  };
  // Absent where no kernel was measured on the device.
  const auto share = [&rows](double ForecastRow::*member) {
    return [&rows, member](size_t i) { return rows[i].*member > 0 ? ReportValue(rows[i].*member) : ReportValue(); };
  };
  // People get no times of what does not fit.
  const auto hidden = [&rows, form](size_t i) { return form == Form::kText && rows[i].memory_known && !rows[i].fits; };
  const auto timed = [&rows, hidden](auto ForecastRow::*member) {
    return [&rows, hidden, member](size_t i) { return hidden(i) ? ReportValue() : ReportValue(rows[i].*member); };
  };
  const auto bytes = [form](double value) { return form == Form::kCsv ? ReportValue(value) : whole_bytes(value); };
  return table_of<size_t>(
      "", numbers,
      {{"device", "device", kText, [&](size_t i) { return report.device(rows[i]).name; }},
       {"calibrated", " ", kText, of(&ForecastRow::calibrated),
        [&](size_t i) { return rows[i].calibrated ? "" : "uncalibrated"; }},
       {"batch", "batch", kCount, of(&ForecastRow::batch)},
       {"sequence", generates ? "prompt" : "tokens", kCount, of(&ForecastRow::sequence)},
       {form == Form::kCsv ? "output_tokens" : "", "", kCount,
        [&](size_t i) { return rows[i].generates ? ReportValue(report.grid.request.output_tokens) : ReportValue(); }},
       {"tensor_parallel", shared ? "devices" : "", kCount, of(&ForecastRow::tensor_parallel)},
       {"prefill_s", generates ? "first token" : "time", kSeconds, timed(&ForecastRow::prefill_s)},
       {"token_s", "per token", kSeconds, timed(&ForecastRow::token_s)},
       {"tokens_per_s", "tokens/s", kHuman, timed(&ForecastRow::tokens_per_s)},
       {"", "90% interval", kNumber,
        [&](size_t i) {
          return hidden(i) ? ReportValue()
                           : ReportValue(human_number(rows[i].lower) + " to " + human_number(rows[i].upper));
        }},
       {"lower", "", kHuman, of(&ForecastRow::lower)},
       {"upper", "", kHuman, of(&ForecastRow::upper)},
       {"fits", "fits", kText,
        [&](size_t i) { return rows[i].memory_known ? ReportValue(rows[i].fits) : ReportValue(); },
        [&](size_t i) { return fits_text(rows[i], report.fits_on[i]); }},
       {"bound", "bound", kText,
        [&](size_t i) { return hidden(i) ? ReportValue() : ReportValue(name_of(rows[i].bound())); }},
       {"engine", engines ? "engine" : "", kText,
        [&](size_t i) {
          if (!with_engine(i)) return ReportValue();
          const EngineProfile& profile = *report.engine(rows[i]).profile;
          return ReportValue(profile.name + " " + profile.version);
        },
        [&](size_t i) { return engine_words(report.engine(rows[i]), rows[i].basis); }},
       {"engine_basis", "", kText, [&](size_t i) { return engine_basis(report, rows[i]); }},
       {"engine_unmeasured", "", kText,
        [&](size_t i) { return unless_empty(unmeasured_in_words(rows[i].engine_unmeasured)); }},
       {"host_cpu", "", kText,
        [&](size_t i) { return with_engine(i) ? unless_empty(report.engine(rows[i]).host.cpu) : ReportValue(); }},
       {"host_level", "", kNumber,
        [&](size_t i) { return with_engine(i) ? ReportValue(report.engine(rows[i]).host.level) : ReportValue(); }},
       {"client_token_s", "", kSeconds, of(&ForecastRow::client_token_s)},
       {"prefill_measured_share", "", kNumber, share(&ForecastRow::prefill_measured)},
       {"token_measured_share", "", kNumber, share(&ForecastRow::token_measured)},
       {"prefill_lower_s", "", kSeconds, of(&ForecastRow::prefill_lower_s)},
       {"prefill_upper_s", "", kSeconds, of(&ForecastRow::prefill_upper_s)},
       {"prefill_roofline_s", "", kSeconds, of(&ForecastRow::prefill_roofline_s)},
       {"prefill_bound", "", kText, [&](size_t i) { return name_of(rows[i].prefill_bound); }},
       {"token_lower_s", "", kSeconds, of(&ForecastRow::token_lower_s)},
       {"token_upper_s", "", kSeconds, of(&ForecastRow::token_upper_s)},
       {"token_roofline_s", "", kSeconds, of(&ForecastRow::token_roofline_s)},
       {"request_s", "", kSeconds, of(&ForecastRow::request_s)},
       {"request_tokens_per_s", "", kHuman, of(&ForecastRow::output_per_s)},
       {"math", "", kText, [&](size_t i) { return name_of(rows[i].mode); }},
       {form == Form::kText ? "model_bytes" : "", "memory", kBytes,
        [&](size_t i) { return bytes(rows[i].model_bytes); }},
       {"memory_bytes", "", kBytes, [&](size_t i) { return bytes(rows[i].memory_bytes); }},
       {form == Form::kJson ? "device_memory_bytes" : "", "", kBytes,
        [&](size_t i) { return whole_bytes(report.device(rows[i]).memory_bytes); }},
       {"missing_bytes", "", kBytes,
        [&, form](size_t i) {
          const bool known = rows[i].memory_known && (form == Form::kCsv || !rows[i].fits);
          return known ? bytes(rows[i].missing_bytes) : ReportValue();
        }},
       {"fits_on_devices", "", kCount,
        [&](size_t i) { return report.fits_on[i] > 0 ? ReportValue(report.fits_on[i]) : ReportValue(); }},
       {"power_w", "", kNumber, of(&ForecastRow::power_w)},
       {"power_basis", "", kText,
        [&](size_t i) {
          return std::isfinite(rows[i].power_w) ? ReportValue(power_basis(report, rows[i])) : ReportValue();
        }},
       {"energy_per_million_tokens_joules", "J/M tokens", kHuman, timed(&ForecastRow::energy_j_per_million)},
       {"energy_per_million_tokens_lower_joules", "", kHuman, of(&ForecastRow::energy_lower_j_per_million)},
       {"energy_per_million_tokens_upper_joules", "", kHuman, of(&ForecastRow::energy_upper_j_per_million)},
       {"cost_per_million_tokens_usd", "USD/M tokens", kHuman, timed(&ForecastRow::cost_per_million)}});
}

// All columns of the devices, in the order of JSON.
Result<ReportTable> device_table(const DeviceProvider& provider) {
  using enum Quantity;
  using Device = std::shared_ptr<const LatencyModel>;
  std::vector<Device> models;
  for (const std::string& name : provider.names()) {
    auto model = provider.find(name);
    if (!model) return model.error();
    models.push_back(*std::move(model));
  }
  const auto rate = [](const char* name, const char* title, double DeviceFacts::*of) {
    return ColumnOf<Device>(
        name, title, kHuman, [of](const Device& device) { return device->device().*of; },
        [of](const Device& device) {
          const double value = device->device().*of;
          return std::isfinite(value) ? human_number(value) + "B" : "-";
        });
  };
  std::vector<ColumnOf<Device>> columns = {
      {"name", "device", kText, [](const Device& device) { return device->device().name; }},
      {"aliases", "also", kText, [](const Device& device) { return device->device().aliases; }},
      {"vendor", "", kText, [](const Device& device) { return device->device().vendor; }},
      {"memory_bytes", "memory", kBytes,
       [](const Device& device) { return whole_bytes(device->device().memory_bytes); }},
      rate("memory_bytes_per_s", "bandwidth/s", &DeviceFacts::memory_bytes_per_s),
      rate("link_bytes_per_s", "link/s", &DeviceFacts::link_bytes_per_s),
      {"power_w", "W", kHuman, [](const Device& device) { return device->device().power_w; }}};
  for (size_t i = 0; i < kMathModes; ++i) {
    const auto mode = static_cast<MathMode>(i);
    const std::string name(name_of(mode));
    columns.push_back({"peak_flop_per_s." + name, name + " FLOP/s", kHuman,
                       [mode](const Device& device) { return device->device().peak(mode); }});
  }
  columns.push_back({"calibrated", "measured", kText, [](const Device& device) {
                       std::vector<std::string> measured;
                       for (size_t i = 0; i < kMathModes; ++i) {
                         const auto mode = static_cast<MathMode>(i);
                         if (device->supports(mode) && device->calibrated(mode)) measured.emplace_back(name_of(mode));
                       }
                       return measured;
                     }});
  columns.push_back({"sources", "", kText, [](const Device& device) { return device->device().sources; }});
  ReportTable table = table_of<Device>("", models, columns);
  table.shows_unknown = true;
  return table;
}

}  // namespace

std::string forecast_rows_text(const LlmForecastReport& report) {
  return rows_text(picked(forecast_table(report, Form::kText),
                          {"device", "calibrated", "tensor_parallel", "sequence", "batch", "prefill_s", "token_s",
                           "tokens_per_s", "90% interval", "bound", "energy_per_million_tokens_joules",
                           "cost_per_million_tokens_usd", "model_bytes", "fits", "engine"}));
}

std::string forecast_csv(const LlmForecastReport& report) {
  return rows_csv(picked(forecast_table(report, Form::kCsv), {"device",
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
                                                              "power_basis",
                                                              "engine",
                                                              "engine_basis",
                                                              "engine_unmeasured",
                                                              "host_cpu",
                                                              "client_token_s"}),
                  {.digits = 9, .yes = "true", .no = "false"});
}

Json forecast_json(const LlmForecastReport& report) {
  const LlmRequest& request = report.grid.request;
  const std::string& stored = report.config.stored_weight_name;
  const std::string weights = !request.weight_bits_per_value ? std::string(info(request.weights).name)
                              : stored.empty()               ? "file"
                                                             : stored;
  Json json{{"schema", "perfcast.llm.forecast/1"},
            {"model", report.config.name},
            {"source", report.config.source},
            {"parameters", report.parameters},
            {"weights", weights},
            {"weight_bits", request.weight_bits_per_value.value_or(info(request.weights).bits_per_value)},
            {"activations", info(request.activations).name},
            {"kv", info(request.kv).name},
            {"fused_attention", request.fused_attention}};
  if (report.config.has_cache()) json["output_tokens"] = request.output_tokens;
  json["interval"] = 0.9;
  if (const auto row = fastest_row(report.result.rows)) json["fastest_row"] = *row;
  if (const auto row = cheapest_row(report.result.rows)) json["cheapest_row"] = *row;
  Json& rows = json["rows"] = rows_json(forecast_table(report, Form::kJson));
  for (size_t i = 0; i < report.details.size(); ++i) put_detail(rows[i], report.details[i]);
  json["refused"] = report.result.refused;
  json["notes"] = report.notes;
  return json;
}

Result<std::string> device_list_text(const DeviceProvider& provider) {
  const auto table = device_table(provider);
  if (!table) return table.error();
  return rows_text(*table);
}

Result<Json> device_list_json(const DeviceProvider& provider) {
  const auto table = device_table(provider);
  if (!table) return table.error();
  return Json{{"schema", "perfcast.llm.devices/1"}, {"devices", rows_json(*table)}};
}

}  // namespace perfcast::ai
