#include "cli/ai/llm_devices.h"

#include <algorithm>

#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/model/half_precision_file.h"
#include "ai/llm_forecast/learned_devices.h"
#include "base/file.h"
#include "cli/command.h"

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

}  // namespace perfcast::cli
