// Any bytes: no crash; an expression that parses gives a finite value or none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  // Every third name is absent, every fifth is text.
  const auto type_of = [](std::string_view name) {
    return name.size() % 5 == 4 ? ExpressionType::kText : ExpressionType::kNumber;
  };
  const auto expression = Expression::parse({reinterpret_cast<const char*>(data), size}, "input", "name", type_of);
  if (!expression) return 0;
  const double value = expression->evaluate([](size_t i) -> ExpressionValue {
    return {i % 3 == 2 ? NAN : std::pow(-1.7e3, static_cast<double>(i)) + 0.25, "x"};
  });
  if (std::isinf(value)) std::abort();
  return 0;
}
