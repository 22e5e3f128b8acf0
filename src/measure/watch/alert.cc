#include "measure/watch/alert.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "base/json.h"
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

std::string duration_text(double seconds) { return duration_column({seconds}).front(); }

std::string metric_text(const AlertMetric& metric, const std::vector<std::string>& names) {
  std::string name = printable(names[metric.column]);
  switch (metric.rule) {
    case PresenceRule::kMissing:
      return name + " is missing";
    case PresenceRule::kStuck:
      return fmt::format("{} stays at {:.6g}", name, metric.value);
    case PresenceRule::kUsual:
      break;
  }
  if (std::isnan(metric.value)) return name;
  return fmt::format("{} {:.4g} where {:.4g} is expected ({:.0f}%)", name, metric.value, metric.expected,
                     100 * metric.share);
}

}  // namespace

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
  Json causes = Json::array();
  for (const AlertMetric& metric : alert.metrics) {
    metrics.push_back(names[metric.column]);
    Json cause;
    cause["metric"] = names[metric.column];
    cause["reason"] = rule_text(metric.rule);
    cause["share"] = rounded(metric.share, 2);
    if (std::isfinite(metric.value)) cause["value"] = rounded(metric.value, 6);
    if (std::isfinite(metric.expected) && metric.rule != PresenceRule::kStuck)
      cause["expected"] = rounded(metric.expected, 4);
    causes.push_back(std::move(cause));
  }
  json["metrics"] = std::move(metrics);
  json["kind"] = alert.kind == AlertKind::kChange ? "change" : "anomaly";
  json["state"] = alert.state == AlertState::kOpen ? "open" : "closed";
  json["id"] = alert.id;
  if (!alert.group.empty()) json["group"] = alert.group;
  json["since_s"] = alert.since_s;
  json["duration_s"] = alert.duration_s;
  json["rows"] = alert.rows;
  if (alert.returned) json["returned"] = true;
  json["score_nats"] = rounded(alert.score, 3);
  json["level_nats"] = rounded(alert.level, 3);
  json["causes"] = std::move(causes);
  return json;
}

std::string alert_text(const Alert& alert, const std::vector<std::string>& names) {
  std::string text = time_text(alert.time_s) + "  ";
  if (!alert.group.empty()) text += printable(alert.group) + "  ";
  if (alert.kind == AlertKind::kChange) {
    text += alert.returned
                ? fmt::format("#{} change back, after {}", alert.id, duration_text(alert.duration_s))
                : fmt::format("#{} change, {} so far: the new usual", alert.id, duration_text(alert.duration_s));
  } else if (alert.state == AlertState::kClosed) {
    text += fmt::format("#{} over after {}, {}", alert.id, duration_text(alert.duration_s), to_text(alert.severity));
  } else {
    text += fmt::format("#{} {} anomaly", alert.id, to_text(alert.severity));
  }
  for (size_t i = 0; i < alert.metrics.size(); ++i)
    text += (i == 0 ? ": " : "; ") + metric_text(alert.metrics[i], names);
  return text;
}

}  // namespace perfcast::measure
