// Compiled once for each vector width; PERFCAST_EIGEN names the function, and renames Eigen's namespace with it, so
// that the linker can't give one width's templates to another, or to the rest of the program.

#define PERFCAST_JOIN_(a, b) a##b
#define PERFCAST_JOIN(a, b) PERFCAST_JOIN_(a, b)
#define Eigen PERFCAST_JOIN(Eigen_, PERFCAST_EIGEN)
#define EIGEN_NO_IO
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
#include "ai/gemm/kernel/eigen_kernel.h"

#include <Eigen/Core>

namespace perfcast::ai::gemm {

void PERFCAST_EIGEN(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(c, m, n).noalias() = Eigen::Map<const Matrix>(a, m, k) * Eigen::Map<const Matrix>(b, k, n);
}

}  // namespace perfcast::ai::gemm
