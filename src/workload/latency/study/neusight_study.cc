#include "workload/latency/study/neusight_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "workload/latency/model/kin.h"
#include "workload/latency/study/neusight_score.h"

namespace perfcast {
namespace {

std::vector<std::string> devices_of(const NeusightOperators& operators) {
  std::set<std::string> names;
  for (const NeusightProduct& product : operators.products) names.insert(product.device);
  for (const NeusightVector& vector : operators.vectors) names.insert(vector.device);
  return {names.begin(), names.end()};
}

std::vector<NeusightProduct> products_of(const NeusightOperators& operators, const std::string& device) {
  std::vector<NeusightProduct> rows;
  std::copy_if(operators.products.begin(), operators.products.end(), std::back_inserter(rows),
               [&](const NeusightProduct& row) { return row.device == device; });
  return rows;
}

std::vector<NeusightProduct> with_weights(std::vector<NeusightProduct> rows, bool weights) {
  std::erase_if(rows, [&](const NeusightProduct& row) { return row.shape.weights != weights; });
  return rows;
}

// Timed models write '_' for the blanks of a device's name.
std::string folder_name(std::string device) {
  std::replace(device.begin(), device.end(), ' ', '_');
  return device;
}

std::string percent(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.1f}", 100 * ratio) : "-"; }
std::string signed_percent(double ratio) { return std::isfinite(ratio) ? fmt::format("{:+.1f}", 100 * ratio) : "-"; }

double mean_error(std::span<const EndToEndRow> rows, bool floor) {
  double sum = 0;
  for (const EndToEndRow& row : rows) sum += std::abs(floor ? row.floor_error() : row.error());
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

constexpr const char* kPublished[] = {"neusight", "habitat", "micro", "roofline"};

class EndToEndTable {
 public:
  explicit EndToEndTable(const NeusightData& data) : data_(data) {
    table_.add_column("device", TextTable::Align::kLeft);
    table_.add_column("mode", TextTable::Align::kLeft);
    for (const char* name :
         {"n", "ours %", "NeuSight %", "Habitat %", "Li et al. %", "roofline %", "perfect operators %"}) {
      table_.add_column(name, TextTable::Align::kRight);
    }
  }
  void add(const std::string& device, const std::string& mode, const std::vector<EndToEndRow>& rows) {
    if (rows.empty()) return;
    std::vector<std::string> cells = {device, mode, fmt::format("{}", rows.size()), percent(mean_error(rows, false))};
    for (const char* method : kPublished) cells.push_back(percent(published_error(data_.predictions, method, rows)));
    cells.push_back(percent(mean_error(rows, true)));
    table_.add_row(std::move(cells));
  }
  // Inference and training apart.
  void add_modes(const std::string& device, const std::vector<EndToEndRow>& rows) {
    for (const bool training : {false, true}) {
      std::vector<EndToEndRow> of_mode;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(of_mode),
                   [&](const EndToEndRow& row) { return row.timed->training == training; });
      add(device, training ? "training" : "inference", of_mode);
      std::vector<EndToEndRow>& all = training ? training_ : inference_;
      all.insert(all.end(), of_mode.begin(), of_mode.end());
    }
  }
  std::string text() {
    add("all of these", "inference", inference_);
    add("all of these", "training", training_);
    return table_.to_text();
  }

 private:
  const NeusightData& data_;
  TextTable table_;
  std::vector<EndToEndRow> inference_, training_;
};

TextTable operator_columns() {
  TextTable table;
  for (const char* name : {"device", "kind", "models from"}) table.add_column(name, TextTable::Align::kLeft);
  for (const char* name : {"n", "mean abs. %", "median signed %", "inside 90% interval", "roofline mean abs. %"}) {
    table.add_column(name, TextTable::Align::kRight);
  }
  return table;
}

// How far the roofline is off: its times are bounds.
double roofline_error(const DeviceFacts& device, std::span<const NeusightProduct> rows) {
  const DeviceRates rates = rates_of(device, MathMode::kFp32);
  double sum = 0;
  for (const NeusightProduct& row : rows) sum += std::abs(product_bound_s(row.shape, rates) / row.seconds - 1);
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

void add_operators(TextTable& table, const GpuModels& models, const std::string& device, const std::string& from,
                   const std::vector<NeusightProduct>& rows) {
  for (const bool weights : {true, false}) {
    const std::vector<NeusightProduct> of_kind = with_weights(rows, weights);
    if (of_kind.empty()) continue;
    const ErrorSummary errors = product_errors(models, of_kind, weights);
    table.add_row({device, weights ? "linear" : "bmm", from, fmt::format("{}", errors.n), percent(errors.mean_abs),
                   signed_percent(errors.bias), percent(errors.within_90),
                   percent(roofline_error(models.device, of_kind))});
  }
}

// Draws `count` rows of each kind by seed and takes them out of `rows`.
std::vector<NeusightProduct> take_shapes(std::vector<NeusightProduct>& rows, size_t count, uint64_t seed) {
  Random random(seed);
  random.shuffle(rows);
  std::vector<NeusightProduct> taken, left;
  size_t linear = 0, batched = 0;
  for (NeusightProduct& row : rows) {
    size_t& n = row.shape.weights ? linear : batched;
    (n < count ? taken : left).push_back(row);
    ++n;
  }
  rows = std::move(left);
  return taken;
}

}  // namespace

Result<GpuBundle> fit_neusight(const NeusightData& data, const DeviceCatalogue& catalogue,
                               const GpuFitOptions& options) {
  GpuBundle bundle;
  for (const std::string& name : devices_of(data.train)) {
    const auto facts = find_device(catalogue, name);
    if (!facts) continue;  // conv rows alone, or a device that nobody describes
    GpuModels models;
    models.device = **facts;
    models.fitted_on = models.device.name;
    const DeviceRates rates = rates_of(models.device, MathMode::kFp32);
    const std::vector<NeusightProduct> products = products_of(data.train, name);
    if (!products.empty()) {
      for (const bool weights : {true, false}) {
        auto model = fit_products(with_weights(products, weights), rates, options);
        if (!model) return model.error();
        (weights ? models.linear : models.batched) = std::move(*model);
      }
    }
    std::vector<NeusightVector> vectors;
    std::copy_if(data.train.vectors.begin(), data.train.vectors.end(), std::back_inserter(vectors),
                 [&](const NeusightVector& row) { return row.device == name; });
    if (vectors.empty()) continue;
    const auto fitted = fit_vectors(vectors, rates, models.device.clock_hz, options);
    if (!fitted) return fitted.error();
    models.vectors = *fitted;
    bundle.fitted.push_back(std::move(models));
  }
  if (bundle.fitted.empty()) {
    return Error{"bad-fit", "no device of the rows is in the catalogue", "", "a catalogue with one of them"};
  }
  bundle.flops_per_joule_16nm = flops_per_joule_16nm(bundle.fitted);
  bundle.card.emplace_back(
      "What: times of fp32 matrix products and vector operators on GPUs; a closed form per kernel, a tree that says "
      "which kernel the library takes.");
  bundle.card.emplace_back(
      "From: ops_train of NeuSight's published measurements (Lee, Phanishayee, Mahajan, ASPLOS 2025; MIT licence, "
      "Copyright (c) 2025 Georgia Institute of Technology and Microsoft Corporation). Its test rows and model times "
      "were not fitted to; the form was found with their scores in sight.");
  bundle.card.emplace_back("Devices' facts: data/devices/devices.json.");
  bundle.card.emplace_back("Made by: perfcast_neusight_reproduction FOLDER --write-bundle FILE.");
  bundle.card.emplace_back(
      "For: forecasts of operators and models in fp32 on these GPUs and, carried over, on others. Not for: tensor "
      "cores, sparse products, convolutions.");
  return bundle;
}

Result<std::string> settings_table(const NeusightData& data, const DeviceCatalogue& catalogue) {
  const GpuFitOptions chosen;
  TextTable table;
  for (const char* name : {"weight of long rows", "pull", "mean abs. log error, largest shapes held out", ""}) {
    table.add_column(name, TextTable::Align::kRight);
  }
  for (const double weight : {0.0, 0.2, 0.4}) {
    for (const double pull : {0.0025, 0.005, 0.0075, 0.01, 0.02}) {
      GpuFitOptions options;
      options.long_weight = weight;
      options.pull = pull;
      double sum = 0, n = 0;
      for (const std::string& name : devices_of(data.train)) {
        const auto facts = find_device(catalogue, name);
        const std::vector<NeusightProduct> products = products_of(data.train, name);
        if (!facts || products.empty()) continue;
        for (const bool weights : {true, false}) {
          const auto error =
              large_shape_error(with_weights(products, weights), rates_of(**facts, MathMode::kFp32), options);
          if (!error) return error.error();
          sum += error->mean_absolute;
          n += 1;
        }
      }
      const bool is_chosen = weight == chosen.long_weight && pull == chosen.pull;
      table.add_row({fmt::format("{}", weight), fmt::format("{}", pull), fmt::format("{:.4f}", sum / n),
                     is_chosen ? "chosen" : ""});
    }
  }
  return table.to_text();
}

Result<std::string> score_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                                 const StudyOptions& options) {
  EndToEndTable seen(data), unseen(data), calibrated(data);
  TextTable operators = operator_columns(), carried = operator_columns(), after = operator_columns();
  for (const std::string& name : devices_of(data.test)) {
    const auto facts = find_device(catalogue, name);
    if (!facts) continue;
    const auto models = models_of(bundle, **facts);
    if (!models) return models.error();
    const std::string folder = folder_name(name);
    std::vector<NeusightProduct> rows = products_of(data.test, name);
    if (models->products_measured) {
      seen.add_modes(name, end_to_end(models->models, data.models, folder));
      add_operators(operators, models->models, name, "itself", rows);
      continue;
    }
    unseen.add_modes(name, end_to_end(models->models, data.models, folder));
    add_operators(carried, models->models, name, models->products_from, rows);
    GpuModels with = models->models;
    const std::vector<NeusightProduct> measured = take_shapes(rows, options.calibration_shapes, options.seed);
    calibrate(with, measured);
    calibrated.add_modes(name, end_to_end(with, data.models, folder));
    add_operators(after, with, name, models->products_from, rows);
  }
  return fmt::format(
      "Whole models, devices that operators were fitted on; mean absolute error. Split: NeuSight's own, operators for\n"
      "fitting, whole models for testing. 'perfect operators': what the labels of their operators sum to.\n{}\n"
      "Operators of the test rows on those devices.\n{}\n"
      "Whole models, devices never fitted on, no measurement of them.\n{}\n"
      "Their operators.\n{}\n"
      "Whole models, the same devices, after {} measured shapes of each kind (drawn from the test rows by seed {}, and "
      "left\nout of the scores).\n{}\n"
      "Their operators.\n{}",
      seen.text(), operators.to_text(), unseen.text(), carried.to_text(), options.calibration_shapes, options.seed,
      calibrated.text(), after.to_text());
}

Result<std::string> detail_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle) {
  TextTable configurations, shares;
  for (const char* name : {"device", "model", "mode"}) configurations.add_column(name, TextTable::Align::kLeft);
  for (const char* name : {"batch", "total %", "forward %", "backward %", "perfect operators %"}) {
    configurations.add_column(name, TextTable::Align::kRight);
  }
  for (const char* name : {"device", "kind"}) shares.add_column(name, TextTable::Align::kLeft);
  for (const char* name : {"rows for fitting", "test rows", "inside whole models"}) {
    shares.add_column(name, TextTable::Align::kRight);
  }
  for (const std::string& name : devices_of(data.test)) {
    const auto facts = find_device(catalogue, name);
    if (!facts) continue;
    const auto models = models_of(bundle, **facts);
    if (!models) return models.error();
    const double peak = (*facts)->peak(MathMode::kFp32);
    for (const EndToEndRow& row : end_to_end(models->models, data.models, folder_name(name))) {
      const StepSeconds step = step_seconds(models->models, *row.timed);
      const bool training = row.timed->training;
      configurations.add_row({name, row.timed->model, training ? "training" : "inference",
                              fmt::format("{}", row.timed->batch), signed_percent(row.error()),
                              signed_percent(step.forward_s / row.timed->forward_s - 1),
                              training ? signed_percent(step.backward_s / row.timed->backward_s - 1) : "-",
                              signed_percent(row.floor_error())});
    }
    for (const bool weights : {true, false}) {
      const auto share = [&](const std::vector<NeusightProduct>& rows) {
        std::vector<double> reached;
        for (const NeusightProduct& row : with_weights(rows, weights)) {
          const double flops = 2 * row.shape.batch * row.shape.m * row.shape.k * row.shape.n;
          if (flops > 1e10) reached.push_back(flops / row.seconds / peak);
        }
        return reached.empty() ? std::string("-") : fmt::format("{:.2f}", median(std::move(reached)));
      };
      std::vector<NeusightProduct> traced;
      for (const TimedModel& timed : data.models) {
        if (timed.device != folder_name(name) || timed.training) continue;
        for (const TracedOperator& one : timed.operators) {
          if (one.parts.size() != 1 || !(one.label_forward_s > 0)) continue;
          const TracedPart& part = one.parts.front();
          if (part.kind != TracedPart::Kind::kLinear && part.kind != TracedPart::Kind::kBatched) continue;
          NeusightProduct product;
          product.shape = part.shape;
          product.seconds = one.label_forward_s;
          traced.push_back(std::move(product));
        }
      }
      shares.add_row({name, weights ? "linear" : "bmm", share(products_of(data.train, name)),
                      share(products_of(data.test, name)), share(traced)});
    }
  }
  return fmt::format(
      "Each configuration: forecast over measured - 1.\n{}\nMedian share of the peak, products of more than 10 "
      "GFLOP.\n{}",
      configurations.to_text(), shares.to_text());
}

}  // namespace perfcast
