#pragma once
// Bundles of half_precision.h as JSON, schema perfcast.half-precision/1:
//   {"schema": "perfcast.half-precision/1",
//    "card": {"source": "...", "licence": "MIT, Microsoft", "trained": "..."},
//    "transfer_log_error": 0.15,
//    "devices": [{"facts": {"name": "...", "memory_bytes_per_s": ..., "units": ..., "clock_hz": ..., "half_flops": ...,
//                           "link_bytes_per_s": ...},
//                 "product": {"start_s": ..., ...}, "vector": {"unary": {"start_s": ..., "memory_efficiency": ...},
//                 ...}, "link": {"start_s": ..., "step_s": ..., "efficiency": ...}, "product_log_error": ...,
//                 "vector_log_error": ...}]}
// link and link_bytes_per_s may be left out. The bundle's facts are those that it was fitted with.

#include <string>
#include <string_view>

#include "ai/latency/model/half_precision.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

// "bad-json", "bad-json-field": what is missing, unknown or outside of the range that times can come from.
Result<HalfPrecisionBundle> parse_half_precision(std::string_view text, const std::string& source);
Result<HalfPrecisionBundle> read_half_precision(const std::string& path);
Json to_json(const HalfPrecisionBundle& bundle);
Status write_half_precision(const HalfPrecisionBundle& bundle, const std::string& path);  // "-": stdout

}  // namespace perfcast::ai
