#include "ai/gemm/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

Advice advise(std::string kind, std::string change, const RungResult& before, const RungResult& after) {
  Advice advice;
  advice.kind = std::move(kind);
  advice.change = std::move(change);
  advice.subject = before.title;
  advice.shape = before.shape;
  advice.before_gflops = before.gflops;
  advice.after_gflops = after.gflops;
  advice.gain = after.gflops / before.gflops;
  return advice;
}

class Ladder {
 public:
  Ladder(const GemmResult& result, const Shape& shape) : cores_(result.cores) {
    for (const RungResult& row : result.rungs) {
      if (row.shape == shape && row.device == "cpu" && !std::isnan(row.gflops)) rows_.push_back(&row);
    }
  }
  const RungResult* find(const std::string& name, int threads) const {
    for (const RungResult* row : rows_) {
      if (row->name == name && row->threads == threads) return row;
    }
    return nullptr;
  }
  const std::vector<const RungResult*>& rows() const { return rows_; }
  // Rows of more threads than cores say little: of them only fewer threads are advised.
  bool has_cores_for(const RungResult& row) const { return row.threads <= cores_; }

 private:
  int cores_;
  std::vector<const RungResult*> rows_;
};

void flags_advice(const Ladder& ladder, std::vector<Advice>& advice) {
  const RungResult *first = ladder.find("naive-o1", 1), *best = nullptr;
  for (const char* name : {"naive-o3", "naive-native"}) {
    const RungResult* row = ladder.find(name, 1);
    if (row != nullptr && (best == nullptr || row->gflops > best->gflops)) best = row;
  }
  if (first != nullptr && best != nullptr && clearly_faster(*first, *best)) {
    advice.push_back(advise("flags", "the naive loop: build with " + best->kernel + " instead of -O1", *first, *best));
  }
  const RungResult *naive = ladder.find("naive-o3", 1), *swapped = ladder.find("interchange", 1);
  if (naive != nullptr && swapped != nullptr && clearly_faster(*naive, *swapped)) {
    advice.push_back(
        advise("flags", "the naive loop: swap its inner two loops (i, k, j), same flags", *naive, *swapped));
  }
}

void thread_advice(const Ladder& ladder, std::vector<Advice>& advice) {
  for (const RungResult* many : ladder.rows()) {
    if (many->threads == 1) continue;
    const RungResult* best = nullptr;
    for (const RungResult* few : ladder.rows()) {
      if (few->name != many->name || few->threads >= many->threads) continue;
      if (best == nullptr || few->gflops > best->gflops) best = few;
    }
    if (best != nullptr && clearly_faster(*many, *best)) {
      advice.push_back(advise("threads",
                              fmt::format("{}: {} thread{} instead of {}", many->title, best->threads,
                                          best->threads == 1 ? "" : "s", many->threads),
                              *many, *best));
    }
  }
}

// bf16 and int8 have B packed before the clock runs, so fp32 is compared in the same way where that rung ran.
void precision_advice(const Ladder& ladder, std::vector<Advice>& advice) {
  for (const RungResult* before : ladder.rows()) {
    if (!ladder.has_cores_for(*before)) continue;
    const bool packed = before->name == "onednn-packed";
    if (!packed && (before->name != "onednn" || ladder.find("onednn-packed", before->threads) != nullptr)) continue;
    for (const char* name : {"onednn-bf16", "onednn-int8"}) {
      const RungResult* after = ladder.find(name, before->threads);
      if (after == nullptr || !clearly_faster(*before, *after)) continue;
      Advice found = advise("precision",
                            fmt::format("oneDNN: {} inputs instead of fp32, {} thread{}, {}, where its error will do",
                                        name_of(after->precision), after->threads, after->threads == 1 ? "" : "s",
                                        packed ? "B packed beforehand for both" : "B packed beforehand for it only"),
                            *before, *after);
      found.cost = fmt::format("relative error {:.2g}%", after->relative_error * 100);
      advice.push_back(std::move(found));
    }
  }
}

// NumPy on the BLAS that Debian brings where nobody chose one: the gap that counts most, and the one that a package
// closes. What OpenBLAS would reach is what it does here as a rung, else what the best rung does, at least.
bool calls_reference_blas(const RungResult& row) {
  // An OpenBLAS behind the same name says its kernel after it.
  return row.name == "numpy" && (row.kernel.ends_with("libblas.so.3") || row.kernel.ends_with("libcblas.so.3") ||
                                 row.kernel.find("libblas.so.3.") != std::string::npos);
}

void reference_blas_advice(const Ladder& ladder, std::vector<Advice>& advice) {
  std::optional<Advice> widest;
  for (const RungResult* before : ladder.rows()) {
    if (!calls_reference_blas(*before) || !ladder.has_cores_for(*before)) continue;
    const RungResult* after = ladder.find("openblas", before->threads);
    const bool is_measured = after != nullptr;
    for (const char* name : {"blis", "onednn", "register-block", "eigen"}) {
      const RungResult* row = ladder.find(name, before->threads);
      if (!is_measured && row != nullptr && (after == nullptr || row->gflops > after->gflops)) after = row;
    }
    if (after == nullptr || !clearly_faster(*before, *after)) continue;
    Advice found = advise(
        "library",
        fmt::format("NumPy calls the reference BLAS: apt install libopenblas0 ({}), {} thread{}",
                    is_measured ? "OpenBLAS as measured here" : "expected: about what " + after->title + " reaches",
                    before->threads, before->threads == 1 ? "" : "s"),
        *before, *after);
    found.is_measured = is_measured;
    if (!widest || found.gain > widest->gain) widest = std::move(found);
  }
  if (widest) advice.push_back(*std::move(widest));
}

// What people call, each against the best of all at the same thread count: the largest gaps, one for each library.
void library_advice(const Ladder& ladder, std::vector<Advice>& advice) {
  constexpr size_t kMostLines = 2;
  std::vector<Advice> found;
  for (const char* called : {"openblas", "blis", "numpy", "eigen"}) {
    std::optional<Advice> widest;
    for (const RungResult* before : ladder.rows()) {
      if (before->name != called || !ladder.has_cores_for(*before) || calls_reference_blas(*before)) continue;
      const RungResult* best = before;
      for (const char* name : {"numpy", "torch", "openblas", "blis", "eigen", "onednn"}) {
        const RungResult* after = ladder.find(name, before->threads);
        if (after != nullptr && after->gflops > best->gflops) best = after;
      }
      if (best == before || !clearly_faster(*before, *best)) continue;
      if (widest && widest->gain >= best->gflops / before->gflops) continue;
      widest = advise("library",
                      fmt::format("{} instead of {}, {} thread{}", best->title, before->title, before->threads,
                                  before->threads == 1 ? "" : "s"),
                      *before, *best);
    }
    if (widest) found.push_back(*std::move(widest));
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  if (found.size() > kMostLines) found.resize(kMostLines);
  for (Advice& each : found) advice.push_back(std::move(each));
}

Shape largest_shape(const GemmResult& result) {
  Shape largest;
  for (const RungResult& row : result.rungs) {
    if (operations(row.shape) > operations(largest)) largest = row.shape;
  }
  return largest;
}

LadderEntry entry_for(const RungResult& row, uint64_t seed) {
  LadderEntry entry;
  entry.spec = {"gemm",      row.name, {row.shape.m, row.shape.n, row.shape.k},
                row.threads, seed,     thread_environment(row.threads)};
  for (const auto& [name, value] : row.environment) entry.spec.environment[name] = value;
  return entry;
}

// Measures `row` against itself under each choice: a short look at all, then the best one and the base in turns for
// long. Nothing where no choice is clearly faster.
Result<std::optional<Advice>> try_choices(const RungResult& row, const std::vector<EnvironmentChoice>& choices,
                                          const GemmRequest& request) {
  LadderOptions look = request.ladder;
  look.rounds = 3;
  look.budget_s = std::min(look.budget_s, 0.5);
  std::vector<LadderEntry> entries = {entry_for(row, request.seed)};
  for (const EnvironmentChoice& choice : choices) {
    entries.push_back(entry_for(row, request.seed));
    entries.back().spec.environment[choice.variable] = choice.value;
  }
  const auto first = run_ladder(entries, look);
  if (!first) return first.error();
  if (first->interrupted) return *first->interrupted;
  const std::vector<Measurement>& tried = first->measured;
  size_t best = 0;
  for (size_t i = 1; i < tried.size(); ++i) {
    const Measurement& each = tried[i];
    if (!each.ran()) continue;
    // A library that does not know a name may take any kernel: only the one that was meant counts.
    const std::string& wanted = choices[i - 1].kernel;
    if (!wanted.empty() && (lower_case(each.kernel) != lower_case(wanted) || each.kernel == tried[0].kernel)) continue;
    if (each.median_s() < tried[best].median_s()) best = i;
  }
  if (best == 0 || !tried[0].ran()) return std::optional<Advice>();

  LadderOptions thorough = request.ladder;
  thorough.rounds = std::max(request.ladder.rounds, 9);
  const auto pair = run_ladder({entries[0], entries[best]}, thorough);
  if (!pair) return pair.error();
  if (pair->interrupted) return *pair->interrupted;
  const Measurement &before = pair->measured[0], &after = pair->measured[1];
  if (!before.ran() || !after.ran() || !clearly_faster(before, after)) return std::optional<Advice>();
  const EnvironmentChoice& choice = choices[best - 1];
  Advice advice;
  advice.kind = "environment";
  advice.subject = row.title;
  advice.change = fmt::format("{}, {} thread{}: set {}={}", row.title, row.threads, row.threads == 1 ? "" : "s",
                              choice.variable, choice.value);
  if (!choice.kernel.empty()) advice.change += fmt::format(" (kernels {} instead of {})", after.kernel, before.kernel);
  advice.shape = row.shape;
  advice.before_gflops = before.rate() / 1e9;
  advice.after_gflops = after.rate() / 1e9;
  advice.gain = before.median_s() / after.median_s();
  return std::optional<Advice>(std::move(advice));
}

}  // namespace

bool clearly_faster(const RungResult& before, const RungResult& after) {
  const double gain = after.gflops / before.gflops;
  if (!(gain > kWorthwhile)) return false;
  if (std::cmp_less(before.samples, kFewSamples) || std::cmp_less(after.samples, kFewSamples)) return gain > kGainOfFew;
  return after.median_s * (1 + after.spread / 2) < before.median_s * (1 - before.spread / 2);
}

bool clearly_faster(const Measurement& before, const Measurement& after) {
  if (!before.ran() || !after.ran()) return false;
  const double gain = before.median_s() / after.median_s();
  if (!(gain > kWorthwhile)) return false;
  if (before.samples_s.size() < kFewSamples || after.samples_s.size() < kFewSamples) return gain > kGainOfFew;
  return quantile(after.samples_s, 0.75) < quantile(before.samples_s, 0.25);
}

std::vector<EnvironmentChoice> kernel_choices(const std::string& rung, const std::vector<std::string>& isas) {
  const auto has = [&isas](const char* isa) { return std::find(isas.begin(), isas.end(), isa) != isas.end(); };
  std::vector<EnvironmentChoice> choices;
  if (rung == "openblas") {
    const char* variable = "OPENBLAS_CORETYPE";
    if (has("avx512-bf16")) choices.push_back({variable, "Cooperlake", "Cooperlake"});
    if (has("amx-bf16")) choices.push_back({variable, "SapphireRapids", "SapphireRapids"});
    if (has("avx512")) choices.push_back({variable, "SkylakeX", "SkylakeX"});
    if (has("avx2")) {
      choices.push_back({variable, "Haswell", "Haswell"});
      choices.push_back({variable, "Zen", "Zen"});
    }
    if (has("neon")) {
      for (const char* core : {"NEOVERSEN1", "CORTEXA57"}) choices.push_back({variable, core, core});
    }
  } else if (rung == "blis") {
    // Names are taken from 1.0 on, numbers of arch_t before (0.9: frame/include/bli_type_defs.h); the library says
    // which kernel came of it.
    const char* variable = "BLIS_ARCH_TYPE";
    if (has("avx512")) {
      choices.push_back({variable, "skx", "skx"});
      choices.push_back({variable, "0", "skx"});
    }
    if (has("avx2")) {
      choices.push_back({variable, "haswell", "haswell"});
      choices.push_back({variable, "3", "haswell"});
      choices.push_back({variable, "zen3", "zen3"});
      choices.push_back({variable, "6", "zen3"});
    }
  }
  return choices;
}

std::vector<Advice> advice_from_ladder(const GemmResult& result) {
  std::vector<Advice> advice;
  const Ladder ladder(result, largest_shape(result));
  reference_blas_advice(ladder, advice);
  library_advice(ladder, advice);
  precision_advice(ladder, advice);
  thread_advice(ladder, advice);
  flags_advice(ladder, advice);
  return advice;
}

Status find_advice(const GemmRequest& request, GemmResult& result) {
  const Ladder ladder(result, largest_shape(result));
  for (const RungResult* row : ladder.rows()) {
    if (!ladder.has_cores_for(*row)) continue;
    std::vector<EnvironmentChoice> choices;
    if (row->threads == 1) choices = kernel_choices(row->name, result.isas);
    const bool open_mp = row->name == "onednn" || row->name == "torch";
    if (row->threads > 1 && open_mp) choices.push_back({"OMP_WAIT_POLICY", "passive", ""});
    // What the user set already is the user's choice.
    if (choices.empty() || std::getenv(choices.front().variable.c_str()) != nullptr) continue;
    const auto advice = try_choices(*row, choices, request);
    if (!advice) return advice.error();
    if (*advice) result.advice.push_back(**advice);
  }
  for (Advice& advice : advice_from_ladder(result)) result.advice.push_back(std::move(advice));
  return {};
}

}  // namespace perfcast::ai::gemm
