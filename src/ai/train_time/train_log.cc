#include "ai/train_time/train_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

constexpr char kColumnSeparators[] = {',', ';', '\t', '|'};

std::string as_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json value_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Error bad_log(const std::string& what, const std::string& where) {
  return {"bad-log", what, where,
          "a log of perfcast bench train --record, CSV with a column time_s, or lines of JSON with time_s or time_ms"};
}

Error too_many_readings(const std::string& where) {
  return {"too-many-readings", fmt::format("there are more than {} readings", kMostReadings), where,
          "a log of fewer evaluations"};
}

std::optional<double> logged_value(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const std::string word = json.get<std::string>();
  if (word == "nan") return kUnknown;
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

class OwnLogReader {
 public:
  OwnLogReader(const MetricReader& reader, TrainLog& log) : reader_(reader), log_(log) {}

  Status head(const Json& json, const std::string& where) const {
    JsonReader in(json, where);
    const std::string schema = in.string("schema");
    const std::string metric = in.string("metric");
    if (Status read = in.finish(); !read) return read;
    if (schema != kTrainLogSchema) return bad_log("schema '" + printable(schema) + "'", where);
    if (metric == reader_.metric()) return {};
    return usage_error("other-metric",
                       fmt::format("the log is of the metric '{}', not '{}'", printable(metric), reader_.metric()),
                       where, "--metric " + printable(metric));
  }

  Status event(const Json& json, const std::string& where) {
    JsonReader in(json, where);
    const std::string event = in.string("event");
    const std::string system = in.string("system");
    const int64_t seed = in.integer("seed");
    if (Status read = in.finish(); !read) return read;
    const auto key = std::pair(system, seed);
    if (event == "start") return start(in, key);
    const auto place = places_.find(key);
    if (place == places_.end()) return bad_log("a run that did not start", where);
    TrainCurve& curve = log_.curves[place->second];
    if (event == "end") return end(in, curve, where);
    if (event != "reading") return bad_log("event '" + printable(event) + "'", where);
    const double time_s = in.number("time_s");
    if (Status read = in.finish(); !read) return read;
    const auto value = json.find("value");
    const auto number = value == json.end() ? std::nullopt : logged_value(*value);
    if (!number || time_s < 0) return bad_log("a reading without a value, or before its start", where);
    if (++readings_ > kMostReadings) return too_many_readings(where);
    curve.readings.push_back({time_s, *number});
    return {};
  }

 private:
  using Key = std::pair<std::string, int64_t>;

  Status start(JsonReader& in, const Key& key) {
    log_.commands[key.first] = in.strings("command");
    if (Status read = in.finish(); !read) return read;
    const auto [place, is_new] = places_.emplace(key, log_.curves.size());
    if (is_new) log_.curves.emplace_back();
    TrainCurve fresh;
    fresh.system = key.first;
    fresh.seed = key.second;
    fresh.state = TrainRunState::kCutOff;  // until it ends
    log_.curves[place->second] = std::move(fresh);
    return {};
  }

  static Status end(JsonReader& in, TrainCurve& curve, const std::string& where) {
    const auto state = parse_train_run_state(in.string("state"));
    curve.wall_s = in.optional_number("wall_s");
    curve.why = in.string_or("why", "");
    const Json* meters = in.array("meters");
    if (Status read = in.finish(); !read) return read;
    if (!state) return bad_log("a state that no run has", where);
    curve.state = *state;
    if (meters == nullptr) return {};
    for (const Json& each : *meters) {
      JsonReader meter_in(each, where);
      RunMeter meter;
      meter.name = meter_in.string("name");
      meter.covers = meter_in.string_or("covers", "");
      meter.energy_joules = meter_in.optional_number("energy_joules");
      meter.uncertainty_joules = meter_in.optional_number("energy_uncertainty_joules");
      meter.why_missing = meter_in.string_or("missing", "");
      if (Status read = meter_in.finish(); !read) return read;
      curve.meters.push_back(std::move(meter));
    }
    return {};
  }

  const MetricReader& reader_;
  TrainLog& log_;
  std::map<Key, size_t> places_;
  size_t readings_ = 0;
};

Result<TrainLog> parse_own(std::string_view text, const std::string& source, const MetricReader& reader) {
  TrainLog log;
  log.is_own = true;
  OwnLogReader own(reader, log);
  size_t number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from);
    if (end == std::string_view::npos) break;  // cut off
    const std::string where = fmt::format("{}:{}", source, ++number);
    const auto json = parse_json(text.substr(from, end - from), where);
    const bool is_last = end + 1 >= text.size();
    if (!json) {
      if (is_last && number > 1) break;
      return bad_log(json.error().message, where);
    }
    if (Status taken = number == 1 ? own.head(*json, where) : own.event(*json, where); !taken) return taken.error();
    from = end + 1;
    log.whole_bytes = from;
  }
  return log;
}

struct TimeColumn {
  const char* name;
  double unit_s;
};
constexpr std::array<TimeColumn, 3> kTimeColumns = {{{"time_s", 1}, {"time_min", 60}, {"time_h", 3600}}};

// In the order of their times: a log may be written by several processes.
void sort_readings(TrainLog& log) {
  for (TrainCurve& curve : log.curves) {
    std::stable_sort(curve.readings.begin(), curve.readings.end(),
                     [](const MetricReading& a, const MetricReading& b) { return a.time_s < b.time_s; });
  }
}

Result<TrainLog> parse_csv(const CsvTable& table, const TimeColumn& unit, const std::string& source,
                           const MetricReader& reader, const std::string& system) {
  TrainLog log;
  const auto time = table.column(unit.name);
  if (!time) return time.error();
  const auto metric = table.column(reader.metric());
  if (!metric) return metric.error();
  const auto systems = table.find_column("system"), seeds = table.find_column("seed");
  std::map<std::pair<std::string, int64_t>, size_t> places;
  if (table.rows() > kMostReadings) return too_many_readings(source);
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto time_value = table.number(row, *time);
    if (!time_value) return time_value.error();
    const std::string_view cell = trim(table.cell(row, *metric));
    if (!*time_value || cell.empty()) continue;  // an epoch without an evaluation
    const auto value = parse_reading(cell);
    if (!value) return table.number(row, *metric).error();
    if (**time_value < 0) return bad_log("a time before the start", table.where(row));
    const std::string name = systems ? printable(table.cell(row, *systems).substr(0, 200)) : system;
    int64_t seed = 1;
    if (seeds) {
      constexpr double kMostSeed = 9e15;
      const auto number = table.number(row, *seeds);
      if (!number) return number.error();
      if (!*number || std::abs(**number) > kMostSeed || **number != std::floor(**number))
        return bad_log("a seed that is no whole number", table.where(row));
      seed = static_cast<int64_t>(**number);
    }
    const auto [place, is_new] = places.emplace(std::pair(name.empty() ? system : name, seed), log.curves.size());
    if (is_new) {
      TrainCurve curve;
      curve.system = place->first.first;
      curve.seed = seed;
      curve.state = TrainRunState::kImported;
      log.curves.push_back(std::move(curve));
    }
    log.curves[place->second].readings.push_back({unit.unit_s * **time_value, *value});
  }
  sort_readings(log);
  return log;
}

// Lines that others wrote, one run or several one after the other.
class LineLogReader {
 public:
  LineLogReader(const MetricReader& reader, const StartPattern& start) : reader_(reader), start_(start) {
    runs_.emplace_back();
  }

  void take(std::string_view raw) {
    const std::string line = without_escapes(raw);
    const auto time_s = stated_time_s(line);
    if (time_s && !first_s_) first_s_ = time_s;
    find_start(line, time_s);
    const auto value = reader_.read(line);
    if (!value) return;
    if (!time_s) {
      ++untimed_;
    } else if (++readings_ <= kMostReadings) {
      runs_.back().readings.push_back({*time_s, *value});
    }
  }

  Result<TrainLog> finish(const std::string& source, const std::string& system) {
    if (readings_ > kMostReadings) return too_many_readings(source);
    if (!start_.is_empty() && !runs_.back().start_s) {
      return usage_error("no-start", "no line that --from finds is followed by a time", source,
                         "a pattern of the line at which the run starts");
    }
    std::erase_if(runs_, [](const Run& run) { return run.readings.empty(); });
    if (runs_.empty()) {
      return Error{"no-readings",
                   untimed_ > 0
                       ? fmt::format("{} lines have '{}', none of them states a time", untimed_, reader_.metric())
                       : fmt::format("no line has a value of '{}'", reader_.metric()),
                   source, "lines of JSON with time_s, elapsed_s or time_ms beside the metric, or CSV with time_s"};
    }
    TrainLog log;
    for (Run& run : runs_) {
      TrainCurve curve;
      curve.system = system;
      curve.seed = static_cast<int64_t>(log.curves.size()) + 1;
      curve.state = TrainRunState::kImported;
      const double start_s = run.start_s.value_or(is_of_clock(*first_s_) ? *first_s_ : 0);
      for (MetricReading& reading : run.readings) {
        if (is_of_clock(reading.time_s) != is_of_clock(start_s)) continue;
        reading.time_s = std::max(0.0, reading.time_s - start_s);
      }
      curve.readings = std::move(run.readings);
      log.curves.push_back(std::move(curve));
      if (is_of_clock(start_s) && !run.start_s) {
        log.notes.push_back(
            source + ": no line says run_start: times count from the log's first line; --from PATTERN names another");
      }
    }
    return log;
  }

 private:
  static bool is_of_clock(double time_s) {
    constexpr double kLongestTraining_s = 3e8;  // ten years
    return time_s > kLongestTraining_s;
  }
  struct Run {
    std::optional<double> start_s;
    bool is_over = false;
    std::vector<MetricReading> readings;
  };

  void find_start(const std::string& line, std::optional<double> time_s) {
    if (!start_.is_empty()) {
      is_found_ = is_found_ || start_.finds(line);
      if (is_found_ && time_s && !runs_.back().start_s) runs_.back().start_s = time_s;
      return;
    }
    if (!time_s || line.find("run_st") == std::string::npos) return;
    const std::string event = event_of(line);
    if (event == "run_stop") runs_.back().is_over = true;
    if (event != "run_start") return;
    // Of several processes the first; behind an evaluation it is another run's.
    if (runs_.back().is_over || !runs_.back().readings.empty()) runs_.emplace_back();
    if (!runs_.back().start_s) runs_.back().start_s = time_s;
  }

  const MetricReader& reader_;
  const StartPattern& start_;
  bool is_found_ = false;
  std::optional<double> first_s_;
  std::vector<Run> runs_;
  size_t untimed_ = 0, readings_ = 0;
};

Result<TrainLog> parse_lines(std::string_view text, const std::string& source, const MetricReader& reader,
                             const std::string& system, const std::string& start_pattern) {
  const auto start = StartPattern::create(start_pattern);
  if (!start) return start.error();
  LineLogReader lines(reader, *start);
  LineCutter cutter;
  const auto take = [&lines](std::string_view line) { lines.take(line); };
  cutter.add(text, take);
  cutter.finish(take);
  auto log = lines.finish(source, system);
  if (log) sort_readings(*log);
  return log;
}

}  // namespace

std::string train_log_head(const std::string& metric) {
  return as_line({{"schema", kTrainLogSchema}, {"metric", metric}});
}

std::string train_log_start(const std::string& system, int64_t seed, const std::vector<std::string>& command) {
  return as_line({{"event", "start"}, {"system", system}, {"seed", seed}, {"command", command}});
}

std::string train_log_reading(const std::string& system, int64_t seed, const MetricReading& reading) {
  return as_line({{"event", "reading"},
                  {"system", system},
                  {"seed", seed},
                  {"time_s", reading.time_s},
                  {"value", value_json(reading.value)}});
}

std::string train_log_end(const TrainCurve& curve) {
  Json json = {{"event", "end"}, {"system", curve.system}, {"seed", curve.seed}, {"state", name_of(curve.state)}};
  if (curve.wall_s) json["wall_s"] = *curve.wall_s;
  if (!curve.why.empty()) json["why"] = curve.why;
  Json& meters = json["meters"] = Json::array();
  for (const RunMeter& meter : curve.meters) {
    Json entry = {{"name", meter.name}, {"covers", meter.covers}};
    if (meter.energy_joules) entry["energy_joules"] = *meter.energy_joules;
    if (meter.uncertainty_joules) entry["energy_uncertainty_joules"] = *meter.uncertainty_joules;
    if (!meter.why_missing.empty()) entry["missing"] = meter.why_missing;
    meters.push_back(std::move(entry));
  }
  return as_line(json);
}

bool is_spent_record(std::string_view text) {
  size_t starts = 0, ends = 0;
  for (size_t from = text.find('\n'); from != std::string_view::npos; from = text.find('\n', from + 1)) {
    const std::string_view line = text.substr(from + 1, text.find('\n', from + 1) - from - 1);
    if (line.empty()) continue;
    const auto json = parse_json(line, "record");
    if (!json || !json->is_object() || !json->contains("event")) return false;
    const Json& event = (*json)["event"];
    if (event == "reading") return false;
    starts += event == "start" ? 1 : 0;
    ends += event == "end" ? 1 : 0;
  }
  const std::string_view head = text.substr(0, text.find('\n'));
  return head.find(kTrainLogSchema) != std::string_view::npos && starts == ends;
}

Result<TrainLog> parse_train_log(std::string_view text, const std::string& source, const MetricReader& reader,
                                 const std::string& system, const std::string& start_pattern) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto without_start = [&](Result<TrainLog> log) {
    if (log && !start_pattern.empty()) {
      log->notes.push_back("--from has no effect with " + source + ": its times count from the run's start");
    }
    return log;
  };
  const std::string_view head = text.substr(0, text.find('\n'));
  if (head.find(kTrainLogSchema) != std::string_view::npos) return without_start(parse_own(text, source, reader));
  for (const TimeColumn& unit : kTimeColumns) {
    // Whatever separates them.
    const bool is_there = std::any_of(std::begin(kColumnSeparators), std::end(kColumnSeparators), [&](char separator) {
      const std::vector<std::string> columns = split(head.substr(0, kLongestMetricLine), separator);
      return columns.size() > 1 && std::any_of(columns.begin(), columns.end(), [&unit](const std::string& column) {
               return trim(column) == unit.name;
             });
    });
    if (!is_there) continue;
    const auto table = CsvTable::parse_any_form(text, source);
    if (!table) return table.error();
    auto log = parse_csv(*table, unit, source, reader, system);
    if (log && !table->form().empty()) log->notes.push_back(source + " was read as having " + table->form());
    if (log && log->curves.empty())
      return Error{"no-readings", "the table has no row with a time and a value", source, "one for each evaluation"};
    return without_start(std::move(log));
  }
  return parse_lines(text, source, reader, system, start_pattern);
}

}  // namespace perfcast::ai
