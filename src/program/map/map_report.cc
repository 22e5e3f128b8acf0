#include "program/map/map_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

using Q = Quantity;
constexpr size_t kPairsListed = 12, kMembersListed = 8;
constexpr size_t kWidth = 130;

ReportValue share_of_log(const std::optional<double>& log) { return log ? std::expm1(*log) : ReportValue(); }

bool is_profiled(const ProgramGain& gain) { return gain.basis != "not profiled"; }

bool is_nothing(const DropStep& step) { return std::isnan(step.distance); }

std::string clusters_text(const CorpusMap& map) {
  std::string text = fmt::format("clusters by {} ({}; silhouette {:.2f}):\n", map.by_times ? "times" : "profiles",
                                 map.clusters.size(), map.silhouette);
  for (size_t c = 0; c < map.clusters.size(); ++c) {
    const MapCluster& cluster = map.clusters[c];
    std::vector<std::string> members;
    for (const std::string& member : cluster.members) members.push_back(printable(member));
    const size_t more = members.size() > kMembersListed ? members.size() - kMembersListed : 0;
    if (more > 0) {
      members.resize(kMembersListed);
      members.push_back(fmt::format("and {} more", more));
    }
    text +=
        wrapped(join(members, ", "), kWidth, fmt::format("{:>3}. {}: ", c + 1, cluster.members.size()), "     ") + "\n";
    std::string marks = cluster.marks.empty() ? "close to the average in all numbers" : marks_text(cluster.marks);
    for (const PlatformMark& mark : cluster.fastest) {
      marks += fmt::format("; fast on {} ({:.2f})", printable(mark.platform), mark.ratio);
    }
    for (const PlatformMark& mark : cluster.slowest) {
      marks += fmt::format("; slow on {} ({:.2f})", printable(mark.platform), mark.ratio);
    }
    text += wrapped(marks, kWidth, "     ", "     ") + "\n";
  }
  return text;
}

std::string pairs_text(const CorpusMap& map) {
  if (map.redundant.empty()) {
    return fmt::format("redundant pairs (distance below {:.2f}): none\n", map.redundant_distance);
  }
  std::string text =
      fmt::format("redundant pairs (distance below {:.2f}): {}", map.redundant_distance, map.redundant.size());
  if (map.redundant.size() > kPairsListed) text += fmt::format(", the nearest {}", kPairsListed);
  std::vector<RedundantPair> listed = map.redundant;
  listed.resize(std::min(kPairsListed, listed.size()));
  return text + "\n" + rows_text(pairs_table(listed));
}

std::string drops_text(const CorpusMap& map) {
  std::string text = fmt::format("what to drop first, down to {} of {}:\n", map.kept.size(), map.programs.size());
  std::vector<std::string> kept;
  for (const std::string& id : map.kept) kept.push_back(printable(id));
  return text + rows_text(drops_table(drops_from_nothing(map))) + "\n" +
         wrapped(join(kept, ", "), kWidth, "keep, most valuable first: ", "  ") + "\n";
}

std::string profiles_text(const CorpusMap& map) {
  std::string text;
  for (const PlacedProfile& one : map.profiles) {
    text += wrapped(fmt::format("cluster {}, {}; nearest {}; the suite's programs explain {} of its variance",
                                one.cluster + 1,
                                one.covered ? "within what the corpus covers" : "OUTSIDE what the corpus covers",
                                near_text(one.nearest), percent(one.coverage)),
                    kWidth, "profile " + printable(one.name) + ": ", "  ") +
            "\n";
    if (!one.covered)
      text += wrapped(one.marks.empty() ? "close to the average in all numbers" : marks_text(one.marks), kWidth,
                      "  unusual in: ", "    ") +
              "\n";
  }
  return text;
}

std::string gains_text(const CorpusMap& map) {
  std::string text;
  std::vector<ProgramGain> profiled;
  std::vector<std::string> unprofiled;
  for (const ProgramGain& gain : map.gains) {
    if (is_profiled(gain)) {
      profiled.push_back(gain);
    } else {
      unprofiled.push_back(fmt::format("{} ({} from {})", printable(gain.name), log_percent_text(gain.gain),
                                       printable(gain.nearest.id)));
    }
  }
  if (!profiled.empty()) {
    text += "\n" + rows_text(picked(gains_table(profiled),
                                    {"name", "basis", "coverage_gain_ratio", "nearest.id", "nearest.distance"}));
  }
  if (!unprofiled.empty()) {
    text +=
        wrapped(join(unprofiled, ", "), kWidth,
                "profile these next (they are timed, and their times are least like those of any profiled program): ",
                "  ") +
        "\n";
  }
  if (!map.lonely.empty()) {
    text += wrapped(near_text(map.lonely), kWidth,
                    "most isolated programs; a new program near them would add most (distance to the nearest of "
                    "another family): ",
                    "  ") +
            "\n";
  }
  return text;
}

Json marks_json(const std::vector<FeatureMark>& marks) {
  Json json = Json::array();
  for (const FeatureMark& mark : marks) {
    json.push_back({{"feature", mark.feature}, {"text", mark.text}, {"deviations", mark.deviations}});
  }
  return json;
}

Json near_json(const std::vector<NearProgram>& near) {
  Json json = Json::array();
  for (const NearProgram& one : near) json.push_back({{"id", one.id}, {"distance", one.distance}});
  return json;
}

void put_point(const MapPoint& point, Json& json) {
  json["pc1"] = point.pc1;
  json["pc2"] = point.pc2;
  if (point.tsne1) json["tsne1"] = *point.tsne1;
  if (point.tsne2) json["tsne2"] = *point.tsne2;
}

Json placed_json(const std::vector<PlacedProfile>& placed) {
  Json json = Json::array();
  for (const PlacedProfile& one : placed) {
    Json entry{{"name", one.name},
               {"cluster", one.cluster + 1},
               {"covered", one.covered},
               {"coverage_ratio", one.coverage},
               {"nearest", near_json(one.nearest)},
               {"marks", marks_json(one.marks)}};
    put_point(one.point, entry);
    json.push_back(std::move(entry));
  }
  return json;
}

Json clusters_json(const CorpusMap& map) {
  Json json = Json::array();
  const auto platforms = [](const std::vector<PlatformMark>& marks) {
    Json list = Json::array();
    for (const PlatformMark& mark : marks) list.push_back({{"platform", mark.platform}, {"time_ratio", mark.ratio}});
    return list;
  };
  for (size_t c = 0; c < map.clusters.size(); ++c) {
    const MapCluster& cluster = map.clusters[c];
    json.push_back({{"cluster", c + 1},
                    {"medoid", cluster.medoid},
                    {"members", cluster.members},
                    {"marks", marks_json(cluster.marks)},
                    {"fastest", platforms(cluster.fastest)},
                    {"slowest", platforms(cluster.slowest)}});
  }
  return json;
}

}  // namespace

std::string deviation_text(double deviations) { return fmt::format("{:+.1f} sd", deviations); }

std::string log_percent_text(double log) { return percent(std::expm1(log)); }

std::string near_text(const std::vector<NearProgram>& near) {
  std::vector<std::string> parts;
  for (const NearProgram& one : near) parts.push_back(fmt::format("{} ({:.2f})", printable(one.id), one.distance));
  return join(parts, ", ");
}

std::string marks_text(const std::vector<FeatureMark>& marks) {
  std::vector<std::string> parts;
  for (const FeatureMark& mark : marks) parts.push_back(printable(mark.text) + " " + deviation_text(mark.deviations));
  return join(parts, "; ");
}

std::vector<DropStep> drops_from_nothing(const CorpusMap& map) {
  std::vector<DropStep> steps = map.drops;
  if (!map.error_log) return steps;
  steps.insert(steps.begin(), {"nothing", "", "", kUnknown, static_cast<int64_t>(map.programs.size()), map.coverage,
                               0.0, map.error_log});
  return steps;
}

ReportTable drops_table(const std::vector<DropStep>& drops) {
  using Row = DropStep;
  return table_of<Row>(
      "", drops,
      {{"program", "drop", Q::kText, &Row::program},
       {"family", "", Q::kText, &Row::family},
       {"stands_in", "nearest kept", Q::kText, &Row::stands_in},
       {"distance", "distance", Q::kNumber, &Row::distance,
        [](const Row& step) { return is_nothing(step) ? "" : fmt::format("{:.2f}", step.distance); }},
       {"left_count", "left", Q::kCount, &Row::left},
       {"coverage_ratio", "coverage", Q::kShare, &Row::coverage, 1},
       {"change_ratio", "forecasts change", Q::kShare, [](const Row& step) { return share_of_log(step.change_log); },
        [](const Row& step) {
          return is_nothing(step) ? "0%" : step.change_log ? log_percent_text(*step.change_log) : "";
        }},
       {"error_ratio", "their error", Q::kShare, [](const Row& step) { return share_of_log(step.error_log); }, 1}});
}

ReportTable pairs_table(const std::vector<RedundantPair>& pairs) {
  using Row = RedundantPair;
  return table_of<Row>("", pairs,
                       {{"a", "program", Q::kText, &Row::a},
                        {"b", "program", Q::kText, &Row::b},
                        {"distance", "distance", Q::kNumber, &Row::distance, 3},
                        {"time_difference_ratio", "times differ", Q::kShare,
                         [](const Row& pair) { return share_of_log(pair.time_difference); }, 1}});
}

ReportTable gains_table(const std::vector<ProgramGain>& gains) {
  using Row = ProgramGain;
  return table_of<Row>("", gains,
                       {{"name", "would add", Q::kText, &Row::name},
                        {"basis", "why not there", Q::kText, &Row::basis},
                        {"time_difference_ratio", "times differ from the nearest by", Q::kShare,
                         [](const Row& gain) { return is_profiled(gain) ? ReportValue() : std::expm1(gain.gain); }, 1},
                        {"coverage_gain_ratio", "coverage gained", Q::kShare,
                         [](const Row& gain) { return is_profiled(gain) ? gain.gain : ReportValue(); }},
                        {"nearest.id", "nearest", Q::kText, [](const Row& gain) { return gain.nearest.id; }},
                        {"nearest.distance", "distance", Q::kNumber,
                         [](const Row& gain) { return is_profiled(gain) ? gain.nearest.distance : ReportValue(); }}});
}

ReportTable programs_table(const std::vector<MappedProgram>& programs) {
  using Row = MappedProgram;
  using Near = std::optional<NearProgram> Row::*;
  const auto id = [](Near near) {
    return [near](const Row& row) { return row.*near ? (row.*near)->id : ReportValue(); };
  };
  const auto distance = [](Near near) {
    return [near](const Row& row) { return row.*near ? (row.*near)->distance : ReportValue(); };
  };
  return table_of<Row>("", programs,
                       {{"id", "program", Q::kText, &Row::id},
                        {"family", "family", Q::kText, &Row::family},
                        {"group", "group", Q::kText, &Row::group},
                        {"cluster", "cluster", Q::kCount, [](const Row& row) { return row.cluster + 1; }},
                        {"kept", "kept", Q::kYes, &Row::kept},
                        {"nearest.id", "nearest", Q::kText, id(&Row::nearest)},
                        {"nearest.distance", "distance", Q::kNumber, distance(&Row::nearest)},
                        {"nearest_other_family.id", "", Q::kText, id(&Row::nearest_other_family)},
                        {"nearest_other_family.distance", "", Q::kNumber, distance(&Row::nearest_other_family)},
                        {"pc1", "PC 1", Q::kNumber, [](const Row& row) { return row.point.pc1; }},
                        {"pc2", "PC 2", Q::kNumber, [](const Row& row) { return row.point.pc2; }},
                        {"tsne1", "t-SNE 1", Q::kNumber, [](const Row& row) { return row.point.tsne1; }},
                        {"tsne2", "t-SNE 2", Q::kNumber, [](const Row& row) { return row.point.tsne2; }}});
}

std::string to_text(const CorpusMap& map, const std::string& corpus) {
  std::string text = fmt::format("{}: {} programs of {} families, {} numbers of each", printable(corpus),
                                 map.programs.size(), map.families, map.inputs);
  text += map.platforms > 0 ? fmt::format("; times on {} platforms\n", map.platforms) : "; no times\n";
  if (map.distance_correlation) {
    text += fmt::format("distances by profiles and by times: correlation {:.2f} over pairs of different families\n",
                        *map.distance_correlation);
  }
  text += "\n" + clusters_text(map) + "\n" + pairs_text(map) + "\n" + drops_text(map);
  if (map.error_log) {
    text += fmt::format(
        "forecasts: of each program by {} fitted without its family; change: against all programs, error: against the "
        "measured times\n",
        printable(map.model));
  }
  text += gains_text(map);
  if (!map.profiles.empty()) text += "\n" + profiles_text(map);
  return text;
}

Json to_json(const CorpusMap& map, const std::string& corpus) {
  Json json{{"schema", "perfcast.corpus-map/1"},
            {"corpus", corpus},
            {"families_count", map.families},
            {"platforms_count", map.platforms},
            {"inputs_count", map.inputs},
            {"by", map.by_times ? "times" : "profiles"},
            {"model", map.model},
            {"silhouette", map.silhouette},
            {"usual_distance", map.usual_distance},
            {"redundant_distance", map.redundant_distance}};
  if (map.distance_correlation) json["distance_correlation"] = *map.distance_correlation;
  json["pc_shares_ratio"] = {map.pc_shares_ratio[0], map.pc_shares_ratio[1]};
  json["coverage_ratio"] = map.coverage;
  if (map.error_log) json["error_ratio"] = std::expm1(*map.error_log);
  json["clusters"] = clusters_json(map);
  json["redundant"] = rows_json(pairs_table(map.redundant));
  json["drops"] = rows_json(drops_table(map.drops));
  json["kept"] = map.kept;
  json["lonely"] = near_json(map.lonely);
  json["gains"] = rows_json(gains_table(map.gains));
  json["profiles"] = placed_json(map.profiles);
  json["candidates"] = placed_json(map.candidates);
  json["programs"] = rows_json(programs_table(map.programs));
  return json;
}

}  // namespace perfcast::program
