// In place of weightless_family.cc in builds without it.
#include "program/model/optional_families.h"

namespace perfcast::program {

std::unique_ptr<Predictor> make_weightless_family(const char*) { return nullptr; }

}  // namespace perfcast::program
