#include "program/corpus/importers/perf_stat_report.h"

#include <algorithm>
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

// The number at the beginning, and what follows: "1 376 827 291      cycles".
std::pair<std::string_view, std::string_view> number_and_rest(std::string_view count) {
  if (count.starts_with('<')) {
    const size_t end = std::min(count.find('>'), count.size() - 1) + 1;
    return {count.substr(0, end), trim(count.substr(end))};
  }
  const size_t end = std::min(count.find_first_not_of("0123456789.,' \xC2\xA0\xE2\x80\xAF\x99\x89"), count.size());
  return {trim(count.substr(0, end)), trim(count.substr(end))};
}

}  // namespace

bool is_perf_stat_report(std::string_view text) { return text.find(kHead) != std::string_view::npos; }

Result<PerfStatRows> read_perf_stat_report(std::string_view text, const std::string& path) {
  struct Found {
    PerfStatRow row;
    std::string_view number, percent;
    std::string where;
  };
  const auto bad_line = [](std::string_view line, const std::string& where) {
    return Error{"bad-perf-stat", "the line is no counter of perf stat: '" + printable(line.substr(0, 60)) + "'", where,
                 "perf stat without -I, -A and --per-...; or with -x or -j, which say more"};
  };
  std::vector<Found> found;
  NumberEvidence evidence(ThreeDigits::kGrouped);
  size_t line_number = 0, reports = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    const std::string where = path + ":" + std::to_string(line_number);
    if (line.find(kHead) != std::string_view::npos && ++reports > 1) {
      return Error{"bad-perf-stat", "a second report begins", where, "one report in a file"};
    }
    if (reports == 0 || line.empty() || line.front() == '#' || line.ends_with(':')) continue;
    const Parts parts = parts_of(line);
    const auto [number, rest] = number_and_rest(parts.count);
    if (number.empty() || rest.empty()) continue;  // "Some events weren't counted ..."
    Found one{{}, number, parts.percent, where};
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
      const bool has_unit = words.size() > 1 && std::find(std::begin(kReportUnits), std::end(kReportUnits), words[0]) !=
                                                    std::end(kReportUnits);
      if (has_unit) one.row.unit = words[0];
      one.row.event = words[has_unit ? 1 : 0];
      if (words.size() > (has_unit ? 2U : 1U)) one.row.cgroup = words[has_unit ? 2 : 1];
      if (words.size() > (has_unit ? 3U : 2U) || looks_like_number(one.row.event)) {
        return bad_line(line, where);
      }
    }
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
