// Any bytes: no crash; of a space that is read the default is allowed, and what is listed and drawn is, too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "measure/tune/space/space_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  if (size > 20000) return 0;
  const auto file = parse_tune_file(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (!file) return 0;
  const TuneSpace& space = file->space;
  if (space.broken_constraint(space.default_setting()) != nullptr) std::abort();
  for (const Setting& setting : space.list(100, 10000).settings) {
    Setting settled = setting;
    space.settle(settled);
    if (settled != setting || space.broken_constraint(setting) != nullptr) std::abort();
  }
  Random random(1);
  const auto drawn = space.draw(random);
  if (drawn && space.broken_constraint(*drawn) != nullptr) std::abort();
  return 0;
}
