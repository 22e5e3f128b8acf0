#include "corpus/corpus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

struct Measurement {
  size_t server_rank;  // place of the server's name in the sorted list
  double log_time;
  bool operator<(const Measurement& other) const {
    return std::tie(server_rank, log_time) < std::tie(other.server_rank, other.log_time);
  }
};

PlatformTime fold(std::vector<Measurement> measurements) {
  std::sort(measurements.begin(), measurements.end());
  // One value per named server, so that a server measured by two sources does not weigh twice; rank 0 is the empty
  // name, where every run stands for itself.
  std::vector<double> all, halves[2];
  for (size_t i = 0; i < measurements.size();) {
    size_t end = i + 1;
    while (measurements[i].server_rank != 0 && end < measurements.size() &&
           measurements[end].server_rank == measurements[i].server_rank) {
      ++end;
    }
    std::vector<double> of_server;
    for (; i < end; ++i) of_server.push_back(measurements[i].log_time);
    const double value = median(std::move(of_server));
    halves[all.size() % 2].push_back(value);
    all.push_back(value);
  }
  PlatformTime time;
  time.servers = static_cast<int64_t>(all.size());
  time.log_spread = all.size() < 2 ? kUnknown : robust_deviation(all);
  time.half_a = all.size() < 2 ? kUnknown : median(std::move(halves[0]));
  time.half_b = all.size() < 2 ? kUnknown : median(std::move(halves[1]));
  time.log_time = median(std::move(all));
  return time;
}

Result<std::vector<size_t>> chosen_platforms(const Corpus& corpus, const std::vector<std::string>& wanted) {
  std::vector<size_t> chosen;
  std::vector<std::string> names;
  for (const Platform& platform : corpus.platforms) {
    names.push_back(platform.name);
    names.push_back(platform.id);
  }
  for (const std::string& name : wanted) {
    const auto found = std::find_if(corpus.platforms.begin(), corpus.platforms.end(), [&](const Platform& platform) {
      return platform.id == name || platform.name == name;
    });
    if (found == corpus.platforms.end()) {
      return usage_error("unknown-platform", "the corpus holds no platform '" + name + "'", "",
                         "one of: " + nearest_names(name, names));
    }
    const auto index = static_cast<size_t>(found - corpus.platforms.begin());
    if (std::find(chosen.begin(), chosen.end(), index) == chosen.end()) chosen.push_back(index);
  }
  return chosen;
}

// Counts and times of such a profile are not those of the same work.
bool is_doubtful(const ProfileWarning& warning) {
  return warning.code == "clock-bound" || warning.code == "runs-differ" || warning.code == "other-code-path";
}

const Profile* good_profile(const StoredProfile& stored, bool include_doubtful) {
  const Profile& profile = stored.profile;
  if (profile.exit_code.value_or(0) != 0 || profile.signal) return nullptr;
  const bool doubtful = std::any_of(profile.warnings.begin(), profile.warnings.end(), is_doubtful);
  return doubtful && !include_doubtful ? nullptr : &profile;
}

Status check_groups(const Corpus& corpus, const std::vector<std::string>& wanted) {
  std::vector<std::string> groups;
  for (const Program& program : corpus.programs) {
    if (std::find(groups.begin(), groups.end(), program.group) == groups.end()) groups.push_back(program.group);
  }
  for (const std::string& group : wanted) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
      return usage_error("unknown-group", "the corpus holds no group '" + group + "'", "",
                         "one of: " + nearest_names(group, groups));
    }
  }
  return {};
}

}  // namespace

const Platform* Corpus::find_platform(const std::string& id) const {
  for (const Platform& platform : platforms) {
    if (platform.id == id) return &platform;
  }
  return nullptr;
}

const Program* Corpus::find_program(const std::string& id) const {
  for (const Program& program : programs) {
    if (program.id == id) return &program;
  }
  return nullptr;
}

TrainingTable TrainingTable::with_programs(const std::vector<size_t>& indices) const {
  TrainingTable table;
  table.inputs = inputs;
  table.platforms = platforms;
  table.times.reserve(indices.size() * platforms.size());
  for (const size_t row : indices) {
    table.programs.push_back(programs[row]);
    table.profiles.push_back(profiles[row]);
    for (size_t column = 0; column < platforms.size(); ++column) table.times.push_back(at(row, column));
  }
  return table;
}

TrainingTable TrainingTable::with_platforms(const std::vector<size_t>& indices) const {
  TrainingTable table;
  table.inputs = inputs;
  table.programs = programs;
  table.profiles = profiles;
  for (const size_t column : indices) table.platforms.push_back(platforms[column]);
  table.times.reserve(programs.size() * indices.size());
  for (size_t row = 0; row < programs.size(); ++row) {
    for (const size_t column : indices) table.times.push_back(at(row, column));
  }
  return table;
}

Result<TrainingTable> make_training_table(const Corpus& corpus, const TableOptions& options) {
  if (const Status status = check_groups(corpus, options.groups); !status) return status.error();
  auto wanted = chosen_platforms(corpus, options.platforms);
  if (!wanted) return wanted.error();

  std::unordered_map<std::string, std::vector<const Profile*>> profiles_of;
  for (const StoredProfile& stored : corpus.profiles) {
    const Profile* profile = good_profile(stored, options.include_excluded);
    if (profile == nullptr) continue;
    std::vector<const Profile*>& known = profiles_of[stored.program];
    if (known.empty() || options.every_profile) known.push_back(profile);
  }
  std::vector<const Program*> programs;
  std::unordered_map<std::string, size_t> row_of;
  for (const Program& program : corpus.programs) {
    if (!profiles_of.contains(program.id) && !options.include_unprofiled) continue;
    if (!program.excluded.empty() && !options.include_excluded) continue;
    const auto& groups = options.groups;
    if (!groups.empty() && std::find(groups.begin(), groups.end(), program.group) == groups.end()) continue;
    if (row_of.try_emplace(program.id, programs.size()).second) programs.push_back(&program);
  }
  std::unordered_map<std::string, size_t> column_of;
  for (size_t i = 0; i < corpus.platforms.size(); ++i) column_of.try_emplace(corpus.platforms[i].id, i);

  std::vector<std::string> servers{""};
  for (const Run& run : corpus.runs) {
    if (servers.back() != run.server) servers.push_back(run.server);
  }
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  std::unordered_map<std::string, size_t> rank_of;
  for (size_t i = 0; i < servers.size(); ++i) rank_of.emplace(servers[i], i);

  const size_t columns = corpus.platforms.size();
  std::vector<std::vector<Measurement>> cells(programs.size() * columns);
  for (const Run& run : corpus.runs) {
    if (run.threads != options.threads || !(run.time_s > 0) || !std::isfinite(run.time_s)) continue;
    const auto row = row_of.find(run.program);
    const auto column = column_of.find(run.platform);
    if (row == row_of.end() || column == column_of.end()) continue;
    cells[row->second * columns + column->second].push_back({rank_of.at(run.server), std::log(run.time_s)});
  }

  const auto measured_programs = [&](size_t column) {
    size_t count = 0;
    for (size_t row = 0; row < programs.size(); ++row) count += cells[row * columns + column].empty() ? 0 : 1;
    return count;
  };
  size_t programs_measured = 0;
  for (size_t row = 0; row < programs.size(); ++row) {
    bool any = false;
    for (size_t column = 0; column < columns && !any; ++column) any = !cells[row * columns + column].empty();
    programs_measured += any ? 1 : 0;
  }
  std::vector<size_t> kept;
  if (options.platforms.empty()) {
    for (size_t column = 0; column < columns; ++column) {
      const size_t count = measured_programs(column);
      if (count > 0 &&
          static_cast<double>(count) >= options.minimum_coverage * static_cast<double>(programs_measured)) {
        kept.push_back(column);
      }
    }
  } else {
    for (const size_t column : *wanted) {
      if (measured_programs(column) == 0) {
        return Error{"empty-corpus",
                     "no program with a profile was measured on the platform '" + corpus.platforms[column].name + "'",
                     "", "a platform with runs; see: perfcast corpus check"};
      }
      kept.push_back(column);
    }
  }

  std::set<std::string> elsewhere;  // platforms of the corpus that are not the table's
  for (const Platform& platform : corpus.platforms) elsewhere.insert(platform.name);
  for (const size_t column : kept) elsewhere.erase(corpus.platforms[column].name);
  TrainingTable table;
  for (const size_t column : kept) table.platforms.push_back(corpus.platforms[column]);
  for (size_t row = 0; row < programs.size(); ++row) {
    std::vector<std::optional<PlatformTime>> times;
    size_t measured = 0;
    for (const size_t column : kept) {
      std::vector<Measurement>& cell = cells[row * columns + column];
      times.push_back(cell.empty() ? std::nullopt : std::optional(fold(std::move(cell))));
      measured += times.back().has_value() ? 1 : 0;
    }
    if (measured < (options.complete_rows ? kept.size() : 1)) continue;
    auto known = profiles_of.find(programs[row]->id);
    if (options.every_profile && known != profiles_of.end()) {
      std::erase_if(known->second, [&](const Profile* profile) { return elsewhere.contains(profile->host.name); });
    }
    const size_t samples = known == profiles_of.end() ? 1 : known->second.size();
    for (size_t sample = 0; sample < samples; ++sample) {
      table.programs.push_back(*programs[row]);
      table.profiles.push_back(known == profiles_of.end() ? Profile() : *known->second[sample]);
      table.times.insert(table.times.end(), times.begin(), times.end());
    }
  }
  if (table.programs.empty() || table.platforms.empty()) {
    return Error{"empty-corpus",
                 "no program of the corpus has both a profile and measured times (" +
                     std::to_string(corpus.programs.size()) + " programs, " + std::to_string(corpus.profiles.size()) +
                     " profiles, " + std::to_string(corpus.runs.size()) + " runs)",
                 "", "runs from `perfcast import` and profiles from `perfcast collect` of the same programs"};
  }
  table.inputs = options.inputs;
  if (options.inputs.source == InputChoice::Source::kFacts) {
    std::set<std::string> hosts;
    for (const Profile& profile : table.profiles) hosts.insert(profile.host.name);
    for (const Platform& platform : corpus.platforms) {
      if (hosts.contains(platform.name)) table.inputs.facts[platform.name] = platform.facts;
    }
  }
  return table;
}

}  // namespace perfcast
