#pragma once
// What bounds an operator, in the words of a placement.

#include "ai/latency/model/operator_time.h"
#include "place/workload/placement.h"

namespace perfcast::place {

inline PlaceBound place_bound_of(ai::Bound bound) {
  switch (bound) {
    case ai::Bound::kCompute:
      return PlaceBound::kCompute;
    case ai::Bound::kCache:
      return PlaceBound::kCache;
    case ai::Bound::kMemory:
      return PlaceBound::kMemory;
    case ai::Bound::kLink:
      return PlaceBound::kLink;
    case ai::Bound::kLaunch:
    case ai::Bound::kStart:  // as short as kernels get
      return PlaceBound::kLaunch;
  }
  return PlaceBound::kCompute;
}

}  // namespace perfcast::place
