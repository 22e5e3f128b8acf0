#include "ai/gemm/rung/rung.h"

#include <algorithm>

#include "base/text.h"
#if defined(PERFCAST_HAVE_CUDA)
#include "ai/gemm/cuda/cuda_rungs.h"
#endif

namespace perfcast::ai::gemm {
namespace {

// `pattern` with * for any text.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (size_t skip = 0; skip <= name.size(); ++skip) {
      if (matches(pattern.substr(1), name.substr(skip))) return true;
    }
    return false;
  }
  return !name.empty() && pattern.front() == name.front() && matches(pattern.substr(1), name.substr(1));
}

}  // namespace

const std::vector<Rung>& all_rungs() {
  static const std::vector<Rung> kRungs = [] {
    std::vector<Rung> rungs;
    for (auto list : {loop_rungs, register_block_rungs, blas_rungs, eigen_rungs, onednn_rungs, python_rungs}) {
      for (Rung& rung : list()) rungs.push_back(std::move(rung));
    }
#if defined(PERFCAST_HAVE_CUDA)
    for (Rung& rung : cuda_rungs()) rungs.push_back(std::move(rung));
#endif
    return rungs;
  }();
  return kRungs;
}

const Rung* find_rung(std::string_view name) {
  for (const Rung& rung : all_rungs()) {
    if (rung.name == name) return &rung;
  }
  return nullptr;
}

std::vector<Precision> rung_precisions() {
  std::vector<Precision> found;
  for (const Precision precision : precisions()) {
    const auto has = [precision](const Rung& rung) { return rung.precision == precision; };
    if (std::any_of(all_rungs().begin(), all_rungs().end(), has)) found.push_back(precision);
  }
  return found;
}

Result<std::vector<const Rung*>> select_rungs(const std::string& patterns) {
  std::vector<const Rung*> from;
  for (const Rung& rung : all_rungs()) from.push_back(&rung);
  return select_rungs(patterns, from);
}

Result<std::vector<const Rung*>> select_rungs(const std::string& patterns, const std::vector<const Rung*>& from) {
  std::vector<bool> chosen(from.size());
  for (const std::string& part : split(patterns, ',')) {
    const std::string pattern(trim(part));
    bool any = false;
    // No name is long; a pattern of many stars would take its time.
    if (!pattern.empty() && pattern.size() <= 64 && std::count(pattern.begin(), pattern.end(), '*') <= 4) {
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (!matches(pattern, from[i]->name)) continue;
        chosen[i] = true;
        any = true;
      }
    }
    if (any) continue;
    std::vector<std::string> names;
    names.reserve(from.size());
    for (const Rung* rung : from) names.push_back(rung->name);
    return usage_error("bad-usage", "there is no rung '" + printable(pattern) + "'", "--rungs",
                       "one of: " + nearest_names(pattern, names) + "; perfcast gemm --list has all");
  }
  std::vector<const Rung*> rungs;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) rungs.push_back(from[i]);
  }
  return rungs;
}

}  // namespace perfcast::ai::gemm
