#pragma once
// What bounds an operator, in the words of a placement.

#include "scenario/place/placement.h"
#include "workload/latency/model/operator_time.h"

namespace perfcast {

inline PlaceBound place_bound_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return PlaceBound::kCompute;
    case Bound::kCache:
      return PlaceBound::kCache;
    case Bound::kMemory:
      return PlaceBound::kMemory;
    case Bound::kLink:
      return PlaceBound::kLink;
    case Bound::kLaunch:
    case Bound::kStart:  // as short as kernels get
      return PlaceBound::kLaunch;
  }
  return PlaceBound::kCompute;
}

}  // namespace perfcast
