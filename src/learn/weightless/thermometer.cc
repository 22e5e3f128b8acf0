#include "learn/weightless/thermometer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <string>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kMostLevels = 4096;
constexpr std::array<std::string_view, 3> kKinds = {"distributive", "linear", "gaussian"};

// Of ascending values; formulas of the reference implementation, thresholds 1 to `levels`.
std::vector<float> thresholds_of(const std::vector<float>& values, size_t levels, ThermometerKind kind) {
  const size_t count = values.size();
  std::vector<float> thresholds;
  double mean = 0, square = 0;
  for (const float value : values) mean += static_cast<double>(value) / static_cast<double>(count);
  for (const float value : values) square += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  const double deviation = std::sqrt(square / static_cast<double>(std::max<size_t>(1, count - 1)));
  const boost::math::normal_distribution<double> normal;
  for (size_t t = 1; t <= levels; ++t) {
    const double share = static_cast<double>(t) / static_cast<double>(levels + 1);
    switch (kind) {
      case ThermometerKind::kDistributive:
        thresholds.push_back(values[count * t / (levels + 1)]);
        break;
      case ThermometerKind::kLinear:
        thresholds.push_back(
            static_cast<float>(static_cast<double>(values.front()) +
                               share * (static_cast<double>(values.back()) - static_cast<double>(values.front()))));
        break;
      case ThermometerKind::kGaussian:
        thresholds.push_back(static_cast<float>(mean + deviation * quantile(normal, share)));
        break;
    }
  }
  return thresholds;
}

}  // namespace

std::string_view to_text(ThermometerKind kind) { return kKinds.at(static_cast<size_t>(kind)); }

Result<ThermometerKind> parse_thermometer_kind(std::string_view text) {
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (kKinds.at(kind) == text) return static_cast<ThermometerKind>(kind);
  }
  return Error{"bad-config", "there is no encoding '" + printable(text) + "'", "", "distributive, linear or gaussian"};
}

void Thermometer::add(std::span<const float> ascending) {
  if (begin_.empty()) begin_.push_back(0);
  const auto input = static_cast<uint32_t>(begin_.size() - 1);
  for (const float threshold : ascending) {
    thresholds_.push_back(threshold);
    input_.push_back(input);
  }
  begin_.push_back(thresholds_.size());
}

float short_threshold(float threshold) {
  const auto bits = std::bit_cast<uint32_t>(threshold);
  return std::bit_cast<float>((bits + 0x8000U) & 0xFFFF0000U);
}

namespace {

// A short number that parts the (ascending) values as the threshold does, where there is one: from the threshold on,
// below the next larger value. Else the nearest.
float short_between(float threshold, const std::vector<float>& values) {
  auto bits = std::bit_cast<uint32_t>(threshold);
  // Towards larger numbers: what is positive grows, what is negative shrinks.
  if ((bits & 0xFFFFU) != 0) bits = (bits & 0xFFFF0000U) + (threshold > 0 ? 0x10000U : 0U);
  const auto above = std::bit_cast<float>(bits);
  const auto next = std::upper_bound(values.begin(), values.end(), threshold);
  if (next == values.end() || above < *next) return std::isfinite(above) ? above : threshold;
  const float nearest = short_threshold(threshold);
  return std::isfinite(nearest) ? nearest : threshold;
}

}  // namespace

Result<Thermometer> Thermometer::fit(std::span<const float> rows, size_t inputs, size_t levels, ThermometerKind kind,
                                     bool is_short) {
  if (inputs == 0 || rows.empty() || rows.size() % inputs != 0)
    return Error{"bad-input", "there are no rows to encode", "", "at least one row of numbers"};
  if (levels < 1 || levels > kMostLevels)
    return Error{"bad-input", std::to_string(levels) + " thresholds of an input", "", "1 to 4096"};
  const size_t count = rows.size() / inputs;
  Thermometer made;
  std::vector<float> values(count);
  for (size_t input = 0; input < inputs; ++input) {
    for (size_t row = 0; row < count; ++row) values[row] = rows[row * inputs + input];
    if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
      return Error{"bad-input", "a value of input " + std::to_string(input) + " is not finite", "", "finite numbers"};
    std::sort(values.begin(), values.end());
    std::vector<float> thresholds = thresholds_of(values, levels, kind);
    if (is_short) {
      for (float& threshold : thresholds) threshold = short_between(threshold, values);
    }
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    // Below the least value, or not below the largest: the same bit for all rows.
    std::erase_if(thresholds,
                  [&](float threshold) { return threshold < values.front() || threshold >= values.back(); });
    made.add(thresholds);
  }
  if (made.bits() == 0)
    return Error{"no-variation", "no input varies: there is nothing to tell rows apart by", "", "rows that differ"};
  return made;
}

Result<Thermometer> Thermometer::from_thresholds(const std::vector<std::vector<float>>& thresholds) {
  Thermometer made;
  for (const std::vector<float>& ascending : thresholds) {
    const bool finite =
        std::all_of(ascending.begin(), ascending.end(), [](float threshold) { return std::isfinite(threshold); });
    if (!finite || ascending.size() > kMostLevels ||
        std::adjacent_find(ascending.begin(), ascending.end(), std::greater_equal<>()) != ascending.end())
      return Error{"bad-input", "thresholds must be finite and ascend", "", "each larger than the one before"};
    made.add(ascending);
  }
  return made;
}

std::span<const float> Thermometer::thresholds(size_t input) const {
  return std::span(thresholds_).subspan(begin_[input], begin_[input + 1] - begin_[input]);
}

void Thermometer::encode(std::span<const float> row, std::span<uint8_t> bits) const {
  for (size_t bit = 0; bit < thresholds_.size(); ++bit) bits[bit] = row[input_[bit]] > thresholds_[bit] ? 1 : 0;
}

}  // namespace perfcast
