#include "cli/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

constexpr size_t kPlaceWidth = 118;
using Align = TextTable::Align;

std::string lines(const std::string& text) { return wrapped(text, kPlaceWidth, "", "  ") + "\n"; }

std::string amount(double value) { return value < 0.01 ? fmt::format("{:.3g}", value) : human_number(value); }

std::string memory_cell(const PlacementRow& row) {
  if (!row.needed_bytes) return "-";
  if (!row.memory_bytes) return human_bytes(*row.needed_bytes);
  return human_bytes(*row.needed_bytes) + " of " + human_bytes(*row.memory_bytes);
}

std::string fits_cell(const PlacementRow& row) {
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

// Rows without a time and with the same reason are told once.
std::string refusals_text(const Placement& placement) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const PlacementRow& row : placement.rows) {
    if (!row.time_s && !row.relative_time) by_reason[row.note].push_back(row.device);
  }
  std::string text;
  constexpr size_t kNamed = 3;
  for (const auto& [reason, devices] : by_reason) {
    const size_t named = std::min(kNamed, devices.size());
    std::string names = join({devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(named)}, ", ");
    if (devices.size() > named) names += fmt::format(" and {} more", devices.size() - named);
    text += lines(fmt::format("without a forecast: {}: {}", printable(names), printable(reason)));
  }
  return text;
}

std::string table_text(const Placement& placement, const PlaceView& view) {
  std::vector<const PlacementRow*> rows;
  size_t left_out = 0;
  for (const PlacementRow& row : placement.rows) {
    if (!row.time_s && !row.relative_time) continue;
    const bool stays = row.is_on_front || row.basis == PlaceBasis::kMeasured;
    if (view.most_rows > 0 && rows.size() >= view.most_rows && !stays) {
      ++left_out;
      continue;
    }
    rows.push_back(&row);
  }
  if (rows.empty()) return "";
  const auto any = [&](auto has) {
    return std::any_of(rows.begin(), rows.end(), [&](const PlacementRow* row) { return has(*row); });
  };
  const bool seconds = any([](const PlacementRow& row) { return row.time_s.has_value(); });
  const std::vector<PlaceColumn> columns = {
      {"", Align::kLeft, true},
      {"device", Align::kLeft, true},
      {"kind", Align::kLeft, true},
      {"devices", Align::kRight, any([](const PlacementRow& row) { return row.count > 1; })},
      {"vCPUs", Align::kRight, any([](const PlacementRow& row) { return row.vcpus > 0; })},
      {"rel. time", Align::kRight, any([](const PlacementRow& row) { return row.relative_time.has_value(); })},
      {"time", Align::kRight, seconds},
      {"90% interval", Align::kRight, seconds},
      {"transfer", Align::kRight, placement.kind == PlacedWorkload::kProduct},
      {"load", Align::kRight, any([](const PlacementRow& row) { return row.load_s.has_value(); })},
      {"J", Align::kRight, any([](const PlacementRow& row) { return row.energy_joules.has_value(); })},
      {placement.currency.empty() ? "cost" : placement.currency, Align::kRight,
       any([](const PlacementRow& row) { return row.cost.has_value(); })},
      {"memory", Align::kRight, any([](const PlacementRow& row) { return row.needed_bytes.has_value(); })},
      {"fits", Align::kLeft, any([](const PlacementRow& row) { return row.needed_bytes.has_value(); })},
      {"bound", Align::kLeft, any([](const PlacementRow& row) { return row.bound.has_value(); })},
      {"in", Align::kLeft, any([](const PlacementRow& row) { return !row.precision.empty(); })},
      {"basis", Align::kLeft, true}};
  TextTable table;
  for (const PlaceColumn& column : columns) {
    if (column.shown) table.add_column(column.title, column.align);
  }
  for (const PlacementRow* row : rows) {
    const auto time = [](const std::optional<double>& value) { return value ? human_seconds(*value) : std::string("-"); };
    const auto number = [](const std::optional<double>& value) { return value ? amount(*value) : std::string("-"); };
    const std::vector<std::string> all = {
        row->is_on_front ? "*" : "",
        printable(row->device),
        std::string(name_of(row->kind)),
        fmt::format("{:.0f}", row->count),
        row->vcpus > 0 ? fmt::format("{:.0f}", row->vcpus) : "",
        row->relative_time ? fmt::format("{:.2f}", *row->relative_time) : "-",
        time(row->time_s),
        row->lower_s && row->upper_s ? time(row->lower_s) + " to " + time(row->upper_s) : "",
        row->kind == PlaceKind::kCpu ? "" : time(row->transfer_s),
        row->kind == PlaceKind::kCpu ? "" : time(row->load_s),
        number(row->energy_joules),
        number(row->cost),
        memory_cell(*row),
        fits_cell(*row),
        row->bound ? std::string(name_of(*row->bound)) : "-",
        row->precision,
        std::string(name_of(row->basis)) + (row->meets ? "" : ", breaks a limit")};
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

std::string break_even_text(const Placement& placement, const PlaceBreakEven& one) {
  const bool is_product = placement.kind == PlacedWorkload::kProduct;
  const char* size = is_product ? "longest side" : "batch";
  const char* verb = one.measure == PlaceMeasure::kTime     ? "is faster"
                     : one.measure == PlaceMeasure::kEnergy ? "needs less energy"
                                                            : "costs less";
  const std::string limit =
      one.limited_by.empty() ? fmt::format("{} {}", size, one.most)
                             : fmt::format("{} {}, all that {} holds", size, one.most, one.limited_by);
  if (!one.at) {
    return fmt::format("break-even: never within limits: {} {} than {} up to {}", one.first, verb, one.second, limit);
  }
  std::string text = fmt::format("break-even: {} {} below {} {}, {} from there up to {}", one.first, verb, size, *one.at,
                                 one.second, limit);
  if (one.crossings_count > 1) text += fmt::format("; it changes {} times", one.crossings_count);
  return text;
}

}  // namespace

std::string placement_text(const Placement& placement, const PlaceView& view) {
  std::string text = printable(placement.workload);
  if (!placement.details.empty()) text += ": " + placement.details;
  text = lines(text);
  for (const std::string& note : placement.notes) text += lines("note: " + printable(note));
  text += "\n";
  if (!placement.best.empty()) text += lines("best: " + printable(join(placement.reasons, " ")));
  for (size_t i = 1; i < placement.best.size(); ++i) {
    const PlacementBest& best = placement.best[i];
    const PlacementRow& row = placement.rows[best.row];
    const double value = *row.value(best.measure);
    text += lines(fmt::format("least {}: {}{} ({})", name_of(best.measure),
                              row.count > 1 ? fmt::format("{:.0f} x ", row.count) : "", printable(row.device),
                              best.measure == PlaceMeasure::kTime     ? human_seconds(value)
                              : best.measure == PlaceMeasure::kEnergy ? human_number(value) + "J"
                                                                      : amount(value) + " " + placement.currency));
  }
  text += table_text(placement, view);
  if (!placement.break_even.empty()) text += "\n";
  for (const PlaceBreakEven& one : placement.break_even) text += lines(break_even_text(placement, one));
  const std::string refusals = refusals_text(placement);
  return refusals.empty() ? text : text + "\n" + refusals;
}

}  // namespace perfcast
