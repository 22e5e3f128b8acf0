#pragma once
// What times that a user states for other platforms say against each other and against the run here.

#include <cstddef>
#include <vector>

#include "program/forecast/forecast.h"
#include "program/model/forecast/gaussian_conditioning.h"

namespace perfcast::program {

bool measured_on(const std::vector<Measurement>& measured, size_t platform);

// Times measured elsewhere stand beside the run here, or in its place, as what seconds hang on. Where they and the run
// disagree by more than platforms of a line differ, one of them is of another input, in another unit, or of a busy
// machine. `stated`: as the request has them, without the run here; `measured`: all that the forecast is conditioned
// on.
void note_contradiction(const Forecast& by_stated, const std::vector<Measurement>& stated,
                        const std::vector<Measurement>& measured, ForecastReport& report);

// Times that were stated, and the run here, against each other, by the forecast that knows none of them. Of three and
// more the one that is out of line is named, also the run here; of two nobody can tell. The run counts where its host
// is surely known.
void note_times_apart(const Bundle& bundle, const Forecast& unmeasured, const std::vector<Measurement>& stated,
                      ForecastReport& report);

}  // namespace perfcast::program
