#include "cli/forecast/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/text.h"
#include "base/unknown.h"
#include "program/forecast/number_text.h"

namespace perfcast::cli {
namespace {

constexpr size_t kPlaceWidth = 118;
using Align = TextTable::Align;

std::string lines(const std::string& text) { return wrapped(text, kPlaceWidth, "", "  ") + "\n"; }

// Never "2.7e-05": as prices are written.
std::string money_text(double value) {
  constexpr int kMostDecimals = 12;
  if (!(value > 0)) return "0";
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, std::clamp(decimals, 2, kMostDecimals));
}

std::string memory_cell(const place::PlacementRow& row) {
  if (!row.needed_bytes) return "-";
  if (!row.memory_bytes) return human_bytes(*row.needed_bytes);
  return human_bytes(*row.needed_bytes) + " of " + human_bytes(*row.memory_bytes);
}

std::string fits_cell(const place::PlacementRow& row) {
  if (!row.needed_bytes) return "";
  if (!row.fits) return "?";
  if (*row.fits) return "yes";
  return row.fits_on ? fmt::format("no; {} hold it", *row.fits_on) : "no";
}

struct PlaceColumn {
  std::string title;
  Align align;
  bool shown;
};

// What is to know of rows, those with the same told once.
std::string remarks_text(const place::Placement& placement) {
  std::map<std::pair<bool, std::string>, std::vector<std::string>> by_remark;
  for (const place::PlacementRow& row : placement.rows) {
    const bool has_time = row.time_s || row.relative_time;
    if (!row.note.empty() && (!has_time || row.basis != place::PlaceBasis::kMeasured)) {
      by_remark[{has_time, row.note}].push_back(row.device);
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

std::string table_text(const place::Placement& placement, const PlaceView& view) {
  std::vector<const place::PlacementRow*> rows;
  size_t left_out = 0;
  for (const place::PlacementRow& row : placement.rows) {
    if (!row.time_s && !row.relative_time) continue;
    const bool stays = row.is_on_front || row.basis == place::PlaceBasis::kMeasured;
    if (view.most_rows > 0 && rows.size() >= view.most_rows && !stays) {
      ++left_out;
      continue;
    }
    rows.push_back(&row);
  }
  if (rows.empty()) return "";
  const auto any = [&](auto has) {
    return std::any_of(rows.begin(), rows.end(), [&](const place::PlacementRow* row) { return has(*row); });
  };
  const bool seconds = any([](const place::PlacementRow& row) { return row.time_s.has_value(); });
  const bool energies = any([](const place::PlacementRow& row) { return row.energy_joules.has_value(); });
  const std::vector<PlaceColumn> columns = {
      {"", Align::kLeft, true},
      {"device", Align::kLeft, true},
      {"kind", Align::kLeft, true},
      {"devices", Align::kRight, any([](const place::PlacementRow& row) { return row.count > 1; })},
      {"vCPUs", Align::kRight, any([](const place::PlacementRow& row) { return row.vcpus > 0; })},
      {"rel. time", Align::kRight, any([](const place::PlacementRow& row) { return row.relative_time.has_value(); })},
      {"time", Align::kRight, seconds},
      {"90% interval", Align::kRight, seconds},
      {"transfer", Align::kRight, placement.kind == place::PlacedWorkload::kProduct},
      {"load", Align::kRight, any([](const place::PlacementRow& row) { return row.load_s.has_value(); })},
      {"J", Align::kRight, energies},
      {"power is", Align::kLeft, energies},
      {placement.currency.empty() ? "cost" : placement.currency, Align::kRight,
       any([](const place::PlacementRow& row) { return row.cost.has_value(); })},
      {"on", Align::kLeft, placement.kind == place::PlacedWorkload::kProfile && any([](const place::PlacementRow& row) {
                             return !row.instance.empty();
                           })},
      {"memory", Align::kRight, any([](const place::PlacementRow& row) { return row.needed_bytes.has_value(); })},
      {"fits", Align::kLeft, any([](const place::PlacementRow& row) { return row.needed_bytes.has_value(); })},
      {"bound", Align::kLeft, any([](const place::PlacementRow& row) { return row.bound.has_value(); })},
      {"in", Align::kLeft, any([](const place::PlacementRow& row) { return !row.precision.empty(); })},
      {"basis", Align::kLeft, true}};
  TextTable table;
  for (const PlaceColumn& column : columns) {
    if (column.shown) table.add_column(column.title, column.align);
  }
  // Times with the ends of their intervals. Devices may lie orders of magnitude apart.
  std::vector<double> times_s, transfers_s, loads_s;
  for (const place::PlacementRow* row : rows) {
    for (const auto& time_s : {row->time_s, row->lower_s, row->upper_s}) times_s.push_back(time_s.value_or(kUnknown));
    transfers_s.push_back(row->transfer_s.value_or(kUnknown));
    loads_s.push_back(row->load_s.value_or(kUnknown));
  }
  const std::vector<std::string> times = spread_seconds_column(times_s), transfers = spread_seconds_column(transfers_s),
                                 loads = spread_seconds_column(loads_s);
  for (size_t r = 0; r < rows.size(); ++r) {
    const place::PlacementRow* row = rows[r];
    const auto number = [](const std::optional<double>& value) {
      return value ? human_number(*value) : std::string("-");
    };
    const char* doubt = row->host_link_assumed ? "?" : "";
    const std::vector<std::string> all = {
        row->is_on_front ? "*" : "",
        printable(row->device),
        std::string(place::name_of(row->kind)),
        fmt::format("{:.0f}", row->count),
        row->vcpus > 0 ? fmt::format("{:.0f}", row->vcpus) : "",
        row->relative_time ? fmt::format("{:.2f}", *row->relative_time) : "-",
        times[3 * r],
        row->lower_s && row->upper_s ? times[3 * r + 1] + " to " + times[3 * r + 2] : "",
        row->kind == place::PlaceKind::kCpu ? "" : transfers[r] + doubt,
        row->kind == place::PlaceKind::kCpu ? "" : loads[r] + doubt,
        number(row->energy_joules),
        row->energy_joules ? std::string(place::name_of(row->energy_basis)) : "",
        row->cost ? money_text(*row->cost) : "-",
        printable(row->instance),
        memory_cell(*row),
        fits_cell(*row),
        row->bound ? std::string(place::name_of(*row->bound)) : "-",
        row->precision,
        std::string(place::name_of(row->basis)) + (row->meets ? "" : ", breaks a limit")};
    std::vector<std::string> cells;
    cells.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      if (columns[i].shown) cells.push_back(all[i]);
    }
    table.add_row(std::move(cells));
  }
  std::string text = "\n" + table.to_text();
  if (left_out > 0) text += fmt::format("... {} rows more: --all\n", left_out);
  return text + "*: no other row is better in everything that is known of it\n";
}

std::string break_even_text(const place::Placement& placement, const place::PlaceBreakEven& one) {
  const bool is_product = placement.kind == place::PlacedWorkload::kProduct;
  const char* size = is_product ? "longest side" : "batch";
  const char* verb = one.measure == place::PlaceMeasure::kTime     ? "is faster"
                     : one.measure == place::PlaceMeasure::kEnergy ? "needs less energy"
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

std::string placement_text(const place::Placement& placement, const PlaceView& view) {
  std::string text = printable(placement.workload);
  if (!placement.details.empty()) text += ": " + placement.details;
  text = lines(text);
  for (const std::string& note : placement.notes) text += lines("note: " + printable(note));
  text += "\n";
  text += lines("best: " + printable(join(placement.reasons, " ")));
  for (size_t i = 1; i < placement.best.size(); ++i) {
    const place::PlacementBest& best = placement.best[i];
    const place::PlacementRow& row = placement.rows[best.row];
    const double value = *row.value(best.measure);
    text += lines(fmt::format("least {}: {}{} ({})", place::name_of(best.measure),
                              row.count > 1 ? fmt::format("{:.0f} x ", row.count) : "", printable(row.device),
                              best.measure == place::PlaceMeasure::kTime     ? human_seconds(value)
                              : best.measure == place::PlaceMeasure::kEnergy ? program::in_unit(value, "J")
                              : placement.currency.empty()                   ? money_text(value)
                                                           : money_text(value) + " " + placement.currency));
  }
  text += table_text(placement, view);
  if (!placement.break_even.empty()) text += "\n";
  for (const place::PlaceBreakEven& one : placement.break_even) text += lines(break_even_text(placement, one));
  const std::string remarks = remarks_text(placement);
  return remarks.empty() ? text : text + "\n" + remarks;
}

}  // namespace perfcast::cli
