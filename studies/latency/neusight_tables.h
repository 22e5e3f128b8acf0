#pragma once
// The scores of a bundle on NeuSight's measurements, as tables.

#include <cstdint>

#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/gpu_bundle.h"
#include "base/result.h"
#include "studies/latency/neusight_data.h"
#include "studies/output.h"

namespace perfcast::ai::latency_study {

struct StudyOptions {
  uint64_t seed = 1;              // of the shapes that calibration measures
  size_t calibration_shapes = 4;  // of each kind
};
// Whole models, with the published predictors and the floor of perfect operator times beside ours; operators; devices
// that were never fitted, without and with calibration.
Status score_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                    const StudyOptions& options, StudyOutput& output);

// Every traced configuration by itself, forward and backward apart; and the median share of the peak that products of
// more than 10 GFLOP reached in the rows for fitting, in the test rows and in the operators of whole models.
Status detail_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                     StudyOutput& output);

}  // namespace perfcast::ai::latency_study
