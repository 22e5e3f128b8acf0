#include "measure/diagnose/roofline/product_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/diagnose/roofline/loop_shape.h"

namespace perfcast::measure {
namespace {

constexpr double kFewestStreamSamples = 30;
constexpr double kShortLoop = 12;  // of a convolution's kernel
constexpr double kLeastOfRange = 0.6, kMostOfRange = 1.6, kNoLimit = 1e12;

// Loops of a function around its hot one, from the inside out, by their branches back.
struct NestLoop {
  uint64_t address = 0, end = 0;
  double iterations = 0;
};

std::vector<NestLoop> loops_around(const HotFunction& function, const std::vector<CodeInstruction>& instructions,
                                   const ExecutedCounts& counts) {
  std::vector<NestLoop> loops;
  for (const CodeInstruction& of : instructions) {
    const bool jumps = has_trait(of.traits, CodeTrait::kBranch) || has_trait(of.traits, CodeTrait::kJump);
    if (!jumps || of.target == 0 || of.target > function.loop->address || of.address < function.loop->end) continue;
    if (of.target < function.address) continue;
    const auto same =
        std::find_if(loops.begin(), loops.end(), [&](const NestLoop& loop) { return loop.address == of.target; });
    if (same != loops.end()) {
      same->end = std::max(same->end, of.address);
    } else {
      loops.push_back({of.target, of.address, counts.executions(function.library, of.target)});
    }
  }
  std::sort(loops.begin(), loops.end(),
            [](const NestLoop& a, const NestLoop& b) { return a.end - a.address < b.end - b.address; });
  return loops;
}

// Iterations of the outer loop, by the two streams: one is as long as the middle and the inner loop say, the other as
// the outer and the inner one, which goes round `least` to `most` times.
std::optional<double> outer_trips(const std::vector<double>& ranges, double inner_bytes, double middle, double least,
                                  double most) {
  for (size_t a = 0; a < ranges.size(); ++a) {
    const double outer = ranges[a] / inner_bytes;
    if (outer < kLeastOfRange * least || outer > kMostOfRange * most) continue;
    for (size_t b = 0; b < ranges.size(); ++b) {
      const double of_middle = ranges[b] / inner_bytes;
      if (b != a && of_middle >= kLeastOfRange * middle && of_middle <= kMostOfRange * middle) return outer;
    }
  }
  return std::nullopt;
}

// Streams by their place: those that read and write the same are one.
std::vector<double> stream_ranges(const HotLoop& loop) {
  std::vector<LoopStream> distinct;
  for (const LoopStream& stream : loop.streams) {
    if (stream.samples_count < kFewestStreamSamples) continue;
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const LoopStream& other) {
      return stream.lowest < other.highest && other.lowest < stream.highest;
    });
    if (same == distinct.end()) {
      distinct.push_back(stream);
    } else {
      same->lowest = std::min(same->lowest, stream.lowest);
      same->highest = std::max(same->highest, stream.highest);
    }
  }
  std::vector<double> ranges;
  ranges.reserve(distinct.size());
  for (const LoopStream& stream : distinct) ranges.push_back(stream.range_bytes());
  return ranges;
}

}  // namespace

std::optional<ProductNest> product_nest(const HotFunction& function, const ExecutedCounts& counts, CodeMap& code,
                                        bool is_cut) {
  if (!function.loop || function.bytes == 0) return std::nullopt;
  const LoopShape shape = loop_shape(function.loop->instructions);
  if (shape.flops_count < 2 || !shape.multiplies || !shape.adds || shape.does_more || !shape.is_counted)
    return std::nullopt;
  const auto instructions = code.instructions(function.library, function.address, function.bytes);
  std::vector<NestLoop> loops = loops_around(function, instructions, counts);
  const double inner = counts.executions(function.library, function.loop->address);
  const double entered = counts.executions(function.library, function.address);
  if (!(inner > 0) || loops.size() < 2) return std::nullopt;
  if (loops.front().address != function.loop->address) return std::nullopt;
  // From the inside out: how often each loop goes round each time that it is entered.
  std::vector<double> trips;
  const double per_iteration = shape.flops_count / 2.0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const double outside = i + 1 < loops.size() ? loops[i + 1].iterations : std::max(1.0, entered);
    if (!(loops[i].iterations > 0) || !(outside > 0)) return std::nullopt;
    trips.push_back(loops[i].iterations / outside * (i == 0 ? per_iteration : 1));
  }
  ProductNest nest;
  nest.element_bits = shape.element_bits;
  nest.is_rough = is_cut;
  nest.flops_count = inner * shape.flops_count;
  nest.loops_count = static_cast<int>(loops.size());
  if (trips.size() >= 5 && trips[0] <= kShortLoop && trips[1] <= kShortLoop && trips[0] > 1 && trips[1] > 1) {
    nest.is_convolution = true;
    nest.k = trips[0] * trips[1];
    nest.n = trips[2];
    nest.m = 1;
    for (size_t i = 3; i < trips.size(); ++i) nest.m *= trips[i];
    nest.times_count = std::max(1.0, entered);
    return nest;
  }
  if (trips.size() < 3) return std::nullopt;
  nest.k = trips[0];
  nest.n = trips[1];
  nest.m = trips[2];
  nest.times_count = loops.size() > 3 ? loops[3].iterations : std::max(1.0, entered);
  // Of a run that was cut the last time is not whole.
  double most = nest.m;
  if (is_cut) most = nest.times_count > 1 ? loops[2].iterations / (nest.times_count - 1) : kNoLimit;
  if (std::min({nest.k, nest.n, most}) < kLeastTrips) return std::nullopt;
  const auto outer = outer_trips(stream_ranges(*function.loop), nest.k * nest.element_bits / 8, nest.n, nest.m, most);
  if (!outer || *outer < kLeastTrips) return std::nullopt;
  if (is_cut) nest.m = std::round(*outer);
  return nest;
}

std::string ProductNest::in_words() const {
  if (is_convolution) return fmt::format("a convolution: sums of {:.0f} products, {} loops deep", k, loops_count);
  return fmt::format("a product of matrices, M x N x K = {}{:.0f} x {:.0f} x {:.0f}", is_rough ? "about " : "", m, n,
                     k);
}

}  // namespace perfcast::measure
