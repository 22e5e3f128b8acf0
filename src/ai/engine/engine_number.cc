#include "ai/engine/engine_number.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"

namespace perfcast::ai {

double number_within(JsonReader& in, const std::string& key, double least, double most) {
  const double value = in.number(key);
  if (value >= least && value <= most) return value;
  if (std::isfinite(value)) {
    in.complain(key, fmt::format("{:g}, which no engine has", value),
                fmt::format("a number in [{:g}, {:g}]", least, most));
  }
  return least;
}

}  // namespace perfcast::ai
