#include "measure/power/model/unseen_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostNamed = 5;

// "a, b, c and 7 more".
std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kMostNamed, names.size()); ++i)
    shown.push_back(names[i].empty() ? "(no name)" : printable(names[i]));
  return join(shown, ", ") + (names.size() > kMostNamed ? fmt::format(" and {} more", names.size() - kMostNamed) : "");
}

// "node1 2400 MHz 8 cores" of the machine node1: without names of settings in the file, the group's own tells it.
bool is_group_of(const std::string& group, const std::string& machine) {
  if (!group.starts_with(machine)) return false;
  std::string rest = group.substr(machine.size());
  for (const char* unit : {" cores", " MHz"}) {
    if (!rest.ends_with(unit)) continue;
    rest.resize(rest.size() - std::string_view(unit).size());
    while (!rest.empty() && rest.back() >= '0' && rest.back() <= '9') rest.pop_back();
    if (!rest.empty() && rest.back() == ' ') rest.pop_back();
  }
  return rest.empty();
}

// What the model was fitted on. A group of rows without power is in its list, too, and has no setting.
struct KnownGroups {
  std::set<std::string> machines, groups;

  KnownGroups(const PowerModel& model, bool has_clock, const std::set<std::string>& asked) {
    const std::vector<PowerSetting>& settings = model.settings();
    const std::vector<std::string>& names = model.card().groups;
    for (size_t g = 0; g < names.size(); ++g) {
      if (settings.size() == names.size()) {
        if (has_clock && !settings[g].frequency_hz) continue;
        if (!is_group_of(names[g], settings[g].machine)) continue;
        machines.insert(settings[g].machine);
      } else {
        for (const std::string& machine : asked) {
          if (is_group_of(names[g], machine)) machines.insert(machine);
        }
      }
      groups.insert(names[g]);
    }
  }
};

}  // namespace

std::vector<std::string> unseen_settings(const PowerModel& model, const PowerTable& table) {
  std::vector<std::string> lines;
  std::map<std::string, std::set<std::string>> asked;  // machine -> its groups
  std::set<std::string> machines;
  for (size_t r = 0; r < table.rows(); ++r) {
    const std::string& machine = table.machines[static_cast<size_t>(table.machine[r])];
    machines.insert(machine);
    asked[machine].insert(model.features().group_of(table, r));
  }
  const KnownGroups known(model, table.frequency_hz.size() > 0, machines);
  const auto& of_new = model.card().new_machine;
  for (const auto& [machine, groups] : asked) {
    const std::string who = machine.empty() ? "a machine without a name" : printable(machine);
    if (of_new) {
      if (machine == of_new->machine) continue;  // all settings of it are one to such a model
      lines.push_back(
          fmt::format("the model is of '{}', not of {}: it is taken for that, and the interval is too narrow",
                      printable(of_new->machine), who));
      continue;
    }
    if (known.machines.count(machine) == 0) {
      if (machine.empty()) {
        lines.push_back(fmt::format(
            "the samples don't say their machine, of which the model has {} ({}): what these share is taken, and the "
            "interval is too narrow; a column machine tells it",
            known.machines.size(), listed({known.machines.begin(), known.machines.end()})));
      } else {
        lines.push_back("the model has no samples of " + who +
                        ": what its machines share is taken, and the interval is too narrow");
      }
      continue;
    }
    std::vector<std::string> unseen;
    std::set_difference(groups.begin(), groups.end(), known.groups.begin(), known.groups.end(),
                        std::back_inserter(unseen));
    if (unseen.empty()) continue;
    lines.push_back(fmt::format(
        "the model has no samples at {} {} (machine, frequency, cores): {}: what its settings share is taken, and the "
        "interval is too narrow",
        unseen.size(), unseen.size() == 1 ? "setting" : "settings", listed(unseen)));
  }
  for (const std::string& name : model.features().percent_by_model(table)) {
    lines.push_back(printable(name) +
                    " is taken for percent, as in the model's samples: its values alone would be "
                    "shares of 1");
  }
  return lines;
}

}  // namespace perfcast::measure
