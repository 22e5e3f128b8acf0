#include "program/map/map_request.h"

#include <algorithm>
#include <map>
#include <set>

#include "program/corpus/good_profile.h"

namespace perfcast::program {
namespace {

// Calls use(program, profile) for each program with a profile that may be used.
template <typename Use>
void each_profiled(const Corpus& corpus, const std::vector<std::string>& groups, const Use& use) {
  std::map<std::string, const Profile*> first;
  for (const StoredProfile& stored : corpus.profiles) {
    const Profile* profile = good_profile(stored);
    if (profile != nullptr) first.try_emplace(stored.program, profile);
  }
  for (const Program& program : corpus.programs) {
    const auto found = first.find(program.id);
    if (!program.excluded.empty() || found == first.end()) continue;
    if (!groups.empty() && std::find(groups.begin(), groups.end(), program.group) == groups.end()) continue;
    use(program, *found->second);
  }
}

}  // namespace

TrainingTable table_without_times(const Corpus& corpus, const std::vector<std::string>& groups) {
  TrainingTable table;
  each_profiled(corpus, groups, [&](const Program& program, const Profile& profile) {
    table.programs.push_back(program);
    table.profiles.push_back(profile);
  });
  return table;
}

std::vector<NamedProfile> untimed_programs(const Corpus& corpus, const std::vector<std::string>& groups,
                                           const TrainingTable& table) {
  std::set<std::string> rows;
  for (const Program& program : table.programs) rows.insert(program.id);
  std::vector<NamedProfile> untimed;
  each_profiled(corpus, groups, [&](const Program& program, const Profile& profile) {
    if (!rows.contains(program.id)) untimed.push_back({program.id, profile});
  });
  return untimed;
}

}  // namespace perfcast::program
