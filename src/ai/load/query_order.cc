#include "ai/load/query_order.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace perfcast::ai {
namespace {

constexpr double kOfflineSlack = 1.1, kEqualIssueSlack = 2.0;

std::vector<uint32_t> shuffled_multiples(int64_t count, int64_t stride, std::mt19937& random) {
  std::vector<uint32_t> indices;
  indices.reserve(static_cast<size_t>(count / stride + 1));
  for (int64_t i = 0; i < count; i += stride) indices.push_back(static_cast<uint32_t>(i));
  std::shuffle(indices.begin(), indices.end(), random);
  return indices;
}

// Permutations of [0, size), each made from the last one, until they are `least` numbers together. `keep`: otherwise
// only the random numbers are used up.
std::vector<uint32_t> permutations_of(size_t size, int64_t least, bool keep, std::mt19937& random) {
  std::vector<uint32_t> order(size), all;
  std::iota(order.begin(), order.end(), 0u);
  if (keep) all.reserve(static_cast<size_t>(least) + size);
  for (int64_t made = 0; made < least; made += static_cast<int64_t>(size)) {
    std::shuffle(order.begin(), order.end(), random);
    if (keep) all.insert(all.end(), order.begin(), order.end());
  }
  return all;
}

int64_t in_ms(double duration_s) { return static_cast<int64_t>(duration_s * 1e3); }

}  // namespace

std::vector<std::vector<uint32_t>> sample_sets(const LoadSettings& settings) {
  const bool all = settings.mode == LoadMode::kAccuracy;
  const auto count = static_cast<size_t>(all ? settings.total_samples : settings.loaded_samples);
  const auto set_size = static_cast<size_t>(settings.loaded_samples);
  std::mt19937 random(settings.seeds.data_set);
  std::vector<uint32_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0u);
  std::shuffle(samples.begin(), samples.end(), random);
  std::vector<std::vector<uint32_t>> sets;
  sets.reserve(count / set_size + 1);
  for (size_t from = 0; from < count; from += set_size) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(from);
    sets.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(set_size, count - from)));
  }
  return sets;
}

QueryOrder::QueryOrder(const LoadSettings& settings, std::vector<uint32_t> loaded)
    : settings_(settings),
      loaded_(std::move(loaded)),
      drawn_from_(static_cast<int64_t>(loaded_.size())),
      sample_random_(settings.seeds.sample_order),
      schedule_random_(settings.seeds.schedule),
      index_(0, static_cast<int>(loaded_.size()) - 1),
      gap_s_(settings.target_qps) {
  const bool multi = settings.scenario == LoadScenario::kMultiStream;
  const bool offline = settings.scenario == LoadScenario::kOffline;
  const bool accuracy = settings.mode == LoadMode::kAccuracy;
  const int64_t duration_ms = in_ms(settings.min_duration_s);
  const double duration_s = static_cast<double>(duration_ms) / 1e3;
  if (multi) {
    samples_per_query_ = settings.samples_per_query;
    for (int64_t i = 0; i + 1 < samples_per_query_; ++i) loaded_.push_back(loaded_[static_cast<size_t>(i)]);
  }
  least_queries_ = settings.min_queries;
  duration_ns_ = duration_ms * 1'000'000;
  if (offline) {
    samples_per_query_ =
        std::max(least_queries_, static_cast<int64_t>(kOfflineSlack * duration_s * settings.target_qps));
    least_queries_ = 1;
    duration_ns_ = 0;
  } else if (settings.equal_issue && settings.scenario == LoadScenario::kSingleStream) {
    least_queries_ =
        std::max(least_queries_, static_cast<int64_t>(kEqualIssueSlack * duration_s * settings.target_qps));
    least_queries_ += settings.loaded_samples - least_queries_ % settings.loaded_samples;
  }
  const auto set_size = static_cast<int64_t>(loaded_.size());
  if (accuracy) {
    if (offline) samples_per_query_ = drawn_from_;
    duration_ns_ = 0;
    least_queries_ = set_size / samples_per_query_;
  }
  const int64_t stride = multi ? samples_per_query_ : 1;
  if (accuracy) once_ = shuffled_multiples(drawn_from_, stride, sample_random_);
  (void)shuffled_multiples(drawn_from_, stride, sample_random_);
  permutations_ = permutations_of(loaded_.size(), least_queries_, settings.equal_issue, sample_random_);
  if (!settings.equal_issue || accuracy) return;
  if (offline) {
    if (samples_per_query_ % set_size != 0) samples_per_query_ += set_size - samples_per_query_ % set_size;
  } else if (least_queries_ % set_size != 0) {
    least_queries_ += set_size - least_queries_ % set_size;
  }
}

bool QueryOrder::is_over() const {
  if (settings_.mode == LoadMode::kPerformance &&
      (settings_.scenario == LoadScenario::kSingleStream || settings_.scenario == LoadScenario::kMultiStream ||
       settings_.scenario == LoadScenario::kConcurrency)) {
    return false;
  }
  return last_due_ns_ >= duration_ns_ && queries_ >= least_queries_;
}

int64_t QueryOrder::draw_gap_ns() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(gap_s_(schedule_random_))).count();
}

void QueryOrder::fill_offline(std::vector<uint32_t>& samples) {
  const size_t set = loaded_.size(), count = samples.size(), repeats = count / set;
  for (size_t i = 0; i < repeats; ++i) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(i * set);
    std::copy(loaded_.begin(), loaded_.end(), begin);
    if (settings_.equal_issue) std::shuffle(begin, begin + static_cast<std::ptrdiff_t>(set), sample_random_);
  }
  std::copy(loaded_.begin(), loaded_.begin() + static_cast<std::ptrdiff_t>(count % set),
            samples.begin() + static_cast<std::ptrdiff_t>(repeats * set));
}

bool QueryOrder::next(std::vector<uint32_t>& samples, int64_t& due_ns) {
  if (is_over()) return false;
  samples.resize(static_cast<size_t>(samples_per_query_));
  const bool accuracy = settings_.mode == LoadMode::kAccuracy;
  const auto begin = [&] {
    const bool equal = settings_.equal_issue && settings_.scenario != LoadScenario::kMultiStream;
    if (equal) return permutations_[static_cast<size_t>(queries_) % permutations_.size()];
    return accuracy ? once_[static_cast<size_t>(queries_)] : static_cast<uint32_t>(index_(sample_random_));
  };
  if (settings_.scenario == LoadScenario::kOffline) {
    fill_offline(samples);
  } else {
    const uint32_t first = begin();
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = loaded_[first + i];
  }
  due_ns = last_due_ns_ = due_ns_;
  ++queries_;
  if (settings_.scenario == LoadScenario::kServer) due_ns_ += draw_gap_ns();
  const bool goes_on = settings_.equal_issue && !accuracy && settings_.scenario == LoadScenario::kServer;
  if (goes_on && queries_ >= least_queries_ && last_due_ns_ < duration_ns_) {
    least_queries_ += static_cast<int64_t>(loaded_.size());
  }
  return true;
}

}  // namespace perfcast::ai
