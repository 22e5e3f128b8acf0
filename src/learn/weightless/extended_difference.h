#pragma once
// Gradients of a look-up table by the extended finite difference (Bacellar and others, ICML 2024, section 3.2; the
// weights are those of its reference implementation, which decay by powers):
//   d out / d bit l at `address` = sum over entries k of s_l(k) table[k] 0.5 0.75^(n-1) (1/3)^H_l(address, k)
// with s = +1 where bit l of k is 1, else -1, and H_l the number of other bits in which address and k differ.

#include <cstddef>
#include <span>
#include <vector>

namespace perfcast {

inline constexpr size_t kMostLutInputs = 6;  // a table is one word of 64 bits

// Differences of one table for all addresses at once, by butterflies: [n x 2^n], row l, column address. Each bit's
// weights are a Kronecker product of 2 x 2 matrices, so that n - 1 passes over half the entries give them all. `table`
// has 2^n entries, n from 1 to kMostLutInputs.
void extended_differences(std::span<const float> table, size_t n, std::span<float> differences);

// The sum as it stands, for one address: what the above must equal.
void extended_differences_by_sum(std::span<const float> table, size_t n, size_t address, std::span<float> differences);

// Walsh-Hadamard transform in place, not scaled: coefficient S is the sum over entries k of (-1)^popcount(S and k)
// table[k]. By Parseval the sum of its squares is 2^n times that of the entries.
void walsh_hadamard(std::span<float> values);

}  // namespace perfcast
