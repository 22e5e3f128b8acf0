#include "studies/adapt/transfer_curve.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "program/model/adapt/program_choice.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/gpu/kernel_work.h"
#include "program/model/predictor.h"
#include "studies/adapt/transfer_networks.h"

namespace perfcast::program::adapt_study {
namespace {

constexpr const char* kAdapt = "adapt";
constexpr const char* kSuggested = "adapt, suggested";
constexpr const char* kFineTuned = "network, fine-tuned";
constexpr const char* kMetaLearnt = "network, meta-learnt";
constexpr double kCoverage = 0.9;
constexpr double kShiftPrior = 0.5;  // programs that "no shift" counts for
constexpr int kCoverageSeeds = 3;    // intervals take longer than forecasts

struct Score {
  std::string method, group;
  size_t count = 0;
  int seed = 0;
  bool operator<(const Score& other) const {
    return std::tie(method, group, count, seed) < std::tie(other.method, other.group, other.count, other.seed);
  }
};

struct Moments {
  double squares = 0, sum = 0, sum_squares = 0, count = 0;  // of errors; of log times
};

struct Errors {
  std::vector<float> relative;
  std::map<size_t, Moments> of_platform;
  double covered = 0, with_interval = 0;
  std::vector<double> seconds;
};

using Scores = std::map<Score, Errors>;

// Forecasts of one platform: log times of all programs, and half widths where there are any.
struct Said {
  Eigen::VectorXd log_time, half_width;
};

void add(Scores& scores, const Score& score, size_t platform, double measured, double forecast, double half_width) {
  Errors& errors = scores[score];
  errors.relative.push_back(static_cast<float>(std::abs(std::exp(forecast - measured) - 1)));
  Moments& moments = errors.of_platform[platform];
  moments.squares += (forecast - measured) * (forecast - measured);
  moments.sum += measured;
  moments.sum_squares += measured * measured;
  ++moments.count;
  if (std::isnan(half_width)) return;
  errors.covered += std::abs(forecast - measured) <= half_width ? 1 : 0;
  ++errors.with_interval;
}

// What one left-out design's fold needs.
struct Fold {
  const TrainingTable* table = nullptr;
  const CurveOptions* options = nullptr;
  const Eigen::MatrixXd* log_times = nullptr;
  std::vector<size_t> known, unknown;
  std::vector<TransferNetworks> networks = {};  // by seed
};

// [programs] mean log time over the known platforms that the program was timed on.
Eigen::VectorXd means_over(const Fold& fold) {
  Eigen::VectorXd means(fold.log_times->rows());
  for (Eigen::Index p = 0; p < means.size(); ++p) {
    std::vector<double> known;
    for (const size_t j : fold.known) known.push_back((*fold.log_times)(p, static_cast<Eigen::Index>(j)));
    std::erase_if(known, [](double value) { return std::isnan(value); });
    means(p) = mean(known);
  }
  return means;
}

// Each method that knows nothing of what was measured but its mean surprise.
std::map<std::string, Eigen::VectorXd> plain_forecasts(const Fold& fold, const TransferPrior& prior, size_t platform) {
  std::map<std::string, Eigen::VectorXd> result;
  const Eigen::MatrixXd filled = prior.filled();
  const Eigen::VectorXd means = means_over(fold);
  result["mean of platforms"] = means;
  size_t nearest = 0;
  for (size_t j = 1; j < fold.known.size(); ++j) {
    if (prior.likeness().distance(platform, fold.known[j]) < prior.likeness().distance(platform, fold.known[nearest])) {
      nearest = j;
    }
  }
  result["nearest by facts"] = means + filled.col(static_cast<Eigen::Index>(nearest));
  // Ridge on standardised facts, penalty by leaving one platform out.
  const Eigen::MatrixXd known = prior.likeness().facts()(fold.known, Eigen::all);
  const Eigen::MatrixXd products = known * known.transpose() / static_cast<double>(known.cols());
  const Eigen::VectorXd cross = known * prior.likeness().facts().row(static_cast<Eigen::Index>(platform)).transpose() /
                                static_cast<double>(known.cols());
  double least = INFINITY;
  for (const double penalty : {0.003, 0.01, 0.03, 0.1, 0.3, 1.0}) {
    Eigen::MatrixXd gram = products;
    gram.diagonal().array() += penalty;
    const Eigen::MatrixXd inverse = inverse_positive_definite(gram);
    const Eigen::MatrixXd off = (filled * inverse) * inverse.diagonal().cwiseInverse().asDiagonal();
    const double error = off.cwiseAbs().mean();
    if (!(error < least)) continue;
    least = error;
    result["ridge on facts"] = means + filled * (inverse * cross);
  }
  struct PlainScaling {
    const char *name, *fact;
  };
  for (const auto& [name, fact] : {PlainScaling{"peak FLOP/s", "peak_flops_per_s"},
                                   {"bandwidth", "memory_bytes_per_s"},
                                   {"first cache's bandwidth", "bwmem_rd_16kib_per_vcpu_bytes_per_s"}}) {
    const auto& facts = fold.table->platforms[platform].facts;
    double log_sum = 0, count = 0;
    for (const size_t j : fold.known) {
      const auto other = fold.table->platforms[j].facts.find(fact);
      if (other == fold.table->platforms[j].facts.end()) continue;
      log_sum += std::log(other->second);
      ++count;
    }
    const auto own = facts.find(fact);
    if (own == facts.end() || count == 0) continue;
    result[name] = means.array() + log_sum / count - std::log(own->second);
  }
  return result;
}

// Where `where` was measured: every method's forecast of all programs.
std::map<std::string, Said> forecasts(const TransferPrior& prior, const Gaussian& belief,
                                      const std::map<std::string, Eigen::VectorXd>& plain,
                                      const std::vector<Eigen::Index>& where, const Eigen::VectorXd& measured,
                                      bool with_intervals) {
  std::map<std::string, Said> result;
  for (const auto& [name, said] : plain) {
    const double surprise = where.empty() ? 0 : (measured - said(where)).sum();
    const double shift = surprise / (static_cast<double>(where.size()) + kShiftPrior);
    result[name] = {said.array() + shift, Eigen::VectorXd::Constant(said.size(), kUnknown)};
  }
  // As PlatformAdaptation keeps it.
  const double share = prior.check(belief, where, measured).share;
  const Gaussian posterior = TransferPrior::with_share(belief, prior.update(belief, where, measured), share);
  const std::vector<Eigen::Index> heeded = share > 0 ? where : std::vector<Eigen::Index>();
  const Eigen::VectorXd times = share > 0 ? measured : Eigen::VectorXd(0);
  Said& adapted = result[kAdapt];
  adapted.log_time = posterior.mean;
  adapted.half_width = Eigen::VectorXd::Constant(posterior.mean.size(), kUnknown);
  if (with_intervals) {
    adapted.half_width = prior.interval_multiples(belief, heeded, times, kCoverage)
                             .cwiseProduct(posterior.covariance.diagonal().cwiseMax(1e-4).cwiseSqrt());
  }
  return result;
}

// What the platforms left out say of a program is not known yet.
TrainingTable table_without(const Fold& fold) {
  TrainingTable table = *fold.table;
  for (size_t p = 0; p < table.profiles.size(); ++p) {
    table.profiles[p] = Profile();
    for (const Profile* profile : fold.options->profiles[p]) {
      const bool is_unknown = std::any_of(fold.unknown.begin(), fold.unknown.end(),
                                          [&](size_t j) { return table.platforms[j].name == profile->host.name; });
      if (is_unknown) continue;
      table.profiles[p] = *profile;
      break;
    }
  }
  return table;
}

// [programs x platforms] what is known of kernels' costs on any platform (program/model/gpu), learned on those that
// aren't left out; 0 x 0: the programs are no kernels, or the platforms of one design.
Result<Eigen::MatrixXd> said_of_kernels(const Fold& fold) {
  // Of one design alone nothing is carried over by facts (TransferPrior).
  std::set<std::string> designs;
  for (const size_t j : fold.known) designs.insert(platform_design(fold.table->platforms[j]));
  if (designs.size() < 2) return Eigen::MatrixXd();
  const TrainingTable table = table_without(fold);
  const TrainingTable known = table.with_platforms(fold.known);
  std::vector<size_t> rows;
  for (size_t p = 0; p < known.programs.size(); ++p) {
    if (!kernel_work(known.profiles[p])) continue;
    const auto first = known.times.begin() + static_cast<std::ptrdiff_t>(p * known.platforms.size());
    const auto last = first + static_cast<std::ptrdiff_t>(known.platforms.size());
    if (std::any_of(first, last, [](const auto& time) { return time.has_value(); })) rows.push_back(p);
  }
  if (rows.empty()) return Eigen::MatrixXd();
  const auto costs = make_predictor("kernels:mean");
  if (!costs) return costs.error();
  if (Status fitted = (*costs)->fit(known.with_programs(rows), {}); !fitted) return fitted.error();
  return (*costs)->prior_on(table.platforms, profiles_of(table));
}

Status add_networks(const Fold& fold, size_t platform, const std::vector<Eigen::Index>& where,
                    const Eigen::VectorXd& measured, int seed, std::map<std::string, Said>& said) {
  if (fold.networks.empty()) return {};
  const TransferNetworks& networks = fold.networks[static_cast<size_t>(seed) % fold.networks.size()];
  auto tuned = networks.fine_tuned(platform, where, measured);
  if (!tuned) return tuned.error();
  auto learnt = networks.meta_learnt(platform, where, measured);
  if (!learnt) return learnt.error();
  const Eigen::VectorXd no_interval = Eigen::VectorXd::Constant(tuned->size(), kUnknown);
  said[kFineTuned] = {std::move(*tuned), no_interval};
  said[kMetaLearnt] = {std::move(*learnt), no_interval};
  return {};
}

void score(const Fold& fold, size_t platform, const std::map<std::string, Said>& said,
           const std::vector<Eigen::Index>& where, const std::string& only_group, size_t count, int seed,
           double seconds, Scores& scores) {
  const std::set<Eigen::Index> measured(where.begin(), where.end());
  for (const auto& [method, forecast] : said) {
    std::set<std::string> groups;
    for (Eigen::Index p = 0; p < fold.log_times->rows(); ++p) {
      const double time = (*fold.log_times)(p, static_cast<Eigen::Index>(platform));
      const std::string& group = fold.table->programs[static_cast<size_t>(p)].group;
      if (std::isnan(time) || measured.contains(p) || (!only_group.empty() && group != only_group)) continue;
      groups.insert(group);
      if (only_group.empty()) {
        groups.insert("");
        add(scores, {method, "", count, seed}, platform, time, forecast.log_time(p), forecast.half_width(p));
      }
      add(scores, {method, group, count, seed}, platform, time, forecast.log_time(p), forecast.half_width(p));
    }
    for (const std::string& group : groups) scores[{method, group, count, seed}].seconds.push_back(seconds);
  }
}

// Programs of the platform that have a time, in an order drawn.
std::vector<Eigen::Index> drawn(const Fold& fold, size_t platform, const std::string& group, Random& random) {
  std::vector<Eigen::Index> order;
  for (Eigen::Index p = 0; p < fold.log_times->rows(); ++p) {
    const bool is_of_group = group.empty() || fold.table->programs[static_cast<size_t>(p)].group == group;
    if (is_of_group && !std::isnan((*fold.log_times)(p, static_cast<Eigen::Index>(platform)))) order.push_back(p);
  }
  random.shuffle(order);
  return order;
}

Status run_platform(const Fold& fold, const TransferPrior& prior, size_t platform, Scores& scores) {
  const CurveOptions& options = *fold.options;
  const Gaussian belief = prior.prior(platform);
  const auto plain = plain_forecasts(fold, prior, platform);
  const Eigen::VectorXd own = fold.log_times->col(static_cast<Eigen::Index>(platform));
  const Eigen::VectorXd expected_seconds = belief.mean.array().exp() * options.run_units.array();
  const auto seconds_of = [&](const std::vector<Eigen::Index>& where) {
    double sum = 0;
    for (const Eigen::Index p : where) sum += std::exp(own(p)) * options.run_units(p);
    return sum;
  };
  std::set<std::string> groups{""};
  if (options.own_group) {
    groups.clear();
    for (const Program& program : fold.table->programs) groups.insert(program.group);
  }
  for (const std::string& group : groups) {
    for (int seed = 0; seed < options.seeds; ++seed) {
      Random random(options.seed + static_cast<uint64_t>(seed) * 1000003 + platform);
      const std::vector<Eigen::Index> order = drawn(fold, platform, group, random);
      for (const size_t count : options.counts) {
        if (count >= order.size() || (count == 0 && seed >= std::max(options.networks, 1))) continue;
        const std::vector<Eigen::Index> where(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
        std::map<std::string, Said> said;
        if (count > 0 || seed == 0) {  // without programs, draws are the same
          said = forecasts(prior, belief, plain, where, own(where), seed < kCoverageSeeds);
        }
        if (Status status = add_networks(fold, platform, where, own(where), seed, said); !status) return status;
        score(fold, platform, said, where, group, count, seed, seconds_of(where), scores);
      }
    }
    // What would be suggested, among the programs that have a time there.
    Eigen::VectorXd seconds = Eigen::VectorXd::Constant(own.size(), kUnknown);
    Eigen::VectorXd weight = Eigen::VectorXd::Zero(own.size());
    Random random(1);
    for (const Eigen::Index p : drawn(fold, platform, group, random)) {
      seconds(p) = expected_seconds(p);
      weight(p) = 1;
    }
    for (const size_t count : options.counts) {
      const auto chosen = choose_programs(belief.covariance, weight, seconds, options.transfer.noise_log, count);
      if (count == 0 || chosen.size() < count || static_cast<double>(count) >= weight.sum()) continue;
      std::vector<Eigen::Index> where;
      where.reserve(chosen.size());
      for (const ChosenProgram& choice : chosen) where.push_back(choice.program);
      auto said = forecasts(prior, belief, {}, where, own(where), true);
      std::map<std::string, Said> named;
      named[kSuggested] = std::move(said.at(kAdapt));
      score(fold, platform, named, where, group, count, 0, seconds_of(where), scores);
    }
  }
  return {};
}

CurvePoint point_of(const std::string& method, const std::string& group, size_t count,
                    const std::vector<const Errors*>& seeds) {
  CurvePoint point{method, group, count};
  std::vector<double> all, of_seeds, seconds;
  std::map<size_t, Moments> platforms;
  double covered = 0, with_interval = 0;
  for (const Errors* errors : seeds) {
    std::vector<double> own(errors->relative.begin(), errors->relative.end());
    all.insert(all.end(), own.begin(), own.end());
    seconds.insert(seconds.end(), errors->seconds.begin(), errors->seconds.end());
    of_seeds.push_back(median(std::move(own)));
    for (const auto& [platform, moments] : errors->of_platform) {
      Moments& sum = platforms[platform];
      sum.squares += moments.squares;
      sum.sum += moments.sum;
      sum.sum_squares += moments.sum_squares;
      sum.count += moments.count;
    }
    covered += errors->covered;
    with_interval += errors->with_interval;
  }
  point.entries = static_cast<int64_t>(all.size());
  point.mean_error = mean(all);
  point.median_error = median(std::move(all));
  point.spread = standard_deviation(of_seeds);
  point.coverage_90 = with_interval > 0 ? covered / with_interval : kUnknown;
  point.seconds = median_of_known(std::move(seconds));
  double squares = 0, about_mean = 0;
  point.least_r2_log = INFINITY;
  for (const auto& [platform, moments] : platforms) {
    const double own = moments.sum_squares - moments.sum * moments.sum / moments.count;
    squares += moments.squares;
    about_mean += own;
    if (moments.count > 1) point.least_r2_log = std::min(point.least_r2_log, 1 - moments.squares / own);
  }
  point.r2_log = 1 - squares / about_mean;
  return point;
}

}  // namespace

Result<TransferCurve> transfer_curve(const TrainingTable& table, const CurveOptions& options) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  Eigen::MatrixXd log_times(programs, static_cast<Eigen::Index>(table.platforms.size()));
  for (size_t p = 0; p < table.programs.size(); ++p) {
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const auto& time = table.at(p, j);
      log_times(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(j)) = time ? time->log_time : kUnknown;
    }
  }
  CurveOptions settled = options;
  if (settled.run_units.size() != programs) settled.run_units = Eigen::VectorXd::Constant(programs, kUnknown);
  std::map<std::string, std::vector<size_t>> designs;
  for (size_t j = 0; j < table.platforms.size(); ++j) designs[platform_design(table.platforms[j])].push_back(j);
  std::vector<std::vector<size_t>> folds;
  for (size_t j = 0; options.each_platform > 0 && j < table.platforms.size(); j += options.each_platform) {
    folds.push_back({j});
  }
  if (options.each_platform > 0) designs.clear();
  folds.reserve(designs.size());
  for (auto& [design, members] : designs) {
    if (options.only_design.empty() || options.only_design == design) folds.push_back(members);
  }
  if (folds.empty()) {
    std::vector<std::string> names;
    names.reserve(designs.size());
    for (const auto& [design, members] : designs) names.push_back(design);
    return Error{"unknown-design", "no platform is of the design '" + options.only_design + "'", "", join(names, ", ")};
  }

  const Eigen::MatrixXd said = relative_log_cycles(profiles_of(table), core_metrics_of(table.platforms));
  std::shared_ptr<const RowMatrixF> own_inputs;
  if (options.networks > 0 && options.profiles.empty()) {
    own_inputs = std::make_shared<const RowMatrixF>(network_inputs(table));
  }
  std::vector<uint64_t> network_seeds;
  network_seeds.reserve(static_cast<size_t>(std::max(options.networks, 0)));
  for (int i = 0; i < options.networks; ++i) network_seeds.push_back(options.seed + static_cast<uint64_t>(i));
  Scores scores;
  std::mutex lock;
  std::map<size_t, std::string> chosen;
  const Status status = parallel_for(folds.size(), options.threads, [&](size_t index) -> Status {
    Fold fold{&table, &settled, &log_times, {}, folds[index]};
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      if (std::find(fold.unknown.begin(), fold.unknown.end(), j) == fold.unknown.end()) fold.known.push_back(j);
    }
    Eigen::MatrixXd known_of = said;
    if (!options.profiles.empty()) {
      const auto of_kernels = said_of_kernels(fold);
      if (!of_kernels) return of_kernels.error();
      if (of_kernels->size() > 0) known_of += *of_kernels;
    }
    const auto prior =
        TransferPrior::learn(table.platforms, fold.known, log_times, known_of, table.programs, settled.transfer);
    if (!prior) return prior.error();
    if (!network_seeds.empty()) {
      const auto inputs =
          own_inputs ? own_inputs : std::make_shared<const RowMatrixF>(network_inputs(table_without(fold)));
      auto networks = TransferNetworks::learn(inputs, table.platforms, fold.known, log_times, settled.counts,
                                              settled.network, network_seeds);
      if (!networks) return networks.error();
      fold.networks = std::move(*networks);
    }
    Scores own;
    for (const size_t platform : fold.unknown) {
      if (Status done = run_platform(fold, *prior, platform, own); !done) return done;
    }
    const std::lock_guard<std::mutex> guard(lock);
    if (!fold.networks.empty()) {
      chosen[index] = platform_design(table.platforms[fold.unknown.front()]) + ": " + fold.networks.front().chosen();
    }
    for (auto& [key, errors] : own) {
      Errors& all = scores[key];
      all.relative.insert(all.relative.end(), errors.relative.begin(), errors.relative.end());
      all.of_platform.merge(errors.of_platform);
      all.covered += errors.covered;
      all.with_interval += errors.with_interval;
      all.seconds.insert(all.seconds.end(), errors.seconds.begin(), errors.seconds.end());
    }
    return {};
  });
  if (!status) return status.error();

  TransferCurve curve{{}, table.platforms.size(), folds.size(), table.programs.size(), {}};
  for (const auto& [index, text] : chosen) curve.network_choices.push_back(text);
  std::map<std::tuple<std::string, std::string, size_t>, std::vector<const Errors*>> by_point;
  for (const auto& [key, errors] : scores) by_point[{key.method, key.group, key.count}].push_back(&errors);
  for (const auto& [key, seeds] : by_point) {
    curve.points.push_back(point_of(std::get<0>(key), std::get<1>(key), std::get<2>(key), seeds));
  }
  return curve;
}

}  // namespace perfcast::program::adapt_study
