#include "program/corpus/importers/import.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "program/corpus/importers/aiwc_importer.h"
#include "program/corpus/importers/gpuperfpredict_importer.h"
#include "program/corpus/importers/likwid_importer.h"
#include "program/corpus/importers/nvidia_profiler_importers.h"
#include "program/corpus/importers/openbenchmarking_importer.h"
#include "program/corpus/importers/papi_importer.h"
#include "program/corpus/importers/perf_stat_importer.h"
#include "program/corpus/importers/profile_importer.h"
#include "program/corpus/importers/sparecores_importer.h"
#include "program/corpus/importers/table_importer.h"

namespace perfcast::program {
namespace {

constexpr size_t kNamesShown = 12;

std::string count_text(size_t value) { return std::to_string(value); }

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = {
      {"sparecores",
       "Spare Cores inspector: a folder with servers.csv and benchmarks_wide.csv(.gz); with scores.csv(.gz), there or "
       "in "
       "../geekbench6, Geekbench too",
       import_sparecores_folder,
       {"suites/cloud.json", "suites/apps.json"}},
      {"openbenchmarking",
       "OpenBenchmarking.org: a folder with tests.csv, results.csv and cpus.csv",
       import_openbenchmarking_folder,
       {"suites/apps.json"},
       false},
      {"profiles",
       "Profiles of perfcast: a folder of *.json, or the profiles.jsonl of a corpus export",
       import_profiles,
       {"suites/cloud.json"},
       true,
       true},
      {"gpuperfpredict", "Rodinia kernels on NVIDIA GPUs: a folder with rodinia_nvprof.csv(.gz), or that file",
       import_gpuperfpredict_path},
      {"aiwc", "OpenCL kernels with AIWC features: a folder with features.csv, runtimes.csv, devices.csv",
       import_aiwc_folder},
      {"table", "Your own CSV, wide or long: the JSON file that says what its columns mean; see docs/import.md",
       import_table_path},
      {"perf-stat",
       "perf stat -j, -x or as printed: a file, or a folder of files, each one profile",
       import_perf_stat,
       {"suites/cloud.json"},
       true,
       true},
      {"likwid",
       "likwid-perfctr -O: a file, or a folder of files, each one profile",
       import_likwid,
       {"suites/cloud.json"},
       true,
       true},
      {"papi",
       "The JSON of PAPI's high-level interface: a file, or a folder of files, each one profile",
       import_papi,
       {"suites/cloud.json"},
       true,
       true},
      {"ncu",
       "ncu --csv (Nsight Compute): a file, or a folder of files, with a profile for each kernel",
       import_ncu,
       {"suites/cloud.json"},
       true,
       true},
      {"nvprof",
       "nvprof --csv: a file, or a folder of files, with a profile for each kernel",
       import_nvprof,
       {"suites/cloud.json"},
       true,
       true},
  };
  return formats;
}

Result<ImportFormat> find_import_format(const std::string& name) {
  std::vector<std::string> names;
  for (const ImportFormat& format : import_formats()) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  return usage_error("bad-usage", "there is no import format '" + printable(name) + "'", "FORMAT",
                     "one of: " + join(names, ", "));
}

Json to_json(const Import& result) {
  const Corpus& corpus = result.corpus;
  const ImportReport& report = result.report;
  Json json{{"schema", "perfcast.import/1"}, {"format", report.format}};
  json["sources"] = Json::array();
  for (const Source& source : corpus.sources) {
    json["sources"].push_back({{"id", source.id},
                               {"url", source.url},
                               {"licence", source.licence},
                               {"retrieved_utc", source.retrieved_utc},
                               {"note", source.note}});
  }
  json["platforms_count"] = corpus.platforms.size();
  json["programs_count"] = corpus.programs.size();
  json["runs_count"] = corpus.runs.size();
  json["profiles_count"] = corpus.profiles.size();
  json["servers_read_count"] = report.servers_read_count;
  json["servers_kept_count"] = report.servers_kept_count;
  json["columns_read_count"] = report.columns_read_count;
  json["columns_used_count"] = report.columns_used_count;
  json["excluded"] = Json::array();
  for (const Exclusion& exclusion : corpus.exclusions) {
    json["excluded"].push_back(
        {{"subject", exclusion.subject}, {"reason", exclusion.reason}, {"count", exclusion.count}});
  }
  json["dropped_servers"] = Json::array();
  for (const DroppedServer& dropped : report.dropped_servers) {
    Json entry{{"server", dropped.server}, {"platform", dropped.platform}, {"reason", dropped.reason}};
    if (std::isfinite(dropped.rate_ratio)) entry["rate_ratio"] = dropped.rate_ratio;
    json["dropped_servers"].push_back(std::move(entry));
  }
  json["notes"] = report.notes;
  json["unknown_programs"] = report.unknown_programs;
  return json;
}

std::string to_text(const Import& result) {
  const Corpus& corpus = result.corpus;
  const ImportReport& report = result.report;
  std::string text;
  for (const Source& source : corpus.sources) {
    text += "source     " + source.id + "  " + source.url + "  (" + source.licence + ")\n";
  }
  if (!corpus.platforms.empty()) text += "platforms  " + count_text(corpus.platforms.size()) + "\n";
  if (report.servers_read_count > 0) {
    text += "servers    " + std::to_string(report.servers_kept_count) + " of " +
            std::to_string(report.servers_read_count) + " used\n";
  }
  text += "programs   " + count_text(corpus.programs.size()) + "\n";
  if (!corpus.runs.empty()) text += "runs       " + count_text(corpus.runs.size()) + "\n";
  if (!corpus.profiles.empty()) text += "profiles   " + count_text(corpus.profiles.size()) + "\n";
  if (!corpus.exclusions.empty()) {
    text += "\nleft out:\n";
    TextTable table;
    table.add_column("count", TextTable::Align::kRight);
    table.add_column("what", TextTable::Align::kLeft);
    table.add_column("why", TextTable::Align::kLeft);
    for (const Exclusion& exclusion : corpus.exclusions) {
      table.add_row({std::to_string(exclusion.count), exclusion.subject, exclusion.reason});
    }
    text += table.to_text();
  }
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  if (!report.unknown_programs.empty()) {
    std::vector<std::string> shown = report.unknown_programs;
    const size_t more = shown.size() > kNamesShown ? shown.size() - kNamesShown : 0;
    shown.resize(shown.size() - more);
    text += "\n" + count_text(report.unknown_programs.size()) +
            " programs are not in the suite file (group unknown): " + printable(join(shown, ", ")) +
            (more > 0 ? ", and " + count_text(more) + " more" : "") + "\n";
  }
  return text;
}

}  // namespace perfcast::program
