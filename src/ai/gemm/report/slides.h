#pragma once
// The "GEMM Performance Summary" of the keynote's slides, to set ours beside. N is not stated there; 4096 fits: cuBLAS
// at 7.14 ms is then 19.25 TFLOP/s, just below the A100's 19.5.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast::ai::gemm {

struct SlideRow {
  std::string_view title;
  std::string_view rung;  // the rung here that does the same; empty: none does
  double seconds;
};
// From the slowest to the fastest.
const std::vector<SlideRow>& slide_rows();
inline constexpr double kSlideFirst_s = 478.89;  // C at -O1: what their speed-ups are over

}  // namespace perfcast::ai::gemm
