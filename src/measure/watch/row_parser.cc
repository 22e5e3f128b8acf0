#include "measure/watch/row_parser.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/unknown.h"
#include "measure/watch/fast_number.h"
#include "measure/watch/row_time.h"

namespace perfcast::measure {
namespace {

constexpr std::array<std::string_view, 3> kTimeNames = {"time_s", "timestamp", "time"};

}  // namespace

bool RowParser::is_time_name(std::string_view name) const {
  if (!options_.time_column.empty()) return name == options_.time_column;
  return std::find(kTimeNames.begin(), kTimeNames.end(), name) != kTimeNames.end();
}

size_t RowParser::time_rank(std::string_view name) {
  return static_cast<size_t>(std::find(kTimeNames.begin(), kTimeNames.end(), name) - kTimeNames.begin());
}

double RowParser::time_of(double number) {
  if (!std::isfinite(number)) return kUnknown;
  if (time_unit_s_ == 0) time_unit_s_ = time_unit_s(number);
  return number * time_unit_s_;
}

double RowParser::time_of(std::string_view text, bool is_text) {
  double number = 0;
  if (!is_text && is_number(text, number)) return time_of(number);
  text = trim(text);
  if (const auto time_s = iso_time_s(text)) return *time_s;
  return is_number(text, number) ? time_of(number) : kUnknown;
}

void RowParser::finish_row(RowBlock& block, double time_s, size_t group) {
  if (group == RowBlock::kIgnored) {
    ++block.counts.ignored_groups;
    block.drop_row();
    return;
  }
  if (!has_time_) {
    time_s = block.last_time_s + (block.counts.rows > 0 ? options_.interval_s : 0);
    ++block.counts.assumed_times;
  } else if (std::isnan(time_s)) {
    ++block.counts.untimed_rows;
    time_s = block.last_time_s;
  }
  block.last_time_s = time_s;
  block.end_row(time_s, group);
}

std::unique_ptr<RowParser> make_parser(const ParserOptions& options, std::string_view line) {
  const bool json = options.format == StreamFormat::kJsonLines ||
                    (options.format == StreamFormat::kDetect && trim(line).starts_with("{"));
  return json ? make_json_parser(options) : make_csv_parser(options);
}

}  // namespace perfcast::measure
