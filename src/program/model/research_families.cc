#include <string_view>

#include "program/model/factor/factor_predictor.h"
#include "program/model/neural/dense_predictor.h"
#include "program/model/neural/vae_predictor.h"
#include "program/model/optional_families.h"
#include "program/model/tree/boosted_predictor.h"

namespace perfcast::program {

std::unique_ptr<Predictor> make_research_family(const char* name) {
  const std::string_view family = name;
  if (family == "factor") return std::make_unique<FactorPredictor>();
  if (family == "gbt") return std::make_unique<BoostedPredictor>();
  if (family == "dnn") return std::make_unique<DensePredictor>();
  return std::make_unique<VaePredictor>(name);
}

}  // namespace perfcast::program
