#include "studies/latency/left_out_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ai/latency/model/calibration.h"
#include "ai/latency/model/kin.h"
#include "base/statistics.h"
#include "base/text.h"
#include "studies/latency/neusight_rows.h"
#include "studies/latency/neusight_score.h"

namespace perfcast::ai::latency_study {
namespace {

constexpr double kNormal90 = 1.645;  // half the width of a 90% interval, in standard deviations
constexpr size_t kShapes = 4, kDraws = 5;
constexpr int kSteps = 1000;  // of a device's quantile function

double log_ratio(const OperatorTime& time, double measured_s) {
  return std::log((time.seconds + time.launch_seconds) / measured_s);
}

void score(const GpuModels& models, const NeusightData& data, const std::vector<ProfiledProduct>& products,
           LeftOutDevice& out) {
  for (const ProfiledProduct& row : products) {
    (row.shape.weights ? out.linear : out.batched).push_back(log_ratio(models.product(row.shape), row.seconds));
  }
  for (const EndToEndRow& row : end_to_end(models, data.models, folder_name(out.device))) {
    out.whole_model.push_back(std::log(row.forecast_s / row.timed->seconds));
  }
}

using Ratios = std::function<const std::vector<double>&(const LeftOutDevice&)>;

double pooled_error(std::span<const LeftOutDevice> devices, size_t skipped, const Ratios& ratios) {
  std::vector<double> pooled;
  for (size_t i = 0; i < devices.size(); ++i) {
    std::vector<double> absolute = ratios(devices[i]);
    if (i == skipped || absolute.empty()) continue;
    for (double& ratio : absolute) ratio = std::abs(ratio);
    std::sort(absolute.begin(), absolute.end());
    for (int step = 0; step < kSteps; ++step) {
      pooled.push_back(absolute[static_cast<size_t>((step + 0.5) / kSteps * static_cast<double>(absolute.size()))]);
    }
  }
  return pooled.empty() ? kUnknown : quantile(std::move(pooled), 0.9) / kNormal90;
}

// How much wider the pooled interval of the others must be, so that it holds nine in ten of a device's rows on average:
// few devices were left out, and another one may be further off than all of them.
double widening(std::span<const LeftOutDevice> devices, size_t skipped, const Ratios& ratios) {
  std::vector<double> errors;
  std::vector<const std::vector<double>*> rows;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (i == skipped || ratios(devices[i]).empty()) continue;
    std::vector<LeftOutDevice> others;
    for (size_t k = 0; k < devices.size(); ++k) {
      if (k != i && k != skipped) others.push_back(devices[k]);
    }
    errors.push_back(pooled_error(others, SIZE_MAX, ratios));
    rows.push_back(&ratios(devices[i]));
  }
  constexpr double kStep = 0.02, kMost = 4;
  double factor = 1;
  for (; factor < kMost && rows.size() > 1; factor += kStep) {
    double sum = 0;
    for (size_t i = 0; i < rows.size(); ++i) sum += share_inside(*rows[i], factor * errors[i]);
    if (sum >= 0.9 * static_cast<double>(rows.size())) break;
  }
  return factor;
}

double carried_error(std::span<const LeftOutDevice> devices, size_t skipped, const Ratios& ratios) {
  return widening(devices, skipped, ratios) * pooled_error(devices, skipped, ratios);
}

}  // namespace

Result<std::vector<LeftOutDevice>> leave_devices_out(const NeusightData& data, const GpuBundle& bundle,
                                                     const LeaveOutOptions& options) {
  std::vector<LeftOutDevice> out;
  for (const GpuModels& left_out : bundle.fitted) {
    if (!left_out.has_products()) continue;
    GpuBundle rest = bundle;
    std::erase_if(rest.fitted, [&](const GpuModels& models) { return models.fitted_on == left_out.fitted_on; });
    rest.flops_per_joule_16nm = flops_per_joule_16nm(rest.fitted);
    const auto models = models_of(rest, left_out.device);
    if (!models) return models.error();
    LeftOutDevice& device = out.emplace_back();
    device.device = left_out.fitted_on;
    device.from = models->products_from;
    for (const MeasuredVector& row : vectors_of(data.train, device.device)) {
      device.vector[static_cast<size_t>(row.shape.kind)].push_back(
          log_ratio(models->models.vector(row.shape), row.seconds));
    }
    const std::vector<ProfiledProduct> products = products_of(data.train, device.device);
    if (options.calibration_shapes == 0) {
      score(models->models, data, products, device);
      continue;
    }
    for (size_t draw = 0; draw < options.draws; ++draw) {
      std::vector<ProfiledProduct> rows = products;
      GpuModels with = models->models;
      calibrate(with, take_shapes(rows, options.calibration_shapes, options.first_seed + draw));
      score(with, data, rows, device);
    }
  }
  return out;
}

CarriedErrors carried_errors(std::span<const LeftOutDevice> devices, size_t skipped) {
  CarriedErrors errors;
  errors.linear = carried_error(
      devices, skipped, [](const auto& one) -> const auto& { return one.linear; });
  errors.batched = carried_error(
      devices, skipped, [](const auto& one) -> const auto& { return one.batched; });
  for (size_t i = 0; i < kVectorKinds; ++i) {
    errors.vector[i] = carried_error(
        devices, skipped, [i](const auto& one) -> const auto& { return one.vector[i]; });
  }
  // A copy is as an operator of one operand.
  errors.vector[static_cast<size_t>(VectorKind::kCopy)] = errors.vector[static_cast<size_t>(VectorKind::kUnary)];
  errors.whole_model = carried_error(
      devices, skipped, [](const auto& one) -> const auto& { return one.whole_model; });
  return errors;
}

double share_inside(std::span<const double> log_ratios, double log_error) {
  if (log_ratios.empty() || std::isnan(log_error)) return kUnknown;
  const auto inside = std::count_if(log_ratios.begin(), log_ratios.end(),
                                    [&](double ratio) { return std::abs(ratio) <= kNormal90 * log_error; });
  return static_cast<double>(inside) / static_cast<double>(log_ratios.size());
}

namespace {

struct LeftOutRow {
  std::string device, work, from;
  size_t n = 0;
  double log_error = 0, inside = 0, before = 0, after = 0;
};

}  // namespace

Result<CarriedStudy> study_carried_errors(const NeusightData& data, const GpuBundle& bundle) {
  LeaveOutOptions four;
  four.calibration_shapes = kShapes;
  four.draws = kDraws;
  const auto none = leave_devices_out(data, bundle);
  if (!none) return none.error();
  const auto after = leave_devices_out(data, bundle, four);
  if (!after) return after.error();
  CarriedStudy study;
  study.carried = carried_errors(*none);
  study.calibrated = carried_errors(*after);

  std::vector<LeftOutRow> rows;
  for (size_t i = 0; i < none->size(); ++i) {
    const LeftOutDevice &device = (*none)[i], &calibrated = (*after)[i];
    const CarriedErrors others = carried_errors(*none, i), others_after = carried_errors(*after, i);
    const auto kin = std::find_if(bundle.fitted.begin(), bundle.fitted.end(),
                                  [&](const GpuModels& models) { return models.fitted_on == device.from; });
    const auto add = [&](const char* work, const std::vector<double>& ratios, double error, double before,
                         const std::vector<double>& ratios_after, double error_after) {
      if (ratios.empty()) return;
      double sum = 0;
      for (const double ratio : ratios) sum += std::abs(ratio);
      rows.push_back({device.device, work, device.from, ratios.size(), sum / static_cast<double>(ratios.size()),
                      share_inside(ratios, error), share_inside(ratios, before),
                      share_inside(ratios_after, error_after)});
    };
    add("linear", device.linear, others.linear, kin->linear.log_error, calibrated.linear, others_after.linear);
    add("bmm", device.batched, others.batched, kin->batched.log_error, calibrated.batched, others_after.batched);
    constexpr std::pair<const char*, VectorKind> kVectors[] = {{"unary", VectorKind::kUnary},
                                                               {"binary", VectorKind::kBinary},
                                                               {"softmax", VectorKind::kSoftmax},
                                                               {"norm", VectorKind::kNorm}};
    for (const auto& [name, kind] : kVectors) {
      const auto at = static_cast<size_t>(kind);
      const double own = std::hypot(kin->vectors.of(kind, 0).log_error, kAssumedCarriedError);
      add(name, device.vector[at], others.vector[at], own, {}, kUnknown);
    }
    add("whole models", device.whole_model, others.whole_model, kUnknown, calibrated.whole_model,
        others_after.whole_model);
  }
  using Row = LeftOutRow;
  const auto share = [](const char* name, const char* title, double Row::*member) {
    return ColumnOf<Row>{name, title, Quantity::kShare, [=](const Row& row) { return row.*member; }, 1};
  };
  study.table = table_of<Row>(
      "Each device left out in turn, forecast from its kin among the rest: what intervals of devices that were never\n"
      "measured are made of. 'in 90% interval': made of the other left-out devices; 'before': of the kin's own fit.",
      rows,
      {{"device", "left out", Quantity::kText, [](const Row& row) { return row.device; }},
       {"work", "work", Quantity::kText, [](const Row& row) { return row.work; }},
       {"from", "models from", Quantity::kText, [](const Row& row) { return row.from; }},
       {"n", "n", Quantity::kCount, [](const Row& row) { return row.n; }},
       {"log_error", "mean abs. log error", Quantity::kNumber, [](const Row& row) { return row.log_error; }, 3},
       share("coverage_90", "in 90% interval", &Row::inside),
       share("coverage_before_90", "before", &Row::before),
       share("coverage_calibrated_90", "after 4 shapes", &Row::after)});
  return study;
}

void set_carried_errors(const CarriedStudy& study, GpuBundle& bundle) {
  const std::string line =
      "Intervals of devices that were not measured: from each measured device left out in turn, its ops_train rows "
      "and, "
      "for whole models, its model times; no time is fitted to those.";
  bundle.carried = study.carried;
  bundle.calibrated = study.calibrated;
  if (std::find(bundle.card.begin(), bundle.card.end(), line) == bundle.card.end()) bundle.card.push_back(line);
}

}  // namespace perfcast::ai::latency_study
