#include "measure/watch/prometheus.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "measure/watch/fast_number.h"

namespace perfcast::measure {
namespace {

bool is_name_char(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  return letter || (!first && c >= '0' && c <= '9');
}

size_t skip_blanks(std::string_view line, size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at;
}

// Of {...}, from the brace on; behind it, or npos.
size_t skip_labels(std::string_view line, size_t at) {
  bool quoted = false;
  for (++at; at < line.size(); ++at) {
    if (quoted && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && line[at] == '}') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

struct Types {
  std::set<std::string, std::less<>> counters, histograms, summaries;
};

void take_type(std::string_view line, Types& types) {
  const auto words = split(trim(line), ' ');
  if (words.size() < 4 || words[0] != "#" || words[1] != "TYPE") return;
  if (words[3] == "counter") types.counters.insert(words[2]);
  if (words[3] == "histogram") types.histograms.insert(words[2]);
  if (words[3] == "summary") types.summaries.insert(words[2]);
}

bool is_counter(std::string_view name, const Types& types) {
  if (types.counters.contains(name)) return true;
  const auto part_of = [&](std::string_view ending, const auto& family) {
    return name.ends_with(ending) && family.contains(name.substr(0, name.size() - ending.size()));
  };
  return part_of("_bucket", types.histograms) || part_of("_sum", types.histograms) ||
         part_of("_count", types.histograms) || part_of("_sum", types.summaries) || part_of("_count", types.summaries);
}

}  // namespace

bool parse_sample(std::string_view line, std::string& series, std::string_view& name, double& value) {
  size_t at = skip_blanks(line, 0);
  const size_t begin = at;
  while (at < line.size() && is_name_char(line[at], at == begin)) ++at;
  name = line.substr(begin, at - begin);
  if (name.empty()) return false;
  series = name;
  at = skip_blanks(line, at);
  if (at < line.size() && line[at] == '{') {
    const size_t behind = skip_labels(line, at);
    if (behind == std::string_view::npos) return false;
    series += line.substr(at, behind - at);
    at = skip_blanks(line, behind);
  } else if (at == begin + name.size()) {
    return false;
  }
  std::string_view rest = trim(line.substr(at));
  const size_t end = rest.find_first_of(" \t");
  if (end != std::string_view::npos) {
    double stamp = 0;
    if (!is_number(rest.substr(end), stamp)) return false;
    rest = rest.substr(0, end);
  }
  return is_number(rest, value);
}

Status PrometheusReader::take(std::string_view text, double time_s, RowBlock& block) {
  ++scrape_;
  const double passed_s = time_s - last_time_s_;
  last_time_s_ = time_s;
  Types types;
  uint64_t samples = 0;
  const size_t group = block.group("");
  block.begin_row();
  std::string series;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trim(line).empty()) continue;
    if (line.starts_with('#')) {
      take_type(line, types);
      continue;
    }
    std::string_view name;
    double value = 0;
    if (!parse_sample(line, series, name, value)) {
      ++block.counts.bad_lines;
      continue;
    }
    ++samples;
    if (!std::isfinite(value)) {
      ++block.counts.absent_cells;
      continue;
    }
    const size_t column = block.column(series);
    if (column == RowBlock::kIgnored) continue;
    if (!is_counter(name, types)) {
      block.set(column, value);
      continue;
    }
    Last& last = last_[series];
    if (last.scrape + 1 == scrape_ && last.scrape > 0 && passed_s > 0) {
      const bool reset = value < last.value;
      block.counts.counter_resets += reset ? 1 : 0;
      block.set(column, (reset ? value : value - last.value) / passed_s);
    }
    last = {value, scrape_};
  }
  if (samples == 0) {
    block.drop_row();
    return Error{"bad-exposition", "the answer has no sample", "",
                 "Prometheus' text format: name{label=\"value\"} 1.5"};
  }
  block.end_row(time_s, group);
  return {};
}

}  // namespace perfcast::measure
