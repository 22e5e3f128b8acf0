#include "studies/latency/neusight_fit.h"

#include <fmt/format.h>

#include "ai/latency/model/kin.h"
#include "base/text.h"
#include "studies/latency/neusight_rows.h"

namespace perfcast::ai::latency_study {

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
    const std::vector<ProfiledProduct> products = products_of(data.train, name);
    if (!products.empty()) {
      for (const bool weights : {true, false}) {
        auto model = fit_products(with_weights(products, weights), rates, options);
        if (!model) return model.error();
        (weights ? models.linear : models.batched) = std::move(*model);
      }
    }
    const std::vector<MeasuredVector> vectors = vectors_of(data.train, name);
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

namespace {

struct SettingRow {
  double weight = 0, pull = 0, error = 0;
  bool chosen = false;
};

}  // namespace

Result<ReportTable> settings_table(const NeusightData& data, const DeviceCatalogue& catalogue) {
  const GpuFitOptions chosen;
  std::vector<SettingRow> rows;
  for (const double weight : {0.0, 0.2, 0.4}) {
    for (const double pull : {0.0025, 0.005, 0.0075, 0.01, 0.02}) {
      GpuFitOptions options;
      options.long_weight = weight;
      options.pull = pull;
      double sum = 0, n = 0;
      for (const std::string& name : devices_of(data.train)) {
        const auto facts = find_device(catalogue, name);
        const std::vector<ProfiledProduct> products = products_of(data.train, name);
        if (!facts || products.empty()) continue;
        for (const bool weights : {true, false}) {
          const auto error =
              large_shape_error(with_weights(products, weights), rates_of(**facts, MathMode::kFp32), options);
          if (!error) return error.error();
          sum += error->mean_absolute;
          n += 1;
        }
      }
      rows.push_back({weight, pull, sum / n, weight == chosen.long_weight && pull == chosen.pull});
    }
  }
  using Row = SettingRow;
  return table_of<Row>(
      "Settings, chosen inside the training rows: mean absolute log error, largest shapes held out", rows,
      {{"long_weight", "weight of long rows", Quantity::kNumber, [](const Row& row) { return row.weight; }, 1},
       {"pull", "pull", Quantity::kNumber, [](const Row& row) { return row.pull; }, 4},
       {"log_error", "log error", Quantity::kNumber, [](const Row& row) { return row.error; }, 4},
       {"chosen", "chosen", Quantity::kYes, [](const Row& row) { return row.chosen; }}});
}

}  // namespace perfcast::ai::latency_study
