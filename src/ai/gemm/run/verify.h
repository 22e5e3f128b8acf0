#pragma once
// Compares a product with a float64 reference. Small products are compared whole; of large ones, rows drawn at random
// are compared element by element, and Freivalds' test (C x against A (B x), x random signs; Freivalds 1977) looks at
// all the others.

#include <cstdint>
#include <span>

#include "ai/gemm/precision.h"
#include "ai/gemm/run/task.h"
#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {

// An element may differ by kBoundFactor * sqrt(k) * u * sum |a| |b|, u the unit roundoff of the sums: rounding errors
// grow like a random walk (Higham & Mary, SIAM J. Sci. Comput. 2019, with their lambda), whatever the order of the sum.
// Sums of integers must be equal.
inline constexpr double kBoundFactor = 6;

// `c`: as GemmKernel::read_result gives it. `seed` draws the rows and the signs.
Verdict verify(const Operands& operands, Precision precision, std::span<const double> c, uint64_t seed);

}  // namespace perfcast::ai::gemm
