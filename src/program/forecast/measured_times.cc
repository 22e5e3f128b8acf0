#include "program/forecast/measured_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/significant.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr double kApart = 3;          // seconds of two platforms, implied and stated
constexpr double kContradicts = 1.5;  // seconds of this host, implied and measured

// "10.0x", "1010x", "0.0012x".
std::string times_text(double ratio) {
  return ratio >= 100   ? fmt::format("{:.0f}x", ratio)
         : ratio >= 0.1 ? fmt::format("{:.1f}x", ratio)
                        : fmt::format("{}x", significant(ratio, 2));
}

// "milliseconds" where a time in them, taken for seconds, would be off by about so much; empty where no unit fits.
std::string fitting_unit(double ratio) {
  constexpr double kFits = 1.6;
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e3, "milliseconds"}, {1e6, "microseconds"}, {1e9, "nanoseconds"}, {1 / 60.0, "minutes"}, {1 / 3600.0, "hours"}};
  for (const auto& [factor, unit] : kUnits) {
    if (ratio < kFits * factor && ratio > factor / kFits) return unit;
  }
  return "";
}

// A time that was stated for the very platform that the run here was on.
void note_other_run_here(const std::vector<Measurement>& stated, ForecastReport& report) {
  const auto same = std::find_if(stated.begin(), stated.end(), [&](const Measurement& each) {
    return each.platform == static_cast<int64_t>(report.host->platform);
  });
  const double seconds = std::exp(same->log_seconds), ratio = seconds / *report.host_time_s;
  if (!report.out_of_line.empty() || (ratio < kContradicts && ratio > 1 / kContradicts)) return;
  const std::string unit = fitting_unit(ratio);
  report.out_of_line = fmt::format("the measured time of {} is {} of what the run here took on it ({} against {}){}",
                                   report.host_platform->name, times_text(ratio), human_seconds(seconds),
                                   human_seconds(*report.host_time_s),
                                   unit.empty() ? ": was it of the same input?" : ": was it in " + unit + "?");
  report.notes.push_back(report.out_of_line);
}

// How long the program takes on a platform of relative time 1, by one time.
struct ImpliedLevel {
  double log_seconds = 0;
  int64_t platform = 0;
};

double median_level(std::vector<double> levels) {
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::nth_element(levels.begin(), middle, levels.end());
  if (levels.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(levels.begin(), middle)) / 2;
}

// Where all stated times are off from the run here, the last of the levels, by what one unit makes. True: it was said.
bool note_unit_of_all(const std::vector<ImpliedLevel>& levels, ForecastReport& report) {
  std::string unit;
  for (size_t i = 0; i + 1 < levels.size(); ++i) {
    const std::string fits = fitting_unit(std::exp(levels[i].log_seconds - levels.back().log_seconds));
    if (fits.empty() || (i > 0 && fits != unit)) return false;
    unit = fits;
  }
  report.out_of_line = fmt::format("all measured times are {} of what the run here implies: were they in {}?",
                                   times_text(std::exp(levels.front().log_seconds - levels.back().log_seconds)), unit);
  report.notes.push_back(report.out_of_line + " The intervals don't allow for this");
  return true;
}

}  // namespace

bool measured_on(const std::vector<Measurement>& measured, size_t platform) {
  return std::any_of(measured.begin(), measured.end(), [platform](const Measurement& measurement) {
    return measurement.platform == static_cast<int64_t>(platform);
  });
}

void note_contradiction(const Forecast& by_stated, const std::vector<Measurement>& stated,
                        const std::vector<Measurement>& measured, ForecastReport& report) {
  if (!report.host || !report.host_time_s || stated.empty()) return;
  if (measured_on(stated, report.host->platform)) {
    note_other_run_here(stated, report);
    return;
  }
  if (!measured_on(measured, report.host->platform)) {
    report.notes.push_back("seconds come from the measured times, not from the run here");
  }
  double log_of_one = 0;
  for (const Measurement& each : stated) {
    log_of_one += (each.log_seconds - by_stated.log_rpv(each.platform)) / static_cast<double>(stated.size());
  }
  const double ratio =
      std::exp(log_of_one + by_stated.log_rpv(static_cast<int64_t>(report.host->platform))) / *report.host_time_s;
  const bool is_told = !report.out_of_line.empty();  // which of the times it is
  if (is_told || (ratio < kContradicts && ratio > 1 / kContradicts)) return;
  const std::string unit = fitting_unit(ratio);
  report.out_of_line = fmt::format(
      "the measured times put this host at {} of what the run here took: were they of the "
      "same input, in seconds of CPU time?{}",
      times_text(ratio), unit.empty() ? "" : " (" + unit + " would fit)");
  report.notes.push_back(report.out_of_line);
}

void note_times_apart(const Bundle& bundle, const Forecast& unmeasured, const std::vector<Measurement>& stated,
                      ForecastReport& report) {
  std::vector<ImpliedLevel> levels;
  levels.reserve(stated.size() + 1);
  for (const Measurement& each : stated) {
    levels.push_back({each.log_seconds - unmeasured.log_rpv(each.platform), each.platform});
  }
  const size_t all_stated = levels.size();
  const bool sure_of_host = report.host && report.host->certainty == HostMatch::Certainty::kName;
  if (sure_of_host && report.host_time_s && !measured_on(stated, report.host->platform)) {
    const auto host = static_cast<int64_t>(report.host->platform);
    levels.push_back({std::log(*report.host_time_s) - unmeasured.log_rpv(host), host});
  }
  if (all_stated >= 2 && levels.size() > all_stated && note_unit_of_all(levels, report)) return;
  if (levels.size() >= 3) {
    size_t worst = 0;
    double log_apart = 0;
    for (size_t i = 0; i < levels.size(); ++i) {
      std::vector<double> others;
      for (size_t other = 0; other < levels.size(); ++other) {
        if (other != i) others.push_back(levels[other].log_seconds);
      }
      const double apart = levels[i].log_seconds - median_level(std::move(others));
      if (std::abs(apart) <= std::abs(log_apart)) continue;
      worst = i;
      log_apart = apart;
    }
    if (std::abs(log_apart) < std::log(kApart)) return;
    if (worst == all_stated) {
      report.out_of_line = fmt::format(
          "the run here took {} of what the measured times and the forecast imply ({} instead of {}): was it of the "
          "same input, on a quiet machine?",
          times_text(std::exp(log_apart)), human_seconds(*report.host_time_s),
          human_seconds(std::exp(std::log(*report.host_time_s) - log_apart)));
      report.notes.push_back(report.out_of_line + " The intervals don't allow for this");
      return;
    }
    const std::string unit = fitting_unit(std::exp(log_apart));
    report.out_of_line =
        fmt::format("the measured time of {} is {} of what the other times and the forecast imply ({} instead of {}){}",
                    bundle.platforms[static_cast<size_t>(levels[worst].platform)].name, times_text(std::exp(log_apart)),
                    human_seconds(std::exp(stated[worst].log_seconds)),
                    human_seconds(std::exp(stated[worst].log_seconds - log_apart)),
                    unit.empty() ? ": was it of the same input?" : ": was it in " + unit + "?");
    report.notes.push_back(report.out_of_line + " The intervals don't allow for this");
    return;
  }
  if (all_stated < 2) return;
  const auto [least, most] = std::minmax_element(
      levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.log_seconds < b.log_seconds; });
  const double ratio = std::exp(most->log_seconds - least->log_seconds);
  if (ratio < kApart) return;
  report.out_of_line = fmt::format(
      "the measured times are {} apart from the forecast without them ({} against {}): were all of the same input, in "
      "seconds of CPU time?",
      times_text(ratio), bundle.platforms[static_cast<size_t>(most->platform)].name,
      bundle.platforms[static_cast<size_t>(least->platform)].name);
  report.notes.push_back(report.out_of_line + " The intervals don't allow for this");
}

}  // namespace perfcast::program
