#include "studies/latency/vidur_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ai/latency/fit/half_precision_fit.h"
#include "ai/latency/model/roofline_shares.h"
#include "base/statistics.h"

namespace perfcast::ai::latency_study {
namespace {

constexpr double kHalfWidth90 = 1.6449;  // half the width of the interval that holds 90 of 100, in standard deviations

// Forecast against measured, of the rows that one fit didn't see.
struct Fold {
  std::vector<double> log_ratio;    // ln(forecast / measured)
  std::vector<double> roof_ratio;   // roofline / measured
  std::vector<double> fixed_ratio;  // roofline with fixed shares / measured
};

double root_mean_square(const std::vector<const Fold*>& folds) {
  double sum = 0;
  size_t count = 0;
  for (const Fold* fold : folds) {
    for (const double ratio : fold->log_ratio) sum += ratio * ratio;
    count += fold->log_ratio.size();
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double root_mean_square(const std::vector<Fold>& folds) {
  std::vector<const Fold*> all;
  all.reserve(folds.size());
  for (const Fold& fold : folds) all.push_back(&fold);
  return root_mean_square(all);
}

// How many of a fold's rows lie inside the interval that the others give.
size_t covered(const std::vector<Fold>& folds, size_t scored) {
  std::vector<const Fold*> others;
  for (size_t i = 0; i < folds.size(); ++i) {
    if (i != scored) others.push_back(&folds[i]);
  }
  const double half_width = kHalfWidth90 * root_mean_square(others);
  return static_cast<size_t>(std::count_if(folds[scored].log_ratio.begin(), folds[scored].log_ratio.end(),
                                           [&](double ratio) { return std::abs(ratio) <= half_width; }));
}

VidurScore score_of(const std::vector<Fold>& folds) {
  VidurScore score;
  std::vector<double> errors, roof_errors;
  for (const Fold& fold : folds) {
    for (const double ratio : fold.log_ratio) errors.push_back(std::abs(std::expm1(ratio)));
    for (const double ratio : fold.roof_ratio) roof_errors.push_back(std::abs(ratio - 1));
  }
  score.rows = errors.size();
  score.mean_error = mean(errors);
  score.median_error = median(errors);
  score.error_of_90 = quantile(errors, 0.9);
  score.roofline_mean_error = mean(roof_errors);
  std::vector<double> fixed_errors;
  for (const Fold& fold : folds) {
    for (const double ratio : fold.fixed_ratio) fixed_errors.push_back(std::abs(ratio - 1));
  }
  if (!fixed_errors.empty()) score.fixed_shares_error = mean(fixed_errors);
  if (folds.size() < 2) return score;
  size_t inside = 0;
  for (size_t i = 0; i < folds.size(); ++i) inside += covered(folds, i);
  score.coverage_90 = static_cast<double>(inside) / static_cast<double>(errors.size());
  return score;
}

// Without where they come from.
template <typename Measured, typename Row>
std::vector<Measured> measured(const std::vector<Row>& rows) {
  return {rows.begin(), rows.end()};
}

Result<HalfPrecisionParameters> fit_rows(const DeviceFacts& facts, const std::vector<VidurProduct>& products,
                                         const std::vector<VidurVector>& vectors) {
  return fit_half_precision(facts, measured<MeasuredProduct>(products), measured<MeasuredVector>(vectors));
}

// The rows of one device.
struct DeviceRows {
  DeviceFacts facts;
  std::string short_name;  // Vidur's
  std::vector<VidurProduct> products;
  std::vector<VidurVector> vectors;
  std::vector<VidurAllReduce> all_reduces;
};

double roofline(const DeviceFacts& facts, const ProductShape& shape, double compute_share = 1,
                double memory_share = 1) {
  const double values = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
  return std::max(2 * shape.m * shape.k * shape.n / (facts.peak(MathMode::kHalf) * compute_share),
                  2 * values / (facts.memory_bytes_per_s * memory_share));
}

Fold fold_of(const HalfPrecisionModel& model, const std::vector<VidurProduct>& rows) {
  Fold fold;
  for (const VidurProduct& row : rows) {
    const OperatorTime time = model.product(row.shape, MathMode::kHalf, 2 * row.shape.k * row.shape.n);
    fold.log_ratio.push_back(std::log(time.seconds / row.seconds));
    fold.roof_ratio.push_back(roofline(model.device(), row.shape) / row.seconds);
    const double fixed_s = roofline(model.device(), row.shape, kRooflineCompute, kRooflineMemory);
    fold.fixed_ratio.push_back(std::max(fixed_s, shortest_kernel_s(model.device().kind)) / row.seconds);
  }
  return fold;
}

Fold fold_of(const HalfPrecisionModel& model, const std::vector<VidurVector>& rows) {
  Fold fold;
  for (const VidurVector& row : rows) {
    const double values = (row.shape.kind == VectorKind::kBinary ? 3 : 2) * row.shape.rows * row.shape.columns;
    fold.log_ratio.push_back(std::log(model.vector(row.shape, 2).seconds / row.seconds));
    fold.roof_ratio.push_back(2 * values / model.device().memory_bytes_per_s / row.seconds);
  }
  return fold;
}

Fold fold_of(const HalfPrecisionModel& model, const std::vector<VidurAllReduce>& rows) {
  Fold fold;
  for (const VidurAllReduce& row : rows) {
    const double bytes = 2.0 * (row.workers - 1) / row.workers * row.bytes;
    fold.log_ratio.push_back(std::log(model.all_reduce_seconds(row.bytes, row.workers) / row.seconds));
    fold.roof_ratio.push_back(bytes / model.device().link_bytes_per_s / row.seconds);
  }
  return fold;
}

// The rows that pass, and those that don't.
template <typename Row, typename Test>
std::pair<std::vector<Row>, std::vector<Row>> parted(const std::vector<Row>& rows, const Test& passes) {
  std::pair<std::vector<Row>, std::vector<Row>> out;
  for (const Row& row : rows) (passes(row) ? out.first : out.second).push_back(row);
  return out;
}

class Reproduction {
 public:
  Reproduction(std::vector<DeviceRows> devices, const VidurScoreOptions& options)
      : devices_(std::move(devices)), options_(options) {}

  Result<VidurReproduction> run() {
    for (const DeviceRows& device : devices_) {
      if (Status done = fit_device(device); !done) return done.error();
    }
    if (Status done = hold_out_devices(); !done) return done.error();
    return std::move(out_);
  }

 private:
  void add(const char* work, const char* split, const DeviceRows& device, VidurScore score) {
    score.work = work;
    score.split = split;
    score.device = device.facts.name;
    out_.scores.push_back(std::move(score));
  }

  Status fit_device(const DeviceRows& device) {
    auto fitted = fit_rows(device.facts, device.products, device.vectors);
    if (!fitted) return fitted.error();
    HalfPrecisionParameters parameters = *fitted;
    if (Status done = hold_out_models(device, parameters); !done) return done;
    if (Status done = hold_out_tokens(device); !done) return done;
    if (!device.all_reduces.empty()) {
      if (Status done = hold_out_workers(device, parameters); !done) return done;
      if (Status done = fit_all_reduce(device.facts, measured<MeasuredAllReduce>(device.all_reduces), parameters);
          !done)
        return done;
    }
    out_.bundle.devices.push_back({device.facts, parameters});
    return {};
  }

  // Leaves the errors of the held-out models in the parameters.
  Status hold_out_models(const DeviceRows& device, HalfPrecisionParameters& parameters) {
    std::map<size_t, size_t> models;
    for (const VidurProduct& row : device.products) ++models[row.model];
    if (models.size() < 2) {
      return Error{"bad-vidur", fmt::format("{} language models on {}", models.size(), device.short_name), "",
                   "two or more"};
    }
    std::vector<Fold> products, vectors;
    for (const auto& [held_out, count] : models) {
      const auto is_held_out = [model = held_out](const auto& row) { return row.model == model; };
      const auto [tested, trained] = parted(device.products, is_held_out);
      const auto [tested_vectors, trained_vectors] = parted(device.vectors, is_held_out);
      const auto fitted = fit_rows(device.facts, trained, trained_vectors);
      if (!fitted) return fitted.error();
      const auto model = HalfPrecisionModel::with_parameters(device.facts, *fitted);
      products.push_back(fold_of(model, tested));
      vectors.push_back(fold_of(model, tested_vectors));
    }
    add("products", "LLM", device, score_of(products));
    add("vectors", "LLM", device, score_of(vectors));
    parameters.product_log_error = root_mean_square(products);
    parameters.vector_log_error = root_mean_square(vectors);
    return {};
  }

  Status hold_out_tokens(const DeviceRows& device) {
    const auto [tested, trained] =
        parted(device.products, [&](const VidurProduct& row) { return row.shape.m > options_.most_trained_tokens; });
    if (tested.empty()) return {};
    const auto fitted = fit_rows(device.facts, trained, device.vectors);
    if (!fitted) return fitted.error();
    add("products", "tokens", device,
        score_of({fold_of(HalfPrecisionModel::with_parameters(device.facts, *fitted), tested)}));
    return {};
  }

  Status hold_out_workers(const DeviceRows& device, HalfPrecisionParameters parameters) {
    std::map<int, size_t> workers;
    for (const VidurAllReduce& row : device.all_reduces) ++workers[row.workers];
    if (workers.size() < 2) return {};
    std::vector<Fold> folds;
    for (const auto& [held_out, count] : workers) {
      const auto [tested, trained] =
          parted(device.all_reduces, [held = held_out](const VidurAllReduce& row) { return row.workers == held; });
      if (Status done = fit_all_reduce(device.facts, measured<MeasuredAllReduce>(trained), parameters); !done)
        return done;
      folds.push_back(fold_of(HalfPrecisionModel::with_parameters(device.facts, parameters), tested));
    }
    add("all-reduce", "workers", device, score_of(folds));
    return {};
  }

  Status hold_out_devices() {
    std::vector<Fold> products, vectors;
    for (size_t i = 0; i < devices_.size(); ++i) {
      HalfPrecisionBundle others = out_.bundle;
      others.devices.erase(others.devices.begin() + static_cast<std::ptrdiff_t>(i));
      const auto model = HalfPrecisionModel::for_device(devices_[i].facts, others);
      if (!model) return model.error();
      products.push_back(fold_of(*model, devices_[i].products));
      vectors.push_back(fold_of(*model, devices_[i].vectors));
    }
    for (size_t i = 0; i < devices_.size(); ++i) {
      VidurScore score = score_of({products[i]});
      score.coverage_90 = static_cast<double>(covered(products, i)) / static_cast<double>(score.rows);
      add("products", "device", devices_[i], score);
    }
    for (size_t i = 0; i < devices_.size(); ++i) {
      VidurScore score = score_of({vectors[i]});
      score.coverage_90 = static_cast<double>(covered(vectors, i)) / static_cast<double>(score.rows);
      add("vectors", "device", devices_[i], score);
    }
    out_.bundle.transfer_log_error = root_mean_square(products);
    return {};
  }

  std::vector<DeviceRows> devices_;
  VidurScoreOptions options_;
  VidurReproduction out_;
};

// Whether the i-th row is one of those that are taken. The rows' operators and tokens repeat in short cycles, so a
// plain stride would miss some of them: the index is scattered first (Knuth's multiplicative hash).
bool taken(size_t i, size_t every) { return every <= 1 || ((i * 2654435761u) >> 12) % every == 0; }

}  // namespace

Result<VidurReproduction> reproduce_vidur(const VidurProfile& profile, const std::vector<VidurAllReduce>& all_reduces,
                                          const DeviceCatalogue& catalogue, const VidurScoreOptions& options) {
  if (profile.devices.size() < 2) {
    return Error{"bad-vidur", fmt::format("{} devices", profile.devices.size()), "", "two or more"};
  }
  std::vector<DeviceRows> devices;
  for (const std::string& name : profile.devices) {
    const auto facts = find_device(catalogue, name);
    if (!facts) return facts.error();
    devices.push_back({**facts, name, {}, {}, {}});
    for (size_t i = 0; i < all_reduces.size(); ++i) {
      // The systems in which a switch joins all devices; others share slower links than the device has.
      const bool switched = all_reduces[i].system == name + "_dgx";
      if (switched && taken(i, options.every)) devices.back().all_reduces.push_back(all_reduces[i]);
    }
  }
  for (size_t i = 0; i < profile.products.size(); ++i) {
    if (taken(i, options.every)) devices[profile.products[i].device].products.push_back(profile.products[i]);
  }
  for (size_t i = 0; i < profile.vectors.size(); ++i) {
    if (taken(i, options.every)) devices[profile.vectors[i].device].vectors.push_back(profile.vectors[i]);
  }
  auto out = Reproduction(std::move(devices), options).run();
  if (!out) return out.error();
  out->bundle.source = "Vidur operator profiles, github.com/microsoft/vidur, data/profiling (MLSys 2024)";
  out->bundle.licence = "MIT, Copyright (c) Microsoft Corporation";
  out->bundle.trained =
      "fp16 layers of language models and all-reduces on one node; perfcast_vidur_reproduction FOLDER --write FILE";
  return out;
}

}  // namespace perfcast::ai::latency_study
