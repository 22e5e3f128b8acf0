#include "service/llm_fields.h"

#include <algorithm>
#include <utility>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::service {
namespace {

Status take_hosts(const ai::DeviceProvider& provider, const ai::EngineBundle& engines, const Request& request,
                  std::vector<ai::ForecastDevice>& devices) {
  if (request.has("host")) {
    const auto host = ai::host_named(engines, request.text("host"));
    if (!host) return host.error();
    for (ai::ForecastDevice& device : devices) device.terms.engine.host = *host;
  }
  for (const auto& [device_given, host_given] : request.names("hosts")) {
    const auto name = ai::device_name(provider, device_given, "hosts");
    if (!name) return name.error();
    const auto host = ai::host_named(engines, host_given);
    if (!host) {
      Error error = host.error();
      error.where = "hosts";
      return error;
    }
    for (ai::ForecastDevice& device : devices) {
      if (device.model->device().name == *name) device.terms.engine.host = *host;
    }
  }
  return {};
}

}  // namespace

std::vector<Field> model_fields() {
  return {
      {.name = "model", .meaning = "The name of a built-in model, such as llama3-8b; llm/models lists them."},
      {.name = "config",
       .kind = FieldKind::kDocument,
       .meaning = "In place of model: the config.json of a model, as published with its weights."},
      {.name = "precision",
       .meaning = "The number format of weights, activations and cache: fp32, tf32, fp16, bf16, fp8, int8. Default: "
                  "as the config says, else fp16."},
      {.name = "weight_precision",
       .meaning = "The number format of the weights alone: also int4, q8_0, q4_k_m and others."},
      {.name = "kv_precision", .meaning = "The number format of the key-value cache alone."}};
}

std::vector<Field> engine_fields() {
  return {{.name = "on",
           .kind = FieldKind::kTexts,
           .meaning = "Devices by name, such as A100-80GB; llm/devices lists them.",
           .most_items = 64},
          {.name = "engine",
           .meaning = "The serving engine: vllm, sglang, tensorrt-llm, llama.cpp; none forecasts kernels alone. "
                      "Default: vllm."},
          {.name = "host",
           .meaning = "The CPU or the instance type that the devices are in, such as g5.xlarge. Without it, intervals "
                      "are wider."},
          {.name = "hosts", .kind = FieldKind::kNames, .meaning = "The host of single devices, by device."},
          {.name = "price",
           .kind = FieldKind::kAmounts,
           .meaning = "The price of one device, by device.",
           .unit = "USD/h",
           .least = 1e-9,
           .most = 1e9}};
}

Result<ai::LlmConfig> model_of(const Request& request) {
  const Json* config = request.document("config");
  if (request.has("model") == (config != nullptr)) {
    return usage_error("bad-usage", config == nullptr ? "no model is named" : "a model and a config", "model",
                       "model, a built-in name, or config, a config.json");
  }
  if (config != nullptr)
    return ai::parse_hf_config(config->dump(-1, ' ', false, Json::error_handler_t::replace), "config");
  auto model = ai::built_in_model(request.text("model"));
  if (model) return model;
  Error error = model.error();
  error.kind = ErrorKind::kUsage;
  error.where = "model";
  return error;
}

ai::WorkloadFormats formats_of(const Request& request) {
  return {request.text("precision"), request.text("weight_precision"), request.text("kv_precision"), 1};
}

Result<ai::EngineTerms> engine_of(const Context& context, const Request& request) {
  const auto engines = context.engines();
  if (!engines) return engines.error();
  return ai::engine_named(**engines, request.text("engine", ai::kDefaultEngine));
}

Status take_amounts(const Context& context, const Request& request, const std::string& field,
                    std::vector<ai::ForecastDevice>& devices, double ai::DeviceTerms::*member) {
  const auto provider = context.devices();
  if (!provider) return provider.error();
  for (const auto& [device_given, amount] : request.amounts(field)) {
    const auto name = ai::device_name(**provider, device_given, field);
    if (!name) return name.error();
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const ai::ForecastDevice& one) { return one.model->device().name == *name; });
    if (device == devices.end()) {
      return usage_error("bad-usage", *name + " is not among the devices to forecast", field, "a device of on");
    }
    device->terms.*member = amount;
  }
  return {};
}

Result<std::vector<ai::ForecastDevice>> devices_of(const Context& context, const Request& request,
                                                   const ai::EngineTerms& engine, bool is_any) {
  const auto provider = context.devices();
  if (!provider) return provider.error();
  const auto engines = context.engines();
  if (!engines) return engines.error();
  std::vector<std::string> names = request.texts("on");
  if (names.empty() && is_any) {
    for (const auto& [name, price] : request.amounts("price")) names.push_back(name);
    if (names.empty()) names = (*provider)->names();
  }
  auto devices = ai::named_devices(**provider, names);
  if (!devices) return devices;
  if (devices->empty()) {
    return usage_error("bad-usage", "no device is named", "on", "names of devices, such as A100-80GB");
  }
  for (ai::ForecastDevice& device : *devices) device.terms.engine = engine;
  if (Status taken = take_amounts(context, request, "price", *devices, &ai::DeviceTerms::price_per_hour); !taken) {
    return taken.error();
  }
  if (Status taken = take_hosts(**provider, **engines, request, *devices); !taken) return taken.error();
  if (!engine.profile && (request.has("host") || request.has("hosts"))) {
    return usage_error("bad-usage", "a host, and no engine that runs on it", "host", "an engine with it");
  }
  return devices;
}

}  // namespace perfcast::service
