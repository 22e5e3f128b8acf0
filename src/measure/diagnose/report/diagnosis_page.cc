#include "measure/diagnose/report/diagnosis_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/figure/svg_canvas.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/diagnose/report/diagnosis_figures.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr size_t kRowsOfFunctions = 30;

std::vector<const Finding*> shown_findings(const Diagnosis& diagnosis) {
  std::vector<const Finding*> shown;
  for (const Finding& finding : diagnosis.findings) {
    if (is_worth_showing(finding)) shown.push_back(&finding);
  }
  return shown;
}

// "Largest gain: ... "
std::string lead_of(const std::vector<const Finding*>& findings) {
  if (findings.empty()) return "Nothing that is known to be slow was found.";
  const Finding& first = *findings.front();
  const std::string others = findings.size() > 1 ? fmt::format(" {} more below.", findings.size() - 1) : "";
  return fmt::format("{}: {}. To be gained: {}. What would help: {}.{}", first.cause, first.title, gain_in_words(first),
                     first.advice, others);
}

void add_fact(std::string& html, const std::string& what, const std::string& text) {
  html += "<dt>" + what + "</dt><dd>" + escape_html(text) + "</dd>\n";
}

std::string facts_of(const Diagnosis& diagnosis) {
  const Observation& seen = diagnosis.seen;
  std::string html = "<dl>\n";
  add_fact(html, "command", join(diagnosis.command, " "));
  add_fact(html, "time",
           fmt::format("{} wall, {} in user code, {} in the kernel", human_seconds(seen.run.wall_s),
                       human_seconds(seen.run.user_s), human_seconds(seen.run.system_s)));
  if (seen.run.threads) {
    add_fact(html, "threads",
             fmt::format("{} at once at the most, in {} process{}", *seen.run.threads, seen.run.processes.value_or(1),
                         seen.run.processes.value_or(1) == 1 ? "" : "es"));
  }
  if (seen.run.peak_resident_bytes)
    add_fact(html, "memory", human_bytes(*seen.run.peak_resident_bytes) + " at the most");
  if (diagnosis.roofline && diagnosis.roofline->ceilings.cpus_count > 0) {
    const MachineCeilings& ceilings = diagnosis.roofline->ceilings;
    std::vector<std::string> parts;
    for (const char* format : {"fp64", "fp32"}) {
      if (const ComputeCeiling* const of = ceilings.widest(format))
        parts.push_back(fmt::format("{:.3g} GFLOP/s ({}, {})", 1e-9 * of->one_cpu_flops_per_s, format, of->isa));
    }
    for (const BandwidthCeiling& of : ceilings.bandwidth)
      parts.push_back(fmt::format("{} {}/s", of.level, human_bytes(of.one_cpu_bytes_per_s)));
    add_fact(html, "one CPU here", join(parts, ", "));
  }
  add_fact(html, "how",
           fmt::format("{:.0f} samples, {} looks at its threads{}; first findings after {}, all after {}",
                       seen.samples_count, seen.looks, diagnosis.profile ? ", counts under an instrumenter" : "",
                       human_seconds(diagnosis.first_finding_s), human_seconds(diagnosis.took_s)));
  html += "</dl>\n";
  html += fmt::format(
      "<p><a class=\"csv\" download=\"perfcast-diagnosis.json\" href=\"{}\">This diagnosis as JSON</a></p>\n",
      data_uri("application/json", perfcast::to_text(diagnosis_json(diagnosis))));
  return html;
}

std::string finding_html(const Finding& finding, size_t number) {
  std::string html = fmt::format("<article{}>\n<h3>{}. {} <span class=\"cause\">({})</span></h3>\n",
                                 number == 1 ? " class=\"first\"" : "", number, escape_html(finding.title),
                                 escape_html(finding.cause));
  html += "<p class=\"gain\"><strong>" + escape_html(gain_in_words(finding)) + "</strong></p>\n<dl>\n";
  html += "<dt>evidence</dt><dd>";
  for (size_t i = 0; i < finding.evidence.size(); ++i)
    html += (i > 0 ? "<br/>" : "") + escape_html(finding.evidence[i]);
  html += "</dd>\n";
  add_fact(html, "advice", finding.advice);
  add_fact(html, "if wrong", finding.if_wrong);
  if (finding.proven() == nullptr) add_fact(html, "to prove", finding.proof);
  html += "</dl>\n";
  if (const std::string tried = experiments_svg(finding, number); !tried.empty())
    html += "<div class=\"wide\">\n" + tried + "</div>\n";
  return html + "</article>\n";
}

std::string findings_html(const std::vector<const Finding*>& findings) {
  if (findings.empty()) return "<p>Nothing that is known to be slow was found.</p>\n";
  std::string html =
      "<p class=\"soft\">By what is to be gained. Measured: the time was seen there. Modelled: counts times what a "
      "model says each costs. Rule: it looks like what is known to be slow. Proven: tried, in turns with the command "
      "as it is.</p>\n";
  for (size_t i = 0; i < findings.size(); ++i) html += finding_html(*findings[i], i + 1);
  return html;
}

std::string functions_html(const Diagnosis& diagnosis) {
  const Observation& seen = diagnosis.seen;
  if (seen.functions.empty()) return "<p>No function was seen: " + escape_html(seen.no_samples) + "</p>\n";
  std::string html =
      "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">share</th><th scope=\"col\">kernel</th><th "
      "class=\"name\" scope=\"col\">function</th><th class=\"name\" scope=\"col\">where</th><th class=\"name\" "
      "scope=\"col\">called by</th><th class=\"name\" scope=\"col\">beside this machine</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(kRowsOfFunctions, seen.functions.size()); ++i) {
    const HotFunction& function = seen.functions[i];
    std::string beside;
    if (diagnosis.roofline) {
      for (const RooflinePoint& point : diagnosis.roofline->points) {
        if (point.function == i) beside = roofline_in_words(point);
      }
    }
    const std::string caller =
        function.caller + (function.caller_place.empty() ? "" : " (" + function.caller_place + ")");
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"name\">{}</td><td class=\"name\" title=\"{}\">{}</td><td "
        "class=\"name\">{}</td><td class=\"name\">{}</td></tr>\n",
        percent_words(function.cpu_share), function.kernel_share > 0 ? percent_words(function.kernel_share) : "",
        escape_html(function.name()), escape_html(function.source.empty() ? function.library : function.source),
        escape_html(function.place()), escape_html(caller), escape_html(beside));
  }
  html += "</tbody></table></div>\n";
  if (seen.functions.size() > kRowsOfFunctions) {
    html +=
        fmt::format("<p class=\"soft\">{} more have less than {} each.</p>\n", seen.functions.size() - kRowsOfFunctions,
                    percent_words(seen.functions[kRowsOfFunctions - 1].cpu_share + 5e-4));
  }
  return html;
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string html = "<ul class=\"notes soft\">\n";
  for (const std::string& note : notes) html += "<li>" + escape_html(note) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string diagnosis_page(const Diagnosis& diagnosis, const std::vector<Figure>& extra_figures) {
  const std::vector<const Finding*> findings = shown_findings(diagnosis);
  const std::vector<std::string> notes = all_notes(diagnosis);
  Page page;
  const std::string program = diagnosis.command.empty() ? "it" : diagnosis.command.front();
  page.title = "Why " + program.substr(program.rfind('/') + 1) + " is slow here";
  page.lead = lead_of(findings);
  page.facts_html = facts_of(diagnosis);
  page.style = kDiagnosisStyle;
  page.figures = {time_split_figure(diagnosis), roofline_figure(diagnosis), timeline_figure(diagnosis)};
  page.figures.insert(page.figures.end(), extra_figures.begin(), extra_figures.end());
  page.figures_first = true;
  page.sections = {{"findings", "Findings", findings_html(findings)},
                   {"functions", "Hot functions", functions_html(diagnosis)}};
  if (!notes.empty()) page.sections.push_back({"notes", "Notes", notes_html(notes)});
  return html_page(page);
}

}  // namespace perfcast::measure
