#pragma once
// A GemmResult for people, for programs, and as a picture.

#include <string>

#include "ai/gemm/gemm_result.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

inline constexpr const char* kGemmSchema = "perfcast.gemm/1";

// The ladder as a table for each shape, the limits, advice, what was skipped, warnings; where asked for, the slides'
// figures (slides.h) beside ours.
std::string to_text(const GemmResult& result, bool beside_slides = false);
// Schema perfcast.gemm/1. Numbers that are unknown are left out.
Json to_json(const GemmResult& result);

// One picture for each shape in a file of its own: measured roofs of compute and memory, each rung a labelled point.
// SVG that stands alone. Error "no-bandwidth" where memory was not measured, "nothing-to-draw" where nothing ran.
Result<std::string> roofline_svg(const GemmResult& result);

// The table of --list.
std::string rung_list_text();
Json rung_list_json();

}  // namespace perfcast::ai::gemm
