#include "cli/forecast/predict_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ai/latency/model/device_catalogue.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shared/forecast_input.h"
#include "program/forecast/kernel_forecast.h"
#include "program/model/gpu/kernel_work.h"

namespace perfcast::cli {
namespace {

// Kernels of OpenCL, with features of AIWC, and those that NVIDIA's profilers counted.
constexpr const char *kOpenclBundle = "bundles/opencl-kernels.pcb", *kNvidiaBundle = "bundles/nvidia-gpus.pcb";
constexpr size_t kKernelsShown = 20, kWidth = 118;

// Those GPUs that have what a forecast by facts needs; of `vendor` alone, unless that is empty.
std::vector<Platform> devices_by_facts(const ai::DeviceCatalogue& catalogue, const std::string& vendor) {
  std::vector<Platform> devices;
  for (const DeviceFacts& facts : catalogue.devices) {
    const double flops = facts.peak(MathMode::kFp32);
    if (facts.kind != DeviceKind::kGpu || !(flops > 0) || !(facts.clock_hz > 0)) continue;
    if (!vendor.empty() && facts.vendor != vendor) continue;
    Platform device;
    device.id = slug(facts.name);
    device.name = facts.name;
    device.kind = "gpu";
    device.vendor = facts.vendor;
    device.arch = facts.generation;
    device.facts = {{"core_count", flops / (2 * facts.clock_hz)},  // a multiply-add is two
                    {"max_hz", facts.clock_hz},
                    {"memory_bytes_per_s", facts.memory_bytes_per_s},
                    {"sm_count", facts.units}};
    if (facts.host_link_bytes_per_s > 0) device.facts["host_link_bytes_per_s"] = facts.host_link_bytes_per_s;
    devices.push_back(std::move(device));
  }
  return devices;
}

bool is_nvidias(const Profile& profile) {
  return !profile.collectors.empty() &&
         (profile.collectors.front().name == "ncu" || profile.collectors.front().name == "nvprof");
}

// Name of the device that times in the profile are of: of the bundle, or else of the catalogue. Empty: not known.
Result<std::string> measured_on(const Profile& profile, const std::string& host, const program::Bundle& bundle,
                                const ai::DeviceCatalogue& catalogue) {
  const std::string& name = host.empty() ? profile.host.name : host;
  if (name.empty()) return std::string();
  for (const Platform& platform : bundle.platforms) {
    if (slug(platform.name) == slug(name)) return platform.name;
  }
  const auto found = ai::find_device(catalogue, name);
  if (found) return (*found)->name;
  if (host.empty()) return std::string();
  Error error = found.error();
  error.where = "--host";
  return error;
}

std::string lines_of(const std::string& text) { return wrapped(text, kWidth, "", "  ") + "\n"; }

std::string without_measured(const Profile& profile) {
  constexpr const char* kMend = "--host GPU names it. The times in the file then count";
  if (profile.host.name.empty()) return std::string("the file doesn't say on which GPU it was taken: ") + kMend;
  return "no times of a known GPU are in the file, which was taken on " + profile.host.name + ": " + kMend;
}

std::string as_text(const program::KernelReport& report, const KernelView& view) {
  std::string text;
  const program::KernelDevice& first = report.devices.front();
  const size_t outside = static_cast<size_t>(std::count_if(report.kernels.begin(), report.kernels.end(),
                                                           [](const auto& kernel) { return !kernel.in_distribution; }));
  text += lines_of(fmt::format("fastest: {}, {} for all kernels ({} .. {})", printable(first.platform.name),
                               human_seconds(first.all.time_s), human_seconds(first.all.lower_s),
                               human_seconds(first.all.upper_s)));
  text += lines_of(fmt::format("program: {}; {} kernel{}; bundle {}", printable(report.program), report.kernels.size(),
                               report.kernels.size() == 1 ? "" : "s", report.bundle));
  if (outside > 0) {
    text += lines_of(
        fmt::format("OUT OF DISTRIBUTION: {} of {} kernels, for the reasons below. Take their times for guesses",
                    outside, report.kernels.size()));
  }
  if (report.host_s)
    text += lines_of(fmt::format("host: {} of the program's own code on this CPU; transfers: {}",
                                 human_seconds(*report.host_s), human_bytes(report.transfer_bytes.value_or(0))));
  ReportTable devices = program::kernel_device_table(report);
  if (view.most_rows > 0 && report.devices.size() > view.most_rows) {
    std::vector<size_t> rows(view.most_rows);
    std::iota(rows.begin(), rows.end(), size_t{0});
    keep_rows(devices, rows);
  }
  text += "\n" + rows_text(devices, {.is_markdown = view.is_markdown});
  if (view.most_rows > 0 && report.devices.size() > view.most_rows) {
    text += fmt::format("{} more devices: --all shows them, --filter narrows the table\n",
                        report.devices.size() - view.most_rows);
  }
  text += "\n" + rows_text(program::kernel_table(report),
                           {.most_rows = view.most_rows > 0 ? kKernelsShown : 0, .is_markdown = view.is_markdown});
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : report.notes) text += lines_of("note: " + printable(note));
  return text;
}

}  // namespace

bool has_kernels(const Profile& profile) {
  return std::any_of(profile.kernels.begin(), profile.kernels.end(), [](const ProfileKernel& kernel) {
    Profile alone;
    alone.metrics = kernel.metrics;
    return program::kernel_work(alone).has_value();
  });
}

Result<std::optional<std::string>> kernel_forecast_text(const Profile& profile, const KernelView& view,
                                                        const CommonOptions& options) {
  CommonOptions own = options;
  if (!options.bundle_given) own.bundle = shipped_file(is_nvidias(profile) ? kNvidiaBundle : kOpenclBundle);
  const auto forecaster = open_forecaster(own);
  if (!forecaster) return forecaster.error();
  if (!program::forecasts_kernels(forecaster->bundle())) return std::optional<std::string>();
  const auto catalogue = ai::read_device_catalogue(shipped_file("devices/devices.json"));
  if (!catalogue) return catalogue.error();
  program::KernelRequest request{devices_by_facts(*catalogue, is_nvidias(profile) ? "NVIDIA" : ""), view.filters, ""};
  if (is_nvidias(profile)) {
    const auto device = measured_on(profile, view.host, forecaster->bundle(), *catalogue);
    if (!device) return device.error();
    request.measured_on = *device;
  }
  auto report = program::forecast_kernels(*forecaster, profile, request);
  if (!report) return report.error();
  if (is_nvidias(profile) && report->measured_on.empty()) report->notes.push_back(without_measured(profile));
  if (!report->in_distribution && !options.quiet && options.output != "-")
    std::fputs("perfcast: warning: out of distribution: see the forecast\n", stderr);
  if (options.json) return std::optional(to_text(program::to_json(*report)));
  if (view.csv) return std::optional(rows_csv(program::kernel_device_table(*report)));
  return std::optional(as_text(*report, view));
}

}  // namespace perfcast::cli
