#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profile/metrics/catalogue.h"

namespace perfcast {
namespace {

// '|' would end a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string origin(const Metric& metric) {
  if (!metric.formula.empty()) return "`" + metric.formula + "`";
  std::string text;
  for (const auto& [collector, event] : metric.sources) {
    text += (text.empty() ? "" : ", ") + collector + ": `" + cell(event) + "`";
  }
  return text;
}

std::string remarks(const Metric& metric) {
  std::string text = cell(metric.description);
  if (metric.gpu_only) text += "; GPU profiles only";
  if (metric.imported) text += "; imported";
  if (metric.of_kernel) text += "; of a kernel";
  if (!metric.table1.empty()) text += " (Table I: " + cell(metric.table1) + ")";
  return text;
}

}  // namespace

std::string catalogue_as_markdown(const Catalogue& catalogue) {
  std::vector<std::string> groups;
  size_t counters = 0;
  for (const Metric& metric : catalogue.metrics()) {
    if (std::find(groups.begin(), groups.end(), metric.group) == groups.end()) groups.push_back(metric.group);
    if (metric.kind == "counter") ++counters;
  }
  std::string text =
      "# Metrics\n\n"
      "Made by `tools/docs` from `src/profile/metrics/catalogue.json`: change that file, not this one.\n\n"
      "`perfcast metrics` lists the groups. `perfcast metrics --group branch` lists one of them, `perfcast metrics "
      "'cache misses'` finds metrics by words, or by names of perf events, and `perfcast metrics NAME` shows one with "
      "its formula and sources. With `--profile last`, each also shows the values in your latest profile.\n\n" +
      std::to_string(counters) + " counters are measured; " + std::to_string(catalogue.metrics().size() - counters) +
      " metrics are derived from them by the formula shown. A metric that could not be measured or computed is absent "
      "from a profile, never 0: an absent operand or a zero divisor gives no value. `sum(...)` adds those operands "
      "that are present, `first(...)` takes the first that is present.\n\n"
      "Names end in their unit: `_count` and `_ratio` (1), `_bytes` (byte), `_s` (second), `_joules` (J), "
      "`_per_s` (1/s), `_bytes_per_s` (byte/s). *Imported* metrics come from the output of other tools alone. "
      "Those *of a kernel* stand in `kernels` of a profile. "
      "*Table I* is the table of counters in Nichols, Yeom, Bhatele: Predicting "
      "Cross-Platform Relative Performance with Deep Generative Models.\n";
  for (const std::string& group : groups) {
    text += "\n## " + group + "\n\n| metric | unit | meaning | source or formula |\n|---|---|---|---|\n";
    for (const Metric& metric : catalogue.metrics()) {
      if (metric.group != group) continue;
      text += "| `" + metric.name + "` | " + metric.unit + " | " + remarks(metric) + " | " + origin(metric) + " |\n";
    }
  }
  return text;
}

}  // namespace perfcast
