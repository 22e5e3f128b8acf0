#include "program/corpus/importers/perf_stat_rows.h"

#include <algorithm>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/number_style.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr const char* kExpected = "output of perf stat -j or perf stat -x,";

struct Form {
  char separator;
  const char* name;
  char decimal;
  // A real number falls apart into two fields.
  bool splits_numbers() const { return separator == decimal; }
};
// In the order in which they are believed, where all read the lines as well.
constexpr Form kForms[] = {{',', "commas", '.'}, {';', "semicolons", '.'}, {'\t', "tabs", '.'}, {'|', "bars", '.'},
                           {',', "commas", ','}, {';', "semicolons", ','}, {'\t', "tabs", ','}, {'|', "bars", ','},
                           {':', "colons", '.'}, {':', "colons", ','},     {'@', "@", '.'},     {'@', "@", ','}};

struct Line {
  std::string_view text;
  size_t number;
};

bool is_no_value(std::string_view field) { return field.size() > 2 && field.front() == '<' && field.back() == '>'; }

bool is_whole(std::string_view field) {
  return !field.empty() && field.find_first_not_of("0123456789") == std::string_view::npos;
}

// "CPU3", "S0", "S0-D0-C2", "N1", "S0-D0-L3-ID0", "worker-1234".
bool is_place(std::string_view field) {
  if (field.find_first_of("/:%") != std::string_view::npos || field.empty() || is_whole(field.substr(0, 1)))
    return false;
  return is_whole(field.substr(field.size() - 1));
}
// Whether the number of CPUs that were added up follows.
bool has_cpu_count(std::string_view place) {
  return place.size() > 1 && std::string_view("SNDLC").find(place[0]) != std::string_view::npos &&
         is_whole(place.substr(1, 1));
}

// One line of one form, and how surely it is of that form.
class LineReader {
 public:
  LineReader(std::string_view line, const Form& form) : form_(form), style_{form.decimal, 0} {
    for (const std::string& field : split(line, form.separator)) fields_.emplace_back(trim(field));
  }

  // 0: it is no line of this form.
  int read(PerfStatRow& row) {
    row = {};
    size_t at = 0;
    if (fields_[0] == "summary") {
      row.is_summary = true;
      at = 1;
    }
    // The unit stands behind the value and before the event.
    for (size_t unit = at + 1; unit + 1 < fields_.size() && unit < at + 8; ++unit) {
      if (is_numeric(fields_[unit]) || is_no_value(fields_[unit]) || fields_[unit].size() > 16) continue;
      const std::string& event = fields_[unit + 1];
      if (event.empty() || is_numeric(event) || is_no_value(event)) continue;
      if (!read_before(at, unit, row)) continue;
      row.unit = fields_[unit];
      return read_behind(unit + 1, row);
    }
    return 0;
  }

  // A metric that perf derives from counters, whose fields are empty.
  bool is_derived() const {
    size_t at = fields_[0] == "summary" ? 1 : 0;
    if (at < fields_.size() && real_at(at, fields_.size()) > 0) at += real_at(at, fields_.size());
    if (at < fields_.size() && is_place(fields_[at])) at += has_cpu_count(fields_[at]) ? 2 : 1;
    return at + 3 < fields_.size() && fields_[at].empty() && fields_[at + 1].empty() && fields_[at + 2].empty();
  }

 private:
  bool is_numeric(const std::string& field) const { return parse_number(field, style_).has_value(); }

  // Fields of the number with decimals that begins there: 0: there is none.
  size_t real_at(size_t at, size_t end) const {
    if (form_.splits_numbers())
      return at + 1 < end && is_whole_or_negative(fields_[at]) && is_whole(fields_[at + 1]) ? 2 : 0;
    return at < end && fields_[at].find(form_.decimal) != std::string::npos && is_numeric(fields_[at]) ? 1 : 0;
  }
  static bool is_whole_or_negative(std::string_view field) {
    return is_whole(field.starts_with('-') ? field.substr(1) : field);
  }
  std::string text_of(size_t at, size_t count) const {
    return count == 2 ? fields_[at] + form_.decimal + fields_[at + 1] : fields_[at];
  }

  // [time] [place [number of CPUs]] value
  bool read_before(size_t at, size_t end, PerfStatRow& row) {
    const auto value_in = [&](size_t from) {
      const size_t count = end - from;
      if (count == 1 && is_no_value(fields_[from])) {
        row.why_missing = fields_[from].substr(1, fields_[from].size() - 2);
        return true;
      }
      if (from >= end || (count > 1 && real_at(from, end) != count)) return false;
      row.value = parse_number(text_of(from, count), style_);
      return row.value.has_value();
    };
    const auto place_in = [&](size_t from) {
      if (from >= end || !is_place(fields_[from])) return false;
      row.place = fields_[from];
      if (!has_cpu_count(row.place)) return value_in(from + 1);
      return from + 1 < end && is_whole(fields_[from + 1]) && value_in(from + 2);
    };
    row.interval.clear();
    row.place.clear();
    if (value_in(at) || place_in(at)) return true;
    const size_t time = real_at(at, end);
    if (time == 0) return false;
    row.interval = text_of(at, time);
    row.place.clear();
    return value_in(at + time) || place_in(at + time);
  }

  bool is_share_at(size_t at, size_t& count) const {
    if (at >= fields_.size()) return false;
    count = form_.splits_numbers() && is_whole(fields_[at]) ? 2 : 1;
    if (at + count > fields_.size()) return false;
    const std::string text = text_of(at, count);
    return text.ends_with('%') && parse_number(text.substr(0, text.size() - 1), style_).has_value();
  }

  // event [cgroup] [variance] [run time, share of the time] [variance] [metric ...]
  int read_behind(size_t at, PerfStatRow& row) {
    row.event = fields_[at++];
    // A raw event such as cpu/event=0x3c,umask=0x1/ holds the separator.
    const auto is_open = [&] {
      return std::count(row.event.begin(), row.event.end(), '/') == 1 && row.event.front() != '/';
    };
    while (is_open() && at < fields_.size()) row.event += form_.separator + fields_[at++];
    if (is_open()) return 0;
    size_t share = 0;
    const auto skip_variance = [&] {
      if (is_share_at(at, share)) at += share;
    };
    skip_variance();
    if (at < fields_.size() && !fields_[at].empty() && !is_numeric(fields_[at])) row.cgroup = fields_[at++];
    skip_variance();
    if (at + 1 >= fields_.size() || !is_whole(fields_[at])) return 1;  // an older perf, or a metric alone
    ++at;
    const size_t width = real_at(at, fields_.size());
    if (width == 0 && !is_whole(fields_[at])) return 1;
    const auto percent = parse_number(text_of(at, std::max<size_t>(width, 1)), style_);
    if (!percent || *percent < 0 || *percent > kMostRunningPercent) return 0;
    row.running_percent = std::min(*percent, 100.0);
    // perf prints two decimals.
    const std::string shown = text_of(at, std::max<size_t>(width, 1));
    return width > 0 && shown.size() - shown.find(form_.decimal) == 3 ? 3 : 1;
  }

  Form form_;
  NumberStyle style_;
  std::vector<std::string> fields_;
};

// How well a form reads the lines: those that it can't read count most.
struct Fit {
  size_t unread = 0;
  size_t sureness = 0;
  const Line* first_unread = nullptr;
};
Fit fit_of(const std::vector<Line>& lines, const Form& form, std::vector<PerfStatRow>* rows) {
  Fit fit;
  PerfStatRow row;
  for (const Line& line : lines) {
    LineReader reader(line.text, form);
    if (const int sureness = reader.read(row); sureness > 0) {
      fit.sureness += static_cast<size_t>(sureness);
      if (rows != nullptr) rows->push_back(row);
    } else if (!reader.is_derived()) {
      ++fit.unread;
      if (fit.first_unread == nullptr) fit.first_unread = &line;
    }
  }
  return fit;
}

Error bad_line(const Line& line, const std::string& path, const std::string& why) {
  return {"bad-perf-stat", why + ": '" + printable(trim(line.text).substr(0, 60)) + "'",
          path + ":" + std::to_string(line.number), kExpected};
}

Status read_separated(const std::vector<Line>& lines, const std::string& path, PerfStatRows& result) {
  const Form* best = nullptr;
  Fit best_fit;
  for (const Form& form : kForms) {
    const Fit fit = fit_of(lines, form, nullptr);
    if (best != nullptr &&
        (fit.unread > best_fit.unread || (fit.unread == best_fit.unread && fit.sureness <= best_fit.sureness))) {
      continue;
    }
    best = &form;
    best_fit = fit;
  }
  if (best_fit.unread > 0) return bad_line(*best_fit.first_unread, path, "the line is no counter of perf stat");
  fit_of(lines, *best, &result.rows);
  if (best->separator != ',') result.form = std::string("fields separated by ") + best->name;
  if (best->decimal == ',') result.form += std::string(result.form.empty() ? "" : ", ") + "decimal commas";
  return {};
}

// perf writes bare numbers by the locale: "pcnt-running" : 75,08 is no JSON.
std::string with_points(std::string_view line) {
  std::string text(line);
  bool quoted = false, in_value = false;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == ':') in_value = true;
    if (text[i] != ',') continue;
    if (in_value && i > 0 && is_whole(text.substr(i - 1, 1)) && is_whole(text.substr(i + 1, 1))) text[i] = '.';
    in_value = false;
  }
  return text;
}

struct JsonLine {
  PerfStatRow row;
  std::string value, percent;
};

Result<std::optional<JsonLine>> read_json_line(std::string_view text, const std::string& where) {
  auto json = parse_json(text, where);
  if (!json) {
    if (auto mended = parse_json(with_points(text), where)) json = std::move(mended);
  }
  if (!json) return json.error();
  if (!json->is_object()) return Error{"bad-perf-stat", "the line is no object", where, "output of perf stat -j"};
  const auto text_of = [&](const char* key) {
    const auto found = json->find(key);
    if (found == json->end()) return std::string();
    return std::string(trim(found->is_string()   ? found->get<std::string>()
                            : found->is_number() ? found->dump()
                                                 : std::string()));
  };
  JsonLine line;
  line.row.interval = text_of("interval");
  for (const char* key : {"cpu", "core", "cache", "cluster", "die", "socket", "node", "thread"}) {
    const std::string place = text_of(key);
    if (!place.empty()) line.row.place += std::string(key) + place;
  }
  line.row.cgroup = text_of("cgroup");
  line.row.event = text_of("event");
  line.row.unit = text_of("unit");
  line.value = text_of("counter-value");
  line.percent = text_of("pcnt-running");
  if (line.row.event.empty() || line.value.empty()) return std::optional<JsonLine>();  // a derived metric alone
  return std::optional<JsonLine>(std::move(line));
}

Status read_json_lines(const std::vector<Line>& lines, const std::string& path, PerfStatRows& result) {
  std::vector<JsonLine> read;
  NumberEvidence evidence;
  for (const Line& line : lines) {
    const auto one = read_json_line(line.text, path + ":" + std::to_string(line.number));
    if (!one) return one.error();
    if (!*one) continue;
    evidence.see((*one)->value);
    read.push_back(**one);
  }
  const auto style = evidence.decide(path);
  if (!style) return style.error();
  if (!style->is_plain()) result.form = describe(*style);
  for (JsonLine& line : read) {
    line.row.value = parse_number(line.value, *style);
    if (!line.row.value) {
      line.row.why_missing = is_no_value(line.value) ? line.value.substr(1, line.value.size() - 2) : "no finite number";
    }
    // Shares are written by the same locale, or are numbers of JSON.
    line.row.running_percent = parse_number(line.percent);
    if (!line.row.running_percent) line.row.running_percent = parse_number(line.percent, *style);
    result.rows.push_back(std::move(line.row));
  }
  return {};
}

}  // namespace

Result<PerfStatRows> read_perf_stat_rows(std::string_view text, const std::string& path) {
  const std::string_view whole = text;
  std::vector<Line> separated, objects;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view shown = trim(line);
    if (shown.empty() || shown.front() == '#') continue;
    (shown.front() == '{' ? objects : separated).push_back({line, number});
  }
  PerfStatRows result;
  if (const Status status = read_json_lines(objects, path, result); !status) {
    // perf writes an object into each line; others spread one over many.
    if (!parse_json(whole, path)) return status.error();
    return Error{"bad-perf-stat", "the file is JSON, and no output of perf stat: that has an object in each line", path,
                 kExpected};
  }
  if (!separated.empty()) {
    if (!objects.empty()) return bad_line(separated.front(), path, "the line is no JSON, others are");
    if (const Status status = read_separated(separated, path, result); !status) return status.error();
  }
  return result;
}

}  // namespace perfcast::program
