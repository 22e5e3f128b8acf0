#pragma once
// What forecasts of a device that was never measured are worth: each measured device in turn is taken out of a bundle
// and forecast through its kin among the rest. The form of the models is not found anew.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ai/latency/model/gpu_bundle.h"
#include "base/report/table.h"
#include "base/result.h"
#include "studies/latency/neusight_data.h"

namespace perfcast::ai::latency_study {

// ln(forecast / measured) on one device that was left out.
struct LeftOutDevice {
  std::string device, from;  // whose models stood in for its own
  std::vector<double> linear, batched;
  std::array<std::vector<double>, kVectorKinds> vector;  // by VectorKind; copies were not measured
  std::vector<double> whole_model;                       // sums of operators against the timed whole
};

struct LeaveOutOptions {
  size_t calibration_shapes = 0;  // products of each kind that are measured after all, drawn from the rows
  uint64_t first_seed = 1;
  size_t draws = 1;  // of those shapes; the ratios of all are kept
};

// Rows: the data's training operators, and its timed models. Devices of the bundle with products, in its order.
Result<std::vector<LeftOutDevice>> leave_devices_out(const NeusightData& data, const GpuBundle& bundle,
                                                     const LeaveOutOptions& options = {});

// The 90% quantile of absolute ratios over all devices, each of which counts the same, as the standard deviation of a
// normal distribution; widened until intervals that are made without a device hold nine in ten of its rows, on average
// over the devices. `skipped`: the index of one that doesn't count.
CarriedErrors carried_errors(std::span<const LeftOutDevice> devices, size_t skipped = SIZE_MAX);

// Share of ratios inside the 90% interval of `log_error`; NaN where there are none.
double share_inside(std::span<const double> log_ratios, double log_error);

// Both sets of errors, for the bundle; and how many rows of each left-out device the intervals hold that the others
// give, beside those that its kin's own fit and an assumed 0.25 gave.
struct CarriedStudy {
  CarriedErrors carried, calibrated;
  ReportTable table;
};
Result<CarriedStudy> study_carried_errors(const NeusightData& data, const GpuBundle& bundle);
// With a line of its card that says where they come from.
void set_carried_errors(const CarriedStudy& study, GpuBundle& bundle);

}  // namespace perfcast::ai::latency_study
