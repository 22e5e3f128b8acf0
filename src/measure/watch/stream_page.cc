#include "measure/watch/stream_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr double kLeft = 90, kRight = 980, kTop = 34, kBottom = 190, kHeight = 236;
constexpr double kLeastWidth = 3;  // of an incident, in pixels
constexpr size_t kMostPictures = 40;
constexpr const char* kStyle =
    "svg .incident{stroke:none;fill-opacity:.28}svg .minor{fill:#e6a700}svg .major{fill:#e06c00}"
    "svg .critical{fill:#c81e1e}svg .range{stroke:none;fill:var(--s0);fill-opacity:.55}";

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string incident_name(const std::string& group, uint64_t id) {
  return (group.empty() ? "" : printable(group) + " ") + "#" + std::to_string(id);
}

}  // namespace

void StreamPage::merge_pairs(Group& group) {
  std::vector<Stretch> merged;
  for (size_t i = 0; i < group.stretches.size(); i += 2) {
    Stretch both = std::move(group.stretches[i]);
    if (i + 1 < group.stretches.size()) {
      const Stretch& next = group.stretches[i + 1];
      both.to_s = next.to_s;
      both.ranges.resize(std::max(both.ranges.size(), next.ranges.size()));
      for (size_t j = 0; j < next.ranges.size(); ++j) {
        both.ranges[j].low = std::min(both.ranges[j].low, next.ranges[j].low);
        both.ranges[j].high = std::max(both.ranges[j].high, next.ranges[j].high);
      }
    }
    merged.push_back(std::move(both));
  }
  // The last one may hold one stretch alone: it goes on.
  if (group.stretches.size() % 2 == 0) group.rows_in_last += group.rows_in_each;
  group.rows_in_each *= 2;
  group.stretches = std::move(merged);
}

void StreamPage::add_rows(const RowBlock& block) {
  names_ = block.names();
  while (groups_.size() < block.group_names().size())
    groups_.push_back({block.group_names()[groups_.size()], 1, 0, {}});
  for (size_t r = 0; r < block.rows(); ++r) {
    Group& group = groups_[block.groups()[r]];
    if (group.stretches.empty() || group.rows_in_last >= group.rows_in_each) {
      if (group.stretches.size() >= kMostStretches) merge_pairs(group);
      if (group.rows_in_last >= group.rows_in_each || group.stretches.empty()) {
        group.stretches.push_back({block.time_s()[r], block.time_s()[r], {}});
        group.rows_in_last = 0;
      }
    }
    Stretch& last = group.stretches.back();
    ++group.rows_in_last;
    last.to_s = std::max(last.to_s, block.time_s()[r]);
    last.ranges.resize(names_.size());
    for (size_t j = 0; j < names_.size(); ++j) {
      const double value = block.row(r)[j];
      if (std::isnan(value)) continue;
      last.ranges[j].low = std::min(last.ranges[j].low, value);
      last.ranges[j].high = std::max(last.ranges[j].high, value);
    }
  }
}

void StreamPage::add_alert(const Alert& alert, const std::vector<std::string>& names) {
  const auto same = [&](const Incident& of) { return of.id == alert.id && of.group == alert.group; };
  auto of = std::find_if(incidents_.rbegin(), incidents_.rend(), same);
  if (of == incidents_.rend()) {
    if (incidents_.size() >= kMostIncidents) {
      left_out_ += alert.state == AlertState::kOpen && !alert.worse ? 1 : 0;
      return;
    }
    incidents_.push_back({alert.group,
                          alert.id,
                          alert.since_s,
                          alert.time_s,
                          true,
                          false,
                          alert.provisional,
                          alert.severity,
                          {},
                          alert_text(alert, names),
                          ""});
    of = incidents_.rbegin();
  }
  of->severity = std::max(of->severity, alert.severity);
  for (const AlertMetric& metric : alert.metrics) {
    if (std::find(of->columns.begin(), of->columns.end(), metric.column) == of->columns.end())
      of->columns.push_back(metric.column);
  }
  of->to_s = std::max(of->to_s, alert.time_s);
  if (alert.state == AlertState::kOpen) return;
  of->open = false;
  of->change = alert.kind == AlertKind::kChange;
  if (!of->change) of->to_s = alert.since_s + alert.duration_s;
  of->closing = alert_text(alert, names);
}

std::string StreamPage::picture(const Group& group, size_t column, size_t number) const {
  const std::vector<Stretch>& stretches = group.stretches;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const Stretch& stretch : stretches) {
    if (column >= stretch.ranges.size()) continue;
    low = std::min(low, stretch.ranges[column].low);
    high = std::max(high, stretch.ranges[column].high);
  }
  const std::string title = (group.name.empty() ? "" : group.name + ": ") + names_[column];
  SvgCanvas canvas("metric" + std::to_string(number), kFigureWidth, kHeight, title, "values over time, with incidents");
  canvas.text(kLeft, 20, fitted(title, kRight - kLeft, kBoldPx), "panel");
  const double start_s = stretches.front().from_s;
  const double length_s = std::max(stretches.back().to_s - start_s, 1e-9);
  const bool in_days = length_s > 2 * 86400;
  const bool in_hours = length_s > 7200;
  const double unit_s = in_days ? 86400 : in_hours ? 3600 : 60;
  const Scale x = Scale::linear(0, length_s / unit_s, kLeft, kRight);
  const Scale y = Scale::linear(low, high, kBottom, kTop);
  const auto at = [&](double time_s) { return x.at((time_s - start_s) / unit_s); };
  draw_x_axis(canvas, x, kTop, kBottom,
              fmt::format("{} since {}",
                          in_days    ? "days"
                          : in_hours ? "hours"
                                     : "minutes",
                          time_text(start_s)),
              number_text);
  draw_y_axis(canvas, y, kLeft, kRight, "", number_text);
  for (const Incident& incident : incidents_) {
    if (incident.group != group.name) continue;
    const bool named = std::find(incident.columns.begin(), incident.columns.end(), column) != incident.columns.end();
    if (!named) continue;
    const double from = at(incident.from_s);
    const double to = at(incident.open ? stretches.back().to_s : incident.to_s);
    canvas.rectangle(from, kTop, std::max(to - from, kLeastWidth), kBottom - kTop,
                     std::string("incident ") + to_text(incident.severity),
                     incident_name(incident.group, incident.id) + ", " + to_text(incident.severity));
  }
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (column >= stretches[i].ranges.size()) continue;
    const Range& range = stretches[i].ranges[column];
    if (!(range.low <= range.high)) continue;
    const double from = at(stretches[i].from_s);
    const double to = i + 1 < stretches.size() ? at(stretches[i + 1].from_s) : at(stretches[i].to_s);
    canvas.rectangle(from, y.at(range.high) - 0.6, std::max(to - from, 0.9), y.at(range.low) - y.at(range.high) + 1.2,
                     "range");
  }
  return canvas.to_svg();
}

std::string StreamPage::incidents_html() const {
  std::string lines;
  for (const Incident& incident : incidents_) {
    lines += incident.opening + "\n";
    lines += "    " + (incident.open ? "still unusual at the end of the stream" : incident.closing) + "\n";
  }
  return preformatted_html(lines);
}

std::string StreamPage::to_html(const std::string& source, const std::vector<std::string>& summary) const {
  Page page;
  page.title = "Incidents in " + printable(source);
  const size_t changes = static_cast<size_t>(
      std::count_if(incidents_.begin(), incidents_.end(), [](const Incident& incident) { return incident.change; }));
  page.lead = incidents_.empty() ? "Nothing unusual was found."
                                 : fmt::format("{} incident{} found; {} of them turned out to be a change that lasts.",
                                               incidents_.size() + left_out_,
                                               incidents_.size() + left_out_ == 1 ? " was" : "s were", changes);
  page.style = kStyle;
  Figure figure;
  figure.id = "metrics";
  figure.title = "Metrics that were unusual";
  figure.caption =
      "Blue: the metric, from its lowest to its highest value in each stretch of time. Coloured: incidents in which it "
      "was unusual; yellow is minor, orange major, red critical. Point at one for its number.";
  figure.csv = csv_line({"group", "incident", "severity", "from", "to", "state"});
  std::vector<std::pair<std::string, size_t>> drawn;
  for (const Incident& incident : incidents_) {
    figure.csv += csv_line({incident.group, std::to_string(incident.id), to_text(incident.severity),
                            time_text(incident.from_s), incident.open ? "" : time_text(incident.to_s),
                            incident.open     ? "open"
                            : incident.change ? "change"
                                              : "over"});
    for (const size_t column : incident.columns) {
      const std::pair<std::string, size_t> key{incident.group, column};
      if (drawn.size() < kMostPictures && std::find(drawn.begin(), drawn.end(), key) == drawn.end())
        drawn.push_back(key);
    }
  }
  // A stream without incidents has its metrics drawn, too.
  for (size_t g = 0; incidents_.empty() && g < groups_.size(); ++g) {
    for (size_t j = 0; j < names_.size() && drawn.size() < kMostPictures; ++j) drawn.emplace_back(groups_[g].name, j);
  }
  for (const auto& [name, column] : drawn) {
    const auto group =
        std::find_if(groups_.begin(), groups_.end(), [&wanted = name](const Group& of) { return of.name == wanted; });
    if (group == groups_.end() || group->stretches.empty()) continue;
    figure.images.push_back(picture(*group, column, figure.images.size()));
  }
  page.figures.push_back(std::move(figure));
  page.figures_first = true;
  if (!incidents_.empty()) page.sections.push_back({"incidents", "Incidents", incidents_html()});
  std::string notes;
  for (const std::string& line : summary) notes += line + "\n";
  page.sections.push_back({"stream", "The stream", preformatted_html(notes)});
  return html_page(page);
}

}  // namespace perfcast::measure
