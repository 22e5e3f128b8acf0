#include "program/corpus/importers/imported_columns.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "machine/facts/identifier.h"
#include "program/corpus/splits.h"

namespace perfcast::program {

bool is_amount(std::string_view metric) {
  return metric.ends_with("_count") || metric.ends_with("_bytes") || metric.ends_with("_s");
}

void read_imported_columns(const CsvTable& table, size_t row, const std::vector<ImportedColumn>& columns,
                           ExclusionCounter& exclusions, MetricValues& metrics,
                           std::map<std::string, std::string>& missing) {
  for (const ImportedColumn& column : columns) {
    const std::string_view cell = trim(table.cell(row, column.index));
    const auto value = parse_number(cell);
    std::string problem;
    if (cell.empty()) {
      problem = "blank: not measured";
    } else if (!value) {
      problem = "no finite number";
    } else if (*value < 0 && is_amount(column.metric)) {
      problem = "negative";
    } else if (!std::isfinite(*value * column.factor)) {
      problem = "no finite number in its unit";
    }
    if (problem.empty()) {
      metrics[column.metric] = *value * column.factor;
    } else {
      exclusions.add("counter", problem);
      missing[column.metric] = problem;
    }
  }
}

std::optional<double> positive_number(std::string_view cell, const std::string& subject, ExclusionCounter& exclusions) {
  cell = trim(cell);
  const auto value = parse_number(cell);
  if (cell.empty()) {
    exclusions.add(subject, "blank: not measured");
  } else if (!value) {
    exclusions.add(subject, "no finite number");
  } else if (*value == 0) {
    exclusions.add(subject, "zero");
  } else if (*value < 0) {
    exclusions.add(subject, "negative");
  }
  return value && *value > 0 ? value : std::nullopt;
}

std::string id_segment(std::string_view text) {
  std::string segment = identifier(trim(text), "_-", '_');
  while (!segment.empty() && segment.back() == '_') segment.pop_back();
  if (segment.empty()) return "unnamed";
  return program_key("x." + segment) == "x" ? "n" + segment : segment;
}

std::string input_segment(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return std::string(text);
  }
  // A fraction must not fall apart into two segments, nor meet another text: 0.5 is "0p5", -1 is "-1".
  std::string readable(text);
  if (parse_number(text)) std::replace(readable.begin(), readable.end(), '.', 'p');
  return "=" + id_segment(readable);
}

}  // namespace perfcast::program
