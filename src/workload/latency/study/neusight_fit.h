#pragma once
// From NeuSight's measurements to a bundle.

#include <string>

#include "base/result.h"
#include "workload/latency/fit/gpu_fit.h"
#include "workload/latency/model/device_catalogue.h"
#include "workload/latency/model/gpu_bundle.h"
#include "workload/latency/study/neusight_data.h"

namespace perfcast {

// Models of every device that the training rows hold and the catalogue knows; devices with vector operators alone get
// those. Test rows and timed models aren't looked at.
Result<GpuBundle> fit_neusight(const NeusightData& data, const DeviceCatalogue& catalogue,
                               const GpuFitOptions& options = {});

// Mean absolute log error on the largest shapes by a fit without them, over all devices and kinds, for weights of long
// rows and pulls around the chosen ones: by this the settings were chosen.
Result<std::string> settings_table(const NeusightData& data, const DeviceCatalogue& catalogue);

}  // namespace perfcast
