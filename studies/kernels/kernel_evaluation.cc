#include "studies/kernels/kernel_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "ai/latency/kernels/kernel_times.h"
#include "base/statistics.h"

namespace perfcast::ai::kernels_study {
namespace {

constexpr size_t kFitRows = 2500, kScoreRows = 8000, kShapeRows = 3000;  // of each device
constexpr size_t kQuantiles = 200;
constexpr uint64_t kFolds = 5, kFoldSeed = 7;

using Devices = std::vector<const KernelFitDevice*>;

// Forecasts of one device's rows; NaN: none.
struct Forecasts {
  std::vector<double> log_ratios;  // log(forecast / measured)
  std::vector<double> log_sds;     // empty: no intervals
};

KernelScore score_of(const KernelRows& rows, const char* split, const char* predictor, const std::string& part,
                     const Forecasts& forecasts, double interval_ratio) {
  KernelScore score{split, predictor, rows.kind, rows.format, part};
  std::vector<double> errors;
  double signed_sum = 0, covered = 0;
  for (size_t i = 0; i < forecasts.log_ratios.size(); ++i) {
    if (std::isnan(forecasts.log_ratios[i])) continue;
    const double error = std::expm1(forecasts.log_ratios[i]);
    errors.push_back(std::abs(error));
    signed_sum += error;
    if (forecasts.log_sds.empty()) continue;
    covered += std::abs(forecasts.log_ratios[i]) <= kNormal95 * interval_ratio * forecasts.log_sds[i] ? 1 : 0;
  }
  score.n = static_cast<int64_t>(errors.size());
  if (errors.empty()) return score;
  const auto n = static_cast<double>(errors.size());
  score.mean_error = mean(errors);
  score.bias = signed_sum / n;
  if (!forecasts.log_sds.empty() && std::isfinite(interval_ratio)) score.coverage = covered / n;
  score.median_error = median(std::move(errors));
  return score;
}

// How many stated deviations hold 90% of the errors, over kNormal95: devices count alike.
double interval_ratio(const std::vector<Forecasts>& devices, size_t without) {
  std::vector<double> ratios;
  for (size_t d = 0; d < devices.size(); ++d) {
    if (d == without) continue;
    std::vector<double> sizes;
    for (size_t i = 0; i < devices[d].log_ratios.size(); ++i) {
      const double size = std::abs(devices[d].log_ratios[i]) / devices[d].log_sds[i];
      if (std::isfinite(size)) sizes.push_back(size);
    }
    if (sizes.empty()) continue;
    // As many quantiles of each.
    std::sort(sizes.begin(), sizes.end());
    for (size_t q = 0; q < kQuantiles; ++q) ratios.push_back(sizes[(2 * q + 1) * sizes.size() / (2 * kQuantiles)]);
  }
  return ratios.empty() ? kUnknown : quantile(std::move(ratios), 0.9) / kNormal95;
}

class Evaluator {
 public:
  explicit Evaluator(const KernelRows& rows);
  Result<KernelEvaluation> run();

 private:
  Devices training(size_t without) const;
  Status leave_devices_out();
  void score_measured();
  void leave_shapes_out(const char* split, const std::shared_ptr<const KernelBundle>& bundle);
  void add(const char* split, const char* predictor, const std::vector<Forecasts>& devices, bool with_intervals);
  Forecasts by_times(const KernelTimes& times, const std::vector<KernelSample>& samples, bool with_sd) const;
  Forecasts by_donor(size_t device, const std::vector<KernelSample>& samples) const;
  Forecasts by_two_constants(size_t device, const std::vector<KernelSample>& samples) const;
  double roofline_s(const DeviceFacts& facts, const KernelShape& shape) const;

  const KernelRows& rows_;
  std::vector<KernelFitDevice> fitted_;  // sampled
  std::vector<KernelSample> scored(size_t device) const { return sampled(rows_.devices[device].samples, kScoreRows); }
  KernelEvaluation result_;
};

Evaluator::Evaluator(const KernelRows& rows) : rows_(rows) {
  for (const KernelFitDevice& device : rows.devices) {
    fitted_.push_back({device.name, device.device, sampled(device.samples, kFitRows)});
  }
}

Devices Evaluator::training(size_t without) const {
  Devices devices;
  for (size_t d = 0; d < fitted_.size(); ++d) {
    if (d != without) devices.push_back(&fitted_[d]);
  }
  return devices;
}

double Evaluator::roofline_s(const DeviceFacts& facts, const KernelShape& shape) const {
  const KernelDevice device = *KernelDevice::of(facts);
  const bool computes = shape.kind == KernelKind::kProduct || shape.kind == KernelKind::kExperts;
  const double flop_s = device.flop_s[computes ? static_cast<size_t>(shape.format) : 0];
  return std::max(kernel_flops(shape) * flop_s, kernel_bytes(shape) * device.byte_s);
}

Forecasts Evaluator::by_times(const KernelTimes& times, const std::vector<KernelSample>& samples, bool with_sd) const {
  Forecasts forecasts;
  for (const KernelSample& sample : samples) {
    const auto time = times.time(sample.shape, Operands::kRepeated);
    forecasts.log_ratios.push_back(time ? std::log(time->seconds / sample.seconds) : kUnknown);
    if (with_sd) forecasts.log_sds.push_back(time ? time->log_sd : kUnknown);
  }
  return forecasts;
}

// The device of the same generation and class, else of the same class, else any; of several the nearest in bandwidth.
Forecasts Evaluator::by_donor(size_t device, const std::vector<KernelSample>& samples) const {
  const KernelDevice& own = rows_.devices[device].device;
  size_t best = rows_.devices.size();
  double least = std::numeric_limits<double>::infinity();
  for (size_t d = 0; d < rows_.devices.size(); ++d) {
    if (d == device) continue;
    const KernelDevice& other = rows_.devices[d].device;
    const double far = (own.self_feeding != other.self_feeding ? 20
                        : own.generation != other.generation   ? 10
                                                               : 0) +
                       std::abs(std::log(own.byte_s / other.byte_s));
    if (far < least) {
      least = far;
      best = d;
    }
  }
  std::map<std::array<double, kKernelSizes>, double> times;
  for (const KernelSample& sample : rows_.devices[best].samples) times[sample.shape.size] = sample.seconds;
  Forecasts forecasts;
  for (const KernelSample& sample : samples) {
    const auto found = times.find(sample.shape.size);
    const double ratio = roofline_s(rows_.facts[device], sample.shape) / roofline_s(rows_.facts[best], sample.shape);
    forecasts.log_ratios.push_back(found == times.end() ? kUnknown : std::log(found->second * ratio / sample.seconds));
  }
  return forecasts;
}

// The pair with the least sum of absolute log errors on the other devices, on a grid.
Forecasts Evaluator::by_two_constants(size_t device, const std::vector<KernelSample>& samples) const {
  double best_start = 0, best_share = 1, least = std::numeric_limits<double>::infinity();
  for (double start = 1e-6; start < 6e-5; start *= 1.25) {
    for (double share = 0.2; share <= 1.001; share += 0.05) {
      double sum = 0;
      for (size_t d = 0; d < fitted_.size(); ++d) {
        if (d == device) continue;
        for (size_t i = 0; i < fitted_[d].samples.size(); i += 5) {
          const KernelSample& sample = fitted_[d].samples[i];
          sum += std::abs(std::log((start + roofline_s(rows_.facts[d], sample.shape) / share) / sample.seconds));
        }
      }
      if (sum < least) {
        least = sum;
        best_start = start;
        best_share = share;
      }
    }
  }
  Forecasts forecasts;
  for (const KernelSample& sample : samples) {
    const double seconds = best_start + roofline_s(rows_.facts[device], sample.shape) / best_share;
    forecasts.log_ratios.push_back(std::log(seconds / sample.seconds));
  }
  return forecasts;
}

void Evaluator::add(const char* split, const char* predictor, const std::vector<Forecasts>& devices,
                    bool with_intervals) {
  std::vector<KernelScore> parts;
  for (size_t d = 0; d < devices.size(); ++d) {
    const double ratio = with_intervals ? interval_ratio(devices, d) : kUnknown;
    parts.push_back(score_of(rows_, split, predictor, rows_.devices[d].name, devices[d], ratio));
  }
  KernelScore all{split, predictor, rows_.kind, rows_.format, "all"};
  const auto average = [&](double KernelScore::*member) {
    std::vector<double> values;
    for (const KernelScore& part : parts) {
      if (std::isfinite(part.*member)) values.push_back(part.*member);
    }
    return mean(values);
  };
  for (const KernelScore& part : parts) all.n += part.n;
  all.mean_error = average(&KernelScore::mean_error);
  all.median_error = average(&KernelScore::median_error);
  all.bias = average(&KernelScore::bias);
  all.coverage = average(&KernelScore::coverage);
  result_.scores.push_back(std::move(all));
  result_.scores.insert(result_.scores.end(), parts.begin(), parts.end());
}

Status Evaluator::leave_devices_out() {
  std::vector<Forecasts> ours, forms, donors, two;
  for (size_t d = 0; d < fitted_.size(); ++d) {
    const Devices others = training(d);
    const auto constants = fit_kernel_constants(rows_.kind, others);
    if (!constants) return constants.error();
    KernelEntry entry{true, *constants, fit_kernel_spread(*constants, others)};
    KernelRows without{rows_.kind, rows_.format, {}, {}};
    for (size_t other = 0; other < rows_.devices.size(); ++other) {
      if (other == d) continue;
      without.facts.push_back(rows_.facts[other]);
      without.devices.push_back(rows_.devices[other]);
    }
    auto bundle = std::make_shared<KernelBundle>();
    auto plain = std::make_shared<KernelBundle>();
    add_to_bundle(without, entry, *bundle);
    plain->entry(rows_.kind, rows_.format) = entry;
    const auto samples = scored(d);
    ours.push_back(by_times(KernelTimes(rows_.facts[d], bundle, {}), samples, true));
    forms.push_back(by_times(KernelTimes(rows_.facts[d], plain, {}), samples, false));
    donors.push_back(by_donor(d, samples));
    two.push_back(by_two_constants(d, samples));
  }
  add(kDeviceOut, kOurs, ours, true);
  add(kDeviceOut, kFormAlone, forms, false);
  add(kDeviceOut, kDonor, donors, false);
  add(kDeviceOut, kTwoConstants, two, false);
  result_.entry.spread.interval_ratio = interval_ratio(ours, ours.size());
  return {};
}

// What is left out together: a shape of weights or of heads with all of its tokens; all that share one size.
KernelShape left_out_together(const KernelShape& shape, bool size_alone) {
  KernelShape key{shape.kind, shape.format};
  switch (shape.kind) {
    case KernelKind::kProduct:
      key.size[ProductAxis::kN] = shape.size[ProductAxis::kN];
      if (!size_alone) key.size[ProductAxis::kK] = shape.size[ProductAxis::kK];
      break;
    case KernelKind::kPrefill:
    case KernelKind::kDecode:
      key.size[AttentionAxis::kHeads] = shape.size[AttentionAxis::kHeads];
      if (!size_alone) key.size[AttentionAxis::kKvHeads] = shape.size[AttentionAxis::kKvHeads];
      break;
    case KernelKind::kExperts:
      key.size[ExpertsAxis::kHidden] = shape.size[ExpertsAxis::kHidden];
      if (!size_alone) key.size[ExpertsAxis::kInner] = shape.size[ExpertsAxis::kInner];
      break;
  }
  return key;
}

void Evaluator::leave_shapes_out(const char* split, const std::shared_ptr<const KernelBundle>& bundle) {
  const bool size_alone = std::string_view(split) == kSizeOut;
  std::vector<Forecasts> ours(rows_.devices.size()), plain(rows_.devices.size());
  for (size_t d = 0; d < rows_.devices.size(); ++d) {
    DeviceFacts unknown;  // no form without facts
    unknown.name = rows_.facts[d].name;
    for (uint64_t fold = 0; fold < kFolds; ++fold) {
      std::vector<TimedKernel> kept;
      std::vector<KernelSample> left;
      for (const KernelSample& sample : rows_.devices[d].samples) {
        if (hash_of(left_out_together(sample.shape, size_alone), kFoldSeed) % kFolds == fold) {
          left.push_back(sample);
        } else {
          kept.push_back({sample.shape, sample.seconds});
        }
      }
      if (kept.empty()) continue;
      const auto few = sampled(left, kShapeRows / kFolds);
      const auto append = [](Forecasts& into, const Forecasts& more) {
        into.log_ratios.insert(into.log_ratios.end(), more.log_ratios.begin(), more.log_ratios.end());
        into.log_sds.insert(into.log_sds.end(), more.log_sds.begin(), more.log_sds.end());
      };
      append(ours[d], by_times(KernelTimes(rows_.facts[d], bundle, kept), few, true));
      append(plain[d], by_times(KernelTimes(unknown, nullptr, kept), few, false));
    }
  }
  add(split, kOurs, ours, true);
  add(split, kLookUp, plain, false);
}

// What is shipped says of the devices that it has: most shapes lie between those of its grid.
void Evaluator::score_measured() {
  auto bundle = std::make_shared<KernelBundle>();
  add_to_bundle(rows_, result_.entry, *bundle);
  std::vector<Forecasts> ours;
  std::vector<double> variances;
  for (size_t d = 0; d < rows_.devices.size(); ++d) {
    ours.push_back(by_times(KernelTimes(rows_.facts[d], bundle, {}), scored(d), true));
    std::vector<double> known;
    for (const double ratio : ours.back().log_ratios) {
      if (std::isfinite(ratio)) known.push_back(std::abs(ratio));
    }
    if (!known.empty()) variances.push_back(std::pow(quantile(known, 0.9) / kNormal95, 2));
  }
  if (!variances.empty()) result_.entry.spread.shape_log_sd = std::sqrt(mean(variances));
  add(kMeasured, kOurs, ours, true);
}

Result<KernelEvaluation> Evaluator::run() {
  const Devices all = training(fitted_.size());
  const auto constants = fit_kernel_constants(rows_.kind, all);
  if (!constants) return constants.error();
  result_.entry = {true, *constants, fit_kernel_spread(*constants, all)};
  if (Status status = leave_devices_out(); !status) return status.error();
  score_measured();
  auto bundle = std::make_shared<KernelBundle>();
  bundle->entry(rows_.kind, rows_.format) = result_.entry;
  leave_shapes_out(kShapeOut, bundle);
  leave_shapes_out(kSizeOut, bundle);
  return std::move(result_);
}

}  // namespace

Result<KernelEvaluation> evaluate_kernels(const KernelRows& rows) { return Evaluator(rows).run(); }

void add_to_bundle(const KernelRows& rows, const KernelEntry& entry, KernelBundle& bundle) {
  bundle.entry(rows.kind, rows.format) = entry;
  for (size_t d = 0; d < rows.devices.size(); ++d) {
    const KernelFitDevice& device = rows.devices[d];
    auto donor = std::find_if(bundle.donors.begin(), bundle.donors.end(),
                              [&](const KernelDonor& each) { return each.name == device.name; });
    if (donor == bundle.donors.end()) {
      bundle.donors.push_back({device.name, rows.facts[d].generation, device.device, {}});
      donor = bundle.donors.end() - 1;
    }
    for (const KernelSample& sample : device.samples) {
      if (!is_on_coarse_grid(sample.shape)) continue;
      const double form = kernel_seconds(entry.constants, device.device, sample.shape, Operands::kRepeated);
      donor->residuals.add(sample.shape, std::log(sample.seconds / form));
    }
    donor->residuals.finish();
  }
}

ReportTable kernel_scores_table(const std::vector<KernelScore>& scores) {
  using enum Quantity;
  const auto number = [](double KernelScore::*member) {
    return [member](const KernelScore& score) { return ReportValue(score.*member); };
  };
  return table_of<KernelScore>(
      "Errors of times of kernels, each device counting once", scores,
      {{"split", "split", kText, [](const KernelScore& score) { return score.split; }},
       {"kind", "kernels", kText, [](const KernelScore& score) { return std::string(name_of(score.kind)); }},
       {"format", "format", kText, [](const KernelScore& score) { return std::string(name_of(score.format)); }},
       {"part", "part", kText, [](const KernelScore& score) { return score.part; }},
       {"predictor", "forecast by", kText, [](const KernelScore& score) { return score.predictor; }},
       {"n", "n", kCount, [](const KernelScore& score) { return score.n; }},
       {"mean_error", "mean error", kShare, number(&KernelScore::mean_error), 1},
       {"median_error", "median error", kShare, number(&KernelScore::median_error), 1},
       {"bias", "bias", kShare, number(&KernelScore::bias), 1},
       {"coverage_90", "in 90% interval", kShare, number(&KernelScore::coverage), 1}});
}

}  // namespace perfcast::ai::kernels_study
