#include "measure/power/model/watt_line.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "learn/algebra/dense.h"
#include "learn/linear/lasso.h"
#include "measure/power/model/form_json.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastRatio = 1e-6;
constexpr double kNearlyNothing = 1e-9;  // of a standardised input's variance

// In watts over the scale. An input that is absent is at its mean; a group that was not fitted is as the others'
// coefficients are on average.
class WattLineForm : public PowerForm {
 public:
  WattLineForm(PowerFormKind kind, const PowerFormOptions& options) : kind_(kind), options_(options) {}
  WattLineForm(PowerFormKind kind, std::vector<int> groups, Eigen::MatrixXd coefficients)
      : kind_(kind), groups_(std::move(groups)), coefficients_(std::move(coefficients)) {}
  PowerFormKind kind() const override { return kind_; }
  bool extrapolates() const override { return kind_ == PowerFormKind::kLeastSquares; }

  Status fit(const PowerSamples& samples, const std::vector<size_t>& which) override {
    std::map<int, PowerCells> by_group;
    for (const auto& [key, rows] : cells_of(samples, which)) by_group[key.first][key] = rows;
    groups_.clear();
    coefficients_.resize(samples.inputs.cols(), static_cast<Eigen::Index>(by_group.size()));
    for (const auto& [group, cells] : by_group) groups_.push_back(group);
    if (kind_ == PowerFormKind::kLeastSquares) {
      fit_least_squares(samples, by_group);
      return {};
    }
    Eigen::Index at = 0;
    for (const auto& [group, cells] : by_group) coefficients_.col(at++) = fit_costs(samples, cells);
    return {};
  }

  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    const Eigen::VectorXd mean = coefficients_.rowwise().mean();
    for (size_t i = 0; i < which.size(); ++i) {
      const auto found = std::find(groups_.begin(), groups_.end(), samples.design.group[which[i]]);
      const Eigen::VectorXd& own =
          found == groups_.end() ? mean : Eigen::VectorXd(coefficients_.col(found - groups_.begin()));
      result(static_cast<Eigen::Index>(i)) = std::log(std::max(plain_row(samples, which[i]).dot(own), kLeastRatio));
    }
    return result;
  }

  Json to_json() const override {
    return {{"form", to_text(kind())}, {"groups", groups_}, {"coefficients", rows_json(coefficients_.transpose())}};
  }

 private:
  static Eigen::VectorXd plain_row(const PowerSamples& samples, size_t r) {
    const Eigen::Index size = samples.design.rows.cols();
    Eigen::VectorXd row(size + 1);
    for (Eigen::Index c = 0; c < size; ++c) {
      const double value = samples.design.rows(static_cast<Eigen::Index>(r), c);
      row(c) = std::isnan(value) ? samples.scale.centre(c) : value;
    }
    row(size) = 1;
    return row;
  }

  // Sums over rows; those of second order are about the group's means, so that its idle power is free.
  struct Moments {
    double weight = 0;
    Eigen::VectorXd inputs, products;  // means of the inputs; inputs x watts
    double watts = 0;                  // their mean
    Eigen::MatrixXd gram;
  };

  Moments moments_of(const PowerSamples& samples, const PowerCells& cells) const {
    const Eigen::Index size = samples.design.rows.cols();
    Moments sums{0, Eigen::VectorXd::Zero(size), Eigen::VectorXd::Zero(size), 0, Eigen::MatrixXd::Zero(size, size)};
    for (const auto& [key, rows] : cells) {
      for (const size_t r : rows) {
        const double ratio = std::exp(samples.target(static_cast<Eigen::Index>(r)));
        const double weight = options_.relative ? 1 / (ratio * ratio) : 1;
        const Eigen::VectorXd x = (plain_row(samples, r).head(size) - samples.scale.centre.transpose())
                                      .cwiseQuotient(samples.scale.scale.transpose());
        sums.weight += weight;
        sums.inputs += weight * x;
        sums.watts += weight * ratio;
        sums.products += weight * ratio * x;
        sums.gram.noalias() += weight * x * x.transpose();
      }
    }
    sums.inputs /= sums.weight;
    sums.watts /= sums.weight;
    sums.gram -= sums.weight * sums.inputs * sums.inputs.transpose();
    sums.products -= sums.weight * sums.watts * sums.inputs;
    return sums;
  }

  void fit_least_squares(const PowerSamples& samples, const std::map<int, PowerCells>& by_group) {
    std::vector<Moments> groups;
    groups.reserve(by_group.size());
    for (const auto& [group, cells] : by_group) groups.push_back(moments_of(samples, cells));
    const auto slopes_of = [](Moments moments) {
      moments.gram.diagonal().array() += kNearlyNothing * moments.weight;  // columns that say the same share it
      return solve_positive_definite(moments.gram, moments.products);
    };
    Eigen::VectorXd slopes;
    if (options_.one_slope && !groups.empty()) {
      Moments all = groups[0];
      for (size_t g = 1; g < groups.size(); ++g) {
        all.weight += groups[g].weight;
        all.gram += groups[g].gram;
        all.products += groups[g].products;
      }
      slopes = slopes_of(std::move(all));
    }
    const Eigen::Index size = samples.design.rows.cols();
    for (size_t g = 0; g < groups.size(); ++g) {
      const Eigen::VectorXd own = options_.one_slope ? slopes : slopes_of(groups[g]);
      auto column = coefficients_.col(static_cast<Eigen::Index>(g));
      column.head(size) = own.cwiseQuotient(samples.scale.scale.transpose());
      column(size) = groups[g].watts - own.dot(groups[g].inputs) - column.head(size).dot(samples.scale.centre);
    }
  }

  Eigen::VectorXd fit_costs(const PowerSamples& samples, const PowerCells& cells) const {
    const Eigen::Index size = samples.design.rows.cols();
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(size + 1, size + 1);
    Eigen::VectorXd moment = Eigen::VectorXd::Zero(size + 1);
    double total = 0;
    for (const auto& [key, rows] : cells) {
      for (const size_t r : rows) {
        const double ratio = std::exp(samples.target(static_cast<Eigen::Index>(r)));
        const double weight = 1 / (ratio * ratio * static_cast<double>(rows.size()));  // relative errors count
        Eigen::VectorXd x = plain_row(samples, r);
        x.head(size).array() /= samples.scale.scale.transpose().array();
        gram.noalias() += weight * x * x.transpose();
        moment += weight * ratio * x;
        total += weight;
      }
    }
    // Centred, so that the idle power is free.
    const Eigen::VectorXd centre = gram.col(size).head(size) / total;
    const double mean = moment(size) / total;
    LassoProblem problem;
    problem.gram = gram.topLeftCorner(size, size) / total - centre * centre.transpose();
    problem.moments = moment.head(size) / total - mean * centre;
    const double penalty = options_.penalty_share * largest_penalty(problem, true);
    const Eigen::MatrixXd solved = solve_lasso(problem, penalty, true, Eigen::MatrixXd::Zero(size, 1));
    Eigen::VectorXd result(size + 1);
    result.head(size) = solved.col(0).array() / samples.scale.scale.transpose().array();
    result(size) = mean - centre.dot(solved.col(0));
    return result;
  }

  PowerFormKind kind_;
  PowerFormOptions options_;
  std::vector<int> groups_;
  Eigen::MatrixXd coefficients_;  // [(F + 1) x groups]
};

}  // namespace

std::unique_ptr<PowerForm> make_watt_line(PowerFormKind kind, const PowerFormOptions& options) {
  return std::make_unique<WattLineForm>(kind, options);
}

Result<std::unique_ptr<PowerForm>> watt_line_from_json(PowerFormKind kind, const Json& json, const std::string& path,
                                                       Eigen::Index inputs, size_t groups) {
  auto coefficients = matrix_from(json, "coefficients", path, inputs + 1);
  if (!coefficients) return coefficients.error();
  if (coefficients->rows() == 0) return bad_matrix(path + ".coefficients", "a row for each group");
  auto of = groups_from(json, path, groups, static_cast<size_t>(coefficients->rows()));
  if (!of) return of.error();
  return std::unique_ptr<PowerForm>(std::make_unique<WattLineForm>(kind, std::move(*of), coefficients->transpose()));
}

}  // namespace perfcast::measure
