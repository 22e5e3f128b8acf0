#include "measure/phases/native_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace perfcast::measure {
namespace {

constexpr size_t kLeastSamples = 20, kLeastOrdered = 160, kSamplesOfBin = 8, kMostBins = 300;
constexpr double kLeastSameCode = 0.5;
// Samples that a piece of code is taken to have had at the mean rate.
constexpr double kPriorSamples = 2;
// Of a bin's code, how much may be anything of the program.
constexpr double kAnything = 0.1;
constexpr double kLeastIoBytes = 65536, kIoDiffers = 1.3, kIoWeight = 30;
// Of leaving the pace that the code alone says: of two bins on one, of none.
constexpr double kHalfPace = 0.15, kNoPace = 0.6;

using Histogram = std::array<double, kCodePlaces>;

size_t key_of(const PhaseSeries& series, const char* key) {
  const auto found = std::find(series.keys.begin(), series.keys.end(), key);
  return static_cast<size_t>(found - series.keys.begin());
}

// Bytes read and written by the end of each interval.
std::vector<double> io_progress(const PhaseSeries& series) {
  const size_t read = key_of(series, "sys_bytes_read"), written = key_of(series, "sys_bytes_written");
  std::vector<double> progress;
  progress.reserve(series.intervals.size());
  double sum = 0;
  for (const PhaseInterval& interval : series.intervals) {
    for (const size_t key : {read, written}) {
      if (key < interval.counts.size()) sum += static_cast<double>(interval.counts[key]);
    }
    progress.push_back(sum);
  }
  return progress;
}

double bytes_by(const CodeCourse& course, size_t samples) {
  if (course.io.empty()) return 0;
  const auto after = std::upper_bound(course.io.begin(), course.io.end(), samples,
                                      [](size_t value, const IoMark& mark) { return value < mark.samples_before; });
  if (after == course.io.begin()) return 0;
  const IoMark& before = *std::prev(after);
  if (after == course.io.end() || after->samples_before == before.samples_before) return before.bytes;
  const double part = static_cast<double>(samples - before.samples_before) /
                      static_cast<double>(after->samples_before - before.samples_before);
  return before.bytes + part * (after->bytes - before.bytes);
}

class Aligner {
 public:
  Aligner(const PhaseSeries& series, const CodeCourse& course) : series_(series), course_(course) {}

  Result<NativeAlignment> align() {
    const size_t samples = course_.places.size();
    if (samples < kLeastSamples || series_.intervals.empty()) {
      return Error{"no-native-samples", fmt::format("{} samples of a native run", samples), "",
                   fmt::format("{} and more: a program that runs for longer", kLeastSamples)};
    }
    count_code();
    NativeAlignment result;
    double known = 0;
    for (const uint16_t place : course_.places) known += instructions_[place] > 0 ? 1 : 0;
    result.same_code_ratio = known / static_cast<double>(samples);
    if (result.same_code_ratio < kLeastSameCode) {
      return Error{
          "other-code",
          fmt::format("{:.0f}% of the native run's samples are in code that the instrumented run never executed",
                      100 * (1 - result.same_code_ratio)),
          "", "a program that does the same in each run, without code that it makes itself"};
    }
    expect_times();
    const std::vector<double> instrumented_io = io_progress(series_);
    const double native_io = bytes_by(course_, samples);
    if (native_io >= kLeastIoBytes && instrumented_io.back() >= kLeastIoBytes)
      result.io_ratio = instrumented_io.back() / native_io;
    std::vector<double> ends = expected_ends_;  // in samples
    const size_t bins = std::min(kMostBins, samples / kSamplesOfBin);
    if (samples >= kLeastOrdered && series_.intervals.size() > 1) {
      cut(bins);
      const bool has_io = result.io_ratio > 1 / kIoDiffers && result.io_ratio < kIoDiffers;
      if (has_io) add_io(instrumented_io, native_io);
      warp(has_io);
      result.agreement = agreement_;
      for (double& end : ends) end = warped(end);
      result.by_order = true;
    }
    double before = 0;
    result.interval_s.reserve(ends.size());
    for (const double end : ends) {
      result.interval_s.push_back(std::max(0.0, end - before) * course_.period_s);
      before = std::max(before, end);
      result.ends.push_back(before);
    }
    return result;
  }

 private:
  void count_code() {
    for (const PhaseInterval& interval : series_.intervals) {
      for (const auto& [place, count] : interval.code) instructions_[place] += static_cast<double>(count);
    }
    for (const uint16_t place : course_.places) samples_[place] += 1;
  }

  // By the code alone.
  void expect_times() {
    const auto all = static_cast<double>(course_.places.size());
    double instructions = 0;
    for (const double count : instructions_) instructions += count;
    const double rate = all / instructions;
    for (size_t place = 0; place < kCodePlaces; ++place)
      cost_[place] = rate * (samples_[place] + kPriorSamples) / (rate * instructions_[place] + kPriorSamples);
    expected_ends_.reserve(series_.intervals.size());
    double sum = 0;
    for (const PhaseInterval& interval : series_.intervals) {
      for (const auto& [place, count] : interval.code) sum += cost_[place] * static_cast<double>(count);
      expected_ends_.push_back(sum);
    }
    scale_ = all / sum;
    for (double& end : expected_ends_) end *= scale_;
  }

  // Both runs into as many pieces of equal (expected) time.
  void cut(size_t bins) {
    bins_ = bins;
    const auto all = static_cast<double>(course_.places.size());
    width_ = all / static_cast<double>(bins);
    native_.assign(bins, Histogram{});
    expected_.assign(bins, Histogram{});
    for (size_t s = 0; s < course_.places.size(); ++s) {
      const auto bin = std::min(bins - 1, static_cast<size_t>(static_cast<double>(s) / width_));
      native_[bin][course_.places[s]] += 1;
    }
    double from = 0;
    for (size_t i = 0; i < expected_ends_.size(); ++i) {
      const double to = expected_ends_[i];
      const auto first = std::min(bins - 1, static_cast<size_t>(from / width_));
      const auto last = std::min(bins - 1, static_cast<size_t>(to / width_));
      for (size_t bin = first; bin <= last && to > from; ++bin) {
        const double low = std::max(from, static_cast<double>(bin) * width_);
        const double high = bin + 1 == bins ? to : std::min(to, static_cast<double>(bin + 1) * width_);
        if (high <= low) continue;
        const double part = scale_ * (high - low) / (to - from);
        for (const auto& [place, count] : series_.intervals[i].code)
          expected_[bin][place] += part * cost_[place] * static_cast<double>(count);
      }
      from = to;
    }
    for (Histogram& histogram : expected_) normalise(histogram);
    for (Histogram& histogram : native_) normalise(histogram);
    overall_ = samples_;
    for (double& value : overall_) value += kPriorSamples / static_cast<double>(kCodePlaces);
    normalise(overall_);
  }

  static void normalise(Histogram& histogram) {
    double sum = 0;
    for (const double value : histogram) sum += value;
    for (double& value : histogram) value = sum > 0 ? value / sum : 0;
  }

  // Progress at the middle of each bin.
  void add_io(const std::vector<double>& instrumented, double native_all) {
    native_io_.reserve(bins_);
    expected_io_.reserve(bins_);
    size_t interval = 0;
    for (size_t bin = 0; bin < bins_; ++bin) {
      const double middle = (static_cast<double>(bin) + 0.5) * width_;
      native_io_.push_back(bytes_by(course_, static_cast<size_t>(middle)) / native_all);
      while (interval + 1 < expected_ends_.size() && expected_ends_[interval] < middle) ++interval;
      const double from = interval > 0 ? expected_ends_[interval - 1] : 0, to = expected_ends_[interval];
      const double before = interval > 0 ? instrumented[interval - 1] : 0;
      const double part = to > from ? std::clamp((middle - from) / (to - from), 0.0, 1.0) : 1;
      expected_io_.push_back((before + part * (instrumented[interval] - before)) / instrumented.back());
    }
  }

  // How badly native bin n fits expected bin e: the cross entropy of the code, and the distance of the I/O.
  std::vector<double> mismatches(bool has_io) const {
    std::vector<double> cost(bins_ * bins_);
    std::vector<std::pair<size_t, double>> code;
    for (size_t n = 0; n < bins_; ++n) {
      code.clear();
      double own = 0;
      for (size_t place = 0; place < kCodePlaces; ++place) {
        if (native_[n][place] <= 0) continue;
        code.emplace_back(place, native_[n][place]);
        own += native_[n][place] * std::log(native_[n][place]);
      }
      for (size_t e = 0; e < bins_; ++e) {
        double entropy = own;
        for (const auto& [place, share] : code)
          entropy -= share * std::log((1 - kAnything) * expected_[e][place] + kAnything * overall_[place]);
        if (has_io) entropy += kIoWeight * std::abs(native_io_[n] - expected_io_[e]);
        cost[n * bins_ + e] = std::max(0.0, entropy);
      }
    }
    return cost;
  }

  // Where on the native side each expected bin ends.
  void warp(bool has_io) {
    const std::vector<double> cost = mismatches(has_io);
    const size_t side = bins_ + 1;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    struct Step {
      uint8_t native, expected;
      double penalty;
    };
    static constexpr std::array<Step, 5> kSteps = {
        {{1, 1, 0}, {1, 2, kHalfPace}, {2, 1, kHalfPace}, {1, 0, kNoPace}, {0, 1, kNoPace}}};
    std::vector<double> best(side * side, kNever);
    std::vector<uint8_t> came(side * side, 0);
    best[0] = 0;
    for (size_t n = 0; n < side; ++n) {
      for (size_t e = 0; e < side; ++e) {
        for (size_t k = 0; k < kSteps.size(); ++k) {
          const Step& step = kSteps[k];
          if (step.native > n || step.expected > e || n + e == 0) continue;
          const double before = best[(n - step.native) * side + e - step.expected];
          if (before == kNever) continue;
          double sum = 0;
          size_t cells = 0;
          for (size_t a = n - step.native; a < std::max(n, n - step.native + 1); ++a) {
            for (size_t b = e - step.expected; b < std::max(e, e - step.expected + 1); ++b) {
              sum += cost[std::min(a, bins_ - 1) * bins_ + std::min(b, bins_ - 1)];
              ++cells;
            }
          }
          const double length = 0.5 * (step.native + step.expected);
          const double total = before + length * sum / static_cast<double>(cells) + step.penalty;
          if (total >= best[n * side + e]) continue;
          best[n * side + e] = total;
          came[n * side + e] = static_cast<uint8_t>(k);
        }
      }
    }
    path_.assign(1, {static_cast<double>(bins_), static_cast<double>(bins_)});
    size_t n = bins_, e = bins_;
    double overlap = 0, length = 0;
    while (n + e > 0) {
      const Step& step = kSteps[came[n * side + e]];
      const Histogram &a = native_[std::min(n, bins_) - (n > 0 ? 1 : 0)],
                      &b = expected_[std::min(e, bins_) - (e > 0 ? 1 : 0)];
      double common = 0;
      for (size_t place = 0; place < kCodePlaces; ++place) common += std::min(a[place], b[place]);
      const double steps = 0.5 * (step.native + step.expected);
      overlap += steps * common;
      length += steps;
      n -= step.native;
      e -= step.expected;
      path_.emplace_back(static_cast<double>(e), static_cast<double>(n));
    }
    std::reverse(path_.begin(), path_.end());
    agreement_ = length > 0 ? overlap / length : 0;
  }

  // Expected samples to native ones, along the path.
  double warped(double expected) const {
    const double at = expected / width_;
    const auto after = std::upper_bound(path_.begin(), path_.end(), at,
                                        [](double value, const auto& point) { return value < point.first; });
    if (after == path_.end()) return path_.back().second * width_;
    if (after == path_.begin()) return path_.front().second * width_;
    const auto& before = *std::prev(after);
    const double part = (at - before.first) / (after->first - before.first);
    return (before.second + part * (after->second - before.second)) * width_;
  }

  const PhaseSeries& series_;
  const CodeCourse& course_;
  Histogram instructions_{}, samples_{}, cost_{}, overall_{};
  std::vector<double> expected_ends_;
  double scale_ = 1, width_ = 1, agreement_ = 0;
  size_t bins_ = 0;
  std::vector<Histogram> native_, expected_;
  std::vector<double> native_io_, expected_io_;
  std::vector<std::pair<double, double>> path_;  // (expected, native), in bins
};

}  // namespace

Result<NativeAlignment> align_native(const PhaseSeries& series, const CodeCourse& course) {
  return Aligner(series, course).align();
}

}  // namespace perfcast::measure
