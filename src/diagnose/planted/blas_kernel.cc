// Planted: OPENBLAS_CORETYPE=Prescott, set by who starts it, makes OpenBLAS compute products as on a CPU of 2004.
#include <dlfcn.h>

#include <vector>

#include "diagnose/planted/planted.h"

namespace {

constexpr int kSize = 1024;
constexpr int kProducts = 9;
constexpr int kCannotRun = 77;

using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);
using SetThreads = void (*)(int);
constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h

std::vector<double> matrix(uint64_t seed) {
  planted::Random random(seed);
  std::vector<double> values(static_cast<size_t>(kSize) * kSize);
  for (double& value : values) value = static_cast<double>(random.below(16));  // sums are exact in any order
  return values;
}

}  // namespace

int main() {
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
    dgemm(kRowMajor, kNoTranspose, kNoTranspose, kSize, kSize, kSize, 1.0, a.data(), kSize, b.data(), kSize, 1.0,
          c.data(), kSize);
  }
  uint64_t checksum = 0;
  for (const double value : c) checksum = planted::mix(checksum + static_cast<uint64_t>(value));
  return planted::print_checksum(checksum);
}
