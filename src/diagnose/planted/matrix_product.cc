// Planted: a product of matrices as three loops, where a library is at hand.
#include <dlfcn.h>

#include <vector>

#include "diagnose/planted/planted.h"

namespace {

constexpr int kSize = 384;
constexpr int kProducts = 16;
constexpr int kCannotRun = 77;

using SetThreads = void (*)(int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);
constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h

std::vector<double> matrix(uint64_t seed) {
  planted::Random random(seed);
  std::vector<double> values(static_cast<size_t>(kSize) * kSize);
  for (double& value : values) value = static_cast<double>(random.below(16));  // sums are exact in any order
  return values;
}

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
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const auto dgemm = library != nullptr ? reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm")) : nullptr;
  if (dgemm == nullptr) {
    std::fputs("skipped: no libopenblas.so.0 (package libopenblas0)\n", stderr);
    return kCannotRun;
  }
  const auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(1);
  const std::vector<double> a = matrix(1);
  const std::vector<double> b = matrix(2);
  std::vector<double> c(a.size());
  for (int product = 0; product < kProducts; ++product) {
    if constexpr (planted::kMended) {
      dgemm(kRowMajor, kNoTranspose, kNoTranspose, kSize, kSize, kSize, 1.0, a.data(), kSize, b.data(), kSize, 1.0,
            c.data(), kSize);
    } else {
      multiply(a.data(), b.data(), c.data(), kSize);
    }
  }
  uint64_t checksum = 0;
  for (const double value : c) checksum = planted::mix(checksum + static_cast<uint64_t>(value));
  return planted::print_checksum(checksum);
}
