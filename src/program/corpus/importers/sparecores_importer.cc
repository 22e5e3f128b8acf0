#include "program/corpus/importers/sparecores_importer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "base/unknown.h"
#include "program/corpus/importers/exclusion_counter.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/server_screening.h"
#include "program/corpus/importers/sparecores_columns.h"
#include "program/corpus/importers/sparecores_platforms.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {
namespace {

constexpr size_t kDigitsOfCommit = 7;

struct UsedColumn {
  size_t index;
  SparecoresColumn meaning;
};

Source source_of(const SparecoresText& text) {
  Source source;
  source.id = "sparecores";
  if (!text.commit.empty()) source.id += "@" + text.commit.substr(0, kDigitsOfCommit);
  source.url = "https://github.com/SpareCores/sc-inspector-data";
  source.licence = "CC BY-SA 4.0";
  source.retrieved_utc = text.retrieved_utc;
  source.note =
      "Benchmarks of cloud servers by Spare Cores (sparecores.com). Times are 1 / rate of one worker; of OpenSSL, "
      "vCPUs / rate of all cores.";
  return source;
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

constexpr const char* kOneWorker = "rate of one worker";
constexpr const char* kAllWorkers = "rate of all workers";
constexpr const char* kMemoryFigure = "memory figure";

// The label of one worker for that of all: "stressng.cpu.N" -> "stressng.cpu.1", "compress.gzip.9.N.c" ->
// "compress.gzip.9.1.c".
std::string label_of_one(std::string label) {
  const size_t at = label.rfind(".N");
  if (at != std::string::npos) label[at + 1] = '1';
  return label;
}

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
  void choose_columns(const CsvTable& rates);
  void read_rates(const CsvTable& rates, const std::unordered_map<std::string, size_t>& row_of);
  void read_machine_rates(const CsvTable& rates, size_t row, std::vector<double>& of_server);
  void screen();
  void add_runs();
  void add_machine_runs();

  const ProgramCatalogue& catalogue_;
  std::string source_;
  std::vector<SparecoresServer> servers_;
  std::vector<UsedColumn> run_columns_, machine_columns_, fact_columns_;
  std::vector<std::vector<double>> rates_;          // [server][run column]; NaN: none
  std::vector<std::vector<double>> machine_rates_;  // [server][machine column]; NaN: none
  std::vector<bool> kept_;                          // [server]
  ExclusionCounter exclusions_;
  Import result_;
};

Result<Import> SparecoresImport::run(const SparecoresText& text) {
  result_.report.format = "sparecores";
  result_.corpus.sources = {source_of(text)};
  source_ = result_.corpus.sources[0].id;
  if (const Status status = read_tables(text); !status) return status.error();
  result_.corpus.platforms = group_platforms(servers_, source_);
  screen();
  gather_facts(servers_, kept_, result_.corpus.platforms);
  add_runs();
  add_machine_runs();
  for (SparecoresServer& server : servers_) {
    set_own_facts(server);
    result_.corpus.servers.push_back(server.server);
  }
  result_.corpus.exclusions = exclusions_.take(source_);
  return std::move(result_);
}

Status SparecoresImport::read_tables(const SparecoresText& text) {
  auto facts = CsvTable::parse(text.servers_csv, text.servers_path);
  if (!facts) return facts.error();
  auto rates = CsvTable::parse(text.benchmarks_csv, text.benchmarks_path);
  if (!rates) return rates.error();
  const auto vendor = rates->column("vendor");
  if (!vendor) return vendor.error();
  const auto name = rates->column("server");
  if (!name) return name.error();
  auto servers = read_sparecores_servers(*facts);
  if (!servers) return servers.error();

  choose_columns(*rates);
  auto row_of = rows_by_server(*rates, *vendor, *name, exclusions_);
  result_.report.servers_read_count = static_cast<int64_t>(servers->size());
  std::map<std::string, size_t> seen;
  for (SparecoresServer& server : *servers) {
    if (server.server.vendor.empty() || server.server.name.empty()) {
      exclusions_.add("server", "without vendor or name");
    } else if (!seen.emplace(server.id(), 0).second) {
      exclusions_.add("server", "named twice: the first row stays");
    } else {
      servers_.push_back(std::move(server));
    }
  }
  for (const auto& [server, row] : row_of) {
    if (!seen.contains(server)) exclusions_.add("row of rates", "its server is not in the server table");
  }
  read_rates(*rates, row_of);
  return {};
}

void SparecoresImport::choose_columns(const CsvTable& rates) {
  for (size_t i = 0; i < rates.columns().size(); ++i) {
    const std::string& name = rates.columns()[i];
    if (name == "vendor" || name == "server") continue;
    ++result_.report.columns_read_count;
    SparecoresColumn meaning = classify_sparecores_column(name);
    if (meaning.use == SparecoresColumn::Use::kSkip) {
      exclusions_.add("column", meaning.reason);
      continue;
    }
    ++result_.report.columns_used_count;
    const std::string* id = catalogue_.id_of_label(label_of_one(name));
    if (id != nullptr && meaning.use != SparecoresColumn::Use::kFact) meaning.program = *id;
    auto& used = meaning.use == SparecoresColumn::Use::kRun          ? run_columns_
                 : meaning.use == SparecoresColumn::Use::kMachineRun ? machine_columns_
                                                                     : fact_columns_;
    used.push_back({i, std::move(meaning)});
  }
}

void SparecoresImport::read_rates(const CsvTable& rates, const std::unordered_map<std::string, size_t>& row_of) {
  for (SparecoresServer& server : servers_) {
    rates_.emplace_back(run_columns_.size(), kUnknown);
    machine_rates_.emplace_back(machine_columns_.size(), kUnknown);
    const auto row = row_of.find(server.id());
    if (row == row_of.end()) continue;
    const auto share = [&](double value, bool per_vcpu) {
      return per_vcpu ? value / server.server.vcpus.value_or(kUnknown) : value;
    };
    for (size_t i = 0; i < run_columns_.size(); ++i) {
      const SparecoresColumn& meaning = run_columns_[i].meaning;
      const auto value = usable_rate(rates.cell(row->second, run_columns_[i].index), kOneWorker, exclusions_);
      if (!value) continue;
      rates_.back()[i] = share(*value, meaning.per_vcpu);
      if (std::isnan(rates_.back()[i])) exclusions_.add(kOneWorker, "of all cores, whose number is unknown");
    }
    read_machine_rates(rates, row->second, machine_rates_.back());
    for (const UsedColumn& column : fact_columns_) {
      const auto value = usable_rate(rates.cell(row->second, column.index), kMemoryFigure, exclusions_);
      if (!value) continue;
      const double fact = share(*value, column.meaning.per_vcpu) * column.meaning.scale;
      if (std::isfinite(fact)) server.facts[column.meaning.fact] = fact;
    }
  }
}

void SparecoresImport::read_machine_rates(const CsvTable& rates, size_t row, std::vector<double>& of_server) {
  bool are_copies = false;
  for (size_t i = 0; i < machine_columns_.size(); ++i) {
    const auto value = usable_rate(rates.cell(row, machine_columns_[i].index), kAllWorkers, exclusions_);
    if (!value) continue;
    of_server[i] = *value;
    are_copies |= machine_columns_[i].meaning.program.starts_with(kMarksCopies);
  }
  if (are_copies) return;
  for (size_t i = 0; i < machine_columns_.size(); ++i) {
    if (!machine_columns_[i].meaning.per_core || std::isnan(of_server[i])) continue;
    of_server[i] = kUnknown;
    exclusions_.add(kAllWorkers, "of an older meaning: threads inside of one copy");
  }
}

// Of servers that were kept, and programs of which one copy was timed on one of them, too.
void SparecoresImport::add_machine_runs() {
  for (size_t column = 0; column < machine_columns_.size(); ++column) {
    const SparecoresColumn& meaning = machine_columns_[column].meaning;
    const bool is_known = result_.corpus.find_program(meaning.program) != nullptr;
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (std::isnan(machine_rates_[i][column])) continue;
      const Server& server = servers_[i].server;
      const auto copies = meaning.per_core ? server.cores : server.vcpus;
      const double time_s = copies.value_or(kUnknown) / machine_rates_[i][column];
      if (!kept_[i] || !is_known) {
        exclusions_.add(kAllWorkers, kept_[i] ? "of no rate of one worker" : "of a server that was left out");
      } else if (!copies || *copies < 1 || !std::isfinite(time_s) || !(time_s > 0)) {
        exclusions_.add(kAllWorkers, "of an unknown number of workers");
      } else {
        result_.corpus.machine_runs.push_back(
            {meaning.program, server.platform, servers_[i].id(), *copies, time_s, source_});
      }
    }
  }
}

void SparecoresImport::screen() {
  // Only rates of one worker compare a server with its platform; those of all cores grow with its size.
  std::vector<size_t> compared;
  std::vector<bool> fingerprint;
  for (size_t i = 0; i < run_columns_.size(); ++i) {
    if (run_columns_[i].meaning.threads != 1) continue;
    compared.push_back(i);
    const Program* program = catalogue_.find(run_columns_[i].meaning.program);
    fingerprint.push_back(program != nullptr && program->group == "user" && program->excluded.empty());
  }
  std::vector<ScreenedServer> screened;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const SparecoresServer& server = servers_[i];
    const Platform& platform = result_.corpus.platforms[server.platform];
    ScreenedServer entry{server.server.vendor, server.server.name, server.platform, platform.arch, {}};
    for (const auto& number : {platform.cpu_family, platform.model}) {
      entry.generation += "/" + (number ? std::to_string(*number) : std::string("?"));
    }
    for (const size_t column : compared) entry.log_rates.push_back(std::log(rates_[i][column]));
    screened.push_back(std::move(entry));
  }
  const std::vector<Screening> screenings = screen_servers(screened, fingerprint);
  for (size_t i = 0; i < servers_.size(); ++i) {
    kept_.push_back(screenings[i].reason.empty());
    if (kept_[i]) {
      ++result_.report.servers_kept_count;
      continue;
    }
    exclusions_.add("server", screenings[i].reason);
    result_.report.dropped_servers.push_back(
        {servers_[i].id(), servers_[i].server.platform, screenings[i].reason, screenings[i].rate_ratio});
  }
}

void SparecoresImport::add_runs() {
  for (size_t column = 0; column < run_columns_.size(); ++column) {
    const SparecoresColumn& meaning = run_columns_[column].meaning;
    const size_t before = result_.corpus.runs.size();
    for (size_t i = 0; i < servers_.size(); ++i) {
      const double time_s = 1 / rates_[i][column];
      if (std::isnan(time_s)) continue;
      if (!kept_[i]) {
        exclusions_.add(kOneWorker, "of a server that was left out");
        continue;
      }
      if (!std::isfinite(time_s) || !(time_s > 0)) {
        exclusions_.add(kOneWorker, "no finite time");
        continue;
      }
      result_.corpus.runs.push_back({meaning.program, servers_[i].server.platform, servers_[i].id(), meaning.threads,
                                     time_s, std::nullopt, source_});
    }
    if (result_.corpus.runs.size() == before) {
      exclusions_.add("program", "no rate is left");
      continue;
    }
    if (result_.corpus.find_program(meaning.program) != nullptr) continue;  // another thread count of it
    result_.corpus.programs.push_back(catalogue_.describe(meaning.program, source_));
    if (catalogue_.find(meaning.program) == nullptr) result_.report.unknown_programs.push_back(meaning.program);
  }
}

}  // namespace

Result<Import> import_sparecores(const SparecoresText& text, const ProgramCatalogue& catalogue) {
  return SparecoresImport(catalogue).run(text);
}

Result<Import> import_sparecores_folder(const std::string& path, const ProgramCatalogue& catalogue) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return Error{"file-not-found", "this is no folder", path, "a folder with servers.csv and benchmarks_wide.csv(.gz)"};
  }
  SparecoresText text;
  text.servers_path = path + "/servers.csv";
  text.benchmarks_path = path + "/benchmarks_wide.csv";
  for (std::string* file : {&text.servers_path, &text.benchmarks_path}) {
    if (!std::filesystem::exists(*file, ignored)) *file += ".gz";
    if (!std::filesystem::exists(*file, ignored)) {
      return Error{"file-not-found", "the folder lacks this file", *file,
                   "a folder with servers.csv and benchmarks_wide.csv(.gz)"};
    }
  }
  auto servers = read_file(text.servers_path, kMaximumTableBytes);
  if (!servers) return servers.error();
  auto rates = read_file(text.benchmarks_path, kMaximumTableBytes);
  if (!rates) return rates.error();
  text.servers_csv = std::move(*servers);
  text.benchmarks_csv = std::move(*rates);
  const SourceNote note = read_source_note(path);
  text.commit = note.commit;
  text.retrieved_utc = note.retrieved_utc;
  return import_sparecores(text, catalogue);
}

}  // namespace perfcast::program
