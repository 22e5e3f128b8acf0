#pragma once
// The fitted fp32 models of one GPU, and their time of an operator.

#include <string>

#include "ai/latency/model/product_model.h"
#include "ai/latency/model/vector_time.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

struct GpuModels {
  std::string fitted_on;  // the device whose measurements these are
  DeviceFacts device;     // the device they speak of: fitted_on, or its kin
  double sustained = 1;   // share of the fp32 peak that the board's power allows
  ProductModel linear, batched;
  VectorModels vectors;

  // fp32; products with and without weights. Empty product models: false.
  bool has_products() const { return !linear.empty() && !batched.empty(); }
  OperatorTime product(const ProductShape& shape) const;
  OperatorTime vector(const VectorShape& shape, double bytes_per_value = 4) const;
};

}  // namespace perfcast::ai
