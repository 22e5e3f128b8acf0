#include "ai/bench/bench_suite.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr double kOfflineReserve = 1.5;  // over what several samples at once reached
constexpr double kServerShare = 0.5;     // of what offline reached
constexpr int kMostOfflineRuns = 3;
// A query or a schedule that nobody asked for is no larger.
constexpr double kMostSuiteSamples = 4e6;

class Suite {
 public:
  Suite(BenchSuiteRequest request, SystemUnderTest& system) : request_(std::move(request)), system_(system) {
    suite_.rates_were_given = request_.rates_are_given;
  }

  Result<BenchSuite> run() {
    for (BenchRequest& run : request_.runs) {
      auto report = request_.rates_are_given ? run_bench(run, system_) : run_at_own_rate(run);
      if (!report) {
        if (suite_.reports.empty()) return report.error();
        suite_.error = report.error();
        break;
      }
      note_rate(*report);
      suite_.reports.push_back(std::move(*report));
      if (suite_.error || suite_.reports.back().verdict.breaks("interrupted")) break;
    }
    return std::move(suite_);
  }

 private:
  // Offline's is taken as it is, being what the system does at its best; before it, the highest.
  void note_rate(const BenchReport& report) {
    const double rate = report.summary.samples_per_s;
    const LoadScenario scenario = report.result.settings.scenario;
    if (!(rate > 0) || (scenario != LoadScenario::kOffline && rate <= reached_per_s_)) return;
    reached_per_s_ = rate;
    reached_in_ = to_string(scenario);
  }

  // `share` of what was reached, so far as a run may be as large; the rate that was asked for where nothing was.
  void set_rate(BenchRequest& run, double share) const {
    const double most = kMostSuiteSamples / std::max(run.settings.min_duration_s, 0.001);
    const double rate = share * reached_per_s_;
    if (!(rate > 0)) {
      run.rate_source = "the default, since nothing was reached before";
      return;
    }
    run.settings.target_qps = std::min(rate, most);
    run.rate_source = (share == kServerShare ? "half of what " : "one and a half of what ") + reached_in_ + " reached";
    if (rate > most) run.rate_source.insert(0, "the most that a run of this length may issue, less than ");
  }

  Result<BenchReport> run_at_own_rate(BenchRequest& run) {
    if (run.settings.scenario == LoadScenario::kServer) set_rate(run, kServerShare);
    if (run.settings.scenario == LoadScenario::kOffline) set_rate(run, kOfflineReserve);
    auto report = run_bench(run, system_);
    if (run.settings.scenario != LoadScenario::kOffline) return report;
    for (int runs = 1; runs < kMostOfflineRuns && report && is_too_short(*report); ++runs) {
      const double before = run.settings.target_qps;
      note_rate(*report);
      set_rate(run, kOfflineReserve);
      if (run.settings.target_qps <= before) break;
      run.warm_up_queries = 0;
      run.attempts = runs + 1;
      auto again = run_bench(run, system_);
      if (!again) {
        suite_.error = again.error();  // what ran before is kept
        break;
      }
      report = std::move(again);
    }
    return report;
  }

  static bool is_too_short(const BenchReport& report) {
    return report.verdict.violations.size() == 1 && report.verdict.breaks("min-duration");
  }

  BenchSuiteRequest request_;
  SystemUnderTest& system_;
  BenchSuite suite_;
  double reached_per_s_ = 0;
  std::string reached_in_;  // the scenario
};

}  // namespace

std::vector<LoadScenario> suite_scenarios() {
  return {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kOffline, LoadScenario::kServer};
}

bool BenchSuite::valid() const {
  return !error &&
         std::all_of(reports.begin(), reports.end(), [](const auto& report) { return report.verdict.valid(); });
}

bool BenchSuite::succeeds() const {
  return !error && std::all_of(reports.begin(), reports.end(), [](const BenchReport& report) {
    return report.is_sound() && !report.misses_objectives();
  });
}

bool BenchSuite::breaks(std::string_view rule) const {
  if (error && error->code == rule) return true;
  return std::any_of(reports.begin(), reports.end(), [&](const auto& report) { return report.verdict.breaks(rule); });
}

Result<BenchSuite> run_bench_suite(BenchSuiteRequest request, SystemUnderTest& system) {
  return Suite(std::move(request), system).run();
}

Json to_json(const BenchSuite& suite) {
  Json json{{"schema", kBenchSuiteSchema}, {"valid", suite.valid()}, {"rates_given", suite.rates_were_given}};
  if (suite.error) json["error"] = to_json(*suite.error);
  if (!suite.reports.empty()) json["system"] = suite.reports.front().result.system;
  json["runs"] = Json::array();
  for (const BenchReport& report : suite.reports) json["runs"].push_back(to_json(report));
  return json;
}

}  // namespace perfcast::ai
