#include "ai/llm_forecast/named_devices.h"

#include <algorithm>
#include <utility>

#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/model/half_precision_file.h"
#include "ai/llm_forecast/learned_devices.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Whether two devices can't stand side by side in one catalogue.
bool share_a_name(const DeviceFacts& a, const DeviceFacts& b) {
  const auto bears = [](const DeviceFacts& device, const std::string& name) {
    DeviceCatalogue alone;
    alone.devices = {device};
    return find_device(alone, name).ok();
  };
  return bears(a, b.name) ||
         std::any_of(b.aliases.begin(), b.aliases.end(), [&](const std::string& alias) { return bears(a, alias); });
}

}  // namespace

Result<std::unique_ptr<DeviceProvider>> open_devices(const DeviceFiles& files, const std::string& own_file) {
  auto shipped = read_device_catalogue(files.catalogue);
  if (!shipped) return shipped.error();
  DeviceCatalogue devices;
  if (!own_file.empty()) {
    auto own = read_device_catalogue(own_file);
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
  LearnedBundles bundles;
  const auto gpu_text = read_file(files.gpu_latency);
  if (!gpu_text) return gpu_text.error();
  auto gpu = parse_gpu_bundle(*gpu_text, files.gpu_latency);
  if (!gpu) return gpu.error();
  bundles.gpu = *std::move(gpu);
  auto half = read_half_precision(files.half_precision);
  if (!half) return half.error();
  bundles.half = *std::move(half);
  auto kernels = read_kernel_bundle(files.kernels);
  if (!kernels) return kernels.error();
  bundles.kernels = std::make_shared<const KernelBundle>(*std::move(kernels));
  return std::unique_ptr<DeviceProvider>(std::make_unique<LearnedDevices>(std::move(devices), std::move(bundles)));
}

Result<std::vector<ForecastDevice>> named_devices(const DeviceProvider& provider,
                                                  const std::vector<std::string>& names) {
  std::vector<ForecastDevice> devices;
  for (const std::string& name : names) {
    const auto model = provider.find(name);
    if (!model) {
      Error error = model.error();
      if (error.where.empty()) error.where = "on";
      return error;
    }
    const bool twice = std::any_of(devices.begin(), devices.end(), [&](const ForecastDevice& device) {
      return device.model->device().name == (*model)->device().name;
    });
    if (!twice) devices.push_back({*model, {}});
  }
  return devices;
}

Result<std::string> device_name(const DeviceProvider& provider, const std::string& name, const std::string& where) {
  const auto model = provider.find(name);
  if (model) return (*model)->device().name;
  Error error = model.error();
  error.where = where;
  return error;
}

Result<EngineTerms> engine_named(const EngineBundle& bundle, const std::string& name) {
  EngineTerms terms;
  if (name == kNoEngine) return terms;
  const auto profile = bundle.find(name);
  if (!profile) {
    Error error = profile.error();
    error.kind = ErrorKind::kUsage;
    error.where = "engine";
    std::vector<std::string> names = bundle.names();
    std::erase(names, kNoEngine);
    error.expected = "one of: " + join(names, ", ") + ", " + kNoEngine;
    return error;
  }
  terms.profile = std::make_shared<const EngineProfile>(**profile);
  return terms;
}

Result<EngineHost> host_named(const EngineBundle& bundle, const std::string& name) {
  auto host = bundle.hosts.find(name);
  if (host) return host;
  Error error = host.error();
  error.kind = ErrorKind::kUsage;
  error.where = "host";
  error.message = "'" + printable(name) + "' is neither a CPU nor a machine with GPUs that is known";
  error.expected = "a CPU or an instance type, such as \"EPYC 7R32\" or g5.xlarge; " + error.expected;
  return error;
}

}  // namespace perfcast::ai
