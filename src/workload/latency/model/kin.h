#pragma once
// Models for a device on which nothing was measured, carried over from its nearest kin: rates scale with the device's
// own facts, and a board that can't feed its units with power is held to what its watts allow.

#include <span>
#include <vector>

#include "workload/latency/model/gpu_models.h"
#include "workload/latency/study/neusight_data.h"

namespace perfcast {

// fp32 FLOP per joule that power-limited boards reach in large products, brought to a 16 nm process; 0: not known.
// From `fitted` models whose boards promise most per watt: what they reach is what a watt can do.
double flops_per_joule_16nm(std::span<const GpuModels> fitted);

// How many times more operations a joule does than at 16 nm: foundries' statements of power at equal speed (TSMC: N7
// against 16FF+ -60%, N5 against N7 -30%, N4 about as N5; Samsung 8 nm between). 1 where the process isn't known.
double process_gain(double process_nm);

// Share of the fp32 peak that the power allows: min(1, ...); 1 where power or process isn't known.
double sustained_share(const DeviceFacts& device, double flops_per_joule_16nm);

// The fitted models nearest to `device`: the same vendor and generation, else the nearest generation (by process), the
// likelier board (memory bandwidth) among equals. Null where none has products.
const GpuModels* nearest_kin(const DeviceFacts& device, std::span<const GpuModels> fitted);

GpuModels carried_to(const GpuModels& kin, const DeviceFacts& device, double flops_per_joule_16nm);

// Factors on the times of products, from a few measured ones of this device: the mean log ratio, shrunk towards none.
// Kinds without a measurement stay as they are. Returns how many were used.
size_t calibrate(GpuModels& models, std::span<const NeusightProduct> measured);

}  // namespace perfcast
