#include "measure/watch/alert.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "base/json.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

const char* rule_text(PresenceRule rule) {
  switch (rule) {
    case PresenceRule::kMissing:
      return "missing";
    case PresenceRule::kStuck:
      return "stuck";
    case PresenceRule::kUsual:
      break;
  }
  return "unusual";
}

// Six digits say more than is known, and hide what the last bits of a sum are.
double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::isfinite(unit) && unit > 0 ? std::round(value * unit) / unit : value;
}

Json causes_json(const std::vector<AlertMetric>& metrics, const std::vector<std::string>& names) {
  Json causes = Json::array();
  for (const AlertMetric& metric : metrics) {
    Json cause;
    cause["metric"] = names[metric.column];
    cause["reason"] = rule_text(metric.rule);
    cause["share"] = rounded(metric.share, 2);
    if (std::isfinite(metric.value)) cause["value"] = rounded(metric.value, 6);
    if (std::isfinite(metric.expected) && metric.rule != PresenceRule::kStuck)
      cause["expected"] = rounded(metric.expected, 4);
    if (metric.rule == PresenceRule::kUsual) {
      cause["seen_in"] = to_text(metric.sight);
      const auto put = [&](const char* name, double value) {
        if (std::isfinite(value)) cause[name] = rounded(value, 4);
      };
      put("expected_low", metric.low);
      put("expected_high", metric.high);
      put("mean", metric.mean);
      put("times_as_much", metric.times);
      if (metric.is_growth) cause["growth"] = true;
    }
    causes.push_back(std::move(cause));
  }
  return causes;
}

std::string range_text(const AlertMetric& metric) {
  if (std::isfinite(metric.low) && std::isfinite(metric.high)) {
    const std::string low = significant(metric.low, 4), high = significant(metric.high, 4);
    return low == high ? low : low + " to " + high;
  }
  return significant(metric.expected, 4);
}

std::string metric_text(const AlertMetric& metric, const std::vector<std::string>& names) {
  std::string name = (metric.is_growth ? "growth of " : "") + printable(names[metric.column]);
  switch (metric.rule) {
    case PresenceRule::kMissing:
      return name + " is missing";
    case PresenceRule::kStuck:
      return name + " stays at " + significant(metric.value, 6);
    case PresenceRule::kUsual:
      break;
  }
  if (std::isnan(metric.value)) return name;
  const std::string share = fmt::format(" ({:.0f}%)", 100 * metric.share);
  if (!std::isnan(metric.times))
    return fmt::format("{} moves {} times as much as usual from row to row", name, significant(metric.times, 2)) +
           share;
  const bool is_mean = !std::isnan(metric.mean);
  return fmt::format("{}{} {} where {} is expected", is_mean ? "mean of " : "", name,
                     significant(is_mean ? metric.mean : metric.value, 4), range_text(metric)) +
         share;
}

std::string metrics_text(const std::vector<AlertMetric>& metrics, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < metrics.size(); ++i) text += (i == 0 ? ": " : "; ") + metric_text(metrics[i], names);
  return text;
}

std::string worse_text(const Alert& alert) {
  const Worse& worse = *alert.worse;
  const std::string was = worse.was ? fmt::format(" (was {})", to_text(*worse.was)) : "";
  if (!worse.grew) return fmt::format("now {}{}", to_text(alert.severity), was);
  const std::string by = std::isnan(worse.times_as_far)
                             ? ""
                             : fmt::format("{} times as far off as before, ", significant(worse.times_as_far, 2));
  return fmt::format("worse: {}{}{}", by, to_text(alert.severity), was);
}

}  // namespace

std::string lasting_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 60) return significant(seconds, 3) + " s";
  struct Unit {
    double size_s;
    const char* name;
  };
  constexpr Unit kUnits[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  for (size_t i = 0; i + 1 < std::size(kUnits); ++i) {
    const auto [size_s, name] = kUnits[i];
    const auto [next_s, next] = kUnits[i + 1];
    const double parts = std::round(seconds / next_s);  // of the smaller unit
    if (parts * next_s < size_s) continue;
    const double whole = std::floor(parts * next_s / size_s), rest = parts - whole * size_s / next_s;
    return fmt::format("{:.0f} {}", whole, name) + (rest > 0 ? fmt::format(" {:.0f} {}", rest, next) : "");
  }
  return "60 s";
}

std::string time_text(double time_s) {
  if (!(time_s >= 1e8 && time_s < 1e10)) return fmt::format("{:.10g} s", time_s);
  const auto seconds = static_cast<std::time_t>(std::floor(time_s));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04d}-{:02d}-{:02d} {:02d}:{:02d}:{:02d}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json alert_json(const Alert& alert, const std::vector<std::string>& names) {
  Json json;
  json["schema"] = "perfcast.alert/1";
  json["time_s"] = alert.time_s;
  json["severity"] = to_text(alert.severity);
  Json metrics = Json::array();
  for (const AlertMetric& metric : alert.metrics) metrics.push_back(names[metric.column]);
  json["metrics"] = std::move(metrics);
  json["kind"] = alert.kind == AlertKind::kChange ? "change" : "anomaly";
  json["state"] = alert.state == AlertState::kOpen ? "open" : "closed";
  json["id"] = alert.id;
  if (!alert.group.empty()) json["group"] = alert.group;
  json["since_s"] = alert.since_s;
  json["duration_s"] = alert.duration_s;
  json["rows"] = alert.rows;
  if (alert.worse) {
    json["worse"] = alert.worse->grew;
    if (!std::isnan(alert.worse->times_as_far)) json["times_as_far"] = rounded(alert.worse->times_as_far, 3);
    if (alert.worse->was) json["was_severity"] = to_text(*alert.worse->was);
  }
  if (alert.provisional) json["provisional"] = true;
  json["score_nats"] = rounded(alert.score, 3);
  json["level_nats"] = rounded(alert.level, 3);
  json["causes"] = causes_json(alert.metrics, names);
  if (!alert.worst.empty()) {
    json["worst"]["time_s"] = alert.worst_s;
    json["worst"]["causes"] = causes_json(alert.worst, names);
  }
  return json;
}

std::string alert_text(const Alert& alert, const std::vector<std::string>& names) {
  std::string text = time_text(alert.time_s) + "  ";
  if (!alert.group.empty()) text += printable(alert.group) + "  ";
  const std::string id = fmt::format("#{} ", alert.id), lasted = lasting_text(alert.duration_s);
  if (alert.kind == AlertKind::kChange) {
    return text + id + "change, " + lasted + " so far: the new usual" + metrics_text(alert.metrics, names);
  }
  if (alert.state == AlertState::kOpen) {
    return text + id + (alert.worse ? worse_text(alert) : to_text(alert.severity) + std::string(" anomaly")) +
           (alert.provisional ? " (provisional)" : "") + metrics_text(alert.metrics, names);
  }
  text += id + "over after " + (alert.duration_s > 0 ? lasted : "one row") + ", " + to_text(alert.severity);
  return alert.worst.empty() ? text
                             : text + "; worst at " + time_text(alert.worst_s) + metrics_text(alert.worst, names);
}

}  // namespace perfcast::measure
