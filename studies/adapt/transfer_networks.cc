#include "studies/adapt/transfer_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "program/model/adapt/platform_kernel.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program::adapt_study {
namespace {

constexpr Eigen::Index kMostNamed = 256;  // programs that are told apart by name
constexpr size_t kFewestDesigns = 3;
constexpr double kWorstError = 1;  // log; beyond it an outlier decides nothing

// A sum of absolute errors and of how many.
struct ErrorSum {
  double sum = 0, count = 0;
  double mean() const { return count > 0 ? sum / count : std::numeric_limits<double>::infinity(); }
  void add(const Eigen::VectorXd& forecast, const Eigen::VectorXd& measured, const std::vector<bool>& is_seen) {
    for (Eigen::Index p = 0; p < measured.size(); ++p) {
      if (std::isnan(measured(p)) || is_seen[static_cast<size_t>(p)]) continue;
      sum += std::min(std::abs(forecast(p) - measured(p)), kWorstError);
      ++count;
    }
  }
};

// What the inner folds are made of and what they tell.
class InnerFolds {
 public:
  InnerFolds(const std::shared_ptr<const RowMatrixF>& programs, const std::vector<Platform>& platforms,
             const std::vector<size_t>& known, const Eigen::MatrixXd& log_times, const NetworkOptions& options)
      : programs_(programs),
        platforms_(platforms),
        known_(known),
        log_times_(log_times),
        options_(options),
        random_(options.seed) {
    std::map<std::string, std::vector<size_t>> designs;
    for (const size_t j : known) designs[platform_design(platforms[j])].push_back(j);
    std::vector<std::vector<size_t>> blocks;
    blocks.reserve(known.size());
    if (designs.size() >= kFewestDesigns) {
      for (auto& [design, members] : designs) blocks.push_back(members);
    } else {
      for (const size_t j : known) blocks.push_back({j});
    }
    random_.shuffle(blocks);
    left_out_.resize(std::min(options.inner_folds, blocks.size()));
    for (size_t i = 0; i < blocks.size(); ++i) {
      std::vector<size_t>& fold = left_out_[i % left_out_.size()];
      fold.insert(fold.end(), blocks[i].begin(), blocks[i].end());
      tuning_platforms_.push_back(blocks[i][random_.below(blocks[i].size())]);
    }
    if (tuning_platforms_.size() > options.tuning_platforms) tuning_platforms_.resize(options.tuning_platforms);
  }

  // Trains networks without each fold: `pair` and `epochs` get what is best by their forecasts of the fold.
  Status train(PairNetworkOptions& pair, int& epochs) {
    const std::vector<bool> none(static_cast<size_t>(log_times_.rows()), false);
    const uint64_t seed = random_.next();
    double least_error = std::numeric_limits<double>::infinity();
    for (const double noise : options_.fact_noises) {
      PairNetworkOptions tried = options_.pair;
      tried.fact_noise = noise;
      std::vector<std::vector<PairNetwork>> networks;
      networks.reserve(left_out_.size());
      std::vector<ErrorSum> errors(options_.epochs.size());
      for (const std::vector<size_t>& fold : left_out_) {
        auto trained =
            PairNetwork::train(programs_, platforms_, without(fold), log_times_, tried, options_.epochs, seed);
        if (!trained) return trained.error();
        for (size_t i = 0; i < trained->size(); ++i) {
          for (const size_t j : fold) {
            const auto forecast = (*trained)[i].forecast(j);
            if (!forecast) return forecast.error();
            errors[i].add(*forecast, log_times_.col(static_cast<Eigen::Index>(j)), none);
          }
        }
        networks.push_back(std::move(*trained));
      }
      const size_t best = least(errors);
      if (!(errors[best].mean() < least_error)) continue;
      least_error = errors[best].mean();
      pair = tried;
      epochs = options_.epochs[best];
      networks_.clear();
      for (std::vector<PairNetwork>& of_fold : networks) networks_.push_back(std::move(of_fold[best]));
    }
    error_ = least_error;
    surprises_ = Eigen::MatrixXd::Constant(log_times_.rows(), log_times_.cols(), kUnknown);
    for (size_t f = 0; f < left_out_.size(); ++f) {
      for (const size_t j : left_out_[f]) {
        const auto forecast = networks_[f].forecast(j);
        if (!forecast) return forecast.error();
        surprises_.col(static_cast<Eigen::Index>(j)) = log_times_.col(static_cast<Eigen::Index>(j)) - *forecast;
      }
    }
    return {};
  }

  // For each number of measured programs what is best on platforms left out.
  Result<std::map<size_t, FineTuning>> choose_tuning(const std::vector<size_t>& counts) {
    std::vector<FineTuning> tried;
    for (const bool head_alone : {true, false}) {
      for (const float rate : options_.tuning_rates) tried.push_back({head_alone, rate, 0, level_prior()});
    }
    std::map<size_t, FineTuning> chosen;
    for (const size_t count : counts) {
      if (count == 0) continue;
      std::vector<ErrorSum> errors(tried.size() * options_.tuning_steps.size());
      for (const size_t j : tuning_platforms_) {
        const Eigen::VectorXd measured = log_times_.col(static_cast<Eigen::Index>(j));
        const std::vector<Eigen::Index> where = drawn(measured, count);
        if (where.empty()) continue;
        const std::vector<bool> is_seen = marked(where);
        for (size_t t = 0; t < tried.size(); ++t) {
          const auto said =
              networks_[fold_of(j)].fine_tuned(j, where, measured(where), tried[t], options_.tuning_steps);
          if (!said) return said.error();
          for (size_t s = 0; s < said->size(); ++s) {
            errors[t * options_.tuning_steps.size() + s].add((*said)[s], measured, is_seen);
          }
        }
      }
      const size_t best = least(errors);
      tuning_error_[count] = errors[best].mean();
      chosen[count] = tried[best / options_.tuning_steps.size()];
      chosen[count].steps = options_.tuning_steps[best % options_.tuning_steps.size()];
    }
    return chosen;
  }

  // For each number of measured programs the learner of the others' surprises that tells those of a fold best.
  Result<std::map<size_t, ChosenLearner>> choose_learners(const std::vector<size_t>& counts) {
    std::map<size_t, std::vector<ErrorSum>> errors;
    const uint64_t seed = random_.next();
    for (const std::vector<size_t>& fold : left_out_) {
      std::vector<HeadLearner> tried;
      for (const double pull : options_.pulls) {
        HeadLearnerOptions head = options_.head;
        head.pull = pull;
        auto learners = HeadLearner::train(*programs_, surprises_(Eigen::all, without(fold)), counts, head,
                                           options_.outer_steps, seed);
        if (!learners) return learners.error();
        tried.insert(tried.end(), learners->begin(), learners->end());
      }
      for (const size_t j : fold) {
        const Eigen::VectorXd own = surprises_.col(static_cast<Eigen::Index>(j));
        for (const size_t count : counts) {
          const std::vector<Eigen::Index> where = drawn(own, count);
          if (count == 0 || where.empty()) continue;
          const std::vector<bool> is_seen = marked(where);
          std::vector<ErrorSum>& of_count = errors[count];
          of_count.resize(tried.size());
          for (size_t i = 0; i < tried.size(); ++i) of_count[i].add(tried[i].forecast(where, own(where)), own, is_seen);
        }
      }
    }
    std::map<size_t, ChosenLearner> chosen;
    for (const auto& [count, tried] : errors) {
      const size_t best = least(tried);
      chosen[count] = {best / options_.outer_steps.size(), best % options_.outer_steps.size()};
      head_error_[count] = tried[best].mean();
    }
    return chosen;
  }

  std::string in_words(const PairNetworkOptions& pair, int epochs, const std::map<size_t, FineTuning>& tuning,
                       const std::map<size_t, ChosenLearner>& learners) const {
    std::string text = fmt::format("noise {:g}, {} epochs, inner error {:.4f}; level prior {:.2g}; fine-tuning",
                                   pair.fact_noise, epochs, error_, level_prior());
    for (const auto& [count, how] : tuning) {
      text += fmt::format(" {}: {} x {:g} {} ({:.4f})", count, how.steps, how.learning_rate,
                          how.head_alone ? "head" : "all", tuning_error_.at(count));
    }
    text += "; meta-learning";
    for (const auto& [count, how] : learners) {
      text += fmt::format(" {}: {} steps, pull {:g} ({:.4f})", count, options_.outer_steps[how.steps],
                          options_.pulls[how.pull], head_error_.at(count));
    }
    return text;
  }

  // [programs x known] what networks missed on platforms that they were not trained on.
  Eigen::MatrixXd surprises() const { return surprises_(Eigen::all, known_); }

 private:
  static size_t least(const std::vector<ErrorSum>& errors) {
    size_t best = 0;
    for (size_t i = 1; i < errors.size(); ++i) {
      if (errors[i].mean() < errors[best].mean()) best = i;
    }
    return best;
  }

  // How many programs weigh as much as that a platform is as its facts say: the variance of surprises about a
  // platform's mean over that of the means.
  double level_prior() const {
    double within = 0, entries = 0, between = 0, platforms = 0;
    for (const size_t j : known_) {
      const auto column = surprises_.col(static_cast<Eigen::Index>(j));
      std::vector<double> own;
      for (Eigen::Index p = 0; p < column.size(); ++p) {
        if (!std::isnan(column(p))) own.push_back(std::clamp(column(p), -kWorstError, kWorstError));
      }
      if (own.size() < 2) continue;
      const double level = mean(own);
      for (const double value : own) within += (value - level) * (value - level);
      entries += static_cast<double>(own.size());
      between += level * level;
      ++platforms;
    }
    if (platforms == 0 || !(between > 0)) return 1;
    return within / entries / (between / platforms);
  }

  std::vector<size_t> without(const std::vector<size_t>& fold) const {
    std::vector<size_t> others;
    for (const size_t j : known_) {
      if (std::find(fold.begin(), fold.end(), j) == fold.end()) others.push_back(j);
    }
    return others;
  }

  std::vector<bool> marked(const std::vector<Eigen::Index>& where) const {
    std::vector<bool> result(static_cast<size_t>(log_times_.rows()), false);
    for (const Eigen::Index p : where) result[static_cast<size_t>(p)] = true;
    return result;
  }

  size_t fold_of(size_t platform) const {
    size_t fold = 0;
    while (std::find(left_out_[fold].begin(), left_out_[fold].end(), platform) == left_out_[fold].end()) ++fold;
    return fold;
  }

  // So many of the programs that have a number; none where there aren't more.
  std::vector<Eigen::Index> drawn(const Eigen::VectorXd& measured, size_t count) {
    std::vector<Eigen::Index> order;
    for (Eigen::Index p = 0; p < measured.size(); ++p) {
      if (!std::isnan(measured(p))) order.push_back(p);
    }
    if (count >= order.size()) return {};
    random_.shuffle(order);
    order.resize(count);
    return order;
  }

  const std::shared_ptr<const RowMatrixF>& programs_;
  const std::vector<Platform>& platforms_;
  const std::vector<size_t>& known_;
  const Eigen::MatrixXd& log_times_;
  const NetworkOptions& options_;
  Random random_;
  std::vector<std::vector<size_t>> left_out_;
  std::vector<size_t> tuning_platforms_;
  std::vector<PairNetwork> networks_;  // by fold, trained without it
  Eigen::MatrixXd surprises_;          // [programs x platforms]
  double error_ = 0;                   // of what was chosen, on the inner folds; the same by number of programs
  std::map<size_t, double> tuning_error_, head_error_;
};

}  // namespace

RowMatrixF network_inputs(const TrainingTable& table) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  const StandardisedInputs inputs = StandardisedInputs::fit(table, Eigen::VectorXd::Ones(programs));
  const Eigen::MatrixXd rows = inputs.rows(profiles_of(table));
  if (programs > kMostNamed) return rows.cast<float>();
  RowMatrixF named(programs, rows.cols() + programs);
  named << rows.cast<float>(), RowMatrixF::Identity(programs, programs);
  return named;
}

TransferNetworks::TransferNetworks(PairNetwork network, std::map<size_t, FineTuning> tuning,
                                   std::map<size_t, HeadLearner> learners, std::shared_ptr<const std::string> chosen)
    : network_(std::move(network)),
      tuning_(std::move(tuning)),
      learners_(std::move(learners)),
      chosen_(std::move(chosen)) {}

Result<std::vector<TransferNetworks>> TransferNetworks::learn(
    const std::shared_ptr<const RowMatrixF>& programs, const std::vector<Platform>& platforms,
    const std::vector<size_t>& known, const Eigen::MatrixXd& log_times, const std::vector<size_t>& counts,
    const NetworkOptions& options, const std::vector<uint64_t>& seeds) {
  InnerFolds folds(programs, platforms, known, log_times, options);
  PairNetworkOptions pair;
  int epochs = 0;
  if (Status status = folds.train(pair, epochs); !status) return status.error();
  const auto tuning = folds.choose_tuning(counts);
  if (!tuning) return tuning.error();
  const auto chosen = folds.choose_learners(counts);
  if (!chosen) return chosen.error();
  const auto words = std::make_shared<const std::string>(folds.in_words(pair, epochs, *tuning, *chosen));
  std::vector<TransferNetworks> result;
  result.reserve(seeds.size());
  for (const uint64_t seed : seeds) {
    auto network = PairNetwork::train(programs, platforms, known, log_times, pair, {epochs}, seed);
    if (!network) return network.error();
    std::map<size_t, HeadLearner> learners;
    for (size_t pull = 0; pull < options.pulls.size(); ++pull) {
      HeadLearnerOptions head = options.head;
      head.pull = options.pulls[pull];
      auto trained = HeadLearner::train(*programs, folds.surprises(), counts, head, options.outer_steps, seed);
      if (!trained) return trained.error();
      for (const auto& [count, learner] : *chosen) {
        if (learner.pull == pull) learners.insert_or_assign(count, (*trained)[learner.steps]);
      }
    }
    result.push_back(TransferNetworks(std::move(network->front()), *tuning, std::move(learners), words));
  }
  return result;
}

Result<Eigen::VectorXd> TransferNetworks::fine_tuned(size_t platform, const std::vector<Eigen::Index>& where,
                                                     const Eigen::VectorXd& log_times) const {
  auto found = tuning_.upper_bound(where.size());
  if (found == tuning_.begin()) return network_.forecast(platform);
  --found;
  auto said = network_.fine_tuned(platform, where, log_times, found->second, {found->second.steps});
  if (!said) return said.error();
  return std::move(said->front());
}

Result<Eigen::VectorXd> TransferNetworks::meta_learnt(size_t platform, const std::vector<Eigen::Index>& where,
                                                      const Eigen::VectorXd& log_times) const {
  auto said = network_.forecast(platform);
  auto found = learners_.upper_bound(where.size());
  if (!said || found == learners_.begin()) return said;
  --found;
  const Eigen::VectorXd surprises = log_times - (*said)(where);
  *said += found->second.forecast(where, surprises);
  return said;
}

}  // namespace perfcast::program::adapt_study
