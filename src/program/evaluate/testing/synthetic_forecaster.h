#pragma once
// The small world of synthetic_corpus.h, learned: for tests of what forecasts.

#include "program/model/forecast/forecaster.h"

namespace perfcast::program {

// By the model "kernel", with the world's instance types; trained once.
const Forecaster& synthetic_forecaster();

}  // namespace perfcast::program
