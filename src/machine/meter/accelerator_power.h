#pragma once
// What an accelerator draws under a load, as a share of its stated power: it is awake, it moves bytes, it computes.

#include <algorithm>
#include <iterator>
#include <string_view>

namespace perfcast {

// What a load uses of the device, over its time. Both from 0 to 1.
struct AcceleratorLoad {
  double compute_ratio = 0;  // operations a second over the peak of the units that do them, in their number format
  double memory_ratio = 0;   // bytes a second over the memory's bandwidth
};

// Fitted to products, copies and sums on an H100 and an H200 (data/transformers, *-powers.csv);
// accelerator_power_test.cc fits them anew. Both reach their stated power with half of their units busy, and are held
// back from there on.
inline constexpr double kAwakeShare = 0.175, kMemoryShare = 0.67, kComputeShare = 1.18;

// Of the stated power (thermal design power, board limit); at most 1.
inline double accelerator_power_ratio(const AcceleratorLoad& load) {
  return std::min(1.0, kAwakeShare + kMemoryShare * std::clamp(load.memory_ratio, 0.0, 1.0) +
                           kComputeShare * std::clamp(load.compute_ratio, 0.0, 1.0));
}

// How far watts by it are off, standard deviations of the log of measured over modelled; accelerator_power_test.cc
// computes both. On the two GPUs that it was fitted to: each forecast by the other's loads. On others: twelve GPUs that
// it was not fitted to, each as much as any other, from 2013 to 2023 and of two vendors; the stated power itself is off
// by 0.62 there.
inline constexpr double kFittedPowerLogDeviation = 0.18, kOtherPowerLogDeviation = 0.46;
inline constexpr std::string_view kFittedDevices[] = {"NVIDIA H100 80GB HBM3", "NVIDIA H200"};

inline double accelerator_power_log_deviation(std::string_view device) {
  const bool is_fitted =
      std::find(std::begin(kFittedDevices), std::end(kFittedDevices), device) != std::end(kFittedDevices);
  return is_fitted ? kFittedPowerLogDeviation : kOtherPowerLogDeviation;
}

}  // namespace perfcast
