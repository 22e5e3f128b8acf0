#pragma once
// Expected improvement by Gaussian processes (Jones, Schonlau and Welch, Journal of Global Optimization 13, 1998): of
// the logarithm of the cost, averaged over several models drawn from the posterior, times the chance that the setting
// doesn't fail, of which other processes learn.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "measure/tune/search/process_model.h"
#include "measure/tune/search/strategy.h"

namespace perfcast::measure {

class SurrogateSearch : public Strategy {
 public:
  SurrogateSearch(Candidates& candidates, size_t trials, uint64_t seed);
  std::optional<size_t> next() override;
  void tell(size_t candidate, std::optional<double> cost) override;

 private:
  struct Observation {
    size_t candidate = 0;
    std::optional<double> log_cost;
  };
  size_t initial_trials() const;
  std::optional<size_t> far_from_all();
  void standardise();
  double target_of(double log_cost) const;
  void look_beside_best();
  std::vector<size_t> best_first() const;  // places in told_ of those that did not fail
  void choose_pool();
  std::vector<size_t> chosen_for_fit(const std::vector<size_t>& places) const;
  void refit();
  void catch_up();
  std::optional<size_t> most_promising();
  double chance_of_success(size_t place) const;
  bool is_told(size_t candidate) const { return place_of_.contains(candidate); }

  Candidates& candidates_;
  size_t trials_;
  Random random_;
  std::vector<Observation> told_;
  std::unordered_map<size_t, size_t> place_of_;  // candidate -> place in told_
  size_t failed_ = 0;

  std::vector<ProcessModel> models_, success_models_;
  std::vector<size_t> pool_;
  double centre_ = 0, spread_ = 1, success_centre_ = 0;
  size_t fitted_ = 0;    // observations that the models hold
  size_t refit_at_ = 0;  // how many observations call for new shapes
  bool stale_ = true;    // something that the models hold was corrected
};

}  // namespace perfcast::measure
