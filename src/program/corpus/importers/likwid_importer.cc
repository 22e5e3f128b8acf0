#include "program/corpus/importers/likwid_importer.h"

#include <algorithm>
#include <set>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

// The same event under other vendors' names.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"RETIRED_INSTRUCTIONS", "INSTR_RETIRED_ANY"},
    {"INST_RETIRED", "INSTR_RETIRED_ANY"},
    {"CPU_CLOCKS_UNHALTED", "CPU_CLK_UNHALTED_CORE"},
    {"CPU_CYCLES", "CPU_CLK_UNHALTED_CORE"},
    {"RETIRED_BRANCH_INSTR", "BR_INST_RETIRED_ALL_BRANCHES"},
    {"RETIRED_MISP_BRANCH_INSTR", "BR_MISP_RETIRED_ALL_BRANCHES"}};

std::string canonical(const std::string& event) {
  for (const auto& [other, name] : kAliases) {
    if (event == other) return std::string(name);
  }
  return event;
}

bool is_run_time(std::string_view name) { return name == "Runtime (RDTSC) [s]" || name == "RDTSC Runtime [s]"; }

class LikwidReader {
 public:
  explicit LikwidReader(const ToolFileNames& names) : names_(names) {}

  void read(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
      std::vector<std::string> cells = split(line, ',');
      for (std::string& cell : cells) cell = std::string(trim(cell));
      if (cells[0] == "STRUCT") {
        table_ = Table::kNone;
      } else if (cells[0] == "TABLE") {
        start_table(cells);
      } else if (cells[0] == "CPU name:" && cells.size() > 1) {
        cpu_ = cells[1];
      } else if (table_ != Table::kNone && cells.size() > 1) {
        read_row(cells);
      }
    }
  }

  std::vector<StoredProfile> finish() {
    std::vector<StoredProfile> profiles;
    for (auto& [region, state] : regions_) {
      if (!state.has_event) continue;
      state.profile.set_host(names_.host.empty() ? cpu_ : names_.host);
      if (state.wall_s > 0) state.profile.set("wall_s", state.wall_s);
      if (state.groups.size() > 1) {
        state.profile.warn("multiplexed",
                           std::to_string(state.groups.size()) +
                               " groups were measured in turns: each event holds for "
                               "its group's share of the run",
                           "one group for each run");
      }
      profiles.push_back(std::move(state.profile)
                             .finish(region.empty() ? names_.program : names_.program + "." + program_id_of(region)));
    }
    return profiles;
  }

 private:
  enum class Table { kNone, kRaw, kMetric };
  struct Region {
    ToolProfile profile{"likwid", "likwid", "likwid_"};
    double wall_s = 0;
    bool has_event = false;
    std::set<std::string> groups;
    std::map<std::string, std::string> group_of;  // event and counter -> group
  };

  // TABLE,Group 1 Raw,FLOPS_DP,7 or TABLE,Region main,Group 1 Raw,FLOPS_DP,7
  void start_table(const std::vector<std::string>& cells) {
    size_t at = 1;
    std::string region;
    if (cells.size() > 2 && cells[1].starts_with("Region ")) {
      region = cells[1].substr(std::string_view("Region ").size());
      at = 2;
    }
    const std::string title = cells.size() > at ? cells[at] : "";
    table_ = title.ends_with(" Raw") ? Table::kRaw : title.ends_with(" Metric") ? Table::kMetric : Table::kNone;
    if (table_ == Table::kNone) return;
    group_ = title.substr(0, title.rfind(' '));
    region_ = &regions_[region];
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells[0] == "Event" || cells[0] == "Metric" || cells[0] == "Region Info" || cells[0] == "call count") return;
    if (is_run_time(cells[0])) {
      for (size_t i = 1; i < cells.size(); ++i) {
        region_->wall_s = std::max(region_->wall_s, parse_number(cells[i]).value_or(0));
      }
      return;
    }
    if (table_ != Table::kRaw || cells[0].empty() || cells.size() < 3) return;
    region_->groups.insert(group_);
    // One event may stand on several counters with different options; the units of one socket add up.
    const std::string event = canonical(cells[0]);
    const auto [first, is_new] = region_->group_of.emplace(event, group_);
    if (first->second != group_) return;
    const std::string_view unit = event.starts_with("PWR_") ? "Joules" : "";
    bool counted = false;
    for (size_t i = 2; i < cells.size(); ++i) {
      const auto value = parse_number(cells[i]);
      if (!value) continue;
      region_->profile.add(event, *value, unit);
      counted = region_->has_event = true;
    }
    if (!counted) region_->profile.miss(event, unit, "not counted");
  }

  const ToolFileNames& names_;
  Table table_ = Table::kNone;
  std::string cpu_, group_;
  Region* region_ = nullptr;
  std::map<std::string, Region> regions_;
};

}  // namespace

Result<std::vector<StoredProfile>> read_likwid(std::string_view text, const std::string& path) {
  const ToolFileNames names = names_of_tool_file(text, path);
  LikwidReader reader(names);
  reader.read(text);
  std::vector<StoredProfile> profiles = reader.finish();
  if (profiles.empty()) {
    return Error{"no-rows", "no event has a value", path, "output of likwid-perfctr -O, with TABLE lines"};
  }
  return profiles;
}

Result<Import> import_likwid(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("likwid", path, catalogue, read_likwid);
}

}  // namespace perfcast::program
