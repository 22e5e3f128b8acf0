#include "measure/watch/prometheus.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>

#include "base/text.h"
#include "measure/watch/fast_number.h"

namespace perfcast::measure {
namespace {

constexpr double kMilliseconds = 1e11;  // seconds of this century are fewer

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

using Types = std::map<std::string, std::string, std::less<>>;  // family -> "counter", "histogram", ...

void take_type(std::string_view line, Types& types) {
  const auto words = split(trim(line), ' ');
  if (words.size() < 4 || words[0] != "#" || words[1] != "TYPE") return;
  std::string family = words[2];
  if (family.size() > 2 && family.front() == '"' && family.back() == '"') family = family.substr(1, family.size() - 2);
  types[family] = words[3];
}

enum class SampleKind { kValue, kCounter, kNoMetric };

// A sample's name is its family's with an ending that the family's type has.
SampleKind kind_of(std::string_view name, const Types& types) {
  const auto is = [&](std::string_view ending, std::initializer_list<std::string_view> of) {
    if (!name.ends_with(ending)) return false;
    const auto type = types.find(name.substr(0, name.size() - ending.size()));
    return type != types.end() && std::find(of.begin(), of.end(), type->second) != of.end();
  };
  if (is("_created", {"counter", "histogram", "summary"})) return SampleKind::kNoMetric;
  const bool grows = is("", {"counter"}) || is("_total", {"counter"}) || is("_bucket", {"histogram"}) ||
                     is("_sum", {"histogram", "summary"}) || is("_count", {"histogram", "summary"});
  return grows ? SampleKind::kCounter : SampleKind::kValue;
}

// The first of the labels, where it is in quotes and has no value: {"a.name", b="c"}.
std::string_view quoted_name(std::string_view labels) {
  const size_t begin = skip_blanks(labels, 1);
  if (begin >= labels.size() || labels[begin] != '"') return {};
  const size_t end = labels.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return labels.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::optional<PrometheusSample> parse_sample(std::string_view line) {
  PrometheusSample sample;
  size_t at = skip_blanks(line, 0);
  const size_t begin = at;
  while (at < line.size() && is_name_char(line[at], at == begin)) ++at;
  sample.name = line.substr(begin, at - begin);
  sample.series = sample.name;
  at = skip_blanks(line, at);
  if (at < line.size() && line[at] == '{') {
    const size_t behind = skip_labels(line, at);
    if (behind == std::string_view::npos) return std::nullopt;
    const std::string_view labels = line.substr(at, behind - at);
    sample.series += labels;
    if (sample.name.empty()) sample.name = quoted_name(labels);
    at = skip_blanks(line, behind);
  } else if (at == begin + sample.name.size()) {
    return std::nullopt;
  }
  if (sample.name.empty()) return std::nullopt;
  std::string_view rest = line.substr(at);
  rest = trim(rest.substr(0, rest.find('#')));  // an exemplar stands behind
  const size_t end = rest.find_first_of(" \t");
  if (end != std::string_view::npos) {
    double stamp = 0;
    if (!is_number(trim(rest.substr(end)), stamp)) return std::nullopt;
    if (std::isfinite(stamp)) sample.stamp_s = std::abs(stamp) >= kMilliseconds ? stamp * 1e-3 : stamp;
    rest = rest.substr(0, end);
  }
  if (!is_number(rest, sample.value)) return std::nullopt;
  return sample;
}

Status PrometheusReader::take(std::string_view text, double time_s, RowBlock& block) {
  ++scrape_;
  const double passed_s = time_s - last_time_s_;
  last_time_s_ = time_s;
  Types types;
  uint64_t samples = 0;
  const size_t group = block.group("");
  block.begin_row();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trim(line).empty()) continue;
    if (line.starts_with('#')) {
      take_type(line, types);
      continue;
    }
    const auto sample = parse_sample(line);
    if (!sample) {
      ++block.counts.bad_lines;
      continue;
    }
    ++samples;
    const SampleKind kind = kind_of(sample->name, types);
    if (kind == SampleKind::kNoMetric) continue;
    const double value = sample->value;
    if (!std::isfinite(value)) {
      ++block.counts.absent_cells;
      continue;
    }
    const size_t column = block.column(sample->series);
    if (column == RowBlock::kIgnored) continue;
    if (kind == SampleKind::kValue) {
      block.set(column, value);
      continue;
    }
    Last& last = last_[sample->series];
    const bool both_stamped = sample->stamp_s && last.stamp_s;
    const double apart_s = both_stamped ? *sample->stamp_s - *last.stamp_s : passed_s;
    const bool follows = last.scrape > 0 && last.scrape + 1 == scrape_;
    if (follows && both_stamped && apart_s == 0) {
      last.scrape = scrape_;  // the same sample again
      continue;
    }
    if (follows && apart_s > 0) {
      const bool reset = value < last.value;
      block.counts.counter_resets += reset ? 1 : 0;
      block.set(column, (reset ? value : value - last.value) / apart_s);
    }
    last = {value, scrape_, sample->stamp_s};
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
