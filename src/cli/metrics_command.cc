#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "profile/metrics/catalogue.h"

namespace perfcast::cli {
namespace {

struct MetricsOptions {
  std::string name, group;
  bool markdown = false;
};

Json to_json(const Metric& metric) {
  Json json = {{"name", metric.name},
               {"unit", metric.unit},
               {"kind", metric.kind},
               {"group", metric.group},
               {"description", metric.description}};
  if (!metric.formula.empty()) json["formula"] = metric.formula;
  if (!metric.table1.empty()) json["table1"] = metric.table1;
  json["gpu_only"] = metric.gpu_only;
  json["imported"] = metric.imported;
  json["sources"] = Json::object();
  for (const auto& [collector, event] : metric.sources) json["sources"][collector] = event;
  return json;
}

std::string sources_of(const Metric& metric) {
  std::vector<std::string> sources;
  for (const auto& [collector, event] : metric.sources) sources.push_back(fmt::format("{}:{}", collector, event));
  return join(sources, ", ");
}

std::string as_table(const std::vector<const Metric*>& metrics) {
  TextTable table;
  table.add_column("metric", TextTable::Align::kLeft);
  table.add_column("unit", TextTable::Align::kLeft);
  table.add_column("group", TextTable::Align::kLeft);
  table.add_column("description", TextTable::Align::kLeft);
  for (const Metric* metric : metrics) table.add_row({metric->name, metric->unit, metric->group, metric->description});
  return table.to_text();
}

std::string as_page(const Metric& metric) {
  std::string text = metric.name + "\n  " + metric.description + "\n  unit:     " + metric.unit +
                     "\n  kind:     " + metric.kind + "\n  group:    " + metric.group + "\n";
  if (!metric.formula.empty()) text += "  formula:  " + metric.formula + "\n";
  if (!metric.sources.empty()) text += "  sources:  " + sources_of(metric) + "\n";
  if (!metric.table1.empty()) text += "  table I:  " + metric.table1 + "\n";
  if (metric.gpu_only) text += "  absent on CPU profiles\n";
  return text;
}

// In its name, or in what is said of it; `words` in lower case.
bool holds(const Metric& metric, const std::string& words) {
  return metric.name.find(words) != std::string::npos ||
         lower_case(metric.description).find(words) != std::string::npos;
}

int run(const MetricsOptions& chosen, const CommonOptions& options) {
  const Catalogue& catalogue = Catalogue::built_in();
  if (chosen.markdown) return write_result(catalogue_as_markdown(catalogue), options);

  const bool is_exact = catalogue.find(chosen.name) != nullptr;
  std::vector<const Metric*> metrics;
  std::vector<std::string> groups;
  for (const Metric& metric : catalogue.metrics()) {
    if (std::find(groups.begin(), groups.end(), metric.group) == groups.end()) groups.push_back(metric.group);
    const bool is_named = is_exact ? metric.name == chosen.name : holds(metric, lower_case(chosen.name));
    if (is_named && (chosen.group.empty() || metric.group == chosen.group)) metrics.push_back(&metric);
  }
  if (!chosen.group.empty() && std::find(groups.begin(), groups.end(), chosen.group) == groups.end()) {
    return report_error(
        usage_error("bad-usage", "no group '" + printable(chosen.group) + "'", "--group", join(groups, ", ")), options);
  }
  if (metrics.empty()) {
    const std::string where = chosen.group.empty() ? "" : " in group " + chosen.group;
    return report_error(
        usage_error("bad-usage", "no metric '" + printable(chosen.name) + "'" + where, "NAME",
                    "a metric of the catalogue, such as " + nearest_names(chosen.name, catalogue.names())),
        options);
  }
  if (options.json) {
    Json json = {{"schema", "perfcast.metrics/1"}, {"metrics", Json::array()}};
    for (const Metric* metric : metrics) json["metrics"].push_back(to_json(*metric));
    return write_result(to_text(json), options);
  }
  return write_result(is_exact ? as_page(*metrics.front()) : as_table(metrics), options);
}

}  // namespace

void add_metrics_command(CLI::App& app, CommandContext& context) {
  auto chosen = std::make_shared<MetricsOptions>();
  CLI::App* verb = add_verb(app, {"metrics",
                                  "Lists the metrics that profiles hold, with units, formulas and sources.",
                                  "",
                                  {"perfcast metrics", "perfcast metrics wall_s"},
                                  "metrics"});
  add_basic(*verb, "NAME", chosen->name, "NAME",
            "Shows this metric with its formula and sources, or all whose names or descriptions contain this.");
  add_basic(*verb, "--group", chosen->group, "NAME",
            "Shows only this group, such as work, mix, memory, branch or system.");
  add_advanced(*verb, "--markdown", chosen->markdown, "Prints the whole catalogue as docs/metrics.md.");
  add_common_options(*verb, context, kNoFurtherOption);
  verb->callback([chosen, &context] { context.run = [chosen, &context] { return run(*chosen, context.options); }; });
}

}  // namespace perfcast::cli
