#include "studies/latency/neusight_data.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::ai::latency_study {
namespace {

constexpr double kMostSize = 1e9;  // of one dimension
constexpr double kMostMilliseconds = 1e9;
constexpr const char* kCode = "bad-neusight";

// Columns of a table by name, with the cell's number in range or an error that names the row.
class Columns {
 public:
  Columns(const CsvTable& table, std::vector<std::string> names) : table_(table), names_(std::move(names)) {}

  Status find() {
    for (const std::string& name : names_) {
      const auto column = table_.column(name);
      if (!column) return column.error();
      index_[name] = *column;
    }
    return {};
  }
  std::string_view text(size_t row, const std::string& name) const { return table_.cell(row, index_.at(name)); }
  Result<double> number(size_t row, const std::string& name, double least, double most,
                        std::optional<double> blank = std::nullopt) const {
    const auto value = table_.number(row, index_.at(name));
    if (!value) return value.error();
    if (!*value && blank) return *blank;
    if (!*value || **value < least || **value > most) {
      return Error{kCode, *value ? fmt::format("{} is {}", name, **value) : fmt::format("{} is blank", name),
                   table_.where(row), fmt::format("a number from {} to {}", least, most)};
    }
    return **value;
  }
  // Several cells; the first error wins.
  Status numbers(size_t row, std::initializer_list<std::pair<const char*, double*>> cells, double least,
                 double most) const {
    for (const auto& [name, into] : cells) {
      const auto value = number(row, name, least, most);
      if (!value) return value.error();
      *into = *value;
    }
    return {};
  }

 private:
  const CsvTable& table_;
  std::vector<std::string> names_;
  std::map<std::string, size_t> index_;
};

std::optional<std::vector<double>> dimensions(std::string_view text) {
  std::vector<double> sizes;
  for (const std::string& part : split(text, 'x')) {
    const auto value = parse_number(part);
    if (!value || *value < 1 || *value > kMostSize) return std::nullopt;
    sizes.push_back(*value);
  }
  return sizes;
}

double values_of(const std::vector<double>& sizes) {
  double product = 1;
  for (const double size : sizes) product *= size;
  return product;
}

// Nothing where the text is no part.
std::optional<TracedPart> traced_part(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon), shape = text.substr(colon + 1);
  TracedPart part;
  if (kind == "MEM") {
    for (const std::string& tensor : split(shape, '/')) {
      const auto sizes = dimensions(tensor);
      if (!sizes) return std::nullopt;
      part.tensors.push_back(values_of(*sizes));
    }
    return part.tensors.empty() ? std::nullopt : std::optional(part);
  }
  const auto sizes = dimensions(shape);
  if (!sizes) return std::nullopt;
  if (kind == "Linear" && sizes->size() == 3) {
    part.kind = TracedPart::Kind::kLinear;
    part.shape = {1, (*sizes)[0], (*sizes)[1], (*sizes)[2], true};
  } else if (kind == "BMM" && sizes->size() == 4) {
    part.kind = TracedPart::Kind::kBatched;
    part.shape = {(*sizes)[0], (*sizes)[1], (*sizes)[2], (*sizes)[3], false};
  } else if (kind.starts_with("VEC") && sizes->size() == 2) {
    part.kind = TracedPart::Kind::kVector;
    part.op = kind.substr(3);
    part.rows = (*sizes)[0];
    part.columns = (*sizes)[1];
  } else {
    return std::nullopt;
  }
  return part;
}

using ModelKey = std::tuple<std::string, std::string, bool, int64_t, int64_t>;

Result<ModelKey> model_key(const CsvTable& table, const Columns& columns, size_t row) {
  const std::string_view mode = columns.text(row, "mode");
  if (mode != "inf" && mode != "train") {
    return Error{kCode, fmt::format("mode is '{}'", printable(mode)), table.where(row), "inf or train"};
  }
  double sequence = 0, batch = 0;
  if (auto read = columns.numbers(row, {{"seq", &sequence}, {"batch", &batch}}, 1, kMostSize); !read) {
    return read.error();
  }
  return ModelKey{columns.text(row, "device"), columns.text(row, "model"), mode == "train",
                  static_cast<int64_t>(sequence), static_cast<int64_t>(batch)};
}

Result<std::string> read_table(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name;
  return read_file(std::filesystem::exists(plain + ".gz") ? plain + ".gz" : plain);
}

}  // namespace

std::optional<VectorKind> vector_kind(std::string_view op) {
  static const std::map<std::string, VectorKind, std::less<>> kKinds = {
      {"addu", VectorKind::kUnary}, {"mulu", VectorKind::kUnary}, {"powu", VectorKind::kUnary},
      {"divu", VectorKind::kUnary}, {"relu", VectorKind::kUnary}, {"gelu", VectorKind::kUnary},
      {"tanh", VectorKind::kUnary}, {"add", VectorKind::kBinary}, {"mul", VectorKind::kBinary},
      {"pow", VectorKind::kBinary}, {"div", VectorKind::kBinary}, {"softmax", VectorKind::kSoftmax},
      {"ln", VectorKind::kNorm}};
  const auto found = kKinds.find(op);
  return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

Result<NeusightOperators> parse_neusight_operators(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  Columns columns(*table,
                  {"device", "op", "B", "M", "N", "K", "H", "latency_ms", "kernel", "tile_m", "tile_n", "grid_z"});
  if (auto found = columns.find(); !found) return found.error();
  NeusightOperators out;
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string_view op = columns.text(row, "op");
    if (op == "conv") continue;
    double milliseconds = 0, batch = 0;
    if (auto read = columns.numbers(row, {{"latency_ms", &milliseconds}}, 1e-9, kMostMilliseconds); !read) {
      return read.error();
    }
    if (auto read = columns.numbers(row, {{"B", &batch}}, 1, kMostSize); !read) return read.error();
    const std::string device(columns.text(row, "device"));
    if (op != "bmm" && op != "linear") {
      double columns_of_row = 0;
      if (auto read = columns.numbers(row, {{"H", &columns_of_row}}, 1, kMostSize); !read) return read.error();
      out.vectors.push_back({device, std::string(op), batch, columns_of_row, milliseconds * 1e-3});
      continue;
    }
    NeusightProduct product;
    product.device = device;
    product.kernel = columns.text(row, "kernel");
    product.seconds = milliseconds * 1e-3;
    product.shape.weights = op == "linear";
    product.shape.batch = op == "linear" ? 1 : batch;
    if (auto read = columns.numbers(row, {{"M", &product.shape.m}, {"N", &product.shape.k}, {"K", &product.shape.n}}, 1,
                                    kMostSize);
        !read) {
      return read.error();
    }
    if (op == "linear") product.shape.m *= batch;
    for (const auto& [name, into] : {std::pair("tile_m", &product.tile_m), std::pair("tile_n", &product.tile_n)}) {
      const auto value = columns.number(row, name, 0, kMostSize, 0);
      if (!value) return value.error();
      *into = *value;
    }
    if (op == "linear") {
      const auto grid = columns.number(row, "grid_z", 1, kMostSize, 1);
      if (!grid) return grid.error();
      product.split_k = *grid;
    }
    out.products.push_back(std::move(product));
  }
  return out;
}

Result<std::vector<TimedModel>> parse_neusight_models(std::string_view labels_csv, const std::string& labels_source,
                                                      std::string_view operators_csv,
                                                      const std::string& operators_source) {
  const auto labels = CsvTable::parse(labels_csv, labels_source);
  if (!labels) return labels.error();
  Columns label(*labels,
                {"device", "model", "mode", "seq", "batch", "option", "num_layer", "e2e_ms", "fw_ms", "bwall_ms"});
  if (auto found = label.find(); !found) return found.error();
  std::vector<TimedModel> models;
  std::map<ModelKey, size_t> places;
  for (size_t row = 0; row < labels->rows(); ++row) {
    if (!label.text(row, "option").empty()) continue;
    const auto key = model_key(*labels, label, row);
    if (!key) return key.error();
    TimedModel model;
    std::tie(model.device, model.model, model.training, model.sequence, model.batch) = *key;
    double layers = 0;
    const auto read_layers = label.number(row, "num_layer", 0, kMostSize, 0);
    if (!read_layers) return read_layers.error();
    layers = *read_layers;
    model.layers = static_cast<int64_t>(layers);
    if (auto read = label.numbers(row, {{"e2e_ms", &model.seconds}}, 1e-9, kMostMilliseconds); !read) {
      return read.error();
    }
    if (auto read =
            label.numbers(row, {{"fw_ms", &model.forward_s}, {"bwall_ms", &model.backward_s}}, 0, kMostMilliseconds);
        !read) {
      return read.error();
    }
    for (double* time : {&model.seconds, &model.forward_s, &model.backward_s}) *time *= 1e-3;
    if (!places.emplace(*key, models.size()).second) {
      return Error{kCode, "a configuration is there twice", labels->where(row), "each once"};
    }
    models.push_back(std::move(model));
  }

  const auto table = CsvTable::parse(operators_csv, operators_source);
  if (!table) return table.error();
  Columns cells(*table,
                {"device", "model", "mode", "seq", "batch", "segment", "op", "fw_ops", "label_fw_ms", "label_bw_ms"});
  if (auto found = cells.find(); !found) return found.error();
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto key = model_key(*table, cells, row);
    if (!key) return key.error();
    const auto place = places.find(*key);
    if (place == places.end()) continue;
    TracedOperator traced;
    traced.segment = cells.text(row, "segment");
    traced.op = cells.text(row, "op");
    if (const std::string_view text = cells.text(row, "fw_ops"); !text.empty()) {
      for (const std::string& piece : split(text, '|')) {
        if (piece.empty()) continue;
        auto part = traced_part(piece);
        if (!part) {
          return Error{kCode, fmt::format("fw_ops has '{}'", printable(piece)), table->where(row),
                       "Linear:MxKxN, BMM:BxMxKxN, VECop:RxC or MEM:AxB/CxD"};
        }
        traced.parts.push_back(std::move(*part));
      }
    }
    for (const auto& [name, into] :
         {std::pair("label_fw_ms", &traced.label_forward_s), std::pair("label_bw_ms", &traced.label_backward_s)}) {
      const auto value = cells.number(row, name, 0, kMostMilliseconds, 0);
      if (!value) return value.error();
      *into = *value * 1e-3;
    }
    models[place->second].operators.push_back(std::move(traced));
  }
  return models;
}

Result<std::vector<PublishedPrediction>> parse_neusight_predictions(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  Columns cells(*table, {"device", "method", "model", "mode", "seq", "batch", "option", "pred_e2e_ms", "label_e2e_ms"});
  if (auto found = cells.find(); !found) return found.error();
  std::vector<PublishedPrediction> out;
  for (size_t row = 0; row < table->rows(); ++row) {
    if (!cells.text(row, "option").empty() || cells.text(row, "label_e2e_ms").empty()) continue;
    const auto key = model_key(*table, cells, row);
    if (!key) return key.error();
    PublishedPrediction prediction;
    std::tie(prediction.device, prediction.model, prediction.training, prediction.sequence, prediction.batch) = *key;
    prediction.method = cells.text(row, "method");
    if (auto read = cells.numbers(row, {{"pred_e2e_ms", &prediction.seconds}, {"label_e2e_ms", &prediction.label_s}},
                                  1e-9, kMostMilliseconds);
        !read) {
      return read.error();
    }
    prediction.seconds *= 1e-3;
    prediction.label_s *= 1e-3;
    out.push_back(std::move(prediction));
  }
  return out;
}

Result<NeusightData> read_neusight(const std::string& folder) {
  NeusightData data;
  std::array<std::string, 5> texts;
  const std::array<const char*, 5> names = {"ops_train.csv", "ops_test.csv", "e2e_labels.csv", "e2e_per_op.csv",
                                            "e2e_predictions.csv"};
  for (size_t i = 0; i < names.size(); ++i) {
    auto text = read_table(folder, names[i]);
    if (!text) return text.error();
    texts[i] = std::move(*text);
  }
  for (const auto& [i, into] : {std::pair(size_t{0}, &data.train), std::pair(size_t{1}, &data.test)}) {
    auto operators = parse_neusight_operators(texts[i], names[i]);
    if (!operators) return operators.error();
    *into = std::move(*operators);
  }
  auto models = parse_neusight_models(texts[2], names[2], texts[3], names[3]);
  if (!models) return models.error();
  data.models = std::move(*models);
  auto predictions = parse_neusight_predictions(texts[4], names[4]);
  if (!predictions) return predictions.error();
  data.predictions = std::move(*predictions);
  return data;
}

}  // namespace perfcast::ai::latency_study
