#pragma once
// From NeuSight's measurements to a bundle.

#include "ai/latency/fit/gpu_fit.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/gpu_bundle.h"
#include "base/report/table.h"
#include "base/result.h"
#include "studies/latency/neusight_data.h"

namespace perfcast::ai::latency_study {

// Models of every device that the training rows hold and the catalogue knows; devices with vector operators alone get
// those. Test rows and timed models aren't looked at.
Result<GpuBundle> fit_neusight(const NeusightData& data, const DeviceCatalogue& catalogue,
                               const GpuFitOptions& options = {});

// Mean absolute log error on the largest shapes by a fit without them, over all devices and kinds, for weights of long
// rows and pulls around the chosen ones: by this the settings were chosen.
Result<ReportTable> settings_table(const NeusightData& data, const DeviceCatalogue& catalogue);

}  // namespace perfcast::ai::latency_study
