#pragma once
// The small world of synthetic_corpus.h, learned: for tests of what forecasts.

#include "model/forecast/forecaster.h"

namespace perfcast {

// By the model "kernel", with the world's instance types; trained once.
const Forecaster& synthetic_forecaster();

}  // namespace perfcast
