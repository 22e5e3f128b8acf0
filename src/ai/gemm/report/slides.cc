#include "ai/gemm/report/slides.h"

namespace perfcast::ai::gemm {

const std::vector<SlideRow>& slide_rows() {
  static const std::vector<SlideRow> kRows = {
      {"C, -O1", "naive-o1", kSlideFirst_s},
      {"C, -O3", "naive-o3", 262.83},
      {"NumPy", "numpy", 276.97e-3},
      {"PyTorch, CPU", "torch", 49.79e-3},
      {"CUDA, A100", "cuda-naive", 23.82e-3},
      {"PyTorch fp32, A100", "", 10.94e-3},
      {"cuBLAS, A100", "cublas", 7.14e-3},
      {"CUTLASS, A100", "", 5.28e-3},
      {"PyTorch fp16, A100", "", 0.64e-3},
      {"cuBLAS, tensor cores, A100", "cublas-fp16", 0.58e-3},
      {"CUTLASS, tensor cores, A100", "", 0.58e-3},
  };
  return kRows;
}

}  // namespace perfcast::ai::gemm
