#include "program/corpus/croissant/croissant_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "profile/metrics/catalogue.h"
#include "program/corpus/quality/table_writer.h"

namespace perfcast::program {
namespace {

constexpr const char* kSource = "sources/source";
constexpr const char* kPlatform = "platforms/platform";
constexpr const char* kProgram = "programs/program";

// Columns of the tables of table_writer.h, in their order.
std::vector<PublishedTable> described_tables() {
  const PublishedColumn source{"source", "Text", "where the row comes from", false, kSource};
  const PublishedColumn platform{"platform", "Text", "the CPU, GPU or accelerator model", false, kPlatform};
  const PublishedColumn program{"program", "Text", "the program with its input", false, kProgram};
  const auto key = [](PublishedColumn column) {
    column.is_key = true;
    return column;
  };
  return {
      {"sources",
       "Where the rows come from, with licences",
       {{"source", "Text", "name of the source", true, ""},
        {"url", "Text", "where it is published", false, ""},
        {"licence", "Text", "what it lies under", false, ""},
        {"retrieved_utc", "Text", "when it was read, ISO 8601", false, ""},
        {"note", "Text", "what to know about it", false, ""}},
       ""},
      {"platforms",
       "Machine configurations that programs were timed on",
       {{"platform", "Text", "identifier", true, ""},
        {"name", "Text", "as its source writes it", false, ""},
        {"kind", "Text", "cpu, gpu or accelerator", false, ""},
        {"arch", "Text", "instruction set architecture", false, ""},
        {"vendor", "Text", "who makes it", false, ""},
        {"cpu_family", "Integer", "as CPUID has it", false, ""},
        {"model", "Integer", "as CPUID has it", false, ""},
        {"stepping", "Integer", "as CPUID has it", false, ""},
        {"flags", "Text", "instruction set extensions, blanks between", false, ""},
        source,
        {"segment", "Text", "cloud, server or desktop", false, ""}},
       ""},
      {"facts",
       "Numbers that are known of platforms: sizes, clocks, bandwidths",
       {key(platform),
        {"fact", "Text", "its name ends in its unit", true, ""},
        {"value", "Float", "in that unit", false, ""}},
       ""},
      {"servers",
       "Instance types that carry a platform",
       {{"vendor", "Text", "who rents it out", true, ""},
        {"server", "Text", "the instance type", true, ""},
        platform,
        {"vcpus_count", "Float", "virtual CPUs", false, ""},
        {"memory_gib", "Float", "memory in GiB", false, ""},
        {"threads_per_core_count", "Float", "hardware threads of a core", false, ""},
        {"cores_count", "Float", "physical cores", false, ""},
        source},
       ""},
      {"server_facts",
       "What single servers say of themselves, where it differs from their platform's",
       {{"vendor", "Text", "who rents it out", true, ""},
        {"server", "Text", "the instance type", true, ""},
        {"fact", "Text", "its name ends in its unit", true, ""},
        {"value", "Float", "in that unit", false, ""}},
       ""},
      {"programs",
       "Programs with their input",
       {{"program", "Text", "identifier", true, ""},
        {"family", "Text", "all levels, directions and variants of one program", false, ""},
        {"group", "Text", "kind of program", false, ""},
        {"suite", "Text", "set that it belongs to", false, ""},
        {"work_unit", "Text", "what times are per", false, ""},
        {"excluded", "Text", "why it is no comparison; blank: it is one", false, ""},
        source},
       ""},
      {"runs",
       "Measured times of one copy of a program",
       {program,
        platform,
        {"server", "Text", "vendor/server; blank: not known", false, ""},
        {"threads_count", "Integer", "threads of the program; 0: as many as the machine has", false, ""},
        {"time_s", "Float", "seconds per unit of work", false, ""},
        {"energy_joules", "Float", "energy per unit of work", false, ""},
        source,
        {"results_count", "Integer", "results that the source publishes the mean of", false, ""},
        {"spread_ratio", "Float", "their standard deviation over their mean", false, ""}},
       ""},
      {"machine_runs",
       "Measured times of copies that fill a server",
       {program,
        platform,
        {"server", "Text", "vendor/server", false, ""},
        {"copies_count", "Float", "copies at once", false, ""},
        {"time_s", "Float", "seconds per unit of work of each copy", false, ""},
        source},
       ""},
      {"exclusions",
       "What was left out of a source",
       {source,
        {"subject", "Text", "what is counted", false, ""},
        {"reason", "Text", "why it was left out", false, ""},
        {"rows_count", "Integer", "how many", false, ""}},
       ""},
  };
}

PublishedTable profiles_table(const Corpus& corpus) {
  PublishedTable table{"profiles",
                       "Runs of a program under instruments, with what they were run on; numbers: profile_metrics",
                       {{"profile", "Integer", "number of the profile", true, ""},
                        {"program", "Text", "the program with its input", false, kProgram},
                        {"host", "Text", "CPU or GPU model that it was taken on", false, ""},
                        {"instruction_set", "Text", "of the program", false, ""},
                        {"started_utc", "Text", "when, ISO 8601", false, ""},
                        {"exit_status", "Integer", "of the run; blank: ended by a signal", false, ""},
                        {"work_count", "Float", "units of work that the run did", false, ""},
                        {"work_unit", "Text", "the unit of work", false, ""},
                        {"source", "Text", "where it comes from", false, kSource}},
                       ""};
  std::vector<std::string> columns;
  for (const PublishedColumn& column : table.columns) columns.push_back(column.name);
  CsvText csv(columns);
  int64_t number = 0;
  for (const StoredProfile& stored : corpus.profiles) {
    const Profile& profile = stored.profile;
    const std::string status = profile.exit_code ? std::to_string(*profile.exit_code) : "";
    csv.add(++number).add(stored.program).add(profile.host.name).add(profile.instruction_set).add(profile.started_utc);
    csv.add(status).add(profile.work_units).add(profile.work_unit).add(stored.source).end_row();
  }
  table.csv = csv.text();
  return table;
}

PublishedTable metrics_table(const Corpus& corpus) {
  PublishedTable table{"profile_metrics",
                       "Numbers of the profiles: counters, and what follows from them",
                       {{"profile", "Integer", "number of the profile", true, "profiles/profile"},
                        {"metric", "Text", "its name ends in its unit", true, ""},
                        {"value", "Float", "in that unit", false, ""}},
                       ""};
  CsvText csv({"profile", "metric", "value"});
  int64_t number = 0;
  for (const StoredProfile& stored : corpus.profiles) {
    ++number;
    for (const auto& [name, value] : stored.profile.metrics) csv.add(number).add(name).add(value).end_row();
  }
  table.csv = csv.text();
  return table;
}

std::optional<TrainingTable> samples_of(const Corpus& corpus) {
  TableOptions all;
  all.minimum_coverage = 0;
  auto table = make_training_table(corpus, all);
  return table ? std::optional(std::move(*table)) : std::nullopt;
}

std::set<std::string> metrics_of(const TrainingTable& table) {
  std::set<std::string> names;
  for (const Profile& profile : table.profiles) {
    for (const auto& [name, value] : profile.metrics) names.insert(name);
  }
  return names;
}

std::string time_column(const Platform& platform) { return platform.id + "_time_s"; }

PublishedTable samples_table(const TrainingTable& samples) {
  PublishedTable table{"samples",
                       "A row for each program with a profile and times: its counters, and the median time on each "
                       "platform; perfcast import table reads it by samples.json",
                       {{"program", "Text", "the program with its input", true, kProgram},
                        {"family", "Text", "all levels, directions and variants of one program", false, ""}},
                       ""};
  const std::set<std::string> metrics = metrics_of(samples);
  for (const std::string& name : metrics) {
    const Metric* known = Catalogue::built_in().find(name);
    table.columns.push_back({name, "Float", known != nullptr ? known->description : "", false, ""});
  }
  for (const Platform& platform : samples.platforms) {
    table.columns.push_back(
        {time_column(platform), "Float", "median seconds per unit of work on " + platform.name, false, ""});
  }
  std::vector<std::string> columns;
  for (const PublishedColumn& column : table.columns) columns.push_back(column.name);
  CsvText csv(columns);
  for (size_t p = 0; p < samples.programs.size(); ++p) {
    csv.add(samples.programs[p].id).add(samples.programs[p].family);
    for (const std::string& name : metrics) {
      const auto found = samples.profiles[p].metrics.find(name);
      csv.add(found == samples.profiles[p].metrics.end() ? std::nullopt : std::optional(found->second));
    }
    for (size_t j = 0; j < samples.platforms.size(); ++j) {
      const auto& time = samples.at(p, j);
      csv.add(time ? std::optional(std::exp(time->log_time)) : std::nullopt);
    }
    csv.end_row();
  }
  table.csv = csv.text();
  return table;
}

// As `import table` calls the unit that a metric's name ends in; empty: it knows none.
std::string unit_of(const std::string& metric) {
  for (const auto& [suffix, unit] : {std::pair{"_bytes_per_s", "byte/s"},
                                     {"_per_s", "1/s"},
                                     {"_count", "count"},
                                     {"_ratio", "ratio"},
                                     {"_bytes", "byte"},
                                     {"_joules", "J"},
                                     {"_s", "s"}}) {
    if (metric.ends_with(suffix)) return unit;
  }
  return "";
}

}  // namespace

std::vector<PublishedTable> published_tables(const Corpus& corpus) {
  std::vector<PublishedTable> tables = described_tables();
  for (const TableFile& file : corpus_tables(corpus)) {
    const auto found = std::find_if(tables.begin(), tables.end(),
                                    [&](const PublishedTable& table) { return table.name + ".csv" == file.name; });
    if (found != tables.end()) found->csv = file.text;
  }
  tables.push_back(profiles_table(corpus));
  tables.push_back(metrics_table(corpus));
  if (const auto samples = samples_of(corpus)) tables.push_back(samples_table(*samples));
  return tables;
}

std::string samples_mapping(const Corpus& corpus, const std::string& name, const std::string& licence,
                            const std::string& url) {
  const auto samples = samples_of(corpus);
  if (!samples) return "";
  Json json{{"schema", "perfcast.table/1"}, {"name", name},         {"csv", "samples.csv"}, {"url", url},
            {"licence", licence},           {"program", "program"}, {"family", "family"}};
  Json columns = Json::object(), platforms = Json::object(), counters = Json::array();
  for (const Platform& platform : samples->platforms) {
    columns[platform.name] = time_column(platform);
    Json& described = platforms[platform.name] = {{"kind", platform.kind}};
    if (!platform.vendor.empty()) described["vendor"] = platform.vendor;
    if (!platform.arch.empty()) described["arch"] = platform.arch;
    if (!platform.facts.empty()) described["facts"] = platform.facts;
  }
  json["times"] = {{"columns", std::move(columns)}, {"unit", "s"}};
  for (const std::string& metric : metrics_of(*samples)) {
    const std::string unit = unit_of(metric);
    if (!unit.empty()) counters.push_back({{"column", metric}, {"unit", unit}, {"metric", metric}});
  }
  json["counters"] = std::move(counters);
  json["platforms"] = std::move(platforms);
  return perfcast::to_text(json);
}

}  // namespace perfcast::program
