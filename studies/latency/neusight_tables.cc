#include "studies/latency/neusight_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ai/latency/model/calibration.h"
#include "base/random.h"
#include "base/statistics.h"
#include "studies/latency/neusight_rows.h"
#include "studies/latency/neusight_score.h"

namespace perfcast::ai::latency_study {
namespace {

double mean_error(std::span<const EndToEndRow> rows, bool floor) {
  double sum = 0;
  for (const EndToEndRow& row : rows) sum += std::abs(floor ? row.floor_error() : row.error());
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

constexpr const char* kPublished[] = {"neusight", "habitat", "micro", "roofline"};

// Of a device and mode.
struct WholeModelRow {
  std::string device, mode;
  size_t n = 0;
  double error = 0, published[4] = {}, perfect_operators_error = 0, coverage_90 = kUnknown;
  std::optional<bool> worse;  // than without calibration
};

class EndToEndTable {
 public:
  explicit EndToEndTable(const NeusightData& data, bool intervals = false) : data_(data), intervals_(intervals) {}
  void add(const std::string& device, const std::string& mode, const std::vector<EndToEndRow>& rows,
           std::optional<bool> worse = {}) {
    if (rows.empty()) return;
    WholeModelRow row{device, mode, rows.size(), mean_error(rows, false), {}, mean_error(rows, true), kUnknown, worse};
    for (size_t i = 0; i < 4; ++i) row.published[i] = published_error(data_.predictions, kPublished[i], rows);
    if (intervals_) {
      const auto inside = std::count_if(rows.begin(), rows.end(), [](const EndToEndRow& one) { return one.inside_90; });
      row.coverage_90 = static_cast<double>(inside) / static_cast<double>(rows.size());
    }
    rows_.push_back(std::move(row));
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
      add(device, training ? "training" : "inference", of_mode,
          others.empty() ? std::nullopt : std::optional(mean_error(of_mode, false) > mean_error(others, false)));
      std::vector<EndToEndRow>& all = training ? training_ : inference_;
      all.insert(all.end(), of_mode.begin(), of_mode.end());
    }
  }
  ReportTable table(const std::string& caption) {
    add("all of these", "inference", inference_);
    add("all of these", "training", training_);
    using Row = WholeModelRow;
    const auto published = [](const char* name, const char* title, size_t i) {
      return ColumnOf<Row>{name, title, Quantity::kShare, [i](const Row& row) { return row.published[i]; }, 1};
    };
    return table_of<Row>(
        caption, rows_,
        {{"device", "device", Quantity::kText, [](const Row& row) { return row.device; }},
         {"mode", "mode", Quantity::kText, [](const Row& row) { return row.mode; }},
         {"n", "n", Quantity::kCount, [](const Row& row) { return row.n; }},
         {"error", "ours", Quantity::kShare, [](const Row& row) { return row.error; }, 1},
         published("neusight_error", "NeuSight", 0),
         published("habitat_error", "Habitat", 1),
         published("li_error", "Li et al.", 2),
         published("roofline_error", "roofline", 3),
         {"perfect_operators_error", "perfect operators", Quantity::kShare,
          [](const Row& row) { return row.perfect_operators_error; }, 1},
         {"coverage_90", "in 90% interval", Quantity::kShare, [](const Row& row) { return row.coverage_90; }, 1},
         {"worse", "worse than without", Quantity::kYes, [](const Row& row) { return ReportValue(row.worse); }}});
  }

 private:
  const NeusightData& data_;
  bool intervals_;
  std::vector<WholeModelRow> rows_;
  std::vector<EndToEndRow> inference_, training_;
};

struct OperatorRow {
  std::string device, kind, from;
  ErrorSummary found;
  double roofline_error = 0;
  std::optional<bool> worse;
};

ReportTable operators_table(const std::string& caption, const std::vector<OperatorRow>& rows) {
  using Row = OperatorRow;
  return table_of<Row>(
      caption, rows,
      {{"device", "device", Quantity::kText, [](const Row& row) { return row.device; }},
       {"kind", "kind", Quantity::kText, [](const Row& row) { return row.kind; }},
       {"from", "models from", Quantity::kText, [](const Row& row) { return row.from; }},
       {"n", "n", Quantity::kCount, [](const Row& row) { return row.found.n; }},
       {"mean_error", "mean abs.", Quantity::kShare, [](const Row& row) { return row.found.mean_abs; }, 1},
       {"bias", "median signed", Quantity::kShare, [](const Row& row) { return row.found.bias; }, 1},
       {"coverage_90", "inside 90% interval", Quantity::kShare, [](const Row& row) { return row.found.within_90; }, 1},
       {"roofline_error", "roofline mean abs.", Quantity::kShare, [](const Row& row) { return row.roofline_error; }, 1},
       {"worse", "worse than without", Quantity::kYes, [](const Row& row) { return ReportValue(row.worse); }}});
}

// How far the roofline is off: its times are bounds.
double roofline_error(const DeviceFacts& device, std::span<const ProfiledProduct> rows) {
  const DeviceRates rates = rates_of(device, MathMode::kFp32);
  double sum = 0;
  for (const ProfiledProduct& row : rows) sum += std::abs(product_bound_s(row.shape, rates) / row.seconds - 1);
  return rows.empty() ? std::nan("") : sum / static_cast<double>(rows.size());
}

// `than`: the models before they were calibrated; rows that are worse than theirs say so.
void add_operators(std::vector<OperatorRow>& table, const GpuModels& models, const CarriedErrors& errors,
                   const std::string& device, const std::string& from, const std::vector<ProfiledProduct>& rows,
                   const GpuModels* than = nullptr) {
  for (const bool weights : {true, false}) {
    const std::vector<ProfiledProduct> of_kind = with_weights(rows, weights);
    if (of_kind.empty()) continue;
    const double log_error = errors.product(weights);
    const ErrorSummary found = product_errors(models, of_kind, weights, log_error);
    std::optional<bool> worse;
    if (than) worse = found.mean_abs > product_errors(*than, of_kind, weights, log_error).mean_abs;
    table.push_back({device, weights ? "linear" : "bmm", from, found, roofline_error(models.device, of_kind), worse});
  }
}

}  // namespace

Status score_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                    const StudyOptions& options, StudyOutput& output) {
  EndToEndTable seen(data), unseen(data, true), calibrated(data, true);
  std::vector<OperatorRow> operators, carried, after;
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
  output.add("models", seen.table("Whole models, devices that operators were fitted on; mean absolute error. Split: "
                                  "NeuSight's own, operators for\nfitting, whole models for testing. 'perfect "
                                  "operators': what the labels of their operators sum to."));
  output.add("operators", operators_table("Operators of the test rows on those devices.", operators));
  output.add("models_unseen",
             unseen.table("Whole models, devices never fitted on, no measurement of them. The form of the models was "
                          "found with these test\nscores in sight; the widths of intervals come from the training "
                          "devices alone, each left out in turn."));
  output.add("operators_unseen", operators_table("Their operators; form and intervals likewise.", carried));
  output.add("models_calibrated",
             calibrated.table(fmt::format(
                 "Whole models, the same devices, after {} measured shapes of each kind (drawn from the test rows by "
                 "seed {}, and left\nout of the scores). Form and intervals likewise; rows that calibration made worse "
                 "say so.",
                 options.calibration_shapes, options.seed)));
  output.add("operators_calibrated", operators_table("Their operators.", after));
  return {};
}

namespace {

struct ConfigurationRow {
  std::string device, model, mode;
  int64_t batch = 0;
  double total_error = 0, forward_error = 0, backward_error = kUnknown, perfect_operators_error = 0;
};

struct ShareRow {
  std::string device, kind;
  double fitted = kUnknown, tested = kUnknown, inside = kUnknown;  // of the peak
};

}  // namespace

Status detail_tables(const NeusightData& data, const DeviceCatalogue& catalogue, const GpuBundle& bundle,
                     StudyOutput& output) {
  std::vector<ConfigurationRow> configurations;
  std::vector<ShareRow> shares;
  for (const std::string& name : devices_of(data.test)) {
    const auto facts = find_device(catalogue, name);
    if (!facts) continue;
    const auto models = models_of(bundle, **facts);
    if (!models) return models.error();
    const double peak = (*facts)->peak(MathMode::kFp32);
    for (const EndToEndRow& row : end_to_end(models->models, data.models, folder_name(name))) {
      const StepSeconds step = step_seconds(models->models, *row.timed);
      const bool training = row.timed->training;
      configurations.push_back({name, row.timed->model, training ? "training" : "inference", row.timed->batch,
                                row.error(), step.forward_s / row.timed->forward_s - 1,
                                training ? step.backward_s / row.timed->backward_s - 1 : kUnknown, row.floor_error()});
    }
    for (const bool weights : {true, false}) {
      const auto share = [&](const std::vector<ProfiledProduct>& rows) {
        std::vector<double> reached;
        for (const ProfiledProduct& row : with_weights(rows, weights)) {
          const double flops = 2 * row.shape.batch * row.shape.m * row.shape.k * row.shape.n;
          if (flops > 1e10) reached.push_back(flops / row.seconds / peak);
        }
        return reached.empty() ? kUnknown : median(std::move(reached));
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
      shares.push_back({name, weights ? "linear" : "bmm", share(products_of(data.train, name)),
                        share(products_of(data.test, name)), share(traced)});
    }
  }
  using Row = ConfigurationRow;
  const auto percent = [](const char* name, const char* title, double Row::*member) {
    return ColumnOf<Row>{name, title, Quantity::kShare, [=](const Row& row) { return row.*member; }, 1};
  };
  output.add("configurations",
             table_of<Row>("Each configuration: forecast over measured - 1.", configurations,
                           {{"device", "device", Quantity::kText, [](const Row& row) { return row.device; }},
                            {"model", "model", Quantity::kText, [](const Row& row) { return row.model; }},
                            {"mode", "mode", Quantity::kText, [](const Row& row) { return row.mode; }},
                            {"batch", "batch", Quantity::kCount, [](const Row& row) { return row.batch; }},
                            percent("total_error", "total", &Row::total_error),
                            percent("forward_error", "forward", &Row::forward_error),
                            percent("backward_error", "backward", &Row::backward_error),
                            percent("perfect_operators_error", "perfect operators", &Row::perfect_operators_error)}));
  const auto of_peak = [](const char* name, const char* title, double ShareRow::*member) {
    return ColumnOf<ShareRow>{name, title, Quantity::kNumber, [=](const ShareRow& row) { return row.*member; }};
  };
  output.add("shares",
             table_of<ShareRow>("Median share of the peak, products of more than 10 GFLOP.", shares,
                                {{"device", "device", Quantity::kText, [](const ShareRow& row) { return row.device; }},
                                 {"kind", "kind", Quantity::kText, [](const ShareRow& row) { return row.kind; }},
                                 of_peak("fitted", "rows for fitting", &ShareRow::fitted),
                                 of_peak("tested", "test rows", &ShareRow::tested),
                                 of_peak("inside", "inside whole models", &ShareRow::inside)}));
  return {};
}

}  // namespace perfcast::ai::latency_study
