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

// A table; the first `names` columns are text.
class HtmlTable {
 public:
  HtmlTable(const std::vector<std::string>& titles, size_t names) : names_(names) {
    html_ = "<div class=\"wide\"><table>\n<thead><tr>";
    for (size_t i = 0; i < titles.size(); ++i) {
      html_ += fmt::format("<th scope=\"col\"{}>{}</th>", i < names_ ? " class=\"name\"" : "", escape_html(titles[i]));
    }
    html_ += "</tr></thead>\n<tbody>\n";
  }
  void add(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      const char* classes = i >= names_ ? "" : cells[i].size() > 60 ? " class=\"text\"" : " class=\"name\"";
      html_ += fmt::format("<td{}>{}</td>", classes, escape_html(cells[i]));
    }
    html_ += "</tr>\n";
    ++rows_;
  }
  size_t rows() const { return rows_; }
  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::string html_;
  size_t names_, rows_ = 0;
};

std::string number(double value) { return fmt::format("{:.2f}", value); }
std::string log_cell(const std::optional<double>& log) { return log ? log_percent_text(*log) : "-"; }

std::string marks_cell(const std::vector<FeatureMark>& marks) {
  std::vector<std::string> parts;
  parts.reserve(marks.size());
  for (const FeatureMark& mark : marks) parts.push_back(mark.text + " " + deviation_text(mark.deviations));
  return join(parts, "; ");
}

std::string clusters_table(const CorpusMap& map) {
  HtmlTable table({"cluster", "like", "members", "what marks it", "fast on", "slow on", "programs"}, 6);
  const auto platforms = [](const std::vector<PlatformMark>& marks) {
    std::vector<std::string> parts;
    parts.reserve(marks.size());
    for (const PlatformMark& mark : marks) parts.push_back(fmt::format("{} ({:.2f})", mark.platform, mark.ratio));
    return join(parts, ", ");
  };
  for (size_t c = 0; c < map.clusters.size(); ++c) {
    const MapCluster& cluster = map.clusters[c];
    std::vector<std::string> members;
    for (const std::string& member : cluster.members) members.push_back(short_program_name(member));
    table.add({std::to_string(c + 1), cluster.medoid, join(members, ", "), marks_cell(cluster.marks),
               platforms(cluster.fastest), platforms(cluster.slowest), std::to_string(cluster.members.size())});
  }
  return table.html();
}

std::string drops_table(const CorpusMap& map) {
  HtmlTable table({"drop", "nearest kept", "distance", "left", "coverage", "forecasts change", "their error"}, 2);
  table.add({"nothing", "", "", std::to_string(map.programs.size()), percent_text(map.coverage), "",
             log_cell(map.error_log)});
  for (const DropStep& step : map.drops) {
    table.add({step.program, step.stands_in, number(step.distance), std::to_string(step.left),
               percent_text(step.coverage), log_cell(step.change_log), log_cell(step.error_log)});
  }
  return table.html();
}

std::string pairs_table(const CorpusMap& map) {
  HtmlTable table({"program", "program", "distance", "times differ"}, 2);
  for (const RedundantPair& pair : map.redundant) {
    table.add({pair.a, pair.b, fmt::format("{:.3f}", pair.distance), log_cell(pair.time_difference)});
  }
  if (table.rows() == 0) return fmt::format("<p>None is nearer than {:.2f}.</p>\n", map.redundant_distance);
  return fmt::format("<p>Distance below {:.2f}.</p>\n", map.redundant_distance) + table.html();
}

std::string programs_table(const CorpusMap& map) {
  HtmlTable table(
      {"program", "family", "group", "kept", "nearest", "cluster", "distance", "PC 1", "PC 2", "t-SNE 1", "t-SNE 2"},
      5);
  const auto tsne = [](const std::optional<double>& value) { return value ? number(*value) : std::string("-"); };
  for (const MappedProgram& program : map.programs) {
    table.add({program.id, program.family, program.group, program.kept ? "yes" : "no",
               program.nearest ? program.nearest->id : "-", std::to_string(program.cluster + 1),
               program.nearest ? number(program.nearest->distance) : "-", number(program.point.pc1),
               number(program.point.pc2), tsne(program.point.tsne1), tsne(program.point.tsne2)});
  }
  return table.html();
}

std::string placed_table(const CorpusMap& map) {
  HtmlTable table({"profile", "kind", "covered", "nearest", "apart in", "cluster", "known", "PC 1", "PC 2"}, 5);
  const auto add = [&](const std::vector<PlacedProfile>& placed, const char* kind) {
    for (const PlacedProfile& one : placed) {
      std::vector<std::string> near;
      for (const NearProgram& program : one.nearest)
        near.push_back(fmt::format("{} ({:.2f})", program.id, program.distance));
      table.add({one.name, kind, one.covered ? "yes" : "no", join(near, ", "), marks_cell(one.marks),
                 std::to_string(one.cluster + 1), percent_text(one.coverage), number(one.point.pc1),
                 number(one.point.pc2)});
    }
  };
  add(map.profiles, "yours");
  add(map.candidates, "candidate");
  return table.html();
}

std::string gains_table(const CorpusMap& map) {
  HtmlTable table({"program", "basis", "nearest", "coverage gained", "times differ from the nearest by"}, 3);
  for (const ProgramGain& gain : map.gains) {
    const bool by_times = gain.basis == "not profiled";
    table.add({gain.name, gain.basis, gain.nearest.id, by_times ? "-" : fmt::format("{:.2f}%", 100 * gain.gain),
               by_times ? log_percent_text(gain.gain) : "-"});
  }
  return table.html();
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
    page.sections.push_back({"profiles", "Your profiles", placed_table(map)});
  }
  page.sections.push_back({"clusters", "Clusters", clusters_table(map)});
  page.sections.push_back({"drops", "What to drop first", drops_table(map)});
  if (!map.gains.empty()) page.sections.push_back({"gains", "What would add most", gains_table(map)});
  page.sections.push_back({"pairs", "Redundant pairs", pairs_table(map)});
  page.sections.push_back({"programs", "All programs", programs_table(map)});
  return html_page(page);
}

}  // namespace perfcast::program
