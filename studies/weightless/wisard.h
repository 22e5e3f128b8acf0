#pragma once
// The classic weightless classifiers, to be measured against: both see the bits of a thermometer in drawn tuples, and
// each class remembers which addresses its training rows had.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "learn/weightless/lut_rows.h"
#include "learn/weightless/thermometer.h"

namespace perfcast::program::weightless_study {

struct WisardOptions {
  ThermometerKind encoding = ThermometerKind::kGaussian;
  size_t levels = 8;
  size_t tuple = 8;  // bits of an address, up to 63
  uint64_t seed = 1;
};

// WiSARD (Aleksander, Thomas & Bowden 1984) with bleaching (Grieco and others, "Producing pattern examples from
// 'mental' images", Neurocomputing 73, 2010): tables count; a table answers 1 where its count is above a bound, which
// rises until one class leads.
class Wisard {
 public:
  // Errors: those of Thermometer::fit() and check_lut_rows(); "bad-input" for labels that don't fit; "bad-config" for
  // tuples of no bit or more than 63.
  static Result<Wisard> train(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                              const WisardOptions& options);
  size_t best(std::span<const float> row) const;
  // Addresses with a count each, thresholds, and the drawn order of bits.
  size_t bytes() const;

 private:
  std::vector<uint64_t> addresses(std::span<const float> row) const;

  Thermometer encoder_;
  size_t tuple_ = 0, tuples_ = 0, classes_ = 0;
  std::vector<uint32_t> order_;                                 // [tuples x tuple]
  std::vector<std::unordered_map<uint64_t, uint32_t>> counts_;  // [classes x tuples]
};

struct BloomOptions {
  ThermometerKind encoding = ThermometerKind::kGaussian;
  size_t levels = 8;
  size_t tuple = 16;        // bits that a filter hashes, up to 63
  size_t entries_log2 = 8;  // of a filter, up to 20
  size_t hashes = 2;
  double held_out = 0.2;  // of the rows, by which the bound is chosen
  uint64_t seed = 1;
};

// BTHOWeN (Susskind and others, "Weightless neural networks for efficient edge inference", PACT 2022): counting Bloom
// filters in the place of tables, hashed by H3 (Carter & Wegman 1979); only the least of an address's counters is
// raised; the bound above which a filter answers 1 is chosen by held-out rows, then counts become bits.
class BloomClassifier {
 public:
  static Result<BloomClassifier> train(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                                       const BloomOptions& options);
  size_t best(std::span<const float> row) const;
  size_t bytes() const;  // bits of the filters, thresholds, the drawn order of bits, constants of the hashes
  uint32_t bound() const { return bound_; }

 private:
  std::vector<uint32_t> slots(std::span<const float> row) const;  // [tuples x hashes]
  size_t best_of(const std::vector<uint32_t>& slots, uint32_t bound) const;

  Thermometer encoder_;
  BloomOptions options_;
  size_t tuples_ = 0, classes_ = 0;
  std::vector<uint32_t> order_;      // [tuples x tuple]
  std::vector<uint32_t> constants_;  // [hashes x tuple]
  std::vector<uint32_t> counters_;   // [classes x tuples x entries]
  uint32_t bound_ = 0;
};

}  // namespace perfcast::program::weightless_study
