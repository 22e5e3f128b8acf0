#include "program/model/adapt/platform_kernel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/unknown.h"
#include "program/model/features/microarchitecture.h"

namespace perfcast::program {
namespace {

constexpr double kNoClockHz = 2e9;
constexpr double kFarthest = 4;           // standard deviations
constexpr double kLeastDeviation = 0.05;  // of a log: facts that differ by less are the same
constexpr size_t kStated = 8;

bool ends_in_any(std::string_view name, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(), [name](const char* end) { return name.ends_with(end); });
}

bool is_any(std::string_view name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Column {
  size_t kind;
  std::vector<double> values;
};

// False where the known platforms don't state it often enough, or all alike.
bool standardise_over(const std::vector<size_t>& known, std::vector<double>& values) {
  double sum = 0, squares = 0, count = 0;
  for (const size_t platform : known) {
    if (std::isnan(values[platform])) continue;
    sum += values[platform];
    squares += values[platform] * values[platform];
    ++count;
  }
  if (count < static_cast<double>(std::min(kStated, known.size() / 4 + 1))) return false;
  const double centre = sum / count, deviation = std::sqrt(std::max(squares / count - centre * centre, 0.0));
  if (!(deviation > 1e-9)) return false;
  for (double& value : values) {
    value = std::clamp((value - centre) / std::max(deviation, kLeastDeviation), -kFarthest, kFarthest);  // NaN stays
  }
  return true;
}

void fill_absent(const std::vector<size_t>& known, const std::vector<size_t>& designs,
                 const std::vector<std::string>& lines, std::vector<double>& values) {
  const std::vector<double> stated = values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(stated[i])) continue;
    double of_design = 0, designs_count = 0, of_line = 0, line_count = 0;
    for (const size_t other : known) {
      if (std::isnan(stated[other])) continue;
      if (designs[other] == designs[i]) {
        of_design += stated[other];
        ++designs_count;
      }
      if (lines[other] == lines[i]) {
        of_line += stated[other];
        ++line_count;
      }
    }
    values[i] = designs_count > 0 ? of_design / designs_count : line_count > 0 ? of_line / line_count : 0;
  }
}

double shared_provider(const Platform& a, const Platform& b) {
  double shared = 0;
  for (const auto& [name, ratio] : a.facts) {
    if (!name.starts_with(kProviderFact)) continue;
    const auto other = b.facts.find(name);
    if (other != b.facts.end()) shared += ratio * other->second;
  }
  return shared;
}

}  // namespace

size_t fact_kind(std::string_view name) {
  const auto kind = [](FactKind of) { return static_cast<size_t>(of); };
  if (name.starts_with("bwmem_")) {
    if (ends_in_any(name, {"_16kib_per_vcpu_bytes_per_s", "_256kib_per_vcpu_bytes_per_s"}))
      return kind(FactKind::kCore);
    if (ends_in_any(name, {"_1mb_per_vcpu_bytes_per_s", "_2mb_per_vcpu_bytes_per_s", "_4mb_per_vcpu_bytes_per_s",
                           "_8mb_per_vcpu_bytes_per_s"})) {
      return kind(FactKind::kCaches);
    }
    if (ends_in_any(name, {"_64mb_per_vcpu_bytes_per_s", "_256mb_per_vcpu_bytes_per_s"}))
      return kind(FactKind::kMemory);
    return kFactKinds;
  }
  if (name == "membench_latency_32kib_ns") return kind(FactKind::kCore);
  if (is_any(name, {"membench_latency_512kib_ns", "membench_latency_1024kib_ns", "membench_latency_2048kib_ns",
                    "membench_latency_8192kib_ns"})) {
    return kind(FactKind::kCaches);
  }
  if (is_any(name, {"membench_latency_65536kib_ns", "membench_latency_131072kib_ns", "threads_per_core_count",
                    "memory_bytes_per_s"})) {
    return kind(FactKind::kMemory);
  }
  if (is_any(name, {"max_hz", "tsc_hz", "peak_flops_per_s", "core_count", "sm_count"})) return kind(FactKind::kCore);
  if (is_any(name, {"l1d_bytes", "l2_bytes", "l3_bytes"})) return kind(FactKind::kSizes);
  return kFactKinds;
}

std::string platform_design(const Platform& platform) {
  if (platform.kind == "gpu" && !platform.arch.empty()) return platform.arch;
  return microarchitecture(platform);
}

std::vector<double> log_facts(const Platform& platform, const std::vector<std::string>& names) {
  std::vector<double> logs;
  logs.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = platform.facts.find(name);
    const bool is_stated = found != platform.facts.end() && found->second > 0 &&
                           !(name == "max_hz" && std::abs(found->second - kNoClockHz) < 1e-3 * kNoClockHz);
    logs.push_back(is_stated ? std::log(found->second) : kUnknown);
  }
  return logs;
}

std::array<double, PlatformKernel::kParameters> PlatformKernel::parameters() const {
  std::array<double, kParameters> all{};
  std::copy(bend.begin(), bend.end(), all.begin());
  std::copy(slope.begin(), slope.end(), all.begin() + kFactKinds);
  const std::array<double, 5> rest{smooth, other_line, design, provider, own};
  std::copy(rest.begin(), rest.end(), all.begin() + 2 * kFactKinds);
  return all;
}

PlatformKernel PlatformKernel::of(const std::array<double, kParameters>& parameters) {
  PlatformKernel kernel;
  std::copy_n(parameters.begin(), kFactKinds, kernel.bend.begin());
  std::copy_n(parameters.begin() + kFactKinds, kFactKinds, kernel.slope.begin());
  kernel.smooth = parameters[2 * kFactKinds];
  kernel.other_line = std::min(parameters[2 * kFactKinds + 1], 1.0);
  kernel.design = parameters[2 * kFactKinds + 2];
  kernel.provider = parameters[2 * kFactKinds + 3];
  kernel.own = parameters[2 * kFactKinds + 4];
  return kernel;
}

PlatformLikeness::PlatformLikeness(const std::vector<Platform>& platforms, const std::vector<size_t>& known) {
  const auto count = static_cast<Eigen::Index>(platforms.size());
  std::set<std::string> names, flags;
  std::vector<std::string> lines;
  std::map<std::string, size_t> design_index;
  for (const Platform& platform : platforms) {
    for (const auto& [name, value] : platform.facts) {
      if (fact_kind(name) < kFactKinds) names.insert(name);
    }
    lines.push_back(core_line(platform));
    designs_.push_back(design_index.try_emplace(platform_design(platform), design_index.size()).first->second);
  }
  // One that no known platform has tells nothing.
  for (const size_t platform : known) flags.insert(platforms[platform].flags.begin(), platforms[platform].flags.end());
  const std::vector<std::string> ordered(names.begin(), names.end());
  std::vector<Column> columns;
  columns.reserve(ordered.size() + flags.size());
  for (const std::string& name : ordered) columns.push_back({fact_kind(name), {}});
  for (const Platform& platform : platforms) {
    const std::vector<double> logs = log_facts(platform, ordered);
    for (size_t f = 0; f < logs.size(); ++f) columns[f].values.push_back(logs[f]);
  }
  std::vector<std::set<std::string_view>> flags_of;
  flags_of.reserve(platforms.size());
  for (const Platform& platform : platforms) flags_of.emplace_back(platform.flags.begin(), platform.flags.end());
  for (const std::string& flag : flags) {
    Column column{static_cast<size_t>(FactKind::kInstructions), {}};
    for (const std::set<std::string_view>& own : flags_of) column.values.push_back(own.contains(flag) ? 1 : 0);
    columns.push_back(std::move(column));
  }

  for (size_t kind = 0; kind < kFactKinds; ++kind) {
    difference_[kind] = product_[kind] = Eigen::MatrixXd::Zero(count, count);
  }
  std::array<double, kFactKinds> used{};
  std::vector<Eigen::VectorXd> kept;
  for (Column& column : columns) {
    if (!standardise_over(known, column.values)) continue;
    fill_absent(known, designs_, lines, column.values);
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(column.values.data(), count);
    product_[column.kind] += x * x.transpose();
    const Eigen::MatrixXd apart = x.replicate(1, count) - x.transpose().replicate(count, 1);
    difference_[column.kind] += apart.cwiseAbs2();
    used[column.kind] += 1;
    kept.push_back(x);
  }
  for (size_t kind = 0; kind < kFactKinds; ++kind) {
    if (used[kind] == 0) continue;
    product_[kind] /= used[kind];
    difference_[kind] /= used[kind];
  }
  facts_.resize(count, static_cast<Eigen::Index>(kept.size()));
  for (size_t f = 0; f < kept.size(); ++f) facts_.col(static_cast<Eigen::Index>(f)) = kept[f];

  line_.resize(count, count);
  design_.resize(count, count);
  provider_.resize(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
      line_(i, j) = lines[a] == lines[b] ? 1 : 0;
      design_(i, j) = designs_[a] == designs_[b] ? 1 : 0;
      provider_(i, j) = shared_provider(platforms[a], platforms[b]);
    }
  }
}

bool PlatformLikeness::same_line(size_t a, size_t b) const {
  return line_(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) > 0;
}

double PlatformLikeness::distance(size_t a, size_t b) const {
  double sum = 0;
  for (const Eigen::MatrixXd& difference : difference_) {
    sum += difference(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
  }
  return sum;
}

Eigen::MatrixXd PlatformLikeness::covariance(const PlatformKernel& kernel, const std::vector<size_t>& rows,
                                             const std::vector<size_t>& columns) const {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns.size()));
  for (Eigen::Index c = 0; c < result.cols(); ++c) {
    const auto j = static_cast<Eigen::Index>(columns[static_cast<size_t>(c)]);
    for (Eigen::Index r = 0; r < result.rows(); ++r) {
      const auto i = static_cast<Eigen::Index>(rows[static_cast<size_t>(r)]);
      double straight = 0, apart = 0;
      for (size_t kind = 0; kind < kFactKinds; ++kind) {
        straight += kernel.slope[kind] * product_[kind](i, j);
        apart += kernel.bend[kind] * difference_[kind](i, j);
      }
      const double line = line_(i, j) > 0 ? 1 : kernel.other_line;
      result(r, c) = straight + kernel.smooth * line * std::exp(-0.5 * apart) + kernel.design * design_(i, j) +
                     kernel.provider * provider_(i, j) + (i == j ? kernel.own : 0);
    }
  }
  return result;
}

}  // namespace perfcast::program
