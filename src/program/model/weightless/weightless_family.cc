#include "program/model/optional_families.h"
#include "program/model/weightless/lut_predictor.h"

namespace perfcast::program {

std::unique_ptr<Predictor> make_weightless_family(const char*) { return std::make_unique<LutPredictor>(); }

}  // namespace perfcast::program
