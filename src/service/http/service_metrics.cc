#include "service/http/service_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace perfcast::service {
namespace {

double now_unix_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Of this process; not a number where the system doesn't say.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  if (!(file >> size >> resident)) return kUnknown;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Names of bundles are a user's.
std::string label(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n') continue;
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

void add_head(std::string& text, const char* name, const char* type, const char* help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void add_value(std::string& text, const char* name, const char* type, const char* help, double value) {
  if (!std::isfinite(value)) return;
  add_head(text, name, type, help);
  text += fmt::format("{} {}\n", name, value);
}

}  // namespace

double unix_s_of_utc(const std::string& text) {
  std::tm time = {};
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                  &time.tm_min, &time.tm_sec) != 6) {
    return kUnknown;
  }
  time.tm_year -= 1900;
  --time.tm_mon;
  const time_t seconds = ::timegm(&time);
  return seconds == time_t{-1} ? kUnknown : static_cast<double>(seconds);
}

void ServiceMetrics::count_request(const std::string& operation, int status, double seconds) {
  const auto bucket =
      static_cast<size_t>(std::lower_bound(kBounds_s.begin(), kBounds_s.end(), seconds) - kBounds_s.begin());
  const std::lock_guard guard(lock_);
  ++requests_[{operation, status}];
  Durations& durations = durations_[operation];
  ++durations.counts[bucket];
  durations.sum_s += seconds;
}

void ServiceMetrics::count_forecasts(int64_t forecasts, int64_t out_of_distribution) {
  const std::lock_guard guard(lock_);
  forecasts_ += forecasts;
  out_of_distribution_ += out_of_distribution;
}

void ServiceMetrics::count_reload(bool succeeded) {
  const std::lock_guard guard(lock_);
  ++(succeeded ? reloads_ : failed_reloads_);
}

std::string ServiceMetrics::text(const Now& now) const {
  const std::lock_guard guard(lock_);
  std::string text;
  add_head(text, "perfcast_requests_total", "counter", "Requests that were answered, by operation and status.");
  for (const auto& [key, count] : requests_) {
    text += fmt::format("perfcast_requests_total{{operation=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  add_head(text, "perfcast_request_duration_seconds", "histogram", "Time from a whole request to its answer.");
  for (const auto& [operation, durations] : durations_) {
    int64_t sum = 0;
    for (size_t i = 0; i < durations.counts.size(); ++i) {
      sum += durations.counts[i];
      const std::string bound = i < kBounds_s.size() ? fmt::format("{}", kBounds_s[i]) : "+Inf";
      text += fmt::format("perfcast_request_duration_seconds_bucket{{operation=\"{}\",le=\"{}\"}} {}\n", operation,
                          bound, sum);
    }
    text += fmt::format(
        "perfcast_request_duration_seconds_sum{{operation=\"{0}\"}} {1}\n"
        "perfcast_request_duration_seconds_count{{operation=\"{0}\"}} {2}\n",
        operation, durations.sum_s, sum);
  }
  add_value(text, "perfcast_requests_in_flight", "gauge", "Requests that are being answered.",
            static_cast<double>(now.in_flight));
  add_value(text, "perfcast_forecasts_total", "counter", "Forecasts of programs.", static_cast<double>(forecasts_));
  add_value(text, "perfcast_forecasts_out_of_distribution_total", "counter",
            "Those of programs unlike all that the models were trained on.", static_cast<double>(out_of_distribution_));
  add_value(text, "perfcast_forecasts_out_of_distribution_ratio", "gauge", "Their share since the start.",
            forecasts_ > 0 ? static_cast<double>(out_of_distribution_) / static_cast<double>(forecasts_) : kUnknown);
  add_head(text, "perfcast_jobs", "gauge", "Jobs by state.");
  text += fmt::format("perfcast_jobs{{state=\"waiting\"}} {}\nperfcast_jobs{{state=\"running\"}} {}\n",
                      now.jobs_waiting, now.jobs_running);
  add_head(text, "perfcast_reloads_total", "counter", "Reloads of the bundle.");
  text += fmt::format("perfcast_reloads_total{{result=\"done\"}} {}\nperfcast_reloads_total{{result=\"failed\"}} {}\n",
                      reloads_, failed_reloads_);
  if (!now.bundle.empty() && std::isfinite(now.bundle_created_unix_s)) {
    add_head(text, "perfcast_bundle_age_seconds", "gauge", "Time since the bundle was trained.");
    text += fmt::format("perfcast_bundle_age_seconds{{bundle=\"{}\"}} {:.0f}\n", label(now.bundle),
                        std::max(0.0, now_unix_s() - now.bundle_created_unix_s));
  }
  add_value(text, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
  add_head(text, "perfcast_build_info", "gauge", "1, with the version.");
  text += fmt::format("perfcast_build_info{{version=\"{}\"}} 1\n", label(now.version));
  return text;
}

}  // namespace perfcast::service
