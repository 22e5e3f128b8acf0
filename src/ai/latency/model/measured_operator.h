#pragma once
// Operators with the time that somebody measured: what models are fitted to and calibrated with, whatever its source.

#include "ai/latency/model/operator_time.h"

namespace perfcast::ai {

struct MeasuredProduct {
  ProductShape shape;
  double seconds = 0;
};

struct MeasuredVector {
  VectorShape shape;
  double seconds = 0;
};

// A sum over the devices of one node.
struct MeasuredAllReduce {
  int workers = 0;
  double bytes = 0;
  double seconds = 0;
};

}  // namespace perfcast::ai
