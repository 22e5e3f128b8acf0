#include "ai/latency/model/operator_time.h"

namespace perfcast::ai {

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

double activation_bytes(MathMode mode) {
  switch (mode) {
    case MathMode::kFp32:
    case MathMode::kTf32:
      return 4;
    case MathMode::kHalf:
      return 2;
    case MathMode::kFp8:
    case MathMode::kInt8:
      return 1;
  }
  return 4;
}

}  // namespace perfcast::ai
