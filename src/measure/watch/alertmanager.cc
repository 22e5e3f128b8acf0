#include "measure/watch/alertmanager.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "measure/watch/http_client.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostWaiting = 1000;
constexpr double kLimit_s = 10, kPause_s = 10;
constexpr double kAhead_s = 7 * 86400;

// "2026-01-02T03:04:05.250Z"; of a stream without dates: seconds since 1970.
std::string api_time(double time_s) {
  std::string text = time_text(std::clamp(time_s, 1e8, 9.9e9));
  text[10] = 'T';
  const auto milliseconds = static_cast<int>((time_s - std::floor(time_s)) * 1000);
  return text + fmt::format(".{:03}Z", milliseconds);
}

}  // namespace

void Alertmanager::add(const Alert& alert, const std::vector<std::string>& names) {
  const std::string key = alert.group + "\n" + std::to_string(alert.id);
  const auto opened = labels_.find(key);
  Json labels;
  if (opened != labels_.end()) {
    labels = Json::parse(opened->second);
  } else {
    labels["alertname"] = "PerfcastWatch";
    labels["incident"] = std::to_string(alert.id);
    labels["severity"] = to_text(alert.severity);
    labels["source"] = printable(source_);
    if (!alert.metrics.empty()) labels["metric"] = printable(names[alert.metrics[0].column]);
    if (!alert.group.empty()) labels["group"] = printable(alert.group);
  }
  const bool is_open = alert.state == AlertState::kOpen;
  if (!is_open) {
    if (opened != labels_.end()) labels_.erase(opened);
  } else if (opened == labels_.end() && labels_.size() < kMostWaiting) {
    labels_.emplace(key, labels.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  Json json;
  json["labels"] = std::move(labels);
  json["annotations"]["summary"] = alert_text(alert, names);
  json["annotations"]["severity"] = to_text(alert.severity);
  json["startsAt"] = api_time(alert.since_s);
  json["endsAt"] = api_time(is_open ? alert.time_s + kAhead_s : alert.time_s);
  if (waiting_.size() >= kMostWaiting) waiting_.erase(waiting_.begin());
  waiting_.push_back(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status Alertmanager::send(bool now) {
  if (waiting_.empty()) return {};
  const auto time = Clock::now();
  if (!now && has_failed_ && std::chrono::duration<double>(time - failed_).count() < kPause_s) return {};
  std::string body;
  for (const std::string& alert : waiting_) body += (body.empty() ? "[" : ",") + alert;
  const std::string slash = url_.ends_with('/') ? "" : "/";
  Status sent = http_post_json(url_ + slash + "api/v2/alerts", body + "]", kLimit_s);
  has_failed_ = !sent.ok();
  failed_ = time;
  if (sent) waiting_.clear();
  return sent;
}

}  // namespace perfcast::measure
