#pragma once
// Alerts to a Prometheus Alertmanager (API v2): one alert there for each incident, which ends when the incident does.
// Its labels say how the incident opened: alertname PerfcastWatch, incident, metric, severity, source, group. Its
// annotations say how it stands: summary, severity. While it is open it ends a week ahead: nobody repeats it.

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "measure/watch/alert.h"

namespace perfcast::measure {

class Alertmanager {
 public:
  // http://HOST[:PORT], with a path where it has a prefix. `source`: the stream.
  Alertmanager(std::string url, std::string source) : url_(std::move(url)), source_(std::move(source)) {}

  void add(const Alert& alert, const std::vector<std::string>& names);
  // Posts what is not yet there; within 10 s of a failure only where it must be `now`. What failed is kept,
  // 1,000 alerts at the most.
  Status send(bool now = false);
  size_t waiting() const { return waiting_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string url_, source_;
  std::vector<std::string> waiting_;           // JSON of alerts
  std::map<std::string, std::string> labels_;  // of open incidents, JSON by group and number
  Clock::time_point failed_;
  bool has_failed_ = false;
};

}  // namespace perfcast::measure
