// The program's own loops: how they were compiled, and which instructions hold them up.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kBusyDivider = 0.6;  // of the time: less leaves gaps that others fill

// GNU's compilers write their options down: none that begins with -O, or -O0, means that nothing was optimised.
bool is_said_unoptimised(const std::string& compiler) {
  if (!compiler.starts_with("GNU C") && !compiler.starts_with("GNU Fortran")) return false;
  bool optimised = false, recorded = false;
  for (const std::string& word : split(compiler, ' ')) {
    recorded |= word.starts_with("-m");
    if (word.starts_with("-O")) optimised = word != "-O0";
  }
  return recorded && !optimised;
}

void add_unoptimised(const Evidence& evidence, std::vector<Finding>& findings) {
  double said = 0, seen = 0;
  std::string first;
  for (const HotFunction& function : evidence.seen.functions) {
    if (function.role != CodeRole::kOwn || function.function.empty()) continue;
    const bool is_said = is_said_unoptimised(function.compiler);
    // Without debugging information: variables that live in memory between any two instructions.
    const bool is_seen = function.compiler.empty() && function.stack_operand_share > 0.35;
    if (!is_said && !is_seen) continue;
    (is_said ? said : seen) += function.cpu_share;
    if (first.empty()) first = function.own_words();
  }
  if (said + seen < 0.1) return;
  Finding finding;
  finding.cause = "unoptimised-code";
  finding.basis = FindingBasis::kRule;  // what the compiler would make of it nobody has measured
  finding.gain_ratio = 0.6 * (said + seen) * evidence.busy_ratio();
  finding.title = in_percent(said + seen) + " of the CPU time is code that was compiled without optimisation";
  finding.evidence.push_back("most in " + first);
  finding.evidence.push_back(said >= seen ? "the debugging information names the compiler's options, no -O among them"
                                          : "its variables live in memory: each instruction loads or stores one");
  finding.advice = "compile with -O2 (or CMAKE_BUILD_TYPE=Release)";
  finding.if_wrong = "longer compilations, and steps of a debugger that jump";
  finding.proof = "perfcast compare with a build that has -O2; here --rebuild \"make CXXFLAGS={flags}\" tries it";
  if (evidence.can_rebuild) {
    finding.experiments = {compiled_with("-O2"), compiled_with("-O3")};
    for (Experiment& experiment : finding.experiments) experiment.is_remedy = true;
  }
  findings.push_back(std::move(finding));
}

// What divisions can hold up at most, of the CPU time, where they were counted: out of order, others go on meanwhile.
// Either the divider is busy all the time, one after the other at their throughput, or what comes next waits for each.
std::optional<double> most_by_divisions(const Evidence& evidence) {
  const auto cycles = evidence.user_cycles();
  const auto whole_32 = evidence.count("int_div_32_count"), whole_64 = evidence.count("int_div_64_count"),
             scalar = evidence.count("op_fp_scalar_div_count"), vector = evidence.count("op_fp_vec_div_count"),
             roots = evidence.count("op_fp_scalar_sqrt_count");
  if (!cycles || !whole_32 || !whole_64 || !scalar || !vector || evidence.design == nullptr) return std::nullopt;
  const CoreDesign& design = *evidence.design;
  const double busy = *whole_32 * design.cost(CoreOp::kDivide32).interval_cycles +
                      *whole_64 * design.cost(CoreOp::kDivide64).interval_cycles +
                      (*scalar + 2 * *vector) * design.cost(CoreOp::kFloatDivide64).interval_cycles +
                      roots.value_or(0) * design.cost(CoreOp::kFloatRoot).interval_cycles;
  const double busy_share = busy / *cycles;
  return std::max(evidence.modelled_bound("divide"), busy_share > kBusyDivider ? busy_share : 0);
}

void add_division(const Evidence& evidence, std::vector<Finding>& findings) {
  double integer = 0, real = 0, most = 0;
  std::string first;
  for (const HotFunction& function : evidence.seen.functions) {
    const double of_function = function.cpu_share * (function.divide_share + function.float_divide_share);
    integer += function.cpu_share * function.divide_share;
    real += function.cpu_share * function.float_divide_share;
    if (of_function <= most) continue;
    most = of_function;
    first = function.own_words();
  }
  if (integer + real < 0.1) return;
  const std::optional<double> most_by_counts = most_by_divisions(evidence);
  // Samples fall on what waits for a result, wherever that is: the model knows the rest.
  const double modelled = most_by_counts ? evidence.held_up_by("divide") : 0;
  const double share = std::max(std::min(integer + real, most_by_counts.value_or(1)), modelled);
  if (share < 0.05) return;
  Finding finding;
  finding.cause = "division";
  // A mask takes one cycle, a multiplication four, a division of 64 bits 10 to 40.
  finding.basis = modelled > integer + real ? FindingBasis::kModelled : FindingBasis::kMeasured;
  finding.gain_ratio = 0.9 * share * evidence.busy_ratio();
  finding.title = in_percent(integer + real) + " of the CPU time stands at divisions or square roots";
  finding.evidence.push_back("most in " + first);
  finding.evidence.push_back(
      fmt::format("whole numbers {}, floating point {}: samples at such an instruction or behind it",
                  in_percent(integer), in_percent(real)));
  if (most_by_counts) {
    finding.evidence.push_back(
        fmt::format("by their counts and the model of {} they hold up {} of the time: other work hides the rest",
                    evidence.design->name, in_percent(std::min(1.0, *most_by_counts))));
  }
  finding.advice = integer > real
                       ? "divide by constants (the compiler multiplies then) or powers of two, take narrower types"
                       : "multiply by the reciprocal, computed once; -ffast-math where its rounding does";
  finding.if_wrong = "a last digit that differs";
  finding.proof = "perf annotate, or the loop's time with a multiplication in its place";
  if (evidence.can_rebuild) {
    finding.experiments.push_back(compiled_with("-O3 -march=native"));
    if (real > integer) finding.experiments.push_back(compiled_with("-O3 -march=native -ffast-math"));
  }
  findings.push_back(std::move(finding));
}

// A loop that reads, compares, goes on, and has two ways out: it looks for something.
bool is_scan(const HotLoop& loop) {
  return loop.count(CodeTrait::kBranch) >= 2 && loop.count(CodeTrait::kLoad) >= 1 &&
         loop.count(CodeTrait::kStore) == 0 && loop.count(CodeTrait::kFloat) == 0 &&
         loop.count(CodeTrait::kAdvance) >= 1 && loop.count(CodeTrait::kIntegerDivide) == 0 &&
         loop.instructions.size() <= 24;
}

void add_scan(const Evidence& evidence, std::vector<Finding>& findings) {
  for (const HotFunction& function : evidence.seen.functions) {
    if (function.role != CodeRole::kOwn || !function.loop || !is_scan(*function.loop)) continue;
    if (function.loop->cpu_share < 0.15) continue;
    Finding finding;
    finding.cause = "linear-search";
    finding.basis = FindingBasis::kRule;
    finding.gain_ratio = 0.95 * function.loop->cpu_share * evidence.busy_ratio();  // an index needs a step or two
    finding.title = fmt::format("{} of the CPU time is a loop that reads on until it finds something",
                                in_percent(function.loop->cpu_share));
    finding.evidence.push_back("in " + function.own_words());
    finding.evidence.push_back(fmt::format("{} instructions, {} of them loads, none a store, {} ways out",
                                           function.loop->instructions.size(), function.loop->count(CodeTrait::kLoad),
                                           function.loop->count(CodeTrait::kBranch)));
    finding.advice = "keep an index: a hash table, a sorted vector, a tree";
    finding.if_wrong = "memory for the index, and the time to build it";
    finding.proof = "count the loop's iterations for one call";
    findings.push_back(std::move(finding));
    return;
  }
}

void add_indirect_calls(const Evidence& evidence, std::vector<Finding>& findings) {
  // Functions that are called so are short: their own samples count where one does nothing else than calling them.
  double share = 0;
  std::string first;
  for (const HotFunction& function : evidence.seen.functions) {
    const bool calls_in_loop = function.loop && function.loop->count(CodeTrait::kIndirectCall) > 0;
    if (!calls_in_loop && function.indirect_call_share < 0.05) continue;
    share += function.cpu_share;
    if (first.empty()) first = function.own_words();
  }
  const auto calls = evidence.count("op_ind_call_count"), cycles = evidence.user_cycles();
  const auto misses = evidence.count("indirect_misses_count");
  double modelled = 0;
  if (calls && cycles && misses) {
    modelled = *misses * evidence.design->mispredict_cycles / *cycles;
    // Where there are many, a wrong target holds up more than the penalty says, as a wrong branch does.
    const double of_these = *misses / (*misses + evidence.count("tage_misses_count").value_or(0) + 1);
    if (modelled >= kMuchMispredicted) modelled = std::max(modelled, of_these * evidence.held_up_by("mispredicted"));
  }
  // Without counts nobody knows whether their targets are foreseen.
  if (calls && misses && cycles ? modelled < 0.05 : share < 0.1) return;
  Finding finding;
  finding.cause = "indirect-calls";
  finding.basis = modelled > 0 ? FindingBasis::kModelled : FindingBasis::kRule;
  finding.gain_ratio =
      calls && misses && cycles ? std::min(0.9, modelled) * evidence.user_ratio() : 0.3 * share * evidence.busy_ratio();
  finding.title = first.empty() ? "functions are called through pointers in hot loops"
                                : "a hot loop calls functions through pointers (virtual functions, callbacks)";
  if (!first.empty()) finding.evidence.push_back(fmt::format("in {}, {} of the CPU time", first, in_percent(share)));
  if (calls && misses) {
    finding.evidence.push_back(fmt::format("{} such calls, whose target changes unforeseen {} times",
                                           human_number(*calls), human_number(*misses)));
  }
  finding.advice = "sort the objects by type, or dispatch once for many (templates, a switch, a batch for each type)";
  finding.if_wrong = "code for each type";
  finding.proof = "the loop's time with objects of one type alone";
  findings.push_back(std::move(finding));
}

// Numbers near 0 that the processor computes with hundreds of times slower: no counter here tells; a run that flushes
// them to 0 does.
void add_denormals(const Evidence& evidence, std::vector<Finding>& findings) {
  double share = 0;
  for (const HotFunction& function : evidence.seen.functions) share += function.cpu_share * function.float_share;
  if (share < 0.3 || evidence.flush_denormals.empty()) return;
  Finding finding;
  finding.cause = "denormals";
  finding.basis = FindingBasis::kRule;
  finding.is_shown_by_trial = true;
  finding.title = "floating-point numbers may be denormal (below 2.2e-308, or 1.2e-38 in single precision)";
  finding.evidence.push_back(in_percent(share) + " of the CPU time is floating-point arithmetic");
  finding.advice = "flush them to 0 (-ffast-math when linking, _mm_setcsr), or keep values away from 0";
  finding.if_wrong = "results that differ where numbers are tiny";
  finding.proof = "a run with denormals flushed to 0";
  finding.experiments.push_back({"denormal numbers flushed to 0, which may change results",
                                 {{"LD_PRELOAD", evidence.preloaded(evidence.flush_denormals)}},
                                 {},
                                 {}});
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_code(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.seen.samples_count < kFewestSamples) return;
  add_unoptimised(evidence, findings);
  add_division(evidence, findings);
  add_scan(evidence, findings);
  add_indirect_calls(evidence, findings);
  add_denormals(evidence, findings);
}

}  // namespace perfcast::measure
