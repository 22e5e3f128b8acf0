#include "measure/tune/search/process_model.h"

#include <algorithm>
#include <cmath>

namespace perfcast::measure {
namespace {

// Priors, set once on made-up spaces (docs/tune.md): most knobs matter little, and effects are smooth over half a
// range.
constexpr double kMeanLogOdds = -1.5, kDeviationLogOdds = 1.5;
constexpr double kMeanLogLength = -0.5, kDeviationLogLength = 0.8;
constexpr double kMeanLogNoise = -6, kDeviationLogNoise = 1.5;
// An inverse gamma prior of the variance, worth a few observations of variance 1.
constexpr double kPriorShape = 1.5, kPriorScale = 1.5;
constexpr double kLeastNoise = 1e-6;
constexpr Eigen::Index kPoolBlock = 256;
constexpr Eigen::Index kSpareRows = 32;

double squared(double value) { return value * value; }
double share_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }
double noise_of(const ModelShape& shape) { return kLeastNoise + std::exp(shape.log_noise); }

}  // namespace

KnobCorrelation::KnobCorrelation(const Candidates& candidates, const ModelShape& shape)
    : tables_(candidates.knobs() * kTable) {
  for (size_t knob = 0; knob < candidates.knobs(); ++knob) set_knob(candidates, knob, shape);
}

void KnobCorrelation::set_knob(const Candidates& candidates, size_t knob, const ModelShape& shape) {
  float* table = tables_.data() + knob * kTable;
  const double a = share_of(shape.log_odds[knob]);
  std::fill(table, table + kTable, static_cast<float>(1 - a));
  table[0] = 1;
  if (!candidates.scale(knob).is_ordered()) return;
  const double step = std::sqrt(5.0) / (std::exp(shape.log_length[knob]) * KnobScale::kScale);
  for (int apart = 1; apart <= KnobScale::kScale; ++apart) {
    const double r = step * apart;
    table[apart] = static_cast<float>(1 - a * (1 - (1 + r + r * r / 3) * std::exp(-r)));
  }
}

void ProcessModel::begin(Random& random) {
  const size_t knobs = candidates_->knobs();
  shape_.log_odds.resize(knobs);
  shape_.log_length.resize(knobs);
  for (size_t knob = 0; knob < knobs; ++knob) {
    shape_.log_odds[knob] = kMeanLogOdds + 0.5 * kDeviationLogOdds * random.normal();
    shape_.log_length[knob] = kMeanLogLength + 0.5 * kDeviationLogLength * random.normal();
  }
  shape_.log_noise = kMeanLogNoise;
  correlation_ = KnobCorrelation(*candidates_, shape_);
}

double ProcessModel::log_prior(const ModelShape& shape) const {
  double sum = squared((shape.log_noise - kMeanLogNoise) / kDeviationLogNoise);
  for (size_t knob = 0; knob < shape.log_odds.size(); ++knob) {
    sum += squared((shape.log_odds[knob] - kMeanLogOdds) / kDeviationLogOdds);
    sum += squared((shape.log_length[knob] - kMeanLogLength) / kDeviationLogLength);
  }
  return -sum / 2;
}

double ProcessModel::log_posterior(std::span<const size_t> observed, std::span<const double> targets,
                                   const ModelShape& shape, const KnobCorrelation& correlation) {
  const auto n = static_cast<Eigen::Index>(observed.size());
  if (work_.rows() < n) work_.resize(n, n);
  double log_determinant = 0, energy = 0;
  const double diagonal = 1 + noise_of(shape);
  Eigen::VectorXd white(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto x = candidates_->positions(observed[static_cast<size_t>(i)]);
    double* row = work_.row(i).data();
    for (Eigen::Index j = 0; j < i; ++j) {
      const double k = correlation(x, candidates_->positions(observed[static_cast<size_t>(j)]));
      row[j] = (k - work_.row(i).head(j).dot(work_.row(j).head(j))) / work_(j, j);
    }
    const double rest = diagonal - work_.row(i).head(i).squaredNorm();
    if (!(rest > 1e-12)) return -INFINITY;
    row[i] = std::sqrt(rest);
    log_determinant += std::log(rest);
    white[i] = (targets[static_cast<size_t>(i)] - work_.row(i).head(i).dot(white.head(i))) / row[i];
    energy += squared(white[i]);
  }
  return log_prior(shape) - log_determinant / 2 -
         (static_cast<double>(n) / 2 + kPriorShape) * std::log(kPriorScale + energy / 2);
}

void ProcessModel::improve(std::span<const size_t> observed, std::span<const double> targets, int steps,
                           Random& random) {
  if (observed.empty()) return;
  double current = log_posterior(observed, targets, shape_, correlation_);
  const size_t knobs = candidates_->knobs();
  for (int step = 0; step < steps; ++step) {
    ModelShape tried = shape_;
    KnobCorrelation correlation = correlation_;
    const size_t knob = random.below(knobs + 1);
    if (knob == knobs) {
      tried.log_noise += kDeviationLogNoise * random.normal();
    } else {
      const double reach = random.uniform() < 0.5 ? 1 : 0.3;
      tried.log_odds[knob] += reach * kDeviationLogOdds * random.normal();
      if (candidates_->scale(knob).is_ordered())
        tried.log_length[knob] += reach * kDeviationLogLength * random.normal();
      correlation.set_knob(*candidates_, knob, tried);
    }
    const double value = log_posterior(observed, targets, tried, correlation);
    if (std::log(1 - random.uniform()) > value - current) continue;
    current = value;
    shape_ = std::move(tried);
    correlation_ = std::move(correlation);
  }
}

bool ProcessModel::append_row(size_t observed, double target) {
  const auto n = static_cast<Eigen::Index>(observed_.size());
  if (root_.rows() <= n) {
    root_.conservativeResize(n + kSpareRows, n + kSpareRows);
    white_.conservativeResize(n + kSpareRows);
    white_pool_.conservativeResize(n + kSpareRows, static_cast<Eigen::Index>(pool_.size()));
  }
  const auto x = candidates_->positions(observed);
  double* row = root_.row(n).data();
  for (Eigen::Index j = 0; j < n; ++j) {
    const double k = correlation_(x, candidates_->positions(observed_[static_cast<size_t>(j)]));
    row[j] = (k - root_.row(n).head(j).dot(root_.row(j).head(j))) / root_(j, j);
  }
  const double rest = 1 + noise_of(shape_) - root_.row(n).head(n).squaredNorm();
  if (!(rest > 1e-12)) return false;
  row[n] = std::sqrt(rest);
  white_[n] = (target - root_.row(n).head(n).dot(white_.head(n))) / row[n];
  observed_.push_back(observed);
  return true;
}

void ProcessModel::update_scale() {
  const auto n = static_cast<Eigen::Index>(observed_.size());
  scale_ = (kPriorScale + white_.head(n).squaredNorm() / 2) / (kPriorShape + static_cast<double>(n) / 2);
  weights_.resize(0);
}

bool ProcessModel::fit(std::span<const size_t> observed, std::span<const double> targets,
                       std::span<const size_t> pool) {
  observed_.clear();
  pool_.assign(pool.begin(), pool.end());
  const auto rows = static_cast<Eigen::Index>(observed.size()) + kSpareRows;
  const auto columns = static_cast<Eigen::Index>(pool.size());
  root_.resize(rows, rows);
  white_.resize(rows);
  white_pool_.resize(rows, columns);
  for (size_t i = 0; i < observed.size(); ++i) {
    if (!append_row(observed[i], targets[i])) return false;
  }
  const auto n = static_cast<Eigen::Index>(observed.size());
  mean_.setZero(columns);
  explained_.setZero(columns);
  // Block by block, so that what a block needs of the rows before stays in cache.
  for (Eigen::Index from = 0; from < columns; from += kPoolBlock) {
    const Eigen::Index width = std::min(kPoolBlock, columns - from);
    for (Eigen::Index i = 0; i < n; ++i) {
      auto row = white_pool_.row(i).segment(from, width);
      const auto x = candidates_->positions(observed_[static_cast<size_t>(i)]);
      for (Eigen::Index c = 0; c < width; ++c)
        row[c] = static_cast<float>(correlation_(x, candidates_->positions(pool_[static_cast<size_t>(from + c)])));
      for (Eigen::Index j = 0; j < i; ++j)
        row -= static_cast<float>(root_(i, j)) * white_pool_.row(j).segment(from, width);
      row *= static_cast<float>(1 / root_(i, i));
      mean_.segment(from, width) += static_cast<float>(white_[i]) * row.transpose();
      explained_.segment(from, width) += row.square().transpose();
    }
  }
  update_scale();
  return true;
}

bool ProcessModel::add(size_t observed, double target) {
  const auto i = static_cast<Eigen::Index>(observed_.size());
  if (!append_row(observed, target)) return false;
  const auto x = candidates_->positions(observed);
  auto row = white_pool_.row(i);
  for (Eigen::Index c = 0; c < row.size(); ++c)
    row[c] = static_cast<float>(correlation_(x, candidates_->positions(pool_[static_cast<size_t>(c)])));
  for (Eigen::Index j = 0; j < i; ++j) row -= static_cast<float>(root_(i, j)) * white_pool_.row(j);
  row *= static_cast<float>(1 / root_(i, i));
  mean_ += static_cast<float>(white_[i]) * row.transpose();
  explained_ += row.square().transpose();
  update_scale();
  return true;
}

float ProcessModel::deviation(size_t place) const {
  const float rest = 1 - explained_[static_cast<Eigen::Index>(place)];
  return std::sqrt(std::max(rest, 1e-6F) * static_cast<float>(scale_));
}

double ProcessModel::noise_deviation() const { return std::sqrt(scale_ * noise_of(shape_)); }

double ProcessModel::mean_at(std::span<const int16_t> positions) const {
  const auto n = static_cast<Eigen::Index>(observed_.size());
  if (weights_.size() != n) {
    weights_ = white_.head(n);
    for (Eigen::Index i = n; i-- > 0;) {
      weights_[i] /= root_(i, i);
      for (Eigen::Index j = 0; j < i; ++j) weights_[j] -= root_(i, j) * weights_[i];
    }
  }
  double sum = 0;
  for (Eigen::Index i = 0; i < n; ++i)
    sum += weights_[i] * correlation_(positions, candidates_->positions(observed_[static_cast<size_t>(i)]));
  return sum;
}

}  // namespace perfcast::measure
