// Planted: a product of matrices as three loops, where a library is at hand.
#include "blas.h"

namespace {

constexpr int kSize = 384;
constexpr int kProducts = 16;

[[gnu::noinline, maybe_unused]] void multiply(const double* a, const double* b, double* c, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      double sum = 0;
      for (size_t k = 0; k < size; ++k) sum += a[i * size + k] * b[k * size + j];
      c[i * size + j] += sum;
    }
  }
}

}  // namespace

int main() {
  // Both look for it, so that both say where it is missing.
  const planted::Blas blas;
  if (!blas.is_there()) return planted::kNoBlas;
  const std::vector<double> a = planted::matrix_of_small_numbers(kSize, 1);
  const std::vector<double> b = planted::matrix_of_small_numbers(kSize, 2);
  std::vector<double> c(a.size());
  for (int product = 0; product < kProducts; ++product) {
    if constexpr (planted::kMended) {
      blas.add_product(kSize, a, b, c);
    } else {
      multiply(a.data(), b.data(), c.data(), kSize);
    }
  }
  return planted::print_matrix_checksum(c);
}
