#include "measure/power/model/shared_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "learn/algebra/dense.h"

namespace perfcast::measure {
namespace {

constexpr double kFreeOffset = 1e-6;  // of what is shared: the offset is not shrunk, but never singular
constexpr Eigen::Index kBlockRows = 512;
constexpr double kMostMoments = 512.0 * 1024 * 1024 / sizeof(double);  // a fit takes thrice as much for a while
constexpr double kCellOverhead = 64;                                   // of a cell, beside its numbers, in numbers
constexpr size_t kMostGroups = 4000;                                   // each is a column of what trees grow on

}  // namespace

Status check_line_size(Eigen::Index inputs, const std::vector<int>& group, const std::vector<int>& workload,
                       const std::vector<size_t>& which) {
  std::set<std::pair<int, int>> cells;
  std::set<int> groups;
  for (const size_t r : which) {
    cells.emplace(group[r], workload[r]);
    groups.insert(group[r]);
  }
  const auto size = static_cast<double>(inputs);
  const double numbers = static_cast<double>(cells.size()) * (size * size + size + kCellOverhead);
  if (numbers <= kMostMoments && groups.size() <= kMostGroups) return {};
  return Error{
      "too-large",
      fmt::format("{} pairs of a group (machine, frequency, cores) and a workload, of {} groups, with {} inputs "
                  "each take {}",
                  cells.size(), groups.size(), inputs, human_bytes(numbers * sizeof(double))),
      "",
      fmt::format("at most {} and {} groups: --ignore leaves out counters, or the columns of frequency, cores "
                  "or workload where they differ in every row",
                  human_bytes(kMostMoments * sizeof(double)), kMostGroups)};
}

LineMoments::LineMoments(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& target, const std::vector<int>& group,
                         const std::vector<int>& workload, const std::vector<size_t>& which)
    : inputs_(inputs.cols()) {
  std::map<std::pair<int, int>, std::vector<Eigen::Index>> rows;
  for (const size_t r : which) {
    const auto i = static_cast<Eigen::Index>(r);
    if (!std::isnan(target(i))) rows[{group[r], workload[r]}].push_back(i);
  }
  for (const auto& [key, of] : rows) {
    Cell cell;
    cell.group = key.first;
    cell.workload = key.second;
    cell.rows = static_cast<double>(of.size());
    cell.gram = Eigen::MatrixXd::Zero(inputs_, inputs_);
    cell.moment = Eigen::VectorXd::Zero(inputs_);
    for (size_t from = 0; from < of.size(); from += kBlockRows) {
      const auto count = static_cast<Eigen::Index>(std::min<size_t>(kBlockRows, of.size() - from));
      Eigen::MatrixXd block(count, inputs_);
      Eigen::VectorXd values(count);
      for (Eigen::Index i = 0; i < count; ++i) {
        block.row(i) = inputs.row(of[from + static_cast<size_t>(i)]);
        values(i) = target(of[from + static_cast<size_t>(i)]);
      }
      cell.gram.noalias() += block.transpose() * block;
      cell.moment.noalias() += block.transpose() * values;
      cell.square += values.squaredNorm();
    }
    cell.gram /= cell.rows;
    cell.moment /= cell.rows;
    cell.square /= cell.rows;
    cells_.push_back(std::move(cell));
  }
}

SharedLine SharedLine::fit(const LineMoments& moments, const CellChoice& taken, const SharedLineOptions& options) {
  const Eigen::Index size = moments.inputs();
  std::map<int, std::pair<Eigen::MatrixXd, Eigen::VectorXd>> of_group;
  double cells = 0;
  for (const LineMoments::Cell& cell : moments.cells()) {
    if (!taken(cell)) continue;
    auto& [gram, moment] =
        of_group.try_emplace(cell.group, Eigen::MatrixXd::Zero(size, size), Eigen::VectorXd::Zero(size)).first->second;
    gram += cell.gram;
    moment += cell.moment;
    ++cells;
  }
  SharedLine line;
  line.shared_ = Eigen::VectorXd::Zero(size);
  if (cells == 0) return line;
  Eigen::VectorXd own_ridge = Eigen::VectorXd::Constant(size, options.own_penalty);
  own_ridge(size - 1) = options.own_offset_penalty;
  // Each group's own part is solved for what is shared, which leaves one system of the shared part's size:
  // own = (A + R)^-1 (b - A s), and A s + A own = b.
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(size, size);
  left.diagonal().setConstant(options.shared_penalty);
  left(size - 1, size - 1) = kFreeOffset;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
  std::map<int, Eigen::MatrixXd> inverses;
  for (auto& [group, sums] : of_group) {
    auto& [gram, moment] = sums;
    gram /= cells;
    moment /= cells;
    Eigen::MatrixXd ridged = gram;
    ridged.diagonal() += own_ridge;
    const Eigen::MatrixXd inverse = inverse_positive_definite(ridged);
    const Eigen::MatrixXd through = gram * inverse;
    left += gram - through * gram;
    right += moment - through * moment;
    inverses[group] = inverse;
  }
  left = 0.5 * (left + left.transpose().eval());
  line.shared_ = solve_positive_definite(left, right);
  line.own_.resize(size, static_cast<Eigen::Index>(of_group.size()));
  for (const auto& [group, sums] : of_group) {
    line.own_.col(static_cast<Eigen::Index>(line.groups_.size())) =
        inverses[group] * (sums.second - sums.first * line.shared_);
    line.groups_.push_back(group);
  }
  double squares = 0;
  for (const LineMoments::Cell& cell : moments.cells()) {
    if (!taken(cell)) continue;
    const Eigen::VectorXd x = line.coefficients(cell.group);
    squares += std::max(0.0, cell.square - 2 * x.dot(cell.moment) + x.dot(cell.gram * x));
  }
  line.noise_variance_ = squares / cells;
  return line;
}

Eigen::VectorXd SharedLine::coefficients(int group) const {
  const auto found = std::find(groups_.begin(), groups_.end(), group);
  if (found == groups_.end()) return shared_;
  return shared_ + own_.col(found - groups_.begin());
}

Eigen::VectorXd SharedLine::own_variance() const {
  if (own_.cols() == 0) return Eigen::VectorXd::Zero(shared_.size());
  const double freedom = std::max<double>(1, static_cast<double>(own_.cols()) - 1);
  return own_.rowwise().squaredNorm() / freedom;
}

SharedLine::Updated SharedLine::update(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& target, double noise,
                                       const Eigen::VectorXd& prior_variance) const {
  Updated result;
  result.coefficients = shared_;
  result.covariance = prior_variance.asDiagonal();
  if (inputs.rows() == 0) return result;
  // In the space of the samples, of which there are few: gain = P X' (X P X' + noise)^-1.
  const Eigen::MatrixXd spread = prior_variance.asDiagonal() * inputs.transpose();
  Eigen::MatrixXd seen = inputs * spread;
  seen.diagonal().array() += noise;
  const Eigen::MatrixXd gain = spread * inverse_positive_definite(seen);
  result.coefficients += gain * (target - inputs * shared_);
  result.covariance -= gain * spread.transpose();
  return result;
}

SharedLine SharedLine::from_parts(Eigen::VectorXd shared, std::vector<int> groups, Eigen::MatrixXd own,
                                  double noise_variance) {
  SharedLine line;
  line.shared_ = std::move(shared);
  line.groups_ = std::move(groups);
  line.own_ = std::move(own);
  line.noise_variance_ = noise_variance;
  return line;
}

}  // namespace perfcast::measure
