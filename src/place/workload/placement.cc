#include "place/workload/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/significant.h"
#include "base/text.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/processor.h"
#include "machine/meter/accelerator_power.h"
#include "machine/meter/platform_power.h"
#include "place/workload/place_words.h"

namespace perfcast::place {
namespace {

constexpr double kHour_s = 3600, kZ90 = 1.6449;
constexpr double kImpossible = 1e4;  // no forecast is that wrong
// A measured time so far from its forecast is more likely of another unit or input.
constexpr double kFarFromForecast = 30;
constexpr double kFasterThanPeak = 0.9;  // clocks vary a little about what peaks are stated at
constexpr double kMostDevice_w = 2e4;    // of one device or machine, as tables of frequencies have it

constexpr std::array<std::string_view, kPlaceKinds> kKindNames = {"cpu", "gpu", "tpu", "asic"};

using Sort = PlacementWishes::Sort;

PlaceMeasure measure_of(Sort sort) {
  switch (sort) {
    case Sort::kEnergy:
      return PlaceMeasure::kEnergy;
    case Sort::kCost:
      return PlaceMeasure::kCost;
    default:
      return PlaceMeasure::kTime;
  }
}

// What rows are ordered by: seconds, or of profiles without seconds the relative time.
std::optional<double> order_value(const PlacementRow& row, PlaceMeasure measure) {
  const auto value = row.value(measure);
  return value || measure != PlaceMeasure::kTime ? value : row.relative_time;
}

bool any_has(const Placement& placement, PlaceMeasure measure) {
  return std::any_of(placement.rows.begin(), placement.rows.end(),
                     [&](const PlacementRow& row) { return order_value(row, measure).has_value(); });
}

Status check_known(const Placement& placement, PlaceMeasure measure, const char* where) {
  if (any_has(placement, measure)) return {};
  const bool is_cost = measure == PlaceMeasure::kCost;
  return usage_error("bad-usage", is_cost ? "no row has a price" : "of no row the power is known", where,
                     is_cost ? "a price list (--prices FILE), or --price DEVICE=PER_HOUR"
                             : "the power of a device: --power-w DEVICE=WATTS");
}

// One spelling of a device's name.
std::string folded_name(std::string_view name) {
  std::string out = lower_case(trim(name));
  std::replace(out.begin(), out.end(), '_', '-');
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

bool bears(const PlacementRow& row, const std::string& folded) {
  return folded_name(row.device) == folded ||
         std::any_of(row.aliases.begin(), row.aliases.end(),
                     [&](const std::string& alias) { return folded_name(alias) == folded; });
}

// People leave the vendor out.
std::string without_vendor(const std::string& cpu_key) {
  for (const std::string_view vendor : {"amd ", "intel "}) {
    if (cpu_key.starts_with(vendor)) return cpu_key.substr(vendor.size());
  }
  return cpu_key;
}

bool holds_part(const PlacementRow& row, const std::string& part) {
  const auto holds = [&](const std::string& name) {
    return lower_case(name).find(part) != std::string::npos ||
           folded_name(name).find(folded_name(part)) != std::string::npos;
  };
  const auto any = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), holds);
  };
  return any(row.kind == PlaceKind::kCpu ? wider_names(row.device) : std::vector{row.device}) || any(row.aliases);
}

Error unknown_row(const Placement& placement, const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  names.reserve(placement.rows.size());
  for (const PlacementRow& row : placement.rows) names.push_back(row.device);
  return usage_error("unknown-device", "no row is called '" + printable(name) + "'", where,
                     "one of the rows, such as " + nearest_names(name, names));
}

// A misspelt device or server would otherwise only be absent from the table.
void note_unmatched(const program::PriceList& prices, Placement& placement) {
  std::set<std::string> devices, instances, known;
  for (const PlacementRow& row : placement.rows) {
    known.insert(row.instance.empty() ? row.device : row.instance);
    devices.insert(folded_name(row.device));
    for (const std::string& alias : row.aliases) devices.insert(folded_name(alias));
    instances.insert(row.instance);
    // Of a list that doesn't say whose.
    if (const size_t space = row.instance.find(' '); space != std::string::npos)
      instances.insert(row.instance.substr(space));
  }
  std::vector<program::Price> unmatched;
  for (const program::Price& price : prices.prices()) {
    if (devices.contains(folded_name(price.server)) || instances.contains(price.vendor + " " + price.server)) continue;
    unmatched.push_back(price);
  }
  if (unmatched.empty()) return;
  placement.notes.push_back(program::unmatched_prices_in_words(
      unmatched, prices.prices().size(), "device and no instance type of the rows", {known.begin(), known.end()}));
}

Status keep_rows(const PlacementWishes& wishes, Placement& placement) {
  std::vector<std::string> parts;
  parts.reserve(wishes.filters.size());
  for (const std::string& filter : wishes.filters) {
    parts.push_back(lower_case(trim(filter)));
    const bool known = std::any_of(placement.rows.begin(), placement.rows.end(),
                                   [&](const PlacementRow& row) { return holds_part(row, parts.back()); });
    if (!known) return unknown_row(placement, filter, "device");
  }
  std::erase_if(placement.rows, [&](const PlacementRow& row) {
    const bool kind =
        wishes.kinds.empty() || std::find(wishes.kinds.begin(), wishes.kinds.end(), row.kind) != wishes.kinds.end();
    const bool name = parts.empty() || std::any_of(parts.begin(), parts.end(),
                                                   [&](const std::string& part) { return holds_part(row, part); });
    return !kind || !name;
  });
  if (!placement.rows.empty()) return {};
  return usage_error("no-device", "kinds and filters leave no device", "device",
                     "fewer of them, or devices of those kinds");
}

Status take_values(const std::vector<std::pair<std::string, double>>& values, const char* where,
                   std::optional<double> PlacementRow::*field, Placement& placement) {
  const bool is_power = field == &PlacementRow::power_w;
  for (const auto& [name, value] : values) {
    if (is_power && value > kMostDevice_w) {
      return usage_error("bad-usage", fmt::format("{:g} W{}", value, name.empty() ? "" : " for " + printable(name)),
                         where, fmt::format("watts of one device or machine, at most {:g}", kMostDevice_w));
    }
    const auto take = [&, given = value](PlacementRow& row) {
      row.*field = given;
      if (is_power) row.energy_basis = EnergyBasis::kGiven;
    };
    if (name.empty()) {
      for (PlacementRow& row : placement.rows) {
        if (!(row.*field) && !(is_power && row.energy_joules)) take(row);
      }
      continue;
    }
    const auto row = find_row(placement, name, where);
    if (!row) return row.error();
    take(placement.rows[*row]);
  }
  for (PlacementRow& row : placement.rows) row.price_time();
  return {};
}

Status take_measured(const PlacementWishes& wishes, Placement& placement) {
  for (const auto& [device, seconds] : wishes.measured_s) {
    if (!(seconds > 0) || !std::isfinite(seconds)) {
      return usage_error("bad-usage", "a measured time of " + printable(device) + " is not above 0", "measured",
                         "DEVICE=SECONDS");
    }
    const auto found = find_row(placement, device, "measured");
    if (!found) return found.error();
    PlacementRow& row = placement.rows[*found];
    row.forecast_s = row.time_s;
    row.time_s = seconds;
    row.lower_s = row.upper_s = std::nullopt;
    row.basis = PlaceBasis::kMeasured;
    if (row.fits) row.fits = true;  // it ran
    row.fits_on = std::nullopt;
    if (row.bound == PlaceBound::kCapacity) row.bound = std::nullopt;
    row.price_time();
    if (!row.forecast_s) continue;
    const double ratio = seconds / *row.forecast_s;
    const bool is_impossible = row.least_s && seconds < kFasterThanPeak * *row.least_s;
    if (ratio > kImpossible || ratio < 1 / kImpossible) {
      return usage_error("bad-usage",
                         fmt::format("a measured time of {} s for {}, where the forecast is {} s",
                                     significant(seconds, 3), row.device, significant(*row.forecast_s, 3)),
                         "measured", "DEVICE=SECONDS of this workload");
    }
    if (is_impossible) {
      placement.notes.push_back(
          fmt::format("the measured time of {}, {}, is below the {} that its stated rates of arithmetic and memory, "
                      "and its link, allow at best: was it this workload{}, and in seconds?",
                      row.device, human_seconds(seconds), human_seconds(*row.least_s),
                      row.transfer_s.value_or(0) > 0 ? " with its transfers" : ""));
    } else if (ratio > kFarFromForecast || ratio < 1 / kFarFromForecast) {
      placement.notes.push_back(
          fmt::format("the measured time of {} is {} times its forecast: was it this workload, and in seconds?",
                      row.device, significant(ratio, 3)));
    }
  }
  return {};
}

bool within(const std::optional<double>& value, const std::optional<double>& most) {
  return !most || (value && *value <= *most);
}

void hold_to_limits(const PlacementWishes& wishes, Placement& placement) {
  for (PlacementRow& row : placement.rows) {
    row.meets = within(row.time_s, wishes.most_s) && within(row.energy_joules, wishes.most_joules) &&
                within(row.cost, wishes.most_cost);
  }
}

void sort_rows(Sort sort, Placement& placement) {
  const PlaceMeasure measure = measure_of(sort);
  std::stable_sort(placement.rows.begin(), placement.rows.end(), [&](const PlacementRow& a, const PlacementRow& b) {
    if (sort != Sort::kName) {
      const auto first = order_value(a, measure), second = order_value(b, measure);
      if (a.is_candidate() != b.is_candidate()) return a.is_candidate();
      if (first.has_value() != second.has_value()) return first.has_value();
      if (first && *first != *second) return *first < *second;
      const auto sooner = order_value(a, PlaceMeasure::kTime), later = order_value(b, PlaceMeasure::kTime);
      if (sooner && later && *sooner != *later) return *sooner < *later;
    }
    return a.device < b.device;
  });
}

bool beats(const PlacementRow& a, const PlacementRow& b) {
  bool better = false;
  for (const PlaceMeasure measure : kPlaceMeasures) {
    const auto mine = order_value(a, measure), other = order_value(b, measure);
    if (!other) continue;
    if (!mine || *mine > *other) return false;
    better |= *mine < *other;
  }
  return better;
}

void find_front(Placement& placement) {
  for (PlacementRow& row : placement.rows) {
    row.is_on_front = row.is_candidate() &&
                      std::none_of(placement.rows.begin(), placement.rows.end(), [&](const PlacementRow& other) {
                        return other.is_candidate() && beats(other, row);
                      });
  }
}

std::optional<size_t> best_by(const Placement& placement, PlaceMeasure measure) {
  std::optional<size_t> best;
  for (size_t i = 0; i < placement.rows.size(); ++i) {
    const auto value = order_value(placement.rows[i], measure);
    if (!placement.rows[i].is_candidate() || !value) continue;
    if (!best || *value < *order_value(placement.rows[*best], measure)) best = i;
  }
  return best;
}

void find_best(PlaceMeasure first, Placement& placement) {
  std::vector<PlaceMeasure> measures = {first};
  for (const PlaceMeasure measure : kPlaceMeasures) {
    if (measure != first) measures.push_back(measure);
  }
  for (const PlaceMeasure measure : measures) {
    if (const auto row = best_by(placement, measure)) placement.best.push_back({measure, *row});
  }
}

std::string amount_text(const PlacementRow& row, PlaceMeasure measure, const std::string& currency) {
  const auto value = row.value(measure);
  return value ? amount_in_words(*value, measure, currency) : fmt::format("{:.2f} times the mean", *row.relative_time);
}

// "the best's interval holds the forecasts of 3 others": how sure the order is.
size_t not_told_apart(const Placement& placement, size_t best) {
  const PlacementRow& row = placement.rows[best];
  if (!row.upper_s) return 0;
  size_t near = 0;
  for (size_t i = 0; i < placement.rows.size(); ++i) {
    const PlacementRow& other = placement.rows[i];
    if (i == best || !other.is_candidate() || !other.time_s) continue;
    if (*other.time_s <= *row.upper_s) ++near;
  }
  return near;
}

void give_reasons(const PlacementWishes& wishes, Placement& placement) {
  if (placement.best.empty()) {
    placement.reasons.emplace_back("No row can be taken: each lacks memory or a forecast, or breaks a limit.");
    if (std::string nearest = nearest_miss_in_words(wishes, placement); !nearest.empty()) {
      placement.reasons.push_back(std::move(nearest));
    }
    return;
  }
  const PlacementBest& best = placement.best.front();
  const PlacementRow& row = placement.rows[best.row];
  const auto candidates = std::count_if(placement.rows.begin(), placement.rows.end(),
                                        [](const PlacementRow& one) { return one.is_candidate(); });
  const char* verb = best.measure == PlaceMeasure::kTime   ? "takes"
                     : best.measure == PlaceMeasure::kCost ? "costs"
                                                           : "needs";
  std::string first = row.count > 1 ? fmt::format("{:.0f} x ", row.count) : "";
  first += fmt::format("{} ({}) {} {}", row.device, name_of(row.kind), verb,
                       amount_text(row, best.measure, placement.currency));
  if (best.measure == PlaceMeasure::kTime && row.time_s && row.lower_s && row.upper_s) {
    first += fmt::format(" ({} to {})", human_seconds(*row.lower_s), human_seconds(*row.upper_s));
  }
  first += candidates > 1 ? fmt::format(", the least of {} that can be taken", candidates)
                          : ", the only one that can be taken";
  if (row.bound) first += fmt::format("; {} bounds it", words_of(*row.bound, placement.kind));
  placement.reasons.push_back(first + ".");

  // The next kind of hardware, and how far the order can be trusted.
  std::optional<size_t> rival;
  for (size_t i = 0; i < placement.rows.size(); ++i) {
    const PlacementRow& other = placement.rows[i];
    const auto value = order_value(other, best.measure);
    if (other.kind == row.kind || !other.is_candidate() || !value) continue;
    if (!rival || *value < *order_value(placement.rows[*rival], best.measure)) rival = i;
  }
  std::string second;
  if (rival) {
    const PlacementRow& other = placement.rows[*rival];
    second = fmt::format("Of another kind {} ({}) comes next: it {} {} times as {}", other.device, name_of(other.kind),
                         verb, significant(*order_value(other, best.measure) / *order_value(row, best.measure), 3),
                         best.measure == PlaceMeasure::kTime ? "long" : "much");
  }
  if (const size_t near = best.measure == PlaceMeasure::kTime ? not_told_apart(placement, best.row) : 0; near > 0) {
    second += fmt::format("{}{} other row{} within the best one's interval", second.empty() ? "" : "; ", near,
                          near == 1 ? " lies" : "s lie");
  }
  if (!second.empty()) placement.reasons.push_back(second + ".");
}

void note_rows(const PlacementWishes& wishes, Placement& placement) {
  const auto count = [&](auto has) { return std::count_if(placement.rows.begin(), placement.rows.end(), has); };
  const bool limited = wishes.most_s || wishes.most_joules || wishes.most_cost;
  const auto breaking = count([](const PlacementRow& row) { return !row.meets; });
  if (limited && breaking > 0) {
    placement.notes.push_back(
        fmt::format("{} of {} rows break a limit, or lack what it is about", breaking, placement.rows.size()));
  }
  const auto assumed = count([](const PlacementRow& row) { return row.host_link_assumed && row.transfer_s; });
  if (assumed > 0) {
    placement.notes.push_back(fmt::format(
        "the link between host and device is not stated for {} row{}: PCI Express 3.0 with 16 lanes is assumed "
        "(--host-link says better)",
        assumed, assumed == 1 ? "" : "s"));
  }
  if (count([](const PlacementRow& row) { return row.energy_joules.has_value(); }) > 0) {
    const auto unknown =
        count([](const PlacementRow& row) { return row.is_candidate() && row.time_s && !row.energy_joules; });
    const auto has_basis = [&](EnergyBasis basis) {
      return count([basis](const PlacementRow& row) { return row.energy_joules && row.energy_basis == basis; }) > 0;
    };
    std::vector<std::string> parts;
    // Of profiles the forecast says it.
    if (has_basis(EnergyBasis::kTdp) && placement.kind != PlacedWorkload::kProfile) {
      parts.emplace_back(
          "TDP-based is the busy cores' share of their package's TDP, whose error is known from five older servers");
    }
    if (has_basis(EnergyBasis::kModelled) && placement.kind != PlacedWorkload::kProfile) {
      parts.push_back(
          fmt::format("modelled is the share of the stated power that such a load took of an H100 and an H200, of "
                      "other devices within a factor of {:.1f}",
                      std::exp(kZ90 * kOtherPowerLogDeviation)));
    }
    if (has_basis(EnergyBasis::kDatasheet)) {
      parts.emplace_back("datasheet is the time at the stated power, an upper end");
    }
    if (unknown > 0) parts.push_back(fmt::format("of {} row{} it is not known", unknown, unknown == 1 ? "" : "s"));
    if (parts.empty() && has_basis(EnergyBasis::kGiven)) parts.emplace_back("at the power that was given");
    if (!parts.empty()) placement.notes.push_back("energy: " + join(parts, "; "));
  }
}

}  // namespace

std::string_view name_of(PlaceKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string_view name_of(PlaceBasis basis) {
  constexpr std::array<std::string_view, 3> kNames = {"measured", "fitted", "datasheet"};
  return kNames[static_cast<size_t>(basis)];
}

std::string_view name_of(EnergyBasis basis) {
  constexpr std::array<std::string_view, 5> kNames = {"datasheet", "TDP-based", "modelled", "measured", "given"};
  return kNames[static_cast<size_t>(basis)];
}

std::string_view name_of(PlaceBound bound) {
  constexpr std::array<std::string_view, 8> kNames = {"compute", "memory", "cache",    "capacity",
                                                      "launch",  "link",   "transfer", "threads"};
  return kNames[static_cast<size_t>(bound)];
}

std::string_view words_of(PlaceBound bound, PlacedWorkload workload) {
  if (workload == PlacedWorkload::kProfile) {
    // Cycles of a core, not rates.
    if (bound == PlaceBound::kCompute) return "the core's own work";
    if (bound == PlaceBound::kMemory) return "waiting for memory";
    if (bound == PlaceBound::kCache) return "waiting for caches";
  }
  constexpr std::array<std::string_view, 8> kWords = {
      "arithmetic",      "memory bandwidth",         "cache bandwidth",  "memory capacity",
      "launch overhead", "the link between devices", "transfer to host", "waiting threads"};
  return kWords[static_cast<size_t>(bound)];
}

std::string_view name_of(PlaceMeasure measure) {
  constexpr std::array<std::string_view, 3> kNames = {"time", "energy", "cost"};
  return kNames[static_cast<size_t>(measure)];
}

std::string_view name_of(PlacedWorkload workload) {
  constexpr std::array<std::string_view, 3> kNames = {"profile", "llm", "product"};
  return kNames[static_cast<size_t>(workload)];
}

std::optional<PlaceKind> place_kind_named(std::string_view name) {
  for (size_t i = 0; i < kPlaceKinds; ++i) {
    if (kKindNames[i] == lower_case(name)) return static_cast<PlaceKind>(i);
  }
  return std::nullopt;
}

PlaceKind kind_of(const DeviceFacts& device) {
  switch (device.kind) {
    case DeviceKind::kGpu:
      return PlaceKind::kGpu;
    case DeviceKind::kCpu:
      return PlaceKind::kCpu;
    default:
      return lower_case(device.vendor) == "google" ? PlaceKind::kTpu : PlaceKind::kAsic;
  }
}

std::optional<double> PlacementRow::value(PlaceMeasure measure) const {
  switch (measure) {
    case PlaceMeasure::kEnergy:
      return energy_joules;
    case PlaceMeasure::kCost:
      return cost;
    default:
      return time_s;
  }
}

bool PlacementRow::is_candidate() const { return fits.value_or(true) && meets && (time_s || relative_time); }

void PlacementRow::price_time() {
  if (time_s && power_w) {
    energy_joules = *time_s * *power_w * count;
    energy_lower_joules = energy_upper_joules = std::nullopt;
    if (energy_basis == EnergyBasis::kTdp || energy_basis == EnergyBasis::kModelled) {
      const bool is_tdp = energy_basis == EnergyBasis::kTdp;
      const double bias = is_tdp ? kTdpLogBias : 0;
      const double half = kZ90 * (is_tdp ? std::hypot(kTdpProgramLogDeviation, kTdpPlatformLogDeviation)
                                         : accelerator_power_log_deviation(device));
      const double faster = lower_s && *lower_s > 0 ? std::log(*time_s / *lower_s) : 0;
      const double slower = upper_s && *time_s > 0 ? std::log(*upper_s / *time_s) : 0;
      energy_lower_joules = *energy_joules * std::exp(bias - std::hypot(half, faster));
      energy_upper_joules = *energy_joules * std::exp(bias + std::hypot(half, slower));
    }
  }
  if (!time_s || !price_per_hour) return;
  cost = *time_s * *price_per_hour * count / kHour_s;
  copies.reset();  // a price of one's own is of the whole device or machine
}

Result<size_t> find_row(const Placement& placement, const std::string& name, const std::string& where) {
  const std::string folded = folded_name(name);
  for (size_t i = 0; i < placement.rows.size(); ++i) {
    if (bears(placement.rows[i], folded)) return i;
  }
  // A CPU by its plain name, else whatever has this in its name, where one row alone does.
  std::vector<std::string> meant;
  const auto only = [&](auto&& is_meant) {
    std::optional<size_t> found;
    meant.clear();
    for (size_t i = 0; i < placement.rows.size(); ++i) {
      if (!is_meant(placement.rows[i])) continue;
      found = i;
      meant.push_back(placement.rows[i].device);
    }
    return meant.size() == 1 ? found : std::nullopt;
  };
  const std::string key = without_vendor(cpu_name_key_or_clock(name));
  auto row = only([&](const PlacementRow& one) {
    return !key.empty() && one.kind == PlaceKind::kCpu && without_vendor(cpu_name_key_or_clock(one.device)) == key;
  });
  if (!row) {
    row =
        only([&](const PlacementRow& one) { return one.kind == PlaceKind::kCpu && may_be_one_cpu(one.device, name); });
  }
  if (!row && meant.empty() && !folded.empty()) {
    row = only([&](const PlacementRow& one) { return holds_part(one, lower_case(trim(name))); });
  }
  if (row) return *row;
  if (meant.empty()) return unknown_row(placement, name, where);
  return usage_error("ambiguous-device",
                     fmt::format("'{}' is part of the names of {} rows", printable(name), meant.size()), where,
                     "one of: " + nearest_names(name, meant));
}

void take_prices(const program::PriceList& prices, Placement& placement) {
  if (!prices.currency().empty()) placement.currency = prices.currency();
  for (PlacementRow& row : placement.rows) {
    if (row.price_per_hour) continue;
    for (const program::Price& price : prices.prices()) {
      if (!bears(row, folded_name(price.server))) continue;
      row.price_per_hour = std::min(price.per_hour, row.price_per_hour.value_or(price.per_hour));
    }
    row.price_time();
  }
  placement.notes.push_back("prices: " + prices.source_in_words());
  note_unmatched(prices, placement);
}

Status finish_placement(const PlacementWishes& wishes, Placement& placement) {
  if (Status status = keep_rows(wishes, placement); !status) return status;
  if (Status status = take_values(wishes.powers_w, "power-w", &PlacementRow::power_w, placement); !status) {
    return status;
  }
  if (Status status = take_values(wishes.prices_per_hour, "price", &PlacementRow::price_per_hour, placement); !status) {
    return status;
  }
  if (Status status = take_measured(wishes, placement); !status) return status;
  if (wishes.sort == Sort::kCost) {
    if (Status status = check_known(placement, PlaceMeasure::kCost, "sort"); !status) return status;
  }
  if (wishes.sort == Sort::kEnergy) {
    if (Status status = check_known(placement, PlaceMeasure::kEnergy, "sort"); !status) return status;
  }
  if (wishes.most_cost) {
    if (Status status = check_known(placement, PlaceMeasure::kCost, "budget"); !status) return status;
  }
  if (wishes.most_joules) {
    if (Status status = check_known(placement, PlaceMeasure::kEnergy, "max-energy"); !status) return status;
  }
  hold_to_limits(wishes, placement);
  sort_rows(wishes.sort, placement);
  find_front(placement);
  find_best(measure_of(wishes.sort), placement);
  give_reasons(wishes, placement);
  note_rows(wishes, placement);
  return {};
}

}  // namespace perfcast::place
