#pragma once
// How long one operator takes on one device: what the latency models answer with.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ai/latency/model/kernel_shape.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// A product of `batch` independent (m x k) by (k x n) matrices. With `weights` the right matrix is a layer's
// parameters, stored n x k as frameworks do; without, both are activations (attention).
struct ProductShape {
  double batch = 1, m = 0, k = 0, n = 0;
  bool weights = true;
};

// An operator that is no product: `rows` of `columns` values.
enum class VectorKind : uint8_t { kUnary, kBinary, kSoftmax, kNorm, kCopy };
inline constexpr size_t kVectorKinds = 5;
struct VectorShape {
  VectorKind kind = VectorKind::kUnary;
  double rows = 0, columns = 0;
};

// kLaunch: the device waits for the host. kStart: a kernel that is as short as kernels get.
enum class Bound : uint8_t { kLaunch, kCompute, kCache, kMemory, kLink, kStart };
std::string_view name_of(Bound bound);

// Of one value that enters a product in this mode.
double activation_bytes(MathMode mode);

struct OperatorTime {
  double seconds = 0;         // on the device, without its launch; never below the roofline
  double launch_seconds = 0;  // what a launch adds where nothing hides it
  Bound bound = Bound::kCompute;
  // A standard deviation of the log of `seconds`; not-a-number: the model's log_error() of the mode.
  double log_error = kUnknown;
  bool measured = false;  // on this device, at this shape or between such ones
};

// The models of one device. Times are for whole devices, one operator at a time.
class LatencyModel {
 public:
  virtual ~LatencyModel() = default;
  virtual const DeviceFacts& device() const = 0;
  // True where measurements of this device stand behind products of `rows` rows in `mode`; else their times are carried
  // over from its kin. Products of few rows may follow a law of their own, that measurements of tall ones don't touch.
  virtual bool calibrated(MathMode mode, double rows) const = 0;
  // Of tall ones.
  bool calibrated(MathMode mode) const { return calibrated(mode, std::numeric_limits<double>::infinity()); }
  // True where the device can compute in this mode.
  virtual bool supports(MathMode mode) const = 0;
  // `bytes_per_value` of what moves through memory besides weights; weight bytes are given, since they may be packed.
  virtual OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const = 0;
  virtual OperatorTime vector(const VectorShape& shape, double bytes_per_value) const = 0;
  // Of a kernel that does what several operators stand for: fused attention, a layer's experts. Not-a-number where the
  // model knows no such kernel.
  virtual OperatorTime kernel(const KernelShape& /*shape*/) const { return {kUnknown}; }
  // A standard deviation of log time of `mode`'s products that it has not seen, for intervals.
  virtual double log_error(MathMode mode) const = 0;
  // Of a whole model's step of such products: its time errs by no less than this, whatever its operators say.
  // Not-a-number where that was not measured.
  virtual double step_log_error(MathMode /*mode*/) const { return kUnknown; }
  // Sum of `bytes` over `workers` devices of one node; not-a-number where nothing was measured of such a device.
  virtual double all_reduce_seconds(double /*bytes*/, int64_t /*workers*/) const { return kUnknown; }
};

}  // namespace perfcast::ai
