#include "fleet/report/schedule_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/figure/page.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "fleet/policy/policy.h"
#include "fleet/report/schedule_figure.h"
#include "fleet/report/schedule_verdict.h"

namespace perfcast::fleet {
namespace {

// Boxes lie close together, so they are set off by the paper's colour; patterns tell kinds apart without colour.
constexpr const char* kStyle = R"css(
svg .job{stroke:var(--paper);stroke-width:.6}svg .job.killed{stroke:var(--ink);stroke-width:1.6}
svg .low{stroke-width:.35}svg .area{stroke:none}svg .level{stroke-width:1.1}svg .use{stroke-width:1.4}#policies th{white-space:normal;max-width:13em}
svg .reference{fill-opacity:.55}
svg .whisker{stroke:var(--ink);stroke-width:1.2}svg .ring{fill:none;stroke:var(--c);stroke-width:2}
svg .p1.fill{fill:url(#pattern-1)}svg .p2.fill{fill:url(#pattern-2)}svg .p3.fill{fill:url(#pattern-3)}
svg .p4.fill{fill:url(#pattern-4)}svg .p5.fill{fill:url(#pattern-5)}svg .p7.fill{fill:url(#pattern-7)}
.patterns{position:absolute;width:0;height:0}.patterns path,.patterns circle{stroke:var(--paper);stroke-opacity:.6}
#gantt figure .wide svg{margin-bottom:14px}
@media print{#policies,#gantt{break-inside:auto}#gantt{break-before:page}h2,figcaption{break-after:avoid}}
)css";

// s0 and the grey s6 are plain.
std::string patterns() {
  constexpr std::pair<int, const char*> kMarks[] = {
      {1, R"(<path d="M-2 2l4-4M0 8l8-8M6 10l4-4" stroke-width="1.6" fill="none"/>)"},
      {2, R"(<path d="M0 4h8" stroke-width="1.6" fill="none"/>)"},
      {3, R"(<path d="M-2 6l4 4M0 0l8 8M6-2l4 4" stroke-width="1.6" fill="none"/>)"},
      {4, R"(<circle cx="4" cy="4" r="1.1" stroke-width="1.2" fill="none"/>)"},
      {5, R"(<path d="M4 0v8" stroke-width="1.6" fill="none"/>)"},
      {7, R"(<path d="M0 0l8 8M8 0l-8 8" stroke-width="1.1" fill="none"/>)"}};
  std::string html = "<svg class=\"patterns\" aria-hidden=\"true\"><defs>\n";
  for (const auto& [series, mark] : kMarks) {
    html += fmt::format(
        "<pattern id=\"pattern-{0}\" class=\"s{0}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
        "<rect width=\"8\" height=\"8\" style=\"fill:var(--c)\"/>{1}</pattern>\n",
        series, mark);
  }
  return html + "</defs></svg>\n";
}

void describe(std::string& html, const std::string& what, const std::string& text) {
  html += "<dt>" + what + "</dt><dd>" + escape_html(text) + "</dd>\n";
}

std::string facts(const ScheduleReport& report) {
  std::string html = "<dl>\n";
  describe(html, "jobs",
           fmt::format("{}{}", report.workload.size(),
                       report.workload.source.empty() ? "" : ", of " + report.workload.source));
  constexpr size_t kFewGroups = 12;
  std::vector<std::string> groups;
  for (const NodeGroup& group : report.cluster.groups) {
    if (groups.size() == kFewGroups) {
      groups.push_back(fmt::format("and {} more", report.cluster.groups.size() - kFewGroups));
      break;
    }
    groups.push_back(fmt::format("{} × {} ({} cores{} each)", group.nodes, group.platform, group.cores_per_node,
                                 group.gpus_per_node > 0 ? fmt::format(", {} GPUs", group.gpus_per_node) : ""));
  }
  describe(html, "cluster", join(groups, "; "));
  std::vector<std::string> seeds;
  for (const uint64_t seed : seeds_of(report)) seeds.push_back(std::to_string(seed));
  describe(html, seeds.size() == 1 ? "seed" : "seeds", join(seeds, ", "));
  return html + "</dl>\n";
}

std::string policy_section(const ScheduleReport& report, const std::vector<PolicyRow>& rows) {
  std::string html, meanings;
  for (const ReportTable& table : report_tables(report, rows)) {
    html += rows_html(table);
    for (const ReportColumn& column : table.columns) {
      if (!column.meaning.empty()) describe(meanings, escape_html(column.title), column.meaning);
    }
  }
  html += "<details><summary>What the columns mean</summary>\n<dl>\n" + meanings + "</dl>\n</details>\n";
  std::string notes;
  for (const std::string& note : report_notes(report, rows)) notes += "<li>" + escape_html(note) + "</li>\n";
  return notes.empty() ? html : html + "<ul class=\"notes soft\">\n" + notes + "</ul>\n";
}

}  // namespace

std::string schedule_html(const ScheduleReport& report, const ErrorSweep& sweep) {
  const std::vector<PolicyRow> rows = policy_rows(report);
  Page page;
  page.title = "perfcast schedule" + (report.workload.source.empty() ? "" : " of " + report.workload.source);
  page.lead = join(verdict_of(rows).lines, ". ");
  page.facts_html = facts(report);
  page.style = kStyle;
  page.hidden_svg = patterns();
  page.sections = {{"policies", "Policies", policy_section(report, rows)}};
  page.figures = {policy_bars_figure(report), wait_figure(report), use_over_time_figure(report), gantt_figure(report)};
  if (!sweep.points.empty()) page.figures.insert(page.figures.begin() + 1, error_sweep_figure(sweep));
  return html_page(page);
}

}  // namespace perfcast::fleet
