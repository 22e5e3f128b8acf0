#include "measure/tune/report/tuning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

const KnobValue* value_at(const Tuning& tuning, const Setting& setting, size_t knob) {
  return setting[knob] == kNotInPlay ? nullptr : &tuning.knobs[knob].values[static_cast<size_t>(setting[knob])];
}

std::string cell_of(const KnobValue* value) {
  return value == nullptr ? "-" : value->text.empty() ? "''" : printable(value->text);
}

Json json_of(const KnobValue& value) {
  if (value.text == "true" || value.text == "false") return value.text == "true";
  if (!value.number) return value.text;
  if (*value.number == std::floor(*value.number) && std::abs(*value.number) < 1e15)
    return static_cast<int64_t>(*value.number);
  return *value.number;
}

Json json_of(const Tuning& tuning, const Setting& setting) {
  Json json = Json::object();
  for (size_t knob = 0; knob < tuning.knobs.size(); ++knob) {
    if (const KnobValue* value = value_at(tuning, setting, knob); value != nullptr)
      json[tuning.knobs[knob].name] = json_of(*value);
  }
  return json;
}

std::string gain_line(const Tuning& tuning) {
  const bool replayed = tuning.command.empty();
  if (!tuning.best) return "no setting that was tried can be used";
  if (tuning.best == tuning.standard && tuning.tried.size() == 1)
    return "only the default was tried: --time-limit or --trials allowed no more";
  if (tuning.best == tuning.standard)
    return "no setting was found that is better than the default" + (tuning.rival.empty() ? "" : "; " + tuning.rival);
  const std::string values = fmt::format(
      "{} to {}", tuning.default_value ? objective_value_text(*tuning.default_value, tuning.objective) : "-",
      tuning.best_value ? objective_value_text(*tuning.best_value, tuning.objective) : "-");
  if (replayed) return fmt::format("{:.3f} times as fast as the median setting ({})", tuning.gain, values);
  if (!tuning.lower)
    return fmt::format("{:.3f} times as good as the default by the search alone ({}): the last comparison did not end",
                       tuning.gain, values);
  const std::string interval =
      fmt::format("{:.3f} .. {:.3f}, {} pairs in turns", *tuning.lower, *tuning.upper, tuning.pairs);
  if (!tuning.significant)
    return fmt::format("no clear gain: {:.3f} times as good as the default (95% interval {})", tuning.gain, interval);
  if (tuning.gain < 1)
    return fmt::format("worse than the default when measured afresh: {:.3f} times as good (95% interval {})",
                       tuning.gain, interval);
  const char* good = tuning.objective.measure == ObjectiveMeasure::kPrinted ? "good" : "fast";
  return fmt::format("{:.3f} times as {} as the default (95% interval {}): {}", tuning.gain, good, interval, values);
}

// What the gain may cost. Empty: the best prints what the default prints, or nobody looked.
std::string output_line(const Tuning& tuning) {
  if (!tuning.output || tuning.output->is_same) return "";
  const OutputComparison& output = *tuning.output;
  constexpr double kSameSize = 0.001;  // of what prints other things each time
  const double ratio = output.default_bytes > 0 ? output.best_bytes / output.default_bytes : 0;
  const bool is_same_size =
      output.default_repeats ? output.best_bytes == output.default_bytes : std::abs(ratio - 1) <= kSameSize;
  if (is_same_size && !output.default_repeats) return "";
  std::string text = is_same_size ? "its output has the same size as the default's, but other content"
                                  : fmt::format("its output is {} than the default's: {} to {}",
                                                output.best_bytes > output.default_bytes ? "larger" : "smaller",
                                                human_bytes(output.default_bytes), human_bytes(output.best_bytes));
  if (!is_same_size && ratio > 0) text += fmt::format(" ({:+.1f}%)", 100 * (ratio - 1));
  return text + (output.default_repeats ? "" : "; but the default prints something else each time, too");
}

std::string trials_line(const Tuning& tuning) {
  std::string text = fmt::format("{} of {}{:.6g} settings tried", tuning.tried.size(),
                                 tuning.points_listed ? "" : "a grid of ", tuning.points);
  std::map<std::string, size_t> states;
  for (const TriedPoint& point : tuning.tried) {
    if (!point.value) ++states[tuning.command.empty() ? "not valid" : name_of(point.state)];
  }
  for (const auto& [state, count] : states) text += fmt::format(", {} {}", count, state);
  if (!tuning.command.empty()) text += fmt::format("; {} runs in {:.0f} s", tuning.runs, tuning.spent_s);
  return text + " (" + name_of(tuning.strategy) + fmt::format(", seed {})", tuning.seed);
}

// What went wrong, each reason once.
std::string failures_text(const Tuning& tuning) {
  std::map<std::string, size_t> reasons;
  for (const TriedPoint& point : tuning.tried) {
    if (!point.value && !tuning.command.empty()) ++reasons[printable(point.why).substr(0, 150)];
  }
  std::vector<std::pair<size_t, std::string>> order;
  order.reserve(reasons.size());
  for (const auto& [why, count] : reasons) order.emplace_back(count, why);
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(order.size(), 3); ++i)
    text += fmt::format("  {} time{}: {}\n", order[i].first, order[i].first == 1 ? "" : "s", order[i].second);
  return text.empty() ? "" : "\nsettings that can't be used:\n" + text;
}

std::vector<size_t> report_trials(size_t trials, size_t points) {
  std::vector<size_t> at;
  for (const double share : {0.01, 0.02, 0.05, 0.1, 0.2}) {
    const auto count = static_cast<size_t>(share * static_cast<double>(points));
    if (count > 0 && count < trials) at.push_back(count);
  }
  at.push_back(trials);
  return at;
}

struct ReplayRow {
  std::string strategy;
  size_t trials = 0;
  double evaluated_share = 0;
  ReplayScore score;
  std::optional<double> seconds_per_seed;  // of all of its trials
};

ReportTable replay_table(const RecordedSpace& space, const Replay& replay) {
  std::vector<ReplayRow> rows;
  const size_t points = space.points.size();
  for (const ReplayedStrategy& strategy : replay.strategies) {
    for (const size_t trials : report_trials(replay.trials, points)) {
      rows.push_back({name_of(strategy.kind), trials, static_cast<double>(trials) / static_cast<double>(points),
                      score_after(replay, strategy, trials), std::nullopt});
    }
    rows.back().seconds_per_seed = strategy.spent_s / static_cast<double>(strategy.searches.size());
  }
  using Q = Quantity;
  using Row = ReplayRow;
  return table_of<Row>(
      "", rows,
      {{"strategy", "strategy", Q::kText, &Row::strategy},
       {"trials", "trials", Q::kCount, &Row::trials},
       {"evaluated_share", "of the space", Q::kShare, &Row::evaluated_share, 1},
       {"mean_over_optimum_ratio", "best over optimum, mean", Q::kNumber,
        [](const Row& row) { return row.score.mean_ratio; }, 3},
       {"median_over_optimum_ratio", "median", Q::kNumber, [](const Row& row) { return row.score.median_ratio; }, 3},
       {"worst_over_optimum_ratio", "worst", Q::kNumber, [](const Row& row) { return row.score.worst_ratio; }, 3},
       {"within_5_percent_share", "seeds within 5%", Q::kShare, [](const Row& row) { return row.score.within_share; },
        0},
       {"", "s per seed", Q::kNumber, &Row::seconds_per_seed, 2}});
}

}  // namespace

std::string objective_value_text(double value, const Objective& objective) {
  return objective.measure == ObjectiveMeasure::kPrinted ? human_number(value) : human_seconds(value);
}

std::string tuning_text(const Tuning& tuning) {
  std::string text;
  if (!tuning.command.empty()) text += "command: " + printable(join(tuning.command, " ")) + "\n";
  text += "space: " + printable(tuning.source) + "\n" + trials_line(tuning) + "\n\n";
  text += wrapped(gain_line(tuning), 120) + "\n";
  if (const std::string output = output_line(tuning); !output.empty()) text += wrapped(output, 120) + "\n";
  text += "\n";
  if (tuning.best) {
    std::vector<size_t> order(tuning.knobs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (!tuning.importance.empty())
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return tuning.importance[a] > tuning.importance[b]; });
    TextTable table;
    table.add_column("knob", TextTable::Align::kLeft);
    table.add_column("best", TextTable::Align::kRight);
    if (tuning.standard) table.add_column("default", TextTable::Align::kRight);
    if (!tuning.importance.empty()) table.add_column("importance", TextTable::Align::kRight);
    for (const size_t knob : order) {
      std::vector<std::string> row = {printable(tuning.knobs[knob].name),
                                      cell_of(value_at(tuning, tuning.tried[*tuning.best].setting, knob))};
      if (tuning.standard) row.push_back(cell_of(value_at(tuning, tuning.tried[*tuning.standard].setting, knob)));
      if (!tuning.importance.empty()) row.push_back(fmt::format("{:.1f}%", 100 * tuning.importance[knob]));
      table.add_row(std::move(row));
    }
    text += table.to_text();
  }
  text += failures_text(tuning);
  for (const std::string& note : tuning.notes) text += "\n" + wrapped("note: " + printable(note), 120) + "\n";
  return text;
}

Json tuning_json(const Tuning& tuning) {
  Json json = {{"schema", kTuningSchema}};
  if (tuning.best) json["best"] = json_of(tuning, tuning.tried[*tuning.best].setting);
  if (tuning.standard) json["default"] = json_of(tuning, tuning.tried[*tuning.standard].setting);
  const bool is_time = tuning.objective.measure != ObjectiveMeasure::kPrinted;
  json["objective"] = tuning.objective.measure == ObjectiveMeasure::kWall ? "wall_s" : is_time ? "cpu_s" : "printed";
  if (!is_time) json["direction"] = tuning.objective.maximise ? "maximise" : "minimise";
  if (tuning.default_value) json[is_time ? "default_s" : "default_value"] = *tuning.default_value;
  if (tuning.best_value) json[is_time ? "best_s" : "best_value"] = *tuning.best_value;
  if (tuning.best) json["gain"] = tuning.gain;
  if (tuning.lower) json["lower"] = *tuning.lower;
  if (tuning.upper) json["upper"] = *tuning.upper;
  if (tuning.lower) json["significant"] = tuning.significant;
  json["pairs"] = tuning.pairs;
  if (tuning.output) {
    json["output"] = {{"default_bytes", tuning.output->default_bytes},
                      {"best_bytes", tuning.output->best_bytes},
                      {"same", tuning.output->is_same},
                      {"default_repeats", tuning.output->default_repeats}};
  }
  json["trials"] = tuning.tried.size();
  json["failed_trials"] = tuning.failed_trials();
  json["points"] = tuning.points;
  json["points_listed"] = tuning.points_listed;
  json["strategy"] = name_of(tuning.strategy);
  json["seed"] = tuning.seed;
  json["importance"] = Json::object();
  for (size_t knob = 0; knob < tuning.importance.size(); ++knob)
    json["importance"][tuning.knobs[knob].name] = tuning.importance[knob];
  json["source"] = tuning.source;
  if (!tuning.command.empty()) {
    json["command"] = tuning.command;
    json["runs"] = tuning.runs;
    json["spent_s"] = tuning.spent_s;
  }
  json["tried"] = Json::array();
  for (const TriedPoint& point : tuning.tried) {
    Json row = {{"knobs", json_of(tuning, point.setting)}};
    if (point.value) row[is_time ? "time_s" : "value"] = *point.value;
    row["runs"] = point.runs;
    row["state"] = tuning.command.empty() && !point.value ? "not-valid" : name_of(point.state);
    if (!point.why.empty()) row["why"] = point.why;
    json["tried"].push_back(std::move(row));
  }
  json["notes"] = tuning.notes;
  json["interrupted"] = tuning.interrupted;
  return json;
}

std::string replay_text(const RecordedSpace& space, const Replay& replay, const std::string& source) {
  const size_t points = space.points.size();
  const size_t seeds = replay.strategies.front().searches.size();
  std::string text = fmt::format(
      "recorded: {}: {} settings of {} knobs, {} not valid\noptimum {}, median {}; {} seeds of at most {} trials\n\n",
      printable(source), points, space.knobs.size(), space.invalid_points(), human_seconds(replay.best_s),
      human_seconds(replay.median_s), seeds, replay.trials);
  return text + rows_text(replay_table(space, replay));
}

void add_replay(const RecordedSpace& space, const Replay& replay, Json& tuning) {
  const size_t points = space.points.size();
  tuning["replay"] = {{"points", points},
                      {"invalid_points", space.invalid_points()},
                      {"optimum_s", replay.best_s},
                      {"median_s", replay.median_s},
                      {"default_is", "the median of the valid points"},
                      {"seeds", replay.strategies.front().searches.size()},
                      {"rows", rows_json(replay_table(space, replay))}};
}

}  // namespace perfcast::measure
