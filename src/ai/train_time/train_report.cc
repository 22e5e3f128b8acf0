#include "ai/train_time/train_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kTextWidth = 120;

std::string seconds_text(const std::optional<double>& time_s) { return time_s ? training_time_text(*time_s) : "-"; }

std::string counted(size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string side_of(const TrainReport& report) { return report.comparison.request.rule.lower_is_better ? "<=" : ">="; }

// Columns of the systems, in the order of JSON.
ReportTable systems_table(const TrainReport& report) {
  using enum Quantity;
  using System = SystemTime;
  const auto seconds = [](const char* name, const char* title, std::optional<double> TrainingScore::*of) {
    return ColumnOf<System>(
        name, title, kSeconds, [of](const System& system) { return system.score.*of; },
        [of](const System& system) { return seconds_text(system.score.*of); });
  };
  return table_of<System>(
      "", report.comparison.systems,
      {{"name", "system", kText, &System::name},
       {"command", "", kText,
        [&](const System& system) {
          const auto command = report.commands.find(system.name);
          return command == report.commands.end() ? ReportValue() : ReportValue(command->second);
        }},
       {"", "seeds", kCount, [](const System& system) { return system.seeds.size(); }},
       seconds("score_s", "score", &TrainingScore::mean_s),
       {"score_rule", "the score is", kText, [](const System& system) { return system.score.rule; }},
       {"trimmed", "", kYes, [](const System& system) { return system.score.is_trimmed; }},
       {"reached", "reached", kCount, [](const System& system) { return system.score.runs - system.score.unfinished; }},
       {"never_reached", "", kCount, [](const System& system) { return system.score.unfinished; }},
       {"not_counted", "", kCount, &System::interrupted},
       seconds("fastest_s", "fastest", &TrainingScore::fastest_s),
       seconds("median_s", "median", &TrainingScore::median_s),
       seconds("slowest_s", "slowest", &TrainingScore::slowest_s),
       {"deviation_ratio", "deviation", kShare, [](const System& system) { return system.score.deviation_ratio; }, 1},
       {"seems_buffered", "", kYes, &System::seems_buffered}});
}

std::string systems_text(const TrainReport& report) {
  ReportTable table = picked(systems_table(report), {"name", "seeds", "reached", "score_s", "fastest_s", "median_s",
                                                     "slowest_s", "deviation_ratio", "score_rule"});
  table.shows_unknown = true;
  return rows_text(table);
}

std::string seed_problem(const TrainReport& report, const SystemTime& system, const SeedTime& seed) {
  std::string text = fmt::format("{}, seed {}: ", printable(system.name), seed.seed);
  if (!seed.time_s) {
    text += seed.counts ? fmt::format("never reached {:g}", report.comparison.request.threshold)
                        : "ended before it reached the threshold, and isn't counted";
    if (seed.best) text += fmt::format("; at best {:.6g}", *seed.best);
    text += " in " + counted(seed.readings, "evaluation");
    if (seed.last_reading_s) text += ", the last after " + training_time_text(*seed.last_reading_s);
  } else {
    text += "reached it";
  }
  if (seed.state != TrainRunState::kDone && seed.state != TrainRunState::kImported) {
    text += fmt::format("; the run: {}", name_of(seed.state));
    if (!seed.why.empty()) text += ", " + printable(seed.why);
  }
  if (seed.not_finite > 0) text += "; no number: " + counted(seed.not_finite, "evaluation");
  return text;
}

std::string seeds_text(const TrainReport& report) {
  std::string text;
  for (const SystemTime& system : report.comparison.systems) {
    for (const SeedTime& seed : system.seeds) {
      const bool ended = seed.state == TrainRunState::kDone || seed.state == TrainRunState::kImported;
      if (seed.time_s && ended && seed.not_finite == 0) continue;
      text += wrapped(seed_problem(report, system, seed), kTextWidth, "", "  ") + "\n";
    }
    if (system.seems_buffered) {
      text += wrapped(printable(system.name) +
                          ": all its metric lines came at the end of the run, because it buffers its output. So their "
                          "times are wrong. Make it flush each line (Python: flush=True; others: stdbuf -oL).",
                      kTextWidth, "", "  ") +
              "\n";
    }
  }
  return text.empty() ? text : "\n" + text;
}

std::string energy_text(const TrainReport& report) {
  std::string text;
  for (const SystemTime& system : report.comparison.systems) {
    for (const MeterTotal& meter : system.meters) {
      text += fmt::format("{}, {} ({}): ", printable(system.name), printable(meter.name), printable(meter.covers));
      text += meter.energy_joules ? fmt::format("{}J per training, idle power included, mean of {}\n",
                                                human_number(*meter.energy_joules), counted(meter.runs, "whole run"))
                                  : "no joules: " + printable(meter.why_missing) + "\n";
    }
  }
  if (text.empty() && !report.no_meter.empty()) {
    text = "no meter:\n";
    for (const std::string& why : report.no_meter) text += wrapped(printable(why), kTextWidth, "  ", "    ") + "\n";
  }
  return text.empty() ? text : "\nenergy\n" + text;
}

std::string name_or_nobody(const TrainComparison& comparison, const std::optional<size_t>& system) {
  return system ? printable(comparison.systems[*system].name) : "nobody";
}

std::string orders_text(const TrainReport& report) {
  const TrainComparison& comparison = report.comparison;
  if (comparison.orders.empty()) return "";
  TextTable table;
  table.add_column(fmt::format("{} {}", printable(report.metric), side_of(report)), TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  for (const SystemTime& system : comparison.systems)
    table.add_column(printable(system.name), TextTable::Align::kRight);
  table.add_column("fastest", TextTable::Align::kLeft);
  table.add_column("lead", TextTable::Align::kRight);
  table.add_column("stays so", TextTable::Align::kRight);
  for (size_t i = 0; i < comparison.orders.size(); ++i) {
    const ThresholdOrder& order = comparison.orders[i];
    std::vector<std::string> cells = {fmt::format("{:.6g}", order.threshold), comparison.at_threshold == i ? "*" : ""};
    for (const auto& time_s : order.score_s) cells.push_back(seconds_text(time_s));
    cells.push_back(name_or_nobody(comparison, order.fastest));
    cells.push_back(order.lead_ratio ? fmt::format("{:.2f}x", *order.lead_ratio) : "-");
    cells.push_back(order.share ? fmt::format("{:.0f}%", 100 * *order.share) : "-");
    table.add_row(std::move(cells));
  }
  std::string text = "\nhow the order depends on the threshold (*: your threshold)\n" + table.to_text();
  text += wrapped(
              "lead: the score of the second-fastest system over that of the fastest. stays so: how often the same "
              "system is the fastest if the seeds are drawn again (2000 times).",
              kTextWidth) +
          "\n";
  if (comparison.changes.empty()) text += "the fastest is the same at all of these thresholds\n";
  for (const OrderChange& change : comparison.changes) {
    text += fmt::format("between {:.6g} and {:.6g} the fastest changes from {} to {}\n", change.from, change.to,
                        name_or_nobody(comparison, change.before), name_or_nobody(comparison, change.after));
  }
  return text;
}

Json seed_json(const SeedTime& seed) {
  Json json = {{"seed", seed.seed}, {"reached", seed.time_s.has_value()}};
  put_known(json, "time_s", seed.time_s);
  put_known(json, "best", seed.best);
  json["state"] = name_of(seed.state);
  json["counts"] = seed.counts;
  if (!seed.why.empty()) json["why"] = seed.why;
  put_known(json, "wall_s", seed.wall_s);
  json["evaluations"] = seed.readings;
  json["not_finite"] = seed.not_finite;
  return json;
}

void put_runs(Json& json, const SystemTime& system) {
  Json& seeds = json["seeds"] = Json::array();
  for (const SeedTime& seed : system.seeds) seeds.push_back(seed_json(seed));
  Json& meters = json["meters"] = Json::array();
  for (const MeterTotal& meter : system.meters) {
    Json entry = {{"name", meter.name}, {"covers", meter.covers}, {"runs", meter.runs}};
    put_known(entry, "energy_joules", meter.energy_joules);
    if (!meter.why_missing.empty()) entry["missing"] = meter.why_missing;
    meters.push_back(std::move(entry));
  }
}

}  // namespace

std::string training_time_text(double time_s) {
  constexpr double kMinute_s = 60, kHour_s = 3600, kDay_s = 86400, kShort_s = 600;
  if (time_s < kShort_s) return human_seconds(time_s);
  if (time_s < kHour_s) return fmt::format("{:.1f} min", time_s / kMinute_s);
  const bool long_one = time_s >= kDay_s;
  const double large_s = long_one ? kDay_s : kHour_s, small_s = long_one ? kHour_s : kMinute_s;
  const double small = std::round(time_s / small_s), per_large = large_s / small_s;
  return fmt::format("{:.0f} {} {:.0f} {}", std::floor(small / per_large), long_one ? "d" : "h",
                     std::fmod(small, per_large), long_one ? "h" : "min");
}

std::string train_report_text(const TrainReport& report) {
  const TrainRequest& request = report.comparison.request;
  std::string text = fmt::format("time to {} {} {:g}; rule {}: {}\n", printable(report.metric), side_of(report),
                                 request.threshold, rule_name(request.rule), rule_in_words(request.rule));
  if (!report.benchmark.empty()) {
    text += wrapped("benchmark: " + printable(report.benchmark + ", " + report.quality), kTextWidth, "", "  ") + "\n";
  }
  text += "\n";
  text += systems_text(report) + seeds_text(report) + orders_text(report) + energy_text(report);
  for (const std::string& note : report.notes) text += wrapped("note: " + note, kTextWidth, "", "  ") + "\n";
  if (!report.record.empty()) text += "every evaluation is in " + printable(report.record) + "\n";
  return text;
}

Json train_report_json(const TrainReport& report) {
  const TrainComparison& comparison = report.comparison;
  Json json = {
      {"schema", "perfcast.bench.train/1"},         {"metric", report.metric},
      {"threshold", comparison.request.threshold},  {"lower_is_better", comparison.request.rule.lower_is_better},
      {"rule", rule_name(comparison.request.rule)}, {"rule_in_words", rule_in_words(comparison.request.rule)}};
  if (!report.benchmark.empty()) {
    json["benchmark"] = report.benchmark;
    json["quality"] = report.quality;
  }
  Json& systems = json["systems"] = rows_json(systems_table(report));
  for (size_t i = 0; i < systems.size(); ++i) put_runs(systems[i], comparison.systems[i]);
  Json& orders = json["thresholds"] = Json::array();
  for (const ThresholdOrder& order : comparison.orders) {
    Json entry = {{"threshold", order.threshold}};
    for (size_t i = 0; i < comparison.systems.size(); ++i) {
      Json own = {{"system", comparison.systems[i].name}, {"reached", order.reached[i]}};
      put_known(own, "score_s", order.score_s[i]);
      entry["scores"].push_back(std::move(own));
    }
    if (order.fastest) entry["fastest"] = comparison.systems[*order.fastest].name;
    put_known(entry, "lead_ratio", order.lead_ratio);
    put_known(entry, "share_of_resamples", order.share);
    orders.push_back(std::move(entry));
  }
  Json& changes = json["order_changes"] = Json::array();
  for (const OrderChange& change : comparison.changes) {
    Json entry = {{"from_threshold", change.from}, {"to_threshold", change.to}};
    if (change.before) entry["before"] = comparison.systems[*change.before].name;
    if (change.after) entry["after"] = comparison.systems[*change.after].name;
    changes.push_back(std::move(entry));
  }
  json["no_meter"] = report.no_meter;
  json["notes"] = report.notes;
  if (!report.record.empty()) json["record"] = report.record;
  return json;
}

}  // namespace perfcast::ai
