#pragma once
// How long products on matrix units (tensor cores), the operators between them and all-reduces take on one device.
//
// A product (batch x m x k x n) is cut into output tiles of 256x128, 128x256, 128x128 or 64x128, and k into 1, 2, 4 or
// 8 parts; the cut that comes out fastest is taken. With w = tiles x parts / units (waves):
//   compute  (share ceil(w) + (1 - share) max(w, 1)) x 2 x tile x (k / parts + prologue) x units / (peak x efficiency)
//   cache    what all tiles read / (units x clock x bytes per unit and cycle)
//   memory   (weights / sqrt(streams) + activations + sums of the parts) / (bandwidth x efficiency), where streams <= 1
//   is
//            the share of the bandwidth's need that the tiles along n, with their parts, have in flight
//   seconds  start + (compute^4 + cache^4 + memory^4)^(1/4), and never below the roofline
// Clocks fall under long loads: efficiency x (1 - drop x flop / (flop + peak x 0.5 ms)).
// So seconds grow with batch, m, k and n.
//
// An operator that moves `bytes`: sqrt(start^2 + (bytes / bandwidth)^2 + (bytes / (units x clock x bytes per unit and
// cycle))^2); norms and activations are bound by their units on devices with fast memory, not by the memory. An
// all-reduce of `bytes` over p workers: start + step (p - 1) + 2 (p - 1) / p x bytes / (link x efficiency), a ring's
// traffic (Thakur et al., "Optimization of collective communication operations in MPICH", 2005).

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "ai/latency/model/operator_time.h"
#include "base/result.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

struct VectorParameters {
  double start_s = kUnknown;
  double bytes_per_cycle = kUnknown;  // that one unit moves
};

struct HalfPrecisionParameters {
  double start_s = 4e-6;                              // of a product
  double compute_efficiency = 0.85;                   // of the peak, inside full waves
  double prologue_bytes = 200;                        // of k: what filling and draining a tile's pipeline costs
  double memory_efficiency = 0.8;                     // of the bandwidth
  double whole_wave_share = 0.7;                      // 1: a started wave costs as much as a full one
  double cache_bytes_per_cycle = 30;                  // that one unit draws from the shared cache
  double split_traffic = 1;                           // of the parts' sums: 1 is fp32 sums written and read once
  double streaming_share = 0.5;                       // of the units that must read weights to draw the whole bandwidth
  double power_drop = 0.1;                            // of the efficiency, under long loads
  std::array<VectorParameters, kVectorKinds> vector;  // by VectorKind
  double link_start_s = kUnknown;
  double link_step_s = kUnknown;  // each further worker
  double link_efficiency = kUnknown;
  // Standard deviations of log time on language models that were held out of the fit.
  double product_log_error = kUnknown;
  double vector_log_error = kUnknown;
};

struct HalfPrecisionDevice {
  DeviceFacts facts;
  HalfPrecisionParameters parameters;
};

// What was learned, with where from.
struct HalfPrecisionBundle {
  std::string source;   // the data's name and place
  std::string licence;  // of the data
  std::string trained;  // one sentence: from what, by which command
  // A standard deviation of log time on devices that were held out of the fit; for what is not calibrated.
  double transfer_log_error = kUnknown;
  std::vector<HalfPrecisionDevice> devices;  // one or more
};

// The device of the bundle with this name, or else the least unlike one (kin.h; the first of equals); `with_link`: of
// those whose all-reduces were measured. Null where there is none.
const HalfPrecisionDevice* nearest_kin(const DeviceFacts& device, const HalfPrecisionBundle& bundle,
                                       bool with_link = false);

class HalfPrecisionModel {
 public:
  // "missing-fact": the device has no memory_bytes_per_s or units, or no peak of any mode but fp32. "bad-bundle": no
  // devices. A device that isn't in the bundle takes the parameters of its nearest kin, on its own facts; where its
  // clock is unknown, its cache is as much faster than the kin's as its memory is.
  static Result<HalfPrecisionModel> for_device(const DeviceFacts& device, const HalfPrecisionBundle& bundle);
  // Parameters given, as in a fit.
  static HalfPrecisionModel with_parameters(const DeviceFacts& device, const HalfPrecisionParameters& parameters);

  const DeviceFacts& device() const { return device_; }
  const HalfPrecisionParameters& parameters() const { return parameters_; }
  const std::string& kin() const { return kin_; }  // whose measurements stand behind the times
  bool supports(MathMode mode) const;              // it has a peak, and isn't kFp32
  // Measured: this device, kHalf. The other modes take kHalf's efficiencies on their own peak.
  bool calibrated(MathMode mode = MathMode::kHalf) const;
  double log_error(MathMode mode = MathMode::kHalf) const;
  double vector_log_error() const;

  // `weight_bytes`: of all `batch` right matrices as they are stored; not read where !shape.weights. Activations have
  // the bytes of the mode; outputs 2 (kTf32: 4). Vidur's times are those of the kernels on the device: a launch that
  // nothing hides is not in them, launch_seconds is 0. Zero seconds for an empty product; not-a-number in a mode
  // without a peak.
  OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const;
  // Values moved for each of rows x columns: kBinary 3, the others 2. A gated activation reads two values and writes
  // one: kUnary with one and a half times its columns.
  OperatorTime vector(const VectorShape& shape, double bytes_per_value) const;
  // Inside one node. Not-a-number where the device has no link_bytes_per_s; 0 for one worker.
  double all_reduce_seconds(double bytes, int workers) const;

 private:
  HalfPrecisionModel(const DeviceFacts& device, const HalfPrecisionParameters& parameters, double cycles_per_s);

  DeviceFacts device_;
  HalfPrecisionParameters parameters_;
  double cycles_per_s_;  // of all units
  double transfer_log_error_ = kUnknown;
  bool measured_ = false;
  std::string kin_;
};

}  // namespace perfcast::ai
