#include "cli/ai/llm_devices.h"

#include <algorithm>
#include <cmath>

#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/model/half_precision_file.h"
#include "ai/llm_forecast/learned_devices.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/ai/llm_engine.h"
#include "cli/command.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

// Whether two devices can't stand side by side in one catalogue.
bool share_a_name(const DeviceFacts& a, const DeviceFacts& b) {
  const auto bears = [](const DeviceFacts& device, const std::string& name) {
    ai::DeviceCatalogue alone;
    alone.devices = {device};
    return ai::find_device(alone, name).ok();
  };
  return bears(a, b.name) ||
         std::any_of(b.aliases.begin(), b.aliases.end(), [&](const std::string& alias) { return bears(a, alias); });
}

}  // namespace

Result<std::unique_ptr<ai::DeviceProvider>> open_devices(const std::string& device_file) {
  auto shipped = ai::read_device_catalogue(shipped_file("devices/devices.json"));
  if (!shipped) return shipped.error();
  ai::DeviceCatalogue devices;
  if (!device_file.empty()) {
    auto own = ai::read_device_catalogue(device_file);
    if (!own) return own.error();
    devices = *std::move(own);
  }
  const size_t own = devices.devices.size();
  for (DeviceFacts& device : shipped->devices) {
    const auto replaced = [&](const DeviceFacts& mine) { return share_a_name(mine, device); };
    if (std::any_of(devices.devices.begin(), devices.devices.begin() + static_cast<std::ptrdiff_t>(own), replaced)) {
      continue;
    }
    devices.devices.push_back(std::move(device));
  }
  ai::LearnedBundles bundles;
  const std::string gpu_path = shipped_file("bundles/gpu-latency.json");
  const auto gpu_text = read_file(gpu_path);
  if (!gpu_text) return gpu_text.error();
  auto gpu = ai::parse_gpu_bundle(*gpu_text, gpu_path);
  if (!gpu) return gpu.error();
  bundles.gpu = *std::move(gpu);
  auto half = ai::read_half_precision(shipped_file("bundles/half-precision.json"));
  if (!half) return half.error();
  bundles.half = *std::move(half);
  auto kernels = ai::read_kernel_bundle(shipped_file("bundles/kernels.json"));
  if (!kernels) return kernels.error();
  bundles.kernels = std::make_shared<const ai::KernelBundle>(*std::move(kernels));
  return std::unique_ptr<ai::DeviceProvider>(
      std::make_unique<ai::LearnedDevices>(std::move(devices), std::move(bundles)));
}

Result<std::vector<ai::ForecastDevice>> named_devices(const ai::DeviceProvider& provider,
                                                      const std::vector<std::string>& on) {
  std::vector<ai::ForecastDevice> devices;
  for (const std::string& name : list_of(on, provider.names())) {
    const auto model = provider.find(name);
    if (!model) {
      Error error = model.error();
      if (error.where.empty()) error.where = "--on";
      return error;
    }
    const bool twice = std::any_of(devices.begin(), devices.end(), [&](const ai::ForecastDevice& device) {
      return device.model->device().name == (*model)->device().name;
    });
    if (twice) continue;
    devices.push_back({*model, {}});
  }
  if (devices.empty()) {
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
      const auto model = provider.find(text.substr(0, equals));
      if (!model) {
        Error error = model.error();
        error.where = option;
        return error;
      }
      only = (*model)->device().name;
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
      const auto model = provider.find(text.substr(0, equals));
      if (!model) {
        Error error = model.error();
        error.where = "--host";
        return error;
      }
      only = (*model)->device().name;
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
