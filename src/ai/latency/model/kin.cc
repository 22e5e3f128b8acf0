#include "ai/latency/model/kin.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {
namespace {

// A square product that keeps any GPU busy.
constexpr double kLarge = 4096;
// Boards whose peak needs more joules than this share of the thriftiest board's are not limited by power.
constexpr double kLimitedShare = 0.6;

constexpr double kOtherVendor = 10, kOtherGeneration = 1, kProcessWeight = 1.5;

double log_ratio(double a, double b) {
  const double distance = std::abs(std::log(a / b));
  return std::isfinite(distance) ? distance : 1;
}

double promised_per_joule(const DeviceFacts& device) {
  return device.peak(MathMode::kFp32) / device.power_w / process_gain(device.process_nm);
}

double reached_per_joule(const GpuModels& models) {
  const DeviceRates rates = rates_of(models.device, MathMode::kFp32);
  const double one = 2 * kLarge * kLarge * kLarge;
  const ProductShape linear{1, kLarge, kLarge, kLarge, true};
  // Batched products as the data have them.
  const ProductShape batched{64, 1024, 512, 1024, false};
  const double flops = std::max(one / models.linear.time(linear, rates).seconds,
                                2 * 64.0 * 1024 * 512 * 1024 / models.batched.time(batched, rates).seconds);
  return flops / models.device.power_w / process_gain(models.device.process_nm);
}

}  // namespace

double process_gain(double process_nm) {
  struct Step {
    double nm, gain;
  };
  // Falling process, rising gain; between two the nearer coarser one counts.
  constexpr Step kSteps[] = {{12, 1.0}, {10, 1.4}, {8, 1.6}, {7, 2.5}, {6, 2.5}, {5, 3.57}, {4, 3.57}, {3, 5.1}};
  double gain = 1;
  if (!(process_nm > 0)) return gain;
  for (const Step& step : kSteps) {
    if (process_nm <= step.nm) gain = step.gain;
  }
  return gain;
}

double flops_per_joule_16nm(std::span<const GpuModels> fitted) {
  double most_promised = 0;
  for (const GpuModels& models : fitted) {
    if (models.has_products() && models.device.power_w > 0) {
      most_promised = std::max(most_promised, promised_per_joule(models.device));
    }
  }
  double reached = 0;
  for (const GpuModels& models : fitted) {
    if (!models.has_products() || !(models.device.power_w > 0)) continue;
    if (promised_per_joule(models.device) < kLimitedShare * most_promised) continue;
    reached = std::max(reached, reached_per_joule(models));
  }
  return reached;
}

double sustained_share(const DeviceFacts& device, double flops_per_joule) {
  const double promised = promised_per_joule(device);
  if (!(promised > 0) || !(flops_per_joule > 0)) return 1;
  return std::min(1.0, flops_per_joule / promised);
}

double unlikeness(const DeviceFacts& a, const DeviceFacts& b, MathMode mode) {
  const double memory = log_ratio(a.memory_bytes_per_s / a.units, b.memory_bytes_per_s / b.units);
  const double arithmetic = log_ratio(a.peak(mode) / (a.units * a.clock_hz), b.peak(mode) / (b.units * b.clock_hz));
  const double distance = (a.vendor == b.vendor ? 0 : kOtherVendor) + memory + arithmetic;
  if (mode != MathMode::kFp32) return distance;
  return distance + (a.generation == b.generation ? 0 : kOtherGeneration) +
         kProcessWeight * log_ratio(a.process_nm, b.process_nm);
}

const GpuModels* nearest_kin(const DeviceFacts& device, std::span<const GpuModels> fitted) {
  const GpuModels* best = nullptr;
  double best_distance = 0;
  for (const GpuModels& models : fitted) {
    if (!models.has_products()) continue;
    const double distance = unlikeness(models.device, device, MathMode::kFp32);
    if (!best || distance < best_distance) {
      best = &models;
      best_distance = distance;
    }
  }
  return best;
}

GpuModels carried_to(const GpuModels& kin, const DeviceFacts& device, double flops_per_joule) {
  GpuModels models = kin;
  models.device = device;
  models.sustained = sustained_share(device, flops_per_joule);
  // A fitted device's own terms hold its throttling already.
  if (device.name == kin.fitted_on) models.sustained = 1;
  return models;
}

}  // namespace perfcast::ai
