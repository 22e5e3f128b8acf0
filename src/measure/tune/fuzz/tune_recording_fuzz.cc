// Any bytes: no crash; settings of what is read differ and valid times are above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "measure/tune/replay/recorded_space.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const auto space = parse_recorded_space(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (!space) return 0;
  std::set<Setting> seen;
  for (const RecordedSpace::Point& point : space->points) {
    if (!seen.insert(point.setting).second) std::abort();
    if (point.time_s && !(*point.time_s > 0)) std::abort();
  }
  Candidates candidates(space->knobs);
  for (const RecordedSpace::Point& point : space->points) candidates.add(point.setting);
  if (candidates.size() != space->points.size()) std::abort();
  return 0;
}
