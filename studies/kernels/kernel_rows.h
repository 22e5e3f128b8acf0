#pragma once
// A kernel database as what is fitted and scored.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/latency/fit/kernel_fit.h"
#include "ai/latency/kernels/kernel_database.h"
#include "ai/latency/model/device_catalogue.h"

namespace perfcast::ai::kernels_study {

// Measured kernels of one kind and format.
struct KernelRows {
  KernelKind kind = KernelKind::kProduct;
  KernelFormat format = KernelFormat::kHalf;
  std::vector<DeviceFacts> facts;        // of each device
  std::vector<KernelFitDevice> devices;  // all rows
};

// Kinds and formats that three devices and more measured. Left out: prompts of one token, which decode; attention with
// heads of more than 256 values, or by Triton, which engines fall back to.
std::vector<KernelRows> kernel_rows(const KernelDatabase& database, const DeviceCatalogue& catalogue,
                                    std::vector<std::string>& notes);

// The same shapes of every device, up to about `most` of each, by a hash.
std::vector<KernelSample> sampled(const std::vector<KernelSample>& samples, size_t most);

// Shapes on a coarse grid: what a bundle keeps of a device.
bool is_on_coarse_grid(const KernelShape& shape);

uint64_t hash_of(const KernelShape& shape, uint64_t seed);

}  // namespace perfcast::ai::kernels_study
