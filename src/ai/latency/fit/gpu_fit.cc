#include "ai/latency/fit/gpu_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "ai/latency/fit/bounded_least_squares.h"
#include "base/random.h"
#include "base/statistics.h"

namespace perfcast::ai {
namespace {

constexpr double kLeastClassRows = 15;
constexpr int kMostIterations = 80;

// Parts of k as the tree names them: exact while they are few.
double rounded_split(double split) { return split <= 6 ? split : split < 12 ? 8 : 16; }

std::vector<size_t> drawn(std::vector<size_t> rows, const GpuFitOptions& options) {
  if (rows.size() <= options.most_rows) return rows;
  Random random(options.seed);
  random.shuffle(rows);
  rows.resize(options.most_rows);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Minimises weighted log errors of `seconds(terms, i)` with a pull of log terms towards their start. Terms are fitted
// as logs inside their bounds. `infos`: anything with start, least, most.
template <typename Info, size_t kTerms, typename Seconds>
Result<std::array<double, kTerms>> fit_terms(const std::array<Info, kTerms>& infos, std::span<const double> measured,
                                             const GpuFitOptions& options, Seconds&& seconds) {
  const auto rows = static_cast<Eigen::Index>(measured.size());
  constexpr auto kCount = static_cast<Eigen::Index>(kTerms);
  Eigen::VectorXd start(kCount), lower(kCount), upper(kCount);
  for (Eigen::Index j = 0; j < kCount; ++j) {
    const Info& info = infos[static_cast<size_t>(j)];
    start[j] = std::log(info.start);
    lower[j] = std::log(info.least);
    upper[j] = std::log(info.most);
  }
  const double middle = median({measured.begin(), measured.end()});
  Eigen::VectorXd target(rows), weight(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double t = measured[static_cast<size_t>(i)];
    target[i] = std::log(t);
    weight[i] = std::pow(t / middle, options.long_weight);
  }
  const double pull = options.pull * std::sqrt(static_cast<double>(rows));
  const auto terms_of = [](const Eigen::VectorXd& logs) {
    std::array<double, kTerms> terms{};
    for (Eigen::Index j = 0; j < kCount; ++j) terms[static_cast<size_t>(j)] = std::exp(logs[j]);
    return terms;
  };
  const ResidualFunction residuals = [&](const Eigen::VectorXd& logs, Eigen::Ref<Eigen::VectorXd> out) {
    const std::array<double, kTerms> terms = terms_of(logs);
    for (Eigen::Index i = 0; i < rows; ++i) {
      out[i] = (std::log(seconds(terms, static_cast<size_t>(i))) - target[i]) * weight[i];
    }
    for (Eigen::Index j = 0; j < kCount; ++j) out[rows + j] = pull * (logs[j] - start[j]);
  };
  BoundedFitOptions fit_options;
  fit_options.soft_scale = options.soft_scale;
  fit_options.max_iterations = kMostIterations;
  fit_options.tolerance = 1e-6;
  const auto fit = fit_bounded(residuals, rows + kCount, start, lower, upper, fit_options);
  if (!fit) return fit.error();
  return terms_of(fit->parameters);
}

Result<TileKernel> fit_kernel(std::span<const ProfiledProduct> products, const std::vector<size_t>& rows,
                              const DeviceRates& rates, const GpuFitOptions& options) {
  TileKernel kernel;
  kernel.tile_m = products[rows.front()].tile_m;
  kernel.tile_n = products[rows.front()].tile_n;
  const std::vector<size_t> used = drawn(rows, options);
  std::vector<double> measured;
  measured.reserve(used.size());
  for (const size_t row : used) measured.push_back(products[row].seconds);
  const auto terms =
      fit_terms(tile_terms(), measured, options, [&](const std::array<double, kTileTerms>& tried, size_t i) {
        TileKernel with = kernel;
        with.terms = tried;
        const ProfiledProduct& product = products[used[i]];
        return with[TileTerm::kLaunch] + tile_time(with, rates, product.shape, product.split_k).seconds;
      });
  if (!terms) return terms.error();
  kernel.terms = *terms;
  return kernel;
}

// Without the error of large shapes.
Result<ProductModel> fit_once(std::span<const ProfiledProduct> products, const std::vector<size_t>& rows,
                              const DeviceRates& rates, const GpuFitOptions& options) {
  using KernelName = std::tuple<std::string, double, double>;
  std::map<KernelName, std::vector<size_t>> by_kernel;
  for (const size_t row : rows) {
    const ProfiledProduct& product = products[row];
    if (product.tile_m > 0 && product.tile_n > 0) {
      by_kernel[{product.kernel, product.tile_m, product.tile_n}].push_back(row);
    }
  }
  ProductModel model;
  std::map<std::pair<size_t, double>, std::vector<size_t>> by_class;
  for (const auto& [name, of_kernel] : by_kernel) {
    if (of_kernel.size() < options.least_rows) continue;
    const auto kernel = fit_kernel(products, of_kernel, rates, options);
    if (!kernel) return kernel.error();
    for (const size_t row : of_kernel) {
      by_class[{model.kernels.size(), rounded_split(products[row].split_k)}].push_back(row);
    }
    model.kernels.push_back(*kernel);
  }
  std::vector<ChoiceFeatures> features;
  std::vector<int32_t> classes;
  for (const auto& [kind, of_class] : by_class) {
    if (static_cast<double>(of_class.size()) < kLeastClassRows) continue;
    for (const size_t row : of_class) {
      features.push_back(choice_features(products[row].shape, rates.units));
      classes.push_back(static_cast<int32_t>(model.classes.size()));
    }
    model.classes.push_back({static_cast<int32_t>(kind.first), kind.second});
  }
  if (classes.empty()) {
    return Error{"bad-fit", fmt::format("no kernel has {} rows or more", options.least_rows), "", "more rows"};
  }
  model.choice = TileChoice::fit(features, classes);
  return model;
}

LogErrors log_errors(const ProductModel& model, std::span<const ProfiledProduct> products,
                     const std::vector<size_t>& rows, const DeviceRates& rates) {
  std::vector<double> absolute;
  absolute.reserve(rows.size());
  for (const size_t row : rows) {
    const OperatorTime time = model.time(products[row].shape, rates);
    absolute.push_back(std::abs(std::log((time.seconds + time.launch_seconds) / products[row].seconds)));
  }
  constexpr double kInterval90 = 1.645;
  LogErrors errors;
  errors.mean_absolute = mean(absolute);
  errors.spread = quantile(std::move(absolute), 0.9) / kInterval90;
  return errors;
}

const char* name_of(VectorKind kind) {
  constexpr const char* kNames[] = {"unary operators", "binary operators", "softmax", "norms", "copies"};
  return kNames[static_cast<size_t>(kind)];
}

RowShape row_shape(VectorKind kind, bool long_rows) {
  if (kind == VectorKind::kSoftmax) return long_rows ? RowShape::kBlock : RowShape::kWarp;
  return kind == VectorKind::kNorm ? RowShape::kBlock : RowShape::kFlat;
}

Result<VectorModel> fit_vector(std::span<const MeasuredVector> rows, VectorKind kind, double passes, bool long_rows,
                               const DeviceRates& rates, double clock_hz, const GpuFitOptions& options) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].shape.kind != kind) continue;
    if (kind == VectorKind::kSoftmax && (rows[i].shape.columns > kLongestWarpRow) != long_rows) continue;
    chosen.push_back(i);
  }
  if (chosen.size() < options.least_rows) {
    return Error{"bad-fit", fmt::format("{} rows of {}", chosen.size(), name_of(kind)), "",
                 fmt::format("{} or more", options.least_rows)};
  }
  chosen = drawn(std::move(chosen), options);
  std::vector<double> measured;
  measured.reserve(chosen.size());
  for (const size_t row : chosen) measured.push_back(rows[row].seconds);
  VectorModel model;
  model.rows = row_shape(kind, long_rows);
  model.passes = passes;
  GpuFitOptions of_vectors = options;
  of_vectors.long_weight = 0.3;  // most rows are as short as a launch
  const auto seconds = [&](const std::array<double, kVectorTerms>& tried, size_t i) {
    VectorModel with = model;
    with.terms = tried;
    const VectorShape& shape = rows[chosen[i]].shape;
    return with[VectorTerm::kLaunch] + vector_seconds(with, rates, clock_hz, shape.rows, shape.columns, 4);
  };
  const auto terms = fit_terms(vector_terms(), measured, of_vectors, seconds);
  if (!terms) return terms.error();
  model.terms = *terms;
  std::vector<double> errors;
  for (size_t i = 0; i < chosen.size(); ++i) errors.push_back(std::log(seconds(model.terms, i) / measured[i]));
  model.log_error = robust_deviation(errors);
  return model;
}

}  // namespace

bool is_large(const ProductShape& shape) {
  if (!shape.weights) return std::max(shape.m, shape.n) > 512 || shape.k > 400;
  return shape.m > 4096 || shape.n > 16384 || shape.k > 16384;
}

Result<LogErrors> large_shape_error(std::span<const ProfiledProduct> products, const DeviceRates& rates,
                                    const GpuFitOptions& options) {
  std::vector<size_t> all(products.size()), small, large;
  std::iota(all.begin(), all.end(), 0);
  for (const size_t row : all) (is_large(products[row].shape) ? large : small).push_back(row);
  const bool one_size = small.empty() || large.empty();
  const auto model = fit_once(products, one_size ? all : small, rates, options);
  if (!model) return model.error();
  return log_errors(*model, products, one_size ? all : large, rates);
}

Result<ProductModel> fit_products(std::span<const ProfiledProduct> products, const DeviceRates& rates,
                                  const GpuFitOptions& options) {
  const auto error = large_shape_error(products, rates, options);
  if (!error) return error.error();
  std::vector<size_t> all(products.size());
  std::iota(all.begin(), all.end(), 0);
  auto model = fit_once(products, all, rates, options);
  if (model) model->log_error = error->spread;
  return model;
}

Result<VectorModels> fit_vectors(std::span<const MeasuredVector> rows, const DeviceRates& rates, double clock_hz,
                                 const GpuFitOptions& options) {
  struct Part {
    VectorModel VectorModels::*into;
    VectorKind kind;
    double passes;
    bool long_rows;
  };
  const std::vector<Part> parts = {
      {&VectorModels::unary, VectorKind::kUnary, 2, false},
      {&VectorModels::binary, VectorKind::kBinary, 3, false},
      {&VectorModels::short_softmax, VectorKind::kSoftmax, 2, false},
      {&VectorModels::long_softmax, VectorKind::kSoftmax, 2, true},
      {&VectorModels::norm, VectorKind::kNorm, 2, false},
  };
  VectorModels models;
  for (const Part& part : parts) {
    const auto model = fit_vector(rows, part.kind, part.passes, part.long_rows, rates, clock_hz, options);
    if (!model) return model.error();
    models.*part.into = *model;
  }
  return models;
}

}  // namespace perfcast::ai
