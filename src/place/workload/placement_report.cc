#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"
#include "base/unknown.h"
#include "place/workload/place_words.h"
#include "place/workload/placement.h"
#include "program/forecast/instance_forecast.h"

namespace perfcast::place {
namespace {

constexpr size_t kPlaceWidth = 118;

std::string lines(const std::string& text) { return wrapped(text, kPlaceWidth, "", "  ") + "\n"; }

ReportValue memory(const PlacementRow& row) {
  if (!row.needed_bytes) return {};
  if (!row.memory_bytes) return human_bytes(*row.needed_bytes);
  return human_bytes(*row.needed_bytes) + " of " + human_bytes(*row.memory_bytes);
}

std::string fits_words(const PlacementRow& row) {
  if (!row.needed_bytes) return "";
  if (!row.fits) return "?";
  if (*row.fits) return "yes";
  return row.fits_on ? fmt::format("no; {} hold it", *row.fits_on) : "no";
}

bool has_time(const PlacementRow& row) { return row.time_s || row.relative_time; }

ReportValue named(const std::optional<PlaceBound>& bound) { return bound ? name_of(*bound) : ReportValue(); }

using Q = Quantity;
using Row = PlacementRow;

// As JSON has them; kShownColumns is the order for people.
std::vector<ColumnOf<Row>> columns_of(const Placement& placement) {
  const bool shared = std::ranges::any_of(placement.rows, [](const Row& row) { return row.count > 1; });
  const bool on_instances = placement.kind == PlacedWorkload::kProfile;
  return {
      {"", " ", Q::kText, [](const Row& row) { return row.is_on_front ? "*" : ""; }},
      {"device", "device", Q::kText, &Row::device},
      {"kind", "kind", Q::kText, [](const Row& row) { return name_of(row.kind); }},
      {"devices_count", shared ? "devices" : "", Q::kCount,
       [](const Row& row) { return static_cast<int64_t>(row.count); }},
      {"vcpus_count", "vCPUs", Q::kCount, &Row::vcpus,
       [](const Row& row) { return row.vcpus > 0 ? fmt::format("{:.0f}", row.vcpus) : ""; }},
      {"instance", on_instances ? "on" : "", Q::kText, [](const Row& row) { return unless_empty(row.instance); },
       &Row::instance},
      {"precision", "in", Q::kText, [](const Row& row) { return unless_empty(row.precision); }, &Row::precision},
      {"engine", "engine", Q::kText, [](const Row& row) { return unless_empty(row.engine); }, &Row::engine},
      {"time_s", "time", Q::kSpreadSeconds, &Row::time_s},
      {"", "90% interval", Q::kSpreadSeconds,
       [](const Row& row) {
         return row.lower_s && row.upper_s ? ReportValue(ValueRange{*row.lower_s, *row.upper_s}) : "";
       }},
      {"lower_s", "", Q::kSeconds, &Row::lower_s},
      {"upper_s", "", Q::kSeconds, &Row::upper_s},
      {"forecast_s", "", Q::kSeconds, &Row::forecast_s},
      {"relative_time_ratio", "rel. time", Q::kNumber, &Row::relative_time},
      {"energy_joules", "J", Q::kHuman, &Row::energy_joules},
      {"energy_lower_joules", "", Q::kJoules, &Row::energy_lower_joules},
      {"energy_upper_joules", "", Q::kJoules, &Row::energy_upper_joules},
      {"energy_basis", "power is", Q::kText,
       [](const Row& row) { return row.energy_joules ? name_of(row.energy_basis) : ReportValue(); },
       [](const Row& row) { return std::string(row.energy_joules ? name_of(row.energy_basis) : ""); }},
      {"power_w", "", Q::kNumber, &Row::power_w},
      {"cost", placement.currency.empty() ? "cost" : placement.currency, Q::kMoney, &Row::cost},
      {"price_per_hour", "", Q::kMoney, &Row::price_per_hour},
      {"copies_count", "copies", Q::kCount, &Row::copies,
       [](const Row& row) { return row.copies ? fmt::format("{:.0f}", *row.copies) : ""; }},
      {"fits", "fits", Q::kYes, &Row::fits, fits_words},
      {"fits_on_count", "", Q::kCount, &Row::fits_on},
      {"", "memory", Q::kBytes, memory},
      {"needed_bytes", "", Q::kBytes, &Row::needed_bytes},
      {"memory_bytes", "", Q::kBytes, &Row::memory_bytes},
      {"bound", "bound", Q::kText, [](const Row& row) { return named(row.bound); }},
      {"basis", "basis", Q::kText,
       [](const Row& row) { return has_time(row) ? name_of(row.basis) : ReportValue(nullptr); },
       [](const Row& row) { return std::string(name_of(row.basis)) + (row.meets ? "" : ", breaks a limit"); }},
      {"transfer_s", placement.kind == PlacedWorkload::kProduct ? "transfer" : "", Q::kSpreadSeconds, &Row::transfer_s},
      {"load_s", "load", Q::kSpreadSeconds, &Row::load_s},
      {"host_link_assumed", "", Q::kYes,
       [](const Row& row) { return row.transfer_s ? row.host_link_assumed : ReportValue(); }},
      {"prefill_s", "", Q::kSeconds, &Row::prefill_s},
      {"token_s", "", Q::kSeconds, &Row::token_s},
      {"tokens_per_s", "", Q::kHuman, &Row::tokens_per_s},
      {"prefill_bound", "", Q::kText, [](const Row& row) { return named(row.prefill_bound); }},
      {"token_bound", "", Q::kText, [](const Row& row) { return named(row.token_bound); }},
      {"meets_limits", "", Q::kYes, &Row::meets},
      {"on_front", "", Q::kYes, &Row::is_on_front},
      {"note", "", Q::kText, [](const Row& row) { return unless_empty(row.note); }},
  };
}

// One number of runs for the whole column.
void tell_costs(const Placement& placement, const std::vector<Row>& rows, ReportColumn& column) {
  double least = kUnknown;
  for (const Row& row : rows) {
    if (row.cost && *row.cost > 0) least = std::fmin(least, *row.cost);
  }
  const double runs = runs_of_cost(least);
  if (runs == 1) return;
  column.title = fmt::format("{} per {:.0f} runs", placement.currency.empty() ? "cost" : placement.currency, runs);
  column.words.clear();
  for (const Row& row : rows) column.words.push_back(row.cost ? money_text(*row.cost * runs) : "-");
}

const std::vector<std::string_view> kShownColumns = {
    " ",         "device",       "kind",       "devices_count", "vcpus_count",   "relative_time_ratio",
    "time_s",    "90% interval", "transfer_s", "load_s",        "energy_joules", "energy_basis",
    "cost",      "copies_count", "instance",   "memory",        "fits",          "bound",
    "precision", "basis",        "engine"};

// What a device's link to its host decides; "?" where that is assumed. A CPU has none.
void mark_links(const std::vector<Row>& rows, ReportColumn& column) {
  if (std::ranges::none_of(column.cells, &ReportValue::is_known)) return;
  column.words = cells_for_people(column);
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].host_link_assumed) column.words[r] += "?";
    if (rows[r].kind == PlaceKind::kCpu) column.words[r].clear();
  }
}

// What is to know of rows, those with the same told once.
std::string remarks_text(const Placement& placement) {
  std::map<std::pair<bool, std::string>, std::vector<std::string>> by_remark;
  for (const PlacementRow& row : placement.rows) {
    if (!row.note.empty() && (!has_time(row) || row.basis != PlaceBasis::kMeasured)) {
      by_remark[{has_time(row), row.note}].push_back(row.device);
    }
  }
  std::string text;
  constexpr size_t kNamed = 3;
  for (const auto& [remark, devices] : by_remark) {
    const size_t named = std::min(kNamed, devices.size());
    std::string names = join({devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(named)}, ", ");
    if (devices.size() > named) names += fmt::format(" and {} more", devices.size() - named);
    text += lines(fmt::format("{}: {}: {}", remark.first ? "note" : "without a forecast", printable(names),
                              printable(remark.second)));
  }
  return text;
}

// Times of what does not fit would be those of a device with more memory.
Row without_times_of_misses(Row row) {
  if (row.fits.value_or(true)) return row;
  for (auto member : {&Row::time_s, &Row::lower_s, &Row::upper_s, &Row::relative_time, &Row::transfer_s, &Row::load_s,
                      &Row::energy_joules, &Row::cost}) {
    row.*member = std::nullopt;
  }
  row.host_link_assumed = false;
  return row;
}

std::string table_text(const Placement& placement, size_t most_rows) {
  std::vector<Row> rows;
  size_t left_out = 0;
  for (const Row& row : placement.rows) {
    if (!has_time(row)) continue;
    const bool stays = row.is_on_front || row.basis == PlaceBasis::kMeasured;
    if (most_rows > 0 && rows.size() >= most_rows && !stays) {
      ++left_out;
    } else {
      rows.push_back(without_times_of_misses(row));
    }
  }
  if (rows.empty()) return "";
  ReportTable table = picked(table_of<Row>("", rows, columns_of(placement)), kShownColumns);
  share_unit(table, "time_s");
  tell_costs(placement, rows, table.column("cost"));
  for (const char* name : {"transfer_s", "load_s"}) mark_links(rows, table.column(name));
  std::string text = "\n" + rows_text(table);
  if (left_out > 0) text += fmt::format("... {} rows more: --all\n", left_out);
  return text + "*: no other row is better in everything that is known of it\n";
}

std::string break_even_text(const Placement& placement, const PlaceBreakEven& one) {
  const bool is_product = placement.kind == PlacedWorkload::kProduct;
  const char* size = is_product ? "longest side" : "batch";
  const char* verb = one.measure == PlaceMeasure::kTime     ? "is faster"
                     : one.measure == PlaceMeasure::kEnergy ? "needs less energy"
                                                            : "costs less";
  const std::string limit = one.limited_by.empty()
                                ? fmt::format("{} {}", size, one.most)
                                : fmt::format("{} {}, all that {} holds", size, one.most, one.limited_by);
  if (!one.at) {
    return fmt::format("break-even: never within limits: {} {} than {} up to {}", one.first, verb, one.second, limit);
  }
  std::string text = fmt::format("break-even: {} {} below {} {}, {} from there up to {}", one.first, verb, size,
                                 *one.at, one.second, limit);
  if (one.crossings_count > 1) text += fmt::format("; it changes {} times", one.crossings_count);
  return text;
}

}  // namespace

double runs_of_cost(double least_cost) {
  constexpr double kTiny = 0.01;
  return least_cost < kTiny ? program::kRunsOfCost : 1;
}

std::string cost_in_words(double cost, const std::string& currency) {
  const double runs = runs_of_cost(cost);
  return money_text(cost * runs) + (currency.empty() ? "" : " " + currency) +
         (runs > 1 ? fmt::format(" per {:.0f} runs", runs) : "");
}

std::string placement_text(const Placement& placement, size_t most_rows) {
  std::string text = lines("best: " + printable(join(placement.reasons, " ")));
  for (size_t i = 1; i < placement.best.size(); ++i) {
    const PlacementBest& best = placement.best[i];
    const PlacementRow& row = placement.rows[best.row];
    const double value = *row.value(best.measure);
    text += lines(fmt::format("least {}: {}{} ({})", name_of(best.measure),
                              row.count > 1 ? fmt::format("{:.0f} x ", row.count) : "", printable(row.device),
                              amount_in_words(value, best.measure, placement.currency)));
  }
  text += "\n" + lines(printable(placement.workload) + (placement.details.empty() ? "" : ": " + placement.details));
  text += table_text(placement, most_rows);
  if (!placement.break_even.empty()) text += "\n";
  for (const PlaceBreakEven& one : placement.break_even) text += lines(break_even_text(placement, one));
  std::string remarks;
  for (const std::string& note : placement.notes) remarks += lines("note: " + printable(note));
  remarks += remarks_text(placement);
  return remarks.empty() ? text : text + "\n" + remarks;
}

Json to_json(const Placement& placement) {
  Json json;
  json["schema"] = kPlacementSchema;
  json["workload"] = placement.workload;
  json["workload_kind"] = name_of(placement.kind);
  if (!placement.details.empty()) json["details"] = placement.details;
  if (!placement.currency.empty()) json["currency"] = placement.currency;
  json["interval"] = 0.9;
  json["rows"] = rows_json(table_of<PlacementRow>("", placement.rows, columns_of(placement)));
  json["best"] = nullptr;
  if (!placement.best.empty()) {
    const PlacementBest& best = placement.best.front();
    Json one;
    one["device"] = placement.rows[best.row].device;
    one["kind"] = name_of(placement.rows[best.row].kind);
    one["by"] = name_of(best.measure);
    one["reasons"] = placement.reasons;
    for (const PlacementBest& each : placement.best) {
      one["least_" + std::string(name_of(each.measure))] = placement.rows[each.row].device;
    }
    json["best"] = std::move(one);
  }
  json["break_even"] = Json::array();
  for (const PlaceBreakEven& one : placement.break_even) {
    Json crossing;
    crossing["by"] = name_of(one.measure);
    crossing["size"] = placement.kind == PlacedWorkload::kProduct ? "longest_side" : "batch";
    crossing["first"] = one.first;
    crossing["second"] = one.second;
    crossing["least_count"] = one.least;
    crossing["most_count"] = one.most;
    crossing["at_count"] = one.at ? Json(*one.at) : Json(nullptr);
    crossing["crossings_count"] = one.crossings_count;
    if (!one.limited_by.empty()) crossing["limited_by"] = one.limited_by;
    json["break_even"].push_back(std::move(crossing));
  }
  json["notes"] = placement.notes;
  return json;
}

}  // namespace perfcast::place
