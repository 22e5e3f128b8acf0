#include "ai/bench/saturation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace perfcast::ai {
namespace {

constexpr int64_t kLeastAnswers = 20;
constexpr double kLeastBehind = 0.05, kLeastRatio = 1.3, kDeviations = 2;
constexpr double kShortShare = 0.25;  // of a run that an answer takes before a queue can have grown
constexpr size_t kFirstOnes = 3, kFirstShare = 20;

// The quickest of the first requests, which meet no queue yet.
double first_latency(const LoadResult& result, size_t count) {
  std::vector<std::pair<int64_t, int64_t>> by_due(count);
  for (size_t i = 0; i < count; ++i) by_due[i] = {result.due_ns[i], result.latencies_ns[i]};
  const size_t first = std::max(kFirstOnes, count / kFirstShare);
  std::partial_sort(by_due.begin(), by_due.begin() + static_cast<std::ptrdiff_t>(first), by_due.end());
  int64_t least = by_due.front().second;
  for (size_t i = 0; i < first; ++i) least = std::min(least, by_due[i].second);
  return static_cast<double>(least);
}

}  // namespace

bool QueueTrend::grows() const {
  if (is_too_short) return false;
  const double chance = kDeviations * std::sqrt(std::max(early, 1.0));
  return behind_share > kLeastBehind && late > kLeastRatio * early && late - early > chance;
}

std::optional<QueueTrend> queue_trend(const LoadResult& result) {
  const auto end_ns = static_cast<double>(result.last_due_ns);
  const size_t count = std::min(result.due_ns.size(), result.latencies_ns.size());
  if (end_ns <= 0 || static_cast<int64_t>(count) < kLeastAnswers) return std::nullopt;
  QueueTrend trend;
  double came = 0, behind = 0;
  const auto overlap = [](double from, double to, double low, double high) {
    return std::max(std::min(to, high) - std::max(from, low), 0.0);
  };
  for (size_t i = 0; i < count; ++i) {
    const auto due = static_cast<double>(result.due_ns[i]);
    const double answered = due + static_cast<double>(result.latencies_ns[i]);
    trend.early += overlap(due, answered, end_ns / 4, end_ns / 2);
    trend.late += overlap(due, answered, 3 * end_ns / 4, end_ns);
    came += due > end_ns / 2 ? 1 : 0;
    behind += due <= end_ns && answered > end_ns ? 1 : 0;
    behind -= due <= end_ns / 2 && answered > end_ns / 2 ? 1 : 0;
  }
  trend.early /= end_ns / 4;
  trend.late /= end_ns / 4;
  trend.behind_share = came > 0 ? behind / came : 0;
  trend.is_too_short = first_latency(result, count) > kShortShare * end_ns;
  return trend;
}

double answers_per_s(const LoadResult& result) {
  const auto end_ns =
      static_cast<double>(is_timed(result.settings.scenario) ? result.last_due_ns : result.last_issued_ns);
  const size_t count = std::min(result.due_ns.size(), result.latencies_ns.size());
  // Hardly anything is answered before the last request where clients ask only once.
  const LoadSettings& settings = result.settings;
  if (settings.scenario == LoadScenario::kConcurrency && result.samples < 2 * settings.concurrency) {
    return result.end_ns > 0 ? static_cast<double>(count) / (static_cast<double>(result.end_ns) * 1e-9) : 0;
  }
  if (end_ns <= 0 || count == 0) return 0;
  int64_t answered = 0;
  for (size_t i = 0; i < count; ++i) {
    answered += static_cast<double>(result.due_ns[i] + result.latencies_ns[i]) <= end_ns ? 1 : 0;
  }
  return static_cast<double>(answered) / (end_ns * 1e-9);
}

bool has_grown(double load_before, double rate_before, double load, double rate) {
  if (load <= load_before || rate_before <= 0) return true;  // nothing to compare with
  return rate > 0 && std::log(rate / rate_before) >= kLeastGrowth * std::log(load / load_before);
}

}  // namespace perfcast::ai
