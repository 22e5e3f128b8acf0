#include "ai/latency/model/half_precision.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/kin.h"

namespace perfcast::ai {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sizes and numbers of parts are powers of two: multiplying by their inverses is exact, and faster than dividing.
struct HalfTile {
  double m, n, per_m = 1 / m, per_n = 1 / n;
};
// Smaller tiles were never chosen by a fit: a part of k for each unit does as well.
constexpr std::array kTiles = {HalfTile{256, 128}, HalfTile{128, 256}, HalfTile{128, 128}, HalfTile{64, 128}};
constexpr double kFewestTileRows = 64;
struct Parts {
  double count, per_count = 1 / count;
};
constexpr std::array kParts = {Parts{1}, Parts{2}, Parts{4}, Parts{8}};

// After how long a load the clock has fallen half of the way.
constexpr double kPowerSeconds = 5e-4;

double bytes_of_output(MathMode mode) { return mode == MathMode::kFp32 || mode == MathMode::kTf32 ? 4 : 2; }

double values_moved(VectorKind kind) { return kind == VectorKind::kBinary ? 3 : 2; }

// std::ceil without a call.
double ceil_of(double value) {
  if (!(value < 0x1p52)) return value;
  const auto whole = static_cast<double>(static_cast<int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

double fourth(double value) {
  const double square = value * value;
  return square * square;
}

bool has_matrix_units(const DeviceFacts& device) {
  for (size_t i = 0; i < kMathModes; ++i) {
    if (static_cast<MathMode>(i) != MathMode::kFp32 && !std::isnan(device.peak_flops[i])) return true;
  }
  return false;
}

// What bounds the fastest cut of a product: seconds to the fourth power.
struct Cut {
  double sum = kInfinity, compute = 0, cache = 0, memory = 0;
};

Bound largest(const Cut& cut) {
  if (cut.memory >= cut.compute && cut.memory >= cut.cache) return Bound::kMemory;
  return cut.compute >= cut.cache ? Bound::kCompute : Bound::kCache;
}

}  // namespace

const HalfPrecisionDevice* nearest_kin(const DeviceFacts& device, const HalfPrecisionBundle& bundle, bool with_link) {
  const HalfPrecisionDevice* nearest = nullptr;
  double least = kInfinity;
  for (const HalfPrecisionDevice& each : bundle.devices) {
    if (with_link && std::isnan(each.parameters.link_start_s)) continue;
    if (each.facts.name == device.name) return &each;
    const double distance = unlikeness(device, each.facts, MathMode::kHalf);
    if (distance < least) {
      least = distance;
      nearest = &each;
    }
  }
  return nearest;
}

HalfPrecisionModel::HalfPrecisionModel(const DeviceFacts& device, const HalfPrecisionParameters& parameters,
                                       double cycles_per_s)
    : device_(device), parameters_(parameters), cycles_per_s_(cycles_per_s) {}

Result<HalfPrecisionModel> HalfPrecisionModel::for_device(const DeviceFacts& device,
                                                          const HalfPrecisionBundle& bundle) {
  if (bundle.devices.empty()) return Error{"bad-bundle", "the bundle has no devices", "", "one or more"};
  const auto missing = [&](const char* fact) {
    return Error{"missing-fact", "'" + device.name + "' lacks " + fact, "", "a device whose facts state it"};
  };
  if (!(device.memory_bytes_per_s > 0)) return missing("memory_bytes_per_s");
  if (!(device.units > 0)) return missing("units");
  if (!has_matrix_units(device)) return missing("a peak of another mode than fp32");
  const HalfPrecisionDevice& kin = *nearest_kin(device, bundle);
  double cycles_per_s = device.units * device.clock_hz;
  if (std::isnan(cycles_per_s)) {
    cycles_per_s = kin.facts.units * kin.facts.clock_hz * (device.memory_bytes_per_s / kin.facts.memory_bytes_per_s);
  }
  HalfPrecisionParameters parameters = kin.parameters;
  if (const HalfPrecisionDevice* linked = nearest_kin(device, bundle, true)) {
    parameters.link_start_s = linked->parameters.link_start_s;
    parameters.link_step_s = linked->parameters.link_step_s;
    parameters.link_efficiency = linked->parameters.link_efficiency;
  }
  HalfPrecisionModel model(device, parameters, cycles_per_s);
  model.measured_ = kin.facts.name == device.name;
  model.transfer_log_error_ = bundle.transfer_log_error;
  model.kin_ = kin.facts.name;
  return model;
}

HalfPrecisionModel HalfPrecisionModel::with_parameters(const DeviceFacts& device,
                                                       const HalfPrecisionParameters& parameters) {
  HalfPrecisionModel model(device, parameters, device.units * device.clock_hz);
  model.measured_ = true;
  model.kin_ = device.name;
  return model;
}

bool HalfPrecisionModel::supports(MathMode mode) const {
  return mode != MathMode::kFp32 && !std::isnan(device_.peak(mode));
}

bool HalfPrecisionModel::calibrated(MathMode mode) const { return measured_ && mode == MathMode::kHalf; }

double HalfPrecisionModel::log_error(MathMode mode) const {
  return calibrated(mode) ? parameters_.product_log_error : transfer_log_error_;
}

double HalfPrecisionModel::vector_log_error() const {
  return measured_ ? parameters_.vector_log_error : std::fmax(parameters_.vector_log_error, transfer_log_error_);
}

OperatorTime HalfPrecisionModel::product(const ProductShape& shape, MathMode mode, double weight_bytes) const {
  const HalfPrecisionParameters& p = parameters_;
  const double peak = device_.peak(mode);
  if (std::isnan(peak)) return {kUnknown, 0, Bound::kCompute};
  if (!(shape.batch > 0 && shape.m > 0 && shape.k > 0 && shape.n > 0)) return {};
  const double input = activation_bytes(mode);
  const double right_values = shape.batch * shape.k * shape.n;
  const double right = shape.weights ? weight_bytes : right_values * input;
  const double right_value = right / right_values;  // bytes; packed weights take less than one of the mode
  const double outputs = shape.batch * shape.m * shape.n;
  const double activations = shape.batch * shape.m * shape.k * input + outputs * bytes_of_output(mode);
  const double flop = 2 * outputs * shape.k;

  const double units = device_.units;
  const double per_unit = 1 / units;
  const double efficiency = p.compute_efficiency * (1 - p.power_drop * flop / (flop + peak * kPowerSeconds));
  const double unit_second = 2 * units / (peak * efficiency);  // of one multiply-add
  const double prologue = p.prologue_bytes / input;
  const double per_memory = 1 / (device_.memory_bytes_per_s * p.memory_efficiency);
  const double sums_of_one = 8 * outputs * p.split_traffic;
  const double per_stream = shape.batch * per_unit / p.streaming_share;
  const double per_cache = shape.k / (cycles_per_s_ * p.cache_bytes_per_cycle);

  Cut best;
  for (const HalfTile& tile : kTiles) {
    const double tiles = shape.batch * ceil_of(shape.m * tile.per_m) * ceil_of(shape.n * tile.per_n);
    const double cache = fourth(tiles * (tile.m * input + tile.n * right_value) * per_cache);
    const double streams = std::max(1.0, shape.n * tile.per_n) * per_stream;
    const double unit_tile = tile.m * tile.n * unit_second;
    const double waves_of_one = tiles * per_unit;
    for (const Parts& parts : kParts) {
      const double waves = waves_of_one * parts.count;
      const double cost = p.whole_wave_share * ceil_of(waves) + (1 - p.whole_wave_share) * std::max(waves, 1.0);
      const double compute = fourth(cost * unit_tile * (shape.k * parts.per_count + prologue));
      if (compute + cache >= best.sum) continue;
      const double sums = parts.count > 1 ? sums_of_one * parts.count : 0;
      const double flowing = streams * parts.count;
      const double slowed = flowing < 1 ? right / std::sqrt(flowing) : right;
      const double memory = fourth((slowed + activations + sums) * per_memory);
      const double sum = compute + cache + memory;
      if (sum < best.sum) best = {sum, compute, cache, memory};
    }
  }
  const double busy = std::sqrt(std::sqrt(best.sum));
  const double compute_roof = flop / peak, memory_roof = (right + activations) / device_.memory_bytes_per_s;
  OperatorTime time;
  time.seconds = std::max({p.start_s + busy, compute_roof, memory_roof});
  time.bound = p.start_s > busy ? Bound::kStart : largest(best);
  // The empty rows of a tile are no arithmetic that the product asks for.
  if (time.bound == Bound::kCompute && shape.m < kFewestTileRows && memory_roof > compute_roof) {
    time.bound = Bound::kMemory;
  }
  return time;
}

OperatorTime HalfPrecisionModel::vector(const VectorShape& shape, double bytes_per_value) const {
  if (!(shape.rows > 0 && shape.columns > 0)) return {};
  const VectorParameters& p = parameters_.vector[static_cast<size_t>(shape.kind)];
  const double bytes = values_moved(shape.kind) * shape.rows * shape.columns * bytes_per_value;
  const double memory = bytes / device_.memory_bytes_per_s;
  const double moving = bytes / (cycles_per_s_ * p.bytes_per_cycle);
  OperatorTime time;
  time.seconds = std::sqrt(p.start_s * p.start_s + memory * memory + moving * moving);
  time.bound = p.start_s > std::max(memory, moving) ? Bound::kStart
               : memory >= moving                   ? Bound::kMemory
                                                    : Bound::kCompute;
  return time;
}

double HalfPrecisionModel::all_reduce_seconds(double bytes, int workers) const {
  if (workers <= 1) return 0;
  const double others = workers - 1;
  const double roof = 2 * others / workers * bytes / device_.link_bytes_per_s;
  return parameters_.link_start_s + parameters_.link_step_s * others + roof / parameters_.link_efficiency;
}

}  // namespace perfcast::ai
