#include "measure/tune/search/surrogate_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perfcast::measure {
namespace {

constexpr size_t kFewestInitial = 4, kMostInitial = 12;
constexpr size_t kInitialDraws = 30;        // of which the farthest is taken
constexpr size_t kManyObservations = 300;   // more than these are thinned before models are fitted
constexpr size_t kShapeObservations = 150;  // by which shapes are drawn
constexpr double kPoolWork = 6e8;           // multiplications of a refit, about
constexpr size_t kSmallestPool = 2000;
constexpr size_t kBesideBest = 5;
constexpr double kLeastSpread = 1e-3;

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
double normal_share(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double expected_improvement(double gain, double deviation) {
  const double u = gain / deviation;
  return deviation * (u * normal_share(u) + normal_density(u));
}

// The further the trials went, the fewer models stand for all, the fewer steps they need from the last time.
size_t models_for(size_t observations) { return observations < 60 ? 8 : observations < 150 ? 4 : 2; }
int steps_for(size_t observations) { return observations < 30 ? 60 : observations < 60 ? 40 : 25; }
size_t next_refit(size_t observations) {
  return observations < 30 ? observations + 1 : observations + std::max<size_t>(observations / 12, 2);
}

}  // namespace

SurrogateSearch::SurrogateSearch(Candidates& candidates, size_t trials, uint64_t seed)
    : candidates_(candidates), trials_(trials), random_(seed) {}

size_t SurrogateSearch::initial_trials() const {
  const size_t wanted = std::clamp(candidates_.knobs() + 1, kFewestInitial, kMostInitial);
  return trials_ > 0 ? std::min(wanted, std::max<size_t>(trials_ / 4, 3)) : wanted;
}

void SurrogateSearch::tell(size_t candidate, std::optional<double> cost) {
  std::optional<double> log_cost;
  if (cost && *cost > 0) log_cost = std::log(*cost);
  const auto [place, is_new] = place_of_.try_emplace(candidate, told_.size());
  if (is_new) {
    told_.push_back({candidate, log_cost});
  } else {
    if (!told_[place->second].log_cost) --failed_;
    told_[place->second].log_cost = log_cost;
    stale_ = true;
  }
  if (!log_cost) ++failed_;
}

std::optional<size_t> SurrogateSearch::far_from_all() {
  std::optional<size_t> best;
  double best_distance = -1;
  for (size_t draw = 0; draw < kInitialDraws * 20 && (draw < kInitialDraws || !best); ++draw) {
    const size_t candidate = random_.below(candidates_.size());
    if (is_told(candidate)) continue;
    double distance = 2;
    for (const Observation& seen : told_)
      distance = std::min(distance, candidates_.distance(candidate, seen.candidate));
    if (distance > best_distance) {
      best = candidate;
      best_distance = distance;
    }
    if (told_.empty()) break;
  }
  for (size_t candidate = 0; candidate < candidates_.size() && !best; ++candidate) {
    if (!is_told(candidate)) best = candidate;
  }
  return best;
}

std::vector<size_t> SurrogateSearch::best_first() const {
  std::vector<size_t> places;
  for (size_t place = 0; place < told_.size(); ++place) {
    if (told_[place].log_cost) places.push_back(place);
  }
  std::stable_sort(places.begin(), places.end(),
                   [this](size_t a, size_t b) { return *told_[a].log_cost < *told_[b].log_cost; });
  return places;
}

// About the median, in standard deviations. To compress what is slower than the median made it worse on made-up spaces.
void SurrogateSearch::standardise() {
  std::vector<double> costs;
  for (const size_t place : best_first()) costs.push_back(*told_[place].log_cost);
  centre_ = costs.empty() ? 0 : costs[costs.size() / 2];
  spread_ = 1;
  double squares = 0;
  for (const double cost : costs) squares += std::pow(target_of(cost), 2);
  if (!costs.empty()) spread_ = std::max(std::sqrt(squares / static_cast<double>(costs.size())), kLeastSpread);
}

double SurrogateSearch::target_of(double log_cost) const { return (log_cost - centre_) / spread_; }

void SurrogateSearch::look_beside_best() {
  if (!candidates_.more_beside) return;
  const std::vector<size_t> order = best_first();
  for (size_t i = 0; i < std::min(order.size(), kBesideBest); ++i) {
    for (const Setting& near : candidates_.more_beside(candidates_.setting(told_[order[i]].candidate)))
      candidates_.add(near);
  }
}

void SurrogateSearch::choose_pool() {
  const auto n = static_cast<double>(std::min(told_.size(), kManyObservations) + 1);
  const double models = static_cast<double>(models_for(told_.size())) * (failed_ > 0 ? 2 : 1);
  const size_t most = std::max(kSmallestPool, static_cast<size_t>(kPoolWork / (n * n * models)));
  pool_.clear();
  if (candidates_.size() <= most) {
    for (size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
      if (!is_told(candidate)) pool_.push_back(candidate);
    }
    return;
  }
  // What differs from the best in one or two knobs, and others at random.
  std::vector<bool> taken(candidates_.size(), false);
  const auto take = [&](size_t candidate) {
    if (taken[candidate] || is_told(candidate)) return;
    taken[candidate] = true;
    pool_.push_back(candidate);
  };
  const std::vector<size_t> order = best_first();
  for (size_t i = 0; i < std::min(order.size(), kBesideBest); ++i) {
    const size_t best = told_[order[i]].candidate;
    for (size_t candidate = 0; candidate < candidates_.size() && pool_.size() < most / 2; ++candidate) {
      if (candidates_.differing_knobs(best, candidate) <= (i == 0 ? 2U : 1U)) take(candidate);
    }
  }
  for (size_t draw = 0; draw < 3 * most && pool_.size() < most; ++draw) take(random_.below(candidates_.size()));
}

// All, or the better ones and some of the rest.
std::vector<size_t> SurrogateSearch::chosen_for_fit(const std::vector<size_t>& places) const {
  if (places.size() <= kManyObservations) return places;
  constexpr size_t kHalf = kManyObservations / 2;
  std::vector<size_t> chosen(places.begin(), places.begin() + kHalf);
  for (size_t i = 0; i < kHalf; ++i) chosen.push_back(places[kHalf + (places.size() - kHalf) * i / kHalf]);
  return chosen;
}

void SurrogateSearch::refit() {
  look_beside_best();
  standardise();
  choose_pool();
  const auto fit = [this](std::vector<ProcessModel>& models, size_t count, const std::vector<size_t>& places,
                          auto target) {
    while (models.size() < count) {
      models.emplace_back(candidates_);
      models.back().begin(random_);
    }
    models.resize(count, ProcessModel(candidates_));
    std::vector<size_t> observed;
    std::vector<double> targets;
    for (const size_t place : chosen_for_fit(places)) {
      observed.push_back(told_[place].candidate);
      targets.push_back(target(told_[place]));
    }
    std::vector<size_t> of_shape(observed.size());
    std::iota(of_shape.begin(), of_shape.end(), size_t{0});
    if (of_shape.size() > kShapeObservations) {  // the better half surely, of the others a sample
      std::vector<size_t> rest(of_shape.begin() + kShapeObservations / 2, of_shape.end());
      random_.shuffle(rest);
      of_shape.resize(kShapeObservations / 2);
      of_shape.insert(of_shape.end(), rest.begin(), rest.begin() + kShapeObservations / 2);
    }
    std::vector<size_t> shape_observed;
    std::vector<double> shape_targets;
    for (const size_t i : of_shape) {
      shape_observed.push_back(observed[i]);
      shape_targets.push_back(targets[i]);
    }
    std::erase_if(models, [&](ProcessModel& model) {
      model.improve(shape_observed, shape_targets, steps_for(told_.size()), random_);
      return !model.fit(observed, targets, pool_);
    });
  };
  const size_t count = models_for(told_.size());
  fit(models_, count, best_first(), [this](const Observation& seen) { return target_of(*seen.log_cost); });
  if (failed_ > 0) {
    success_centre_ = 1 - 2 * static_cast<double>(failed_) / static_cast<double>(told_.size());
    std::vector<size_t> all(told_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    std::stable_sort(all.begin(), all.end(), [this](size_t a, size_t b) {
      return told_[a].log_cost && (!told_[b].log_cost || *told_[a].log_cost < *told_[b].log_cost);
    });
    fit(success_models_, std::max<size_t>(count / 2, 1), all,
        [this](const Observation& seen) { return (seen.log_cost ? 1 : -1) - success_centre_; });
  }
  fitted_ = told_.size();
  refit_at_ = next_refit(fitted_);
  stale_ = false;
}

void SurrogateSearch::catch_up() {
  if (stale_ || told_.size() >= refit_at_ || models_.empty() || (failed_ > 0 && success_models_.empty())) {
    refit();
    return;
  }
  for (; fitted_ < told_.size(); ++fitted_) {
    const Observation& seen = told_[fitted_];
    if (seen.log_cost) {
      const double target = target_of(*seen.log_cost);
      std::erase_if(models_, [&](ProcessModel& model) { return !model.add(seen.candidate, target); });
    }
    const double label = (seen.log_cost ? 1 : -1) - success_centre_;
    std::erase_if(success_models_, [&](ProcessModel& model) { return !model.add(seen.candidate, label); });
  }
  if (models_.empty() || (failed_ > 0 && success_models_.empty())) refit();
}

double SurrogateSearch::chance_of_success(size_t place) const {
  if (failed_ == 0 || success_models_.empty()) return 1;
  double sum = 0;
  for (const ProcessModel& model : success_models_) {
    const double deviation = std::hypot(static_cast<double>(model.deviation(place)), model.noise_deviation());
    sum += normal_share((success_centre_ + static_cast<double>(model.means()[static_cast<Eigen::Index>(place)])) /
                        deviation);
  }
  return sum / static_cast<double>(success_models_.size());
}

std::optional<size_t> SurrogateSearch::most_promising() {
  const std::vector<size_t> order = best_first();
  // The best by what the models make of it would be safer under noise; the caller measures the best again instead.
  const double best = order.empty() ? 0 : target_of(*told_[order.front()].log_cost);
  std::optional<size_t> chosen;
  double most = -1;
  for (size_t place = 0; place < pool_.size(); ++place) {
    if (is_told(pool_[place])) continue;
    double value = 0;
    for (const ProcessModel& model : models_) {
      const auto deviation = static_cast<double>(model.deviation(place));
      value += order.empty()
                   ? deviation
                   : expected_improvement(best - static_cast<double>(model.means()[static_cast<Eigen::Index>(place)]),
                                          deviation);
    }
    if (value <= most) continue;  // a chance is at most 1
    // Squared: what probably fails costs a trial and teaches little of what is wanted.
    value *= std::pow(chance_of_success(place), 2);
    if (value > most) {
      most = value;
      chosen = pool_[place];
    }
  }
  return chosen;
}

std::optional<size_t> SurrogateSearch::next() {
  if (told_.size() >= candidates_.size() && !candidates_.more_beside) return std::nullopt;
  if (told_.size() < initial_trials()) return far_from_all();
  catch_up();
  const auto chosen = most_promising();
  return chosen ? chosen : far_from_all();
}

}  // namespace perfcast::measure
