#pragma once
// The settings that a search may propose, and how far apart their knobs' levels lie.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure/tune/space/space.h"

namespace perfcast::measure {

// Where the levels of a knob stand: ordered ones between 0 and kKnobScale, by value or by its logarithm, whichever
// spreads them more evenly, half by that and half by rank; of others each is as far from each other one.
class KnobScale {
 public:
  static constexpr int kScale = 255;
  static constexpr int kFar = 512;  // further apart than any two levels: in play, and not

  static KnobScale of(const Knob& knob);
  bool is_ordered() const { return ordered_; }
  size_t levels() const { return positions_.size(); }
  int16_t position(int16_t level) const {
    return level == kNotInPlay ? int16_t{kFar + kScale} : positions_[static_cast<size_t>(level)];
  }

 private:
  bool ordered_ = false;
  std::vector<int16_t> positions_;
};

// Grows where the space is too large to be listed; indices stay.
class Candidates {
 public:
  explicit Candidates(const std::vector<Knob>& knobs);

  // The index, also of one that is there already.
  size_t add(const Setting& setting);
  std::optional<size_t> find(const Setting& setting) const;

  size_t size() const { return size_; }
  size_t knobs() const { return scales_.size(); }
  const KnobScale& scale(size_t knob) const { return scales_[knob]; }
  std::span<const int16_t> levels(size_t candidate) const { return {levels_.data() + candidate * knobs(), knobs()}; }
  Setting setting(size_t candidate) const;
  // Positions of the levels, for distances.
  std::span<const int16_t> positions(size_t candidate) const {
    return {positions_.data() + candidate * knobs(), knobs()};
  }
  // Mean over the knobs of how far two are apart, 0 to 1.
  double distance(size_t a, size_t b) const;
  // In how many knobs they differ.
  size_t differing_knobs(size_t a, size_t b) const;

  // What lies beside a candidate and isn't listed yet, where not all are listed; null: all are.
  std::function<std::vector<Setting>(const Setting&)> more_beside;

 private:
  std::vector<KnobScale> scales_;
  std::vector<int16_t> levels_, positions_;
  size_t size_ = 0;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace perfcast::measure
