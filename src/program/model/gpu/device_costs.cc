#include "program/model/gpu/device_costs.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/statistics.h"
#include "learn/fit/lbfgs.h"
#include "machine/gpu/kernel_limits.h"

namespace perfcast::program {
namespace {

constexpr double kLaunch_s = 1e-5, kCyclesPerInstruction = 4;
constexpr double kLanesPerThread = 4;  // of a CPU's hardware thread
// Standard deviations of the priors, in log factors.
constexpr double kCommonSpread = 1.5, kKindSpread = 1, kArchitectureSpread = 0.5, kDeviceSpread = 0.25;
// Of a log time about its row's mean, and of that mean, beyond which an error counts linearly (Huber).
constexpr double kRowNoise = 0.3, kLevelNoise = 1;
constexpr double kRowWeightAlone = 2;  // of a row that is alone in its family

std::string kind_of(const Platform& device) { return device.kind + " " + vendor_key(device.vendor); }

// CPUs of a kind are apart as architectures of GPUs are.
std::string architecture_of(const Platform& device) {
  return device.kind == "gpu" && !device.arch.empty() ? vendor_key(device.vendor) + " " + device.arch : device.id;
}

// The first of the facts that is stated; 0: none.
double fact_of(const Platform& device, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = device.facts.find(name);
    if (found != device.facts.end() && found->second > 0) return found->second;
  }
  return 0;
}

struct Level {
  std::vector<Eigen::Index> of_device;
  std::vector<std::string> names;
};

Level level_by(const std::vector<Platform>& devices, std::string (*name_of)(const Platform&)) {
  Level level;
  for (const Platform& device : devices) {
    const std::string name = name_of(device);
    const auto found = std::find(level.names.begin(), level.names.end(), name);
    level.of_device.push_back(found - level.names.begin());
    if (found == level.names.end()) level.names.push_back(name);
  }
  return level;
}

double time_of(const Eigen::Vector4d& costs, double* hidden = nullptr) {
  const double rest = costs.tail<3>().norm();
  if (hidden != nullptr) *hidden = rest;
  return costs(0) + rest;
}

// The penalised likelihood. Its variables, columns of four: common, kinds, architectures, devices.
class Fit {
 public:
  Fit(const std::vector<Eigen::Matrix4Xd>& textbook, const std::vector<Eigen::Index>& rows, const Targets& targets,
      const Level& kinds, const Level& architectures)
      : textbook_(textbook), rows_(rows), targets_(targets), kinds_(kinds), architectures_(architectures) {}

  Eigen::Index columns() const { return first_own() + devices(); }
  Eigen::Index first_architecture() const { return 1 + static_cast<Eigen::Index>(kinds_.names.size()); }
  Eigen::Index first_own() const {
    return first_architecture() + static_cast<Eigen::Index>(architectures_.names.size());
  }

  Eigen::Matrix4Xd log_factors(const Eigen::Matrix4Xd& x) const {
    Eigen::Matrix4Xd result(4, devices());
    for (Eigen::Index j = 0; j < devices(); ++j) {
      const auto [kind, architecture, own] = columns_of(j);
      result.col(j) = x.col(0) + x.col(kind) + x.col(architecture) + x.col(own);
    }
    return result;
  }

  double operator()(const Eigen::VectorXd& variables, Eigen::VectorXd& gradient) const {
    const Eigen::Map<const Eigen::Matrix4Xd> x(variables.data(), 4, columns());
    const Eigen::Array4Xd factors = log_factors(x).array().exp();
    Eigen::Matrix4Xd by_device = Eigen::Matrix4Xd::Zero(4, devices());
    double value = 0;
    Eigen::VectorXd errors(devices()), slopes(devices());
    Eigen::Matrix4Xd by_factor(4, devices());
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Eigen::Index row = rows_[i];
      const Eigen::VectorXd present = targets_.present.row(row);
      const double count = present.sum();
      for (Eigen::Index j = 0; j < devices(); ++j) {
        const Eigen::Vector4d costs = (factors.col(j) * textbook_[i].col(j).array()).matrix();
        double rest = 0;
        const double time = time_of(costs, &rest);
        errors(j) = present(j) * (std::log(time) - targets_.log_rpv(row, j) - targets_.log_seconds(row));
        // d log time / d log factor
        by_factor(0, j) = costs(0) / time;
        by_factor.col(j).tail<3>() = costs.tail<3>().cwiseAbs2() / (rest * time);
      }
      const double weight = kRowWeightAlone * targets_.weights(row), mean = errors.sum() / count;
      double sum = 0;
      for (Eigen::Index j = 0; j < devices(); ++j) {
        const double off = present(j) * (errors(j) - mean) / kRowNoise;
        value += weight * (std::abs(off) < 1 ? off * off / 2 : std::abs(off) - 0.5);
        slopes(j) = weight * std::clamp(off, -1.0, 1.0) / kRowNoise;
        sum += slopes(j);
      }
      value += weight * mean * mean / (2 * kLevelNoise * kLevelNoise);
      const double of_mean = (weight * mean / (kLevelNoise * kLevelNoise) - sum) / count;
      for (Eigen::Index j = 0; j < devices(); ++j) {
        by_device.col(j) += present(j) * (slopes(j) + of_mean) * by_factor.col(j);
      }
    }
    gradient.setZero(variables.size());
    Eigen::Map<Eigen::Matrix4Xd> out(gradient.data(), 4, columns());
    for (Eigen::Index j = 0; j < devices(); ++j) {
      const auto [kind, architecture, own] = columns_of(j);
      for (const Eigen::Index column : {Eigen::Index{0}, kind, architecture, own}) out.col(column) += by_device.col(j);
    }
    for (Eigen::Index column = 0; column < columns(); ++column) {
      const double deviation = column == 0                     ? kCommonSpread
                               : column < first_architecture() ? kKindSpread
                               : column < first_own()          ? kArchitectureSpread
                                                               : kDeviceSpread;
      value += x.col(column).squaredNorm() / (2 * deviation * deviation);
      out.col(column) += x.col(column) / (deviation * deviation);
    }
    return value;
  }

 private:
  struct Columns {
    Eigen::Index kind, architecture, own;
  };
  Eigen::Index devices() const { return static_cast<Eigen::Index>(kinds_.of_device.size()); }
  Columns columns_of(Eigen::Index device) const {
    const auto at = static_cast<size_t>(device);
    return {1 + kinds_.of_device[at], first_architecture() + architectures_.of_device[at], first_own() + device};
  }

  const std::vector<Eigen::Matrix4Xd>& textbook_;
  const std::vector<Eigen::Index>& rows_;
  const Targets& targets_;
  const Level &kinds_, &architectures_;
};

// Of a generation in the order in which they appeared; -1: not known.
int place_of(std::string_view generation) {
  const GroupLimits* found = group_limits(generation);
  return found == nullptr ? -1 : static_cast<int>(found - kGroupLimits);
}

}  // namespace

const std::vector<std::string>& kernel_cause_names() {
  static const std::vector<std::string> names = {"launch", "latency", "arithmetic", "memory"};
  return names;
}

DeviceCosts::Rates DeviceCosts::rates_of(const Platform& device) const {
  Rates rates;
  const auto known_or = [](double value, double usual) { return value > 0 ? value : usual; };
  rates.hz = known_or(fact_of(device, {"turbo_hz", "max_hz", "min_hz"}), usual_.hz);
  const double lanes = fact_of(device, {"core_count"}) * (device.kind == "gpu" ? 1 : kLanesPerThread);
  rates.lanes_hz = known_or(lanes * rates.hz, usual_.lanes_hz);
  rates.bytes_per_s = known_or(fact_of(device, {"memory_bytes_per_s"}), usual_.bytes_per_s);
  rates.units = fact_of(device, {"sm_count"});
  if (device.kind == "gpu") rates.limits = group_limits(device.arch);
  return rates;
}

Eigen::Vector4d DeviceCosts::textbook_seconds(const KernelWork& work, const Rates& rates) {
  double rounds = 1;
  if (work.groups && rates.units > 0 && rates.limits != nullptr) {
    rounds = std::max(1.0, waves(work.groups->count, rates.units * resident_groups(*rates.limits, work.groups->shape)));
  }
  return {kLaunch_s, work.instructions / work.items / rates.hz * kCyclesPerInstruction * rounds,
          work.instructions / rates.lanes_hz, work.memory_bytes / rates.bytes_per_s};
}

void DeviceCosts::fit(const std::vector<KernelWork>& works, const std::vector<Eigen::Index>& rows,
                      const Targets& targets, const std::vector<Platform>& devices) {
  usual_ = Rates();
  std::vector<double> clocks, lanes, bandwidths;
  for (const Platform& device : devices) {
    const Rates stated = rates_of(device);
    for (const auto& [value, values] : {std::pair{stated.hz, &clocks}, std::pair{stated.lanes_hz, &lanes},
                                        std::pair{stated.bytes_per_s, &bandwidths}}) {
      if (value > 0) values->push_back(value);
    }
  }
  // Where no device states a fact, any number does: factors are fitted.
  const auto middle = [](std::vector<double> values, double otherwise) {
    return values.empty() ? otherwise : median(std::move(values));
  };
  usual_.hz = middle(std::move(clocks), 1e9);
  usual_.lanes_hz = middle(std::move(lanes), 1e12);
  usual_.bytes_per_s = middle(std::move(bandwidths), 1e11);
  rates_.clear();
  for (const Platform& device : devices) rates_.push_back(rates_of(device));

  std::vector<Eigen::Matrix4Xd> textbook;
  textbook.reserve(works.size());
  for (const KernelWork& work : works) {
    Eigen::Matrix4Xd of_work(4, static_cast<Eigen::Index>(rates_.size()));
    for (size_t j = 0; j < rates_.size(); ++j) {
      of_work.col(static_cast<Eigen::Index>(j)) = textbook_seconds(work, rates_[j]);
    }
    textbook.push_back(std::move(of_work));
  }
  const Level kinds = level_by(devices, kind_of), architectures = level_by(devices, architecture_of);
  const Fit likelihood(textbook, rows, targets, kinds, architectures);
  const Eigen::VectorXd found =
      minimise([&](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) { return likelihood(x, gradient); },
               Eigen::VectorXd::Zero(4 * likelihood.columns()), MinimiseOptions{});
  const Eigen::Map<const Eigen::Matrix4Xd> x(found.data(), 4, likelihood.columns());
  common_ = x.col(0);
  kinds_.clear();
  architectures_.clear();
  for (size_t i = 0; i < kinds.names.size(); ++i) kinds_[kinds.names[i]] = x.col(1 + static_cast<Eigen::Index>(i));
  for (size_t i = 0; i < architectures.names.size(); ++i) {
    architectures_[architectures.names[i]] = x.col(likelihood.first_architecture() + static_cast<Eigen::Index>(i));
  }
  own_ = likelihood.log_factors(x);
}

Eigen::MatrixXd DeviceCosts::log_seconds(const std::vector<KernelWork>& works) const {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(works.size()), own_.cols());
  for (size_t i = 0; i < works.size(); ++i) {
    for (Eigen::Index j = 0; j < own_.cols(); ++j) {
      const Eigen::Array4d costs = textbook_seconds(works[i], rates_[static_cast<size_t>(j)]).array();
      result(static_cast<Eigen::Index>(i), j) = std::log(time_of((costs * own_.col(j).array().exp()).matrix()));
    }
  }
  return result;
}

Eigen::Vector4d DeviceCosts::log_factors_of(const Platform& device) const {
  Eigen::Vector4d factors = common_;
  if (const auto kind = kinds_.find(kind_of(device)); kind != kinds_.end()) factors += kind->second;
  const std::string own = architecture_of(device);
  if (const auto found = architectures_.find(own); found != architectures_.end()) return factors + found->second;
  // An architecture that nobody measured: the nearest generation of the vendor, of two the earlier one.
  const int place = place_of(device.arch);
  if (device.kind != "gpu" || place < 0) return factors;
  const std::string vendor = vendor_key(device.vendor) + " ";
  const Eigen::Vector4d* nearest = nullptr;
  int least = 0;
  for (const auto& [name, factor] : architectures_) {
    const int other = name.starts_with(vendor) ? place_of(std::string_view(name).substr(vendor.size())) : -1;
    if (other < 0) continue;
    // Twice, so that of two at the same distance the earlier one is nearer.
    const int distance = 2 * std::abs(other - place) + (other > place ? 1 : 0);
    if (nearest != nullptr && distance >= least) continue;
    nearest = &factor;
    least = distance;
  }
  return nearest == nullptr ? factors : Eigen::Vector4d(factors + *nearest);
}

Eigen::MatrixXd DeviceCosts::log_seconds_on(const std::vector<Platform>& devices,
                                            const std::vector<KernelWork>& works) const {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(works.size()), static_cast<Eigen::Index>(devices.size()));
  for (size_t j = 0; j < devices.size(); ++j) {
    const Rates rates = rates_of(devices[j]);
    const Eigen::Array4d factors = log_factors_of(devices[j]).array().exp();
    for (size_t i = 0; i < works.size(); ++i) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          std::log(time_of((textbook_seconds(works[i], rates).array() * factors).matrix()));
    }
  }
  return result;
}

double DeviceCosts::deviation_of(const Platform& device) const {
  double variance = kDeviceSpread * kDeviceSpread;
  if (!architectures_.contains(architecture_of(device))) variance += kArchitectureSpread * kArchitectureSpread;
  if (!kinds_.contains(kind_of(device))) variance += kKindSpread * kKindSpread;
  return std::sqrt(variance);
}

Eigen::VectorXd DeviceCosts::shares(const KernelWork& work, int64_t device) const {
  Eigen::Array4d costs = textbook_seconds(work, rates_[static_cast<size_t>(device)]).array();
  costs *= own_.col(device).array().exp();
  double rest = 0;
  const double time = time_of(costs.matrix(), &rest);
  Eigen::VectorXd shares = costs.matrix();
  shares.tail<3>() = (costs.tail<3>().square() / rest).matrix();
  return shares / time;
}

Json DeviceCosts::to_json() const {
  const auto list_of = [](const auto& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(value);
    return list;
  };
  const auto by_name = [&](const std::map<std::string, Eigen::Vector4d>& levels) {
    Json object = Json::object();
    for (const auto& [name, factors] : levels) object[name] = list_of(factors);
    return object;
  };
  const auto rates_json = [](const Rates& rates) {
    return Json{{"hz", rates.hz},
                {"lanes_hz", rates.lanes_hz},
                {"bytes_per_s", rates.bytes_per_s},
                {"units_count", rates.units},
                {"generation", rates.limits == nullptr ? "" : std::string(rates.limits->generation)}};
  };
  Json devices = Json::array();
  for (size_t j = 0; j < rates_.size(); ++j) {
    Json device = rates_json(rates_[j]);
    device["log_factors"] = list_of(own_.col(static_cast<Eigen::Index>(j)));
    devices.push_back(std::move(device));
  }
  return {{"causes", kernel_cause_names()},
          {"usual", rates_json(usual_)},
          {"common", list_of(common_)},
          {"kinds", by_name(kinds_)},
          {"architectures", by_name(architectures_)},
          {"devices", std::move(devices)}};
}

Status DeviceCosts::read_json(const Json& json) {
  const auto bad = [](const std::string& what) {
    return Error{"bad-bundle", "what it says of kernels' costs has no " + what, "costs",
                 "a bundle written by perfcast train"};
  };
  const auto read_factors = [](const Json& list, Eigen::Vector4d& factors) {
    if (!list.is_array() || list.size() != 4) return false;
    for (Eigen::Index k = 0; k < 4; ++k) {
      const Json& value = list[static_cast<size_t>(k)];
      // exp() of more is no time.
      if (!value.is_number() || !(std::abs(value.get<double>()) < 100)) return false;
      factors(k) = value.get<double>();
    }
    return true;
  };
  const auto read_levels = [&](const Json& object, std::map<std::string, Eigen::Vector4d>& levels) {
    levels.clear();
    if (!object.is_object()) return false;
    for (const auto& [name, list] : object.items()) {
      if (!read_factors(list, levels[name])) return false;
    }
    return true;
  };
  const auto read_rates = [](const Json& object, Rates& rates) {
    if (!object.is_object()) return false;
    for (const auto& [name, value] : {std::pair{"hz", &rates.hz}, std::pair{"lanes_hz", &rates.lanes_hz},
                                      std::pair{"bytes_per_s", &rates.bytes_per_s}}) {
      const auto found = object.find(name);
      if (found == object.end() || !found->is_number() || !(found->get<double>() > 0)) return false;
      *value = found->get<double>();
    }
    const auto units = object.find("units_count"), generation = object.find("generation");
    if (units == object.end() || !units->is_number() || !(units->get<double>() >= 0)) return false;
    if (generation == object.end() || !generation->is_string()) return false;
    rates.units = units->get<double>();
    rates.limits = group_limits(generation->get<std::string>());
    return true;
  };
  const auto part = [&json](const char* name) { return json.is_object() ? json.value(name, Json()) : Json(); };
  if (!read_rates(part("usual"), usual_)) return bad("usual rates");
  if (!read_factors(part("common"), common_)) return bad("common factors");
  if (!read_levels(part("kinds"), kinds_)) return bad("kinds of devices");
  if (!read_levels(part("architectures"), architectures_)) return bad("architectures");
  const Json devices = part("devices");
  if (!devices.is_array() || devices.empty()) return bad("devices");
  rates_.assign(devices.size(), Rates());
  own_.resize(kKernelCauses, static_cast<Eigen::Index>(devices.size()));
  for (size_t j = 0; j < devices.size(); ++j) {
    Eigen::Vector4d factors;
    if (!read_rates(devices[j], rates_[j]) || !read_factors(devices[j].value("log_factors", Json()), factors))
      return bad("rates and factors of each device");
    own_.col(static_cast<Eigen::Index>(j)) = factors;
  }
  return {};
}

}  // namespace perfcast::program
