#include "program/forecast/forecast_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "program/corpus/all_cores.h"
#include "program/forecast/server_name.h"

namespace perfcast::program {
namespace {

// A misspelt server would otherwise only be absent from the table. A price for what is filtered out is none of these.
std::vector<Price> unmatched_prices(const PriceList& prices, const std::vector<Server>& servers) {
  std::set<std::pair<std::string, std::string>> known;
  for (const Server& server : servers) {
    known.emplace(server.vendor, server.name);
    known.emplace("", server.name);  // of a list that doesn't say whose
  }
  std::vector<Price> unmatched;
  for (const Price& price : prices.prices()) {
    if (!known.contains({price.vendor, price.server})) unmatched.push_back(price);
  }
  return unmatched;
}

}  // namespace

void note_all_cores(const InstanceForecaster& forecaster, ForecastReport& report) {
  int64_t known = 0, unknown = 0;
  bool has_levels = false;
  for (const PlatformRow& row : report.rows) {
    for (const InstanceRow& instance : row.instances) {
      ++(instance.wall_s ? known : unknown);
      has_levels |= all_cores_level_of(instance.server).has_value();
    }
  }
  if (known == 0) {
    report.unanswered = has_levels
                            ? "all cores: no forecast, as nothing tells seconds here: --measured PLATFORM=TIME does"
                            : "all cores: no forecast, as the bundle has no such times of these instance types; "
                              "times below are of one core. The shipped bundle has them";
    return;
  }
  const double serial = forecaster.serial_ratio();
  const std::string own =
      forecaster.threads() > 1
          ? fmt::format(
                "Of this program's work, {:.0f}% ran while no second thread did: that part takes as long on any number "
                "of cores",
                100 * serial)
          : std::string(
                "The profile shows one thread, so perfcast does not know how well this program divides its work");
  report.notes.push_back(
      fmt::format("all cores: the times follow applications that ran with a thread on every vCPU of {} instance "
                  "type{}{}. {}",
                  known, known == 1 ? "" : "s",
                  unknown > 0 ? fmt::format(", and {} more have no such times", unknown) : std::string(), own));
}

void note_instances(const InstanceForecaster& forecaster, ForecastReport& report) {
  if (!forecaster.knows_scaling()) {
    report.notes.push_back(
        "perfcast can't say how copies slow each other down: the bundle or the profile lacks what this needs");
  } else if (forecaster.threads() > 1) {
    report.notes.push_back(
        fmt::format("the program can keep {:.1f} threads busy, so one run takes that many vCPUs if the machine has "
                    "them. perfcast does not forecast whether its threads wait longer for each other there",
                    forecaster.threads()));
  }
  const auto limited = [](const InstanceRow& row) { return row.memory_limits; };
  for (const PlatformRow& row : report.rows) {
    if (std::none_of(row.instances.begin(), row.instances.end(), limited)) continue;
    report.notes.push_back("copies with a *: the instance's memory holds no more");
    break;
  }
  int64_t unknown = 0;
  for (const PlatformRow& row : report.rows) {
    unknown += std::count_if(row.instances.begin(), row.instances.end(), [](const InstanceRow& instance) {
      return instance.copies && !instance.server.memory_gib;
    });
  }
  if (unknown > 0) {
    report.notes.push_back(
        fmt::format("copies with a ?: the memory of {} instance type{} is not known, so the copies may not fit",
                    unknown, unknown == 1 ? "" : "s"));
  }
}

void note_unknown_memory(const std::vector<Server>& servers, const std::vector<PlatformFilter>& filters,
                         const std::vector<Platform>& platforms, ForecastReport& report) {
  const std::vector<PlatformFilter> others = without_memory(filters);
  if (others.size() == filters.size()) return;
  int64_t unknown = 0;
  for (const Server& server : servers) {
    if (server.memory_gib || !passes(others, server)) continue;
    unknown += std::any_of(platforms.begin(), platforms.end(), [&](const Platform& platform) {
      return platform.id == server.platform && passes(others, platform, servers);
    });
  }
  if (unknown > 0)
    report.notes.push_back(
        fmt::format("left out by the filter of memory: {} instance types whose memory is not known", unknown));
}

void note_prices(const ForecastRequest& request, const Bundle& bundle, bool has_seconds, ForecastReport& report) {
  report.unmatched_prices = unmatched_prices(*request.prices, bundle.servers);
  report.price_source = request.prices->source_in_words();
  report.price_date = request.prices->date();
  report.price_regions = request.prices->regions();
  for (const PlatformRow& row : report.rows) {
    report.types_left_out += std::count_if(row.instances.begin(), row.instances.end(), [](const InstanceRow& instance) {
      return instance.price_per_hour && !instance.may_be_chosen;
    });
  }
  if (!has_seconds) {
    report.notes.push_back(
        "cost per run needs seconds, and this host is similar to no known platform; give a time measured on a known "
        "one");
  } else if (std::none_of(report.rows.begin(), report.rows.end(),
                          [](const PlatformRow& row) { return row.cost.has_value(); })) {
    report.notes.push_back("no platform shown has an instance type with a price");
  }
  const std::vector<Price>& unmatched = *report.unmatched_prices;
  if (unmatched.empty()) return;
  std::vector<std::string> known;
  known.reserve(bundle.servers.size());
  for (const Server& server : bundle.servers) known.push_back(server.vendor + " " + server.name);
  report.notes.push_back(
      unmatched_prices_in_words(unmatched, request.prices->prices().size(), "known instance type", known) +
      "; vendor and server must be written as the list of instances has them");
}

}  // namespace perfcast::program
