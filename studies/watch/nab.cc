#include "studies/watch/nab.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/unknown.h"
#include "measure/watch/row_time.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr double kFalseAlarm = 0.11;
constexpr size_t kMostLearnt = 750;  // 15% of 5000

double sigmoid(double x) { return 2 / (1 + std::exp(5 * std::min(x, 100.0))) - 1; }

Result<NabFile> read_file_of(const std::string& folder, const std::string& key, const Json& windows) {
  NabFile file;
  const size_t slash = key.find('/');
  const size_t dot = key.rfind('.');
  file.category = key.substr(0, slash);
  file.name = key.substr(slash + 1, dot - slash - 1);
  const std::string path = folder + "/" + key + ".gz";
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto table = CsvTable::parse(*text, path);
  if (!table) return table.error();
  for (size_t r = 0; r < table->rows(); ++r) {
    const auto time_s = iso_time_s(table->cell(r, 0));
    const auto value = table->number(r, 1);
    if (!value) return value.error();
    if (!time_s) return Error{"bad-time", "a row has no time", path, "timestamp,value"};
    file.stream.time_s.push_back(*time_s);
    file.stream.values.push_back(value->value_or(kUnknown));
  }
  const std::vector<double>& times = file.stream.time_s;
  for (const Json& window : windows) {
    const auto from_s = iso_time_s(window.at(0).get<std::string>());
    const auto to_s = iso_time_s(window.at(1).get<std::string>());
    if (!from_s || !to_s) return Error{"bad-time", "a window has no times", folder + "/windows.json", "two times"};
    const auto first = std::lower_bound(times.begin(), times.end(), *from_s) - times.begin();
    const auto behind = std::upper_bound(times.begin(), times.end(), *to_s) - times.begin();
    if (behind > first) file.windows.emplace_back(first, behind - 1);
  }
  return file;
}

}  // namespace

Result<std::vector<NabFile>> read_nab(const std::string& folder) {
  const auto text = read_file(folder + "/windows.json");
  if (!text) return text.error();
  const auto windows = parse_json(*text, folder + "/windows.json");
  if (!windows) return windows.error();
  std::map<std::string, std::vector<NabFile>> by_category;
  for (const auto& [key, of] : windows->items()) {
    auto file = read_file_of(folder, key, of);
    if (!file) return file.error();
    by_category[file->category].push_back(std::move(*file));
  }
  std::vector<NabFile> files;
  for (auto& [category, of] : by_category) {
    std::sort(of.begin(), of.end(), [](const NabFile& a, const NabFile& b) { return a.name < b.name; });
    for (size_t i = 0; i < of.size(); ++i) {
      of[i].tuned = i % 2 == 0;
      files.push_back(std::move(of[i]));
    }
  }
  return files;
}

void NabCounts::add(const NabCounts& other) {
  sum += other.sum;
  files += other.files;
  windows += other.windows;
  found += other.found;
  false_alarms += other.false_alarms;
}

double NabCounts::score() const {
  if (windows == 0) return kUnknown;
  const auto none = -static_cast<double>(windows);
  return 100 * (sum - none) / (-2 * none);
}

NabCounts nab_counts(const NabFile& file, const std::vector<size_t>& alarms) {
  NabCounts counts;
  counts.files = 1;
  counts.windows = file.windows.size();
  const size_t rows = file.stream.time_s.size();
  const size_t learnt = std::min(rows * 15 / 100, kMostLearnt);
  std::vector<bool> found(file.windows.size(), false);
  for (const size_t row : alarms) {
    if (row < learnt) continue;
    bool inside = false;
    double outside = -kFalseAlarm;
    for (size_t w = 0; w < file.windows.size(); ++w) {
      const auto [first, last] = file.windows[w];
      const auto length = static_cast<double>(last - first + 1);
      if (row > last) {
        const double behind = static_cast<double>(row - last) / length;
        outside = behind > 3 ? -kFalseAlarm : kFalseAlarm * sigmoid(behind);
      } else if (row >= first) {
        inside = true;
        if (found[w]) continue;
        found[w] = true;
        ++counts.found;
        counts.sum += sigmoid(-static_cast<double>(last - row + 1) / length) / sigmoid(-1);
      }
    }
    if (inside) continue;
    ++counts.false_alarms;
    counts.sum += outside;
  }
  counts.sum -= static_cast<double>(counts.windows - counts.found);
  return counts;
}

}  // namespace perfcast::measure::watch_study
