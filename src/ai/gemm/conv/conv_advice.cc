#include "ai/gemm/conv/conv_advice.h"

#include <fmt/format.h>

#include <cmath>

#include "ai/gemm/advice.h"

namespace perfcast::ai::gemm {
namespace {

struct Change {
  const char *before, *after, *kind, *text;
};
constexpr Change kChanges[] = {
    {"im2col-openblas", "onednn-direct", "library", "oneDNN's direct convolution instead of im2col + OpenBLAS"},
    {"onednn-plain", "onednn-direct", "layout", "oneDNN: images in its own layout from layer to layer"},
    {"onednn-direct", "onednn-auto", "library", "oneDNN: its choice of algorithm instead of direct"},
    {"onednn-direct", "onednn-bf16", "precision", "oneDNN: bf16 inputs instead of fp32, where its error will do"},
    {"naive-o1", "naive-o3", "flags", "the seven loops: build with -O3 instead of -O1"},
    {"naive-o3", "reordered", "flags", "the seven loops: output columns innermost, same flags"},
    {"reordered", "reordered-native", "flags", "the reordered loops: build for this CPU (-march)"},
};

}  // namespace

std::vector<Advice> conv_advice(const GemmResult& result) {
  const RungResult* largest = nullptr;
  for (const RungResult& row : result.rungs) {
    if (largest == nullptr || operations(row.shape) > operations(largest->shape)) largest = &row;
  }
  std::vector<Advice> advice;
  if (largest == nullptr) return advice;
  const auto compare = [&advice](const RungResult& before, const RungResult& after, const char* kind,
                                 std::string change) {
    if (!clearly_faster(before, after)) return;
    Advice found;
    found.kind = kind;
    found.change = std::move(change);
    found.shape = before.shape;
    found.conv = before.conv;
    found.before_gflops = before.gflops;
    found.after_gflops = after.gflops;
    found.gain = after.gflops / before.gflops;
    if (after.precision != before.precision) {
      found.cost = fmt::format("relative error {:.2g}%", after.relative_error * 100);
    }
    advice.push_back(std::move(found));
  };
  const auto threads = [](int count) { return fmt::format("{} thread{}", count, count == 1 ? "" : "s"); };
  for (const RungResult& before : result.rungs) {
    if (!same_problem(before, *largest) || std::isnan(before.gflops)) continue;
    for (const RungResult& after : result.rungs) {
      if (!same_problem(after, *largest) || std::isnan(after.gflops)) continue;
      if (after.name == before.name && after.threads < before.threads) {
        compare(before, after, "threads",
                fmt::format("{}: {} instead of {}", before.title, threads(after.threads), before.threads));
      }
      for (const Change& change : kChanges) {
        if (before.name != change.before || after.name != change.after || after.threads != before.threads) continue;
        compare(before, after, change.kind, fmt::format("{}, {}", change.text, threads(before.threads)));
      }
    }
  }
  return advice;
}

}  // namespace perfcast::ai::gemm
