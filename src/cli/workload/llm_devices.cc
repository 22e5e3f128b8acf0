#include "cli/workload/llm_devices.h"

#include <algorithm>

#include "base/file.h"
#include "cli/command.h"
#include "workload/latency/model/half_precision_file.h"
#include "workload/llm_forecast/learned_devices.h"

namespace perfcast {
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

Result<std::unique_ptr<DeviceProvider>> open_devices(const std::string& device_file) {
  auto shipped = read_device_catalogue(shipped_file("devices/devices.json"));
  if (!shipped) return shipped.error();
  DeviceCatalogue devices;
  if (!device_file.empty()) {
    auto own = read_device_catalogue(device_file);
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
  const std::string gpu_path = shipped_file("bundles/gpu-latency.json");
  const auto gpu_text = read_file(gpu_path);
  if (!gpu_text) return gpu_text.error();
  auto gpu = parse_gpu_bundle(*gpu_text, gpu_path);
  if (!gpu) return gpu.error();
  bundles.gpu = *std::move(gpu);
  auto half = read_half_precision(shipped_file("bundles/half-precision.json"));
  if (!half) return half.error();
  bundles.half = *std::move(half);
  return std::unique_ptr<DeviceProvider>(std::make_unique<LearnedDevices>(std::move(devices), std::move(bundles)));
}

}  // namespace perfcast
