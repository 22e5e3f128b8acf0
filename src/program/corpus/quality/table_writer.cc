#include "program/corpus/quality/table_writer.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

std::string sources_csv(const Corpus& corpus) {
  CsvText csv({"source", "url", "licence", "retrieved_utc", "note"});
  for (const Source& source : corpus.sources) {
    csv.add(source.id).add(source.url).add(source.licence).add(source.retrieved_utc).add(source.note).end_row();
  }
  return csv.text();
}

std::string platforms_csv(const Corpus& corpus) {
  CsvText csv(
      {"platform", "name", "kind", "arch", "vendor", "cpu_family", "model", "stepping", "flags", "source", "segment"});
  for (const Platform& platform : corpus.platforms) {
    csv.add(platform.id).add(platform.name).add(platform.kind).add(platform.arch).add(platform.vendor);
    csv.add(platform.cpu_family).add(platform.model).add(platform.stepping);
    csv.add(join(platform.flags, " ")).add(platform.source).add(platform.segment).end_row();
  }
  return csv.text();
}

std::string facts_csv(const Corpus& corpus) {
  CsvText csv({"platform", "fact", "value"});
  for (const Platform& platform : corpus.platforms) {
    for (const auto& [name, value] : platform.facts) csv.add(platform.id).add(name).add(value).end_row();
  }
  return csv.text();
}

std::string servers_csv(const Corpus& corpus) {
  CsvText csv(
      {"vendor", "server", "platform", "vcpus_count", "memory_gib", "threads_per_core_count", "cores_count", "source"});
  for (const Server& server : corpus.servers) {
    csv.add(server.vendor).add(server.name).add(server.platform).add(server.vcpus).add(server.memory_gib);
    csv.add(server.threads_per_core).add(server.cores).add(server.source).end_row();
  }
  return csv.text();
}

std::string server_facts_csv(const Corpus& corpus) {
  CsvText csv({"vendor", "server", "fact", "value"});
  for (const Server& server : corpus.servers) {
    for (const auto& [name, value] : server.facts)
      csv.add(server.vendor).add(server.name).add(name).add(value).end_row();
  }
  return csv.text();
}

std::string programs_csv(const Corpus& corpus) {
  CsvText csv({"program", "family", "group", "suite", "work_unit", "excluded", "source"});
  for (const Program& program : corpus.programs) {
    csv.add(program.id).add(program.family).add(program.group).add(program.suite).add(program.work_unit);
    csv.add(program.excluded).add(program.source).end_row();
  }
  return csv.text();
}

std::string runs_csv(const Corpus& corpus) {
  CsvText csv({"program", "platform", "server", "threads_count", "time_s", "energy_joules", "source", "results_count",
               "spread_ratio"});
  for (const Run& run : corpus.runs) {
    csv.add(run.program).add(run.platform).add(run.server).add(run.threads).add(run.time_s).add(run.energy_joules);
    csv.add(run.source).add(run.results_count).add(run.spread_ratio).end_row();
  }
  return csv.text();
}

std::string machine_runs_csv(const Corpus& corpus) {
  CsvText csv({"program", "platform", "server", "copies_count", "time_s", "source"});
  for (const MachineRun& run : corpus.machine_runs) {
    csv.add(run.program).add(run.platform).add(run.server).add(run.copies).add(run.time_s).add(run.source).end_row();
  }
  return csv.text();
}

std::string exclusions_csv(const Corpus& corpus) {
  CsvText csv({"source", "subject", "reason", "rows_count"});
  for (const Exclusion& exclusion : corpus.exclusions) {
    csv.add(exclusion.source).add(exclusion.subject).add(exclusion.reason).add(exclusion.count).end_row();
  }
  return csv.text();
}

std::string profiles_jsonl(const Corpus& corpus) {
  std::string text;
  for (const StoredProfile& stored : corpus.profiles) {
    const Json line{{"program", stored.program}, {"source", stored.source}, {"profile", to_json(stored.profile)}};
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace

CsvText::CsvText(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) add(column);
  end_row();
}
CsvText& CsvText::add(const std::string& cell) { return put(csv_cell(cell)); }
CsvText& CsvText::add(double value) { return put(fmt::format("{}", value)); }
CsvText& CsvText::add(int64_t value) { return put(std::to_string(value)); }
void CsvText::end_row() {
  text_ += "\n";
  first_ = true;
}
CsvText& CsvText::put(const std::string& cell) {
  if (!first_) text_ += ',';
  text_ += cell;
  first_ = false;
  return *this;
}

std::vector<TableFile> corpus_tables(const Corpus& corpus) {
  return {{"sources.csv", sources_csv(corpus)},
          {"platforms.csv", platforms_csv(corpus)},
          {"facts.csv", facts_csv(corpus)},
          {"servers.csv", servers_csv(corpus)},
          {"server_facts.csv", server_facts_csv(corpus)},
          {"programs.csv", programs_csv(corpus)},
          {"runs.csv", runs_csv(corpus)},
          {"machine_runs.csv", machine_runs_csv(corpus)},
          {"exclusions.csv", exclusions_csv(corpus)},
          {"profiles.jsonl", profiles_jsonl(corpus)}};
}

Status write_tables(const Corpus& corpus, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    return Error{"file-error", "cannot create the folder: " + problem.message(), folder, "a folder that you may write"};
  }
  for (const TableFile& table : corpus_tables(corpus)) {
    if (Status status = write_file_atomically(folder + "/" + table.name, table.text); !status) return status;
  }
  return {};
}

}  // namespace perfcast::program
