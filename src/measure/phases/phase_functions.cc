#include "measure/phases/phase_functions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "measure/diagnose/observe/code_map.h"
#include "measure/diagnose/observe/symbol_file.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLeastFunctionSamples = 20, kMostFunctions = 8;
constexpr double kLeastFunctionRatio = 0.02;

}  // namespace

void PhaseFunctions::add(const CodeCourse& course, const NativeAlignment& aligned) {
  if (course.position_of.size() != course.places.size()) return;
  std::vector<std::map<uint32_t, size_t>> counts(tallies_.size());
  size_t interval = 0;
  for (size_t s = 0; s < course.position_of.size(); ++s) {
    while (interval + 1 < aligned.ends.size() && aligned.ends[interval] <= static_cast<double>(s)) ++interval;
    if (interval >= cluster_.size()) break;
    const size_t kind = cluster_[interval];
    ++tallies_[kind].all;
    if (course.position_of[s] != kNoCodePosition) ++counts[kind][course.position_of[s]];
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    for (const auto& [position, samples] : counts[kind])
      tallies_[kind].samples.emplace_back(course.positions[position], samples);
  }
}

std::vector<std::vector<TimedFunction>> PhaseFunctions::finish() const {
  const WithoutSymbolServers offline;
  CodeMap code;
  std::vector<std::vector<TimedFunction>> functions(tallies_.size());
  for (size_t kind = 0; kind < tallies_.size(); ++kind) {
    const Tally& tally = tallies_[kind];
    if (tally.all < kLeastFunctionSamples) continue;
    std::map<std::pair<std::string, std::string>, size_t> samples;  // by file and function
    for (const auto& [position, count] : tally.samples) {
      const CodePlace* place = code.place(position.file, position.offset_bytes);
      samples[{std::filesystem::path(position.file).filename().string(),
               place == nullptr ? std::string() : place->function}] += count;
    }
    for (const auto& [name, count] : samples) {
      const double ratio = static_cast<double>(count) / static_cast<double>(tally.all);
      if (ratio >= kLeastFunctionRatio) functions[kind].push_back({name.second, name.first, ratio});
    }
    std::stable_sort(functions[kind].begin(), functions[kind].end(),
                     [](const TimedFunction& a, const TimedFunction& b) { return a.time_ratio > b.time_ratio; });
    if (functions[kind].size() > kMostFunctions) functions[kind].resize(kMostFunctions);
  }
  return functions;
}

}  // namespace perfcast::measure
