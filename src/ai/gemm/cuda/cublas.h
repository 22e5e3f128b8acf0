#pragma once
// cuBLAS, loaded at run time: the program starts, and builds, without it.

#include <cstdint>
#include <memory>
#include <string>

#include "ai/gemm/precision.h"
#include "base/result.h"

namespace perfcast::ai::gemm::cuda {

// Row-major C (m x n) = A (m x k) B on the device. fp32, tf32: floats; fp16: halves in, floats out; int8: B as n x k
// (its rows are columns), 32-bit integers out, m, n and k multiples of 4.
class Cublas {
 public:
  // Error "unavailable": it is not installed, or does not start.
  static Result<std::unique_ptr<Cublas>> load();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas();

  // 0 where the product was launched, else cuBLAS's status.
  int product(Precision precision, int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c) const;
  const std::string& version() const { return version_; }  // "cuBLAS 13.0.0"

 private:
  Cublas() = default;
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  std::string version_;
};

}  // namespace perfcast::ai::gemm::cuda
