#include "program/model/adapt/transfer_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/random.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/conformal/conformal.h"

namespace perfcast::program {
namespace {

constexpr double kWorstError = 0.4;              // log; beyond it an outlier decides nothing
constexpr double kSlopes[] = {0.15, 0.3, 0.45};  // of what models of cores say
constexpr size_t kFewestPlatforms = 3, kFewestDesigns = 3;
// How far the programs of one platform surprise, in standard deviations: as if so many had been off by as much before.
constexpr double kScalePrior = 8;                        // by 1
constexpr double kFewScalePrior = 2, kUnknownScale = 3;  // of one or two designs
constexpr double kMostSurprise = 3;                      // one odd program doesn't widen all intervals
constexpr double kAnyLevel = 0.5;                        // variance of log time
constexpr double kOtherDesign = 4;                       // variance between designs over that within one
constexpr double kGain = 1e-5;                           // of mean error: less is none
// What programs share of a surprise: all, those of a group, of a family, those of a family that take as long, and their
// own.
constexpr double kAllShare = 0.4, kGroupShare = 0.1, kFamilyShare = 0.2, kSizeShare = 0.2, kOwnShare = 0.1;
constexpr double kSizeLog = 1.5;
constexpr double kLikenessScale = 0.2;  // of PlatformLikeness::distance()
// Pairs of programs that few platforms have in common: kinship counts for as many platforms.
constexpr double kKinshipPlatforms = 12;
constexpr double kFewest = 0.5;  // of a standard deviation below which an interval is no narrower, of the noise

std::vector<Eigen::Index> all_rows(Eigen::Index count) {
  std::vector<Eigen::Index> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), Eigen::Index{0});
  return rows;
}

}  // namespace

TransferPrior::TransferPrior(const std::vector<Platform>& platforms, const std::vector<size_t>& known,
                             const std::vector<Program>& programs, const TransferOptions& options)
    : options_(options), known_(known), programs_(programs), likeness_(platforms, known) {
  std::map<size_t, std::vector<Eigen::Index>> blocks;
  for (size_t j = 0; j < known_.size(); ++j) {
    blocks[likeness_.designs()[known_[j]]].push_back(static_cast<Eigen::Index>(j));
  }
  for (auto& [design, columns] : blocks) blocks_.push_back(std::move(columns));
  designs_count_ = blocks_.size();
  if (blocks_.size() == 1) {  // of one design, each platform is left out alone
    const std::vector<Eigen::Index> all = blocks_.front();
    blocks_.clear();
    for (const Eigen::Index column : all) blocks_.push_back({column});
  }
  for (size_t p = 0; p < programs_.size(); ++p) groups_[programs_[p].group].push_back(static_cast<Eigen::Index>(p));
}

Result<TransferPrior> TransferPrior::learn(const std::vector<Platform>& platforms, const std::vector<size_t>& known,
                                           const Eigen::MatrixXd& log_times, const Eigen::MatrixXd& said,
                                           const std::vector<Program>& programs, const TransferOptions& options) {
  TransferPrior result(platforms, known, programs, options);
  if (known.size() < kFewestPlatforms) {
    return Error{"too-few-platforms",
                 "a new platform is learned from known ones, and there are " + std::to_string(known.size()), "",
                 "three platforms at least"};
  }
  result.present_ = log_times(Eigen::all, known).unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
  for (Eigen::Index p = 0; p < result.present_.rows(); ++p) {
    if (result.present_.row(p).sum() > 0) continue;
    return Error{"unmeasured", "the program was timed on no known platform", programs[static_cast<size_t>(p)].id,
                 "programs that were"};
  }
  result.said_ = said.size() > 0 ? said : Eigen::MatrixXd::Zero(log_times.rows(), log_times.cols());
  result.choose_slopes(log_times);
  result.choose_kernels();
  result.missed_ = Eigen::MatrixXd::Zero(result.carried_.rows(), result.carried_.cols());
  for (const auto& [group, rows] : result.groups_) {
    const Kernels& kernels = result.kernels_of(group);
    for (const PlatformKernel& kernel : kernels) {
      result.missed_(rows, Eigen::all) += result.left_out(kernel, rows) / static_cast<double>(kernels.size());
    }
  }
  result.missed_ = (result.present_.array() > 0).select(result.missed_, kUnknown);
  return result;
}

// Of each group the slope that leaves least, by the kernel that the search starts from.
void TransferPrior::choose_slopes(const Eigen::MatrixXd& log_times) {
  slopes_ = Eigen::VectorXd::Zero(log_times.rows());
  fill(log_times);
  if (said_.isZero()) return;
  const Eigen::VectorXd all = Eigen::VectorXd::Ones(present_.cols());
  std::map<std::string, double> best, least;
  for (const auto& [group, rows] : groups_) {
    best[group] = 0;
    least[group] = left_out_error(options_.kernel, rows, all);
  }
  for (const double slope : kSlopes) {
    slopes_.setConstant(slope);
    fill(log_times);
    for (const auto& [group, rows] : groups_) {
      const double error = left_out_error(options_.kernel, rows, all);
      if (!(error < least[group] - kGain)) continue;
      least[group] = error;
      best[group] = slope;
    }
  }
  for (const auto& [group, rows] : groups_) {
    for (const Eigen::Index row : rows) slopes_(row) = best[group];
  }
  fill(log_times);
}

Eigen::MatrixXd TransferPrior::filled() const {
  Eigen::MatrixXd said = slopes_.asDiagonal() * said_(Eigen::all, known_);
  const Eigen::VectorXd usual = said.cwiseProduct(present_).rowwise().sum().cwiseQuotient(present_.rowwise().sum());
  said.colwise() -= usual;
  return carried_ + said;
}

// Programs that were measured on the same platforms share one factorisation.
void TransferPrior::fill(const Eigen::MatrixXd& log_times) {
  const Eigen::MatrixXd gram = likeness_.covariance(options_.kernel, known_, known_);
  std::map<std::vector<Eigen::Index>, std::vector<Eigen::Index>> by_pattern;
  for (Eigen::Index p = 0; p < present_.rows(); ++p) {
    std::vector<Eigen::Index> where;
    for (Eigen::Index j = 0; j < present_.cols(); ++j) {
      if (present_(p, j) > 0) where.push_back(j);
    }
    by_pattern[std::move(where)].push_back(p);
  }
  carried_.resize(present_.rows(), present_.cols());
  means_.resize(present_.rows());
  const Eigen::MatrixXd times = log_times(Eigen::all, known_) - slopes_.asDiagonal() * said_(Eigen::all, known_);
  for (const auto& [where, rows] : by_pattern) {
    Eigen::MatrixXd about = times(rows, where);
    const Eigen::VectorXd means = about.rowwise().mean();
    about.colwise() -= means;
    means_(rows) = means;
    if (where.size() == known_.size()) {
      carried_(rows, Eigen::all) = about;
      continue;
    }
    const Eigen::MatrixXd carried =
        gram(Eigen::all, where) * solve_positive_definite(gram(where, where), Eigen::MatrixXd(about.transpose()));
    carried_(rows, Eigen::all) = carried.transpose();
    carried_(rows, where) = about;
  }
}

const TransferPrior::Kernels& TransferPrior::kernels_of(const std::string& group) const {
  const auto found = kernels_.find(group);
  return found == kernels_.end() ? kernels_.at("") : found->second;
}

void TransferPrior::choose_kernels() {
  kernels_[""] = search(all_rows(carried_.rows()));
  if (groups_.size() < 2) return;
  for (const auto& [group, rows] : groups_) {
    if (static_cast<int64_t>(rows.size()) >= options_.group_programs) kernels_[group] = search(rows);
  }
}

// Few designs say little about so many hyper-parameters: several searches are averaged, all but the first over designs
// drawn with replacement (bagging).
TransferPrior::Kernels TransferPrior::search(const std::vector<Eigen::Index>& rows) const {
  if (options_.rounds <= 0) return {options_.kernel};
  Random random(options_.seed);
  Kernels found;
  for (int draw = 0; draw < std::max(options_.draws, 1); ++draw) {
    Eigen::VectorXd counts = Eigen::VectorXd::Constant(present_.cols(), draw == 0 ? 1 : 0);
    for (size_t i = 0; draw > 0 && i < blocks_.size(); ++i) {
      counts(blocks_[random.below(blocks_.size())]).array() += 1;
    }
    found.push_back(search(rows, counts));
  }
  return found;
}

// Each hyper-parameter in turn by a factor, up or down, that shrinks from round to round.
PlatformKernel TransferPrior::search(const std::vector<Eigen::Index>& rows,
                                     const Eigen::VectorXd& platform_weights) const {
  constexpr double kShrinks = 0.7;
  auto best = options_.kernel.parameters();
  double least = left_out_error(options_.kernel, rows, platform_weights);
  double step = 1;
  for (int round = 0; round < options_.rounds; ++round, step *= kShrinks) {
    for (size_t i = 0; i < best.size(); ++i) {
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        auto tried = best;
        tried[i] *= factor;
        const double error = left_out_error(PlatformKernel::of(tried), rows, platform_weights);
        if (!(error < least - kGain)) continue;
        least = error;
        best = tried;
        break;
      }
    }
  }
  return PlatformKernel::of(best);
}

double TransferPrior::left_out_error(const PlatformKernel& kernel, const std::vector<Eigen::Index>& rows,
                                     const Eigen::VectorXd& platform_weights) const {
  const Eigen::MatrixXd present = present_(rows, Eigen::all) * platform_weights.asDiagonal();
  return left_out(kernel, rows).cwiseAbs().cwiseMin(kWorstError).cwiseProduct(present).sum() /
         std::max(present.sum(), 1e-9);
}

Eigen::MatrixXd TransferPrior::left_out(const PlatformKernel& kernel, const std::vector<Eigen::Index>& rows) const {
  const Eigen::MatrixXd inverse = inverse_positive_definite(likeness_.covariance(kernel, known_, known_));
  const Eigen::MatrixXd dual = carried_(rows, Eigen::all) * inverse;
  Eigen::MatrixXd missed(dual.rows(), dual.cols());
  for (const auto& block : blocks_) {
    const Eigen::MatrixXd own = inverse(block, block);
    missed(Eigen::all, block) =
        solve_positive_definite(own, Eigen::MatrixXd(dual(Eigen::all, block).transpose())).transpose();
  }
  return missed;
}

Eigen::VectorXd TransferPrior::weights(const Kernels& kernels, size_t platform) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(known_.size()));
  for (const PlatformKernel& kernel : kernels) {
    const Eigen::MatrixXd gram = likeness_.covariance(kernel, known_, known_);
    const Eigen::VectorXd cross = likeness_.covariance(kernel, known_, {platform}).col(0);
    sum += solve_positive_definite(gram, cross) / static_cast<double>(kernels.size());
  }
  return sum;
}

Eigen::VectorXd TransferPrior::weights(size_t platform) const { return weights(kernels_.at(""), platform); }

// Second moments of what was missed on the known platforms, each counting by its likeness to the new one and the less
// the more it was missed by (as a multivariate t distribution has it).
Eigen::MatrixXd TransferPrior::covariance_for(size_t platform) const {
  const Eigen::Index programs = carried_.rows();
  const Eigen::MatrixXd own = (present_.array() > 0).select(missed_, 0.0);
  Eigen::VectorXd weight(own.cols());
  for (Eigen::Index j = 0; j < own.cols(); ++j) {
    const size_t other = known_[static_cast<size_t>(j)];
    const double like = std::exp(-kLikenessScale * likeness_.distance(platform, other));
    const double miss = own.col(j).squaredNorm() / std::max(present_.col(j).sum(), 1.0);
    weight(j) = (options_.far_design + like) / (options_.usual_miss_log * options_.usual_miss_log + miss);
  }
  weight *= static_cast<double>(weight.size()) / weight.sum();
  const Eigen::MatrixXd counts = present_ * weight.asDiagonal() * present_.transpose();
  Eigen::MatrixXd result = (own * weight.asDiagonal() * own.transpose()).cwiseQuotient(counts.cwiseMax(1e-9));
  const double typical = result.diagonal().mean();
  const Eigen::VectorXd deviation =
      ((result.diagonal().cwiseProduct(counts.diagonal()).array() + typical * kKinshipPlatforms / 4) /
       (counts.diagonal().array() + kKinshipPlatforms / 4))
          .sqrt();
  const bool is_complete = (present_.array() > 0).all();
  for (Eigen::Index p = 0; p < programs; ++p) {
    for (Eigen::Index q = 0; q < programs; ++q) {
      const double borrowed = std::max(options_.shrink, kKinshipPlatforms / (kKinshipPlatforms + counts(p, q)));
      result(p, q) = (1 - borrowed) * result(p, q) + borrowed * deviation(p) * deviation(q) * kinship(p, q);
    }
  }
  const double floor = options_.noise_log * options_.noise_log;
  if (!is_complete) {
    // Pairs that were measured on different platforms need not fit together.
    const auto [values, vectors] = symmetric_eigen((result + result.transpose()) / 2);
    result = vectors * values.cwiseMax(0).asDiagonal() * vectors.transpose();
    result = ((result + result.transpose()) / 2).eval();
  }
  result.diagonal().array() += floor;
  return result;
}

// Of one or two designs nobody can tell what changes from design to design: programs take what they take on average, at
// any level, and differ from it as the known platforms differ among themselves, several times over.
Gaussian TransferPrior::prior_of_few_designs() const {
  Gaussian belief{means_, {}};
  const Eigen::MatrixXd about = carried_.rowwise() - carried_.colwise().mean();
  const double own = kOtherDesign * std::max(about.array().square().mean(), std::pow(options_.usual_miss_log, 2) / 4);
  belief.covariance.resize(carried_.rows(), carried_.rows());
  for (Eigen::Index p = 0; p < carried_.rows(); ++p) {
    for (Eigen::Index q = 0; q < carried_.rows(); ++q) belief.covariance(p, q) = kAnyLevel + own * kinship(p, q);
  }
  belief.covariance.diagonal().array() += options_.noise_log * options_.noise_log;
  return belief;
}

double TransferPrior::kinship(Eigen::Index p, Eigen::Index q) const {
  const Program &a = programs_[static_cast<size_t>(p)], &b = programs_[static_cast<size_t>(q)];
  const double apart = (means_(p) - means_(q)) / kSizeLog;
  const double family = kFamilyShare + kSizeShare * std::exp(-0.5 * apart * apart);
  return kAllShare + (a.group == b.group ? kGroupShare : 0) + (a.family == b.family ? family : 0) +
         (p == q ? kOwnShare : 0);
}

Gaussian TransferPrior::prior(size_t platform) const {
  if (designs_count_ < kFewestDesigns) return prior_of_few_designs();
  Gaussian belief;
  belief.mean = means_ + slopes_.cwiseProduct(said_.col(static_cast<Eigen::Index>(platform)));
  for (const auto& [group, rows] : groups_) {
    belief.mean(rows) += carried_(rows, Eigen::all) * weights(kernels_of(group), platform);
  }
  belief.covariance = covariance_for(platform);
  return belief;
}

Gaussian TransferPrior::update(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                               const Eigen::VectorXd& log_times) const {
  if (where.empty()) return prior;
  return updated(prior, where, gain_of(prior.covariance, where, own_noise()), log_times - prior.mean(where));
}

// A share w of the shift leaves (1 - w)^2 of the variance that it takes away.
Gaussian TransferPrior::with_share(const Gaussian& prior, const Gaussian& updated, double share) {
  if (share >= 1) return updated;
  if (share <= 0) return prior;
  return {prior.mean + share * (updated.mean - prior.mean),
          prior.covariance - share * (2 - share) * (prior.covariance - updated.covariance)};
}

TransferCheck TransferPrior::check(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                                   const Eigen::VectorXd& log_times) const {
  TransferCheck check;
  if (where.size() < 2) return check;
  const Eigen::VectorXd off = log_times - prior.mean(where);
  Eigen::MatrixXd seen = prior.covariance(where, where);
  seen.diagonal().array() += own_noise();
  // Left out one by one, as below.
  const Eigen::MatrixXd inverse = inverse_positive_definite(seen);
  const Eigen::VectorXd left = (inverse * off).cwiseQuotient(inverse.diagonal());
  const auto error_of = [&](double share) { return ((1 - share) * off + share * left).cwiseAbs().mean(); };
  check.programs = where.size();
  check.facts_error_log = error_of(0);
  check.runs_error_log = error_of(1);
  const double most = check.facts_error_log + TransferCheck::kWorseByChanceLog / static_cast<double>(where.size());
  while (check.share > 0 && error_of(check.share) > most) check.share -= 0.25;
  check.kept_error_log = error_of(check.share);
  return check;
}

Eigen::RowVectorXd TransferPrior::surprise_scales(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                                                  const Eigen::MatrixXd& off) const {
  const bool has_few = designs_count_ < kFewestDesigns;
  const double usual = has_few ? kUnknownScale : 1, usual_count = has_few ? kFewScalePrior : kScalePrior;
  // Of one or two designs the first program tells the level alone.
  if (where.size() < (has_few ? 2 : 1)) return Eigen::RowVectorXd::Constant(off.cols(), usual);
  Eigen::MatrixXd seen = prior.covariance(where, where);
  seen.diagonal().array() += own_noise();
  // Left out one by one, in closed form: Rasmussen & Williams, section 5.4.2.
  const Eigen::MatrixXd inverse = inverse_positive_definite(seen);
  const Eigen::MatrixXd off_ratio = inverse.diagonal().cwiseSqrt().cwiseInverse().asDiagonal() * (inverse * off);
  const double most = has_few ? std::numeric_limits<double>::infinity() : kMostSurprise * kMostSurprise;
  const Eigen::RowVectorXd squares = off_ratio.cwiseAbs2().cwiseMin(most).colwise().sum();
  const double count = static_cast<double>(where.size());
  return ((squares.array() + usual_count * usual * usual) / (count + usual_count)).sqrt();
}

Eigen::VectorXd TransferPrior::interval_multiples(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                                                  const Eigen::VectorXd& log_times, double coverage) const {
  const double own_scale = surprise_scales(prior, where, log_times - prior.mean(where))(0);
  if (designs_count_ < kFewestDesigns) {
    return Eigen::VectorXd::Constant(missed_.rows(), kNormal95 * std::max(own_scale, 1.0));
  }
  ConformalScores scores;
  scores.scores = Eigen::MatrixXd::Constant(missed_.cols(), missed_.rows(), kUnknown);
  // Platforms where the same programs were measured share one update.
  std::map<std::vector<Eigen::Index>, std::vector<Eigen::Index>> by_pattern;
  for (Eigen::Index j = 0; j < missed_.cols(); ++j) {
    std::vector<Eigen::Index> seen;
    for (const Eigen::Index p : where) {
      if (present_(p, j) > 0) seen.push_back(p);
    }
    by_pattern[std::move(seen)].push_back(j);
    scores.family.push_back(static_cast<int64_t>(likeness_.designs()[known_[static_cast<size_t>(j)]]));
  }
  std::vector<bool> is_measured(static_cast<size_t>(missed_.rows()), false);
  for (const Eigen::Index p : where) is_measured[static_cast<size_t>(p)] = true;
  for (const auto& [seen, platforms] : by_pattern) {
    Eigen::MatrixXd left = missed_(Eigen::all, platforms);
    const Eigen::RowVectorXd scales = surprise_scales(prior, seen, missed_(seen, platforms));
    Eigen::VectorXd variance = prior.covariance.diagonal();
    if (!seen.empty()) {
      const Eigen::MatrixXd cross = prior.covariance(Eigen::all, seen);
      const Eigen::MatrixXd gain = gain_of(prior.covariance, seen, own_noise());
      left -= gain * missed_(seen, platforms);
      variance -= gain.cwiseProduct(cross).rowwise().sum();
    }
    const Eigen::VectorXd deviation = variance.cwiseMax(std::pow(kFewest * options_.noise_log, 2)).cwiseSqrt();
    for (size_t i = 0; i < platforms.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      for (Eigen::Index p = 0; p < left.rows(); ++p) {
        if (is_measured[static_cast<size_t>(p)]) continue;
        scores.scores(platforms[i], p) = std::abs(left(p, column)) / (scales(column) * deviation(p));
      }
    }
  }
  const double of_all = conformal_quantile(scores, coverage);
  Eigen::VectorXd multiples = Eigen::VectorXd::Constant(missed_.rows(), std::isnan(of_all) ? kNormal95 : of_all);
  for (const auto& [group, rows] : groups_) {
    const double multiple = conformal_quantile({scores.scores(Eigen::all, rows), scores.family}, coverage);
    if (!std::isnan(multiple)) multiples(rows).setConstant(multiple);
  }
  return own_scale * multiples;
}

}  // namespace perfcast::program
