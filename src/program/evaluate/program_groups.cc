#include "program/evaluate/program_groups.h"

#include <algorithm>
#include <utility>

namespace perfcast::program {

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
  groups.push_back(std::move(all));
  return groups;
}

}  // namespace perfcast::program
