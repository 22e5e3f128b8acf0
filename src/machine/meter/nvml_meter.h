#pragma once
// NVIDIA's GPUs, by their driver's management library: loaded while the program runs, by declarations of our own, as in
// NVIDIA's NVML API Reference. The total energy counter (millijoules since the driver was loaded) where the GPU has
// one, which begins with Volta; else its power in milliwatts, sampled.

#include <string>

#include "machine/meter/meter.h"

namespace perfcast {

void find_nvml_meters(const std::string& library, MeterSet& set);

}  // namespace perfcast
