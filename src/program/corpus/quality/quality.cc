#include "program/corpus/quality/quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/statistics.h"
#include "base/unknown.h"
#include "machine/facts/chip_names.h"

namespace perfcast::program {
namespace {

constexpr double kPairApartRatio = 1.05;
constexpr int64_t kFewServers = 3;
constexpr double kSmallestDeviation = 0.005;  // of log time: below, rounding decides what is an outlier
constexpr size_t kOutliersNamed = 10;
constexpr double kEqualShare = 0.9;
constexpr double kEqualRatio = 0.002;  // programs whose times differ less, typically, are one program twice
constexpr size_t kFewestInCommon = 20;

// The halves of the servers, centred over the platforms that have both.
struct Halves {
  std::vector<double> a, b;
  int64_t drawn = 0;  // of them
};

Halves halves_of(const TrainingTable& table, size_t row) {
  Halves halves;
  for (size_t column = 0; column < table.platforms.size(); ++column) {
    const auto& time = table.at(row, column);
    if (!time || std::isnan(time->half_a) || std::isnan(time->half_b)) continue;
    halves.a.push_back(time->half_a);
    halves.b.push_back(time->half_b);
    halves.drawn += time->drawn_halves ? 1 : 0;
  }
  for (std::vector<double>* side : {&halves.a, &halves.b}) {
    const double centre = side->empty() ? 0 : mean(*side);
    for (double& value : *side) value -= centre;
  }
  return halves;
}

NoiseFloor noise_floor(const std::string& group, const std::vector<Halves>& rows) {
  std::vector<double> errors, truths;
  double squared_error = 0;
  int64_t pairs = 0, right = 0, drawn = 0;
  for (const Halves& row : rows) {
    if (row.a.size() < 2) continue;
    drawn += row.drawn;
    for (size_t i = 0; i < row.a.size(); ++i) {
      const double difference = row.b[i] - row.a[i];
      errors.push_back(std::abs(std::exp(difference) - 1));
      truths.push_back(row.a[i]);
      squared_error += difference * difference;
      for (size_t j = 0; j < i; ++j) {
        const double apart = row.a[i] - row.a[j];
        if (std::abs(apart) <= std::log(kPairApartRatio)) continue;
        ++pairs;
        right += apart * (row.b[i] - row.b[j]) > 0 ? 1 : 0;
      }
    }
  }
  NoiseFloor floor;
  floor.group = group;
  floor.entries_count = static_cast<int64_t>(errors.size());
  floor.drawn_entries_count = drawn;
  if (errors.empty()) return floor;
  floor.mape_ratio = mean(errors);
  floor.median_error_ratio = median(errors);
  const double centre = mean(truths);
  double spread = 0;
  for (const double truth : truths) spread += (truth - centre) * (truth - centre);
  if (spread > 0) floor.r2_log = 1 - squared_error / spread;
  if (pairs > 0) floor.pair_order = static_cast<double>(right) / static_cast<double>(pairs);
  return floor;
}

// Platforms by what a host tells of itself.
class HostLabels {
 public:
  explicit HostLabels(const TrainingTable& table) : table_(table) {}

  // Column of the host's own platform: by its verbatim name (with the generation, where the name hides it) or, if it is
  // the only one of its generation, by that.
  std::optional<size_t> platform_of(const HostFacts& host) const {
    std::optional<size_t> called, kin;
    int64_t called_count = 0, kin_count = 0;
    for (size_t column = 0; column < table_.platforms.size(); ++column) {
      const Platform& platform = table_.platforms[column];
      if (!host.name.empty() && platform.name == host.name) return column;
      if (may_be_one_cpu(platform.name, host.name)) {
        called = column;
        ++called_count;
      }
      const bool same_generation = host.cpu_family && host.model && platform.cpu_family == host.cpu_family &&
                                   platform.model == host.model && platform.arch == host.arch;
      if (!same_generation) continue;
      if (!host.name.empty() && platform.name.starts_with(host.name + " (")) return column;
      kin = column;
      ++kin_count;
    }
    if (called_count > 0) return called_count == 1 ? called : std::nullopt;
    return kin_count == 1 ? kin : std::nullopt;
  }

 private:
  const TrainingTable& table_;
};

std::optional<double> cpu_seconds_per_work(const Profile& profile) {
  const auto cpu_s = profile.metrics.find("cpu_s");
  if (cpu_s == profile.metrics.end() || !(cpu_s->second > 0)) return std::nullopt;
  if (!profile.work_units || !(*profile.work_units > 0)) return std::nullopt;
  return cpu_s->second / *profile.work_units;
}

// Runs of one program on one platform with one thread count.
using CellRuns = std::vector<const Run*>;

class Checker {
 public:
  explicit Checker(const Corpus& corpus) : corpus_(corpus) {}
  QualityCard check();

 private:
  void count_runs();
  void fold_times();
  void judge_groups();
  void find_outliers();
  void find_odd_times();
  void find_equal_programs();

  const Corpus& corpus_;
  QualityCard card_;
  std::unordered_map<std::string, size_t> program_index_, platform_index_;
  std::map<std::tuple<size_t, size_t, int64_t>, CellRuns> cells_;  // program, platform, threads
};

QualityCard Checker::check() {
  card_.sources_count = static_cast<int64_t>(corpus_.sources.size());
  card_.platforms_count = static_cast<int64_t>(corpus_.platforms.size());
  card_.servers_count = static_cast<int64_t>(corpus_.servers.size());
  card_.programs_count = static_cast<int64_t>(corpus_.programs.size());
  card_.runs_count = static_cast<int64_t>(corpus_.runs.size());
  card_.profiles_count = static_cast<int64_t>(corpus_.profiles.size());
  card_.exclusions = corpus_.exclusions;
  for (const Program& program : corpus_.programs) {
    program_index_.emplace(program.id, card_.programs.size());
    ProgramQuality quality;
    quality.id = program.id;
    quality.family = program.family;
    quality.group = program.group;
    quality.excluded = program.excluded;
    card_.programs.push_back(std::move(quality));
  }
  for (const Platform& platform : corpus_.platforms) {
    platform_index_.emplace(platform.id, card_.platforms.size());
    card_.platforms.push_back({platform.id, platform.name, 0, 0});
  }
  for (const StoredProfile& stored : corpus_.profiles) {
    const auto program = program_index_.find(stored.program);
    if (program != program_index_.end()) card_.programs[program->second].has_profile = true;
  }
  count_runs();
  fold_times();
  judge_groups();
  find_outliers();
  find_odd_times();
  find_equal_programs();
  for (const ProgramQuality& program : card_.programs) {
    if (program.has_profile && program.runs_count == 0) card_.profiles_without_runs.push_back(program.id);
  }
  return std::move(card_);
}

void Checker::count_runs() {
  std::vector<std::set<std::string>> servers(card_.platforms.size());
  std::vector<std::set<size_t>> programs(card_.platforms.size()), platforms(card_.programs.size());
  std::vector<std::set<int64_t>> threads(card_.programs.size());
  for (const Run& run : corpus_.runs) {
    const auto program = program_index_.find(run.program);
    const auto platform = platform_index_.find(run.platform);
    if (program == program_index_.end() || platform == platform_index_.end()) continue;
    servers[platform->second].insert(run.server);
    programs[platform->second].insert(program->second);
    platforms[program->second].insert(platform->second);
    threads[program->second].insert(run.threads);
    ++card_.programs[program->second].runs_count;
    cells_[{program->second, platform->second, run.threads}].push_back(&run);
  }
  for (size_t i = 0; i < card_.platforms.size(); ++i) {
    card_.platforms[i].servers_count = static_cast<int64_t>(servers[i].size());
    card_.platforms[i].programs_count = static_cast<int64_t>(programs[i].size());
    if (card_.platforms[i].servers_count < kFewServers) ++card_.platforms_below_three_servers_count;
    card_.near_duplicate_servers_count += std::max<int64_t>(0, card_.platforms[i].servers_count - 1);
  }
  for (size_t i = 0; i < card_.programs.size(); ++i) {
    card_.programs[i].platforms_count = static_cast<int64_t>(platforms[i].size());
    card_.programs[i].threads.assign(threads[i].begin(), threads[i].end());
  }
}

void Checker::fold_times() {
  std::set<int64_t> thread_counts;
  for (const Run& run : corpus_.runs) thread_counts.insert(run.threads);
  std::map<std::string, std::vector<Halves>> by_group;
  std::vector<Halves> all;
  for (const int64_t threads : thread_counts) {
    TableOptions options;
    options.threads = threads;
    options.include_excluded = true;
    options.include_unprofiled = true;
    options.minimum_coverage = 0;
    const auto table = make_training_table(corpus_, options);
    if (!table) continue;
    const HostLabels labels(*table);
    for (size_t row = 0; row < table->programs.size(); ++row) {
      ProgramQuality& program = card_.programs[program_index_.at(table->programs[row].id)];
      std::vector<double> spreads;
      for (size_t column = 0; column < table->platforms.size(); ++column) {
        const auto& time = table->at(row, column);
        if (time && !std::isnan(time->log_spread)) spreads.push_back(time->log_spread);
      }
      if (!spreads.empty()) program.spread_ratio = std::expm1(median(std::move(spreads)));
      Halves halves = halves_of(*table, row);
      if (halves.a.size() >= 2) program.noise_mape_ratio = noise_floor("", {halves}).mape_ratio;
      const auto host = labels.platform_of(table->profiles[row].host);
      const auto time_s = cpu_seconds_per_work(table->profiles[row]);
      if (host) program.host_platform = table->platforms[*host].id;
      if (host && time_s && table->at(row, *host)) {
        program.host_label_ratio = *time_s / std::exp(table->at(row, *host)->log_time);
      }
      if (!program.excluded.empty()) continue;
      by_group[program.group].push_back(halves);
      all.push_back(std::move(halves));
    }
  }
  for (const auto& [group, rows] : by_group) card_.noise.push_back(noise_floor(group, rows));
  card_.noise.push_back(noise_floor("all", all));
}

void Checker::judge_groups() {
  std::map<std::string, GroupQuality> groups;
  std::map<std::string, std::map<std::string, int64_t>> families;
  std::map<std::string, int64_t> filled;
  for (const ProgramQuality& program : card_.programs) {
    GroupQuality& group = groups[program.group];
    group.group = program.group;
    ++group.programs_count;
    group.excluded_count += program.excluded.empty() ? 0 : 1;
    group.with_profile_count += program.has_profile ? 1 : 0;
    ++families[program.group][program.family];
    filled[program.group] += program.platforms_count;
  }
  for (auto& [name, group] : groups) {
    group.families_count = static_cast<int64_t>(families[name].size());
    for (const auto& [family, count] : families[name]) {
      if (count <= group.largest_family_programs_count) continue;
      group.largest_family = family;
      group.largest_family_programs_count = count;
    }
    const auto pairs = static_cast<double>(group.programs_count * card_.platforms_count);
    group.coverage_ratio = pairs > 0 ? static_cast<double>(filled[name]) / pairs : 0;
    card_.groups.push_back(group);
  }
}

std::vector<OutlierCount> worst(const std::map<std::string, int64_t>& counts) {
  std::vector<OutlierCount> result;
  result.reserve(counts.size());
  for (const auto& [name, count] : counts) result.push_back({name, count});
  std::stable_sort(result.begin(), result.end(),
                   [](const OutlierCount& a, const OutlierCount& b) { return a.count > b.count; });
  if (result.size() > kOutliersNamed) result.resize(kOutliersNamed);
  return result;
}

void Checker::find_outliers() {
  std::map<std::string, int64_t> by_program, by_server;
  for (const auto& [key, cell] : cells_) {
    if (cell.size() < kRunsForOutliers) continue;
    std::vector<double> log_times;
    for (const Run* run : cell) log_times.push_back(std::log(run->time_s));
    const double centre = median(log_times);
    const double deviation = std::max(robust_deviation(log_times), kSmallestDeviation);
    card_.outliers_compared_count += static_cast<int64_t>(cell.size());
    for (size_t i = 0; i < cell.size(); ++i) {
      if (std::abs(log_times[i] - centre) <= kOutlierDeviations * deviation) continue;
      ++card_.outliers_count;
      ++by_program[cell[i]->program];
      if (!cell[i]->server.empty()) ++by_server[cell[i]->server];
    }
  }
  card_.outlier_programs = worst(by_program);
  card_.outlier_servers = worst(by_server);
}

// Log times are taken as a program's plus a platform's part (Tukey's median polish): what is left is odd.
void Checker::find_odd_times() {
  constexpr int kRounds = 20;
  struct Cell {
    size_t program, platform;
    double log_time, left;
  };
  std::map<int64_t, std::vector<Cell>> tables;  // by threads
  for (const auto& [key, runs] : cells_) {
    std::vector<double> log_times;
    for (const Run* run : runs) log_times.push_back(std::log(run->time_s));
    const double time = median(std::move(log_times));
    if (std::isfinite(time)) tables[std::get<2>(key)].push_back({std::get<0>(key), std::get<1>(key), time, time});
  }
  for (auto& table : tables) {
    std::vector<Cell>& cells = table.second;
    std::vector<double> by_program, by_platform;  // robust deviation of what is left
    const auto each = [&cells](size_t Cell::*side, size_t count, auto&& visit) {
      std::vector<std::vector<Cell*>> lines(count);
      for (Cell& cell : cells) lines[cell.*side].push_back(&cell);
      for (size_t i = 0; i < count; ++i) {
        std::vector<double> left;
        for (const Cell* cell : lines[i]) left.push_back(cell->left);
        if (!left.empty()) visit(i, lines[i], left);
      }
    };
    // Lines that are too short to say anything leave, which may shorten others.
    for (size_t before = cells.size() + 1; before > cells.size();) {
      before = cells.size();
      std::set<const Cell*> leaves;
      const auto short_ones = [&](size_t, const std::vector<Cell*>& line, const std::vector<double>&) {
        if (line.size() < kFewestForOdd) leaves.insert(line.begin(), line.end());
      };
      each(&Cell::program, card_.programs.size(), short_ones);
      each(&Cell::platform, card_.platforms.size(), short_ones);
      std::vector<Cell> stay;
      for (const Cell& cell : cells) {
        if (!leaves.contains(&cell)) stay.push_back(cell);
      }
      cells = std::move(stay);
    }
    if (cells.empty()) continue;
    const auto take_median = [](size_t, const std::vector<Cell*>& line, const std::vector<double>& left) {
      const double part = median(left);
      for (Cell* cell : line) cell->left -= part;
    };
    for (int round = 0; round < kRounds; ++round) {
      each(&Cell::program, card_.programs.size(), take_median);
      each(&Cell::platform, card_.platforms.size(), take_median);
    }
    by_program.assign(card_.programs.size(), 0);
    by_platform.assign(card_.platforms.size(), 0);
    std::vector<double> all;
    for (const Cell& cell : cells) all.push_back(cell.left);
    const double deviation = std::max(robust_deviation(all), kSmallestDeviation);
    each(&Cell::program, by_program.size(),
         [&](size_t i, const auto&, const std::vector<double>& left) { by_program[i] = robust_deviation(left); });
    each(&Cell::platform, by_platform.size(),
         [&](size_t i, const auto&, const std::vector<double>& left) { by_platform[i] = robust_deviation(left); });
    card_.odd_compared_count += static_cast<int64_t>(cells.size());
    for (const Cell& cell : cells) {
      const double usual = std::max({deviation, by_program[cell.program], by_platform[cell.platform]});
      if (std::abs(cell.left) < std::max(kOutlierDeviations * usual, std::log(kOddRatio))) continue;
      card_.odd_times.push_back({card_.programs[cell.program].id, card_.platforms[cell.platform].id, table.first,
                                 std::exp(cell.log_time), std::exp(cell.log_time - cell.left)});
    }
  }
  card_.odd_times_count = static_cast<int64_t>(card_.odd_times.size());
  std::ranges::stable_sort(card_.odd_times, [](const OddTime& a, const OddTime& b) {
    return std::abs(std::log(a.ratio())) > std::abs(std::log(b.ratio()));
  });
  if (card_.odd_times.size() > kOutliersNamed) card_.odd_times.resize(kOutliersNamed);
}

void Checker::find_equal_programs() {
  // Log times of each program in one order of machines.
  std::unordered_map<std::string, size_t> machines;
  for (const Run& run : corpus_.runs) machines.emplace(run.platform + " " + run.server, machines.size());
  std::vector<std::vector<double>> log_times(card_.programs.size(), std::vector<double>(machines.size(), kUnknown));
  for (const Run& run : corpus_.runs) {
    const auto program = program_index_.find(run.program);
    if (program == program_index_.end()) continue;
    log_times[program->second][machines.at(run.platform + " " + run.server)] = std::log(run.time_s);
  }
  for (size_t a = 0; a < log_times.size(); ++a) {
    for (size_t b = a + 1; b < log_times.size(); ++b) {
      std::vector<double> ratios;
      size_t equal = 0;
      for (size_t i = 0; i < machines.size(); ++i) {
        const double ratio = std::abs(log_times[a][i] - log_times[b][i]);
        if (std::isnan(ratio)) continue;
        ratios.push_back(ratio);
        equal += ratio == 0 ? 1 : 0;
      }
      if (ratios.size() < kFewestInCommon) continue;
      const double share = static_cast<double>(equal) / static_cast<double>(ratios.size());
      const double typical = std::expm1(median(std::move(ratios)));
      if (share < kEqualShare && typical > kEqualRatio) continue;
      card_.equal_programs.push_back({card_.programs[a].id, card_.programs[b].id, share, typical});
    }
  }
}

}  // namespace

QualityCard check_quality(const Corpus& corpus) { return Checker(corpus).check(); }

}  // namespace perfcast::program
