#include "program/model/scaling/scaling_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/json.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/forecast/calibration.h"

namespace perfcast::program {
namespace {

constexpr int kWidthFeatures = 6;
constexpr double kWidthRidge = 1e-3, kLeastError = 0.01;
constexpr Eigen::Index kOwnDirections = 24;  // of 82 programs on 1,807 servers: little is lost, and 0.8 MB saved

std::set<std::string> families_of(const ScalingFit& fit) {
  std::set<std::string> families;
  for (const Program& program : fit.table().programs) families.insert(program.family);
  return families;
}

std::vector<Eigen::Index> members(const ScalingFit& fit, const std::string& family) {
  std::vector<Eigen::Index> rows;
  for (size_t i = 0; i < fit.table().programs.size(); ++i) {
    if (fit.table().programs[i].family == family) rows.push_back(static_cast<Eigen::Index>(i));
  }
  return rows;
}

std::string key_of_server(const MachineFacts& machine) {
  return server_key(machine.provider, machine.name, machine.platform);
}

// Names as they are kept, or as JSON where the bundle is of before that.
Result<std::vector<std::string>> names_of(const TensorMap& tensors, const std::string& name) {
  const auto json = tensors.get_json(name);
  if (!json) return tensors.get_texts(name);
  const Error bad{"bad-bundle", "the names are not understood", name, "a file written by perfcast train"};
  if (!json->is_array()) return bad;
  std::vector<std::string> names;
  for (const Json& text : *json) {
    if (!text.is_string()) return bad;
    names.push_back(text.get<std::string>());
  }
  return names;
}

// kernel(program, each of the keys)
Eigen::VectorXd kernel_vector(const ProgramKernel& kernel, const ProgramKey& program,
                              const std::vector<ProgramKey>& keys) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(keys.size()));
  for (Eigen::Index i = 0; i < values.size(); ++i) values(i) = kernel(program, keys[static_cast<size_t>(i)]);
  return values;
}

CopiesOnMachine copies_of(const ScalingFit& fit, Eigen::Index program, Eigen::Index machine) {
  const ScalingTable& table = fit.table();
  return {&table.loads[static_cast<size_t>(program)], &table.machines[static_cast<size_t>(machine)],
          std::exp(table.log_alone_usual(program, machine)), table.copies(program, machine)};
}

LeftOutForecast nothing_of(const ScalingFit& fit) {
  const Eigen::MatrixXd unknown =
      Eigen::MatrixXd::Constant(fit.log_slowdown().rows(), fit.log_slowdown().cols(), kUnknown);
  return {unknown, unknown};
}

// own * (weights of servers with runs - those of their classes), [programs x machines], as left * right: in the few
// directions that carry most of what the weights forecast of the programs themselves. Those that carry most of the
// weights are others: kriging's weights are large where the kernel hears them least.
struct OwnWeights {
  Eigen::MatrixXd left, right;
};
OwnWeights own_weights(const ScalingFit& fit, const ProgramKernel& kernel, const Eigen::MatrixXd& by_class,
                       const Eigen::MatrixXd& by_machine, double own) {
  Eigen::MatrixXd beyond = Eigen::MatrixXd::Zero(by_machine.rows(), by_machine.cols());
  for (Eigen::Index s = 0; s < beyond.cols(); ++s) {
    const Eigen::Index c = fit.class_of()[static_cast<size_t>(s)];
    if (c >= 0) beyond.col(s) = own * (by_machine.col(s) - by_class.col(c));
  }
  Eigen::MatrixXd among(beyond.rows(), beyond.rows());
  for (Eigen::Index i = 0; i < among.rows(); ++i)
    among.col(i) = kernel_vector(kernel, fit.keys()[static_cast<size_t>(i)], fit.keys());
  among.diagonal().array() += 1e-3 * kernel.noise;  // programs of one key
  const Eigen::MatrixXd root = cholesky_root(among);
  const Eigen::MatrixXd heard = root.transpose() * beyond;
  const Eigen::MatrixXd vectors = symmetric_eigen(heard * heard.transpose()).vectors;
  const Eigen::MatrixXd directions = vectors.rightCols(std::min(kOwnDirections, vectors.cols()));
  const Eigen::MatrixXd from = root * directions;
  return {solve_positive_definite(among, from), directions.transpose() * heard};
}

// Of weights over programs on classes, at the machines of a family's programs, with what machines have beyond them.
void add_by_class(const ScalingFit& fit, const ProgramKernel& kernel, const Eigen::MatrixXd& by_class,
                  const OwnWeights& own, const std::vector<Eigen::Index>& rows, Eigen::MatrixXd& to) {
  for (const Eigen::Index i : rows) {
    const Eigen::VectorXd k = kernel_vector(kernel, fit.keys()[static_cast<size_t>(i)], fit.keys());
    const Eigen::VectorXd of_classes = by_class.transpose() * k;
    const Eigen::VectorXd beyond = own.right.transpose() * (own.left.transpose() * k);
    for (Eigen::Index s = 0; s < to.cols(); ++s) {
      const Eigen::Index c = fit.class_of()[static_cast<size_t>(s)];
      if (c >= 0) to(i, s) = of_classes(c) + beyond(s);
    }
  }
}

}  // namespace

double ScalingIntervals::half_width(const Eigen::VectorXd& features) const {
  return quantile * std::exp(coefficients.dot(features));
}

Eigen::VectorXd width_features(const CopiesOnMachine& copies, double log_slowdown) {
  constexpr double kMostSlowdown = 1.5, kSizeScale = 7;
  Eigen::VectorXd x(kWidthFeatures);
  const double demand = std::log10(std::max(bandwidth_demand(copies), 1e-3));
  x << 1, copies.load->kernel_ratio, std::clamp(log_slowdown, 0.0, kMostSlowdown),
      std::log2(copies.copies) / kSizeScale, std::clamp(demand + 3, 0.0, 3.5) / 3, copies.machine->floats ? 1 : 0;
  return x;
}

ScalingIntervals fit_intervals(const ScalingFit& fit, const ScalingErrors& errors, double coverage,
                               const std::string& without_family) {
  std::map<std::string, double> sizes;
  for (const Program& program : fit.table().programs) ++sizes[program.family];
  Eigen::MatrixXd gram = kWidthRidge * Eigen::MatrixXd::Identity(kWidthFeatures, kWidthFeatures);
  Eigen::VectorXd moment = Eigen::VectorXd::Zero(kWidthFeatures);
  const auto each = [&](auto&& take) {
    for (Eigen::Index i = 0; i < errors.log_error.rows(); ++i) {
      const std::string& family = fit.table().programs[static_cast<size_t>(i)].family;
      const auto count = errors.log_error.row(i).array().isFinite().count();
      if (family == without_family || count == 0) continue;
      const double weight = 1 / static_cast<double>(count) / std::sqrt(sizes[family]);
      for (Eigen::Index s = 0; s < errors.log_error.cols(); ++s) {
        const double error = std::abs(errors.log_error(i, s));
        if (std::isfinite(error)) take(errors.features[static_cast<size_t>(i)].row(s).transpose(), error, weight);
      }
    }
  };
  each([&](const Eigen::VectorXd& x, double error, double weight) {
    gram += weight * x * x.transpose();
    moment += weight * std::log(error + kLeastError) * x;
  });
  ScalingIntervals intervals;
  intervals.coefficients = solve_positive_definite(gram, moment);
  std::vector<double> ratios, weights;
  each([&](const Eigen::VectorXd& x, double error, double weight) {
    ratios.push_back(error / std::exp(intervals.coefficients.dot(x)));
    weights.push_back(weight);
  });
  intervals.quantile = weighted_quantile(ratios, weights, coverage);
  return intervals;
}

Eigen::MatrixXd smoothed_weights(const ScalingFit& fit, const Eigen::MatrixXd& slowdown_weights,
                                 const std::vector<MachineFacts>& machines) {
  const std::vector<MachineFacts>& known = fit.class_machines();
  Eigen::MatrixXd shared(static_cast<Eigen::Index>(known.size()), static_cast<Eigen::Index>(machines.size()));
  for (Eigen::Index m = 0; m < shared.cols(); ++m) {
    const MachineFacts& machine = machines[static_cast<size_t>(m)];
    const std::string key = machine_class(machine);
    for (Eigen::Index c = 0; c < shared.rows(); ++c) {
      shared(c, m) = class_kernel(known[static_cast<size_t>(c)], machine) +
                     (fit.classes()[static_cast<size_t>(c)] == key ? kClassVariance : 0);
    }
  }
  return fit.class_means(slowdown_weights) * (fit.class_precision() * shared);
}

LeftOutForecast forecast_without_family(const ScalingFit& fit, const std::string& family) {
  LeftOutForecast result = nothing_of(fit);
  const std::vector<Eigen::Index> rows = members(fit, family);
  const Eigen::VectorXd costs = fit.costs(family);
  const Eigen::MatrixXd slowdowns = fit.slowdown_weights(costs, family), departures = fit.departure_weights(family);
  const Eigen::MatrixXd slowdowns_of_classes = smoothed_weights(fit, slowdowns, fit.class_machines());
  const Eigen::MatrixXd departures_of_classes = fit.class_means(departures);
  add_by_class(fit, kSlowdownKernel, slowdowns_of_classes,
               own_weights(fit, kSlowdownKernel, slowdowns_of_classes, slowdowns, kOwnSlowdown), rows,
               result.log_slowdown);
  add_by_class(fit, kDepartureKernel, departures_of_classes,
               own_weights(fit, kDepartureKernel, departures_of_classes, departures, kOwnDeparture), rows,
               result.log_departure);
  for (const Eigen::Index i : rows) {
    for (Eigen::Index s = 0; s < result.log_slowdown.cols(); ++s) {
      if (fit.is_measured(i, s)) result.log_slowdown(i, s) += fit.log_physics(i, s, costs);
    }
  }
  return result;
}

// A platform's classes follow from the others': the mean of a Gaussian given all but one block, by its precision.
LeftOutForecast forecast_without_family_and_platforms(const ScalingFit& fit, const std::string& family) {
  LeftOutForecast result = nothing_of(fit);
  const std::vector<Eigen::Index> rows = members(fit, family);
  std::map<std::string, std::vector<Eigen::Index>> classes_of_platform;
  for (size_t c = 0; c < fit.class_machines().size(); ++c)
    classes_of_platform[fit.class_machines()[c].platform].push_back(static_cast<Eigen::Index>(c));
  Eigen::MatrixXd kernels(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(fit.keys().size()));
  for (Eigen::Index r = 0; r < kernels.rows(); ++r) {
    kernels.row(r) =
        kernel_vector(kSlowdownKernel, fit.keys()[static_cast<size_t>(rows[static_cast<size_t>(r)])], fit.keys());
  }
  const Eigen::MatrixXd departures = fit.departure_weights(family);
  const Eigen::MatrixXd departures_of_classes = fit.class_means(departures);
  add_by_class(fit, kDepartureKernel, departures_of_classes,
               own_weights(fit, kDepartureKernel, departures_of_classes, departures, 0), rows, result.log_departure);
  for (const auto& [platform, classes] : classes_of_platform) {
    const Eigen::VectorXd costs = fit.costs(family, platform);
    Eigen::MatrixXd means = kernels * fit.class_means(fit.slowdown_weights(costs, family));
    means(Eigen::all, classes).setZero();
    const Eigen::MatrixXd block = fit.class_precision()(classes, classes);
    const Eigen::MatrixXd from_others = (means * fit.class_precision()(Eigen::all, classes)).transpose();
    const Eigen::MatrixXd at = -solve_positive_definite(block, from_others);  // [classes x rows]
    std::map<Eigen::Index, Eigen::Index> position;
    for (size_t c = 0; c < classes.size(); ++c) position[classes[c]] = static_cast<Eigen::Index>(c);
    for (Eigen::Index s = 0; s < result.log_slowdown.cols(); ++s) {
      const auto found = position.find(fit.class_of()[static_cast<size_t>(s)]);
      if (found == position.end()) continue;
      for (size_t r = 0; r < rows.size(); ++r) {
        if (!fit.is_measured(rows[r], s)) continue;
        result.log_slowdown(rows[r], s) =
            fit.log_physics(rows[r], s, costs) + at(found->second, static_cast<Eigen::Index>(r));
      }
    }
  }
  return result;
}

ScalingErrors errors_of(const ScalingFit& fit, const LeftOutForecast& forecast, bool with_departures) {
  const ScalingTable& table = fit.table();
  ScalingErrors errors;
  errors.log_error = Eigen::MatrixXd::Constant(forecast.log_slowdown.rows(), forecast.log_slowdown.cols(), kUnknown);
  for (Eigen::Index i = 0; i < errors.log_error.rows(); ++i) {
    errors.features.emplace_back(Eigen::MatrixXd::Zero(errors.log_error.cols(), kWidthFeatures));
    for (Eigen::Index s = 0; s < errors.log_error.cols(); ++s) {
      if (!fit.is_measured(i, s) || !std::isfinite(forecast.log_slowdown(i, s))) continue;
      errors.log_error(i, s) = table.log_alone_usual(i, s) + forecast.log_slowdown(i, s) +
                               (with_departures ? forecast.log_departure(i, s) : 0) - table.log_together(i, s);
      errors.features.back().row(s) = width_features(copies_of(fit, i, s), forecast.log_slowdown(i, s));
    }
  }
  return errors;
}

Status ScalingModel::fit(const ScalingFit& fit, double coverage) {
  if (families_of(fit).size() < 2) {
    return Error{"too-few-families", "scaling needs programs of two families", "", "a corpus with more programs"};
  }
  LeftOutForecast left_out = nothing_of(fit);
  for (const std::string& family : families_of(fit)) {
    const LeftOutForecast one = forecast_without_family(fit, family);
    for (const Eigen::Index i : members(fit, family)) {
      left_out.log_slowdown.row(i) = one.log_slowdown.row(i);
      left_out.log_departure.row(i) = one.log_departure.row(i);
    }
  }
  this->fit(fit, fit_intervals(fit, errors_of(fit, left_out, true), coverage));
  return {};
}

void ScalingModel::fit(const ScalingFit& fit, ScalingIntervals intervals) {
  costs_ = fit.costs();
  mean_ = fit.signature_mean();
  deviation_ = fit.signature_deviation();
  keys_ = fit.keys();
  std::map<std::string, const MachineFacts*> classes;
  for (const MachineFacts& machine : fit.table().all_machines) classes.emplace(machine_class(machine), &machine);
  std::vector<MachineFacts> machines;
  columns_.clear();
  for (const auto& [key, machine] : classes) {
    columns_.emplace(key, static_cast<Eigen::Index>(machines.size()));
    machines.push_back(*machine);
  }
  const Eigen::MatrixXd slowdowns_by_machine = fit.slowdown_weights(costs_);
  const Eigen::MatrixXd departures_by_machine = fit.departure_weights();
  slowdown_weights_ = smoothed_weights(fit, slowdowns_by_machine, machines);
  const Eigen::MatrixXd departures = fit.class_means(departures_by_machine);
  departure_weights_ = Eigen::MatrixXd::Zero(departures.rows(), slowdown_weights_.cols());
  for (size_t c = 0; c < fit.classes().size(); ++c)
    departure_weights_.col(columns_.at(fit.classes()[c])) = departures.col(static_cast<Eigen::Index>(c));
  OwnWeights own = own_weights(fit, kSlowdownKernel, smoothed_weights(fit, slowdowns_by_machine, fit.class_machines()),
                               slowdowns_by_machine, kOwnSlowdown);
  own_slowdown_left_ = std::move(own.left);
  own_slowdown_right_ = std::move(own.right);
  own = own_weights(fit, kDepartureKernel, departures, departures_by_machine, kOwnDeparture);
  own_departure_left_ = std::move(own.left);
  own_departure_right_ = std::move(own.right);
  servers_.clear();
  for (size_t s = 0; s < fit.table().machines.size(); ++s)
    servers_.emplace(key_of_server(fit.table().machines[s]), static_cast<Eigen::Index>(s));
  intervals_ = std::move(intervals);
}

ProgramKey ScalingModel::key_of(const ProgramLoad& load, const std::vector<MachineFacts>& machines,
                                const std::function<double(const std::string& platform)>& time_s) const {
  std::vector<std::vector<double>> values(kSignatureSize);
  for (const MachineFacts& machine : machines) {
    const double seconds = time_s(machine.platform);
    if (!(seconds > 0)) continue;
    const Eigen::VectorXd z = perfcast::program::signature({&load, &machine, seconds, machine.vcpus});
    for (Eigen::Index k = 0; k < kSignatureSize; ++k) values[static_cast<size_t>(k)].push_back(z(k));
  }
  ProgramKey key;
  key.signature = Eigen::VectorXd::Zero(kSignatureSize);
  for (Eigen::Index k = 0; k < kSignatureSize; ++k) {
    auto& of_one = values[static_cast<size_t>(k)];
    if (!of_one.empty()) key.signature(k) = (median(std::move(of_one)) - mean_(k)) / deviation_(k);
  }
  return key;
}

CopiesForecast ScalingModel::forecast(const ProgramKey& program, const CopiesOnMachine& copies) const {
  CopiesOnMachine alone = copies;
  alone.copies = 1;
  const auto log_physics = [&](const CopiesOnMachine& of) {
    return std::log(std::max(slowdown_columns(of).dot(costs_), kLeastSlowdown));
  };
  const double most = std::max(copies.machine->vcpus, 2.0);
  const double filled = std::clamp(std::log2(std::max(copies.copies, 1.0)) / std::log2(most), 0.0, 1.0);
  CopiesForecast result;
  // All of a server's vCPUs were measured against one copy: there physics is as it was fitted; for one copy it is 1.
  result.log_slowdown = log_physics(copies) - (1 - filled) * log_physics(alone);
  if (const auto column = columns_.find(machine_class(*copies.machine)); column != columns_.end()) {
    const Eigen::VectorXd slowdown = kernel_vector(kSlowdownKernel, program, keys_);
    const Eigen::VectorXd departure = kernel_vector(kDepartureKernel, program, keys_);
    result.log_slowdown += filled * slowdown.dot(slowdown_weights_.col(column->second));
    result.log_slowdown += departure.dot(departure_weights_.col(column->second));
    if (const auto server = servers_.find(key_of_server(*copies.machine)); server != servers_.end()) {
      const Eigen::VectorXd of_slowdown = own_slowdown_left_.transpose() * slowdown;
      const Eigen::VectorXd of_departure = own_departure_left_.transpose() * departure;
      result.log_slowdown += filled * of_slowdown.dot(own_slowdown_right_.col(server->second));
      result.log_slowdown += of_departure.dot(own_departure_right_.col(server->second));
    }
  }
  result.half_width = intervals_.half_width(width_features(copies, result.log_slowdown));
  return result;
}

void ScalingModel::save(TensorMap& tensors) const {
  tensors.put("costs", costs_);
  tensors.put("signature_mean", mean_);
  tensors.put("signature_deviation", deviation_);
  Eigen::MatrixXd signatures(static_cast<Eigen::Index>(keys_.size()), kSignatureSize);
  Json programs = Json::array();
  for (size_t i = 0; i < keys_.size(); ++i) {
    signatures.row(static_cast<Eigen::Index>(i)) = keys_[i].signature;
    programs.push_back({keys_[i].group, keys_[i].family, keys_[i].fills_cores});
  }
  tensors.put("signatures", signatures);
  tensors.put_json("programs", programs);
  std::vector<std::string> classes;
  for (const auto& [key, column] : columns_) classes.push_back(key);  // columns are in the order of their keys
  tensors.put_texts("classes", classes);
  tensors.put_rounded("slowdown_weights", slowdown_weights_);
  tensors.put_rounded("departure_weights", departure_weights_);
  std::vector<std::string> servers(static_cast<size_t>(own_slowdown_right_.cols()));
  for (const auto& [key, column] : servers_) servers[static_cast<size_t>(column)] = key;
  tensors.put_texts("servers", servers);
  tensors.put_rounded("own_slowdown_left", own_slowdown_left_);
  tensors.put_rounded("own_slowdown_right", own_slowdown_right_);
  tensors.put_rounded("own_departure_left", own_departure_left_);
  tensors.put_rounded("own_departure_right", own_departure_right_);
  tensors.put("interval_coefficients", intervals_.coefficients);
  tensors.put("interval_quantile", Eigen::MatrixXd::Constant(1, 1, intervals_.quantile));
}

Status ScalingModel::load(const TensorMap& tensors) {
  const Error bad{"bad-bundle", "the scaling model is not understood", "scaling", "a file written by perfcast train"};
  const auto programs = tensors.get_json("programs");
  if (!programs) return programs.error();
  const auto classes = names_of(tensors, "classes");
  if (!classes) return classes.error();
  if (!programs->is_array()) return bad;
  const auto count = static_cast<int64_t>(programs->size()), class_count = static_cast<int64_t>(classes->size());
  const auto read = [&](const char* name, int64_t rows, int64_t cols, auto& to) -> Status {
    auto matrix = tensors.get(name, rows, cols);
    if (!matrix) return matrix.error();
    to = std::move(*matrix);
    return {};
  };
  Eigen::MatrixXd signatures, quantile;
  const auto columns = static_cast<int64_t>(slowdown_column_names().size());
  for (const Status& status : {read("costs", columns, 1, costs_), read("signature_mean", kSignatureSize, 1, mean_),
                               read("signature_deviation", kSignatureSize, 1, deviation_),
                               read("signatures", count, kSignatureSize, signatures),
                               read("slowdown_weights", count, class_count, slowdown_weights_),
                               read("departure_weights", count, class_count, departure_weights_),
                               read("interval_coefficients", kWidthFeatures, 1, intervals_.coefficients),
                               read("interval_quantile", 1, 1, quantile)}) {
    if (!status) return status;
  }
  if (!(deviation_.array() > 0).all()) return bad;
  servers_.clear();
  if (tensors.has("servers")) {  // older bundles know classes of servers alone
    const auto servers = names_of(tensors, "servers");
    if (!servers) return servers.error();
    const auto server_count = static_cast<int64_t>(servers->size());
    for (int64_t s = 0; s < server_count; ++s) servers_.emplace((*servers)[static_cast<size_t>(s)], s);
    for (const Status& status : {read("own_slowdown_left", count, -1, own_slowdown_left_),
                                 read("own_departure_left", count, -1, own_departure_left_)}) {
      if (!status) return status;
    }
    for (const Status& status :
         {read("own_slowdown_right", own_slowdown_left_.cols(), server_count, own_slowdown_right_),
          read("own_departure_right", own_departure_left_.cols(), server_count, own_departure_right_)}) {
      if (!status) return status;
    }
  }
  intervals_.quantile = quantile(0, 0);
  keys_.clear();
  for (int64_t i = 0; i < count; ++i) {
    const Json& program = (*programs)[static_cast<size_t>(i)];
    if (!program.is_array() || program.size() != 3 || !program[0].is_string() || !program[1].is_string() ||
        !program[2].is_boolean()) {
      return bad;
    }
    keys_.push_back({signatures.row(i).transpose(), program[0].get<std::string>(), program[1].get<std::string>(),
                     program[2].get<bool>()});
  }
  columns_.clear();
  for (int64_t c = 0; c < class_count; ++c) columns_.emplace((*classes)[static_cast<size_t>(c)], c);
  return {};
}

}  // namespace perfcast::program
