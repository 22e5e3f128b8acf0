#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "explain/forecast_report.h"

namespace perfcast {
namespace {

constexpr double kWorthSaying = 0.1;  // share of the deviation
constexpr size_t kGroupsInLine = 2;
constexpr double kUnusualDeviations = 1.5;
constexpr size_t kWidth = 118;

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string factor(double log) { return fmt::format("x{:.2f}", std::exp(log)); }

std::string ratio(double value) { return fmt::format("{:.2f}", value); }

std::string standing(const FeatureStanding& feature) {
  if (feature.deviations > 0) {
    return feature.percentile >= 100 ? "more than in every training program"
                                     : fmt::format("more than in {:.0f}% of the training programs", feature.percentile);
  }
  return feature.percentile <= 0
             ? "less than in every training program"
             : fmt::format("less than in {:.0f}% of the training programs", 100 - feature.percentile);
}

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

std::string platforms_as_table(const ForecastReport& report) {
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
  for (const PlatformRow& row : report.rows) {
    std::vector<std::string> cells = {printable(row.platform.name), ratio(row.rpv),
                                      ratio(row.lower) + " .. " + ratio(row.upper)};
    if (seconds) cells.push_back(row.time_s ? human_seconds(*row.time_s) : "-");
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
  return table.to_text();
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
    TextTable table;
    table.add_column("against a typical program", TextTable::Align::kLeft);
    table.add_column("share", TextTable::Align::kRight);
    for (const int64_t j : order) {
      table.add_column(report.forecast_ids[static_cast<size_t>(j)].substr(0, 24), TextTable::Align::kRight);
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
      text += fmt::format("  {}: {}\n", feature.text, standing(feature));
    }
  }
  return text;
}

Json features_as_json(const ForecastReport& report) {
  Json items = Json::array();
  for (const FeatureStanding& feature : report.features) {
    Json item;
    item["feature"] = feature.feature;
    item["group"] = feature.group;
    item["text"] = feature.text;
    item["percentile"] = feature.percentile;
    item["deviations"] = feature.deviations;
    items.push_back(std::move(item));
  }
  return items;
}

Json groups_as_json(const ForecastReport& report) {
  Json items = Json::array();
  for (const GroupEffect& group : report.attribution.groups) {
    Json item;
    item["group"] = group.group;
    item["text"] = describe_group(group.group);
    item["share"] = group.share;
    Json& effects = item["effect_ratio"] = Json::object();
    for (const PlatformRow& row : report.rows) {
      const auto found = std::find(report.forecast_ids.begin(), report.forecast_ids.end(), row.platform.id);
      effects[row.platform.id] = std::exp(group.log(found - report.forecast_ids.begin()));
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

std::string why_line(const ForecastReport& report) {
  std::vector<std::string> parts;
  for (const GroupEffect& group : report.attribution.groups) {
    if (parts.size() >= kGroupsInLine || group.share < kWorthSaying) break;
    std::string part = percent(group.share) + (parts.empty() ? " of what sets it apart comes from " : " from ") +
                       describe_group(group.group);
    for (const FeatureStanding& feature : report.features) {
      if (feature.group != group.group || std::abs(feature.deviations) < kUnusualDeviations) continue;
      part += " (" + feature.text + ": " + standing(feature) + ")";
      break;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return "";
  // Shares add up to 100%; what the first groups have above that, the last takes away.
  const GroupEffect& against = report.attribution.groups.back();
  if (against.share < -kWorthSaying) {
    parts.push_back(describe_group(against.group) + " counts against it (" + percent(against.share) + ")");
  }
  return "why: " + join(parts, ", ");
}

Json to_json(const ForecastReport& report) {
  Json json;
  json["schema"] = kForecastSchema;
  json["program"] = report.program;
  json["bundle"] = report.bundle;
  json["model"] = report.model;
  json["reference"] = report.reference;
  json["in_distribution"] = report.in_distribution;
  Json& nearest = json["nearest"] = Json::array();
  for (const Neighbour& neighbour : report.nearest) nearest.push_back(neighbour.program);
  json["host_platform"] = report.host_platform ? Json(report.host_platform->id) : Json();
  Json host;
  host["cpu_model"] = report.host_cpu;
  if (report.host) {
    host["match"] = to_string(report.host->certainty);
    host["how"] = report.host->how;
  }
  if (report.host_time_s) host["time_s"] = *report.host_time_s;
  json["host"] = std::move(host);
  if (!report.time_basis.empty()) json["time_basis"] = report.time_basis;
  Json& platforms = json["platforms"] = Json::array();
  for (const PlatformRow& row : report.rows) {
    Json item;
    item["id"] = row.platform.id;
    item["name"] = row.platform.name;
    item["vendor"] = row.platform.vendor;
    item["arch"] = row.platform.arch;
    item["rpv"] = row.rpv;
    item["lower"] = row.lower;
    item["upper"] = row.upper;
    if (row.time_s) {
      item["time_s"] = *row.time_s;
      item["time_lower_s"] = *row.time_lower_s;
      item["time_upper_s"] = *row.time_upper_s;
    }
    if (row.is_measured) item["measured"] = true;
    if (row.cost) item["cost"] = *row.cost;
    if (!row.instances.empty()) {
      Json& instances = item["instances"] = Json::array();
      for (const InstanceRow& instance : row.instances) {
        Json entry;
        entry["vendor"] = instance.server.vendor;
        entry["server"] = instance.server.name;
        if (instance.server.vcpus) entry["vcpus"] = *instance.server.vcpus;
        if (instance.server.memory_gib) entry["memory_gib"] = *instance.server.memory_gib;
        if (instance.price_per_hour) entry["price_per_hour"] = *instance.price_per_hour;
        if (instance.cost) entry["cost"] = *instance.cost;
        instances.push_back(std::move(entry));
      }
    }
    platforms.push_back(std::move(item));
  }
  json["explanation"] = {
      {"text", why_line(report)}, {"groups", groups_as_json(report)}, {"features", features_as_json(report)}};
  Json& warnings = json["warnings"] = Json::array();
  for (const ProfileWarning& warning : report.warnings) {
    warnings.push_back({{"code", warning.code}, {"message", warning.message}, {"advice", warning.advice}});
  }
  json["notes"] = report.notes;
  return json;
}

std::string to_text(const ForecastReport& report, bool explain) {
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
  text += "\n" + platforms_as_table(report);
  text += instances_as_table(report);
  if (const std::string why = why_line(report); !why.empty()) text += "\n" + wrapped("", "  ", why);
  if (explain) text += explanation_as_text(report);
  return text;
}

}  // namespace perfcast
