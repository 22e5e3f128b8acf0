#pragma once
// A metric's values in the lines that a training prints.
//
// Forms that are known without a pattern, of a metric "accuracy":
//   {"epoch": 3, "accuracy": 0.91}             JSON, also one level down, also behind other text in the line
//   {'epoch': 3, 'accuracy': nan}              the same as Python prints it (base/python_json.h)
//   :::MLLOG {"key": "accuracy", "value": 0.91, "time_ms": ...}
//   epoch=3 accuracy=0.91, accuracy: 0.91, accuracy = 91.0%      the name as a word of its own, perhaps in quotes;
//   accuracy<tab>0.91                                                % is not divided by 100
// Of several in one line the last counts. "nan", "inf" and "-inf" are readings, too, and no quality. A terminal's
// colours are no part of a line.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

inline constexpr size_t kLongestMetricLine = 65536;  // the rest of a line is not looked at
inline constexpr size_t kLongestPatternLine = 2000;  // what a regular expression is tried on

class MetricReader {
 public:
  // `pattern`: a regular expression (ECMAScript) whose first group that matches is the number; empty: the forms above.
  // "bad-usage" for a metric without a name, or one that doesn't compile or has no group.
  static Result<MetricReader> create(std::string metric, const std::string& pattern);

  std::optional<double> read(std::string_view line) const;
  const std::string& metric() const { return metric_; }

 private:
  struct Pattern;
  std::string metric_;
  std::shared_ptr<const Pattern> pattern_;  // null: the forms
};

// The line at which a clock starts, by a regular expression.
class StartPattern {
 public:
  // Empty: every line. "bad-usage" at --from for what is no regular expression.
  static Result<StartPattern> create(const std::string& pattern);
  bool is_empty() const { return regex_ == nullptr; }
  bool finds(std::string_view line) const;  // in its first kLongestPatternLine bytes

 private:
  struct Regex;
  std::shared_ptr<const Regex> regex_;
};

// What a line has values of, in the same forms: names to offer where the one that was asked for never comes.
std::vector<std::string> metric_names_in(std::string_view line);

// A number as trainings print it, "nan", "inf" and "-inf" among them.
std::optional<double> parse_reading(std::string_view text);

// The time that a line of JSON states: time_s or elapsed_s as they are, time_ms / 1000 (MLLOG: since 1970).
std::optional<double> stated_time_s(std::string_view line);
// "run_start" of a line with {"key": "run_start", ...} or {"event": "run_start", ...}; empty where it is none.
std::string event_of(std::string_view line);

// Without a terminal's colours, titles and links (ESC [ ... m and the like).
std::string without_escapes(std::string_view line);

// Bytes to lines: at "\n" and "\r" (progress bars).
class LineCutter {
 public:
  // Calls `take` with every line that ends in `bytes`.
  template <typename Take>
  void add(std::string_view bytes, const Take& take) {
    for (const char c : bytes) {
      if (c != '\n' && c != '\r') {
        if (line_.size() < kLongestMetricLine) line_.push_back(c);
        continue;
      }
      if (!line_.empty()) take(std::string_view(line_));
      line_.clear();
    }
  }
  // What the last line has without an end.
  template <typename Take>
  void finish(const Take& take) {
    if (!line_.empty()) take(std::string_view(line_));
    line_.clear();
  }

 private:
  std::string line_;
};

}  // namespace perfcast::ai
