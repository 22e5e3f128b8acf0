#include "ai/latency/model/gpu_models.h"

namespace perfcast::ai {

OperatorTime GpuModels::product(const ProductShape& shape) const {
  const ProductModel& model = shape.weights ? linear : batched;
  return model.time(shape, rates_of(device, MathMode::kFp32), sustained);
}

OperatorTime GpuModels::vector(const VectorShape& shape, double bytes_per_value) const {
  const VectorModel& model = vectors.of(shape.kind, shape.columns);
  OperatorTime time;
  time.seconds = vector_seconds(model, rates_of(device, MathMode::kFp32), device.clock_hz, shape.rows, shape.columns,
                                bytes_per_value);
  time.launch_seconds = model[VectorTerm::kLaunch];
  time.bound = Bound::kMemory;
  return time;
}

}  // namespace perfcast::ai
