#pragma once
// Families of models that a build may leave out. Null: the build has no family of that name.

#include <memory>
#include <string>

#include "program/model/predictor.h"

namespace perfcast::program {

// factor, gbt, dnn, vae-dnn and its variants: the CMake option PERFCAST_RESEARCH.
std::unique_ptr<Predictor> make_research_family(const char* name);
// dwn: the CMake option PERFCAST_WEIGHTLESS.
std::unique_ptr<Predictor> make_weightless_family(const char* name);

}  // namespace perfcast::program
