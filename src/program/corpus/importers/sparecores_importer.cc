#include "program/corpus/importers/sparecores_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/chip_names.h"
#include "program/corpus/importers/exclusion_counter.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/provider_split.h"
#include "program/corpus/importers/server_screening.h"
#include "program/corpus/importers/sparecores_columns.h"
#include "program/corpus/importers/sparecores_platforms.h"

namespace perfcast::program {
namespace {

constexpr const char* kRepository = "https://github.com/SpareCores/sc-inspector-data";

// What of the data is screened together, and has one source.
enum Part : size_t { kRates, kScores, kParts };

struct RateTable {
  CsvTable csv;
  std::string prefix;  // of the columns' names
  std::unordered_map<std::string, size_t> row_of;
};

struct UsedColumn {
  size_t table, index;
  SparecoresColumn meaning;
  std::vector<std::string> programs;  // whose time it is
  Part part() const { return meaning.is_score ? kScores : kRates; }
};

Source source_of_rates(const SourceNote& note) {
  return {versioned_source("sparecores", note), kRepository, "CC BY-SA 4.0", note.retrieved_utc,
          "Benchmarks of cloud servers by Spare Cores (sparecores.com). Times are 1 / rate of one worker; of OpenSSL, "
          "vCPUs / rate of all cores."};
}

Source source_of_scores(const SourceNote& note) {
  return {versioned_source("geekbench6", note), kRepository, "CC BY-SA 4.0", note.retrieved_utc,
          "Geekbench 6 (Primate Labs) on cloud servers, by Spare Cores (sparecores.com). Times are 1 / score of one "
          "core; of all cores, vCPUs / score."};
}

// Rows of the benchmark table by server; of two rows for one server the first stays.
std::unordered_map<std::string, size_t> rows_by_server(const CsvTable& table, size_t vendor, size_t server,
                                                       ExclusionCounter& exclusions) {
  std::unordered_map<std::string, size_t> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string id =
        std::string(trim(table.cell(row, vendor))) + "/" + std::string(trim(table.cell(row, server)));
    if (!rows.emplace(id, row).second) exclusions.add("row of rates", "a second row for the same server");
  }
  return rows;
}

constexpr const char* kOneWorker[kParts] = {"rate of one worker", "score of one core"};
constexpr const char* kAllWorkers[kParts] = {"rate of all workers", "score of all cores"};
constexpr const char* kServer[kParts] = {"server", "server with scores"};
constexpr const char* kMemoryFigure = "memory figure";

// Compressors of all cores are of an older meaning (threads inside of one copy) on servers without this one.
constexpr const char* kMarksCopies = "compress.gzip.";

// A rate to use, or why not.
std::optional<double> usable_rate(std::string_view cell, const std::string& subject, ExclusionCounter& exclusions) {
  if (cell.find_first_not_of(" \t") == std::string_view::npos) {
    exclusions.add(subject, "blank: not measured");
    return std::nullopt;
  }
  const auto value = parse_number(cell);
  if (!value) {
    exclusions.add(subject, "no finite number");
    return std::nullopt;
  }
  if (*value == 0) exclusions.add(subject, "zero: the program did not run");
  if (*value < 0) exclusions.add(subject, "negative");
  return *value > 0 ? value : std::nullopt;
}

class SparecoresImport {
 public:
  explicit SparecoresImport(const ProgramCatalogue& catalogue) : catalogue_(catalogue) {}
  Result<Import> run(const SparecoresText& text);

 private:
  Status read_tables(const SparecoresText& text);
  Status read_rate_table(const std::string& csv, const std::string& path, const std::string& prefix);
  void choose_columns(size_t table);
  bool keep_what_is_new(UsedColumn& column);
  void read_rates();
  void read_machine_rates(size_t server);
  std::vector<size_t> compared_columns(Part part) const;
  std::vector<ScreenedServer> rated_servers(Part part) const;
  void split_platforms();
  std::vector<Screening> screen(Part part) const;
  void screen_all();
  void add_runs();
  void add_programs(const UsedColumn& column);
  void add_machine_runs();
  std::optional<double> rate(const UsedColumn& column, size_t server, const char* subject);

  const ProgramCatalogue& catalogue_;
  std::string source_[kParts];
  std::vector<RateTable> tables_;
  std::vector<SparecoresServer> servers_;
  std::set<std::string> column_names_;
  std::set<std::tuple<SparecoresColumn::Use, int64_t, std::string>> meanings_;  // use, threads, program or fact
  std::vector<UsedColumn> run_columns_, machine_columns_, fact_columns_;
  std::vector<std::vector<double>> rates_;          // [server][run column]; NaN: none
  std::vector<std::vector<double>> machine_rates_;  // [server][machine column]; NaN: none
  std::vector<bool> kept_[kParts];                  // [server]
  ExclusionCounter exclusions_;
  Import result_;
};

Result<Import> SparecoresImport::run(const SparecoresText& text) {
  result_.report.format = "sparecores";
  result_.corpus.sources = {source_of_rates(text.note), source_of_scores(text.scores_note)};
  for (const Part part : {kRates, kScores}) source_[part] = result_.corpus.sources[part].id;
  if (const Status status = read_tables(text); !status) return status.error();
  result_.corpus.platforms = group_platforms(servers_, source_[kRates]);
  split_platforms();
  screen_all();
  gather_facts(servers_, kept_[kRates], result_.corpus.platforms);
  add_runs();
  add_machine_runs();
  for (SparecoresServer& server : servers_) {
    set_own_facts(server);
    result_.corpus.servers.push_back(server.server);
  }
  const bool has_scores = std::any_of(run_columns_.begin(), run_columns_.end(),
                                      [](const UsedColumn& column) { return column.part() == kScores; });
  if (!has_scores) result_.corpus.sources.pop_back();
  result_.corpus.exclusions = exclusions_.take(source_[kRates]);
  return std::move(result_);
}

Status SparecoresImport::read_rate_table(const std::string& csv, const std::string& path, const std::string& prefix) {
  auto rates = CsvTable::parse(csv, path);
  if (!rates) return rates.error();
  const auto vendor = rates->column("vendor");
  if (!vendor) return vendor.error();
  const auto name = rates->column("server");
  if (!name) return name.error();
  auto row_of = rows_by_server(*rates, *vendor, *name, exclusions_);
  tables_.push_back({std::move(*rates), prefix, std::move(row_of)});
  choose_columns(tables_.size() - 1);
  return {};
}

Status SparecoresImport::read_tables(const SparecoresText& text) {
  auto facts = CsvTable::parse(text.servers_csv, text.servers_path);
  if (!facts) return facts.error();
  if (Status status = read_rate_table(text.benchmarks_csv, text.benchmarks_path, ""); !status) return status;
  if (!text.scores_csv.empty()) {
    Status status = read_rate_table(text.scores_csv, text.scores_path, std::string(kScorePrefix));
    if (!status) return status;
  }
  auto servers = read_sparecores_servers(*facts);
  if (!servers) return servers.error();

  result_.report.servers_read_count = static_cast<int64_t>(servers->size());
  std::set<std::string> seen;
  for (SparecoresServer& server : *servers) {
    if (server.server.vendor.empty() || server.server.name.empty()) {
      exclusions_.add("server", "without vendor or name");
    } else if (!seen.insert(server.id()).second) {
      exclusions_.add("server", "named twice: the first row stays");
    } else {
      servers_.push_back(std::move(server));
    }
  }
  for (const RateTable& table : tables_) {
    for (const auto& [server, row] : table.row_of) {
      if (!seen.contains(server)) exclusions_.add("row of rates", "its server is not in the server table");
    }
  }
  read_rates();
  return {};
}

// Several names may have one meaning ("redis.GET.t1.p1.rps" and "redis.GET.t01.p1.rps"), and a program one time on each
// server. Finds the column's programs; false where an earlier column has the times of all, or its fact.
bool SparecoresImport::keep_what_is_new(UsedColumn& column) {
  const SparecoresColumn& meaning = column.meaning;
  const auto is_known = [&](const std::string& subject) {
    return !meanings_.emplace(meaning.use, meaning.threads, subject).second;
  };
  if (meaning.use == SparecoresColumn::Use::kFact) return !is_known(meaning.fact);
  column.programs = catalogue_.ids_of_label(meaning.label);
  if (column.programs.empty()) column.programs = {meaning.program};
  std::erase_if(column.programs, is_known);
  return !column.programs.empty();
}

void SparecoresImport::choose_columns(size_t table) {
  const std::vector<std::string>& columns = tables_[table].csv.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == "vendor" || columns[i] == "server") continue;
    ++result_.report.columns_read_count;
    const std::string name = tables_[table].prefix + columns[i];
    UsedColumn column{table, i, classify_sparecores_column(name), {}};
    const SparecoresColumn& meaning = column.meaning;
    if (!column_names_.insert(name).second) {
      exclusions_.add("column", "named twice: the first stays");
    } else if (meaning.use == SparecoresColumn::Use::kSkip) {
      exclusions_.add("column", meaning.reason);
    } else if (!keep_what_is_new(column)) {
      exclusions_.add("column", "means the same as another: the first stays");
    } else {
      ++result_.report.columns_used_count;
      auto& used = meaning.use == SparecoresColumn::Use::kRun          ? run_columns_
                   : meaning.use == SparecoresColumn::Use::kMachineRun ? machine_columns_
                                                                       : fact_columns_;
      used.push_back(std::move(column));
    }
  }
}

std::optional<double> SparecoresImport::rate(const UsedColumn& column, size_t server, const char* subject) {
  const RateTable& table = tables_[column.table];
  const auto row = table.row_of.find(servers_[server].id());
  if (row == table.row_of.end()) return std::nullopt;
  return usable_rate(table.csv.cell(row->second, column.index), subject, exclusions_);
}

void SparecoresImport::read_rates() {
  for (size_t i = 0; i < servers_.size(); ++i) {
    SparecoresServer& server = servers_[i];
    const auto share = [&](double value, bool per_vcpu) {
      return per_vcpu ? value / server.server.vcpus.value_or(kUnknown) : value;
    };
    std::vector<double>& of_one = rates_.emplace_back();
    for (const UsedColumn& column : run_columns_) {
      const char* subject = kOneWorker[column.part()];
      const auto value = rate(column, i, subject);
      of_one.push_back(value ? share(*value, column.meaning.per_vcpu) : kUnknown);
      if (value && std::isnan(of_one.back())) exclusions_.add(subject, "of all cores, whose number is unknown");
    }
    read_machine_rates(i);
    for (const UsedColumn& column : fact_columns_) {
      const auto value = rate(column, i, kMemoryFigure);
      if (!value) continue;
      const double fact = share(*value, column.meaning.per_vcpu) * column.meaning.scale;
      if (std::isfinite(fact)) server.facts[column.meaning.fact] = fact;
    }
  }
}

void SparecoresImport::read_machine_rates(size_t server) {
  std::vector<double>& of_server = machine_rates_.emplace_back();
  bool are_copies = false;
  for (const UsedColumn& column : machine_columns_) {
    const auto value = rate(column, server, kAllWorkers[column.part()]);
    of_server.push_back(value.value_or(kUnknown));
    are_copies |= value && column.meaning.program.starts_with(kMarksCopies);
  }
  if (are_copies) return;
  for (size_t i = 0; i < machine_columns_.size(); ++i) {
    if (!machine_columns_[i].meaning.per_core || std::isnan(of_server[i])) continue;
    of_server[i] = kUnknown;
    exclusions_.add(kAllWorkers[kRates], "of an older meaning: threads inside of one copy");
  }
}

// Of servers that were kept, and programs of which one copy was timed on one of them, too.
void SparecoresImport::add_machine_runs() {
  for (size_t at = 0; at < machine_columns_.size(); ++at) {
    const UsedColumn& column = machine_columns_[at];
    const char* subject = kAllWorkers[column.part()];
    const bool is_known = result_.corpus.find_program(column.programs[0]) != nullptr;
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (std::isnan(machine_rates_[i][at])) continue;
      const Server& server = servers_[i].server;
      const bool is_kept = kept_[column.part()][i];
      const auto copies = column.meaning.per_core ? server.cores : server.vcpus;
      const double time_s = copies.value_or(kUnknown) / machine_rates_[i][at];
      if (!is_kept || !is_known) {
        exclusions_.add(subject, is_kept ? "of no rate of one worker" : "of a server that was left out");
      } else if (!copies || *copies < 1 || !std::isfinite(time_s) || !(time_s > 0)) {
        exclusions_.add(subject, "of an unknown number of workers");
      } else {
        for (const std::string& program : column.programs) {
          result_.corpus.machine_runs.push_back(
              {program, server.platform, servers_[i].id(), *copies, time_s, source_[column.part()]});
        }
      }
    }
  }
}

std::vector<size_t> SparecoresImport::compared_columns(Part part) const {
  std::vector<size_t> compared;
  for (size_t i = 0; i < run_columns_.size(); ++i) {
    if (run_columns_[i].meaning.threads == 1 && run_columns_[i].part() == part) compared.push_back(i);
  }
  return compared;
}

// Only rates of one worker compare a server with others of its platform; those of all cores grow with its size.
std::vector<ScreenedServer> SparecoresImport::rated_servers(Part part) const {
  const std::vector<size_t> compared = compared_columns(part);
  std::vector<ScreenedServer> rated;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const SparecoresServer& server = servers_[i];
    const Platform& platform = result_.corpus.platforms[server.platform];
    ScreenedServer entry{server.server.vendor, server.server.name, server.platform, platform.arch, {}};
    for (const auto& number : {platform.cpu_family, platform.model}) {
      entry.generation += "/" + (number ? std::to_string(*number) : std::string("?"));
    }
    for (const size_t column : compared) entry.log_rates.push_back(std::log(rates_[i][column]));
    rated.push_back(std::move(entry));
  }
  return rated;
}

// Platforms whose providers differ become several. Scores tell it first: they are of whole programs.
void SparecoresImport::split_platforms() {
  const std::vector<ProviderSplit> splits = split_by_provider({rated_servers(kScores), rated_servers(kRates)});
  for (const ProviderSplit& split : splits) {
    const std::string name = result_.corpus.platforms[split.platform].name;
    for (SparecoresServer& server : servers_) {
      if (server.platform != split.platform) continue;
      for (const std::vector<std::string>& group : split.groups) {
        if (std::find(group.begin(), group.end(), server.server.vendor) == group.end()) continue;
        server.name = name_at_providers(server.name, group);
        break;
      }
    }
    std::vector<std::string> groups;
    for (const auto& group : split.groups) groups.push_back(name_at_providers("", group));
    result_.report.notes.push_back(
        fmt::format("{} is {} platforms, by provider:{}; the first two are {:.0f}% apart, their own "
                    "servers {:.0f}%",
                    name, groups.size(), join(groups, ","), 100 * split.apart_ratio, 100 * split.own_ratio));
  }
  if (!splits.empty()) result_.corpus.platforms = group_platforms(servers_, source_[kRates]);
}

std::vector<Screening> SparecoresImport::screen(Part part) const {
  std::vector<bool> fingerprint;
  for (const size_t column : compared_columns(part)) {
    const Program* program = catalogue_.find(run_columns_[column].programs[0]);
    fingerprint.push_back(program != nullptr && program->group == "user" && program->excluded.empty());
  }
  return screen_servers(rated_servers(part), fingerprint);
}

// A server whose rates have the pattern of another CPU is left out with its scores too, for its name is in doubt.
void SparecoresImport::screen_all() {
  const std::vector<Screening> of_part[kParts] = {screen(kRates), screen(kScores)};
  for (size_t i = 0; i < servers_.size(); ++i) {
    const bool is_other = of_part[kRates][i].reason == kOtherCpu;
    for (const Part part : {kRates, kScores}) kept_[part].push_back(of_part[part][i].reason.empty() && !is_other);
    for (const Part part : {kRates, kScores}) {
      const std::string& reason = of_part[part][i].reason;
      if (!reason.empty() && (part == kRates || reason != kNotMeasured)) exclusions_.add(kServer[part], reason);
    }
    if (kept_[kRates][i] || kept_[kScores][i]) {
      ++result_.report.servers_kept_count;
      continue;
    }
    const Screening& told = of_part[of_part[kRates][i].reason == kNotMeasured ? kScores : kRates][i];
    result_.report.dropped_servers.push_back(
        {servers_[i].id(), servers_[i].server.platform, told.reason, told.rate_ratio});
  }
}

void SparecoresImport::add_programs(const UsedColumn& column) {
  for (const std::string& id : column.programs) {
    if (result_.corpus.find_program(id) != nullptr) continue;  // another thread count of it
    Program program = catalogue_.describe(id, source_[column.part()]);
    if (catalogue_.find(id) == nullptr && column.meaning.group.empty()) result_.report.unknown_programs.push_back(id);
    if (catalogue_.find(id) == nullptr && !column.meaning.group.empty()) {
      program.group = column.meaning.group;
      program.work_unit = "run";
    }
    result_.corpus.programs.push_back(std::move(program));
  }
}

void SparecoresImport::add_runs() {
  for (size_t at = 0; at < run_columns_.size(); ++at) {
    const UsedColumn& column = run_columns_[at];
    const char* subject = kOneWorker[column.part()];
    const size_t before = result_.corpus.runs.size();
    for (size_t i = 0; i < servers_.size(); ++i) {
      const double time_s = 1 / rates_[i][at];
      if (std::isnan(time_s)) continue;
      if (!kept_[column.part()][i]) {
        exclusions_.add(subject, "of a server that was left out");
      } else if (!std::isfinite(time_s) || !(time_s > 0)) {
        exclusions_.add(subject, "no finite time");
      } else {
        for (const std::string& program : column.programs) {
          result_.corpus.runs.push_back({program, servers_[i].server.platform, servers_[i].id(), column.meaning.threads,
                                         time_s, std::nullopt, source_[column.part()]});
        }
      }
    }
    if (result_.corpus.runs.size() == before) {
      exclusions_.add("program", "no rate is left");
    } else {
      add_programs(column);
    }
  }
}

constexpr const char* kFolder = "a folder with servers.csv and benchmarks_wide.csv(.gz)";

// The path, or that with .gz behind; empty where there is neither.
std::string plain_or_packed(const std::string& path) {
  std::error_code ignored;
  for (const std::string& file : {path, path + ".gz"}) {
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return {};
}

}  // namespace

Result<Import> import_sparecores(const SparecoresText& text, const ProgramCatalogue& catalogue) {
  return SparecoresImport(catalogue).run(text);
}

Result<Import> import_sparecores_folder(const std::string& path, const ProgramCatalogue& catalogue) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return Error{"file-not-found", "this is no folder", path, kFolder};
  }
  SparecoresText text;
  const std::pair<std::string*, std::string*> files[] = {{&text.servers_path, &text.servers_csv},
                                                         {&text.benchmarks_path, &text.benchmarks_csv}};
  for (const auto& [name, content] : files) {
    const std::string file = path + "/" + *name;
    *name = plain_or_packed(file);
    if (name->empty()) return Error{"file-not-found", "the folder lacks this file", file + ".gz", kFolder};
    auto read = read_file(*name, kMaximumTableBytes);
    if (!read) return read.error();
    *content = std::move(*read);
  }
  text.note = read_source_note(path);
  bool is_found = false;
  const std::string beside = std::filesystem::path(path + "/../geekbench6").lexically_normal();
  for (const std::string& folder : {path, beside}) {
    const std::string file = plain_or_packed(folder + "/scores.csv");
    if (file.empty() || is_found) continue;
    is_found = true;
    auto read = read_file(file, kMaximumTableBytes);
    if (!read) return read.error();
    text.scores_csv = std::move(*read);
    text.scores_path = file;
    text.scores_note = read_source_note(folder);
  }
  auto result = import_sparecores(text, catalogue);
  if (result && is_found) result->report.notes.push_back("Geekbench scores: " + text.scores_path);
  return result;
}

}  // namespace perfcast::program
