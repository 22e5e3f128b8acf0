#include "measure/compare/result_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {

int64_t sane_count(int64_t runs) { return std::clamp<int64_t>(runs, 0, 1'000'000'000); }

ResultCollector::ResultCollector(const char* tool, const std::string& source) {
  file_.tool = tool;
  file_.path = source;
}

std::string ResultCollector::at(const char* list, size_t i) const {
  return fmt::format("{}: {}[{}]", file_.path, list, i);
}

void ResultCollector::take_complaints(const JsonReader& reader) {
  complaints_.insert(complaints_.end(), reader.complaints().begin(), reader.complaints().end());
}

void ResultCollector::note_zeros(const std::string& name, size_t zeros, size_t all) {
  if (zeros == 0) return;
  file_.notes.push_back(fmt::format("{}: {} of {} times are 0, less than the clock can tell, and are left out{}",
                                    printable(name), zeros, all, zeros == all ? ": nothing of it is compared" : ""));
}

std::vector<double> ResultCollector::times(JsonReader& reader, const char* key, const std::string& name) {
  std::vector<double> values;
  const Json* list = reader.array(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (!(value >= 0) || !std::isfinite(value)) {
      reader.complain(key, item.is_number() ? "a time below 0" : "what is no number", "times in seconds");
      return {};
    }
    if (value > 0) values.push_back(value);
  }
  note_zeros(name, list->size() - values.size(), list->size());
  return values;
}

void ResultCollector::summarise(const std::string& name, JsonReader& reader, const char* mean, const char* deviation,
                                int64_t count, TimedRuns& runs) {
  runs.mean_s = reader.number(mean);
  runs.deviation_s = reader.optional_number(deviation).value_or(0);
  runs.count = sane_count(count);
  if (runs.mean_s > 0 && runs.deviation_s >= 0) return;
  if (reader.complaints().empty()) {
    if (runs.mean_s == 0 && runs.deviation_s >= 0) {
      note_zeros(name, 1, 1);
    } else {
      reader.complain(mean, "no time above 0", "a mean above 0 and a deviation of 0 or more");
    }
  }
  runs = TimedRuns();
}

void ResultCollector::add(BenchmarkRuns benchmark) {
  if (!benchmark.wall.is_known() && !benchmark.cpu.is_known()) return;
  const std::string name = benchmark.name;
  while (!names_.insert(benchmark.name).second) benchmark.name = fmt::format("{} #{}", name, ++numbers_[name] + 1);
  file_.benchmarks.push_back(std::move(benchmark));
}

Result<ResultFile> ResultCollector::finish() {
  if (!complaints_.empty()) {
    constexpr size_t kShown = 5;
    std::vector<std::string> shown(complaints_.begin(),
                                   complaints_.begin() + static_cast<ptrdiff_t>(std::min(kShown, complaints_.size())));
    std::string text = join(shown, "; ");
    if (complaints_.size() > kShown) text += fmt::format("; and {} more", complaints_.size() - kShown);
    return Error{"bad-json-field", text, file_.path, "the file as " + file_.tool + " wrote it"};
  }
  if (file_.benchmarks.empty()) {
    const std::string why = file_.notes.empty() ? "" : ": " + join(file_.notes, "; ");
    return Error{"no-results", "there is no benchmark with times in it" + why, file_.path,
                 "results of at least one benchmark, with times above 0"};
  }
  return std::move(file_);
}

}  // namespace perfcast::measure
