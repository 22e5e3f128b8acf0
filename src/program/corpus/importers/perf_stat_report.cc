#include "program/corpus/importers/perf_stat_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/number_style.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr std::string_view kHead = "Performance counter stats for";
constexpr std::string_view kReportUnits[] = {"msec", "ns", "Joules", "MiB", "KiB", "GiB", "B", "C", "W", "Watts"};

// Without a comment that perf derives from the counters ("#  3.335 GHz"), and what stands in brackets at the end.
struct Parts {
  std::string_view count;
  std::string_view percent;  // "(75.08%)" -> "75.08"; empty: all of the time
};
Parts parts_of(std::string_view line) {
  Parts parts{trim(line.substr(0, line.find('#'))), {}};
  line = trim(line);
  while (line.ends_with(')')) {
    const size_t open = line.rfind('(');
    if (open == std::string_view::npos) break;
    const std::string_view inner = trim(line.substr(open + 1, line.size() - open - 2));
    // "( +-  0.42% )" is the deviation of repeated runs.
    if (inner.ends_with('%') && inner.find("+-") == std::string_view::npos)
      parts.percent = inner.substr(0, inner.size() - 1);
    line = trim(line.substr(0, open));
    if (parts.count.size() > line.size()) parts.count = line;
  }
  return parts;
}

constexpr std::string_view kMarks = "0123456789.,' \xC2\xA0\xE2\x80\xAF\x99\x89", kBlanks = " \t\xA0\xAF\x89";

bool is_unit(std::string_view word) {
  return std::find(std::begin(kReportUnits), std::end(kReportUnits), word) != std::end(kReportUnits);
}

struct NumberAndRest {
  std::string_view number, rest;  // no number: it is a sentence
  bool is_damaged = false;        // a first cell that is neither a number nor the first word of a sentence
};
// The number at the beginning, and what follows: "1 376 827 291      cycles".
NumberAndRest number_and_rest(std::string_view count) {
  if (count.starts_with('<')) {
    const size_t end = std::min(count.find('>'), count.size() - 1) + 1;
    return {count.substr(0, end), trim(count.substr(end))};
  }
  const size_t end = std::min(count.find_first_not_of(kMarks), count.size());
  NumberAndRest parts{trim(count.substr(0, end)), trim(count.substr(end))};
  if (end > 0) {
    parts.is_damaged = end < count.size() && kBlanks.find(count[end - 1]) == std::string_view::npos;  // "6x,234"
    return parts;
  }
  // perf fills with blanks between a number and the event, and puts one between the words of "Some events weren't ...".
  const size_t blank = std::min(count.find_first_of(" \t"), count.size());
  const std::string_view behind = count.substr(blank), next = trim(behind);
  if (next.empty() || next.starts_with('(')) return parts;  // "TopdownL1 (cpu_core)", with metrics behind '#'
  parts.is_damaged = count.substr(0, blank).find_first_of("0123456789") != std::string_view::npos ||
                     behind.starts_with("  ") || is_unit(next.substr(0, next.find(' ')));
  return parts;
}

// The line above the columns of -I.
bool is_head_of_intervals(std::string_view line) {
  return line.starts_with('#') && line.find(" time ") != std::string_view::npos &&
         line.find(" counts unit events") != std::string_view::npos;
}

// "+- 0.0683 seconds time elapsed", of repeated runs, without the deviation.
std::string_view without_deviation(std::string_view rest) {
  if (!rest.starts_with("+-")) return rest;
  rest = trim(rest.substr(2));
  return trim(rest.substr(std::min(rest.find(' '), rest.size())));
}

}  // namespace

bool is_perf_stat_report(std::string_view text) {
  if (text.find(kHead) != std::string_view::npos) return true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (is_head_of_intervals(trim(text.substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

Result<PerfStatRows> read_perf_stat_report(std::string_view text, const std::string& path) {
  struct Found {
    PerfStatRow row;
    std::string_view number, percent;
    std::string where;
  };
  const auto bad_line = [](std::string_view line, const std::string& where) {
    return Error{"bad-perf-stat", "the line is no counter of perf stat: '" + printable(line.substr(0, 60)) + "'", where,
                 "a whole number or one with a unit, and an event; of -A and --per-...: perf stat with -x or -j"};
  };
  std::vector<Found> found;
  NumberEvidence evidence(ThreeDigits::kGrouped);
  size_t line_number = 0, reports = 0;
  bool has_intervals = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    const std::string where = path + ":" + std::to_string(line_number);
    if (line.find(kHead) != std::string_view::npos) {
      if (++reports > 1) return Error{"bad-perf-stat", "a second report begins", where, "one report in a file"};
      has_intervals = false;  // their sum
    }
    if (is_head_of_intervals(line)) has_intervals = true;
    if ((reports == 0 && !has_intervals) || line.empty() || line.front() == '#' || line.ends_with(':')) continue;
    Parts parts = parts_of(line);
    std::string_view time;
    if (has_intervals) {
      time = parts.count.substr(0, parts.count.find(' '));
      if (!looks_like_number(time)) return bad_line(line, where);
      parts.count = trim(parts.count.substr(time.size()));
    }
    const NumberAndRest cells = number_and_rest(parts.count);
    if (cells.is_damaged) return bad_line(line, where);
    const std::string_view number = cells.number, rest = without_deviation(cells.rest);
    // "Some events weren't counted ...", and the table of runs: "0.8276 (-0.0012)".
    if (number.empty() || rest.empty() || rest.starts_with('(')) continue;
    Found one{{}, number, parts.percent, where};
    one.row.interval = time;
    if (rest.starts_with("seconds ")) {
      if (rest.starts_with("seconds time elapsed")) {
        one.row.event = "duration_time";
        one.row.unit = "ns";
      } else {
        continue;  // user and system time of the commands
      }
    } else {
      std::vector<std::string> words;
      for (const std::string& word : split(rest, ' ')) {
        if (!trim(word).empty()) words.emplace_back(trim(word));
      }
      const bool has_unit = words.size() > 1 && is_unit(words[0]);
      if (has_unit) one.row.unit = words[0];
      one.row.event = words[has_unit ? 1 : 0];
      if (words.size() > (has_unit ? 2U : 1U)) one.row.cgroup = words[has_unit ? 2 : 1];
      if (words.size() > (has_unit ? 3U : 2U) || looks_like_number(one.row.event)) {
        return bad_line(line, where);
      }
    }
    evidence.see(time);
    evidence.see(number);
    evidence.see(parts.percent);
    found.push_back(std::move(one));
  }
  const auto style = evidence.decide(path);
  if (!style) return style.error();
  PerfStatRows result;
  if (style->decimal != '.' || (style->grouping != 0 && style->grouping != ',')) result.form = describe(*style);
  for (Found& one : found) {
    one.row.value = parse_number(one.number, *style);
    // perf prints decimals only of what has a unit.
    if (one.row.value && one.row.unit.empty() && *one.row.value != std::floor(*one.row.value))
      return bad_line(one.number, one.where);
    if (one.row.value && one.row.event == "duration_time") *one.row.value *= 1e9;
    if (!one.row.value) {
      if (!one.number.starts_with('<')) return bad_line(one.number, one.where);
      one.row.why_missing = std::string(one.number.substr(1, one.number.size() - 2));
    }
    one.row.running_percent = one.percent.empty() ? std::optional(100.0) : parse_number(one.percent, *style);
    result.rows.push_back(std::move(one.row));
  }
  return result;
}

}  // namespace perfcast::program
