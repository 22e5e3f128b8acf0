#include "program/model/factor/factor_predictor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/line_attribution.h"
#include "program/model/features/microarchitecture.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {

// One measured entry.
struct FactorEntry {
  Eigen::Index platform = 0;
  double log_time = 0, variance = 0;  // of its measurement
};

// All programs that were timed: first those of the table, in its order, then its companions.
struct FactorRows {
  std::vector<std::vector<FactorEntry>> entries;
  std::vector<size_t> group, family;
  std::vector<std::string> groups;
  Eigen::VectorXd weight;  // 1/sqrt(number of programs of its family)
  size_t profiled = 0;
};

namespace {

constexpr double kFlat = 1e-4;  // precision of a program's own offset
constexpr double kGroupPrior = 2;
constexpr double kApplicationPrior = 1;
constexpr const char* kApplications = "application";

FactorRows rows_of(const TrainingTable& table) {
  FactorRows rows;
  std::map<std::string, size_t> groups, families;
  std::vector<double> members;
  const size_t columns = table.platforms.size();
  const auto add = [&](const Program& program, const std::optional<PlatformTime>* times) {
    std::vector<FactorEntry>& entries = rows.entries.emplace_back();
    for (size_t j = 0; j < columns; ++j) {
      if (!times[j]) continue;
      entries.push_back({static_cast<Eigen::Index>(j), times[j]->log_time, measured_variance(*times[j])});
    }
    rows.group.push_back(groups.try_emplace(program.group, groups.size()).first->second);
    rows.family.push_back(families.try_emplace(program.family, families.size()).first->second);
    members.resize(families.size());
    ++members[rows.family.back()];
  };
  for (size_t p = 0; p < table.programs.size(); ++p) add(table.programs[p], &table.times[p * columns]);
  rows.profiled = rows.entries.size();
  for (size_t p = 0; p < table.companions.size(); ++p) add(table.companions[p], &table.companion_times[p * columns]);
  rows.groups.resize(groups.size());
  for (const auto& [name, index] : groups) rows.groups[index] = name;
  rows.weight.resize(static_cast<Eigen::Index>(rows.entries.size()));
  for (size_t p = 0; p < rows.entries.size(); ++p) {
    rows.weight(static_cast<Eigen::Index>(p)) = 1 / std::sqrt(members[rows.family[p]]);
  }
  return rows;
}

// What is learned of platforms.
struct Factors {
  Eigen::VectorXd mean;          // J
  Eigen::MatrixXd loading;       // J x R
  Eigen::MatrixXd centres;       // G x R
  Eigen::VectorXd own_variance;  // G: of what the factors leave
};

// A program's offset and numbers, given the platforms: mean and covariance, the offset first.
struct Posterior {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

Posterior posterior_of(const std::vector<FactorEntry>& entries, const Factors& factors, size_t group,
                       double prior_variance) {
  const Eigen::Index r = factors.loading.cols();
  Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(r + 1, r + 1);
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(r + 1);
  const auto g = static_cast<Eigen::Index>(group);
  precision(0, 0) = kFlat;
  precision.diagonal().tail(r).setConstant(1 / prior_variance);
  pull.tail(r) = factors.centres.row(g).transpose() / prior_variance;
  Eigen::VectorXd design(r + 1);
  design(0) = 1;
  for (const FactorEntry& entry : entries) {
    design.tail(r) = factors.loading.row(entry.platform).transpose();
    const double weight = 1 / (entry.variance + factors.own_variance(g));
    precision.noalias() += weight * design * design.transpose();
    pull += weight * (entry.log_time - factors.mean(entry.platform)) * design;
  }
  Posterior result;
  result.covariance = inverse_positive_definite(precision);
  result.mean = result.covariance * pull;
  return result;
}

// Two-way means, then the principal components of what they leave, absent entries as 0.
Factors first_guess(const FactorRows& rows, Eigen::Index platforms, Eigen::Index r) {
  const auto programs = static_cast<Eigen::Index>(rows.entries.size());
  Eigen::VectorXd offset = Eigen::VectorXd::Zero(programs);
  Factors factors;
  factors.mean = Eigen::VectorXd::Zero(platforms);
  for (int round = 0; round < 30; ++round) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(platforms), count = Eigen::VectorXd::Zero(platforms);
    for (Eigen::Index p = 0; p < programs; ++p) {
      const auto& entries = rows.entries[static_cast<size_t>(p)];
      double own = 0;
      for (const FactorEntry& entry : entries) own += entry.log_time - factors.mean(entry.platform);
      offset(p) = entries.empty() ? 0 : own / static_cast<double>(entries.size());
      for (const FactorEntry& entry : entries) {
        sum(entry.platform) += rows.weight(p) * (entry.log_time - offset(p));
        count(entry.platform) += rows.weight(p);
      }
    }
    factors.mean = sum.cwiseQuotient(count.cwiseMax(1e-9));
  }
  Eigen::MatrixXd rest = Eigen::MatrixXd::Zero(programs, platforms);
  for (Eigen::Index p = 0; p < programs; ++p) {
    for (const FactorEntry& entry : rows.entries[static_cast<size_t>(p)]) {
      rest(p, entry.platform) = rows.weight(p) * (entry.log_time - offset(p) - factors.mean(entry.platform));
    }
  }
  // The leading right singular directions of `rest`, each as long as its singular value.
  const auto [values, vectors] = symmetric_eigen(rest.transpose() * rest);  // ascending
  const Eigen::Index found = std::min(r, platforms);
  factors.loading = Eigen::MatrixXd::Zero(platforms, r);
  for (Eigen::Index k = 0; k < found; ++k) {
    const Eigen::Index from_end = platforms - 1 - k;
    factors.loading.col(k) =
        vectors.col(from_end) * std::sqrt(std::max(values(from_end), 0.0) / rows.weight.squaredNorm());
  }
  factors.centres = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.groups.size()), r);
  factors.own_variance = Eigen::VectorXd::Constant(factors.centres.rows(), 0.01);
  return factors;
}

Eigen::MatrixXd design_means(const Eigen::MatrixXd& loading, const std::vector<size_t>& designs) {
  const auto count = static_cast<Eigen::Index>(*std::max_element(designs.begin(), designs.end()) + 1);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(count, loading.cols());
  Eigen::VectorXd members = Eigen::VectorXd::Zero(count);
  for (Eigen::Index j = 0; j < loading.rows(); ++j) {
    const auto design = static_cast<Eigen::Index>(designs[static_cast<size_t>(j)]);
    sum.row(design) += loading.row(j);
    members(design) += 1;
  }
  return members.cwiseInverse().asDiagonal() * sum;
}

// The offset and factors of each platform, given the programs' numbers.
void update_platforms(const FactorRows& rows, const std::vector<Posterior>& programs,
                      const std::vector<size_t>& designs, double own_deviation, Factors& factors) {
  const Eigen::Index r = factors.loading.cols(), platforms = factors.loading.rows();
  const Eigen::MatrixXd kin = design_means(factors.loading, designs);
  std::vector<Eigen::MatrixXd> precision(static_cast<size_t>(platforms), Eigen::MatrixXd::Zero(r + 1, r + 1));
  Eigen::MatrixXd pull = Eigen::MatrixXd::Zero(r + 1, platforms);
  for (size_t p = 0; p < programs.size(); ++p) {
    const Posterior& of = programs[p];
    Eigen::VectorXd design = of.mean;
    design(0) = 1;
    Eigen::MatrixXd second = design * design.transpose();
    second.bottomRightCorner(r, r) += of.covariance.bottomRightCorner(r, r);
    const Eigen::VectorXd with_offset = of.covariance.col(0).tail(r);
    const auto g = static_cast<Eigen::Index>(rows.group[p]);
    for (const FactorEntry& entry : rows.entries[p]) {
      const double weight = rows.weight(static_cast<Eigen::Index>(p)) / (entry.variance + factors.own_variance(g));
      precision[static_cast<size_t>(entry.platform)] += weight * second;
      Eigen::VectorXd own = (entry.log_time - of.mean(0)) * design;
      own.tail(r) -= with_offset;
      pull.col(entry.platform) += weight * own;
    }
  }
  const double shrink = 1 / (own_deviation * own_deviation);
  for (Eigen::Index j = 0; j < platforms; ++j) {
    Eigen::MatrixXd& a = precision[static_cast<size_t>(j)];
    a(0, 0) += 1e-6;
    a.diagonal().tail(r).array() += shrink;
    Eigen::VectorXd b = pull.col(j);
    b.tail(r) += shrink * kin.row(static_cast<Eigen::Index>(designs[static_cast<size_t>(j)])).transpose();
    const Eigen::VectorXd solved = solve_positive_definite(a, b);
    factors.mean(j) = solved(0);
    factors.loading.row(j) = solved.tail(r).transpose();
  }
}

// Mean numbers of each group, drawn to 0 where it has few programs, and what the factors leave of its times.
void update_groups(const FactorRows& rows, const std::vector<Posterior>& programs, Factors& factors) {
  const Eigen::Index groups = factors.centres.rows(), r = factors.loading.cols();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(groups, r);
  Eigen::VectorXd weight = Eigen::VectorXd::Zero(groups), left = Eigen::VectorXd::Zero(groups),
                  count = Eigen::VectorXd::Constant(groups, 1e-9);
  for (size_t p = 0; p < programs.size(); ++p) {
    const auto g = static_cast<Eigen::Index>(rows.group[p]);
    const double own = rows.weight(static_cast<Eigen::Index>(p));
    sum.row(g) += own * programs[p].mean.tail(r).transpose();
    weight(g) += own;
    Eigen::VectorXd design(r + 1);
    design(0) = 1;
    for (const FactorEntry& entry : rows.entries[p]) {
      design.tail(r) = factors.loading.row(entry.platform).transpose();
      const double error = entry.log_time - factors.mean(entry.platform) - design.dot(programs[p].mean);
      left(g) += own * std::max(0.0, error * error + design.dot(programs[p].covariance * design) - entry.variance);
      count(g) += own;
    }
  }
  for (Eigen::Index g = 0; g < groups; ++g) {
    factors.centres.row(g) = sum.row(g) / (weight(g) + kGroupPrior);
    factors.own_variance(g) = std::max(1e-4, left(g) / count(g));
  }
}

Factors learn_factors(const FactorRows& rows, const std::vector<Platform>& platforms, const FactorOptions& options) {
  const auto r = std::min<Eigen::Index>(options.factors, static_cast<Eigen::Index>(platforms.size()));
  const std::vector<size_t> designs = designs_of(platforms);
  Factors factors = first_guess(rows, static_cast<Eigen::Index>(platforms.size()), r);
  std::vector<Posterior> programs(rows.entries.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t p = 0; p < programs.size(); ++p) {
      programs[p] = posterior_of(rows.entries[p], factors, rows.group[p], 1);
    }
    update_platforms(rows, programs, designs, options.own_deviation, factors);
    update_groups(rows, programs, factors);
  }
  return factors;
}

// Of the smoothing: the kernel's decay, and the share of the numbers' variance that profiles can tell.
struct Smoothing {
  double decay = 0.5, told = 0.5;
};
constexpr std::array<double, 4> kDecays = {0.15, 0.3, 0.6, 1.2};
constexpr std::array<double, 4> kTold = {0.15, 0.35, 0.6, 0.85};

// [P x R]: alpha of the Gaussian process on `numbers`, for the rows in `use`; others are 0.
Eigen::MatrixXd dual_of(const Eigen::MatrixXd& kernel, const Eigen::MatrixXd& numbers, const Eigen::MatrixXd& variances,
                        double told, const std::vector<Eigen::Index>& use) {
  Eigen::MatrixXd dual = Eigen::MatrixXd::Zero(numbers.rows(), numbers.cols());
  const Eigen::MatrixXd among = told * kernel(use, use);
  for (Eigen::Index k = 0; k < numbers.cols(); ++k) {
    Eigen::MatrixXd a = among;
    a.diagonal() += variances(use, k);
    a.diagonal().array() += 1 - told;
    const Eigen::VectorXd told_numbers = numbers(use, k);
    const Eigen::VectorXd solved = solve_positive_definite(a, told_numbers);
    for (size_t i = 0; i < use.size(); ++i) dual(use[i], k) = told * solved(static_cast<Eigen::Index>(i));
  }
  return dual;
}

}  // namespace

Eigen::MatrixXd FactorPredictor::kind_means(const Eigen::MatrixXd& similarity) const {
  Eigen::MatrixXd near = similarity * group_;
  near.rowwise() += prior_.transpose();
  const Eigen::VectorXd all = near.rowwise().sum();
  return all.cwiseInverse().asDiagonal() * near * centres_;
}

// By leaving out one family of the training programs after the other; the platforms' factors stay.
void FactorPredictor::choose_smoothing(const FactorRows& data, const Eigen::MatrixXd& numbers,
                                       const Eigen::MatrixXd& variances) {
  const size_t families = *std::max_element(data.family.begin(), data.family.end()) + 1;
  const auto profiled = static_cast<Eigen::Index>(data.profiled);
  double least = std::numeric_limits<double>::infinity();
  Smoothing best;
  const Eigen::MatrixXd groups = group_;
  for (const double decay : kDecays) {
    const Eigen::MatrixXd similarity = similarity_of(rows_, rows_, decay);
    for (const double told : kTold) {
      double error = 0;
      for (size_t family = 0; family < families; ++family) {
        std::vector<Eigen::Index> use, left_out;
        for (Eigen::Index p = 0; p < profiled; ++p) {
          (data.family[static_cast<size_t>(p)] == family ? left_out : use).push_back(p);
        }
        if (left_out.empty() || use.empty()) continue;
        for (const Eigen::Index p : left_out) group_.row(p).setZero();
        const Eigen::MatrixXd kinds = kind_means(similarity);
        const Eigen::MatrixXd dual = dual_of(similarity, numbers - kinds, variances, told, use);
        const Eigen::MatrixXd guessed = kinds(left_out, Eigen::all) + similarity(left_out, Eigen::all) * dual;
        double sum = 0, count = 0;
        for (size_t i = 0; i < left_out.size(); ++i) {
          const auto& entries = data.entries[static_cast<size_t>(left_out[i])];
          std::vector<double> off;
          double offset = 0;
          for (const FactorEntry& entry : entries) {
            off.push_back(entry.log_time - mean_(entry.platform) -
                          factors_.row(entry.platform).dot(guessed.row(static_cast<Eigen::Index>(i))));
            offset += off.back();
          }
          offset /= static_cast<double>(std::max<size_t>(1, off.size()));
          for (const double value : off) sum += std::abs(value - offset);
          count += static_cast<double>(off.size());
        }
        error += count > 0 ? sum / count : 0;
        group_ = groups;
      }
      if (error < least) {
        least = error;
        best = {decay, told};
      }
    }
  }
  decay_ = best.decay;
  const Eigen::MatrixXd similarity = similarity_of(rows_, rows_, decay_);
  std::vector<Eigen::Index> all(data.profiled);
  for (size_t p = 0; p < all.size(); ++p) all[p] = static_cast<Eigen::Index>(p);
  dual_ = dual_of(similarity, numbers - kind_means(similarity), variances, best.told, all);
}

Status FactorPredictor::fit(const TrainingTable& table, const FitOptions&) {
  if (table.programs.empty() || table.platforms.empty()) {
    return Error{"empty-table", "there is nothing to train on", "", "programs with profiles and times on platforms"};
  }
  const FactorRows data = rows_of(table);
  const Factors learned = learn_factors(data, table.platforms, options_);
  mean_ = learned.mean;
  factors_ = learned.loading;
  centres_ = learned.centres;
  const auto profiled = static_cast<Eigen::Index>(data.profiled);
  inputs_ = StandardisedInputs::fit(table, data.weight.head(profiled));
  rows_ = inputs_.rows(profiles_of(table));
  group_ = Eigen::MatrixXd::Zero(profiled, centres_.rows());
  Eigen::MatrixXd numbers(profiled, factors_.cols()), variances(profiled, factors_.cols());
  for (Eigen::Index p = 0; p < profiled; ++p) {
    const auto row = static_cast<size_t>(p);
    group_(p, static_cast<Eigen::Index>(data.group[row])) = data.weight(p);
    // What its times alone say: the prior is for those that the times leave open.
    constexpr double kWeak = 10;
    const Posterior own = posterior_of(data.entries[row], learned, data.group[row], kWeak);
    numbers.row(p) = own.mean.tail(factors_.cols()).transpose();
    variances.row(p) = own.covariance.diagonal().tail(factors_.cols()).transpose();
  }
  prior_ = Eigen::VectorXd::Constant(centres_.rows(), 1e-3);
  for (size_t g = 0; g < data.groups.size(); ++g) {
    if (data.groups[g] == kApplications) prior_(static_cast<Eigen::Index>(g)) = kApplicationPrior;
  }
  choose_smoothing(data, numbers, variances);
  return {};
}

Eigen::MatrixXd FactorPredictor::predict(const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd similarity = similarity_of(inputs_.rows(profiles), rows_, decay_);
  const Eigen::MatrixXd numbers = kind_means(similarity) + similarity * dual_;
  Eigen::MatrixXd result = numbers * factors_.transpose();
  result.rowwise() += mean_.transpose();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

Result<FeatureAttribution> FactorPredictor::attribute_features(const AttributionRequest& request) const {
  const auto [own, reference] = attributed_rows(inputs_, request);
  const SmoothModel numbers{
      [&](const Eigen::RowVectorXd& row) -> Eigen::RowVectorXd {
        const Eigen::MatrixXd similarity = similarity_of(row, rows_, decay_);
        return kind_means(similarity) + similarity * dual_;
      },
      [&](const Eigen::RowVectorXd& row) -> Eigen::MatrixXd {
        const Eigen::MatrixXd by_input = similarity_slopes(row, rows_, decay_);  // F x P
        // kind_means() = near / all x centres, all = sum of near.
        const Eigen::RowVectorXd near = similarity_of(row, rows_, decay_) * group_ + prior_.transpose();
        const double all = near.sum();
        const Eigen::MatrixXd near_slopes = by_input * group_;
        const Eigen::MatrixXd shares = (near_slopes - near_slopes.rowwise().sum() * (near / all)) / all;
        return shares * centres_ + by_input * dual_;
      }};
  const Eigen::MatrixXd slopes = integrated_gradients(numbers, own, reference, kLineToleranceLog);
  return attribution_of(*this, request, AttributionMethod::kIntegratedGradients, inputs_.chosen().names(),
                        centred_over_platforms(slopes * factors_.transpose()));
}

void FactorPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("rows", rows_);
  tensors.put("group", group_);
  tensors.put("prior", prior_);
  tensors.put("centres", centres_);
  tensors.put("dual", dual_);
  tensors.put("mean", mean_);
  tensors.put("factors", factors_);
  tensors.put("decay", Eigen::MatrixXd::Constant(1, 1, decay_));
}

Status FactorPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  auto rows = tensors.get("rows", -1, inputs_.columns());
  if (!rows) return rows.error();
  auto prior = tensors.get("prior", -1, 1);
  if (!prior) return prior.error();
  auto group = tensors.get("group", rows->rows(), prior->rows());
  if (!group) return group.error();
  auto centres = tensors.get("centres", prior->rows());
  if (!centres) return centres.error();
  auto dual = tensors.get("dual", rows->rows(), centres->cols());
  if (!dual) return dual.error();
  auto factors = tensors.get("factors", -1, centres->cols());
  if (!factors) return factors.error();
  const auto mean = tensors.get("mean", factors->rows(), 1);
  if (!mean) return mean.error();
  const auto decay = tensors.get("decay", 1, 1);
  if (!decay) return decay.error();
  rows_ = std::move(*rows);
  prior_ = prior->col(0);
  group_ = std::move(*group);
  centres_ = std::move(*centres);
  dual_ = std::move(*dual);
  factors_ = std::move(*factors);
  mean_ = mean->col(0);
  decay_ = (*decay)(0, 0);
  return {};
}

}  // namespace perfcast::program
