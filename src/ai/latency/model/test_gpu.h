#pragma once
// An invented GPU for tests, with kernels whose terms are the usual ones.

#include "ai/latency/model/gpu_models.h"

namespace perfcast::ai {

inline DeviceFacts test_device() {
  DeviceFacts device;
  device.name = "Test GPU";
  device.vendor = "test";
  device.generation = "first";
  device.process_nm = 16;
  device.memory_bytes = 16e9;
  device.memory_bytes_per_s = 500e9;
  device.l2_bytes = 4e6;
  device.units = 50;
  device.clock_hz = 1.5e9;
  device.power_w = 250;
  device.peak_flops[0] = 10e12;
  return device;
}

inline TileKernel usual_kernel(double tile_m, double tile_n) {
  TileKernel kernel;
  kernel.tile_m = tile_m;
  kernel.tile_n = tile_n;
  for (size_t i = 0; i < kTileTerms; ++i) kernel.terms[i] = tile_terms()[i].start;
  return kernel;
}

// One kernel, whatever the shape.
inline ProductModel one_kernel(double tile_m, double tile_n) {
  ProductModel model;
  model.kernels = {usual_kernel(tile_m, tile_n)};
  model.classes = {{0, 1}};
  TileChoice::Node leaf;
  leaf.shares = 1;
  model.choice = TileChoice({leaf}, {{0, 1.0}});
  model.log_error = 0.1;
  return model;
}

inline GpuModels test_models() {
  GpuModels models;
  models.device = test_device();
  models.fitted_on = models.device.name;
  models.linear = one_kernel(128, 64);
  models.batched = one_kernel(64, 64);
  for (VectorModel* model : {&models.vectors.unary, &models.vectors.binary, &models.vectors.short_softmax,
                             &models.vectors.long_softmax, &models.vectors.norm}) {
    for (size_t i = 0; i < kVectorTerms; ++i) model->terms[i] = vector_terms()[i].start;
    model->log_error = 0.05;
  }
  models.vectors.binary.passes = 3;
  models.vectors.short_softmax.rows = RowShape::kWarp;
  models.vectors.long_softmax.rows = models.vectors.norm.rows = RowShape::kBlock;
  return models;
}

}  // namespace perfcast::ai
