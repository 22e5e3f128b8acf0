#include "machine/meter/nvml_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/loaded_library.h"
#include "base/text.h"

namespace perfcast {
namespace {

using NvmlDevice = void*;
constexpr unsigned kMostGpus = 64;
constexpr unsigned kNameRoom = 96;
constexpr double kMilli = 1e-3;
constexpr double kNvmlInterval_s = 0.1;

// NVML's bits of what holds the clocks down, but for those that every idle or capped GPU shows.
constexpr std::array<std::pair<unsigned long long, const char*>, 5> kSlowdowns = {{{0x4, "its power limit"},
                                                                                   {0x8, "a slowdown of the hardware"},
                                                                                   {0x20, "heat, by the driver"},
                                                                                   {0x40, "heat, by the hardware"},
                                                                                   {0x80, "the power brake"}}};

// Started once, shut down with the last meter.
class NvmlSession {
 public:
  explicit NvmlSession(const std::string& file) : library_(file) {
    started_ = library_ && library_.call("nvmlInit_v2");
  }
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession() {
    if (started_) library_.call("nvmlShutdown");
  }
  const LoadedLibrary& library() const { return library_; }
  bool started() const { return started_; }

 private:
  LoadedLibrary library_;
  bool started_ = false;
};

class NvmlMeter : public Meter {
 public:
  NvmlMeter(std::shared_ptr<NvmlSession> session, NvmlDevice device, MeterFacts facts)
      : session_(std::move(session)), device_(device) {
    facts_ = std::move(facts);
  }

  Result<std::optional<double>> read() override {
    const LoadedLibrary& nvml = session_->library();
    unsigned long long millijoules = 0;
    unsigned milliwatts = 0;
    if (facts_.reading == MeterReading::kEnergy) {
      if (nvml.call("nvmlDeviceGetTotalEnergyConsumption", device_, &millijoules)) {
        return std::optional(static_cast<double>(millijoules) * kMilli);
      }
    } else if (nvml.call("nvmlDeviceGetPowerUsage", device_, &milliwatts)) {
      return std::optional(milliwatts * kMilli);
    }
    return environment_error("unavailable", "NVML no longer tells what the GPU draws", facts_.name,
                             "a GPU that is there");
  }

  std::vector<std::string> limited_by() override {
    unsigned long long bits = 0;
    std::vector<std::string> found;
    if (!session_->library().call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &bits)) return found;
    for (const auto& [bit, text] : kSlowdowns) {
      if ((bits & bit) != 0) found.emplace_back(text);
    }
    return found;
  }

 private:
  std::shared_ptr<NvmlSession> session_;
  NvmlDevice device_;
};

}  // namespace

void find_nvml_meters(const std::string& library, MeterSet& set) {
  const auto missing = [&set](const std::string& reason, const std::string& advice) {
    set.missing.push_back({"nvml", reason, advice});
  };
  const auto session = std::make_shared<NvmlSession>(library);
  if (!session->library()) {
    missing("NVIDIA's management library can't be loaded: " + session->library().problem(),
            "an NVIDIA GPU and its driver, where there is one");
    return;
  }
  if (!session->started()) {
    missing(library + " does not start: its driver is not loaded, or of another version", "nvidia-smi, which says why");
    return;
  }
  unsigned count = 0;
  if (!session->library().call("nvmlDeviceGetCount_v2", &count) || count == 0) {
    missing(library + " finds no GPU", "an NVIDIA GPU that this user and this container may use");
    return;
  }
  size_t silent = 0;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    NvmlDevice device = nullptr;
    std::array<char, kNameRoom> name = {};
    unsigned long long millijoules = 0;
    unsigned milliwatts = 0;
    if (!session->library().call("nvmlDeviceGetHandleByIndex_v2", i, &device)) {
      ++silent;
      continue;
    }
    session->library().call("nvmlDeviceGetName", device, name.data(), kNameRoom - 1);
    const bool counts = session->library().call("nvmlDeviceGetTotalEnergyConsumption", device, &millijoules);
    if (!counts && !session->library().call("nvmlDeviceGetPowerUsage", device, &milliwatts)) {
      ++silent;
      continue;
    }
    MeterFacts facts;
    facts.name = "nvml:" + std::to_string(i);
    facts.kind = "nvml";
    facts.scope = EnergyScope::kGpu;
    facts.covers = fmt::format("GPU {}{}{}, with its board", i, name[0] == '\0' ? "" : ", ", printable(name.data()));
    facts.unit = counts ? "mJ" : "mW";
    facts.reading = counts ? MeterReading::kEnergy : MeterReading::kPower;
    facts.interval_s = kNvmlInterval_s;
    facts.resolution = kMilli;
    facts.accuracy = "not stated for GPUs since Maxwell (5% of a reading on Fermi and Kepler, by the NVML reference)";
    set.meters.push_back(std::make_unique<NvmlMeter>(session, device, std::move(facts)));
  }
  if (silent > 0) {
    missing(std::to_string(silent) + " of " + std::to_string(count) + " GPUs tell neither energy nor power",
            "a GPU whose board measures it; nvidia-smi -q -d POWER shows which");
  }
}

}  // namespace perfcast
