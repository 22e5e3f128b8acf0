// Any bytes: no crash; every program of an accepted suite file is found again by its id.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "program/corpus/program_catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto catalogue = ProgramCatalogue::parse(text, "input");
  if (!catalogue) return 0;
  const auto json = parse_json(text, "input");
  if (!json || catalogue->size() != (*json)["programs"].size()) std::abort();
  for (const Json& program : (*json)["programs"]) {
    if (catalogue->find(program["id"].get<std::string>()) == nullptr) std::abort();
  }
  return 0;
}
