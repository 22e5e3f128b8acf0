#include "measure/tune/replay/recorded_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr const char* kTimeColumn = "time_s";
constexpr const char* kValidColumn = "valid";
constexpr size_t kMostRecordingMistakes = 10;
constexpr auto kMostValues = static_cast<size_t>(std::numeric_limits<int16_t>::max());

std::optional<bool> parse_valid(std::string_view cell) {
  const std::string text = lower_case(trim(cell));
  for (const char* yes : {"1", "true", "yes", "1.0"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "false", "no", "0.0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<double> number_of(std::string_view cell) {
  const std::string text = lower_case(trim(cell));
  if (text == "true") return 1;
  if (text == "false") return 0;
  return parse_number(text);
}

class RecordingReader {
 public:
  RecordingReader(const CsvTable& table, const std::string& source) : table_(table), source_(source) {}

  Result<RecordedSpace> run() {
    const auto time = table_.column(kTimeColumn);
    if (!time) return time.error();
    time_ = *time;
    valid_ = table_.find_column(kValidColumn);
    read_times();
    if (!mistakes_.empty()) {
      return Error{"bad-recording", join(mistakes_, "\n"), source_, "a time above 0 in each valid row; valid: 1 or 0"};
    }
    read_knobs();
    if (!mistakes_.empty())
      return Error{"bad-recording", join(mistakes_, "\n"), source_, "knobs as columns, results as time_s and valid"};
    if (space_.knobs.empty()) {
      return Error{"bad-recording", "no column but time_s and valid has different values", source_,
                   "one column for each knob"};
    }
    join_points();
    if (space_.points.size() == space_.invalid_points())
      return Error{"bad-recording", "no row is valid", source_, "rows with a time"};
    return std::move(space_);
  }

 private:
  void complain(size_t row, const std::string& what) {
    if (mistakes_.size() < kMostRecordingMistakes) mistakes_.push_back(table_.where(row) + ": " + what);
  }
  void read_times() {
    for (size_t row = 0; row < table_.rows(); ++row) {
      const std::string_view cell = trim(table_.cell(row, time_));
      const auto time = parse_number(cell);
      std::optional<bool> valid = time && *time > 0;
      const std::string_view word = valid_ ? trim(table_.cell(row, *valid_)) : std::string_view();
      if (!word.empty()) valid = parse_valid(word);
      if (!valid) {
        complain(row, "valid is '" + printable(word) + "'");
      } else if (*valid && !(time && *time > 0)) {
        complain(row, "valid, and time_s is '" + printable(cell) + "'");
      }
      times_.push_back(valid.value_or(false) ? time : std::nullopt);
    }
  }
  void read_knobs() {
    for (size_t column = 0; column < table_.columns().size(); ++column) {
      if (column == time_ || column == valid_) continue;
      Knob knob;
      knob.name = table_.columns()[column];
      std::map<std::string, bool> seen;
      for (size_t row = 0; row < table_.rows(); ++row) seen.emplace(trim(table_.cell(row, column)), true);
      const size_t different = seen.size();
      seen.erase("");  // not in play
      for (const auto& [text, unused] : seen) knob.values.push_back({text, number_of(text)});
      if (knob.values.size() > kMostValues) {
        mistakes_.push_back("column '" + printable(knob.name) + "' has more than " + std::to_string(kMostValues) +
                            " different values: no knob");
        continue;
      }
      if (different < 2) {
        space_.constant_columns.push_back(knob.name);
        continue;
      }
      if (knob.is_numeric())
        std::stable_sort(knob.values.begin(), knob.values.end(),
                         [](const KnobValue& a, const KnobValue& b) { return *a.number < *b.number; });
      columns_.push_back(column);
      space_.knobs.push_back(std::move(knob));
    }
  }
  void join_points() {
    std::vector<std::map<std::string, int16_t>> levels(space_.knobs.size());
    for (size_t knob = 0; knob < space_.knobs.size(); ++knob) {
      for (size_t i = 0; i < space_.knobs[knob].values.size(); ++i)
        levels[knob][space_.knobs[knob].values[i].text] = static_cast<int16_t>(i);
    }
    std::map<Setting, size_t> places;
    std::vector<std::vector<double>> times;
    for (size_t row = 0; row < table_.rows(); ++row) {
      Setting setting;
      for (size_t knob = 0; knob < space_.knobs.size(); ++knob) {
        const std::string text(trim(table_.cell(row, columns_[knob])));
        setting.push_back(text.empty() ? kNotInPlay : levels[knob].at(text));
      }
      const auto [place, is_new] = places.try_emplace(setting, space_.points.size());
      if (is_new) {
        space_.points.push_back({setting, std::nullopt});
        times.emplace_back();
      } else {
        ++space_.repeated_rows;
      }
      if (times_[row]) times[place->second].push_back(*times_[row]);
    }
    for (size_t i = 0; i < times.size(); ++i) {
      if (!times[i].empty()) space_.points[i].time_s = median(times[i]);
    }
  }

  const CsvTable& table_;
  const std::string& source_;
  size_t time_ = 0;
  std::optional<size_t> valid_;
  std::vector<std::optional<double>> times_;
  std::vector<size_t> columns_;
  std::vector<std::string> mistakes_;
  RecordedSpace space_;
};

}  // namespace

size_t RecordedSpace::invalid_points() const {
  return static_cast<size_t>(
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !point.time_s; }));
}

double RecordedSpace::best_s() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Point& point : points) best = std::min(best, point.time_s.value_or(best));
  return best;
}

Result<RecordedSpace> parse_recorded_space(std::string_view text, const std::string& source) {
  const auto table = CsvTable::parse_any_form(text, source);
  if (!table) return table.error();
  auto space = RecordingReader(*table, source).run();
  if (space) space->form = table->form();
  return space;
}

}  // namespace perfcast::measure
