#include "studies/latency/vidur_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::ai::latency_study {
namespace {

constexpr double kMost = 0x1p40;

struct VidurColumns {
  const CsvTable& table;
  std::vector<size_t> at;
};

Result<VidurColumns> columns_of(const CsvTable& table, const std::vector<const char*>& names) {
  VidurColumns columns{table, {}};
  for (const char* name : names) {
    const auto column = table.column(name);
    if (!column) return column.error();
    columns.at.push_back(*column);
  }
  return columns;
}

Error bad_vidur(const CsvTable& table, size_t row, const std::string& what, const std::string& expected) {
  return {"bad-vidur", what, table.where(row), expected};
}

// A cell that must hold a number in (0, 2^40].
Result<double> positive(const VidurColumns& columns, size_t row, size_t column) {
  const auto number = columns.table.number(row, columns.at[column]);
  if (!number) return number.error();
  const double value = number->value_or(0);
  if (value > 0 && value <= kMost) return value;
  return bad_vidur(columns.table, row,
                   fmt::format("{} is '{}'", columns.table.columns()[columns.at[column]],
                               printable(columns.table.cell(row, columns.at[column]).substr(0, 40))),
                   "a number above 0");
}

// A time in milliseconds, absent where the cell is empty.
Result<std::optional<double>> seconds(const VidurColumns& columns, size_t row, size_t column) {
  const auto number = columns.table.number(row, columns.at[column]);
  if (!number) return number.error();
  if (!*number) return std::optional<double>();
  const auto checked = positive(columns, row, column);
  if (!checked) return checked.error();
  return std::optional<double>(*checked * 1e-3);
}

size_t index_of(std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

enum LayerColumn : size_t {
  kDevice,
  kModel,
  kGated,
  kHeads,
  kKeyHeads,
  kWidth,
  kExpanded,
  kTokens,
  kRanks,
  kFirstTime
};
const std::vector<const char*> kLayerColumns = {"device",
                                                "model",
                                                "use_gated_mlp",
                                                "n_head",
                                                "n_kv_head",
                                                "n_embd",
                                                "n_expanded_embd",
                                                "num_tokens",
                                                "num_tensor_parallel_workers",
                                                "attn_pre_proj_ms",
                                                "attn_post_proj_ms",
                                                "mlp_up_proj_ms",
                                                "mlp_down_proj_ms",
                                                "input_layernorm_ms",
                                                "post_attention_layernorm_ms",
                                                "mlp_act_ms",
                                                "add_ms",
                                                "attn_rope_ms"};

// The sizes of one row's layer, on one rank.
struct Layer {
  double heads, key_heads, width, expanded, tokens, ranks;
  bool gated;

  double head_width() const { return width / heads; }
  double query_width() const { return heads / ranks * head_width(); }
  double key_width() const { return key_heads / ranks * head_width(); }
  double hidden() const { return expanded / ranks; }
};

Result<Layer> layer_of(const VidurColumns& columns, size_t row) {
  std::array<double, kFirstTime> values{};
  for (size_t i = kHeads; i < kFirstTime; ++i) {
    const auto value = positive(columns, row, i);
    if (!value) return value.error();
    values[i] = *value;
  }
  const std::string gated = lower_case(columns.table.cell(row, columns.at[kGated]));
  if (gated != "true" && gated != "false") {
    return bad_vidur(columns.table, row, "use_gated_mlp is '" + printable(gated.substr(0, 40)) + "'", "True or False");
  }
  const Layer layer = {values[kHeads],  values[kKeyHeads], values[kWidth], values[kExpanded],
                       values[kTokens], values[kRanks],    gated == "true"};
  for (const double size : {layer.tokens, layer.head_width(), layer.query_width(), layer.key_width(), layer.hidden()}) {
    if (size != std::floor(size)) {
      return bad_vidur(columns.table, row, "the layer's widths don't divide by its heads and ranks", "whole sizes");
    }
  }
  return layer;
}

// In the order of the columns of times.
std::array<ProductShape, 4> products_of(const Layer& layer) {
  const double m = layer.tokens;
  return {ProductShape{1, m, layer.width, layer.query_width() + 2 * layer.key_width(), true},
          ProductShape{1, m, layer.query_width(), layer.width, true},
          ProductShape{1, m, layer.width, (layer.gated ? 2 : 1) * layer.hidden(), true},
          ProductShape{1, m, layer.hidden(), layer.width, true}};
}

std::array<VectorShape, 5> vectors_of(const Layer& layer) {
  const double rows = layer.tokens;
  return {VectorShape{VectorKind::kNorm, rows, layer.width}, VectorShape{VectorKind::kNorm, rows, layer.width},
          VectorShape{VectorKind::kUnary, rows, (layer.gated ? 1.5 : 1) * layer.hidden()},
          VectorShape{VectorKind::kBinary, rows, layer.width},
          VectorShape{VectorKind::kCopy, rows, layer.query_width() + layer.key_width()}};
}

Result<std::string> read_table(const std::string& path) { return read_file(path, size_t{1} << 28); }

}  // namespace

Result<VidurProfile> parse_vidur_layers(std::string_view text, const std::string& source) {
  const auto table = CsvTable::parse(text, source);
  if (!table) return table.error();
  const auto columns = columns_of(*table, kLayerColumns);
  if (!columns) return columns.error();
  VidurProfile profile;
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto layer = layer_of(*columns, row);
    if (!layer) return layer.error();
    const size_t device = index_of(profile.devices, table->cell(row, columns->at[kDevice]));
    const size_t model = index_of(profile.models, table->cell(row, columns->at[kModel]));
    size_t column = kFirstTime;
    for (const ProductShape& shape : products_of(*layer)) {
      const auto time = seconds(*columns, row, column++);
      if (!time) return time.error();
      if (*time) profile.products.push_back({{shape, **time}, device, model});
    }
    for (const VectorShape& shape : vectors_of(*layer)) {
      const auto time = seconds(*columns, row, column++);
      if (!time) return time.error();
      if (*time) profile.vectors.push_back({{shape, **time}, device, model});
    }
  }
  return profile;
}

Result<std::vector<VidurAllReduce>> parse_vidur_all_reduces(std::string_view text, const std::string& source) {
  const auto table = CsvTable::parse(text, source);
  if (!table) return table.error();
  enum : size_t { kSystem, kCollective, kWorkers, kPerNode, kSize, kMedian };
  const auto columns =
      columns_of(*table, {"system", "collective", "num_workers", "devices_per_node", "size", "median_ms"});
  if (!columns) return columns.error();
  std::vector<VidurAllReduce> out;
  for (size_t row = 0; row < table->rows(); ++row) {
    if (table->cell(row, columns->at[kCollective]) != "all_reduce") continue;
    std::array<double, kMedian + 1> values{};
    for (const size_t i : {size_t{kWorkers}, size_t{kPerNode}, size_t{kSize}, size_t{kMedian}}) {
      const auto value = positive(*columns, row, i);
      if (!value) return value.error();
      values[i] = *value;
    }
    if (values[kWorkers] > 65536 || values[kWorkers] != std::floor(values[kWorkers])) {
      return bad_vidur(*table, row, fmt::format("{:g} workers", values[kWorkers]), "a whole number of at most 65536");
    }
    if (values[kWorkers] != values[kPerNode]) continue;
    out.push_back({{static_cast<int>(values[kWorkers]), values[kSize], values[kMedian] * 1e-3},
                   std::string(table->cell(row, columns->at[kSystem]))});
  }
  return out;
}

Result<VidurProfile> read_vidur_layers(const std::string& folder) {
  const std::string path = folder + "/mlp.csv.gz";
  const auto text = read_table(path);
  if (!text) return text.error();
  return parse_vidur_layers(*text, path);
}

Result<std::vector<VidurAllReduce>> read_vidur_all_reduces(const std::string& folder) {
  const std::string path = folder + "/collectives.csv.gz";
  const auto text = read_table(path);
  if (!text) return text.error();
  return parse_vidur_all_reduces(*text, path);
}

}  // namespace perfcast::ai::latency_study
