#pragma once
// Matrices, and OpenBLAS's product of them, found when the program runs: nothing is linked.
#include <dlfcn.h>

#include <cstdio>
#include <vector>

#include "planted.h"

namespace planted {

inline constexpr int kNoBlas = 77;  // exit status where the library is missing

class Blas {
 public:
  // One thread. Says where it is missing.
  Blas() {
    void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) dgemm_ = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
    if (dgemm_ == nullptr) {
      std::fputs("skipped: no libopenblas.so.0 (package libopenblas0)\n", stderr);
      return;
    }
    const auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
    if (set_threads != nullptr) set_threads(1);
  }
  bool is_there() const { return dgemm_ != nullptr; }
  // c += a x b, all of size x size, by rows.
  void add_product(int size, const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c) const {
    dgemm_(kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1.0, a.data(), size, b.data(), size, 1.0, c.data(),
           size);
  }

 private:
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                         int);
  using SetThreads = void (*)(int);
  static constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h
  Dgemm dgemm_ = nullptr;
};

// Sums of products of them are exact in any order.
inline std::vector<double> matrix_of_small_numbers(int size, uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<size_t>(size) * static_cast<size_t>(size));
  for (double& value : values) value = static_cast<double>(random.below(16));
  return values;
}

inline int print_matrix_checksum(const std::vector<double>& values) {
  uint64_t checksum = 0;
  for (const double value : values) checksum = mix(checksum + static_cast<uint64_t>(value));
  return print_checksum(checksum);
}

}  // namespace planted
