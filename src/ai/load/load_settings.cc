#include "ai/load/load_settings.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

struct ScenarioName {
  LoadScenario scenario;
  const char* name;
  const char* field;
};
constexpr size_t kFieldScenarios = 4;  // the first ones
constexpr std::array<ScenarioName, 6> kScenarios = {{{LoadScenario::kSingleStream, "single-stream", "SingleStream"},
                                                     {LoadScenario::kMultiStream, "multi-stream", "MultiStream"},
                                                     {LoadScenario::kServer, "server", "Server"},
                                                     {LoadScenario::kOffline, "offline", "Offline"},
                                                     {LoadScenario::kConcurrency, "concurrency", "Concurrency"},
                                                     {LoadScenario::kTrace, "trace", "Trace"}}};

Error bad_setting(const std::string& field, const std::string& found, const std::string& expected) {
  return usage_error("bad-usage", found, field, expected);
}

}  // namespace

std::string to_string(LoadScenario scenario) { return kScenarios[static_cast<size_t>(scenario)].name; }
std::string field_name(LoadScenario scenario) { return kScenarios[static_cast<size_t>(scenario)].field; }

std::optional<LoadScenario> scenario_named(std::string_view name) {
  for (size_t i = 0; i < kFieldScenarios; ++i) {
    if (name == kScenarios[i].name || name == kScenarios[i].field) return kScenarios[i].scenario;
  }
  return std::nullopt;
}

std::string field_name(LoadMode mode) { return mode == LoadMode::kAccuracy ? "AccuracyOnly" : "PerformanceOnly"; }

LoadSeeds seeds_from(uint64_t seed) {
  Random random(seed);
  LoadSeeds seeds;
  seeds.data_set = random.next();
  seeds.sample_order = random.next();
  seeds.schedule = random.next();
  return seeds;
}

namespace {

Status check_plan(const LoadSettings& settings) {
  const bool takes_plan = settings.scenario == LoadScenario::kTrace || settings.scenario == LoadScenario::kConcurrency;
  if (settings.scenario == LoadScenario::kTrace && settings.plan == nullptr) {
    return bad_setting("plan", "a trace without queries", "at least one");
  }
  if (settings.plan == nullptr) return {};
  const LoadPlan& plan = *settings.plan;
  if (!takes_plan || plan.empty() || plan.size() != static_cast<size_t>(settings.loaded_samples)) {
    return bad_setting("plan", std::to_string(plan.size()) + " planned queries",
                       "as many as there are samples, " + std::to_string(settings.loaded_samples));
  }
  double before_s = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    const PlannedQuery& query = plan[i];
    const bool is_first = query.after < 0;
    const bool fits = std::isfinite(query.at_s) && query.at_s >= (is_first ? before_s : 0) && query.at_s <= 1e9 &&
                      query.after < static_cast<int64_t>(i);
    if (!fits) return bad_setting("plan", "query " + std::to_string(i) + " out of order", "times that don't decrease");
    if (is_first) before_s = query.at_s;
  }
  return {};
}

}  // namespace

Status check(const LoadSettings& settings) {
  const auto count_within = [](int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; };
  const auto is_time = [](double value) { return std::isfinite(value) && value >= 0 && value <= 1e6; };
  // The data set has as many as are loaded where nobody says more.
  if (!count_within(settings.loaded_samples, 1, kMostOutstandingSamples)) {
    return bad_setting("loaded_samples", std::to_string(settings.loaded_samples) + " loaded samples",
                       "1 to " + std::to_string(kMostOutstandingSamples));
  }
  if (!count_within(settings.total_samples, 1, kMostOutstandingSamples)) {
    return bad_setting("total_samples", std::to_string(settings.total_samples) + " samples in the data set",
                       "1 to " + std::to_string(kMostOutstandingSamples));
  }
  if (!count_within(settings.loaded_samples, 1, settings.total_samples)) {
    return bad_setting("loaded_samples", std::to_string(settings.loaded_samples) + " loaded samples",
                       "1 to the size of the data set, " + std::to_string(settings.total_samples));
  }
  if (!std::isfinite(settings.target_qps) || settings.target_qps <= 0 || settings.target_qps > 1e9) {
    return bad_setting("target_qps", "a rate that is not above 0 and at most 1e9 queries/s", "such as 100");
  }
  if (!is_time(settings.min_duration_s)) return bad_setting("min_duration_s", "not a duration", "such as 10s");
  if (!is_time(settings.max_duration_s)) return bad_setting("max_duration_s", "not a duration", "such as 60s");
  if (!std::isfinite(settings.answer_limit_s) || settings.answer_limit_s <= 0) {
    return bad_setting("answer_limit_s", "not a duration", "such as 60s");
  }
  if (!count_within(settings.min_queries, 1, kMostLoadSamples)) {
    return bad_setting("min_queries", std::to_string(settings.min_queries) + " queries at least",
                       "1 to " + std::to_string(kMostLoadSamples));
  }
  if (!count_within(settings.max_queries, 0, kMostLoadSamples)) {
    return bad_setting("max_queries", std::to_string(settings.max_queries) + " queries at the most",
                       "0 (no limit) to " + std::to_string(kMostLoadSamples));
  }
  const bool multi = settings.scenario == LoadScenario::kMultiStream;
  if (multi && !count_within(settings.samples_per_query, 1, settings.loaded_samples)) {
    return bad_setting("samples_per_query", std::to_string(settings.samples_per_query) + " samples in a query",
                       "1 to the loaded samples, " + std::to_string(settings.loaded_samples));
  }
  if (!count_within(settings.concurrency, 1, kMostOutstandingSamples)) {
    return bad_setting("concurrency", std::to_string(settings.concurrency) + " clients",
                       "1 to " + std::to_string(kMostOutstandingSamples));
  }
  if (Status fits = check_plan(settings); !fits) return fits;
  if (!count_within(settings.max_outstanding, 1, kMostOutstandingSamples)) {
    return bad_setting("max_outstanding", std::to_string(settings.max_outstanding) + " outstanding samples",
                       "1 to " + std::to_string(kMostOutstandingSamples));
  }
  if (settings.mode == LoadMode::kAccuracy) return {};
  const double expected = settings.target_qps * settings.min_duration_s;
  if (settings.scenario == LoadScenario::kServer && expected > static_cast<double>(kMostLoadSamples)) {
    return bad_setting(
        "target_qps", human_number(expected) + " queries in " + human_seconds(settings.min_duration_s),
        "at most " + human_number(static_cast<double>(kMostLoadSamples)) + ": a lower rate or less time");
  }
  if (settings.scenario == LoadScenario::kOffline && 1.1 * expected > static_cast<double>(kMostOutstandingSamples)) {
    return bad_setting("target_qps", human_number(1.1 * expected) + " samples in one query",
                       "at most " + human_number(static_cast<double>(kMostOutstandingSamples)) +
                           ": a lower expected rate or less time");
  }
  return {};
}

}  // namespace perfcast::ai
