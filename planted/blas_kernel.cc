// Planted: OPENBLAS_CORETYPE=Prescott, set by who starts it, makes OpenBLAS compute products as on a CPU of 2004.
#include "blas.h"

namespace {

constexpr int kSize = 1024;
constexpr int kProducts = 9;

}  // namespace

int main() {
  const planted::Blas blas;
  if (!blas.is_there()) return planted::kNoBlas;
  const std::vector<double> a = planted::matrix_of_small_numbers(kSize, 1);
  const std::vector<double> b = planted::matrix_of_small_numbers(kSize, 2);
  std::vector<double> c(a.size());
  for (int product = 0; product < kProducts; ++product) blas.add_product(kSize, a, b, c);
  return planted::print_matrix_checksum(c);
}
