#include "cli/ai/llm_devices.h"

#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "cli/ai/llm_engine.h"
#include "cli/command.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
Result<std::unique_ptr<ai::DeviceProvider>> open_devices(const std::string& device_file) {
  return ai::open_devices(shipped_devices(), device_file);
}

ai::DeviceFiles shipped_devices() {
  return {shipped_file("devices/devices.json"), shipped_file("bundles/gpu-latency.json"),
          shipped_file("bundles/half-precision.json"), shipped_file("bundles/kernels.json")};
}

Result<std::vector<ai::ForecastDevice>> chosen_devices(const ai::DeviceProvider& provider,
                                                       const std::vector<std::string>& on) {
  auto devices = ai::named_devices(provider, list_of(on, provider.names()));
  if (devices && devices->empty()) {
    return usage_error("bad-usage", "no device is named", "--on", "devices of --list-devices, as in --on A100,H100");
  }
  return devices;
}

Status take_values(const std::vector<std::string>& given, const char* option, const ai::DeviceProvider& provider,
                   std::vector<ai::ForecastDevice>& devices, double ai::DeviceTerms::*field) {
  for (const std::string& text : list_of(given)) {
    const size_t equals = text.rfind('=');
    const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
    const auto value = parse_number(trim(number));
    if (!value || !(*value > 0)) {
      return usage_error("bad-usage", "'" + printable(text) + "' gives no number above 0", option,
                         "DEVICE=NUMBER, or a number for all devices");
    }
    std::string only;
    if (equals != std::string::npos) {
      auto name = ai::device_name(provider, text.substr(0, equals), option);
      if (!name) return name.error();
      only = *std::move(name);
    }
    bool used = false;
    for (ai::ForecastDevice& device : devices) {
      if (!only.empty() && device.model->device().name != only) continue;
      device.terms.*field = *value;
      used = true;
    }
    if (!used) {
      return usage_error("bad-usage", only + " is not among the devices to forecast", option, "a device of --on");
    }
  }
  return {};
}

Status take_hosts(const std::vector<std::string>& hosts, const ai::DeviceProvider& provider,
                  std::vector<ai::ForecastDevice>& devices) {
  for (const std::string& text : list_of(hosts)) {
    const size_t equals = text.find('=');
    const auto host = host_named(std::string(trim(equals == std::string::npos ? text : text.substr(equals + 1))));
    if (!host) return host.error();
    std::string only;
    if (equals != std::string::npos) {
      auto name = ai::device_name(provider, text.substr(0, equals), "--host");
      if (!name) return name.error();
      only = *std::move(name);
    }
    for (ai::ForecastDevice& device : devices) {
      if (only.empty() || device.model->device().name == only) device.terms.engine.host = *host;
    }
  }
  return {};
}

Result<std::vector<int64_t>> counts_of(const std::vector<std::string>& given, const char* option) {
  std::vector<int64_t> counts;
  for (const std::string& text : list_of(given)) {
    const auto value = parse_number(text);
    if (!value || !(*value >= 1) || *value > 1e12 || *value != std::floor(*value)) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no count", option,
                         "whole numbers above 0, as in 1,2,4");
    }
    counts.push_back(static_cast<int64_t>(*value));
  }
  return counts;
}

}  // namespace perfcast::cli
