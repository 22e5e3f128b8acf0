#pragma once
// Simulated annealing with the moves and the cooling that Kernel Tuner has (van Werkhoven, Future Generation Computer
// Systems 90, 2019, and its strategy simulated_annealing): a neighbour is one that differs in a single knob (one move
// in five), or one whose knobs all lie at most one level away; a worse one is accepted with exp((old - new) / old / T);
// T falls by 0.995 a step from 1 to 0.001, faster where fewer trials are to be had; failed ones are left at once and
// not entered; after 100 moves to settings that are known it starts anew elsewhere. What was tried before costs no
// trial.

#include <unordered_map>

#include "base/random.h"
#include "measure/tune/search/strategy.h"

namespace perfcast::measure {

class Annealing : public Strategy {
 public:
  Annealing(const Candidates& candidates, size_t trials, uint64_t seed);
  std::optional<size_t> next() override;
  void tell(size_t candidate, std::optional<double> cost) override;

 private:
  size_t neighbour(size_t of);
  void move_to(size_t candidate, std::optional<double> cost);
  double temperature() const;

  const Candidates& candidates_;
  double trials_;
  Random random_;
  std::unordered_map<size_t, std::optional<double>> known_;
  std::optional<size_t> at_, proposed_;
  std::optional<double> cost_;  // of at_
  int known_moves_ = 0;
};

}  // namespace perfcast::measure
