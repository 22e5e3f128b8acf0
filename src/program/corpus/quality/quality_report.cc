#include "program/corpus/quality/quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kRowsShown = 15;
constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

std::string percent(double ratio) { return fmt::format("{:.1f} %", 100 * ratio); }
std::string decimals(const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : "-"; }

Json exclusion_json(const Exclusion& exclusion) {
  return {{"source", exclusion.source},
          {"subject", exclusion.subject},
          {"reason", exclusion.reason},
          {"count", exclusion.count}};
}

Json program_json(const ProgramQuality& program) {
  Json json{{"id", program.id}, {"family", program.family}, {"group", program.group}};
  if (!program.excluded.empty()) json["excluded"] = program.excluded;
  json["threads"] = program.threads;
  json["platforms_count"] = program.platforms_count;
  json["runs_count"] = program.runs_count;
  json["has_profile"] = program.has_profile;
  put(json, "noise_mape_ratio", program.noise_mape_ratio);
  put(json, "server_spread_ratio", program.spread_ratio);
  put(json, "host_label_ratio", program.host_label_ratio);
  if (!program.host_platform.empty()) json["host_platform"] = program.host_platform;
  return json;
}

bool disagrees_with_host(const ProgramQuality& program) {
  return program.host_label_ratio &&
         (*program.host_label_ratio > kHostLabelRatio || *program.host_label_ratio < 1 / kHostLabelRatio);
}

std::string count_line(const char* label, const std::string& value) { return fmt::format("{:<22} {}\n", label, value); }

std::string groups_text(const QualityCard& card) {
  TextTable table;
  table.add_column("group", kLeft);
  for (const char* title : {"programs", "excluded", "profiled", "families", "coverage"})
    table.add_column(title, kRight);
  table.add_column("largest family", kLeft);
  for (const GroupQuality& group : card.groups) {
    table.add_row({printable(group.group), std::to_string(group.programs_count), std::to_string(group.excluded_count),
                   std::to_string(group.with_profile_count), std::to_string(group.families_count),
                   percent(group.coverage_ratio),
                   printable(group.largest_family) + " (" + std::to_string(group.largest_family_programs_count) + ")"});
  }
  return "coverage: share of (program, platform) pairs with a time\n" + table.to_text();
}

std::string noise_text(const QualityCard& card) {
  TextTable table;
  table.add_column("group", kLeft);
  for (const char* title : {"entries", "MAPE", "median error", "pair order", "R2 (log)"})
    table.add_column(title, kRight);
  for (const NoiseFloor& floor : card.noise) {
    table.add_row({printable(floor.group), std::to_string(floor.entries_count), percent(floor.mape_ratio),
                   percent(floor.median_error_ratio), decimals(floor.pair_order), decimals(floor.r2_log)});
  }
  std::string title = "noise floor: half of each platform's servers against the other half\n";
  const int64_t drawn = card.noise.empty() ? 0 : card.noise.back().drawn_entries_count;
  if (drawn > 0) {
    title += fmt::format("(of {} entries that are published means: halves drawn from their standard error)\n", drawn);
  }
  return title + table.to_text();
}

std::string noisy_programs_text(const QualityCard& card) {
  std::vector<const ProgramQuality*> programs;
  for (const ProgramQuality& program : card.programs) {
    if (program.noise_mape_ratio && program.excluded.empty()) programs.push_back(&program);
  }
  std::stable_sort(programs.begin(), programs.end(), [](const ProgramQuality* a, const ProgramQuality* b) {
    return *a->noise_mape_ratio > *b->noise_mape_ratio;
  });
  if (programs.empty()) return "";
  TextTable table;
  table.add_column("noisiest programs", kLeft);
  table.add_column("group", kLeft);
  table.add_column("noise MAPE", kRight);
  table.add_column("spread of servers", kRight);
  for (size_t i = 0; i < std::min(programs.size(), kRowsShown); ++i) {
    table.add_row({printable(programs[i]->id), printable(programs[i]->group), percent(*programs[i]->noise_mape_ratio),
                   programs[i]->spread_ratio ? percent(*programs[i]->spread_ratio) : "-"});
  }
  return "\n" + table.to_text();
}

std::string host_text(const QualityCard& card) {
  std::vector<const ProgramQuality*> off;
  int64_t compared = 0;
  for (const ProgramQuality& program : card.programs) {
    compared += program.host_label_ratio ? 1 : 0;
    if (disagrees_with_host(program)) off.push_back(&program);
  }
  if (compared == 0) return "\nno profile's host is a platform of the corpus: profiles and labels were not compared\n";
  std::string text = fmt::format("\n{} of {} profiles are over {:.0f} % off the label of their host's platform\n",
                                 off.size(), compared, 100 * (kHostLabelRatio - 1));
  if (off.empty()) return text;
  TextTable table;
  table.add_column("program", kLeft);
  table.add_column("profile / label", kRight);
  table.add_column("platform", kLeft);
  for (const ProgramQuality* program : off) {
    table.add_row({printable(program->id), fmt::format("{:.2f}", *program->host_label_ratio), program->host_platform});
  }
  return text + table.to_text();
}

std::string outliers_text(const QualityCard& card) {
  std::string text = fmt::format("\n{} of {} runs are over {:.0f} robust deviations from their platform's median\n",
                                 card.outliers_count, card.outliers_compared_count, kOutlierDeviations);
  const auto list = [](const std::vector<OutlierCount>& counts) {
    std::vector<std::string> names;
    names.reserve(counts.size());
    for (const OutlierCount& count : counts) names.push_back(printable(count.name) + " " + std::to_string(count.count));
    return join(names, ", ");
  };
  if (!card.outlier_programs.empty()) text += "  programs: " + list(card.outlier_programs) + "\n";
  if (!card.outlier_servers.empty()) text += "  servers:  " + list(card.outlier_servers) + "\n";
  return text;
}

std::string duplicates_text(const QualityCard& card) {
  std::string text =
      fmt::format("\n{} servers beyond the first of their CPU model are near-duplicates: split by platform\n",
                  card.near_duplicate_servers_count);
  if (card.equal_programs.empty()) return text;
  text += "programs with the same times, which are one program twice:\n";
  for (const EqualPrograms& pair : card.equal_programs) {
    text += fmt::format("  {} = {} (typically {:.2f} % apart)\n", printable(pair.a), printable(pair.b),
                        100 * pair.typical_ratio);
  }
  return text;
}

std::string excluded_text(const QualityCard& card) {
  std::string text;
  TextTable programs;
  programs.add_column("excluded program", kLeft);
  programs.add_column("why", kLeft);
  for (const ProgramQuality& program : card.programs) {
    if (!program.excluded.empty()) programs.add_row({printable(program.id), printable(program.excluded)});
  }
  if (programs.rows() > 0) text += "\n" + programs.to_text();
  TextTable rows;
  rows.add_column("left out", kRight);
  rows.add_column("what", kLeft);
  rows.add_column("why", kLeft);
  for (const Exclusion& exclusion : card.exclusions) {
    rows.add_row({std::to_string(exclusion.count), printable(exclusion.subject), printable(exclusion.reason)});
  }
  if (rows.rows() > 0) text += "\n" + rows.to_text();
  return text;
}

std::string names_text(const std::string& title, std::vector<std::string> names) {
  if (names.empty()) return "";
  const size_t all = names.size();
  if (all > kRowsShown) names.resize(kRowsShown);
  return fmt::format("\n{} {}: {}{}\n", all, title, printable(join(names, ", ")), all > kRowsShown ? ", ..." : "");
}

}  // namespace

Json to_json(const QualityCard& card) {
  Json json{{"schema", "perfcast.corpus.check/1"},
            {"sources_count", card.sources_count},
            {"platforms_count", card.platforms_count},
            {"servers_count", card.servers_count},
            {"programs_count", card.programs_count},
            {"runs_count", card.runs_count},
            {"profiles_count", card.profiles_count},
            {"platforms_below_three_servers_count", card.platforms_below_three_servers_count},
            {"near_duplicate_servers_count", card.near_duplicate_servers_count},
            {"outliers_count", card.outliers_count},
            {"outliers_compared_count", card.outliers_compared_count}};
  for (const auto& [name, list] :
       {std::pair("outlier_programs", &card.outlier_programs), std::pair("outlier_servers", &card.outlier_servers)}) {
    json[name] = Json::array();
    for (const OutlierCount& count : *list) json[name].push_back({{"name", count.name}, {"count", count.count}});
  }
  json["groups"] = Json::array();
  for (const GroupQuality& group : card.groups) {
    json["groups"].push_back({{"group", group.group},
                              {"programs_count", group.programs_count},
                              {"excluded_count", group.excluded_count},
                              {"with_profile_count", group.with_profile_count},
                              {"families_count", group.families_count},
                              {"largest_family", group.largest_family},
                              {"largest_family_programs_count", group.largest_family_programs_count},
                              {"coverage_ratio", group.coverage_ratio}});
  }
  json["noise_floor"] = Json::array();
  for (const NoiseFloor& floor : card.noise) {
    Json entry{{"group", floor.group},
               {"entries_count", floor.entries_count},
               {"drawn_entries_count", floor.drawn_entries_count},
               {"mape_ratio", floor.mape_ratio},
               {"median_error_ratio", floor.median_error_ratio}};
    put(entry, "pair_order_ratio", floor.pair_order);
    put(entry, "r2_log", floor.r2_log);
    json["noise_floor"].push_back(std::move(entry));
  }
  json["programs"] = Json::array();
  for (const ProgramQuality& program : card.programs) json["programs"].push_back(program_json(program));
  json["platforms"] = Json::array();
  for (const PlatformQuality& platform : card.platforms) {
    json["platforms"].push_back({{"id", platform.id},
                                 {"name", platform.name},
                                 {"servers_count", platform.servers_count},
                                 {"programs_count", platform.programs_count}});
  }
  json["equal_programs"] = Json::array();
  for (const EqualPrograms& pair : card.equal_programs) {
    json["equal_programs"].push_back({{"a", pair.a},
                                      {"b", pair.b},
                                      {"equal_runs_ratio", pair.equal_share},
                                      {"typical_difference_ratio", pair.typical_ratio}});
  }
  json["profiles_without_runs"] = card.profiles_without_runs;
  json["excluded"] = Json::array();
  for (const Exclusion& exclusion : card.exclusions) json["excluded"].push_back(exclusion_json(exclusion));
  return json;
}

std::string to_text(const QualityCard& card) {
  std::string text;
  text += count_line("platforms", fmt::format("{} ({} with fewer than 3 servers)", card.platforms_count,
                                              card.platforms_below_three_servers_count));
  text += count_line("servers", std::to_string(card.servers_count));
  text += count_line("programs", std::to_string(card.programs_count));
  text += count_line("runs", std::to_string(card.runs_count));
  text += count_line("profiles", std::to_string(card.profiles_count));
  text += "\n" + groups_text(card) + "\n" + noise_text(card) + noisy_programs_text(card) + host_text(card) +
          outliers_text(card) + duplicates_text(card);
  std::vector<std::string> unprofiled;
  for (const ProgramQuality& program : card.programs) {
    if (!program.has_profile && program.excluded.empty()) unprofiled.push_back(program.id);
  }
  text += names_text("programs have times but no profile", unprofiled);
  text += names_text("programs have a profile but no times", card.profiles_without_runs);
  return text + excluded_text(card);
}

Json info_json(const Corpus& corpus) {
  std::map<std::string, int64_t> servers, runs_of_platform, runs_of_program, profiles, runs_of_source;
  for (const Server& server : corpus.servers) ++servers[server.platform];
  for (const Run& run : corpus.runs) {
    ++runs_of_platform[run.platform];
    ++runs_of_program[run.program];
    ++runs_of_source[run.source];
  }
  for (const StoredProfile& stored : corpus.profiles) ++profiles[stored.program];
  Json json{{"schema", "perfcast.corpus.info/1"},     {"platforms_count", corpus.platforms.size()},
            {"servers_count", corpus.servers.size()}, {"programs_count", corpus.programs.size()},
            {"runs_count", corpus.runs.size()},       {"profiles_count", corpus.profiles.size()}};
  json["sources"] = Json::array();
  for (const Source& source : corpus.sources) {
    json["sources"].push_back({{"id", source.id},
                               {"url", source.url},
                               {"licence", source.licence},
                               {"retrieved_utc", source.retrieved_utc},
                               {"note", source.note},
                               {"runs_count", runs_of_source[source.id]}});
  }
  json["platforms"] = Json::array();
  for (const Platform& platform : corpus.platforms) {
    Json entry = to_json(platform);
    entry["servers_count"] = servers[platform.id];
    entry["runs_count"] = runs_of_platform[platform.id];
    entry["facts"] = Json::object();
    for (const auto& [name, value] : platform.facts) entry["facts"][name] = value;
    json["platforms"].push_back(std::move(entry));
  }
  json["programs"] = Json::array();
  for (const Program& program : corpus.programs) {
    Json entry{{"id", program.id},
               {"family", program.family},
               {"group", program.group},
               {"suite", program.suite},
               {"work_unit", program.work_unit}};
    if (!program.excluded.empty()) entry["excluded"] = program.excluded;
    entry["runs_count"] = runs_of_program[program.id];
    entry["profiles_count"] = profiles[program.id];
    entry["source"] = program.source;
    json["programs"].push_back(std::move(entry));
  }
  return json;
}

std::string info_text(const Corpus& corpus) {
  std::string text;
  for (const Source& source : corpus.sources) {
    text += count_line("source", printable(source.id + "  " + source.url + "  (" + source.licence + ")"));
    if (!source.note.empty()) text += count_line("", printable(source.note));
  }
  text += count_line("platforms", std::to_string(corpus.platforms.size()));
  text += count_line("servers", std::to_string(corpus.servers.size()));
  text += count_line("programs", std::to_string(corpus.programs.size()));
  text += count_line("runs", std::to_string(corpus.runs.size()));
  text += count_line("profiles", std::to_string(corpus.profiles.size()));
  std::map<std::string, int64_t> servers, programs;
  for (const Server& server : corpus.servers) ++servers[server.platform];
  TextTable table;
  table.add_column("platform", kLeft);
  table.add_column("arch", kLeft);
  table.add_column("servers", kRight);
  for (const Platform& platform : corpus.platforms) {
    table.add_row({printable(platform.name), printable(platform.arch), std::to_string(servers[platform.id])});
  }
  if (table.rows() > 0) text += "\n" + table.to_text();
  for (const Program& program : corpus.programs) ++programs[program.group];
  TextTable groups;
  groups.add_column("group", kLeft);
  groups.add_column("programs", kRight);
  for (const auto& [group, count] : programs) groups.add_row({printable(group), std::to_string(count)});
  if (groups.rows() > 0) text += "\n" + groups.to_text();
  return text;
}

}  // namespace perfcast::program
