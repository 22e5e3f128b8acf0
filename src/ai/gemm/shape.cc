#include "ai/gemm/shape.h"

#include <charconv>

#include "base/text.h"

namespace perfcast::ai::gemm {

Result<Shape> parse_shape(std::string_view text, const std::string& option) {
  const std::vector<std::string> parts = split(text, ',');
  const std::string expected = "N, or M,N,K; each a whole number from 1 to " + std::to_string(kMaxSide);
  if (parts.size() != 1 && parts.size() != 3) {
    return usage_error("bad-usage", "'" + printable(text) + "' has " + std::to_string(parts.size()) + " sides", option,
                       expected);
  }
  std::vector<int64_t> sides;
  for (const std::string& part : parts) {
    const std::string_view digits = trim(part);
    int64_t side = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), side);
    if (problem == std::errc::result_out_of_range || (problem == std::errc() && side > kMaxSide)) {
      return usage_error("bad-usage", "side " + printable(part) + " is too large", option, expected);
    }
    if (problem != std::errc() || end != digits.data() + digits.size() || side < 1) {
      return usage_error("bad-usage", "'" + printable(part) + "' is no side of a matrix", option, expected);
    }
    sides.push_back(side);
  }
  if (sides.size() == 1) return Shape{sides[0], sides[0], sides[0]};
  return Shape{sides[0], sides[1], sides[2]};
}

std::string to_text(const Shape& shape) {
  if (shape.m == shape.n && shape.n == shape.k) return std::to_string(shape.n);
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k);
}

double operations(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

double compulsory_bytes(const Shape& shape, double input_bytes, double output_bytes) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  return (m * k + k * n) * input_bytes + m * n * output_bytes;
}

const std::vector<NamedShapes>& shape_sets() {
  // Llama 2 7B: width 4096, MLP 11008; M is the tokens of one step.
  static const std::vector<NamedShapes> kSets = {
      {"llm",
       "layers of a 7B language model: attention and MLP at 512 tokens of prefill, then one token of decode",
       {{512, 4096, 4096}, {512, 11008, 4096}, {512, 4096, 11008}, {1, 4096, 4096}, {1, 11008, 4096}}},
      {"square", "squares from 128 to 2048", {{128, 128, 128}, {512, 512, 512}, {2048, 2048, 2048}}},
      {"tall", "one side short", {{4096, 64, 64}, {4096, 64, 1024}, {64, 4096, 1024}, {64, 64, 16384}}}};
  return kSets;
}

Result<std::vector<Shape>> shape_set(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedShapes& set : shape_sets()) {
    if (set.name == name) return set.shapes;
    names.push_back(set.name);
  }
  return usage_error("bad-usage", "there is no set of shapes '" + printable(name) + "'", "--shapes",
                     "one of: " + nearest_names(name, names));
}

}  // namespace perfcast::ai::gemm
