#include "cli/forecast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/unknown.h"
#include "explain/why.h"

namespace perfcast {
namespace {

constexpr size_t kWidth = 118;

// Without "-0%".
std::string percent(double share) { return fmt::format("{:.0f}%", std::round(100 * share) + 0.0); }

std::string factor(double log) { return fmt::format("x{:.2f}", std::exp(log)); }

std::string ratio(double value) { return fmt::format("{:.2f}", value); }

// Words of `text` in lines of at most kWidth, the following ones indented.
std::string wrapped(const std::string& first_indent, const std::string& indent, const std::string& text) {
  std::string result, line = first_indent;
  bool is_empty = true;
  for (const std::string& word : split(text, ' ')) {
    if (!is_empty && line.size() + 1 + word.size() > kWidth) {
      result += line + "\n";
      line = indent;
      is_empty = true;
    }
    if (!is_empty) line += " ";
    line += word;
    is_empty = false;
  }
  return result + line + "\n";
}

std::string platforms_as_table(const ForecastReport& report, size_t most_rows) {
  const auto any = [&](auto has) { return std::any_of(report.rows.begin(), report.rows.end(), has); };
  const bool seconds = any([](const PlatformRow& row) { return row.time_s.has_value(); });
  const bool costs = any([](const PlatformRow& row) { return row.cost.has_value(); });
  const bool marks = any([](const PlatformRow& row) { return row.is_host || row.is_measured; });
  TextTable table;
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("rel. time", TextTable::Align::kRight);
  table.add_column("90% interval", TextTable::Align::kRight);
  if (seconds) table.add_column("time", TextTable::Align::kRight);
  if (costs) {
    table.add_column("cost per run", TextTable::Align::kRight);
    table.add_column("on", TextTable::Align::kLeft);
  }
  if (marks) table.add_column("", TextTable::Align::kLeft);
  std::vector<double> times;
  for (const PlatformRow& row : report.rows) times.push_back(row.time_s.value_or(kUnknown));
  const std::vector<std::string> shown_times = seconds_column(times);
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlatformRow& row = report.rows[i];
    if (most_rows > 0 && i >= most_rows && !row.is_host && !row.is_measured) continue;
    std::vector<std::string> cells = {printable(row.platform.name), ratio(row.rpv),
                                      ratio(row.lower) + " .. " + ratio(row.upper)};
    if (seconds) cells.push_back(shown_times[i]);
    if (costs) {
      cells.push_back(row.cost ? fmt::format("{:.3g}", *row.cost) : "-");
      cells.push_back(
          row.cost ? printable(row.instances.front().server.vendor + " " + row.instances.front().server.name) : "");
    }
    if (marks) {
      const bool sure = report.host && report.host->certainty != HostMatch::Certainty::kNearest;
      std::vector<std::string> words;
      if (row.is_host) words.emplace_back(sure ? "this host" : "nearest to this host");
      if (row.is_measured) words.emplace_back("measured");
      cells.push_back(join(words, ", "));
    }
    table.add_row(std::move(cells));
  }
  std::string text = table.to_text();
  if (const size_t hidden = report.rows.size() - table.rows(); hidden > 0) {
    text += fmt::format("{} slower platforms more: --all; or narrow the table with --filter\n", hidden);
  }
  return text;
}

std::string instances_as_table(const ForecastReport& report) {
  TextTable table;
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("cloud", TextTable::Align::kLeft);
  table.add_column("instance", TextTable::Align::kLeft);
  table.add_column("vCPUs", TextTable::Align::kRight);
  table.add_column("memory", TextTable::Align::kRight);
  const bool prices = std::any_of(report.rows.begin(), report.rows.end(), [](const PlatformRow& row) {
    return std::any_of(row.instances.begin(), row.instances.end(),
                       [](const InstanceRow& instance) { return instance.price_per_hour.has_value(); });
  });
  if (prices) {
    table.add_column("price per hour", TextTable::Align::kRight);
    table.add_column("cost per run", TextTable::Align::kRight);
  }
  for (const PlatformRow& row : report.rows) {
    for (const InstanceRow& instance : row.instances) {
      const Server& server = instance.server;
      std::vector<std::string> cells = {printable(row.platform.name), printable(server.vendor), printable(server.name),
                                        server.vcpus ? fmt::format("{:g}", *server.vcpus) : "-",
                                        server.memory_gib ? fmt::format("{:g} GiB", *server.memory_gib) : "-"};
      if (prices) {
        cells.push_back(instance.price_per_hour ? fmt::format("{:g}", *instance.price_per_hour) : "-");
        cells.push_back(instance.cost ? fmt::format("{:.3g}", *instance.cost) : "-");
      }
      table.add_row(std::move(cells));
    }
  }
  return table.rows() == 0 ? "" : "\n" + table.to_text();
}

std::string explanation_as_text(const ForecastReport& report) {
  const Attribution& attribution = report.attribution;
  std::string text;
  if (!attribution.groups.empty()) {
    // The platforms where the program stands out most, either way.
    std::vector<int64_t> order;
    for (int64_t j = 0; j < attribution.deviation_log.size(); ++j) order.push_back(j);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return attribution.deviation_log(a) < attribution.deviation_log(b); });
    if (order.size() > 4) order = {order[0], order[1], order[order.size() - 2], order[order.size() - 1]};
    // Columns have numbers, so that no name of a platform is cut.
    TextTable table;
    table.add_column("against a typical program", TextTable::Align::kLeft);
    table.add_column("share", TextTable::Align::kRight);
    text += "\n";
    for (size_t i = 0; i < order.size(); ++i) {
      const std::string column = "(" + std::to_string(i + 1) + ")";
      table.add_column(column, TextTable::Align::kRight);
      text += column + " " + printable(report.forecast_names[static_cast<size_t>(order[i])]) + "\n";
    }
    for (const GroupEffect& group : attribution.groups) {
      std::vector<std::string> cells = {describe_group(group.group), percent(group.share)};
      for (const int64_t j : order) cells.push_back(factor(group.log(j)));
      table.add_row(std::move(cells));
    }
    std::vector<std::string> total = {"together", "100%"};
    for (const int64_t j : order) total.push_back(factor(attribution.deviation_log(j)));
    table.add_row(std::move(total));
    text += "\n" + table.to_text();
  }
  if (!report.features.empty()) {
    text += "\nmost unusual counters:\n";
    for (const FeatureStanding& feature : report.features) {
      text += fmt::format("  {}: {}\n", feature.text, standing_in_words(feature));
    }
  }
  return text;
}

}  // namespace

std::string forecast_text(const ForecastReport& report, bool explain, size_t most_rows) {
  std::string text = "program: " + printable(report.program) + "\n";
  std::vector<std::string> names;
  for (const Neighbour& neighbour : report.nearest) names.push_back(neighbour.program);
  const std::string nearest = names.empty() ? "" : " (nearest: " + join(names, ", ") + ")";
  text += "reference: " + printable(report.reference_name);
  text += report.in_distribution ? "      in distribution" + nearest + "\n" : "\n";
  if (!report.in_distribution) {
    text += "OUT OF DISTRIBUTION: intervals are widened, nothing is promised" + nearest + "\n";
  }
  for (const ProfileWarning& warning : report.warnings) {
    text += wrapped("  warning: ", "    ", printable(warning.message));
    if (!warning.advice.empty()) text += wrapped("    advice: ", "      ", printable(warning.advice));
  }
  const std::string cpu = printable(report.host_cpu.empty() ? "unknown CPU" : report.host_cpu);
  if (!report.host) {
    text += "host: " + cpu + "; like no known platform, so no seconds\n";
  } else {
    std::string line = "host: " + cpu;
    if (report.host->certainty == HostMatch::Certainty::kName) {
      line += " (known)";
    } else {
      line += "; taken as " + printable(report.host_platform->name) + " (" + report.host->how + ")";
    }
    if (report.host_time_s) line += "; " + human_seconds(*report.host_time_s) + " here";
    text += wrapped("", "  ", line);
  }
  for (const std::string& note : report.notes) text += wrapped("note: ", "  ", note);
  text += "\n" + platforms_as_table(report, most_rows);
  text += instances_as_table(report);
  if (const std::string why = why_line(report.attribution, report.features); !why.empty())
    text += "\n" + wrapped("", "  ", why);
  if (explain) text += explanation_as_text(report);
  return text;
}

}  // namespace perfcast
