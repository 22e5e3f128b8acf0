#pragma once
// Language models, their formats and devices, as several operations name them.

#include <string>
#include <vector>

#include "ai/llm/model_config.h"
#include "ai/llm/workload_formats.h"
#include "ai/llm_forecast/named_devices.h"
#include "service/context.h"
#include "service/request.h"

namespace perfcast::service {

// model, config; precision, weight_precision, kv_precision.
std::vector<Field> model_fields();
// engine, host, hosts, price.
std::vector<Field> engine_fields();

// Of "model", a built-in name, or of "config". "bad-usage"; errors of built_in_model() and parse_hf_config().
Result<ai::LlmConfig> model_of(const Request& request);
ai::WorkloadFormats formats_of(const Request& request);

// The devices of "on", with their prices, engine and hosts; where none is named and `is_any`, those with a price of
// their own, else all.
Result<std::vector<ai::ForecastDevice>> devices_of(const Context& context, const Request& request,
                                                   const ai::EngineTerms& engine, bool is_any);
// "engine"; vllm where none is named.
Result<ai::EngineTerms> engine_of(const Context& context, const Request& request);
// A number of one device or of all, by the request's field.
Status take_amounts(const Context& context, const Request& request, const std::string& field,
                    std::vector<ai::ForecastDevice>& devices, double ai::DeviceTerms::*member);

}  // namespace perfcast::service
