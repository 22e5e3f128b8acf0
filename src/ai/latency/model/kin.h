#pragma once
// Models for a device on which nothing was measured, carried over from its nearest kin: rates scale with the device's
// own facts, and a board that can't feed its units with power is held to what its watts allow.

#include <span>
#include <vector>

#include "ai/latency/model/gpu_models.h"

namespace perfcast::ai {

// fp32 FLOP per joule that power-limited boards reach in large products, brought to a 16 nm process; 0: not known.
// From `fitted` models whose boards promise most per watt: what they reach is what a watt can do.
double flops_per_joule_16nm(std::span<const GpuModels> fitted);

// How many times more operations a joule does than at 16 nm: foundries' statements of power at equal speed (TSMC: N7
// against 16FF+ -60%, N5 against N7 -30%, N4 about as N5; Samsung 8 nm between). 1 where the process isn't known.
double process_gain(double process_nm);

// Share of the fp32 peak that the power allows: min(1, ...); 1 where power or process isn't known.
double sustained_share(const DeviceFacts& device, double flops_per_joule_16nm);

// How unlike two devices are to the kernels of `mode`: 10 where their vendors differ, and |ln| of the ratios of their
// bandwidths per unit and of their operations per unit and cycle; in fp32 also 1 where their generations differ,
// and 1.5 |ln| of the ratio of their processes. A ratio whose facts aren't known counts as e. Tried by leaving devices
// out: in half precision generation and process do harm (an A100 would take the models of an A40: products 17% off, not
// 10%), in fp32 forecasts without them do (an L4 would take those of a P4).
double unlikeness(const DeviceFacts& a, const DeviceFacts& b, MathMode mode);

// The fitted models least unlike to `device` in fp32, the first of equals. Null where none has products.
const GpuModels* nearest_kin(const DeviceFacts& device, std::span<const GpuModels> fitted);

GpuModels carried_to(const GpuModels& kin, const DeviceFacts& device, double flops_per_joule_16nm);

}  // namespace perfcast::ai
