#include "program/evaluate/program_groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace perfcast::program {
namespace {

// The kind of source that gave most of a row's times; absent where none is known.
std::optional<size_t> main_source(const TrainingTable& table, size_t row) {
  std::map<size_t, int64_t> counts;
  for (size_t j = 0; j < table.platforms.size(); ++j) {
    const auto& time = table.at(row, j);
    if (time && time->source) ++counts[*time->source];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

// Of a group whose programs were timed by several sources: a group for each, "application (geekbench6)".
std::vector<ProgramGroup> by_source(const TrainingTable& table, const ProgramGroup& group) {
  std::map<size_t, ProgramGroup> parts;
  if (table.sources.size() < 2) return {};
  for (const int64_t row : group.rows) {
    const std::optional<size_t> source = main_source(table, static_cast<size_t>(row));
    if (!source || *source >= table.sources.size()) continue;
    ProgramGroup& part = parts[*source];
    part.name = group.name + " (" + table.sources[*source] + ")";
    part.rows.push_back(row);
  }
  std::vector<ProgramGroup> result;
  if (parts.size() < 2) return result;
  for (auto& [source, part] : parts) result.push_back(std::move(part));
  return result;
}

}  // namespace

std::vector<ProgramGroup> program_groups(const TrainingTable& table) {
  std::vector<ProgramGroup> groups;
  ProgramGroup all{"all", {}};
  for (size_t i = 0; i < table.programs.size(); ++i) {
    const std::string& name = table.programs[i].group;
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const ProgramGroup& group) { return group.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->rows.push_back(static_cast<int64_t>(i));
    all.rows.push_back(static_cast<int64_t>(i));
  }
  std::vector<ProgramGroup> result;
  for (ProgramGroup& group : groups) {
    std::vector<ProgramGroup> parts = by_source(table, group);
    result.push_back(std::move(group));
    std::move(parts.begin(), parts.end(), std::back_inserter(result));
  }
  result.push_back(std::move(all));
  return result;
}

}  // namespace perfcast::program
