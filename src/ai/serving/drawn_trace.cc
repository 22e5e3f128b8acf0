#include "ai/serving/drawn_trace.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace perfcast::ai {
namespace {

constexpr double kMostDrawn = 1 << 30;
constexpr int64_t kBlock = 16;

// Of mean 1 and variance 1 / shape (Marsaglia & Tsang 2000).
double gamma_of_mean_1(Random& random, double shape) {
  double boost = 1;
  double least = shape;
  if (shape < 1) {  // a variate of shape + 1 times a power of a uniform one
    boost = std::pow(1 - random.uniform(), 1 / shape);
    least = shape + 1;
  }
  const double d = least - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return boost * d * v / shape;
  }
}

// A shared prefix and a conversation's own blocks have names of their own.
class Prefixes {
 public:
  Prefixes(ServingTrace& trace, int64_t shared_tokens) : trace_(trace), shared_(shared_tokens / kBlock) {}

  // Blocks of a conversation that comes to so many tokens: turns take their first ones.
  uint32_t add(int64_t tokens) {
    const auto begin = static_cast<uint32_t>(trace_.hashes.size());
    for (int64_t block = 0; block < tokens / kBlock; ++block) {
      trace_.hashes.push_back(block < shared_ ? static_cast<uint64_t>(block) : own_++);
    }
    return begin;
  }

 private:
  ServingTrace& trace_;
  int64_t shared_;
  uint64_t own_ = uint64_t{1} << 40;
};

}  // namespace

ServingTrace draw_trace(const TraceShape& shape) {
  ServingTrace trace;
  trace.hash_block_tokens = kBlock;
  trace.requests.reserve(static_cast<size_t>(shape.requests));
  Random random(2 * shape.seed);
  const auto length = [&](double mean) {
    // So that the mean of the lognormal distribution is the one that was asked for.
    const double log_mean = std::log(mean) - shape.log_spread * shape.log_spread / 2;
    const double drawn = shape.log_spread > 0 ? std::exp(log_mean + shape.log_spread * random.normal()) : mean;
    return std::llround(std::clamp(drawn, 1.0, kMostDrawn));
  };
  Prefixes prefixes(trace, shape.shared_tokens);
  const uint32_t shared_begin = prefixes.add(shape.shared_tokens);
  const auto left = [&] { return shape.requests - static_cast<int64_t>(trace.requests.size()); };
  while (left() > 0) {
    const size_t first = trace.requests.size();
    int64_t said = 0;  // before the turn
    for (int64_t turn = 0, turns = std::min(shape.turns, left()); turn < turns; ++turn) {
      ServingRequest& request = trace.requests.emplace_back();
      request.prompt_tokens = std::min<int64_t>(said + length(shape.prompt_tokens), int64_t{1} << 30);
      request.output_tokens = length(shape.output_tokens);
      said = request.prompt_tokens + request.output_tokens;
      if (turn == 0) continue;
      request.after = static_cast<int32_t>(trace.requests.size()) - 2;
      request.arrival_s = shape.think_s;
    }
    // A conversation's last output is nobody's prefix.
    const bool has_turns = trace.requests.size() - first > 1;
    const uint32_t begin = has_turns ? prefixes.add(trace.requests.back().prompt_tokens) : shared_begin;
    const auto blocks = static_cast<int64_t>(trace.hashes.size() - begin);
    for (size_t i = first; i < trace.requests.size(); ++i) {
      ServingRequest& request = trace.requests[i];
      const int64_t own = has_turns ? request.prompt_tokens + request.output_tokens
                                    : std::min(request.prompt_tokens, shape.shared_tokens);
      request.prefix = {begin, static_cast<uint32_t>(std::min(own / kBlock, blocks))};
    }
  }
  if (shape.rate_per_s > 0) draw_arrivals(trace, shape.rate_per_s, shape.burst, shape.seed);
  return trace;
}

void draw_arrivals(ServingTrace& trace, double rate_per_s, double burst, uint64_t seed) {
  Random random(2 * seed + 1);
  double at_s = 0;
  for (ServingRequest& request : trace.requests) {
    if (request.after >= 0) continue;
    request.arrival_s = at_s;
    at_s += (burst > 0 ? gamma_of_mean_1(random, 1 / burst) : 1) / rate_per_s;
  }
}

}  // namespace perfcast::ai
