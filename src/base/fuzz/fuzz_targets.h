#pragma once
// The fuzz targets that one binary replays the seeds of; ends with a target without a name.

#include <cstddef>
#include <cstdint>

struct FuzzTarget {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};
extern const FuzzTarget kFuzzTargets[];
