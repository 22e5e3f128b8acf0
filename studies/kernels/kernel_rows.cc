#include "studies/kernels/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace perfcast::ai::kernels_study {
namespace {

constexpr size_t kFewestDevices = 3, kFewestRows = 200;
constexpr uint64_t kSampleSeed = 1;
constexpr double kLargestHead = 256;
constexpr const char* kFallback = "triton_attn";

bool is_scored(const MeasuredKernel& kernel, const KernelDatabase& database) {
  const KernelShape& shape = kernel.shape;
  if (shape.kind != KernelKind::kPrefill && shape.kind != KernelKind::kDecode) return true;
  if (database.libraries[kernel.library].find(kFallback) != std::string::npos) return false;
  if (shape.kind == KernelKind::kPrefill && shape.size[AttentionAxis::kLength] <= 1) return false;
  return shape.size[AttentionAxis::kHeadDim] <= kLargestHead;
}

bool among(double value, std::initializer_list<double> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

uint64_t hash_of(const KernelShape& shape, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  uint64_t hash = (seed + 4 * static_cast<uint64_t>(shape.kind) + static_cast<uint64_t>(shape.format)) * kOdd;
  for (const double size : shape.size) hash = (std::rotl(hash, 23) ^ std::bit_cast<uint64_t>(size + 1)) * kOdd;
  hash ^= hash >> 31;
  hash *= kOdd;
  return hash ^ (hash >> 32);
}

std::vector<KernelSample> sampled(const std::vector<KernelSample>& samples, size_t most) {
  if (samples.size() <= most) return samples;
  const double share = static_cast<double>(most) / static_cast<double>(samples.size());
  const auto limit = static_cast<uint64_t>(std::ldexp(share, 53));
  std::vector<KernelSample> kept;
  for (const KernelSample& sample : samples) {
    if ((hash_of(sample.shape, kSampleSeed) >> 11) < limit) kept.push_back(sample);
  }
  return kept;
}

bool is_on_coarse_grid(const KernelShape& shape) {
  const auto& size = shape.size;
  switch (shape.kind) {
    case KernelKind::kProduct:
      return among(size[ProductAxis::kM], {1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}) &&
             among(size[ProductAxis::kN], {64, 256, 1024, 2048, 4096, 8192, 16384, 65536}) &&
             among(size[ProductAxis::kK], {64, 256, 1024, 2048, 4096, 8192, 16384, 65536});
    case KernelKind::kPrefill:
    case KernelKind::kDecode: {
      const double length = size[AttentionAxis::kLength];
      return among(size[AttentionAxis::kBatch], {1, 4, 16, 64, 256}) &&
             among(size[AttentionAxis::kHeads], {8, 32, 64}) && among(size[AttentionAxis::kKvHeads], {1, 4, 8, 32}) &&
             among(size[AttentionAxis::kWindow], {0, 128, 1024}) &&
             (among(length, {16, 64, 256, 1024, 4096, 16384}) ||
              among(length - 1, {16, 64, 256, 1024, 4096, 16384, 65536}));
    }
    case KernelKind::kExperts:
      break;
  }
  return among(size[ExpertsAxis::kTokens], {1, 4, 16, 64, 256, 1024, 4096, 16384}) &&
         among(size[ExpertsAxis::kTensorParallel], {1, 4}) && size[ExpertsAxis::kExpertParallel] == 1;
}

std::vector<KernelRows> kernel_rows(const KernelDatabase& database, const DeviceCatalogue& catalogue,
                                    std::vector<std::string>& notes) {
  std::vector<const DeviceFacts*> devices;
  for (const std::string& system : database.systems) {
    const auto found = find_device(catalogue, system);
    devices.push_back(found && KernelDevice::of(**found) ? *found : nullptr);
    if (devices.back() == nullptr) notes.push_back("the catalogue lacks '" + system + "', or facts of it");
  }
  std::map<std::pair<KernelKind, KernelFormat>, std::map<uint32_t, std::vector<KernelSample>>> groups;
  for (const MeasuredKernel& kernel : database.kernels) {
    if (devices[kernel.system] == nullptr || !is_scored(kernel, database)) continue;
    groups[{kernel.shape.kind, kernel.shape.format}][kernel.system].push_back({kernel.shape, kernel.seconds});
  }
  std::vector<KernelRows> result;
  for (auto& [what, by_device] : groups) {
    KernelRows rows;
    rows.kind = what.first;
    rows.format = what.second;
    for (auto& [system, samples] : by_device) {
      if (samples.size() < kFewestRows) continue;
      const KernelDevice device = *KernelDevice::of(*devices[system]);
      const bool computes = what.first == KernelKind::kProduct || what.first == KernelKind::kExperts;
      if (computes && std::isnan(device.flop_s[static_cast<size_t>(what.second)])) continue;
      rows.facts.push_back(*devices[system]);
      rows.devices.push_back({devices[system]->name, device, std::move(samples)});
    }
    if (rows.devices.size() >= kFewestDevices) result.push_back(std::move(rows));
  }
  return result;
}

}  // namespace perfcast::ai::kernels_study
