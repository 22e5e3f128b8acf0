#pragma once
// Models that were carried over to a device, put right by a few measured products of it.

#include <span>

#include "ai/latency/model/gpu_models.h"
#include "ai/latency/model/measured_operator.h"

namespace perfcast::ai {

// Factors on the times of products, from a few measured ones of this device: the mean log ratio, shrunk towards none.
// Kinds without a measurement stay as they are. Returns how many were used.
size_t calibrate(GpuModels& models, std::span<const MeasuredProduct> measured);

}  // namespace perfcast::ai
