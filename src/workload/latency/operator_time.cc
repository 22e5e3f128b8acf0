#include "workload/latency/operator_time.h"

namespace perfcast {

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::kLaunch:
      return "launch";
    case Bound::kCompute:
      return "compute";
    case Bound::kCache:
      return "cache";
    case Bound::kMemory:
      return "memory";
    case Bound::kLink:
      return "link";
    case Bound::kStart:
      return "start";
  }
  return "";
}

}  // namespace perfcast
