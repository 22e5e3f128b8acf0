#include "ai/gemm/cuda/cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace perfcast::ai::gemm::cuda {

// The header of the build gives the types; a later library of another major version keeps these functions.
struct Cublas::Functions {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasGetVersion_v2) get_version = nullptr;
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                         cudaDataType, int, const void*, cudaDataType, int, const void*, void*, cudaDataType, int,
                         cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
};

Result<std::unique_ptr<Cublas>> Cublas::load() {
  void* library = nullptr;
  for (const int version : {CUBLAS_VER_MAJOR, 13, 12, 11}) {
    if (library == nullptr) library = dlopen(fmt::format("libcublas.so.{}", version).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) return environment_error("unavailable", "cuBLAS is not installed (libcublas.so)", "", "");
  std::unique_ptr<Cublas> cublas(new Cublas());
  cublas->functions_ = std::make_unique<Functions>();
  Functions& functions = *cublas->functions_;
  bool all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function != nullptr;
  };
  find(functions.create, "cublasCreate_v2");
  find(functions.destroy, "cublasDestroy_v2");
  find(functions.get_version, "cublasGetVersion_v2");
  find(functions.gemm, "cublasGemmEx");
  if (!all) return environment_error("unavailable", "this cuBLAS lacks what is needed: cublasGemmEx", "", "");
  cublasHandle_t handle = nullptr;
  if (const cublasStatus_t status = functions.create(&handle); status != CUBLAS_STATUS_SUCCESS) {
    return environment_error("unavailable", fmt::format("cuBLAS does not start: status {}", static_cast<int>(status)),
                             "", "");
  }
  cublas->handle_ = handle;
  int version = 0;
  if (functions.get_version(handle, &version) == CUBLAS_STATUS_SUCCESS) {
    cublas->version_ = fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
  return cublas;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) functions_->destroy(static_cast<cublasHandle_t>(handle_));
}

int Cublas::product(Precision precision, int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c) const {
  cudaDataType in = CUDA_R_32F, out = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  if (precision == Precision::kTf32) compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (precision == Precision::kFp16) in = CUDA_R_16F;
  const bool integers = precision == Precision::kInt8;
  if (integers) {
    in = CUDA_R_8I;
    out = CUDA_R_32I;
    compute = CUBLAS_COMPUTE_32I;
  }
  const float one = 1, zero = 0;
  const int32_t one_int = 1, zero_int = 0;
  const void* alpha = integers ? static_cast<const void*>(&one_int) : &one;
  const void* beta = integers ? static_cast<const void*>(&zero_int) : &zero;
  // cuBLAS counts by columns: what it is given is C' = B' A', and row-major matrices are their own transposes.
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  return functions_->gemm(static_cast<cublasHandle_t>(handle_), integers ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N,
                          columns, rows, depth, alpha, b, in, integers ? depth : columns, a, in, depth, beta, c, out,
                          columns, compute, CUBLAS_GEMM_DEFAULT);
}

}  // namespace perfcast::ai::gemm::cuda
