// Any bytes: no crash; a formula that parses gives a finite value or none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/metrics/formula.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto formula = perfcast::Formula::parse({reinterpret_cast<const char*>(data), size}, "input");
  if (!formula) return 0;
  std::map<std::string, double, std::less<>> values;
  double next = -3;
  for (const std::string& name : formula->names()) {
    if (values.size() % 3 != 2) values[name] = next;
    next = next * -1.7e3 + 0.25;
  }
  const auto value = formula->evaluate(values);
  if (value && !std::isfinite(*value)) std::abort();
  return 0;
}
