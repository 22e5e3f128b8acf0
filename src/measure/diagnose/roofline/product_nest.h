#pragma once
// Loop nests that multiply matrices or convolve: an innermost loop of multiply-adds on two streams, whose trip counts
// and addresses together say so.

#include <optional>
#include <string>
#include <vector>

#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/roofline/function_work.h"

namespace perfcast::measure {

struct ProductNest {
  double m = 0, n = 0, k = 0;   // iterations of the outer, the middle and the inner loop, the last in numbers
  double times_count = 0;       // that the nest was run
  double flops_count = 0;       // of all of them
  uint32_t element_bits = 0;    // of its numbers
  bool is_convolution = false;  // more than three loops, the inner ones short
  int loops_count = 0;
  bool is_rough = false;         // of a run that was cut
  std::string in_words() const;  // "a product of matrices, M x N x K = 512 x 512 x 512"
};

// Of a function whose hot loop is known; nothing where it is no such nest. What is taken for one: products and sums
// alone; two streams beside what stays in registers; each loop at least kLeastTrips long (a convolution's inner ones
// less); and, in a product, each stream as long as two of the three loops say, so that rows and columns are used again
// and again. A product of a matrix and a vector is none.
// `is_cut`: the counted run was ended before the program was through, so that the outer loop's counts are those of a
// part: its length is then that of its stream.
std::optional<ProductNest> product_nest(const HotFunction& function, const ExecutedCounts& counts, CodeMap& code,
                                        bool is_cut);
inline constexpr double kLeastTrips = 16;

}  // namespace perfcast::measure
