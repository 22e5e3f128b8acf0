#pragma once
// The whole of `perfcast gemm`: from what was asked to what was found.

#include <functional>
#include <string>
#include <vector>

#include "ai/gemm/gemm_result.h"
#include "ai/gemm/run/ladder.h"
#include "ai/gemm/rung/rung.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

struct GemmRequest {
  std::vector<Shape> shapes;
  std::vector<ConvLayer> convolutions;  // instead of shapes; the rungs are of conv_rung.h then
  std::vector<const Rung*> rungs;       // in the order of the ladder
  std::vector<Precision> precisions;    // of the rungs that run; empty: all
  std::vector<int> threads = {1};
  uint64_t seed = 1;
  bool bandwidth = false;  // measure it, also where no shape needs it
  int64_t read_bytes = 0;  // of the array that the bandwidth loop reads; 0: twice the last cache, up to 1 GiB
  bool advice = true;      // look for faster options, which takes more runs
  LadderOptions ladder;
};

// Bytes that all workers of a ladder over one shape may hold at once, on the generous side.
double memory_needed(const GemmRequest& request, const Shape& shape);

// Environment of a worker that shall use so many threads, whatever library it loads.
std::map<std::string, std::string> thread_environment(int threads);

// Where a signal ended it, the result says so and holds what was measured until then.
// Errors: "too-large" (more memory than there is), "bad-usage" (nothing left to run), "worker-failed".
Result<GemmResult> run_gemm(const GemmRequest& request);

}  // namespace perfcast::ai::gemm
