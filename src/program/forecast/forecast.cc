#include "program/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/processor.h"
#include "profile/core/memory_counts.h"
#include "program/forecast/forecast_notes.h"
#include "program/forecast/forecast_seconds.h"
#include "program/forecast/measured_times.h"
#include "program/forecast/platform_filter.h"
#include "program/forecast/server_name.h"

namespace perfcast::program {
namespace {

constexpr size_t kLastWordsBytes = 200;

constexpr size_t kFeaturesKept = 12;

std::string distinct(const std::vector<Platform>& platforms, std::string Platform::*member) {
  std::vector<std::string> values;
  for (const Platform& platform : platforms) {
    const std::string& value = platform.*member;
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return join(values, ", ");
}

Result<std::vector<Measurement>> measurements_of(const Bundle& bundle, const ForecastRequest& request) {
  const std::vector<Platform>& platforms = bundle.platforms;
  std::vector<Measurement> measured;
  for (const auto& [name, seconds] : request.measured_s) {
    const auto index = platform_named(bundle.platforms, bundle.servers, name, "measured");
    if (!index) return index.error();
    if (measured_on(measured, *index)) {
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

// Index of the reference, -1 for the mean.
Result<int64_t> reference_of(const Bundle& bundle, const ForecastRequest& request, const ForecastReport& report) {
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
  const auto index = platform_named(bundle.platforms, bundle.servers, request.reference, "reference");
  if (!index) return index.error();
  return static_cast<int64_t>(*index);
}

void add_instances(const std::vector<Server>& servers, const std::vector<PlatformFilter>& filters,
                   const ForecastRequest& request, const InstanceForecaster& forecaster, double half_width,
                   PlatformRow& row) {
  for (const Server& server : servers) {
    if (server.platform != row.platform.id || !passes(filters, server)) continue;
    InstanceRow instance;
    instance.server = server;
    instance.cpu_share = cpu_share_of(server.vendor, server.name);
    if (request.prices) {
      instance.price_per_hour = request.prices->per_hour(server.vendor, server.name);
      instance.may_be_chosen = instance.cpu_share == CpuShare::kOwn || request.prices->with_shared();
      if (!server.memory_gib) instance.server.memory_gib = request.prices->memory_gib(server.vendor, server.name);
    }
    if (!request.instances && !instance.price_per_hour) continue;
    forecaster.fill(instance, half_width, request.use);
    if (instance.price_per_hour && instance.wall_s)
      instance.cost = *instance.price_per_hour * *instance.wall_s / kSecondsPerHour;
    if (instance.may_be_chosen && instance.cost && (!row.cost || *instance.cost < *row.cost)) row.cost = instance.cost;
    row.instances.push_back(std::move(instance));
  }
  std::stable_sort(row.instances.begin(), row.instances.end(),
                   [&](const InstanceRow& a, const InstanceRow& b) { return instance_order(a, b, request.sort); });
}

// Seconds of one run on every platform of the bundle, whatever is shown.
std::vector<double> seconds_of_all(const std::vector<PlatformRow>& rows) {
  std::vector<double> seconds;
  seconds.reserve(rows.size());
  for (const PlatformRow& row : rows) seconds.push_back(row.time_s.value_or(kUnknown));
  return seconds;
}

void explain(const Bundle& bundle, const Profile& profile, ForecastReport& report) {
  report.attribution = attribute(*bundle.predictor, profile, bundle.typical_rates);
  report.features =
      standings(bundle.model_inputs.extract({&profile}).row(0), bundle.training_features, bundle.feature_names);
  if (report.features.size() > kFeaturesKept) report.features.resize(kFeaturesKept);
}

// The platform whose forecast is taken apart, and the one that it is set against.
Result<ForecastBreakdown> platforms_to_explain(const Bundle& bundle, const ForecastRequest& request,
                                               const std::vector<PlatformRow>& rows) {
  ForecastBreakdown breakdown;
  if (!request.explain_against.empty()) {
    const auto against = platform_named(bundle.platforms, bundle.servers, request.explain_against, "explain-against");
    if (!against) return against.error();
    breakdown.against = *against;
  }
  if (!request.explain_platform.empty()) {
    const auto platform =
        platform_named(bundle.platforms, bundle.servers, request.explain_platform, "explain-platform");
    if (!platform) return platform.error();
    breakdown.platform = *platform;
  } else if (!rows.empty()) {
    const auto first = std::find_if(bundle.platforms.begin(), bundle.platforms.end(),
                                    [&](const Platform& platform) { return platform.id == rows.front().platform.id; });
    breakdown.platform = static_cast<size_t>(first - bundle.platforms.begin());
  }
  return breakdown;
}

Status take_apart(const Bundle& bundle, const Profile& profile, const ForecastRequest& request,
                  ForecastReport& report) {
  if (!request.explain) return {};
  auto breakdown = platforms_to_explain(bundle, request, report.rows);
  if (!breakdown) return breakdown.error();
  auto attribution = attribute_forecast(bundle, profile);
  if (!attribution) {  // the forecast stands all the same
    report.notes.push_back("the forecast can't be explained input by input: " + attribution.error().message);
    return {};
  }
  breakdown->attribution = std::move(*attribution);
  report.breakdown = std::move(*breakdown);
  return {};
}

// By the profile's modelled cycles and what they go to: one row for each design of the report's platforms.
void explain_cores(const Profile& profile, const std::vector<CoreDesign>* designs, ForecastReport& report) {
  const auto instructions = profile.metrics.find("instructions_count");
  if (instructions == profile.metrics.end() || !(instructions->second > 0)) return;
  for (const PlatformRow& row : report.rows) {
    const std::string design = core_design(row.platform);
    const auto same = std::find_if(report.core_designs.begin(), report.core_designs.end(),
                                   [&](const CoreDesignRow& other) { return other.design == design; });
    if (same != report.core_designs.end()) {
      same->is_host |= row.is_host;
      continue;
    }
    const auto bounds = profile.core_bounds.find(design);
    const auto cycles = profile.metrics.find(core_cycles_metric(design));
    if (bounds == profile.core_bounds.end() || cycles == profile.metrics.end()) continue;
    CoreDesignRow told{design,         cycles->second / instructions->second,
                       bounds->second, row.platform.name,
                       row.is_host,    is_arm(row.platform.arch) == is_arm(profile.instruction_set)};
    if (designs != nullptr) {
      const auto known =
          std::find_if(designs->begin(), designs->end(), [&](const CoreDesign& other) { return other.name == design; });
      double all = cycles->second;
      told.memory_is_least =
          known != designs->end() && raise_memory(profile.metrics, *known, all, told.cycles_ratio_by_bound);
      told.cycles_per_instruction = all / instructions->second;
    }
    report.core_designs.push_back(std::move(told));
  }
}

// What the forecast is conditioned on: the times that were given and, beside them, the run on a host that is surely
// known.
Result<std::vector<Measurement>> all_measurements(const Bundle& bundle, const ForecastRequest& request,
                                                  ForecastReport& report) {
  auto measured = measurements_of(bundle, request);
  if (!measured || measured->empty()) return measured;
  const bool sure_of_host = report.host && report.host->certainty == HostMatch::Certainty::kName;
  if (sure_of_host && report.host_time_s && !measured_on(*measured, report.host->platform)) {
    measured->push_back({static_cast<int64_t>(report.host->platform), std::log(*report.host_time_s)});
    report.notes.push_back("the run on this host also counts as a measured time");
  }
  // Whatever the order they were given in: sums over them are the same to the last bit.
  std::sort(measured->begin(), measured->end(),
            [](const Measurement& a, const Measurement& b) { return a.platform < b.platform; });
  if (measured->size() == 1) {
    report.notes.push_back(
        "a time from one platform sets the seconds; times from two or more platforms also improve the relative times");
  }
  return measured;
}

// A CPU may hide its name, not what code it runs, nor who made it.
Status check_host(const HostFacts& host, const Platform& named) {
  const auto differ = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
  std::string message;
  if (differ(arch_key(host.arch), arch_key(named.arch))) {
    message = named.name + " runs " + named.arch + ", the profile was taken on " + printable(host.arch);
  } else if (differ(vendor_key(host.vendor), vendor_key(named.vendor))) {
    message =
        named.name + " is by " + named.vendor + ", the CPU of the profile by " + printable(vendor_name(host.vendor));
  }
  if (message.empty()) return {};
  return usage_error("bad-usage", message, "host", "a platform that the CPU (" + printable(host.name) + ") can be");
}

Status take_host(const Profile& profile, const Bundle& bundle, const ForecastRequest& request, ForecastReport& report) {
  const std::vector<Platform>& platforms = bundle.platforms;
  report.host_cpu = profile.host.name;
  if (request.host.empty()) {
    report.host = request.hosts != nullptr ? request.hosts->match(profile.host) : match_host(profile.host, platforms);
  } else {
    const auto named = platform_named(bundle.platforms, bundle.servers, request.host, "host");
    if (!named) return named.error();
    if (Status possible = check_host(profile.host, platforms[*named]); !possible) return possible;
    report.host = HostMatch{*named, HostMatch::Certainty::kName, "as the request says", {}};
  }
  if (report.host) {
    report.host_platform = platforms[report.host->platform];
    for (const size_t near : report.host->runners_up) report.host_runners_up.push_back(platforms[near].name);
  }
  HostTime time = host_time_of(profile);
  report.host_time_s = time.seconds;
  report.time_basis = std::move(time.basis);
  report.notes = std::move(time.notes);
  return {};
}

// The forecast's verdict, with what the profile itself warns of.
void take_verdict(const Profile& profile, const Forecast& forecast, ForecastReport& report) {
  report.in_distribution = forecast.in_distribution;
  report.nearest = forecast.nearest;
  report.outside = forecast.outside;
  if (auto waits = waiting_warning(profile)) report.warnings.push_back(std::move(*waits));
  report.warnings.insert(report.warnings.end(), forecast.warnings.begin(), forecast.warnings.end());
  for (const ProfileWarning& warning : profile.warnings) {
    const bool known = std::any_of(report.warnings.begin(), report.warnings.end(),
                                   [&](const ProfileWarning& other) { return other.code == warning.code; });
    if (!known) report.warnings.push_back(warning);
  }
}

// All platforms, in the order of the bundle.
std::vector<PlatformRow> rows_of(const Bundle& bundle, const Forecast& forecast, const ForecastReport& report,
                                 const std::vector<Measurement>& measured) {
  std::vector<PlatformRow> rows(bundle.platforms.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto j = static_cast<int64_t>(i);
    rows[i].platform = bundle.platforms[i];
    rows[i].rpv = std::exp(forecast.log_rpv(j));
    rows[i].lower = std::exp(forecast.lower(j));
    rows[i].upper = std::exp(forecast.upper(j));
    rows[i].is_host = report.host && report.host->platform == i;
    rows[i].is_measured = measured_on(measured, i);
  }
  return rows;
}

void add_seconds(const ForecastSeconds& seconds, const Forecast& against_mean, std::vector<PlatformRow>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto j = static_cast<int64_t>(i);
    const double log_time = seconds.log_of_one + against_mean.log_rpv(j);
    rows[i].time_s = std::exp(log_time);
    rows[i].time_lower_s = std::exp(log_time + seconds.lower(j));
    rows[i].time_upper_s = std::exp(log_time + seconds.upper(j));
  }
}

// What was measured is no forecast: the row has the value that was given.
void show_stated(const std::vector<Measurement>& stated, std::vector<PlatformRow>& rows) {
  for (const Measurement& each : stated) {
    PlatformRow& row = rows[static_cast<size_t>(each.platform)];
    row.time_s = row.time_lower_s = row.time_upper_s = std::exp(each.log_seconds);
  }
}

Error no_platform_left(const Bundle& bundle) {
  std::set<std::string> clouds;
  for (const Server& server : bundle.servers) clouds.insert(server.vendor);
  return Error{"no-platform", "the filters leave no platform", "filter",
               "vendor one of " + distinct(bundle.platforms, &Platform::vendor) + "; arch one of " +
                   distinct(bundle.platforms, &Platform::arch) +
                   (clouds.empty() ? "" : "; cloud one of " + join({clouds.begin(), clouds.end()}, ", ")) +
                   "; or a part of a platform's name; several filters leave what passes all of them"};
}

std::string short_name_of(const Profile& profile) {
  if (!profile.program.empty()) return profile.program;
  return join(profile.command, " ");
}

}  // namespace

Status keep_wanted(const Bundle& bundle, const ForecastRequest& request, std::vector<PlatformRow>& rows) {
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();
  std::erase_if(rows, [&](const PlatformRow& row) { return !passes(*filters, row.platform, bundle.servers); });
  if (rows.empty()) return no_platform_left(bundle);
  std::stable_sort(rows.begin(), rows.end(), [&](const PlatformRow& a, const PlatformRow& b) {
    if (request.sort == ForecastRequest::Sort::kName) return a.platform.name < b.platform.name;
    constexpr double kLast = std::numeric_limits<double>::infinity();
    if (request.sort == ForecastRequest::Sort::kCost && a.cost != b.cost)
      return a.cost.value_or(kLast) < b.cost.value_or(kLast);
    if (request.sort == ForecastRequest::Sort::kEnergy) {
      const double a_energy = a.energy ? a.energy->relative : kLast, b_energy = b.energy ? b.energy->relative : kLast;
      if (a_energy != b_energy) return a_energy < b_energy;
    }
    return a.rpv < b.rpv;
  });
  return {};
}

void cut_to_top(const ForecastRequest& request, std::vector<PlatformRow>& rows) {
  const bool cut = request.top > 0 && !request.instances && !request.prices;
  if (cut && rows.size() > request.top) rows.resize(request.top);
}

InstanceChoice choice_among(const Bundle& bundle, const std::vector<PlatformRow>& rows,
                            const Eigen::MatrixXd& covariance, const Eigen::VectorXd& half_width, double within_ratio) {
  std::vector<InstanceCandidate> candidates;
  for (const PlatformRow& row : rows) {
    const auto platform = std::find_if(bundle.platforms.begin(), bundle.platforms.end(),
                                       [&](const Platform& other) { return other.id == row.platform.id; });
    for (const InstanceRow& instance : row.instances) {
      candidates.push_back({&instance, static_cast<size_t>(platform - bundle.platforms.begin()), row.platform.name});
    }
  }
  return choose_instances(candidates, covariance, half_width, within_ratio);
}

bool instance_order(const InstanceRow& a, const InstanceRow& b, std::optional<ForecastRequest::Sort> sort) {
  using Sort = ForecastRequest::Sort;
  if (sort == Sort::kName) {
    return std::tie(a.server.vendor, a.server.name) < std::tie(b.server.vendor, b.server.name);
  }
  const auto key = [&](const InstanceRow& row) {
    const auto& value = sort == Sort::kTime ? row.wall_s : row.cost_per_1000 ? row.cost_per_1000 : row.price_per_hour;
    // Not one copy fits: it can't be had at any price.
    const bool runs = !row.copies || *row.copies >= 1;
    return runs ? value.value_or(std::numeric_limits<double>::infinity()) : std::numeric_limits<double>::infinity();
  };
  return key(a) < key(b);
}

bool is_reason_without_counts(const std::string& code) {
  return code == "runs-differ" || code == "sanitizer" || code == "emulator-memory" || code == "work-done-once" ||
         code == "too-little-seen";
}

Status check_success(const Profile& profile, bool accept_failure) {
  if (!profile.metrics.contains("instructions_count")) {
    const auto why = std::find_if(profile.warnings.begin(), profile.warnings.end(),
                                  [](const ProfileWarning& warning) { return is_reason_without_counts(warning.code); });
    if (why != profile.warnings.end()) return Error{why->code, why->message, profile.program, why->advice};
  }
  if (profile.ok() || accept_failure) return {};
  if (!profile.signal && !profile.exit_code) {
    return Error{"program-failed", "the profile does not say how the program ended: the field exit_code is missing",
                 profile.program, "exit_code 0 in the profile"};
  }
  const std::string how = profile.signal ? "was killed by signal " + signal_text(*profile.signal)
                                         : "exited with status " + std::to_string(*profile.exit_code);
  std::string message = "the program " + how + ": its counters may be those of an error path";
  const auto native = std::find_if(profile.collectors.begin(), profile.collectors.end(),
                                   [](const CollectorRecord& record) { return record.name == "native"; });
  // What it said last on standard error.
  if (native != profile.collectors.end() && !native->note.empty()) {
    const auto lines = split(trim(native->note), '\n');
    const std::string before =
        lines.size() > 1 ? printable(lines[lines.size() - 2].substr(0, kLastWordsBytes)) + " | " : "";
    message += "; its last words: " + before + printable(lines.back().substr(0, kLastWordsBytes));
  }
  return Error{"program-failed", message, profile.program, "a run that succeeds"};
}

Status check_request(const Forecaster& forecaster, const ForecastRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();
  if (const auto measured = measurements_of(bundle, request); !measured) return measured.error();
  if (!request.host.empty()) {
    if (const auto host = platform_named(bundle.platforms, bundle.servers, request.host, "host"); !host)
      return host.error();
  }
  if (const auto explained = platforms_to_explain(bundle, request, {}); !explained) return explained.error();
  if (Status energy = check_energy(bundle, request.energy, request.frequencies); !energy) return energy;
  if (request.reference != "host") {
    if (const auto reference = reference_of(bundle, request, {}); !reference) return reference.error();
  }
  const bool any = std::any_of(bundle.platforms.begin(), bundle.platforms.end(),
                               [&](const Platform& platform) { return passes(*filters, platform, bundle.servers); });
  return any ? Status() : no_platform_left(bundle);
}

Result<ForecastReport> forecast_program(const Forecaster& forecaster, const Profile& profile,
                                        const ForecastRequest& request) {
  auto full = forecast_in_full(forecaster, profile, request);
  if (!full) return full.error();
  return std::move(full->report);
}

Result<ProgramForecast> forecast_in_full(const Forecaster& forecaster, const Profile& profile,
                                         const ForecastRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();

  ForecastReport report;
  report.program = short_name_of(profile);
  report.bundle = bundle.card.name;
  report.model = bundle.card.model;
  report.sort = request.sort;
  if (Status status = take_host(profile, bundle, request, report); !status) return status.error();
  const auto reference = reference_of(bundle, request, report);
  if (!reference) return reference.error();
  report.reference = *reference < 0 ? "mean" : bundle.platforms[static_cast<size_t>(*reference)].id;
  report.reference_name = *reference < 0 ? "the mean over " + std::to_string(bundle.platforms.size()) + " platforms"
                                         : bundle.platforms[static_cast<size_t>(*reference)].name;
  const auto measured = all_measurements(bundle, request, report);
  if (!measured) return measured.error();

  const auto against_mean = forecaster.forecast(profile, *measured);
  if (!against_mean) return against_mean.error();
  const Forecast forecast = *reference < 0 ? *against_mean : Forecaster::relative_to(*against_mean, *reference);
  take_verdict(profile, forecast, report);
  report.rows = rows_of(bundle, forecast, report, *measured);
  const auto seconds = seconds_of(forecaster.host_spread(), *against_mean, *measured, report.host, report.host_time_s);
  if (!measured->empty()) report.time_basis = "measured";
  if (!seconds) report.time_basis.clear();
  if (seconds) {
    add_seconds(*seconds, *against_mean, report.rows);
    if (!measured->empty()) {
      const auto stated = measurements_of(bundle, request);
      if (!stated) return stated.error();
      const auto unmeasured = forecaster.forecast(profile, {});
      if (!unmeasured) return unmeasured.error();
      note_times_apart(bundle, *unmeasured, *stated, report);
      // Against a forecast from the stated times alone: one that is conditioned on the run here, too, agrees with both.
      const auto by_stated = forecaster.forecast(profile, *stated);
      if (!by_stated) return by_stated.error();
      note_contradiction(*by_stated, *stated, *measured, report);
      show_stated(*measured, report.rows);
    }
  }
  if (request.strict && !report.out_of_line.empty()) {
    return usage_error("contradicting-times", report.out_of_line, "measured", "times that agree, or no strictness");
  }
  if (request.energy) {
    if (Status added = add_energy(bundle, profile, *request.energy, report); !added) return added.error();
    if (request.strict && !report.out_of_line.empty()) {
      return usage_error("contradicting-energy", report.out_of_line, "measured-energy",
                         "joules of such a run, or no strictness");
    }
  }
  if (request.frequencies) {
    if (Status added = add_frequencies(bundle, profile, *request.frequencies, report); !added) return added.error();
  }

  if (request.instances || request.prices) {
    const std::optional<size_t> host = report.host ? std::optional(report.host->platform) : std::nullopt;
    const InstanceForecaster instances(bundle, profile, seconds_of_all(report.rows), report.time_basis == "wall", host);
    report.threads = instances.threads();
    for (size_t i = 0; i < report.rows.size(); ++i) {
      const double half = seconds ? seconds->upper(static_cast<int64_t>(i)) : 0;
      add_instances(bundle.servers, *filters, request, instances, half, report.rows[i]);
    }
    if (Status kept = keep_wanted(bundle, request, report.rows); !kept) return kept.error();
    request.use.all_cores ? note_all_cores(instances, report) : note_instances(instances, report);
    note_unknown_memory(bundle.servers, *filters, bundle.platforms, report);
    if (request.prices) {
      report.currency = request.prices->currency();
      report.choice =
          choice_among(bundle, report.rows, against_mean->covariance, against_mean->half_width, request.within_ratio);
    }
  } else if (Status kept = keep_wanted(bundle, request, report.rows); !kept) {
    return kept.error();
  }
  if (request.prices) note_prices(request, bundle, seconds.has_value(), report);
  // What to take is chosen among all, and so are the core designs that are told.
  explain_cores(profile, request.core_designs.get(), report);
  cut_to_top(request, report.rows);
  for (const Platform& platform : bundle.platforms) {
    report.forecast_ids.push_back(platform.id);
    report.forecast_names.push_back(platform.name);
  }
  if (request.reasons || request.explain) explain(bundle, profile, report);
  if (Status apart = take_apart(bundle, profile, request, report); !apart) return apart.error();
  return ProgramForecast{std::move(report), against_mean->covariance, against_mean->half_width};
}

}  // namespace perfcast::program
