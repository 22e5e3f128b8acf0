#include "studies/latency/neusight_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/latency/model/calibration.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "studies/latency/neusight_rows.h"
#include "studies/latency/neusight_score.h"

namespace perfcast::ai::latency_study {
namespace {

std::string percent(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.1f}", 100 * ratio) : "-"; }
std::string signed_percent(double ratio) { return std::isfinite(ratio) ? fmt::format("{:+.1f}", 100 * ratio) : "-"; }

double mean_error(std::span<const EndToEndRow> rows, bool floor) {
  double sum = 0;
  for (const EndToEndRow& row : rows) sum += std::abs(floor ? row.floor_error() : row.error());
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

constexpr const char* kWorse = "worse than without";
constexpr const char* kPublished[] = {"neusight", "habitat", "micro", "roofline"};

class EndToEndTable {
 public:
  explicit EndToEndTable(const NeusightData& data, bool intervals = false) : data_(data), intervals_(intervals) {
    table_.add_column("device", TextTable::Align::kLeft);
    table_.add_column("mode", TextTable::Align::kLeft);
    for (const char* name :
         {"n", "ours %", "NeuSight %", "Habitat %", "Li et al. %", "roofline %", "perfect operators %"}) {
      table_.add_column(name, TextTable::Align::kRight);
    }
    if (intervals_) table_.add_column("in 90% interval", TextTable::Align::kRight);
    table_.add_column("", TextTable::Align::kLeft);
  }
  void add(const std::string& device, const std::string& mode, const std::vector<EndToEndRow>& rows,
           const std::string& remark = "") {
    if (rows.empty()) return;
    std::vector<std::string> cells = {device, mode, fmt::format("{}", rows.size()), percent(mean_error(rows, false))};
    for (const char* method : kPublished) cells.push_back(percent(published_error(data_.predictions, method, rows)));
    cells.push_back(percent(mean_error(rows, true)));
    if (intervals_) {
      const auto inside = std::count_if(rows.begin(), rows.end(), [](const EndToEndRow& row) { return row.inside_90; });
      cells.push_back(percent(static_cast<double>(inside) / static_cast<double>(rows.size())));
    }
    cells.push_back(remark);
    table_.add_row(std::move(cells));
  }
  // Inference and training apart; `log_error`: what the interval is made of. `than`: the same configurations forecast
  // otherwise; rows that are worse say so.
  void add_modes(const std::string& device, std::vector<EndToEndRow> rows, double log_error = kUnknown,
                 const std::vector<EndToEndRow>& than = {}) {
    for (EndToEndRow& row : rows) {
      row.inside_90 = std::abs(std::log(row.forecast_s / row.timed->seconds)) <= kInterval90 * log_error;
    }
    for (const bool training : {false, true}) {
      std::vector<EndToEndRow> of_mode;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(of_mode),
                   [&](const EndToEndRow& row) { return row.timed->training == training; });
      std::vector<EndToEndRow> others;
      std::copy_if(than.begin(), than.end(), std::back_inserter(others),
                   [&](const EndToEndRow& row) { return row.timed->training == training; });
      const bool worse = !others.empty() && mean_error(of_mode, false) > mean_error(others, false);
      add(device, training ? "training" : "inference", of_mode, worse ? kWorse : "");
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
  bool intervals_;
  TextTable table_;
  std::vector<EndToEndRow> inference_, training_;
};

TextTable operator_columns() {
  TextTable table;
  for (const char* name : {"device", "kind", "models from"}) table.add_column(name, TextTable::Align::kLeft);
  for (const char* name : {"n", "mean abs. %", "median signed %", "inside 90% interval", "roofline mean abs. %"}) {
    table.add_column(name, TextTable::Align::kRight);
  }
  table.add_column("", TextTable::Align::kLeft);
  return table;
}

// How far the roofline is off: its times are bounds.
double roofline_error(const DeviceFacts& device, std::span<const ProfiledProduct> rows) {
  const DeviceRates rates = rates_of(device, MathMode::kFp32);
  double sum = 0;
  for (const ProfiledProduct& row : rows) sum += std::abs(product_bound_s(row.shape, rates) / row.seconds - 1);
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

// `than`: the models before they were calibrated; rows that are worse than theirs say so.
void add_operators(TextTable& table, const GpuModels& models, const CarriedErrors& errors, const std::string& device,
                   const std::string& from, const std::vector<ProfiledProduct>& rows, const GpuModels* than = nullptr) {
  for (const bool weights : {true, false}) {
    const std::vector<ProfiledProduct> of_kind = with_weights(rows, weights);
    if (of_kind.empty()) continue;
    const double log_error = errors.product(weights);
    const ErrorSummary found = product_errors(models, of_kind, weights, log_error);
    const bool worse = than && found.mean_abs > product_errors(*than, of_kind, weights, log_error).mean_abs;
    table.add_row({device, weights ? "linear" : "bmm", from, fmt::format("{}", found.n), percent(found.mean_abs),
                   signed_percent(found.bias), percent(found.within_90),
                   percent(roofline_error(models.device, of_kind)), worse ? kWorse : ""});
  }
}

}  // namespace

Result<std::string> score_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                                 const StudyOptions& options) {
  EndToEndTable seen(data), unseen(data, true), calibrated(data, true);
  TextTable operators = operator_columns(), carried = operator_columns(), after = operator_columns();
  for (const std::string& name : devices_of(data.test)) {
    const auto facts = find_device(catalogue, name);
    if (!facts) continue;
    const auto models = models_of(bundle, **facts);
    if (!models) return models.error();
    const std::string folder = folder_name(name);
    CarriedErrors own;
    own.linear = models->product_log_error(true);
    own.batched = models->product_log_error(false);
    std::vector<ProfiledProduct> rows = products_of(data.test, name);
    if (models->products_measured) {
      seen.add_modes(name, end_to_end(models->models, data.models, folder));
      add_operators(operators, models->models, own, name, "itself", rows);
      continue;
    }
    const std::vector<EndToEndRow> whole = end_to_end(models->models, data.models, folder);
    unseen.add_modes(name, whole, bundle.carried.whole_model);
    add_operators(carried, models->models, own, name, models->products_from, rows);
    GpuModels with = models->models;
    const std::vector<MeasuredProduct> measured = take_shapes(rows, options.calibration_shapes, options.seed);
    calibrate(with, measured);
    calibrated.add_modes(name, end_to_end(with, data.models, folder), bundle.calibrated.whole_model, whole);
    add_operators(after, with, bundle.calibrated, name, models->products_from, rows, &models->models);
  }
  return fmt::format(
      "Whole models, devices that operators were fitted on; mean absolute error. Split: NeuSight's own, operators for\n"
      "fitting, whole models for testing. 'perfect operators': what the labels of their operators sum to.\n{}\n"
      "Operators of the test rows on those devices.\n{}\n"
      "Whole models, devices never fitted on, no measurement of them. The form of the models was found with these "
      "test\n"
      "scores in sight; the widths of intervals come from the training devices alone, each left out in turn.\n{}\n"
      "Their operators; form and intervals likewise.\n{}\n"
      "Whole models, the same devices, after {} measured shapes of each kind (drawn from the test rows by seed {}, and "
      "left\nout of the scores). Form and intervals likewise; rows that calibration made worse say so.\n{}\n"
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
      const auto share = [&](const std::vector<ProfiledProduct>& rows) {
        std::vector<double> reached;
        for (const ProfiledProduct& row : with_weights(rows, weights)) {
          const double flops = 2 * row.shape.batch * row.shape.m * row.shape.k * row.shape.n;
          if (flops > 1e10) reached.push_back(flops / row.seconds / peak);
        }
        return reached.empty() ? std::string("-") : fmt::format("{:.2f}", median(std::move(reached)));
      };
      std::vector<ProfiledProduct> traced;
      for (const TimedModel& timed : data.models) {
        if (timed.device != folder_name(name) || timed.training) continue;
        for (const TracedOperator& one : timed.operators) {
          if (one.parts.size() != 1 || !(one.label_forward_s > 0)) continue;
          const TracedPart& part = one.parts.front();
          if (part.kind != TracedPart::Kind::kLinear && part.kind != TracedPart::Kind::kBatched) continue;
          ProfiledProduct product;
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

}  // namespace perfcast::ai::latency_study
