#pragma once
// Products that a user timed on a device: what `--calibrate` reads.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/precision.h"
#include "base/result.h"

namespace perfcast::ai {

struct CalibrationRun {
  enum class Kind : uint8_t { kLinear, kBmm };  // with a layer's weights (n x k); of two activations
  std::string device;
  Kind kind = Kind::kLinear;
  int64_t batch = 1, m = 0, k = 0, n = 0;
  Precision precision = Precision::kFp32;
  double latency_s = 0;
  size_t line = 0;  // of the file
};

// CSV with the columns device,kind,batch,m,k,n,precision,latency_s in any order and no others; kind is linear or bmm.
// "missing-column", "bad-calibration" with file and line: sizes are whole numbers from 1 to 2^31, a latency is above 0
// and at most an hour, and no device's product moves more than 2^53 operations.
// `form`: how it was read where that isn't plain (CsvTable::form()).
Result<std::vector<CalibrationRun>> parse_calibration_runs(std::string_view csv, const std::string& source,
                                                           std::string* form = nullptr);

}  // namespace perfcast::ai
