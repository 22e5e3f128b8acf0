// Any bytes in the files of /sys that meters are read from: no crash; what is found can be read, or says why not. The
// input's lines are the files, in an order.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "machine/meter/energy_reading.h"
#include "machine/meter/hwmon_meter.h"
#include "machine/meter/rapl_meter.h"
#include "machine/meter/throttle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  static const std::string root = [] {
    std::string pattern = "/tmp/perfcast-fuzz-sysfs-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    return pattern;
  }();
  constexpr std::array<const char*, 13> kFiles = {"intel-rapl:0/name",
                                                  "intel-rapl:0/energy_uj",
                                                  "intel-rapl:0/max_energy_range_uj",
                                                  "intel-rapl:0:0/name",
                                                  "intel-rapl:0:0/energy_uj",
                                                  "hwmon0/name",
                                                  "hwmon0/power1_average",
                                                  "hwmon0/power1_average_interval",
                                                  "hwmon0/power1_accuracy",
                                                  "hwmon0/energy2_input",
                                                  "hwmon0/energy2_label",
                                                  "cpu0/thermal_throttle/core_throttle_count",
                                                  "cpu0/cpufreq/scaling_cur_freq"};
  std::string rest(reinterpret_cast<const char*>(data), size);
  for (const char* file : kFiles) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string path = root + "/" + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
  }
  MeterSet set;
  find_rapl_meters(root, set);
  find_hwmon_meters(root, set);
  for (const auto& meter : set.meters) {
    EnergyAccumulator readings(meter->facts());
    for (int i = 0; i < 3; ++i) {
      const auto value = meter->read();
      if (value && *value) readings.add(i, **value);
    }
    const MeterEnergy energy = readings.finish(0, 2);
    if (!energy.joules && energy.why_missing.empty()) std::abort();
    if (energy.joules && !std::isfinite(*energy.joules)) std::abort();
  }
  ThrottleWatch watch(root);
  watch.begin();
  watch.end();
  std::filesystem::remove_all(root + "/hwmon0");
  return 0;
}
