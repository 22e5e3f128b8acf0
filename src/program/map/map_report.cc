#include "program/map/map_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

using Align = TextTable::Align;
constexpr size_t kPairsListed = 12, kMembersListed = 8;
constexpr size_t kWidth = 130;

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string percent_of_log(const std::optional<double>& log) { return log ? log_percent_text(*log) : "-"; }

std::string near_text(const std::vector<NearProgram>& near) {
  std::vector<std::string> parts;
  parts.reserve(near.size());
  for (const NearProgram& one : near) parts.push_back(fmt::format("{} ({:.2f})", printable(one.id), one.distance));
  return join(parts, ", ");
}

std::string marks_text(const std::vector<FeatureMark>& marks) {
  std::vector<std::string> parts;
  parts.reserve(marks.size());
  for (const FeatureMark& mark : marks) parts.push_back(printable(mark.text) + " " + deviation_text(mark.deviations));
  return parts.empty() ? "near the average in everything" : join(parts, "; ");
}

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
    std::string marks = marks_text(cluster.marks);
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
  TextTable table;
  table.add_column("program", Align::kLeft);
  table.add_column("program", Align::kLeft);
  table.add_column("distance", Align::kRight);
  if (map.platforms > 0) table.add_column("times differ", Align::kRight);
  for (size_t i = 0; i < std::min(kPairsListed, map.redundant.size()); ++i) {
    const RedundantPair& pair = map.redundant[i];
    std::vector<std::string> cells = {printable(pair.a), printable(pair.b), fmt::format("{:.3f}", pair.distance)};
    if (map.platforms > 0) cells.push_back(percent_of_log(pair.time_difference));
    table.add_row(std::move(cells));
  }
  return text + "\n" + table.to_text();
}

std::string drops_text(const CorpusMap& map) {
  std::string text = fmt::format("what to drop first, down to {} of {}:\n", map.kept.size(), map.programs.size());
  TextTable table;
  table.add_column("drop", Align::kLeft);
  table.add_column("nearest kept", Align::kLeft);
  for (const char* title : {"distance", "left", "coverage"}) table.add_column(title, Align::kRight);
  if (map.error_log) {
    table.add_column("forecasts change", Align::kRight);
    table.add_column("their error", Align::kRight);
    table.add_row({"nothing", "", "", std::to_string(map.programs.size()), percent(map.coverage), "0%",
                   percent_of_log(map.error_log)});
  }
  for (const DropStep& step : map.drops) {
    std::vector<std::string> cells = {printable(step.program), printable(step.stands_in),
                                      fmt::format("{:.2f}", step.distance), std::to_string(step.left),
                                      percent(step.coverage)};
    if (map.error_log) {
      cells.push_back(percent_of_log(step.change_log));
      cells.push_back(percent_of_log(step.error_log));
    }
    table.add_row(std::move(cells));
  }
  std::vector<std::string> kept;
  for (const std::string& id : map.kept) kept.push_back(printable(id));
  return text + table.to_text() + "\n" + wrapped(join(kept, ", "), kWidth, "keep, most valuable first: ", "  ") + "\n";
}

std::string profiles_text(const CorpusMap& map) {
  std::string text;
  for (const PlacedProfile& one : map.profiles) {
    text += wrapped(fmt::format("cluster {}, {}; nearest {}; the suite knows {} of it", one.cluster + 1,
                                one.covered ? "within what the corpus covers" : "OUTSIDE what the corpus covers",
                                near_text(one.nearest), percent(one.coverage)),
                    kWidth, "profile " + printable(one.name) + ": ", "  ") +
            "\n";
    if (!one.covered) text += wrapped(marks_text(one.marks), kWidth, "  apart in: ", "    ") + "\n";
  }
  return text;
}

std::string gains_text(const CorpusMap& map) {
  std::string text;
  TextTable table;
  for (const auto& [title, align] : {std::pair{"would add", Align::kLeft},
                                     {"why not there", Align::kLeft},
                                     {"coverage gained", Align::kRight},
                                     {"nearest", Align::kLeft},
                                     {"distance", Align::kRight}}) {
    table.add_column(title, align);
  }
  std::vector<std::string> unprofiled;
  for (const ProgramGain& gain : map.gains) {
    if (gain.basis == "not profiled") {
      unprofiled.push_back(fmt::format("{} ({} from {})", printable(gain.name), log_percent_text(gain.gain),
                                       printable(gain.nearest.id)));
      continue;
    }
    table.add_row({printable(gain.name), gain.basis, fmt::format("{:.2f}%", 100 * gain.gain),
                   printable(gain.nearest.id), fmt::format("{:.2f}", gain.nearest.distance)});
  }
  if (table.rows() > 0) text += "\n" + table.to_text();
  if (!unprofiled.empty()) {
    text += wrapped(join(unprofiled, ", "), kWidth,
                    "profile next, timed and of times least like any profiled program's: ", "  ") +
            "\n";
  }
  if (!map.lonely.empty()) {
    text += wrapped(near_text(map.lonely), kWidth,
                    "most alone, where one more program would add most (distance to the nearest of another family): ",
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

Json drops_json(const CorpusMap& map) {
  Json json = Json::array();
  for (const DropStep& step : map.drops) {
    Json entry{{"program", step.program},   {"family", step.family},   {"stands_in", step.stands_in},
               {"distance", step.distance}, {"left_count", step.left}, {"coverage_ratio", step.coverage}};
    if (step.change_log) entry["change_ratio"] = std::expm1(*step.change_log);
    if (step.error_log) entry["error_ratio"] = std::expm1(*step.error_log);
    json.push_back(std::move(entry));
  }
  return json;
}

Json programs_json(const CorpusMap& map) {
  Json json = Json::array();
  for (const MappedProgram& program : map.programs) {
    Json entry{{"id", program.id},
               {"family", program.family},
               {"group", program.group},
               {"cluster", program.cluster + 1},
               {"kept", program.kept}};
    if (program.nearest) entry["nearest"] = near_json({*program.nearest})[0];
    if (program.nearest_other_family) entry["nearest_other_family"] = near_json({*program.nearest_other_family})[0];
    put_point(program.point, entry);
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string deviation_text(double deviations) { return fmt::format("{:+.1f} sd", deviations); }

std::string log_percent_text(double log) { return fmt::format("{:.1f}%", 100 * std::expm1(log)); }

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
  Json pairs = Json::array();
  for (const RedundantPair& pair : map.redundant) {
    Json entry{{"a", pair.a}, {"b", pair.b}, {"distance", pair.distance}};
    if (pair.time_difference) entry["time_difference_ratio"] = std::expm1(*pair.time_difference);
    pairs.push_back(std::move(entry));
  }
  json["redundant"] = std::move(pairs);
  json["drops"] = drops_json(map);
  json["kept"] = map.kept;
  json["lonely"] = near_json(map.lonely);
  Json gains = Json::array();
  for (const ProgramGain& gain : map.gains) {
    Json entry{{"name", gain.name}, {"basis", gain.basis}};
    if (gain.basis == "not profiled") {
      entry["time_difference_ratio"] = std::expm1(gain.gain);
      entry["nearest"] = {{"id", gain.nearest.id}};
    } else {
      entry["coverage_gain_ratio"] = gain.gain;
      entry["nearest"] = near_json({gain.nearest})[0];
    }
    gains.push_back(std::move(entry));
  }
  json["gains"] = std::move(gains);
  json["profiles"] = placed_json(map.profiles);
  json["candidates"] = placed_json(map.candidates);
  json["programs"] = programs_json(map);
  return json;
}

}  // namespace perfcast::program
