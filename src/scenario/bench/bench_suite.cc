#include "scenario/bench/bench_suite.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace perfcast {
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
      const LoadScenario scenario = report->result.settings.scenario;
      reached_per_s_ = scenario == LoadScenario::kOffline ? report->summary.samples_per_s
                                                          : std::max(reached_per_s_, report->summary.samples_per_s);
      suite_.reports.push_back(std::move(*report));
      if (suite_.error || suite_.reports.back().verdict.breaks("interrupted")) break;
    }
    return std::move(suite_);
  }

 private:
  void set_rate(BenchRequest& run, double target_qps) const {
    const double most = kMostSuiteSamples / std::max(run.settings.min_duration_s, 0.001);
    if (target_qps > 0) run.settings.target_qps = std::min(target_qps, most);
  }

  Result<BenchReport> run_at_own_rate(BenchRequest& run) {
    if (run.settings.scenario == LoadScenario::kServer) set_rate(run, kServerShare * reached_per_s_);
    if (run.settings.scenario != LoadScenario::kOffline) return run_bench(run, system_);
    set_rate(run, kOfflineReserve * reached_per_s_);
    auto report = run_bench(run, system_);
    for (int runs = 1; runs < kMostOfflineRuns && report && is_too_short(*report); ++runs) {
      const double before = run.settings.target_qps;
      set_rate(run, kOfflineReserve * report->summary.samples_per_s);
      if (run.settings.target_qps <= before) break;
      run.warm_up_queries = 0;
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
};

}  // namespace

std::vector<LoadScenario> suite_scenarios() {
  return {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kOffline, LoadScenario::kServer};
}

bool BenchSuite::valid() const {
  return !error &&
         std::all_of(reports.begin(), reports.end(), [](const auto& report) { return report.verdict.valid(); });
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

}  // namespace perfcast
