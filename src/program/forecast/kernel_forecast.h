#pragma once
// Use case: forecast the kernels of this profile. Times of a program's GPU or OpenCL kernels on each device of a bundle
// that knows kernels, and on other devices by their facts; with the transfers and the host's part that the profile has.
// A time that a kernel's profile has of a known device (NVIDIA's profilers measure it) is kept for that device, and the
// times on all others follow from it by the forecast ratios.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/report/table.h"
#include "base/result.h"
#include "profile/profile.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::program {

inline constexpr const char* kKernelForecastSchema = "perfcast.kernel-forecast/1";

// Whether the bundle's model says times of kernels.
bool forecasts_kernels(const Bundle& bundle);

struct KernelRequest {
  std::vector<Platform> devices;     // beside those of the bundle; one of a name that the bundle has is left out
  std::vector<std::string> filters;  // as parse_platform_filters()
  // Name of the device, of the bundle or of `devices`, that the profile's own times of kernels are of; empty: not
  // known.
  std::string measured_on = {};
};

struct KernelTime {
  double time_s = 0, lower_s = 0, upper_s = 0;  // 90% interval
};

struct KernelSummary {
  std::string name;
  double launches_count = 0;
  bool in_distribution = true;
  std::vector<ProfileWarning> warnings;
  std::string nearest;               // training kernel
  std::optional<double> measured_s;  // of one launch, on the report's `measured_on`
  // Counts that the profile lacks, by the profiler's names, and what is assumed.
  struct Gap {
    std::vector<std::string> counters;
    std::string assumed;
  };
  std::vector<Gap> gaps;
};

struct KernelDevice {
  Platform platform;
  bool by_facts = false;            // nobody measured a kernel there
  std::vector<KernelTime> kernels;  // of one launch, in the order of the report's
  // All launches. Errors of kernels may be those of all: the ends of their intervals are added up.
  KernelTime all;
  std::string bound;      // what most of that time goes to, as kernel_cause_names(); empty: by facts
  double transfer_s = 0;  // of the bytes that the profile has; 0 on the host's CPU
  double whole_s = 0;     // kernels, transfers and the host's part
};

struct KernelReport {
  std::string program, bundle, model;
  std::string measured_on;      // empty: no kernel has a time of a known device
  bool in_distribution = true;  // all kernels are
  std::vector<KernelSummary> kernels;
  std::vector<KernelDevice> devices;             // the fastest first
  std::optional<double> transfer_bytes, host_s;  // absent: the profile doesn't have them
  std::vector<std::string> notes;
};

// "no-kernels": the profile has none that was counted, or the bundle knows none; "counters-missing": none has all that
// a forecast needs; "bad-profile" as Forecaster has it; "no-platform": the filters leave none.
Result<KernelReport> forecast_kernels(const Forecaster& forecaster, const Profile& profile,
                                      const KernelRequest& request);

Json to_json(const KernelReport& report);
ReportTable kernel_device_table(const KernelReport& report);
// Of one device, the first: where its time goes.
ReportTable kernel_table(const KernelReport& report);

}  // namespace perfcast::program
