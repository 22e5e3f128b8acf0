#include "program/model/scaling/scaling_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

// Of the OS-heavy group: short calls, one after the other, on state of their own.
const std::set<std::string>& light_system_use() {
  static const std::set<std::string> programs = {"stressng.context", "stressng.getrandom", "stressng.null",
                                                 "stressng.x86syscall", "stressng.zero"};
  return programs;
}
// Its rate is 0.8 a second, in steps of 0.2.
constexpr const char* kTooCoarse = "stressng.bubblesort";

std::string group_of(const Program& program) {
  if (!program.excluded.empty() || program.id == kTooCoarse) return "";
  if (program.group == "user") return "user";
  if (program.group == "os" && light_system_use().contains(program.id)) return "light system use";
  if (program.group != "compressor") return "";
  return program.id.ends_with(".d") ? "decompress" : "compress";
}

class Builder {
 public:
  explicit Builder(const Corpus& corpus) : corpus_(corpus) {}
  Result<ScalingTable> build();

 private:
  void take_programs();
  void take_machines();
  void take_runs();
  void take_usual();

  const Corpus& corpus_;
  ScalingTable table_;
  std::unordered_map<std::string, Eigen::Index> row_of_, column_of_;
};

void Builder::take_programs() {
  std::set<std::string> timed;
  for (const MachineRun& run : corpus_.machine_runs) timed.insert(run.program);
  std::unordered_map<std::string, const Profile*> profiles;
  for (const StoredProfile& stored : corpus_.profiles) profiles.emplace(stored.program, &stored.profile);
  for (const Program& program : corpus_.programs) {
    const auto profile = profiles.find(program.id);
    const std::string group = group_of(program);
    if (group.empty() || !timed.contains(program.id) || profile == profiles.end()) continue;
    const auto units = profile->second->work_units;
    if (!units || !(*units > 0)) continue;
    ProgramLoad load = load_of(*profile->second, *units);
    if (!is_known(load)) continue;
    row_of_.emplace(program.id, static_cast<Eigen::Index>(table_.programs.size()));
    table_.programs.push_back(program);
    table_.groups.push_back(group);
    table_.profiles.push_back(*profile->second);
    table_.loads.push_back(std::move(load));
  }
}

// In the order of provider and name, whatever that of the corpus.
void Builder::take_machines() {
  table_.all_machines = machines_of(corpus_.servers, corpus_.platforms).machines;
  std::sort(table_.all_machines.begin(), table_.all_machines.end(), [](const auto& a, const auto& b) {
    return std::tie(a.provider, a.name, a.platform) < std::tie(b.provider, b.name, b.platform);
  });
  std::set<std::string> with_runs;
  for (const MachineRun& run : corpus_.machine_runs) {
    if (row_of_.contains(run.program)) with_runs.insert(run.server + "\t" + run.platform);
  }
  for (const MachineFacts& machine : table_.all_machines) {
    const std::string id = machine.provider + "/" + machine.name + "\t" + machine.platform;
    if (!with_runs.contains(id)) continue;
    column_of_.emplace(id, static_cast<Eigen::Index>(table_.machines.size()));
    table_.machines.push_back(machine);
  }
}

void Builder::take_runs() {
  const auto rows = static_cast<Eigen::Index>(table_.programs.size());
  const auto columns = static_cast<Eigen::Index>(table_.machines.size());
  table_.log_alone = Eigen::MatrixXd::Constant(rows, columns, kUnknown);
  table_.log_alone_usual = table_.log_together = table_.copies = table_.log_alone;
  const auto place = [&](const auto& run, auto&& set) {
    const auto row = row_of_.find(run.program);
    const auto column = column_of_.find(run.server + "\t" + run.platform);
    if (row != row_of_.end() && column != column_of_.end()) set(row->second, column->second);
  };
  for (const Run& run : corpus_.runs) {
    if (run.threads != 1 || run.results_count) continue;
    place(run, [&](Eigen::Index i, Eigen::Index s) { table_.log_alone(i, s) = std::log(run.time_s); });
  }
  for (const MachineRun& run : corpus_.machine_runs) {
    place(run, [&](Eigen::Index i, Eigen::Index s) {
      table_.log_together(i, s) = std::log(run.time_s);
      table_.copies(i, s) = run.copies;
    });
  }
}

void Builder::take_usual() {
  std::map<std::string, std::vector<Eigen::Index>> by_platform;
  for (size_t s = 0; s < table_.machines.size(); ++s)
    by_platform[table_.machines[s].platform].push_back(static_cast<Eigen::Index>(s));
  for (const auto& [platform, columns] : by_platform) {
    for (Eigen::Index i = 0; i < table_.log_alone.rows(); ++i) {
      for (const Eigen::Index s : columns) {
        std::vector<double> others;
        for (const Eigen::Index other : columns) {
          if (other != s && !std::isnan(table_.log_alone(i, other))) others.push_back(table_.log_alone(i, other));
        }
        table_.log_alone_usual(i, s) = others.empty() ? table_.log_alone(i, s) : median(std::move(others));
      }
    }
  }
}

Result<ScalingTable> Builder::build() {
  take_programs();
  take_machines();
  take_runs();
  take_usual();
  const bool any = ((table_.log_together - table_.log_alone).array().isFinite()).any();
  if (any && table_.programs.size() >= 2) return std::move(table_);
  return Error{"empty-corpus", "no server of the corpus ran two programs both alone and as many copies", "",
               "a corpus with whole machines: perfcast import sparecores"};
}

}  // namespace

ScalingTable ScalingTable::without_family(const std::string& family) const {
  ScalingTable rest;
  std::vector<Eigen::Index> rows;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (programs[i].family == family) continue;
    rows.push_back(static_cast<Eigen::Index>(i));
    rest.programs.push_back(programs[i]);
    rest.groups.push_back(groups[i]);
    rest.profiles.push_back(profiles[i]);
    rest.loads.push_back(loads[i]);
  }
  rest.machines = machines;
  rest.all_machines = all_machines;
  rest.log_alone = log_alone(rows, Eigen::all);
  rest.log_alone_usual = log_alone_usual(rows, Eigen::all);
  rest.log_together = log_together(rows, Eigen::all);
  rest.copies = copies(rows, Eigen::all);
  return rest;
}

Result<ScalingTable> make_scaling_table(const Corpus& corpus) { return Builder(corpus).build(); }

}  // namespace perfcast::program
