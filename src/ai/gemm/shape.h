#pragma once
// One matrix product: C (m x n) = A (m x k) times B (k x n), all row-major and dense.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::ai::gemm {

struct Shape {
  int64_t m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};

// Largest side that is taken: every index and byte count of such a product fits in 63 bits.
inline constexpr int64_t kMaxSide = int64_t{1} << 20;

// "1024" (a square) or "512,4096,4096" (M,N,K). Errors: "bad-usage", naming `option`.
Result<Shape> parse_shape(std::string_view text, const std::string& option);
// "1024" for a square, else "512 x 4096 x 4096".
std::string to_text(const Shape& shape);

double operations(const Shape& shape);  // 2 m n k: a multiplication and an addition for each term
// Bytes that a product must move at the least: A and B in, C out.
double compulsory_bytes(const Shape& shape, double input_bytes, double output_bytes);

struct NamedShapes {
  std::string name, title;
  std::vector<Shape> shapes;
};
// Sets that --shapes knows: "llm" (layers of a 7B model at prefill and decode), "square", "tall".
const std::vector<NamedShapes>& shape_sets();
Result<std::vector<Shape>> shape_set(const std::string& name);

}  // namespace perfcast::ai::gemm
