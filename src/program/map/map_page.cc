#include "program/map/map_page.h"

#include <fmt/format.h>

#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "program/map/map_report.h"
#include "program/map/svg_map.h"

namespace perfcast::program {
namespace {

constexpr const char* kMapStyle = R"css(
svg .own{fill:none;stroke:var(--ink);stroke-width:2.4}
svg text.own-label{font-size:12.5px;font-weight:700}
svg text.medoid{font-weight:600}
td.text{white-space:normal;text-align:left;min-width:24em}
)css";

using Q = Quantity;

std::string clusters_html(const CorpusMap& map) {
  const auto platforms = [](const std::vector<PlatformMark>& marks) {
    std::vector<std::string> parts;
    for (const PlatformMark& mark : marks) parts.push_back(fmt::format("{} ({:.2f})", mark.platform, mark.ratio));
    return join(parts, ", ");
  };
  const auto members = [](const MapCluster& cluster) {
    std::vector<std::string> names;
    for (const std::string& member : cluster.members) names.push_back(short_program_name(member));
    return join(names, ", ");
  };
  int64_t number = 0;
  return rows_html(table_of<MapCluster>(
      "", map.clusters,
      {{"", "cluster", Q::kCount, [&](const MapCluster&) { return ++number; }},
       {"", "like", Q::kText, &MapCluster::medoid},
       {"", "members", Q::kText, members},
       {"", "what marks it", Q::kText, [](const MapCluster& cluster) { return marks_text(cluster.marks); }},
       {"", "fast on", Q::kText, [&](const MapCluster& cluster) { return platforms(cluster.fastest); }},
       {"", "slow on", Q::kText, [&](const MapCluster& cluster) { return platforms(cluster.slowest); }},
       {"", "programs", Q::kCount, [](const MapCluster& cluster) { return cluster.members.size(); }}}));
}

std::string pairs_html(const CorpusMap& map) {
  if (map.redundant.empty()) return fmt::format("<p>None is nearer than {:.2f}.</p>\n", map.redundant_distance);
  return fmt::format("<p>Distance below {:.2f}.</p>\n", map.redundant_distance) + rows_html(pairs_table(map.redundant));
}

std::string placed_html(const CorpusMap& map) {
  using Row = PlacedProfile;
  std::string html;
  for (const auto& [placed, caption] : {std::pair{&map.profiles, "yours"}, {&map.candidates, "candidates"}}) {
    if (placed->empty()) continue;
    html += rows_html(table_of<Row>(caption, *placed,
                                    {{"", "profile", Q::kText, &Row::name},
                                     {"", "covered", Q::kYes, &Row::covered},
                                     {"", "nearest", Q::kText, [](const Row& one) { return near_text(one.nearest); }},
                                     {"", "apart in", Q::kText, [](const Row& one) { return marks_text(one.marks); }},
                                     {"", "cluster", Q::kCount, [](const Row& one) { return one.cluster + 1; }},
                                     {"", "known", Q::kShare, &Row::coverage, 1},
                                     {"", "PC 1", Q::kNumber, [](const Row& one) { return one.point.pc1; }},
                                     {"", "PC 2", Q::kNumber, [](const Row& one) { return one.point.pc2; }}}));
  }
  return html;
}

std::string lead_of(const CorpusMap& map) {
  std::string text =
      fmt::format("{} programs of {} families in {} clusters.", map.programs.size(), map.families, map.clusters.size());
  if (map.drops.empty()) return text;
  text += fmt::format(" Without {} of them, those that the others stand in for best, coverage is {} instead of {}",
                      map.drops.size(), percent_text(map.drops.back().coverage), percent_text(map.coverage));
  if (map.drops.back().error_log && map.error_log) {
    text += fmt::format(", and forecasts of programs whose family is unknown are off by {} instead of {}",
                        log_percent_text(*map.drops.back().error_log), log_percent_text(*map.error_log));
  }
  return text + ".";
}

}  // namespace

std::string map_page(const CorpusMap& map, const std::string& corpus) {
  Page page;
  page.title = "perfcast map of " + corpus;
  page.lead = lead_of(map);
  page.style = kMapStyle;
  page.facts_html = fmt::format(
      "<dl>\n<dt>inputs</dt><dd>{} numbers of each profile, standardised</dd>\n<dt>clusters</dt><dd>k-medoids by {}, "
      "silhouette {:.2f}</dd>\n<dt>usual distance</dt><dd>{:.2f} to the nearest other family, for 95% of the "
      "families</dd>\n{}</dl>\n",
      map.inputs, map.by_times ? "log relative times" : "profiles", map.silhouette, map.usual_distance,
      map.distance_correlation
          ? fmt::format("<dt>profiles and times</dt><dd>correlation of distances {:.2f}, over pairs "
                        "of different families</dd>\n",
                        *map.distance_correlation)
          : "");
  page.figures_first = true;
  page.figures = {principal_plane_figure(map), tsne_figure(map), drop_cost_figure(map)};
  if (!map.profiles.empty() || !map.candidates.empty()) {
    page.sections.push_back({"profiles", "Your profiles", placed_html(map)});
  }
  page.sections.push_back({"clusters", "Clusters", clusters_html(map)});
  page.sections.push_back({"drops", "What to drop first", rows_html(drops_table(drops_from_nothing(map)))});
  if (!map.gains.empty()) page.sections.push_back({"gains", "What would add most", rows_html(gains_table(map.gains))});
  page.sections.push_back({"pairs", "Redundant pairs", pairs_html(map)});
  page.sections.push_back({"programs", "All programs", rows_html(programs_table(map.programs))});
  return html_page(page);
}

}  // namespace perfcast::program
