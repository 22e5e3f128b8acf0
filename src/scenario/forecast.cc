#include "scenario/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/text.h"
#include "evaluate/platform_name.h"
#include "scenario/forecast_seconds.h"
#include "scenario/platform_filter.h"

namespace perfcast {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr size_t kFeaturesKept = 12;
constexpr double kContradicts = 1.5;  // seconds of this host, implied and measured
constexpr size_t kUnmatchedPricesNamed = 5;

std::string distinct(const std::vector<Platform>& platforms, std::string Platform::*member) {
  std::vector<std::string> values;
  for (const Platform& platform : platforms) {
    if (std::find(values.begin(), values.end(), platform.*member) == values.end()) values.push_back(platform.*member);
  }
  std::sort(values.begin(), values.end());
  return join(values, ", ");
}

Result<std::vector<Measurement>> measurements_of(const std::vector<Platform>& platforms,
                                                 const ForecastRequest& request) {
  std::vector<Measurement> measured;
  for (const auto& [name, seconds] : request.measured_s) {
    const auto index = find_platform(platforms, name, "measured");
    if (!index) return index.error();
    const bool again = std::any_of(measured.begin(), measured.end(), [&](const Measurement& measurement) {
      return measurement.platform == static_cast<int64_t>(*index);
    });
    if (again) {
      return usage_error("bad-usage", platforms[*index].name + " is measured twice", "measured",
                         "one time per platform");
    }
    if (!(seconds > 0) || !std::isfinite(seconds)) {
      return usage_error("bad-usage", "the measured time of " + printable(name) + " is not above 0", "measured",
                         "seconds above 0");
    }
    measured.push_back({static_cast<int64_t>(*index), std::log(seconds)});
  }
  return measured;
}

// Whatever the order they were given in: sums over them are the same to the last bit.
void sort_by_platform(std::vector<Measurement>& measured) {
  std::sort(measured.begin(), measured.end(),
            [](const Measurement& a, const Measurement& b) { return a.platform < b.platform; });
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
                   "reference", "mean, or a platform"};
    }
    return static_cast<int64_t>(report.host->platform);
  }
  const auto index = find_platform(platforms, request.reference, "reference");
  if (!index) return index.error();
  return static_cast<int64_t>(*index);
}

// Times measured elsewhere replace the run here as what seconds hang on. Where both speak of this host and disagree by
// more than platforms of a line differ, one of them is of another input, in another unit, or of a busy machine.
void note_contradiction(const ForecastSeconds& seconds, const Forecast& against_mean,
                        const std::vector<Measurement>& measured, ForecastReport& report) {
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

void add_instances(const std::vector<Server>& servers, const std::vector<PlatformFilter>& filters,
                   const ForecastRequest& request, PlatformRow& row) {
  for (const Server& server : servers) {
    if (server.platform != row.platform.id || !passes(filters, server)) continue;
    InstanceRow instance{server, std::nullopt, std::nullopt};
    if (request.prices) instance.price_per_hour = request.prices->per_hour(server.vendor, server.name);
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

// A misspelt server would otherwise only be absent from the table. A price for what is filtered out is none of these.
std::vector<Price> unmatched_prices(const PriceList& prices, const std::vector<Server>& servers) {
  std::set<std::pair<std::string, std::string>> known;
  for (const Server& server : servers) known.emplace(server.vendor, server.name);
  std::vector<Price> unmatched;
  for (const Price& price : prices.prices()) {
    if (!known.contains({price.vendor, price.server})) unmatched.push_back(price);
  }
  return unmatched;
}

void note_prices(const ForecastRequest& request, const Bundle& bundle, bool has_seconds, ForecastReport& report) {
  report.unmatched_prices = unmatched_prices(*request.prices, bundle.servers);
  if (!has_seconds) {
    report.notes.push_back(
        "cost per run needs seconds: this host is like no known platform; a time measured on one of them gives them");
  } else if (std::none_of(report.rows.begin(), report.rows.end(),
                          [](const PlatformRow& row) { return row.cost.has_value(); })) {
    report.notes.push_back("no platform shown has an instance type with a price");
  }
  const std::vector<Price>& unmatched = *report.unmatched_prices;
  if (unmatched.empty()) return;
  std::vector<std::string> named;
  for (const Price& price : unmatched) {
    if (named.size() == kUnmatchedPricesNamed) break;
    named.push_back(printable(price.vendor + " " + price.server) + " (" + printable(price.where) + ")");
  }
  std::string listed = join(named, ", ");
  if (unmatched.size() > named.size()) listed += fmt::format(" and {} more", unmatched.size() - named.size());
  report.notes.push_back(fmt::format(
      "{} of {} prices {} no known instance type: {}; vendor and server must be written "
      "as the list of instances has them",
      unmatched.size(), request.prices->prices().size(), unmatched.size() == 1 ? "matches" : "match", listed));
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

Status check_success(const Profile& profile, bool accept_failure) {
  if (profile.ok() || accept_failure) return {};
  if (!profile.signal && !profile.exit_code) {
    return Error{"program-failed", "the profile does not say how the program ended: the field exit_code is missing",
                 profile.program, "exit_code 0 in the profile"};
  }
  const std::string how = profile.signal ? "was killed by signal " + std::to_string(*profile.signal)
                                         : "exited with status " + std::to_string(*profile.exit_code);
  return Error{"program-failed", "the program " + how + ": its counters may be those of an error path", profile.program,
               "a run that succeeds"};
}

Result<ForecastReport> forecast_program(const Forecaster& forecaster, const Profile& profile,
                                        const ForecastRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();

  ForecastReport report;
  report.program = short_name_of(profile);
  report.bundle = bundle.card.name;
  report.model = bundle.card.model;
  report.host_cpu = profile.host.cpu_model;
  report.host = match_host(profile.host, bundle.platforms);
  if (report.host) report.host_platform = bundle.platforms[report.host->platform];
  const auto reference = reference_of(bundle.platforms, request, report);
  if (!reference) return reference.error();
  report.reference = *reference < 0 ? "mean" : bundle.platforms[static_cast<size_t>(*reference)].id;
  report.reference_name = *reference < 0 ? "the mean over " + std::to_string(bundle.platforms.size()) + " platforms"
                                         : bundle.platforms[static_cast<size_t>(*reference)].name;
  const HostTime host_time = host_time_of(profile);
  report.host_time_s = host_time.seconds;
  report.time_basis = host_time.basis;
  report.notes = host_time.notes;

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
  sort_by_platform(*measured);
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
  const auto seconds = seconds_of(bundle, *against_mean, *measured, report.host, report.host_time_s);
  if (!measured->empty()) {
    report.time_basis = "measured";
    if (seconds) note_contradiction(*seconds, *against_mean, *measured, report);
  }
  if (!seconds) report.time_basis.clear();

  std::vector<size_t> order(bundle.platforms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return forecast.log_rpv(static_cast<int64_t>(a)) < forecast.log_rpv(static_cast<int64_t>(b));
  });
  for (const size_t index : order) {
    const Platform& platform = bundle.platforms[index];
    const bool wanted = passes(*filters, platform, bundle.servers);
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
    if (request.instances || request.prices) add_instances(bundle.servers, *filters, request, row);
    report.rows.push_back(std::move(row));
  }
  if (report.rows.empty()) {
    return Error{"no-platform", "the filters leave no platform", "filter",
                 "vendor one of " + distinct(bundle.platforms, &Platform::vendor) + "; arch one of " +
                     distinct(bundle.platforms, &Platform::arch) + "; or a part of a platform's name"};
  }
  if (request.prices) note_prices(request, bundle, seconds.has_value(), report);
  for (const Platform& platform : bundle.platforms) {
    report.forecast_ids.push_back(platform.id);
    report.forecast_names.push_back(platform.name);
  }
  explain(bundle, profile, report);
  return report;
}

}  // namespace perfcast
