// Any bytes as a table of models: no crash; each model that is accepted is found by its name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/audit/known_models.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto models = parse_known_models({reinterpret_cast<const char*>(data), size}, "input");
  if (!models) return 0;
  for (const KnownModel& model : models->models) {
    if (find_known_model(*models, model.name) != &model) std::abort();
  }
  return 0;
}
