#include "ai/llm_forecast/calibration_runs.h"

#include <array>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kMostSize = 2147483648;              // 2^31
constexpr double kMostOperations = 9007199254740992;  // 2^53
constexpr double kMostSeconds = 3600;
constexpr size_t kMostRows = 100'000;
constexpr size_t kLongestName = 200;

enum Column : uint8_t { kDevice, kKind, kBatch, kM, kK, kN, kPrecision, kLatency, kColumns };
constexpr std::array<const char*, kColumns> kNames = {"device", "kind", "batch",     "m",
                                                      "k",      "n",    "precision", "latency_s"};

Error bad(const CsvTable& table, size_t row, std::string message, std::string expected) {
  return {"bad-calibration", std::move(message), table.where(row), std::move(expected)};
}

Result<double> number_in(const CsvTable& table, size_t row, size_t column, double low, double high, const char* what) {
  const auto value = table.number(row, column);
  if (!value) return value.error();
  if (!*value || !(**value >= low) || !(**value <= high)) {
    return bad(
        table, row, std::string(what) + " is '" + printable(table.cell(row, column)) + "'",
        std::string(what) == "latency_s" ? "seconds, above 0 and at most 3600" : "a whole number from 1 to 2147483648");
  }
  return **value;
}

}  // namespace

Result<std::vector<CalibrationRun>> parse_calibration_runs(std::string_view csv, const std::string& source,
                                                           std::string* form) {
  const auto table = CsvTable::parse_any_form(csv, source);
  if (!table) return table.error();
  if (form != nullptr) *form = table->form();
  const std::string all = join({kNames.begin(), kNames.end()}, ",");
  std::array<size_t, kColumns> at = {};
  for (size_t i = 0; i < kColumns; ++i) {
    const auto found = table->column(kNames[i]);
    if (!found) return found.error();
    at[i] = *found;
  }
  if (table->columns().size() != kColumns) {
    return Error{"bad-calibration", "there are columns beside those of calibration runs", source, "columns " + all};
  }
  if (table->rows() == 0 || table->rows() > kMostRows) {
    return Error{"bad-calibration", std::to_string(table->rows()) + " rows", source,
                 "from 1 to " + std::to_string(kMostRows)};
  }
  std::vector<CalibrationRun> runs;
  runs.reserve(table->rows());
  for (size_t row = 0; row < table->rows(); ++row) {
    CalibrationRun run;
    run.line = table->line(row);
    run.device = trim(table->cell(row, at[kDevice]));
    if (run.device.empty() || run.device.size() > kLongestName) {
      return bad(*table, row, "a device without a name, or with one too long", "a name of at most 200 bytes");
    }
    const std::string kind = lower_case(trim(table->cell(row, at[kKind])));
    if (kind != "linear" && kind != "bmm") {
      return bad(*table, row, "there is no kind '" + printable(kind) + "'", "linear or bmm");
    }
    run.kind = kind == "bmm" ? CalibrationRun::Kind::kBmm : CalibrationRun::Kind::kLinear;
    double operations = 2;
    const std::array<std::pair<Column, int64_t*>, 4> sizes = {
        {{kBatch, &run.batch}, {kM, &run.m}, {kK, &run.k}, {kN, &run.n}}};
    for (const auto& [column, size] : sizes) {
      const auto value = number_in(*table, row, at[column], 1, kMostSize, kNames[column]);
      if (!value) return value.error();
      if (*value != std::floor(*value)) {
        return bad(*table, row, std::string(kNames[column]) + " is no whole number", "a whole number");
      }
      *size = static_cast<int64_t>(*value);
      operations *= *value;
    }
    if (operations > kMostOperations) {
      return bad(*table, row, "a product of more than 2^53 operations", "a smaller product");
    }
    const std::string precision(trim(table->cell(row, at[kPrecision])));
    const auto known = precision_named(precision);
    if (!known || info(*known).weights_only) {
      return bad(*table, row, "there is no precision '" + printable(precision) + "' of products",
                 "fp32, tf32, fp16, bf16, fp8 or int8");
    }
    run.precision = *known;
    const auto latency = number_in(*table, row, at[kLatency], 1e-12, kMostSeconds, kNames[kLatency]);
    if (!latency) return latency.error();
    run.latency_s = *latency;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace perfcast::ai
