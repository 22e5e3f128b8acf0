#include "program/corpus/importers/table_importer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"
#include "program/corpus/importers/exclusion_counter.h"
#include "program/corpus/importers/imported_columns.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumMappingBytes = size_t{16} << 20;
constexpr size_t kColumnsListed = 60;

struct PlatformCells {
  std::string platform;  // name
  size_t time = 0;
  std::optional<size_t> energy;
};

// The repeats of one program on one platform.
struct TableCell {
  size_t first_row = 0;
  std::vector<double> times_s, energies_joules;
};

// "inf" and "nan" are what programs print for a failed measurement; other texts are mistakes of the mapping.
bool is_not_finite(std::string_view cell) {
  std::string text = lower_case(trim(cell));
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  return text == "inf" || text == "infinity" || text == "nan";
}

std::string metric_of(const std::string& column, const std::string& suffix) {
  const Metric* known = Catalogue::built_in().find(column);
  if (known != nullptr && known->name.ends_with(suffix)) return column;
  std::string stem;
  for (const char c : lower_case(column)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      stem += c;
    } else if (!stem.empty() && stem.back() != '_') {
      stem += '_';
    }
  }
  while (!stem.empty() && stem.back() == '_') stem.pop_back();
  if (stem.ends_with(suffix)) stem.resize(stem.size() - suffix.size());
  return "table_" + stem.substr(0, 100) + suffix;
}

class TableImport {
 public:
  TableImport(const TableMapping& mapping, const CsvTable& table, std::string csv_path)
      : mapping_(mapping), table_(table), csv_path_(std::move(csv_path)) {}
  Result<Import> run();

 private:
  Result<size_t> column(const std::string& name, const std::string& field) const;
  Status find_columns();
  Status find_platform_columns();
  Status find_counters();
  Status read_row(size_t row);
  // nullopt: not measured, and counted.
  Result<std::optional<double>> amount(size_t row, size_t column, const char* subject);
  Status add_time(size_t row, const std::string& program, const std::string& platform, size_t time_column,
                  std::optional<size_t> energy_column);
  Status add_profile(size_t row, const std::string& program, const std::string& platform);
  Status add_platform_name(const std::string& name, const std::string& where);
  Status add_platforms();
  void add_runs();
  std::string program_id(size_t row) const;
  Error missing(const std::string& what, const std::string& field) const;

  const TableMapping& mapping_;
  const CsvTable& table_;
  std::string csv_path_, set_, source_;
  std::vector<size_t> program_, input_;
  size_t family_ = 0, platform_ = 0, time_ = 0;
  std::optional<size_t> energy_;
  std::vector<PlatformCells> wide_;
  std::vector<ImportedColumn> counters_;
  std::vector<std::string> platform_names_;          // in the order of the table
  std::map<std::string, std::string> platform_ids_;  // name -> id
  std::map<std::string, std::string> names_of_ids_;
  std::set<std::string> programs_;
  std::map<std::pair<std::string, std::string>, TableCell> cells_;    // program, platform name
  std::map<std::pair<std::string, std::string>, size_t> profile_at_;  // likewise -> row
  ExclusionCounter exclusions_;
  Import result_;
};

Error TableImport::missing(const std::string& what, const std::string& field) const {
  std::vector<std::string> names = table_.columns();
  const size_t more = names.size() > kColumnsListed ? names.size() - kColumnsListed : 0;
  names.resize(names.size() - more);
  return {"missing-column", what + ", which the mapping's " + field + " names", csv_path_ + ":1",
          "one of: " + printable(join(names, ", ")) + (more > 0 ? ", and " + std::to_string(more) + " more" : "")};
}

Result<size_t> TableImport::column(const std::string& name, const std::string& field) const {
  if (const auto found = table_.find_column(name)) return *found;
  return missing("there is no column '" + printable(name) + "'", field);
}

Status TableImport::find_columns() {
  for (const std::string& name : mapping_.program) {
    const auto found = column(name, "program");
    if (!found) return found.error();
    program_.push_back(*found);
  }
  for (const std::string& name : mapping_.input) {
    const auto found = column(name, "input");
    if (!found) return found.error();
    input_.push_back(*found);
  }
  family_ = program_[0];
  const std::tuple<const std::string&, const char*, size_t*> single[] = {{mapping_.family, "family", &family_},
                                                                         {mapping_.platform, "platform", &platform_},
                                                                         {mapping_.time, "time", &time_}};
  for (const auto& [name, field, index] : single) {
    if (name.empty()) continue;
    const auto found = column(name, field);
    if (!found) return found.error();
    *index = *found;
  }
  if (!mapping_.energy.empty()) {
    const auto found = column(mapping_.energy, "energy");
    if (!found) return found.error();
    energy_ = *found;
  }
  if (Status status = find_platform_columns(); !status) return status;
  return find_counters();
}

Status TableImport::find_platform_columns() {
  if (!mapping_.wide()) return {};
  std::map<std::string, size_t> energies;
  for (const auto& [columns, is_time] : {std::pair(&mapping_.times, true), std::pair(&mapping_.energies, false)}) {
    const std::string field = is_time ? "times" : "energies";
    std::vector<std::pair<std::string, size_t>> found;
    for (const auto& [platform, name] : columns->columns) {
      const auto index = column(name, field);
      if (!index) return index.error();
      found.emplace_back(platform, *index);
    }
    for (size_t i = 0; !columns->pattern.empty() && i < table_.columns().size(); ++i) {
      if (const auto platform = match_pattern(columns->pattern, table_.columns()[i])) found.emplace_back(*platform, i);
    }
    if (!columns->pattern.empty() && found.empty()) {
      return missing("no column matches '" + printable(columns->pattern) + "'", field);
    }
    for (const auto& [platform, index] : found) {
      if (is_time) {
        wide_.push_back({platform, index, std::nullopt});
      } else {
        energies.emplace(platform, index);
      }
    }
  }
  for (PlatformCells& cells : wide_) {
    if (const auto found = energies.find(cells.platform); found != energies.end()) cells.energy = found->second;
    if (Status status = add_platform_name(cells.platform, csv_path_ + ":1"); !status) return status;
  }
  return {};
}

Status TableImport::find_counters() {
  std::map<std::string, std::string> columns;  // metric -> column
  for (size_t i = 0; i < mapping_.counters.size(); ++i) {
    const MappedCounters& counters = mapping_.counters[i];
    const std::string field = "counters[" + std::to_string(i) + "].column";
    std::vector<size_t> found;
    if (counters.column.find('*') == std::string::npos) {
      const auto index = column(counters.column, field);
      if (!index) return index.error();
      found.push_back(*index);
    } else {
      for (size_t k = 0; k < table_.columns().size(); ++k) {
        if (match_pattern(counters.column, table_.columns()[k])) found.push_back(k);
      }
      if (found.empty()) return missing("no column matches '" + printable(counters.column) + "'", field);
    }
    for (const size_t index : found) {
      const std::string& name = table_.columns()[index];
      const std::string metric = counters.metric.empty() ? metric_of(name, counters.suffix) : counters.metric;
      const auto [other, is_new] = columns.emplace(metric, name);
      if (!is_new) {
        return Error{
            "bad-mapping",
            "the columns '" + printable(other->second) + "' and '" + printable(name) + "' give one metric, " + metric,
            field, "a metric of its own for each"};
      }
      counters_.push_back({index, metric, counters.factor});
    }
  }
  return {};
}

std::string TableImport::program_id(size_t row) const {
  std::string id = set_;
  for (const size_t column : program_) {
    if (trim(table_.cell(row, column)).empty()) return {};
    id += "." + id_segment(table_.cell(row, column));
  }
  for (const size_t column : input_) id += "." + input_segment(table_.cell(row, column));
  return id;
}

Result<std::optional<double>> TableImport::amount(size_t row, size_t column, const char* subject) {
  const std::string_view cell = table_.cell(row, column);
  if (is_not_finite(cell)) {
    exclusions_.add(subject, "not finite");
    return std::optional<double>();
  }
  const auto value = table_.number(row, column);
  if (!value) return value.error();
  if (!*value) {
    exclusions_.add(subject, "blank: not measured");
  } else if (**value <= 0) {
    exclusions_.add(subject, **value == 0 ? "zero" : "negative");
    return std::optional<double>();
  }
  return *value;
}

Status TableImport::add_time(size_t row, const std::string& program, const std::string& platform, size_t time_column,
                             std::optional<size_t> energy_column) {
  const auto time = amount(row, time_column, "time");
  if (!time) return time.error();
  std::optional<double> energy;
  if (energy_column) {
    const auto found = amount(row, *energy_column, "energy");
    if (!found) return found.error();
    energy = *found;
  }
  if (!*time) return {};
  const double time_s = **time * (mapping_.wide() ? mapping_.times.factor : mapping_.time_factor);
  if (!(time_s > 0)) {  // a denormal number of ns
    exclusions_.add("time", "zero");
    return {};
  }
  const auto [found, is_new] = cells_.try_emplace({program, platform});
  TableCell& cell = found->second;
  if (is_new) {
    cell.first_row = row;
  } else if (!mapping_.fold_repeats) {
    return Error{
        "duplicate-key",
        "a second row for " + program + " on " + printable(platform) + "; the first is " + table_.where(cell.first_row),
        table_.where(row), "one row for each, an input column that tells them apart, or \"repeats\": \"median\""};
  }
  cell.times_s.push_back(time_s);
  if (energy) {
    const double factor = mapping_.wide() ? mapping_.energies.factor : mapping_.energy_factor;
    cell.energies_joules.push_back(*energy * factor);
  }
  return {};
}

Status TableImport::add_profile(size_t row, const std::string& program, const std::string& platform) {
  if (counters_.empty()) return {};
  // Repeats: the first row's counters.
  if (!profile_at_.emplace(std::pair(program, platform), row).second) return {};
  StoredProfile stored;
  stored.program = program;
  stored.source = source_;
  Profile& profile = stored.profile;
  profile.program = program;
  profile.host.name = platform;
  profile.exit_code = 0;
  profile.collectors = {{"table", "", 0, "ok", "counters of " + csv_path_}};
  for (const ImportedColumn& counter : counters_) {
    const std::string_view cell = table_.cell(row, counter.index);
    if (!trim(cell).empty() && !is_not_finite(cell) && !parse_number(cell)) {
      return table_.number(row, counter.index).error();
    }
  }
  read_imported_columns(table_, row, counters_, exclusions_, profile.metrics, profile.missing);
  result_.corpus.profiles.push_back(std::move(stored));
  return {};
}

// Names that differ in marks only would be one platform of the corpus.
Status TableImport::add_platform_name(const std::string& name, const std::string& where) {
  const std::string id = slug(set_ + " " + name);
  const auto [found, is_new] = names_of_ids_.emplace(id, name);
  if (found->second != name) {
    return Error{"duplicate-key",
                 "the platforms '" + printable(found->second) + "' and '" + printable(name) + "' differ in marks only",
                 where, "one spelling for each platform"};
  }
  if (is_new) {
    platform_ids_[name] = id;
    platform_names_.push_back(name);
  }
  return {};
}

Status TableImport::read_row(size_t row) {
  const std::string program = program_id(row);
  const std::string platform = mapping_.wide() ? "" : std::string(trim(table_.cell(row, platform_)));
  if (program.empty() || (!mapping_.wide() && slug(platform).empty())) {
    exclusions_.add("row", "without a program or a platform");
    return {};
  }
  std::vector<PlatformCells> own;
  if (!mapping_.wide()) {
    if (Status status = add_platform_name(platform, table_.where(row)); !status) return status;
    own = {{platform, time_, energy_}};
  }
  for (const PlatformCells& cell : mapping_.wide() ? wide_ : own) {
    if (Status status = add_time(row, program, cell.platform, cell.time, cell.energy); !status) return status;
  }
  if (programs_.insert(program).second) {
    Program entry;
    entry.id = program;
    entry.family = std::string(trim(table_.cell(row, family_)));
    if (entry.family.empty()) entry.family = std::string(trim(table_.cell(row, program_[0])));
    entry.group = mapping_.group;
    entry.suite = set_;
    entry.source = source_;
    result_.corpus.programs.push_back(std::move(entry));
  }
  const std::string host = mapping_.counters_platform.empty() ? platform : mapping_.counters_platform;
  if (!mapping_.wide() && host != platform) return {};
  return add_profile(row, program, host);
}

Status TableImport::add_platforms() {
  for (const auto& [name, facts] : mapping_.platforms) {
    if (!platform_ids_.contains(name)) {
      return Error{"unknown-platform", "the table has no platform '" + printable(name) + "'", "platforms",
                   "one of: " + printable(join(platform_names_, ", "))};
    }
  }
  if (!mapping_.counters_platform.empty() && !platform_ids_.contains(mapping_.counters_platform)) {
    return Error{"unknown-platform", "the table has no platform '" + printable(mapping_.counters_platform) + "'",
                 "counters_platform", "one of: " + printable(join(platform_names_, ", "))};
  }
  for (const std::string& name : platform_names_) {
    Platform platform;
    if (const auto found = mapping_.platforms.find(name); found != mapping_.platforms.end()) platform = found->second;
    platform.id = platform_ids_.at(name);
    platform.name = name;
    platform.source = source_;
    result_.corpus.platforms.push_back(std::move(platform));
  }
  return {};
}

void TableImport::add_runs() {
  for (const auto& [key, cell] : cells_) {
    if (cell.times_s.size() > 1) {
      exclusions_.add("time", "folded with others of its program and platform into their median",
                      static_cast<int64_t>(cell.times_s.size()) - 1);
    }
    Run run{key.first, platform_ids_.at(key.second), "", 1, median(cell.times_s), std::nullopt, source_};
    if (!cell.energies_joules.empty()) run.energy_joules = median(cell.energies_joules);
    result_.corpus.runs.push_back(std::move(run));
  }
}

Result<Import> TableImport::run() {
  set_ = slug(mapping_.name);
  source_ = set_;
  result_.report.format = "table";
  result_.corpus.sources = {
      {source_, mapping_.url, mapping_.licence.empty() ? "not stated" : mapping_.licence, "", mapping_.note}};
  if (const Status status = find_columns(); !status) return status.error();
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (const Status status = read_row(row); !status) return status.error();
  }
  if (cells_.empty() && result_.corpus.profiles.empty()) {
    return Error{"no-rows", "no row has a program, a platform and a positive time", csv_path_,
                 "a table with times, or with counters of programs that are to be forecast"};
  }
  if (cells_.empty()) {
    result_.report.notes.emplace_back("no row has a time: these programs can be forecast, and not learned from");
  }
  if (const Status status = add_platforms(); !status) return status.error();
  add_runs();
  result_.report.columns_read_count = static_cast<int64_t>(table_.columns().size());
  result_.report.columns_used_count =
      static_cast<int64_t>(program_.size() + input_.size() + counters_.size() + (mapping_.family.empty() ? 0 : 1) +
                           (energy_ ? 1 : 0) + (mapping_.wide() ? wide_.size() : 2));
  result_.corpus.exclusions = exclusions_.take(source_);
  if (!table_.form().empty()) result_.report.notes.push_back(csv_path_ + " was read as having " + table_.form());
  return std::move(result_);
}

}  // namespace

Result<Import> import_table(const TableMapping& mapping, std::string_view csv, const std::string& csv_path) {
  const auto table = CsvTable::parse_any_form(csv, csv_path, mapping.separator);
  if (!table) return table.error();
  return TableImport(mapping, *table, csv_path).run();
}

Result<Import> import_table_path(const std::string& path, const ProgramCatalogue&) {
  const auto text = read_file(path, kMaximumMappingBytes);
  if (!text) return text.error();
  const auto mapping = parse_table_mapping(*text, path);
  if (!mapping) return mapping.error();
  const std::string csv_path = (std::filesystem::path(path).parent_path() / mapping->csv).string();
  const auto csv = read_file(csv_path, kMaximumTableBytes);
  if (!csv) return csv.error();
  return import_table(*mapping, *csv, csv_path);
}

}  // namespace perfcast::program
