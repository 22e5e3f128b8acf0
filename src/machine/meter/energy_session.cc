#include "machine/meter/energy_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

// Counters are read to notice when they begin anew; powers as often as they change, within what costs nothing.
constexpr double kCounterApart_s = 1, kLeastApart_s = 0.05, kFilesApart_s = 0.2;
constexpr double kSettleStep_s = 0.1;
// A log's times may be rounded to whole seconds.
constexpr double kRoundedTime_s = 0.5, kLateLog_s = 1;
constexpr double kMostUsual_w = 2e4;  // of one meter: a full rack of servers

double apart_of(const MeterFacts& facts) {
  if (std::isnan(facts.interval_s)) return kFilesApart_s;
  return std::max(facts.reading == MeterReading::kEnergy ? kCounterApart_s : kLeastApart_s, facts.interval_s);
}

std::string span_in_words(double seconds) {
  constexpr double kHour_s = 3600, kDay_s = 86400;
  if (seconds >= 2 * kDay_s) return fmt::format("{:.0f} days", seconds / kDay_s);
  return seconds >= 2 * kHour_s ? fmt::format("{:.0f} hours", seconds / kHour_s) : human_seconds(seconds);
}

// Why a log has nothing of a stretch: all of its rows are of other times. Empty: some are of it.
// `offset`: what a person sets to shift the log's clock.
std::string why_elsewhere(const PowerLog& log, double began_unix_s, double seconds_s, const std::string& offset) {
  if (log.samples.empty()) return "the log has no row with a power";
  const bool any_within = std::any_of(log.samples.begin(), log.samples.end(), [&](const PowerSample& sample) {
    return sample.unix_s >= began_unix_s && sample.unix_s <= began_unix_s + seconds_s;
  });
  if (any_within) return "";
  const double behind_s = began_unix_s - log.samples.back().unix_s;
  if (behind_s > 0) {
    return "its last row is of " + span_in_words(behind_s) +
           " before the command began: nobody writes it, or its clock is behind (" + offset + ")";
  }
  const double ahead_s = log.samples.front().unix_s - began_unix_s - seconds_s;
  if (ahead_s > 0) {
    return "its first row is of " + span_in_words(ahead_s) + " after the command's end: its clock is ahead (" + offset +
           ")";
  }
  return "";
}

// A log that ends before the stretch does, though it was waited for; empty: it does not.
std::string why_late(const PowerLog& log, double end_unix_s, const std::string& offset) {
  if (log.samples.size() < 2) return "";
  const double missing_s = end_unix_s - log.samples.back().unix_s;
  std::vector<double> apart;
  apart.reserve(log.samples.size());
  for (size_t i = 1; i < log.samples.size(); ++i) apart.push_back(log.samples[i].unix_s - log.samples[i - 1].unix_s);
  if (missing_s <= std::max(kLateLog_s, kGapIntervals * usual_interval_s(std::move(apart)))) return "";
  return "its last row is of " + span_in_words(missing_s) +
         " before the command's end: who writes it stopped or lags, or its clock is behind (" + offset + ")";
}

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Rows of times that are not yet, and a log that ends too early.
void warn_of_clock(const PowerLog& log, double end_unix_s, double read_unix_s, const std::string& offset,
                   MeterEnergy& energy) {
  if (const double ahead_s = log.last_unix_s - read_unix_s; ahead_s > kRoundedTime_s) {
    energy.warnings.push_back(
        {"clock-ahead", "its last row was of " + span_in_words(ahead_s) +
                            " after the moment when it was read: its clock is ahead by so much at the least "
                            "(a negative " +
                            offset + "), and the joules are of another stretch"});
  }
  const std::string late = why_late(log, end_unix_s, offset);
  if (late.empty()) return;
  if (energy.joules) {
    energy.warnings.push_back({"log-late", late});
  } else if (energy.why_missing.find(offset) == std::string::npos) {
    energy.why_missing += "; " + late;
  }
}

// Milliwatts that are called watts look like a machine hall.
void warn_of_unit(const PowerLog& log, MeterEnergy& energy) {
  double most_w = 0;
  for (const PowerSample& sample : log.samples) most_w = std::max(most_w, sample.power_w);
  if (most_w <= kMostUsual_w) return;
  energy.warnings.push_back(
      {"power-high", fmt::format("up to {} W, more than a rack of servers: were they in another unit, the column's "
                                 "name should say so (power_mw)",
                                 significant(most_w, 3))});
}

// What measures all of a scope by itself. Sensors of one driver belong together.
std::string source_of(const MeterFacts& meter) {
  return meter.kind == "hwmon" ? meter.name.substr(0, meter.name.find('/')) : meter.kind;
}

// Sources that measure the same: the first of these is believed. GPUs of several drivers are several GPUs.
constexpr std::string_view kBelieved[] = {"csv", "rapl", "redfish", "ipmi"};
size_t rank_of(const std::string& source) {
  return static_cast<size_t>(std::find(std::begin(kBelieved), std::end(kBelieved), source) - std::begin(kBelieved));
}

struct ScopeJoules {
  std::string source;               // whose they are
  std::vector<std::string> others;  // that measure the same
  std::optional<double> joules;     // where all meters of the source have some
};

ScopeJoules joules_in(const EnergyReport& report, EnergyScope scope) {
  struct Sum {
    double joules = 0;
    bool is_whole = true;
  };
  std::map<std::string, Sum> sums;
  for (const MeterEnergy& meter : report.meters) {
    if (meter.meter.scope != scope) continue;
    Sum& sum = sums[scope == EnergyScope::kGpu ? "gpu" : source_of(meter.meter)];
    sum.is_whole = sum.is_whole && meter.joules.has_value();
    sum.joules += meter.joules.value_or(0);
  }
  ScopeJoules result;
  for (const auto& [source, sum] : sums) {
    const bool is_better = result.source.empty() || (sum.is_whole && !result.joules) ||
                           (sum.is_whole == result.joules.has_value() && rank_of(source) < rank_of(result.source));
    if (!is_better) {
      result.others.push_back(source);
      continue;
    }
    if (!result.source.empty()) result.others.push_back(result.source);
    result.source = source;
    result.joules = sum.is_whole ? std::optional(sum.joules) : std::nullopt;
  }
  return result;
}

void warn_of_same_scope(EnergyReport& report) {
  for (const EnergyScope scope : {EnergyScope::kServer, EnergyScope::kPlatform, EnergyScope::kPackage,
                                  EnergyScope::kCores, EnergyScope::kMemory, EnergyScope::kOther}) {
    const ScopeJoules of = joules_in(report, scope);
    if (of.others.empty()) continue;
    report.warnings.push_back(
        {"same-scope", fmt::format("{} and {} measure the same ({}): joules are those of {}, nothing is added",
                                   of.source, join(of.others, ", "), to_string(scope), of.source)});
  }
}

}  // namespace

EnergySession::EnergySession(std::vector<Meter*> meters, EnergySessionOptions options)
    : meters_(std::move(meters)),
      options_(std::move(options)),
      throttle_(options_.cpu_root),
      given_up_unix_s_(meters_.size(), kUnknown) {}

EnergySession::~EnergySession() = default;

void EnergySession::read(size_t meter) {
  Course& course = courses_[meter];
  // The time between: a read may itself take a while.
  const double before_s = now_s();
  const auto value = meters_[meter]->read();
  const double time_s = (before_s + now_s()) / 2;
  if (!value) {
    course.readings.fail(value.error());
  } else if (*value) {
    course.readings.add(time_s, **value);
  }
  for (const std::string& limit : meters_[meter]->limited_by()) {
    if (std::find(course.limits.begin(), course.limits.end(), limit) == course.limits.end())
      course.limits.push_back(limit);
  }
}

void EnergySession::start() {
  reader_ = std::jthread();  // an earlier stretch that nobody ended
  courses_.clear();
  courses_.reserve(meters_.size());
  for (Meter* meter : meters_) courses_.push_back({EnergyAccumulator(meter->facts()), 0, {}});
  throttle_.begin();
  began_ = Clock::now();
  began_unix_s_ = unix_now_s();
  for (size_t i = 0; i < meters_.size(); ++i) {
    if (meters_[i]->facts().reading == MeterReading::kLog) continue;
    read(i);
    courses_[i].due_s = apart_of(meters_[i]->facts());
  }
  reader_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

void EnergySession::follow(const std::stop_token& stop) {
  double clocks_due_s = throttle_.apart_s();
  while (!stop.stop_requested()) {
    double due_s = clocks_due_s;
    for (size_t i = 0; i < meters_.size(); ++i) {
      if (meters_[i]->facts().reading != MeterReading::kLog) due_s = std::min(due_s, courses_[i].due_s);
    }
    std::unique_lock hold(lock_);
    ended_.wait_for(hold, stop, std::chrono::duration<double>(std::max(0.0, due_s - now_s())), [] { return false; });
    hold.unlock();
    if (stop.stop_requested()) return;
    const double time_s = now_s();
    for (size_t i = 0; i < meters_.size(); ++i) {
      if (meters_[i]->facts().reading == MeterReading::kLog || courses_[i].due_s > time_s) continue;
      read(i);
      const double apart_s = apart_of(meters_[i]->facts());
      // Of readings that were missed, none is caught up on.
      courses_[i].due_s += apart_s * std::max(1.0, std::ceil((time_s - courses_[i].due_s) / apart_s));
    }
    if (clocks_due_s <= time_s) {
      throttle_.look();
      clocks_due_s = time_s + throttle_.apart_s();
    }
  }
}

// The log, once it reaches the end or nobody can wait for it any longer.
PowerLog EnergySession::settled_log(size_t meter, double end_s, std::optional<Error>& failed, double& read_unix_s) {
  PowerLog log;
  const auto waited_from = Clock::now();
  while (true) {
    auto found = meters_[meter]->logged(began_unix_s_, began_unix_s_ + end_s);
    failed = found ? std::nullopt : std::optional(found.error());
    read_unix_s = unix_now_s();
    if (found) log = std::move(*found);
    const double last_s = log.samples.empty() ? 0 : log.samples.back().unix_s;
    const bool reaches = !log.samples.empty() && last_s >= began_unix_s_ + end_s;
    const double waited_s = std::chrono::duration<double>(Clock::now() - waited_from).count();
    if (reaches || last_s == given_up_unix_s_[meter]) return log;
    if (waited_s >= options_.settle_s) {
      if (last_s < began_unix_s_) given_up_unix_s_[meter] = last_s;
      return log;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kSettleStep_s));
  }
}

EnergyReport EnergySession::stop() {
  EnergyReport report;
  const double end_s = now_s();
  reader_ = std::jthread();
  for (size_t i = 0; i < courses_.size(); ++i) {
    if (meters_[i]->facts().reading != MeterReading::kLog) read(i);
  }
  report.seconds_s = end_s;
  report.warnings = throttle_.end();
  for (size_t i = 0; i < courses_.size(); ++i) {
    Course& course = courses_[i];
    PowerLog log;
    double read_unix_s = 0;
    if (meters_[i]->facts().reading == MeterReading::kLog) {
      std::optional<Error> failed;
      log = settled_log(i, end_s, failed, read_unix_s);
      if (failed) course.readings.fail(*failed);
      for (const PowerSample& sample : log.samples) course.readings.add(sample.unix_s - began_unix_s_, sample.power_w);
    }
    MeterEnergy energy = course.readings.finish(0, end_s);
    if (meters_[i]->facts().reading == MeterReading::kLog && !energy.joules && energy.warnings.empty()) {
      if (const std::string why = why_elsewhere(log, began_unix_s_, end_s, options_.clock_offset); !why.empty())
        energy.why_missing = why;
    }
    warn_of_clock(log, began_unix_s_ + end_s, read_unix_s, options_.clock_offset, energy);
    warn_of_unit(log, energy);
    if (log.devices > 1) {
      energy.warnings.push_back({"devices-added", fmt::format("the log has rows of {} devices: their powers at each "
                                                              "time were added",
                                                              log.devices)});
    }
    if (!log.form.empty()) energy.warnings.push_back({"number-form", "the log was read as having " + log.form});
    if (log.bad_rows > 0) {
      energy.warnings.push_back(
          {"bad-rows", fmt::format("{} row{} of the log can't be read and {} left out: {}", log.bad_rows,
                                   log.bad_rows == 1 ? "" : "s", log.bad_rows == 1 ? "is" : "are", log.first_bad)});
    }
    if (log.blank_rows > 0) {
      energy.warnings.push_back(
          {"blank-rows", fmt::format("{} rows of the log have a time and no power", log.blank_rows)});
    }
    if (log.out_of_order_rows > 0) {
      energy.warnings.push_back(
          {"times-out-of-order",
           fmt::format("{} rows of the log are of times before that of the row above: its clock was "
                       "set meanwhile, or several wrote it",
                       log.out_of_order_rows)});
    }
    for (const std::string& limit : course.limits) {
      energy.warnings.push_back({"device-limited", "the device was held back by " + limit});
    }
    report.meters.push_back(std::move(energy));
  }
  warn_of_same_scope(report);
  return report;
}

std::optional<double> joules_of_scope(const EnergyReport& report, EnergyScope scope) {
  return joules_in(report, scope).joules;
}

std::optional<WidestJoules> widest_joules(const EnergyReport& report) {
  for (const EnergyScope scope :
       {EnergyScope::kServer, EnergyScope::kPlatform, EnergyScope::kPackage, EnergyScope::kGpu, EnergyScope::kOther}) {
    if (const auto joules = joules_of_scope(report, scope)) return WidestJoules{scope, *joules};
  }
  return std::nullopt;
}

std::optional<EnergyScope> scope_of_cpu_work(std::span<const EnergyReport> reports) {
  if (reports.empty()) return std::nullopt;
  for (const EnergyScope scope : {EnergyScope::kServer, EnergyScope::kPlatform, EnergyScope::kPackage}) {
    if (std::all_of(reports.begin(), reports.end(),
                    [scope](const EnergyReport& report) { return joules_of_scope(report, scope).has_value(); }))
      return scope;
  }
  return std::nullopt;
}

}  // namespace perfcast
