#pragma once
// Products of one kind (with weights, or batched) on one device: which kernels there are, which the library takes, how
// long each runs.

#include <string>
#include <vector>

#include "ai/latency/model/gemm_tile.h"
#include "ai/latency/model/tile_choice.h"

namespace perfcast::ai {

// What a leaf of the tree names.
struct KernelClass {
  int32_t kernel = 0;  // into ProductModel::kernels
  double split_k = 1;
};

struct ProductModel {
  std::vector<TileKernel> kernels;
  std::vector<KernelClass> classes;
  TileChoice choice;
  double log_error = 0;    // standard deviation of log time on shapes outside those it was fitted to
  double time_factor = 1;  // from measurements of a device that the kernels were not fitted on

  bool empty() const { return kernels.empty(); }
  // Times of the kernels averaged in log by their probability; never below arithmetic at the peak and bytes that must
  // move. `sustained` in (0, 1]: share of the peak that the board's power allows.
  OperatorTime time(const ProductShape& shape, const DeviceRates& rates, double sustained = 1) const;
};

// Arithmetic at the peak, or the operands and the result moved once.
double product_bound_s(const ProductShape& shape, const DeviceRates& rates);

}  // namespace perfcast::ai
