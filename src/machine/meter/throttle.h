#pragma once
// Whether the machine held itself back while it was measured: how often its CPUs throttled for heat, and whether their
// clocks sank. By /sys/devices/system/cpu: cpuN/thermal_throttle/{core,package}_throttle_count (x86) and
// cpuN/cpufreq/{scaling_cur_freq,scaling_max_freq,cpuinfo_max_freq}, in kHz. A virtual machine has none of them.

#include <optional>
#include <string>
#include <vector>

#include "machine/meter/energy_reading.h"

namespace perfcast {

class ThrottleWatch {
 public:
  explicit ThrottleWatch(std::string cpu_root);
  void begin();
  void look();  // at the clocks, every apart_s()
  // Rarer on machines of many CPUs: some kernels ask a CPU for its clock by interrupting it.
  double apart_s() const;
  // What was found since begin(): "thermal-throttle", "clock-drop", "clocks-capped".
  std::vector<EnergyWarning> end();
  // Why nothing can be told; empty: something can.
  std::string blind() const;

 private:
  std::optional<double> throttle_count() const;  // summed over the CPUs
  std::optional<double> fastest_hz() const;      // clock of the fastest CPU

  std::string root_;
  std::vector<std::string> cpus_;
  std::optional<double> began_count_;
  std::vector<double> fastest_hz_;
};

}  // namespace perfcast
