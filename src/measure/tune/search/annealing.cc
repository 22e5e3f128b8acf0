#include "measure/tune/search/annealing.h"

#include <cmath>
#include <cstdlib>

namespace perfcast::measure {
namespace {

constexpr double kCooling = 0.995;
constexpr double kCoolest = 0.001;
constexpr double kSingleKnobShare = 0.2;
constexpr int kMostKnownMoves = 100;

bool is_strictly_adjacent(std::span<const int16_t> a, std::span<const int16_t> b) {
  for (size_t knob = 0; knob < a.size(); ++knob) {
    if (std::abs(a[knob] - b[knob]) > 1) return false;
  }
  return true;
}

}  // namespace

Annealing::Annealing(const Candidates& candidates, size_t trials, uint64_t seed)
    : candidates_(candidates), trials_(static_cast<double>(trials)), random_(seed) {}

double Annealing::temperature() const {
  const double steps = std::ceil(std::log(kCoolest) / std::log(kCooling));
  const double pace = trials_ > 0 && trials_ < steps ? steps / trials_ : 1;
  return std::pow(kCooling, pace * static_cast<double>(known_.size()));
}

size_t Annealing::neighbour(size_t of) {
  const bool single = random_.uniform() < kSingleKnobShare;
  std::vector<size_t> near;
  for (size_t other = 0; other < candidates_.size(); ++other) {
    if (other == of) continue;
    if (single ? candidates_.differing_knobs(of, other) == 1
               : is_strictly_adjacent(candidates_.levels(of), candidates_.levels(other)))
      near.push_back(other);
  }
  return near.empty() ? random_.below(candidates_.size()) : near[random_.below(near.size())];
}

void Annealing::move_to(size_t candidate, std::optional<double> cost) {
  bool accept = true;
  if (at_ && cost_) {
    accept = cost && (*cost < *cost_ || std::exp((*cost_ - *cost) / *cost_ / temperature()) > random_.uniform());
  }
  if (!accept) return;
  at_ = candidate;
  cost_ = cost;
}

std::optional<size_t> Annealing::next() {
  if (proposed_) return proposed_;
  if (known_.size() >= candidates_.size()) return std::nullopt;
  while (true) {
    if (known_moves_ > kMostKnownMoves) {
      at_.reset();
      known_moves_ = 0;
    }
    const size_t candidate = at_ ? neighbour(*at_) : random_.below(candidates_.size());
    const auto found = known_.find(candidate);
    if (found == known_.end()) {
      known_moves_ = 0;
      return proposed_ = candidate;
    }
    ++known_moves_;
    move_to(candidate, found->second);
  }
}

void Annealing::tell(size_t candidate, std::optional<double> cost) {
  known_[candidate] = cost;
  if (proposed_ == candidate) {
    proposed_.reset();
    move_to(candidate, cost);
  } else if (at_ == candidate) {
    cost_ = cost;
  }
}

}  // namespace perfcast::measure
