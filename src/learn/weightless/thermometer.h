#pragma once
// Numbers as bits: bit t of an input says whether it lies above its threshold t. (Bacellar and others, "Differentiable
// weightless neural networks", ICML 2024, section 3.1; thresholds as in its reference implementation.)

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

enum class ThermometerKind : uint8_t {
  kDistributive,  // equally many training values between thresholds
  kLinear,        // equal distances from the least to the largest
  kGaussian,      // quantiles of a normal distribution with the values' mean and deviation
};
std::string_view to_text(ThermometerKind kind);
Result<ThermometerKind> parse_thermometer_kind(std::string_view text);

// The nearest number whose lower 16 bits are 0.
float short_threshold(float threshold);

class Thermometer {
 public:
  Thermometer() = default;

  // `rows`: row-major [rows x inputs], finite. `levels`: thresholds of an input at most; equal ones count once, and an
  // input that never varies gets none, so that no bit is the same for all rows. Errors "bad-input": no rows, a value
  // that isn't finite, levels outside 1 to 4096; "no-variation": no input varies. `is_short`: thresholds are
  // numbers of 16 bits (bfloat16: three digits), which is all that is saved of them then; where such a number parts the
  // rows as the threshold does, it is taken, else the nearest.
  static Result<Thermometer> fit(std::span<const float> rows, size_t inputs, size_t levels, ThermometerKind kind,
                                 bool is_short = false);
  // Thresholds that somebody else has chosen: ascending, finite, at most 4096 of each input. Error "bad-input".
  static Result<Thermometer> from_thresholds(const std::vector<std::vector<float>>& thresholds);

  size_t inputs() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  size_t bits() const { return thresholds_.size(); }
  size_t input_of(size_t bit) const { return input_[bit]; }
  float threshold_of(size_t bit) const { return thresholds_[bit]; }
  // Of one input, ascending.
  std::span<const float> thresholds(size_t input) const;

  // `row` of inputs() numbers to bits() bytes of 0 and 1. A number outside of the training range is as its end; NaN is
  // below all thresholds: callers say what stands for what is missing.
  void encode(std::span<const float> row, std::span<uint8_t> bits) const;

 private:
  void add(std::span<const float> ascending);

  std::vector<size_t> begin_;  // of each input's bits, and the end
  std::vector<float> thresholds_;
  std::vector<uint32_t> input_;
};

}  // namespace perfcast
