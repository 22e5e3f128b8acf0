#include "program/corpus/corpus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "program/corpus/good_profile.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {
namespace {

// How much a cell's spread is worth beside the program's typical one: as much as that of a cell of five results, the
// median number that openbenchmarking.org publishes.
constexpr double kPriorFreedom = 4;
// Log time. Results of one CPU model by other people on other boards and kernels differ by more than the spread of one
// cell over the root of its count: 1.4% beyond it, the median over a dozen pairs of near-twin CPUs in the published
// means (0.5 to 3.7%).
constexpr double kHostError = 0.014;
constexpr double kSmallestSpread = 0.005;     // of log time: below, rounding decides
constexpr double kMedianVariance = M_PI / 2;  // of a median over that of a mean, of many normal values

struct Measurement {
  size_t server_rank;  // place of the server's name in the sorted list
  double log_time;
  int64_t results = 0;  // that it is the mean of; 0: it is one
  double log_spread = kUnknown;
  size_t source = 0;
  bool operator<(const Measurement& other) const {
    return std::tie(server_rank, log_time) < std::tie(other.server_rank, other.log_time);
  }
};

// What a cell tells about the spread of its results.
struct CellSpread {
  double variance = kUnknown;  // of log time
  double freedom = 0;          // degrees of; 0: nothing
  bool of_means = false;       // the results were published as means
};

struct Cell {
  PlatformTime time;
  CellSpread spread;
};

// Means are pooled by count, their differences being spread of the results too: one CPU model in hosts of one and of
// two sockets.
Cell fold_means(const std::vector<Measurement>& measurements) {
  Cell cell;
  cell.spread.of_means = true;
  double sum = 0;
  for (const Measurement& one : measurements) {
    const int64_t results = std::max<int64_t>(one.results, 1);
    cell.time.results += results;
    sum += static_cast<double>(results) * one.log_time;
  }
  const auto count = static_cast<double>(cell.time.results);
  cell.time.servers = static_cast<int64_t>(measurements.size());
  cell.time.log_time = sum / count;
  cell.spread.freedom = static_cast<double>(measurements.size() - 1);
  double squares = 0;
  for (const Measurement& one : measurements) {
    const auto results = static_cast<double>(std::max<int64_t>(one.results, 1));
    squares += results * (one.log_time - cell.time.log_time) * (one.log_time - cell.time.log_time);
    if (results < 2 || std::isnan(one.log_spread)) continue;
    squares += (results - 1) * one.log_spread * one.log_spread;
    cell.spread.freedom += results - 1;
  }
  cell.spread.variance = cell.spread.freedom > 0 ? squares / cell.spread.freedom : kUnknown;
  cell.time.log_spread = std::sqrt(cell.spread.variance);
  cell.time.half_a = cell.time.half_b = kUnknown;
  return cell;
}

size_t main_source(const std::vector<Measurement>& measurements) {
  std::map<size_t, int64_t> results;
  for (const Measurement& one : measurements) results[one.source] += std::max<int64_t>(one.results, 1);
  return std::max_element(results.begin(), results.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Cell fold(std::vector<Measurement> measurements) {
  std::sort(measurements.begin(), measurements.end());
  const auto is_mean = [](const Measurement& one) { return one.results > 0; };
  if (std::any_of(measurements.begin(), measurements.end(), is_mean)) return fold_means(measurements);
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
  Cell cell;
  PlatformTime& time = cell.time;
  time.servers = time.results = static_cast<int64_t>(all.size());
  time.log_spread = all.size() < 2 ? kUnknown : robust_deviation(all);
  time.half_a = all.size() < 2 ? kUnknown : median(std::move(halves[0]));
  time.half_b = all.size() < 2 ? kUnknown : median(std::move(halves[1]));
  time.log_time = median(std::move(all));
  if (time.servers >= 2) {
    cell.spread.variance = time.log_spread * time.log_spread;
    cell.spread.freedom = static_cast<double>(time.servers - 1);
  }
  return cell;
}

// The same for the same ids, in whatever corpus.
uint64_t seed_of(const std::string& program, const std::string& platform) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::string* text : {&program, &platform}) {
    for (const char c : *text + '\n') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

// Half of the results and the other half lie about the mean of all, as far from it as that is from the truth.
void draw_halves(PlatformTime& time, uint64_t seed) {
  const double away = Random(seed).normal() * time.log_error;
  time.half_a = time.log_time + away;
  time.half_b = time.log_time - away;
  time.drawn_halves = true;
}

// Standard errors, for which a cell's own spread is too little to go by: few have more than five results. `spreads`: as
// table.times.
void settle_errors(const std::vector<CellSpread>& spreads, TrainingTable& table) {
  const size_t columns = table.platforms.size();
  std::vector<double> typical;  // by program: variance
  for (size_t row = 0; row < table.programs.size(); ++row) {
    std::vector<double> known;
    for (size_t column = 0; column < columns; ++column) {
      const CellSpread& spread = spreads[row * columns + column];
      if (spread.freedom > 0) known.push_back(spread.variance);
    }
    typical.push_back(median(std::move(known)));
  }
  const double overall = median_of_known(typical);
  for (size_t row = 0; row < table.programs.size(); ++row) {
    const double prior = std::isnan(typical[row]) ? overall : typical[row];
    for (size_t column = 0; column < columns && !std::isnan(prior); ++column) {
      auto& time = table.times[row * columns + column];
      if (!time) continue;
      const CellSpread& spread = spreads[row * columns + column];
      const double own = spread.freedom > 0 ? spread.freedom * spread.variance : 0;
      const double variance =
          std::max((kPriorFreedom * prior + own) / (kPriorFreedom + spread.freedom), kSmallestSpread * kSmallestSpread);
      const double of_centre = variance / static_cast<double>(time->results);
      if (!spread.of_means) {
        time->log_error = std::sqrt(of_centre * (time->results > 2 ? kMedianVariance : 1));
        continue;
      }
      time->log_error = std::sqrt(of_centre + kHostError * kHostError);
      if (time->results >= 2) draw_halves(*time, seed_of(table.programs[row].id, table.platforms[column].id));
    }
  }
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

const Profile* good_profile(const StoredProfile& stored, bool include_doubtful) {
  const Profile& profile = stored.profile;
  if (profile.exit_code.value_or(0) != 0 || profile.signal) return nullptr;
  const bool doubtful = std::any_of(profile.warnings.begin(), profile.warnings.end(), is_doubtful);
  return doubtful && !include_doubtful ? nullptr : &profile;
}

TrainingTable TrainingTable::with_programs(const std::vector<size_t>& indices) const {
  TrainingTable table;
  table.inputs = inputs;
  table.sources = sources;
  table.platforms = platforms;
  table.times.reserve(indices.size() * platforms.size());
  for (const size_t row : indices) {
    table.programs.push_back(programs[row]);
    table.profiles.push_back(profiles[row]);
    for (size_t column = 0; column < platforms.size(); ++column) table.times.push_back(at(row, column));
  }
  // A family is left out with all that is known of it.
  std::set<std::string> mine, kept;
  for (const Program& program : programs) mine.insert(program.family);
  for (const Program& program : table.programs) kept.insert(program.family);
  for (size_t row = 0; row < companions.size(); ++row) {
    if (mine.contains(companions[row].family) && !kept.contains(companions[row].family)) continue;
    table.companions.push_back(companions[row]);
    const auto first = companion_times.begin() + static_cast<std::ptrdiff_t>(row * platforms.size());
    table.companion_times.insert(table.companion_times.end(), first,
                                 first + static_cast<std::ptrdiff_t>(platforms.size()));
  }
  return table;
}

TrainingTable TrainingTable::with_platforms(const std::vector<size_t>& indices) const {
  TrainingTable table;
  table.inputs = inputs;
  table.sources = sources;
  table.programs = programs;
  table.profiles = profiles;
  for (const size_t column : indices) table.platforms.push_back(platforms[column]);
  table.times.reserve(programs.size() * indices.size());
  for (size_t row = 0; row < programs.size(); ++row) {
    for (const size_t column : indices) table.times.push_back(at(row, column));
  }
  table.companions = companions;
  for (size_t row = 0; row < companions.size(); ++row) {
    for (const size_t column : indices)
      table.companion_times.push_back(companion_times[row * platforms.size() + column]);
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

  TrainingTable table;
  std::map<std::string, size_t> source_of;  // id of a source -> its kind's place
  for (const Run& run : corpus.runs) source_of.emplace(run.source, 0);
  std::set<std::string> kinds;
  for (const auto& [source, place] : source_of) kinds.insert(source_kind(source));
  table.sources.assign(kinds.begin(), kinds.end());
  for (auto& [source, place] : source_of) {
    place = static_cast<size_t>(std::distance(kinds.begin(), kinds.find(source_kind(source))));
  }

  const size_t columns = corpus.platforms.size();
  std::vector<std::vector<Measurement>> cells(programs.size() * columns);
  for (const Run& run : corpus.runs) {
    if (run.threads != options.threads || !(run.time_s > 0) || !std::isfinite(run.time_s)) continue;
    const auto row = row_of.find(run.program);
    const auto column = column_of.find(run.platform);
    if (row == row_of.end() || column == column_of.end()) continue;
    Measurement measurement{rank_of.at(run.server), std::log(run.time_s)};
    measurement.results = run.results_count.value_or(0);
    measurement.source = source_of.at(run.source);
    // Of values that lie about their mean with this ratio, those of their logarithms: exact for log-normal ones.
    if (run.spread_ratio) measurement.log_spread = std::sqrt(std::log1p(*run.spread_ratio * *run.spread_ratio));
    cells[row->second * columns + column->second].push_back(measurement);
  }

  // Others that were timed are the table's companions.
  const auto is_row = [&](const Program& program) {
    return options.include_unprofiled || profiles_of.contains(program.id);
  };
  const auto measured_programs = [&](size_t column) {
    size_t count = 0;
    for (size_t row = 0; row < programs.size(); ++row) {
      count += is_row(*programs[row]) && !cells[row * columns + column].empty() ? 1 : 0;
    }
    return count;
  };
  size_t programs_measured = 0;
  for (size_t row = 0; row < programs.size(); ++row) {
    bool any = false;
    if (!is_row(*programs[row])) continue;
    for (size_t column = 0; column < columns && !any; ++column) any = !cells[row * columns + column].empty();
    programs_measured += any ? 1 : 0;
  }
  const double fewest = options.minimum_programs > 0
                            ? static_cast<double>(options.minimum_programs)
                            : options.minimum_coverage * static_cast<double>(programs_measured);
  const auto is_asked_for = [&](size_t column) {
    const auto& segments = options.segments;
    return segments.empty() ||
           std::find(segments.begin(), segments.end(), corpus.platforms[column].segment) != segments.end();
  };
  std::vector<size_t> kept;
  if (options.platforms.empty()) {
    for (size_t column = 0; column < columns; ++column) {
      const size_t count = measured_programs(column);
      if (count > 0 && static_cast<double>(count) >= fewest && is_asked_for(column)) kept.push_back(column);
    }
  } else {
    for (const size_t column : *wanted) {
      if (measured_programs(column) == 0) {
        return Error{"empty-corpus",
                     "no program with a profile was measured on the platform '" + corpus.platforms[column].name + "'",
                     "", "a platform with runs; see: perfcast corpus check"};
      }
      if (is_asked_for(column)) kept.push_back(column);
    }
  }

  std::set<std::string> elsewhere;  // platforms of the corpus that are not the table's
  for (const Platform& platform : corpus.platforms) elsewhere.insert(platform.name);
  for (const size_t column : kept) elsewhere.erase(corpus.platforms[column].name);
  for (const size_t column : kept) table.platforms.push_back(corpus.platforms[column]);
  std::vector<CellSpread> spreads;  // as table.times
  TrainingTable others;             // without profiles
  others.platforms = table.platforms;
  std::vector<CellSpread> of_others;
  for (size_t row = 0; row < programs.size(); ++row) {
    std::vector<std::optional<PlatformTime>> times;
    std::vector<CellSpread> of_row;
    size_t measured = 0;
    for (const size_t column : kept) {
      std::vector<Measurement>& measurements = cells[row * columns + column];
      Cell cell = measurements.empty() ? Cell() : fold(measurements);
      if (!measurements.empty()) cell.time.source = main_source(measurements);
      times.push_back(measurements.empty() ? std::nullopt : std::optional(cell.time));
      of_row.push_back(cell.spread);
      measured += times.back().has_value() ? 1 : 0;
    }
    if (measured < (options.complete_rows ? kept.size() : 1)) continue;
    if (!is_row(*programs[row])) {
      others.programs.push_back(*programs[row]);
      others.times.insert(others.times.end(), times.begin(), times.end());
      of_others.insert(of_others.end(), of_row.begin(), of_row.end());
      continue;
    }
    auto known = profiles_of.find(programs[row]->id);
    if (options.every_profile && known != profiles_of.end()) {
      std::erase_if(known->second, [&](const Profile* profile) { return elsewhere.contains(profile->host.name); });
    }
    const size_t samples = known == profiles_of.end() ? 1 : known->second.size();
    for (size_t sample = 0; sample < samples; ++sample) {
      table.programs.push_back(*programs[row]);
      table.profiles.push_back(known == profiles_of.end() ? Profile() : *known->second[sample]);
      table.times.insert(table.times.end(), times.begin(), times.end());
      spreads.insert(spreads.end(), of_row.begin(), of_row.end());
    }
  }
  if (table.programs.empty() || table.platforms.empty()) {
    return Error{
        "empty-corpus",
        "no program of the corpus has both a profile and measured times (" + std::to_string(corpus.programs.size()) +
            " programs, " + std::to_string(corpus.profiles.size()) + " profiles, " +
            std::to_string(corpus.runs.size()) + " runs)",
        "",
        "runs from `perfcast import` and profiles from `perfcast collect` of the same programs; where both are "
        "there, a smaller --minimum-programs or --minimum-coverage, or other --groups and --platforms"};
  }
  settle_errors(spreads, table);
  settle_errors(of_others, others);
  table.companions = std::move(others.programs);
  table.companion_times = std::move(others.times);
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

}  // namespace perfcast::program
