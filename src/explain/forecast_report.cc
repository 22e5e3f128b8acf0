#include "explain/forecast_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "evaluate/platform_name.h"
#include "model/features/microarchitecture.h"

namespace perfcast {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr size_t kFeaturesKept = 12;
// CPU time over wall time: below, the program waits; above, it runs on several cores.
constexpr double kWaits = 0.9, kParallel = 1.1;
constexpr double kContradicts = 1.5;  // seconds of this host, implied and measured

struct Filter {
  std::string key, value;
};

Result<std::vector<Filter>> parse_filters(const std::vector<std::string>& texts) {
  std::vector<Filter> filters;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    Filter filter;
    filter.key = equals == std::string::npos ? "name" : lower_case(trim(text.substr(0, equals)));
    filter.value = lower_case(trim(equals == std::string::npos ? text : text.substr(equals + 1)));
    const bool known = filter.key == "vendor" || filter.key == "arch" || filter.key == "cloud" || filter.key == "name";
    if (!known || filter.value.empty()) {
      return usage_error("bad-usage", "the filter '" + printable(text) + "' is not understood", "--filter",
                         "vendor=..., arch=..., cloud=..., name=..., or a part of a name");
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

bool passes(const Filter& filter, const Platform& platform, const std::vector<Server>& servers) {
  if (filter.key == "vendor") return lower_case(platform.vendor) == filter.value;
  if (filter.key == "arch") return lower_case(platform.arch) == filter.value;
  if (filter.key == "name") return lower_case(platform.name).find(filter.value) != std::string::npos;
  return std::any_of(servers.begin(), servers.end(), [&](const Server& server) {
    return server.platform == platform.id && lower_case(server.vendor) == filter.value;
  });
}

std::string distinct(const std::vector<Platform>& platforms, std::string Platform::*member) {
  std::vector<std::string> values;
  for (const Platform& platform : platforms) {
    if (std::find(values.begin(), values.end(), platform.*member) == values.end()) values.push_back(platform.*member);
  }
  std::sort(values.begin(), values.end());
  return join(values, ", ");
}

std::optional<double> positive(const MetricValues& metrics, const char* name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !(found->second > 0)) return std::nullopt;
  return found->second;
}

// Seconds of the native run that scale with the CPU, and which.
void take_host_time(const Profile& profile, ForecastReport& report) {
  const auto wall = positive(profile.metrics, "wall_s"), cpu = positive(profile.metrics, "cpu_s");
  if (!wall && !cpu) return;
  const double use = wall && cpu ? *cpu / *wall : 1;
  if (cpu && use <= kParallel) {
    report.host_time_s = cpu;
    report.time_basis = "cpu";
    const auto threads = positive(profile.metrics, "threads_peak_count");
    if (threads && *threads > 1) {
      report.notes.push_back(
          fmt::format("{:.0f} threads at a time: seconds are CPU seconds, summed over them; forecasts "
                      "are of one core",
                      *threads));
    } else if (use < kWaits) {
      report.notes.push_back("the program was on a CPU for " + std::to_string(std::lround(100 * use)) +
                             "% of its time: it waits, or other programs held the CPUs; seconds are CPU seconds");
    }
    return;
  }
  report.host_time_s = wall;
  report.time_basis = "wall";
  if (use > kParallel) {
    report.notes.push_back(
        "the program kept " + fmt::format("{:.1f}", use) +
        " cores busy; forecasts are of one core, so its seconds hold for as many cores of each kind");
  }
}

Result<std::vector<Measurement>> measurements_of(const std::vector<Platform>& platforms,
                                                 const ForecastRequest& request) {
  std::vector<Measurement> measured;
  for (const auto& [name, seconds] : request.measured_s) {
    const auto index = find_platform(platforms, name, "--measured");
    if (!index) return index.error();
    const bool again = std::any_of(measured.begin(), measured.end(), [&](const Measurement& measurement) {
      return measurement.platform == static_cast<int64_t>(*index);
    });
    if (again) {
      return usage_error("bad-usage", platforms[*index].name + " is measured twice", "--measured",
                         "one time per platform");
    }
    if (!(seconds > 0) || !std::isfinite(seconds)) {
      return usage_error("bad-usage", "the measured time of " + printable(name) + " is not above 0", "--measured",
                         "PLATFORM=SECONDS");
    }
    measured.push_back({static_cast<int64_t>(*index), std::log(seconds)});
  }
  return measured;
}

// Index of the reference, -1 for the mean.
Result<int64_t> reference_of(const std::vector<Platform>& platforms, const ForecastRequest& request,
                             const ForecastReport& report) {
  if (request.reference.empty() || request.reference == "mean") return int64_t{-1};
  if (request.reference == "host") {
    if (!report.host) {
      return Error{"unknown-host",
                   "the host of the profile (" + printable(report.host_cpu.empty() ? "unknown CPU" : report.host_cpu) +
                       ") is like none of the known platforms",
                   "--reference", "mean, or a platform"};
    }
    return static_cast<int64_t>(report.host->platform);
  }
  const auto index = find_platform(platforms, request.reference, "--reference");
  if (!index) return index.error();
  return static_cast<int64_t>(*index);
}

// |log ratio| of the times of two platforms of a kind that the training programs stay below with the calibration's
// coverage: how far a host's time may be off its namesake's. NaN where no two platforms are of a kind.
double spread_among(const Bundle& bundle, const std::function<bool(const Platform&, const Platform&)>& of_a_kind) {
  std::vector<double> ratios;
  for (size_t a = 0; a < bundle.platforms.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (!of_a_kind(bundle.platforms[a], bundle.platforms[b])) continue;
      const Eigen::VectorXd ratio =
          bundle.training_log_rpv.col(static_cast<int64_t>(a)) - bundle.training_log_rpv.col(static_cast<int64_t>(b));
      for (const double value : ratio) {
        if (!std::isnan(value)) ratios.push_back(std::abs(value));
      }
    }
  }
  return weighted_quantile(ratios, std::vector<double>(ratios.size(), 1), bundle.calibration.coverage);
}

// Half width, in log seconds, of what is not known about a host that was matched without its name. 0 with it.
double match_half_width(const Bundle& bundle, const HostMatch& match) {
  if (match.certainty == HostMatch::Certainty::kName) return 0;
  const auto same_design = [](const Platform& a, const Platform& b) {
    return microarchitecture(a) == microarchitecture(b);
  };
  const auto same_line = [](const Platform& a, const Platform& b) { return core_line(a) == core_line(b); };
  const auto any = [](const Platform&, const Platform&) { return true; };
  double half = std::numeric_limits<double>::quiet_NaN();
  if (match.certainty == HostMatch::Certainty::kModel) half = spread_among(bundle, same_design);
  if (std::isnan(half)) half = spread_among(bundle, same_line);
  if (std::isnan(half)) half = spread_among(bundle, any);
  return std::isnan(half) ? 0 : half;
}

// How far each platform's time may be off when one platform's time is known.
struct Seconds {
  double log_of_one = 0;         // log seconds of relative time 1 against the mean
  Eigen::VectorXd lower, upper;  // log factors on the forecast seconds
};

std::optional<Seconds> seconds_of(const Bundle& bundle, const Forecast& against_mean,
                                  const std::vector<Measurement>& measured, const ForecastReport& report) {
  Seconds seconds;
  int64_t anchor = -1;
  double match_half = 0;
  if (against_mean.log_seconds) {
    seconds.log_of_one = *against_mean.log_seconds;
    anchor = measured.front().platform;
  } else if (report.host && report.host_time_s) {
    anchor = static_cast<int64_t>(report.host->platform);
    seconds.log_of_one = std::log(*report.host_time_s) - against_mean.log_rpv(anchor);
    match_half = match_half_width(bundle, *report.host);
  } else {
    return std::nullopt;
  }
  const Forecast anchored = Forecaster::relative_to(against_mean, anchor);
  // What sets the host off the platform it was taken for shifts all times alike, whatever the forecast's own errors.
  const auto with_match = [match_half](double half) { return std::hypot(half, match_half); };
  seconds.lower = -(anchored.log_rpv - anchored.lower).unaryExpr(with_match);
  seconds.upper = (anchored.upper - anchored.log_rpv).unaryExpr(with_match);
  return seconds;
}

// Times measured elsewhere replace the run here as what seconds hang on. Where both speak of this host and disagree by
// more than platforms of a line differ, one of them is of another input, in another unit, or of a busy machine.
void note_contradiction(const Seconds& seconds, const Forecast& against_mean, const std::vector<Measurement>& measured,
                        ForecastReport& report) {
  if (!report.host || !report.host_time_s) return;
  const auto host = static_cast<int64_t>(report.host->platform);
  const bool stated = std::any_of(measured.begin(), measured.end(),
                                  [&](const Measurement& measurement) { return measurement.platform == host; });
  if (stated) return;
  report.notes.push_back("seconds come from the measured times, not from the run here");
  const double ratio = std::exp(seconds.log_of_one + against_mean.log_rpv(host)) / *report.host_time_s;
  if (ratio < kContradicts && ratio > 1 / kContradicts) return;
  report.notes.push_back(
      fmt::format("the measured times put this host at {:.1f}x of what the run here took: were they "
                  "of the same input, in seconds of CPU time?",
                  ratio));
}

void add_instances(const std::vector<Server>& servers, const std::vector<Filter>& filters,
                   const ForecastRequest& request, PlatformRow& row) {
  for (const Server& server : servers) {
    if (server.platform != row.platform.id) continue;
    const bool wanted = std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
      return filter.key != "cloud" || lower_case(server.vendor) == filter.value;
    });
    if (!wanted) continue;
    InstanceRow instance{server, std::nullopt, std::nullopt};
    if (request.prices != nullptr) instance.price_per_hour = request.prices->per_hour(server.vendor, server.name);
    if (instance.price_per_hour && row.time_s) instance.cost = *instance.price_per_hour * *row.time_s / kSecondsPerHour;
    if (!request.instances && !instance.price_per_hour) continue;
    if (instance.cost && (!row.cost || *instance.cost < *row.cost)) row.cost = instance.cost;
    row.instances.push_back(std::move(instance));
  }
  std::stable_sort(row.instances.begin(), row.instances.end(), [](const InstanceRow& a, const InstanceRow& b) {
    if (a.price_per_hour && b.price_per_hour) return *a.price_per_hour < *b.price_per_hour;
    return a.price_per_hour.has_value() && !b.price_per_hour.has_value();
  });
}

void explain(const Bundle& bundle, const Profile& profile, ForecastReport& report) {
  report.attribution = attribute(*bundle.predictor, profile, bundle.typical_rates);
  report.features =
      standings(bundle.feature_space.extract({&profile}).row(0), bundle.training_features, bundle.feature_names);
  if (report.features.size() > kFeaturesKept) report.features.resize(kFeaturesKept);
}

std::string short_name_of(const Profile& profile) {
  if (!profile.program.empty()) return profile.program;
  return join(profile.command, " ");
}

}  // namespace

Result<ForecastReport> make_forecast_report(const Forecaster& forecaster, const Profile& profile,
                                            const ForecastRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  const auto filters = parse_filters(request.filters);
  if (!filters) return filters.error();

  ForecastReport report;
  report.program = short_name_of(profile);
  report.bundle = bundle.card.name;
  report.model = bundle.card.model;
  report.platforms_known = static_cast<int64_t>(bundle.platforms.size());
  report.host_cpu = profile.host.cpu_model;
  report.host = match_host(profile.host, bundle.platforms);
  if (report.host) report.host_platform = bundle.platforms[report.host->platform];
  const auto reference = reference_of(bundle.platforms, request, report);
  if (!reference) return reference.error();
  report.reference = *reference < 0 ? "mean" : bundle.platforms[static_cast<size_t>(*reference)].id;
  report.reference_name = *reference < 0 ? "the mean over " + std::to_string(bundle.platforms.size()) + " platforms"
                                         : bundle.platforms[static_cast<size_t>(*reference)].name;
  take_host_time(profile, report);

  auto measured = measurements_of(bundle.platforms, request);
  if (!measured) return measured.error();
  const bool sure_of_host = report.host && report.host->certainty != HostMatch::Certainty::kNearest;
  if (!measured->empty() && sure_of_host && report.host_time_s) {
    const auto host = static_cast<int64_t>(report.host->platform);
    const bool stated = std::any_of(measured->begin(), measured->end(),
                                    [&](const Measurement& measurement) { return measurement.platform == host; });
    if (!stated) {
      measured->push_back({host, std::log(*report.host_time_s)});
      report.notes.push_back("the run on this host counts as measured too");
    }
  }
  if (measured->size() == 1) {
    report.notes.push_back("one measured platform fixes the seconds; from two on, relative times improve as well");
  }

  const auto against_mean = forecaster.forecast(profile, *measured);
  if (!against_mean) return against_mean.error();
  const Forecast forecast = *reference < 0 ? *against_mean : Forecaster::relative_to(*against_mean, *reference);
  report.in_distribution = forecast.in_distribution;
  report.warnings = forecast.warnings;
  for (const ProfileWarning& warning : profile.warnings) {
    const bool known = std::any_of(report.warnings.begin(), report.warnings.end(),
                                   [&](const ProfileWarning& other) { return other.code == warning.code; });
    if (!known) report.warnings.push_back(warning);
  }
  report.nearest = forecast.nearest;
  const auto seconds = seconds_of(bundle, *against_mean, *measured, report);
  if (!measured->empty()) {
    report.time_basis = "measured";
    if (seconds) note_contradiction(*seconds, *against_mean, *measured, report);
  }
  if (!seconds) report.time_basis.clear();
  if (request.prices != nullptr && !seconds) {
    report.notes.push_back(
        "cost per run needs seconds: this host is like no known platform; give --measured PLATFORM=SECONDS");
  }

  std::vector<size_t> order(bundle.platforms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return forecast.log_rpv(static_cast<int64_t>(a)) < forecast.log_rpv(static_cast<int64_t>(b));
  });
  for (const size_t index : order) {
    const Platform& platform = bundle.platforms[index];
    const bool wanted = std::all_of(filters->begin(), filters->end(),
                                    [&](const Filter& filter) { return passes(filter, platform, bundle.servers); });
    if (!wanted || (request.top > 0 && report.rows.size() >= request.top)) continue;
    const auto j = static_cast<int64_t>(index);
    PlatformRow row;
    row.platform = platform;
    row.rpv = std::exp(forecast.log_rpv(j));
    row.lower = std::exp(forecast.lower(j));
    row.upper = std::exp(forecast.upper(j));
    row.is_host = report.host && report.host->platform == index;
    row.is_measured = std::any_of(measured->begin(), measured->end(),
                                  [&](const Measurement& measurement) { return measurement.platform == j; });
    if (seconds) {
      const double log_time = seconds->log_of_one + against_mean->log_rpv(j);
      row.time_s = std::exp(log_time);
      row.time_lower_s = std::exp(log_time + seconds->lower(j));
      row.time_upper_s = std::exp(log_time + seconds->upper(j));
    }
    if (request.instances || request.prices != nullptr) add_instances(bundle.servers, *filters, request, row);
    report.rows.push_back(std::move(row));
  }
  if (report.rows.empty()) {
    return Error{"no-platform", "the filters leave no platform", "--filter",
                 "vendor one of " + distinct(bundle.platforms, &Platform::vendor) + "; arch one of " +
                     distinct(bundle.platforms, &Platform::arch) + "; or a part of a platform's name"};
  }
  if (request.prices != nullptr && seconds &&
      std::none_of(report.rows.begin(), report.rows.end(),
                   [](const PlatformRow& row) { return row.cost.has_value(); })) {
    report.notes.push_back(
        "no platform shown has an instance type with a price: vendor and server must be written as "
        "--instances shows them");
  }
  for (const Platform& platform : bundle.platforms) report.forecast_ids.push_back(platform.id);
  explain(bundle, profile, report);
  return report;
}

}  // namespace perfcast
