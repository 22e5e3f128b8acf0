#include "measure/compare/revision_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kWhyShown = 60;

std::string line_of(const Revision& revision) {
  return fmt::format("{} {} ({}, {})", revision.short_id, printable(revision.subject), printable(revision.author),
                     revision.date);
}

std::string found_text(const RevisionSearch& search) {
  if (search.candidates.empty()) return "B is not slower: there is nothing to look for";
  if (search.candidates.size() == 1) return "first slow: " + line_of(search.candidates.front());
  std::string text = fmt::format("the first slow one is among {}, all but the last of which could not be tried:",
                                 search.candidates.size());
  for (const Revision& revision : search.candidates) text += "\n  " + line_of(revision);
  return text;
}

std::string outcome_of(const SearchStep& step) {
  if (step.is_skipped) {
    const std::string why = printable(step.why_skipped.substr(0, step.why_skipped.find('\n')));
    return "skipped: " + (why.size() > kWhyShown ? why.substr(0, kWhyShown) + "..." : why);
  }
  return std::string(step.is_bad ? "slow" : "as before") + (step.is_clear ? "" : ", by the estimate alone");
}

Json revision_json(const Revision& revision) {
  return {{"id", revision.id}, {"subject", revision.subject}, {"author", revision.author}, {"date", revision.date}};
}

}  // namespace

std::string revision_text(const std::string& as_given, const Revision& revision, const std::string& command) {
  return fmt::format("{} ({} {}): {}", as_given, revision.short_id, revision.subject, command);
}

std::string search_text(const RevisionSearch& search, const CommandTexts& commands, bool markdown) {
  std::string text = comparison_text(search.ends, commands, markdown);
  if (!search.steps.empty()) {
    TextTable table;
    table.add_column("tried", TextTable::Align::kLeft);
    table.add_column("over A", TextTable::Align::kRight);
    table.add_column("", TextTable::Align::kLeft);
    table.add_column("", TextTable::Align::kLeft);
    for (const SearchStep& step : search.steps) {
      const bool is_known = !step.is_skipped && std::isfinite(step.upper);
      table.add_row({step.revision.short_id, step.is_skipped ? "-" : fmt::format("{:.4f}", step.ratio),
                     is_known ? fmt::format("{:.4f} .. {:.4f}", step.lower, step.upper) : "", outcome_of(step)});
    }
    text += "\n" + (markdown ? table.to_markdown() : table.to_text());
  }
  const std::string bold = markdown ? "**" : "";
  return text + "\n" + bold + found_text(search) + bold + "\n";
}

Json search_json(const RevisionSearch& search, const CommandTexts& commands) {
  Json steps = Json::array();
  for (const SearchStep& step : search.steps) {
    Json json = {{"revision", revision_json(step.revision)}, {"skipped", step.is_skipped}};
    if (step.is_skipped) {
      json["why"] = step.why_skipped;
    } else {
      json["slow"] = step.is_bad;
      json["clear"] = step.is_clear;
      json["ratio"] = step.ratio;
      if (std::isfinite(step.upper)) {
        json["lower"] = step.lower;
        json["upper"] = step.upper;
      }
    }
    steps.push_back(std::move(json));
  }
  Json candidates = Json::array();
  for (const Revision& revision : search.candidates) candidates.push_back(revision_json(revision));
  return {{"schema", "perfcast.revision-search/1"},
          {"ends", comparison_json(search.ends, commands)},
          {"steps", std::move(steps)},
          {"first_slow", std::move(candidates)}};
}

}  // namespace perfcast::measure
