#include "ai/engine/vllm_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/csv.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/table_row.h"
#include "base/text.h"
#include "base/version_number.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostPointBytes = size_t{512} << 20;
constexpr double kImplausible = 1000;    // times the median of like rows
constexpr size_t kFewestNeighbours = 5;  // for that median
constexpr double kContradiction = 0.05;  // of the client's time per token; medians of single streams agree to 0.1%
constexpr int64_t kMostTokens = int64_t{1} << 30, kMostGpus = 4096;

// One time of requests: its column in whatever unit, and the factor to seconds.
struct TimeColumn {
  std::string name;
  double factor = 1;
};

Result<TimeColumn> time_column(const CsvTable& table, const std::string& stem, const std::string& source,
                               std::vector<std::string>& notes) {
  struct Unit {
    const char* suffix;
    double factor;
  };
  constexpr std::array<Unit, 3> kUnits = {{{"_ms", 1e-3}, {"_s", 1}, {"_us", 1e-6}}};
  for (const Unit& unit : kUnits) {
    const std::string name = stem + unit.suffix;
    if (!table.find_column(name)) continue;
    if (unit.factor != 1e-3) notes.push_back(name + " is read as its name says, not in ms");
    return TimeColumn{name, unit.factor};
  }
  return Error{"missing-column", "there is no column '" + stem + "_ms'", source,
               "times in ms, s or us under " + stem + "_ms, " + stem + "_s or " + stem +
                   "_us; nearest of this table: " + nearest_names(stem + "_ms", table.columns(), 3)};
}

std::optional<PointStrategy> strategy_of(const std::string& text) {
  if (text == "synchronous") return PointStrategy::kSynchronous;
  if (text == "constant") return PointStrategy::kConstant;
  if (text == "throughput") return PointStrategy::kThroughput;
  return std::nullopt;
}

// What is measured: rows that differ in nothing but the version repeat each other.
auto setting_of(const VllmPoint& point) {
  return std::tuple(point.vendor, point.server, point.gpu, point.tensor_parallel, point.model, point.precision,
                    point.strategy, point.prompt_tokens, point.output_tokens,
                    std::isnan(point.rate_per_s) ? -1 : point.rate_per_s);
}

class Reader {
 public:
  Reader(const CsvTable& table, std::string source) : table_(table), source_(std::move(source)) {}

  Result<VllmPoints> read();

 private:
  Status find_columns();
  // The point, or why the row can't be used.
  std::optional<std::string> read_row(size_t row, VllmPoint& point) const;
  std::optional<double> time(const TableRow& row, const TimeColumn& column) const;
  void leave_out(const std::string& reason, size_t row);
  void drop_far(double VllmPoint::*time, const char* name);
  void drop_older_versions();
  void drop(const std::vector<bool>& gone, const std::string& reason);

  const CsvTable& table_;
  std::string source_;
  TimeColumn first_, further_, client_;
  VllmPoints result_;
  std::vector<size_t> rows_;  // of result_.points
};

Status Reader::find_columns() {
  for (const char* needed : {"vendor", "server", "mode", "model_id", "prompt_tokens", "output_tokens", "strategy",
                             "vllm", "cpu_model", "tensor_parallel", "gpu_model"}) {
    if (const auto column = table_.column(needed); !column) return column.error();
  }
  const std::pair<const char*, TimeColumn*> times[] = {
      {"ttft_p50", &first_}, {"itl_p50", &further_}, {"tpot_p50", &client_}};
  for (const auto& [stem, column] : times) {
    auto found = time_column(table_, stem, source_, result_.notes);
    if (!found) return found.error();
    *column = std::move(*found);
  }
  return {};
}

void Reader::leave_out(const std::string& reason, size_t row) {
  for (VllmPoints::Left& left : result_.left_out) {
    if (left.reason != reason) continue;
    ++left.count;
    return;
  }
  result_.left_out.push_back({reason, 1, table_.where(row)});
}

// Blank is unknown; anything but a number above 0 is none.
std::optional<double> Reader::time(const TableRow& row, const TimeColumn& column) const {
  if (row.text(column.name).empty()) return kUnknown;
  const auto value = row.positive(column.name);
  if (!value || *value * column.factor > 1e7) return std::nullopt;
  return *value * column.factor;
}

std::optional<std::string> Reader::read_row(size_t index, VllmPoint& point) const {
  const TableRow row(table_, index);
  const std::string mode = row.text("mode");
  if (mode != "gpu" && mode != "cpu") return "mode is neither gpu nor cpu";
  const auto strategy = strategy_of(row.text("strategy"));
  if (!strategy) return "strategy is none of synchronous, constant, throughput";
  const auto tokens = [&](const char* column) {
    const auto value = row.integer(column);
    return value && *value >= 1 && *value <= kMostTokens ? value : std::nullopt;
  };
  const auto prompt = tokens("prompt_tokens"), output = tokens("output_tokens");
  if (!prompt || !output) return "no number of tokens of prompt and output";
  point.on_gpu = mode == "gpu";
  const auto degree = row.integer("tensor_parallel");
  if (point.on_gpu && !(degree && *degree >= 1 && *degree <= kMostGpus)) return "no tensor-parallel degree";
  const auto first = time(row, first_), further = time(row, further_), client = time(row, client_);
  if (!first || !further || !client) return "a time that is no number above 0";
  if (std::isnan(*first) && std::isnan(*further) && std::isnan(*client)) return "no time";
  point.vendor = row.text("vendor");
  point.server = row.text("server");
  point.gpu = row.text("gpu_model");
  if (point.on_gpu && point.gpu.empty()) return "no model of GPU";
  point.gpus = row.integer("gpu_count").value_or(0);
  point.tensor_parallel = std::max<int64_t>(1, degree.value_or(1));  // 0, of CPUs: one node
  const std::string avx512 = lower_case(row.text("avx512"));
  if (avx512 == "true" || avx512 == "false") point.avx512 = avx512 == "true";
  point.cpu = row.text("cpu_model");
  point.vcpus = row.positive("vcpus").value_or(kUnknown);
  point.model = row.text("model_id");
  if (point.model.empty()) return "no language model";
  point.precision = row.text("dtype");
  point.version = row.text("vllm");
  point.strategy = *strategy;
  point.prompt_tokens = *prompt;
  point.output_tokens = *output;
  point.rate_per_s = row.positive("target_rate_rps").value_or(kUnknown);
  point.concurrency = row.positive("concurrency").value_or(kUnknown);
  point.most_concurrency = row.positive("max_concurrency").value_or(kUnknown);
  point.most_sequences = row.positive("max_num_seqs").value_or(kUnknown);
  point.step_tokens = row.positive("max_num_batched_tokens").value_or(kUnknown);
  point.seconds = row.positive("seconds").value_or(kUnknown);
  point.first_p95_s = row.positive("ttft_p95_ms").value_or(kUnknown) * 1e-3;
  point.first_s = *first;
  point.further_s = *further;
  point.client_token_s = *client;
  point.output_per_s = row.positive("output_tokens_per_s").value_or(kUnknown);
  if (point.strategy == PointStrategy::kSynchronous) {
    const double outputs = static_cast<double>(point.output_tokens);
    const double client_s = (point.first_s + (outputs - 1) * point.further_s) / outputs;
    if (std::abs(client_s / point.client_token_s - 1) > kContradiction) {
      return "ttft, itl and tpot contradict each other: tpot is (ttft + (outputs - 1) x itl) / outputs";
    }
  }
  return std::nullopt;
}

void Reader::drop(const std::vector<bool>& gone, const std::string& reason) {
  VllmPoints kept;
  std::vector<size_t> rows;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) {
      leave_out(reason, rows_[i]);
    } else {
      kept.points.push_back(std::move(result_.points[i]));
      rows.push_back(rows_[i]);
    }
  }
  result_.points = std::move(kept.points);
  rows_ = std::move(rows);
}

void Reader::drop_far(double VllmPoint::*time, const char* name) {
  const auto group = [](const VllmPoint& point) {
    return std::tuple(point.on_gpu, point.model, point.prompt_tokens, point.strategy);
  };
  std::map<decltype(group(VllmPoint())), std::vector<double>> times;
  for (const VllmPoint& point : result_.points) {
    if (point.*time > 0) times[group(point)].push_back(point.*time);
  }
  for (auto& [like, values] : times) values = {values.size() < kFewestNeighbours ? kUnknown : median(values)};
  std::vector<bool> gone(result_.points.size());
  for (size_t i = 0; i < gone.size(); ++i) {
    const VllmPoint& point = result_.points[i];
    if (!(point.*time > 0)) continue;
    const double ratio = point.*time / times[group(point)].front();  // NaN among too few
    gone[i] = ratio > kImplausible || ratio < 1 / kImplausible;
  }
  drop(gone, fmt::format("{} is over 1,000 times or below a thousandth of what like rows have", name));
}

void Reader::drop_older_versions() {
  std::map<decltype(setting_of(VllmPoint())), std::vector<int64_t>> newest;
  for (const VllmPoint& point : result_.points) {
    auto& best = newest[setting_of(point)];
    best = std::max(best, version_parts(point.version));
  }
  std::vector<bool> gone(result_.points.size());
  for (size_t i = 0; i < gone.size(); ++i) {
    gone[i] = version_parts(result_.points[i].version) < newest[setting_of(result_.points[i])];
  }
  drop(gone, "an older version of vLLM, where a newer one measured the same");
}

Result<VllmPoints> Reader::read() {
  if (Status status = find_columns(); !status) return status.error();
  std::set<std::string> seen;
  for (size_t row = 0; row < table_.rows(); ++row) {
    std::string cells;
    for (size_t column = 0; column < table_.columns().size(); ++column) {
      cells.append(table_.cell(row, column)).push_back('\n');
    }
    VllmPoint point;
    if (!seen.insert(std::move(cells)).second) {
      leave_out("an exact copy of another row", row);
    } else if (const auto reason = read_row(row, point)) {
      leave_out(*reason, row);
    } else {
      result_.points.push_back(std::move(point));
      rows_.push_back(row);
    }
  }
  drop_far(&VllmPoint::first_s, "ttft");
  drop_far(&VllmPoint::further_s, "itl");
  drop_far(&VllmPoint::client_token_s, "tpot");
  drop_older_versions();
  if (result_.points.empty()) {
    return Error{
        "no-points", "no row of the table can be used", source_,
        result_.left_out.empty() ? "one row or more" : "rows without this fault: " + result_.left_out[0].reason};
  }
  std::map<std::string, int64_t> versions;
  for (const VllmPoint& point : result_.points) ++versions[printable(point.version.substr(0, 40))];
  for (const auto& [version, count] : versions) {
    if (versions.size() > 1 && versions.size() < 20) {
      result_.notes.push_back(fmt::format("{} points of vLLM {}", count, version.empty() ? "of no version" : version));
    }
  }
  return std::move(result_);
}

}  // namespace

Result<VllmPoints> parse_vllm_points(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  return Reader(*table, source).read();
}

Result<VllmPoints> read_vllm_points(const std::string& path) {
  namespace fs = std::filesystem;
  std::string file = path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    file = path + "/points.csv";
    if (!fs::exists(file, ignored)) file += ".gz";
  }
  const auto text = read_file(file, kMostPointBytes);
  if (!text) return text.error();
  return parse_vllm_points(*text, file);
}

std::vector<VllmPoint> single_streams(const VllmPoints& points, PointHardware hardware) {
  std::vector<VllmPoint> streams;
  for (const VllmPoint& point : points.points) {
    if (point.on_gpu == (hardware == PointHardware::kGpu) && point.strategy == PointStrategy::kSynchronous &&
        point.first_s > 0 && point.further_s > 0 && point.client_token_s > 0) {
      streams.push_back(point);
    }
  }
  return streams;
}

}  // namespace perfcast::ai
