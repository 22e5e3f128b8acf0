#include "program/forecast/forecast_seconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/unknown.h"
#include "program/model/forecast/gaussian_conditioning.h"

namespace perfcast::program {
namespace {

// CPU time over wall time: below, the program waits; above, it runs on several cores.
constexpr double kWorthSaying = 0.02;  // of the time
constexpr double kWaits = 0.9, kMostlyWaits = 0.5, kParallel = 1.1;

std::optional<double> positive(const MetricValues& metrics, const char* name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !(found->second > 0)) return std::nullopt;
  return found->second;
}

// Half width, in log seconds, of what is not known about a host that was matched without its name. 0 with it.
double match_half_width(const HostSpread& spread, const HostMatch& match) {
  if (match.certainty == HostMatch::Certainty::kName) return 0;
  return match.certainty == HostMatch::Certainty::kModel ? spread.of_design() : spread.of_line();
}

// Half widths of each platform's log time against the mean log time of those that were timed: the intervals against the
// mean, scaled by how much surer or less sure the difference is. With one timed platform as Forecaster::relative_to().
Eigen::VectorXd half_widths_against(const Forecast& against_mean, const std::vector<int64_t>& timed) {
  const Eigen::MatrixXd& covariance = against_mean.covariance;
  const Eigen::VectorXd deviations = relative_deviations(covariance);
  const Eigen::VectorXd shared = covariance(Eigen::all, timed).rowwise().mean();
  const double own = shared(timed).mean();
  Eigen::VectorXd half = against_mean.half_width;
  for (Eigen::Index j = 0; j < half.size(); ++j) {
    const double variance = covariance(j, j) - 2 * shared(j) + own;
    half(j) *= std::sqrt(std::max(variance, 0.0)) / std::max(deviations(j), 1e-12);
  }
  return half;
}

}  // namespace

namespace {

// What forecasts of one core mean for a program of several threads.
std::string parallel_note(const Profile& profile, double use) {
  const Parallelism seen = parallelism_of(profile.course);
  std::string note = "the program kept " + fmt::format("{:.1f}", use) + " cores busy";
  if (seen.most_running_count > 1) {
    note += fmt::format(" (more than one {:.0f}% of the time, {:.1f} at most)", 100 * seen.parallel_time_ratio,
                        seen.most_running_count);
  }
  return note +
         "; the seconds hold if it keeps as many cores busy elsewhere. perfcast does not forecast how these cores slow "
         "each other down through shared caches and memory";
}

}  // namespace

HostTime host_time_of(const Profile& profile) {
  HostTime result;
  const auto wall = positive(profile.metrics, "wall_s"), cpu = positive(profile.metrics, "cpu_s");
  if (!wall && !cpu) return result;
  const double use = wall && cpu ? *cpu / *wall : 1;
  if (cpu && use <= kParallel) {
    result.seconds = cpu;
    result.basis = "cpu";
    // Threads and processes that wait for each other, as a shell's do, are no news.
    const Parallelism seen = parallelism_of(profile.course);
    if (seen.parallel_time_ratio > kWorthSaying) {
      result.notes.push_back(
          fmt::format("up to {:.1f} threads ran at a time (more than one {:.0f}% of the time). The seconds are CPU "
                      "seconds, summed over all threads",
                      seen.most_running_count, 100 * seen.parallel_time_ratio));
    }
    if (use < kWaits && use >= kMostlyWaits) {
      result.notes.push_back("the program was on a CPU for " + std::to_string(std::lround(100 * use)) +
                             "% of its time: it waited, or other programs used the CPUs. The seconds are CPU seconds");
    }
    return result;
  }
  result.seconds = wall;
  result.basis = "wall";
  if (use > kParallel) {
    result.notes.push_back(parallel_note(profile, use));
  }
  return result;
}

std::optional<ProfileWarning> waiting_warning(const Profile& profile) {
  const auto wall = positive(profile.metrics, "wall_s"), cpu = positive(profile.metrics, "cpu_s");
  if (!wall || !cpu || *cpu >= kMostlyWaits * *wall) return std::nullopt;
  const double ready = parallelism_of(profile.course).ready_count, off_cpu = 1 - *cpu / *wall;
  if (ready > 0.5 * off_cpu) {
    return ProfileWarning{"no-cpu",
                          fmt::format("the program waited for a free CPU for {:.0f}% of its {} here, as other programs "
                                      "used the CPUs. Its CPU time is less sure",
                                      100 * std::min(ready, off_cpu), human_seconds(*wall)),
                          "measure on an idle machine"};
  }
  return ProfileWarning{
      "waits",
      fmt::format(
          "the program waited for {:.0f}% of its {} here. It used a CPU for only {}, and the forecast is of this time",
          100 * (1 - *cpu / *wall), human_seconds(*wall), human_seconds(*cpu)),
      "perfcast diagnose says what it waits for. A faster CPU does not shorten the waiting"};
}

std::optional<ForecastSeconds> seconds_of(const HostSpread& spread, const Forecast& against_mean,
                                          const std::vector<Measurement>& measured,
                                          const std::optional<HostMatch>& host,
                                          const std::optional<double>& host_time_s) {
  ForecastSeconds seconds;
  std::vector<int64_t> timed;
  double match_half = 0;
  if (!measured.empty() && against_mean.log_seconds) {
    seconds.log_of_one = *against_mean.log_seconds;
    for (const Measurement& measurement : measured) timed.push_back(measurement.platform);
  } else if (against_mean.log_seconds) {
    seconds.log_of_one = *against_mean.log_seconds;
    seconds.upper = Eigen::VectorXd::Constant(against_mean.log_rpv.size(), against_mean.seconds_half_width);
    seconds.lower = -seconds.upper;
    return seconds;
  } else if (host && host_time_s) {
    timed.push_back(static_cast<int64_t>(host->platform));
    seconds.log_of_one = std::log(*host_time_s) - against_mean.log_rpv(timed.front());
    match_half = match_half_width(spread, *host);
  } else {
    return std::nullopt;
  }
  // What sets the host off the platform it was taken for shifts all times alike, whatever the forecast's own errors.
  seconds.upper = half_widths_against(against_mean, timed).unaryExpr([match_half](double half) {
    return std::hypot(half, match_half);
  });
  seconds.lower = -seconds.upper;
  return seconds;
}

}  // namespace perfcast::program
