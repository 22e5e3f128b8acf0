#pragma once
// The parameters of half_precision.h from measured times, by bounded robust least squares on the log of the time
// (soft-L1, scale 0.1): each device by itself, starting from the defaults, without a random choice.

#include <span>

#include "ai/latency/model/half_precision.h"
#include "ai/latency/model/measured_operator.h"
#include "base/result.h"

namespace perfcast::ai {

// Only rows of this device may be given. "bad-fit" where there are fewer than 20 products or where the facts lack the
// half-precision peak, bandwidth, units or clock. Kinds of vector operators without 5 rows take the norm's parameters,
// and without those they stay unknown.
Result<HalfPrecisionParameters> fit_half_precision(const DeviceFacts& device, std::span<const MeasuredProduct> products,
                                                   std::span<const MeasuredVector> vectors);

// Start, step and efficiency of the link, the rest as it is. "bad-fit" where there are fewer than 5 rows or the
// device's link_bytes_per_s is unknown.
Status fit_all_reduce(const DeviceFacts& device, std::span<const MeasuredAllReduce> rows,
                      HalfPrecisionParameters& parameters);

}  // namespace perfcast::ai
