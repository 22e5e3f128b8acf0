#include "program/evaluate/platform_transfer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/conformal/conformal.h"

namespace perfcast::program {
namespace {

constexpr double kTransferCoverage = 0.9;

void add_indicator(std::vector<std::vector<double>>& columns, const std::vector<Platform>& platforms,
                   const std::set<std::string>& values,
                   const std::function<bool(const Platform&, const std::string&)>& has) {
  for (const std::string& value : values) {
    std::vector<double> column;
    column.reserve(platforms.size());
    for (const Platform& platform : platforms) column.push_back(has(platform, value) ? 1 : 0);
    columns.push_back(std::move(column));
  }
}

// False where the known rows do not state or vary it.
bool standardise(std::vector<double>& column, const std::vector<size_t>& known) {
  std::vector<double> stated;
  for (const size_t row : known) {
    if (!std::isnan(column[row])) stated.push_back(column[row]);
  }
  if (stated.size() * 2 < known.size()) return false;
  const double center = mean(stated), scale = standard_deviation(stated);
  if (!(scale > 1e-9)) return false;
  for (double& value : column) value = std::isnan(value) ? 0 : std::clamp((value - center) / scale, -4.0, 4.0);
  return true;
}

Eigen::MatrixXd squared_distances(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd result = -2 * a * b.transpose();
  result.colwise() += a.rowwise().squaredNorm();
  result.rowwise() += b.rowwise().squaredNorm().transpose();
  return result.cwiseMax(0);
}

}  // namespace

Eigen::MatrixXd platform_features(const std::vector<Platform>& platforms, const std::vector<size_t>& known) {
  std::set<std::string> facts, flags, origins;
  const auto origin = [](const Platform& platform) {
    return platform.arch + "/" + platform.vendor + "/" +
           (platform.cpu_family ? std::to_string(*platform.cpu_family) : std::string("?"));
  };
  const auto generation = [&](const Platform& platform) {
    return origin(platform) + "/" + (platform.model ? std::to_string(*platform.model) : std::string("?"));
  };
  std::set<std::string> arches, vendors, generations;
  for (const Platform& platform : platforms) {
    for (const auto& [name, value] : platform.facts) facts.insert(name);
    flags.insert(platform.flags.begin(), platform.flags.end());
    arches.insert(platform.arch);
    vendors.insert(platform.vendor);
    origins.insert(origin(platform));
    generations.insert(generation(platform));
  }
  std::vector<std::vector<double>> columns;
  for (const std::string& fact : facts) {
    std::vector<double> column;
    for (const Platform& platform : platforms) {
      const auto found = platform.facts.find(fact);
      const bool usable = found != platform.facts.end() && found->second > 0;
      column.push_back(usable ? std::log(found->second) : kUnknown);
    }
    columns.push_back(std::move(column));
  }
  add_indicator(columns, platforms, flags, [](const Platform& platform, const std::string& flag) {
    return std::find(platform.flags.begin(), platform.flags.end(), flag) != platform.flags.end();
  });
  add_indicator(columns, platforms, arches, [](const Platform& p, const std::string& arch) { return p.arch == arch; });
  add_indicator(columns, platforms, vendors, [](const Platform& p, const std::string& v) { return p.vendor == v; });
  add_indicator(columns, platforms, origins, [&](const Platform& p, const std::string& o) { return origin(p) == o; });
  add_indicator(columns, platforms, generations,
                [&](const Platform& p, const std::string& g) { return generation(p) == g; });

  std::vector<std::vector<double>> kept;
  for (std::vector<double>& column : columns) {
    if (standardise(column, known)) kept.push_back(std::move(column));
  }
  Eigen::MatrixXd features(static_cast<int64_t>(platforms.size()), static_cast<int64_t>(kept.size()));
  for (size_t j = 0; j < kept.size(); ++j) {
    for (size_t i = 0; i < platforms.size(); ++i) features(i, j) = kept[j][i];
  }
  return features;
}

size_t nearest_by_facts(const Eigen::MatrixXd& features, const std::vector<size_t>& known, size_t platform) {
  const Eigen::MatrixXd rows = features(known, Eigen::all);
  const Eigen::MatrixXd row = features.row(static_cast<int64_t>(platform));
  Eigen::Index nearest = 0;
  squared_distances(rows, row).col(0).minCoeff(&nearest);
  return static_cast<size_t>(nearest);
}

PlatformTransfer::PlatformTransfer(const Eigen::MatrixXd& features, const std::vector<size_t>& known,
                                   const Eigen::MatrixXd& columns, const Eigen::MatrixXd& measured)
    : features_(features), known_(known) {
  const auto count = static_cast<int64_t>(known.size());
  const Eigen::MatrixXd rows = features_(known_, Eigen::all);
  const Eigen::MatrixXd distances = squared_distances(rows, rows);
  std::vector<double> apart;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < i; ++j) apart.push_back(distances(i, j));
  }
  const double typical = apart.empty() ? 1 : std::max(median(apart), 1e-9);

  double best_error = std::numeric_limits<double>::infinity();
  for (const double width : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0}) {
    for (const double noise : {0.01, 0.03, 0.1, 0.3, 1.0}) {
      Eigen::MatrixXd gram = (-distances / (width * typical)).array().exp().matrix();
      gram.diagonal().array() += noise;
      const Eigen::MatrixXd inverse = inverse_semidefinite(gram);
      // Kernel regression without platform j predicts column j off by (C K^-1)_j / (K^-1)_jj.
      const Eigen::MatrixXd off = (columns * inverse) * inverse.diagonal().cwiseMax(1e-12).cwiseInverse().asDiagonal();
      const Eigen::MatrixXd errors = measured - columns + off;
      double sum = 0;
      int64_t present = 0;
      for (int64_t i = 0; i < errors.size(); ++i) {
        if (std::isnan(errors.data()[i])) continue;
        sum += std::abs(errors.data()[i]);
        ++present;
      }
      if (present == 0 || !(sum / static_cast<double>(present) < best_error)) continue;
      best_error = sum / static_cast<double>(present);
      width_ = width * typical;
      noise_ = noise;
      // Platforms, not entries, are the independent samples.
      ConformalScores scores{errors.cwiseAbs().transpose(), std::vector<int64_t>(known.size())};
      std::iota(scores.family.begin(), scores.family.end(), int64_t{0});
      half_width_log_ = conformal_quantile(scores, kTransferCoverage);
    }
  }
  Eigen::MatrixXd gram = (-distances / width_).array().exp().matrix();
  gram.diagonal().array() += noise_;
  inverse_ = inverse_semidefinite(gram);
}

Eigen::VectorXd PlatformTransfer::kernel(size_t platform) const {
  const Eigen::MatrixXd rows = features_(known_, Eigen::all);
  const Eigen::MatrixXd row = features_.row(static_cast<int64_t>(platform));
  return (-squared_distances(rows, row) / width_).array().exp().matrix();
}

Eigen::VectorXd PlatformTransfer::weights(size_t platform) const { return inverse_ * kernel(platform); }

}  // namespace perfcast::program
