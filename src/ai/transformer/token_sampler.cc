#include "ai/transformer/token_sampler.h"

#include <algorithm>
#include <cmath>

#include "ai/transformer/kernel/transformer_kernels.h"

namespace perfcast::ai {
int32_t TokenSampler::choose(std::span<const float> logits) {
  if (!(settings_.temperature > 0)) {
    const auto count = static_cast<int64_t>(logits.size());
    return static_cast<int32_t>(transformer_kernels().front()->first_largest(logits.data(), count));
  }
  ranked_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isnan(logits[i])) ranked_.emplace_back(logits[i], static_cast<int32_t>(i));
  }
  if (ranked_.empty()) return 0;
  const auto before = [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  if (settings_.top > 0 && settings_.top < static_cast<int64_t>(ranked_.size())) {
    const auto end = ranked_.begin() + settings_.top;
    std::nth_element(ranked_.begin(), end, ranked_.end(), before);
    ranked_.erase(end, ranked_.end());
    std::sort(ranked_.begin(), ranked_.end(), before);
  }
  const double largest = std::max_element(ranked_.begin(), ranked_.end(), [](const auto& a, const auto& b) {
                           return a.first < b.first;
                         })->first;
  const auto weight = [&](float logit) { return std::exp((logit - largest) / settings_.temperature); };
  double sum = 0;
  for (const auto& [logit, token] : ranked_) sum += weight(logit);
  double left = random_.uniform() * sum;
  for (const auto& [logit, token] : ranked_) {
    left -= weight(logit);
    if (left < 0) return token;
  }
  return ranked_.back().second;
}

}  // namespace perfcast::ai
