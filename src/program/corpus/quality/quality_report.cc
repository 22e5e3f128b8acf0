#include "program/corpus/quality/quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kRowsShown = 15;
using Q = Quantity;

Json program_json(const ProgramQuality& program) {
  Json json{{"id", program.id}, {"family", program.family}, {"group", program.group}};
  if (!program.excluded.empty()) json["excluded"] = program.excluded;
  json["threads"] = program.threads;
  json["platforms_count"] = program.platforms_count;
  json["runs_count"] = program.runs_count;
  json["has_profile"] = program.has_profile;
  put_known(json, "noise_mape_ratio", program.noise_mape_ratio);
  put_known(json, "server_spread_ratio", program.spread_ratio);
  put_known(json, "host_label_ratio", program.host_label_ratio);
  if (!program.host_platform.empty()) json["host_platform"] = program.host_platform;
  return json;
}

bool disagrees_with_host(const ProgramQuality& program) {
  return program.host_label_ratio &&
         (*program.host_label_ratio > kHostLabelRatio || *program.host_label_ratio < 1 / kHostLabelRatio);
}

std::string count_line(const char* label, const std::string& value) { return fmt::format("{:<22} {}\n", label, value); }

ReportTable groups_table(const QualityCard& card) {
  using Row = GroupQuality;
  return table_of<Row>("", card.groups,
                       {{"group", "group", Q::kText, &Row::group},
                        {"programs_count", "programs", Q::kCount, &Row::programs_count},
                        {"excluded_count", "excluded", Q::kCount, &Row::excluded_count},
                        {"with_profile_count", "profiled", Q::kCount, &Row::with_profile_count},
                        {"families_count", "families", Q::kCount, &Row::families_count},
                        {"largest_family", "", Q::kText, &Row::largest_family},
                        {"largest_family_programs_count", "", Q::kCount, &Row::largest_family_programs_count},
                        {"coverage_ratio", "coverage", Q::kShare, &Row::coverage_ratio, 1},
                        {"", "largest family", Q::kText, [](const Row& group) {
                           return fmt::format("{} ({})", group.largest_family, group.largest_family_programs_count);
                         }}});
}

ReportTable noise_table(const QualityCard& card) {
  using Row = NoiseFloor;
  return table_of<Row>("", card.noise,
                       {{"group", "group", Q::kText, &Row::group},
                        {"entries_count", "entries", Q::kCount, &Row::entries_count},
                        {"drawn_entries_count", "", Q::kCount, &Row::drawn_entries_count},
                        {"mape_ratio", "MAPE", Q::kShare, &Row::mape_ratio, 1},
                        {"median_error_ratio", "median error", Q::kShare, &Row::median_error_ratio, 1},
                        {"pair_order_ratio", "pair order", Q::kNumber, &Row::pair_order, 3},
                        {"r2_log", "R2 (log)", Q::kNumber, &Row::r2_log, 3}});
}

ReportTable excluded_table(const QualityCard& card) {
  return table_of<Exclusion>("", card.exclusions,
                             {{"source", "", Q::kText, &Exclusion::source},
                              {"subject", "what", Q::kText, &Exclusion::subject},
                              {"reason", "why", Q::kText, &Exclusion::reason},
                              {"count", "left out", Q::kCount, &Exclusion::count}});
}

std::string noise_text(const QualityCard& card) {
  const auto is_known = [](const NoiseFloor& floor) { return floor.entries_count > 0; };
  if (std::none_of(card.noise.begin(), card.noise.end(), is_known)) {
    return "noise floor: not known; it takes two platforms with times of two servers or more for one program\n";
  }
  std::string title = "noise floor: half of each platform's servers against the other half\n";
  const int64_t drawn = card.noise.empty() ? 0 : card.noise.back().drawn_entries_count;
  if (drawn > 0) {
    title += fmt::format("(of {} entries that are published means: halves drawn from their standard error)\n", drawn);
  }
  title += rows_text(noise_table(card));
  if (!std::all_of(card.noise.begin(), card.noise.end(), is_known)) {
    title += "-: not known, as no program of the group has two platforms with times of two servers or more\n";
  }
  return title;
}

std::string noisy_programs_text(const QualityCard& card) {
  std::vector<ProgramQuality> programs;
  for (const ProgramQuality& program : card.programs) {
    if (program.noise_mape_ratio && program.excluded.empty()) programs.push_back(program);
  }
  std::stable_sort(programs.begin(), programs.end(), [](const ProgramQuality& a, const ProgramQuality& b) {
    return *a.noise_mape_ratio > *b.noise_mape_ratio;
  });
  if (programs.empty()) return "";
  programs.resize(std::min(programs.size(), kRowsShown));
  return "\n" +
         rows_text(table_of<ProgramQuality>("", programs,
                                            {{"", "noisiest programs", Q::kText, &ProgramQuality::id},
                                             {"", "group", Q::kText, &ProgramQuality::group},
                                             {"", "noise MAPE", Q::kShare, &ProgramQuality::noise_mape_ratio, 1},
                                             {"", "spread of servers", Q::kShare, &ProgramQuality::spread_ratio, 1}}));
}

std::string host_text(const QualityCard& card) {
  std::vector<ProgramQuality> off;
  int64_t compared = 0, profiled = 0, at_home = 0;
  for (const ProgramQuality& program : card.programs) {
    compared += program.host_label_ratio ? 1 : 0;
    profiled += program.has_profile ? 1 : 0;
    at_home += program.host_platform.empty() ? 0 : 1;
    if (disagrees_with_host(program)) off.push_back(program);
  }
  if (compared == 0) {
    const std::string why = profiled == 0 ? "there are none"
                            : at_home == 0
                                ? "no profile's host is a platform of the corpus"
                                : fmt::format(
                                      "the hosts of {} of {} are platforms of the corpus, but none of these has CPU "
                                      "seconds (cpu_s), units of work, and a time on that platform",
                                      at_home, profiled);
    return "\nprofiles were not compared with labels: " + why + "\n";
  }
  std::string text = fmt::format("\n{} of {} profiles are over {:.0f} % off the label of their host's platform\n",
                                 off.size(), compared, 100 * (kHostLabelRatio - 1));
  if (off.empty()) return text;
  return text +
         rows_text(table_of<ProgramQuality>("", off,
                                            {{"", "program", Q::kText, &ProgramQuality::id},
                                             {"", "profile / label", Q::kNumber, &ProgramQuality::host_label_ratio},
                                             {"", "platform", Q::kText, &ProgramQuality::host_platform}}));
}

std::string outliers_text(const QualityCard& card) {
  if (card.outliers_compared_count == 0) {
    return fmt::format(
        "\noutliers were not looked for: no program has {} runs on one platform, with one thread count\n",
        kRunsForOutliers);
  }
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

ReportTable odd_table(const QualityCard& card) {
  using Row = OddTime;
  return table_of<Row>("", card.odd_times,
                       {{"program", "program", Q::kText, &Row::program},
                        {"platform", "platform", Q::kText, &Row::platform},
                        {"threads", "", Q::kCount, &Row::threads},
                        {"time_s", "time", Q::kSeconds, &Row::time_s},
                        {"expected_s", "expected", Q::kSeconds, &Row::expected_s},
                        {"ratio", "is", Q::kNumber, [](const Row& row) { return row.ratio(); },
                         [](const Row& row) { return fmt::format("{:.3g} x", row.ratio()); }}});
}

// Of a table of one run each, too, which has no outliers among a platform's runs.
std::string odd_text(const QualityCard& card) {
  if (card.odd_compared_count == 0) {
    return fmt::format("\nodd times were not looked for: that takes {0} programs with times on {0} platforms each\n",
                       kFewestForOdd);
  }
  std::string text = fmt::format(
      "\n{} of {} times are odd: unlike what their program's other platforms and their platform's other "
      "programs lead to expect\n",
      card.odd_times_count, card.odd_compared_count);
  if (card.odd_times.empty()) return text;
  return text + rows_text(odd_table(card)) +
         "check the unit, the input and the machine of these runs; if they are right, leave them\n";
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
  std::vector<ProgramQuality> programs = card.programs;
  std::erase_if(programs, [](const ProgramQuality& program) { return program.excluded.empty(); });
  std::string text;
  if (!programs.empty()) {
    text += "\n" + rows_text(table_of<ProgramQuality>("", programs,
                                                      {{"", "excluded program", Q::kText, &ProgramQuality::id},
                                                       {"", "why", Q::kText, &ProgramQuality::excluded}}));
  }
  if (!card.exclusions.empty()) {
    text += "\n" + rows_text(picked(excluded_table(card), {"count", "subject", "reason"}));
  }
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
            {"outliers_compared_count", card.outliers_compared_count},
            {"odd_times_count", card.odd_times_count},
            {"odd_compared_count", card.odd_compared_count}};
  json["odd_times"] = rows_json(odd_table(card));
  for (const auto& [name, list] :
       {std::pair("outlier_programs", &card.outlier_programs), std::pair("outlier_servers", &card.outlier_servers)}) {
    json[name] = rows_json(table_of<OutlierCount>(
        "", *list, {{"name", "", Q::kText, &OutlierCount::name}, {"count", "", Q::kCount, &OutlierCount::count}}));
  }
  json["groups"] = rows_json(groups_table(card));
  json["noise_floor"] = rows_json(noise_table(card));
  json["programs"] = Json::array();
  for (const ProgramQuality& program : card.programs) json["programs"].push_back(program_json(program));
  json["platforms"] =
      rows_json(table_of<PlatformQuality>("", card.platforms,
                                          {{"id", "", Q::kText, &PlatformQuality::id},
                                           {"name", "", Q::kText, &PlatformQuality::name},
                                           {"servers_count", "", Q::kCount, &PlatformQuality::servers_count},
                                           {"programs_count", "", Q::kCount, &PlatformQuality::programs_count}}));
  json["equal_programs"] =
      rows_json(table_of<EqualPrograms>("", card.equal_programs,
                                        {{"a", "", Q::kText, &EqualPrograms::a},
                                         {"b", "", Q::kText, &EqualPrograms::b},
                                         {"equal_runs_ratio", "", Q::kShare, &EqualPrograms::equal_share},
                                         {"typical_difference_ratio", "", Q::kShare, &EqualPrograms::typical_ratio}}));
  json["profiles_without_runs"] = card.profiles_without_runs;
  json["excluded"] = rows_json(excluded_table(card));
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
  text += "\ncoverage: share of (program, platform) pairs with a time\n" + rows_text(groups_table(card)) + "\n" +
          noise_text(card) + noisy_programs_text(card) + host_text(card) + outliers_text(card) + odd_text(card) +
          duplicates_text(card);
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
  if (!corpus.platforms.empty()) {
    text += "\n" + rows_text(table_of<Platform>(
                       "", corpus.platforms,
                       {{"", "platform", Q::kText, &Platform::name},
                        {"", "arch", Q::kText, &Platform::arch},
                        {"", "servers", Q::kCount, [&](const Platform& platform) { return servers[platform.id]; }}}));
  }
  for (const Program& program : corpus.programs) ++programs[program.group];
  using Group = std::pair<const std::string, int64_t>;
  if (!programs.empty()) {
    text += "\n" +
            rows_text(table_of<Group>(
                "", programs, {{"", "group", Q::kText, &Group::first}, {"", "programs", Q::kCount, &Group::second}}));
  }
  return text;
}

}  // namespace perfcast::program
