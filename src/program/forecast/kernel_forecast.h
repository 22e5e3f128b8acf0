#pragma once
// Use case: forecast the kernels of this profile. Times of a program's GPU or OpenCL kernels on each device of a bundle
// that knows kernels, and on other devices by their facts; with the transfers and the host's part that the profile has.

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
};

struct KernelTime {
  double time_s = 0, lower_s = 0, upper_s = 0;  // 90% interval
};

struct KernelSummary {
  std::string name;
  double launches_count = 0;
  bool in_distribution = true;
  std::vector<ProfileWarning> warnings;
  std::string nearest;  // training kernel
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
  bool in_distribution = true;  // all kernels are
  std::vector<KernelSummary> kernels;
  std::vector<KernelDevice> devices;             // the fastest first
  std::optional<double> transfer_bytes, host_s;  // absent: the profile doesn't have them
  std::vector<std::string> notes;
};

// "no-kernels": the profile has none that was counted, or the bundle knows none; "bad-profile" as Forecaster has it;
// "no-platform": the filters leave none.
Result<KernelReport> forecast_kernels(const Forecaster& forecaster, const Profile& profile,
                                      const KernelRequest& request);

Json to_json(const KernelReport& report);
ReportTable kernel_device_table(const KernelReport& report);
// Of one device, the first: where its time goes.
ReportTable kernel_table(const KernelReport& report);

}  // namespace perfcast::program
