// Loops beside what this machine can do: registers that are wider, products of matrices that libraries do better.
#include <fmt/format.h>

#include <algorithm>

#include "base/significant.h"
#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

// A loop comes within this factor of a ceiling where a compiler widens it, not nearer.
constexpr double kOfCeiling = 2;
constexpr double kLeastRooflineGain = 0.05;
constexpr double kTripsForWide = 4;  // registers full, each time that the loop is entered: of less, most is not wide
constexpr double kUncountedGain = 0.3;

double gain_of(const NarrowLoop& loop, double share) {
  if (!loop.is_counted) return kUncountedGain * share;
  const double least_s = kOfCeiling * loop.limit_s;
  return loop.time_s > 0 ? 0.9 * share * std::max(0.0, 1 - least_s / loop.time_s) : 0;
}

void add_vector_width(const Evidence& evidence, std::vector<Finding>& findings) {
  for (const NarrowLoop& loop : evidence.roofline->narrow_loops) {
    const HotFunction& function = evidence.seen.functions[loop.function];
    const double registers_full =
        loop.trips_count * std::max(1.0, static_cast<double>(loop.shape.register_bits) / loop.shape.element_bits) *
        loop.shape.element_bits / loop.possible_bits;
    if (loop.is_counted && registers_full < kTripsForWide) continue;
    // An instrumented run takes other code where the emulator lacks instructions: what is wide already is left alone.
    if (!loop.is_counted && loop.shape.register_bits > 0) continue;
    const double gain = gain_of(loop, function.loop->cpu_share) * evidence.busy_ratio();
    if (gain < kLeastRooflineGain) continue;
    Finding finding;
    finding.cause = "vector-width";
    finding.basis = loop.is_counted ? FindingBasis::kModelled : FindingBasis::kRule;
    finding.gain_ratio = gain;
    finding.title = fmt::format("a loop of {} of the CPU time computes {}; this machine's registers have {} bits",
                                in_percent(function.loop->cpu_share), loop.shape.in_words(), loop.possible_bits);
    finding.evidence.push_back("in " + function.own_words());
    finding.evidence.push_back(
        fmt::format("its {} instructions go through memory in order, and no iteration needs the one before{}",
                    function.loop->instructions.size(), loop.shape.has_float_sum ? ", but for sums" : ""));
    if (loop.is_counted) {
      finding.evidence.push_back(
          fmt::format("{} operations on {}, {:.0f} iterations at a time, in {}; with {} at the most {} ({})",
                      human_number(loop.operations_count), human_bytes(loop.bytes), loop.trips_count,
                      human_seconds(loop.time_s), loop.isa, human_seconds(loop.limit_s), loop.limited_by));
    }
    if (loop.shape.reloads_count > 0) {
      finding.evidence.push_back(
          fmt::format("each iteration reads {} value{} again from the same place, as what it writes might be there",
                      loop.shape.reloads_count, loop.shape.reloads_count > 1 ? "s" : ""));
    }
    finding.advice = loop.shape.reloads_count > 0
                         ? "copy members, pointers and bounds to local variables before the loop (or say __restrict); "
                         : "";
    finding.advice += "compile with -O3 and for this machine (-march=native, or x86-64-v3)";
    if (loop.shape.has_float_sum) finding.advice += ", with -ffast-math or #pragma omp simd reduction for its sums";
    finding.if_wrong = loop.shape.has_float_sum ? "sums that round otherwise; a program that older processors can't run"
                                                : "a program that older processors can't run";
    finding.proof = "perfcast compare with a build that has -O3 -march=native";
    findings.push_back(std::move(finding));
    return;
  }
}

void add_product_by_hand(const Evidence& evidence, std::vector<Finding>& findings) {
  for (const RecognisedProduct& product : evidence.roofline->products) {
    const HotFunction& function = evidence.seen.functions[product.function];
    if (!(product.machine_flops_per_s > 0)) continue;
    // Small ones don't get there: packing takes its share.
    const double smallest = std::min({product.nest.m, product.nest.n, product.nest.k});
    const double reached = (product.nest.is_convolution || smallest < 64 ? 0.3 : 0.6) * product.machine_flops_per_s;
    const double share = function.cpu_share - function.kernel_share;
    const double gain = share * std::max(0.0, 1 - product.flops_per_s / reached) * evidence.busy_ratio();
    if (gain < kLeastRooflineGain) continue;
    Finding finding;
    finding.cause = "hand-written-product";
    finding.basis = FindingBasis::kModelled;
    finding.gain_ratio = gain;
    finding.title =
        fmt::format("{} of the CPU time is {}, written as loops", in_percent(share), product.nest.in_words());
    finding.evidence.push_back("in " + function.own_words());
    finding.evidence.push_back(fmt::format(
        "{}{:.0f} run{} of {} loops whose counts and addresses fit: {} floating-point operations",
        product.nest.is_rough ? "about " : "", product.nest.times_count, product.nest.times_count > 1.5 ? "s" : "",
        product.nest.loops_count, human_number(product.nest.flops_count)));
    finding.evidence.push_back(fmt::format("{} GFLOP/s; perfcast's own product reaches {} on one CPU here",
                                           significant(1e-9 * product.flops_per_s, 3),
                                           significant(1e-9 * product.machine_flops_per_s, 3)));
    finding.advice = product.nest.is_convolution ? "call a library (oneDNN), or multiply matrices of its columns"
                                                 : "call a BLAS library (cblas_dgemm, cblas_sgemm), or Eigen";
    finding.if_wrong = "a library to link; sums in another order round otherwise";
    finding.proof = product.nest.is_convolution ? "perfcast gemm --op conv"
                                                : fmt::format("perfcast gemm --shape {:.0f},{:.0f},{:.0f}",
                                                              product.nest.m, product.nest.n, product.nest.k);
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace

void find_in_roofline(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.roofline == nullptr || evidence.seen.samples_count < kFewestSamples) return;
  add_product_by_hand(evidence, findings);
  const bool is_product = std::any_of(findings.begin(), findings.end(),
                                      [](const Finding& of) { return of.cause == "hand-written-product"; });
  if (!is_product) add_vector_width(evidence, findings);
}

}  // namespace perfcast::measure
