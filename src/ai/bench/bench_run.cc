#include "ai/bench/bench_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "ai/bench/client_overhead.h"
#include "ai/load/load_generator.h"
#include "ai/load/load_log.h"
#include "ai/load/peak_search.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// "11-26-2026 04:05:06.789", as the field's logs have it.
std::string field_date() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts = {};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text;
  const size_t length = strftime(text.data(), text.size(), "%m-%d-%Y %H:%M:%S", &parts);
  std::string ms = std::to_string(now.tv_nsec / 1'000'000);
  ms.insert(0, 3 - ms.size(), '0');
  return std::string(text.data(), length) + "." + ms;
}

constexpr int kMostLengthenings = 2;      // of one trial
constexpr double kQueriesReserve = 1.25;  // of a longer trial, in which some more may be over the limit

bool is_fatal(const LoadFault& fault) {
  return fault.code == "system-broke" || fault.code == "system-hung" || fault.code == "failed-answers" ||
         fault.code == "interrupted";
}

class Bench {
 public:
  Bench(const BenchRequest& request, SystemUnderTest& system) : request_(request), system_(system) {
    report_.rules = request.rules;
    report_.benchmark = request.benchmark;
    report_.category = request.category;
    report_.division = request.division;
    report_.log_folder = request.log_folder;
    report_.attempts = request.attempts;
    report_.rate_source = request.rate_source;
  }

  Result<BenchReport> run() {
    if (Status begun = begin(); !begun) return begun.error();
    if (request_.accuracy) {
      if (Status measured = measure_accuracy(); !measured) return measured.error();
    }
    const bool is_ended = std::any_of(report_.result.faults.begin(), report_.result.faults.end(), is_fatal);
    if (request_.performance && !is_ended) {
      const Status measured = request_.find_peak ? search_peak() : measure_performance();
      if (!measured && !request_.accuracy) return measured.error();
      if (!measured) {  // answers were judged: that much is kept
        earlier_faults_ = {{measured.error().code, measured.error().message}};
        conclude();
      }
    } else {
      conclude();
    }
    measure_client();
    return finish();
  }

 private:
  Status begin() {
    if (Status valid = check(request_.settings); !valid) return valid;
    if (!request_.log_folder.empty()) {
      auto log = LoadLog::create(request_.log_folder);
      if (!log) return log.error();
      log_ = std::move(*log);
      log_->settings(request_.settings, request_.rules);
    }
    if (request_.warm_up_queries <= 0) return {};
    say("warming up");
    const auto faults = warm_up(request_.settings, request_.warm_up_queries, system_, hooks(LoadMode::kPerformance));
    if (!faults) return faults.error();
    const auto fatal = std::find_if(faults->begin(), faults->end(), is_fatal);
    if (fatal == faults->end()) return {};
    std::string message = "the system fails in the warm-up: " + fatal->message;
    for (const LoadFault& fault : *faults) {  // what it said in place of answers
      const bool tells_why =
          fault.code == "bad-answers" || fault.code == "unknown-ids" || fault.code == "answered-twice";
      if (tells_why) message.append("; ").append(fault.code).append(": ").append(fault.message);
    }
    if (log_) log_->point("error_runtime", message, true);
    if (fatal->code == "interrupted") return interrupted_error("interrupted in the warm-up");
    return environment_error(fatal->code, message, "--system", "a system that answers, or --warm-up none to see more");
  }

  void say(const std::string& what) {
    doing_ = what;
    if (request_.progress) request_.progress(doing_, {});
  }

  LoadHooks hooks(LoadMode mode) {
    LoadHooks hooks;
    hooks.is_interrupted = request_.is_interrupted;
    if (log_) {
      hooks.record = [this, mode](std::span<const SampleRecord> records) { return log_->add(records, mode); };
    }
    if (request_.progress) {
      hooks.progress = [this](const LoadProgress& progress) { request_.progress(doing_, progress); };
    }
    hooks.judge = request_.judge ? request_.judge : [this](uint32_t index, std::string_view data) {
      return system_.is_right(index, data);
    };
    return hooks;
  }

  Status measure_accuracy() {
    say("accuracy");
    LoadSettings settings = request_.settings;
    settings.mode = LoadMode::kAccuracy;
    auto result = run_load(settings, system_, hooks(settings.mode));
    if (!result) return result.error();
    if (const auto error = system_.judging_error()) result->faults.push_back({"judge-failed", error->message});
    report_.judged = result->judged;
    report_.right = result->right;
    if (result->judged > 0 && !report_.rules.accuracy) {
      // In the unit of the benchmark's reference: a share of 1, or percent.
      const double share = static_cast<double>(result->right) / static_cast<double>(result->judged);
      const bool percent = report_.rules.accuracy_metric.ends_with("%");
      report_.rules.accuracy = percent ? 100 * share : share;
    }
    // A share of those that happen to be known says nothing of the data set.
    if (result->unjudged > 0 && (request_.judge || result->judged > 0)) {
      result->faults.push_back({"partly-judged", std::to_string(result->unjudged) + " of " +
                                                     std::to_string(result->judged + result->unjudged) +
                                                     " answers could not be judged: nobody says what is right there"});
    }
    earlier_faults_ = result->faults;
    report_.result = std::move(*result);
    return {};
  }

  Result<LoadResult> measured_run(double target_qps, int64_t min_queries) {
    LoadSettings settings = request_.settings;
    settings.mode = LoadMode::kPerformance;
    settings.target_qps = target_qps;
    settings.min_queries = min_queries;
    std::optional<EnergySession> session;
    const bool metered = request_.meters != nullptr && !request_.meters->meters.empty();
    if (metered) session.emplace(request_.meters->all());
    if (log_) log_->point("power_begin", field_date());
    if (session) session->start();
    auto result = run_load(settings, system_, hooks(settings.mode));
    if (session) energy_.report = session->stop();
    if (log_) log_->point("power_end", field_date());
    return result;
  }

  Status measure_performance() {
    say(to_string(request_.settings.scenario));
    auto result = measured_run(request_.settings.target_qps, request_.settings.min_queries);
    if (!result) return result.error();
    report_.result = std::move(*result);
    conclude();
    return {};
  }

  // Of a trial: what --max-queries and --max-duration leave, without the latter what fits into the time of a published
  // result.
  int64_t most_queries(double target_qps) const {
    const LoadSettings& settings = request_.settings;
    const double longest_s = settings.max_duration_s > 0 ? settings.max_duration_s
                                                         : std::max(kComparableDuration_s, settings.min_duration_s);
    double most = target_qps * longest_s;
    if (settings.max_queries > 0) most = std::min(most, static_cast<double>(settings.max_queries));
    return static_cast<int64_t>(std::min(most, static_cast<double>(kMostLoadSamples)));
  }

  // A trial with as many queries as its verdict needs, where it may have them; `verdict` is that of the last run of it.
  Result<LoadResult> measured_trial(double target_qps, LoadVerdict& verdict) {
    const int64_t most = most_queries(target_qps);
    const int64_t sure = report_.rules.early_stopping ? least_within(0, report_.rules.percentile) : 1;
    int64_t queries = request_.settings.min_queries;
    if (sure <= most) queries = std::max(queries, sure);
    for (int lengthened = 0;; ++lengthened) {
      auto result = measured_run(target_qps, queries);
      if (!result) return result.error();
      verdict = judge(*result, summarise(*result), report_.rules);
      const auto enough = static_cast<double>(result->queries + verdict.missing_queries);
      const auto needed = static_cast<int64_t>(kQueriesReserve * enough);
      const bool can_be_longer = verdict.is_only_too_short() && verdict.missing_queries > 0 && needed <= most;
      if (!can_be_longer || lengthened == kMostLengthenings) return result;
      queries = needed;
    }
  }

  Status search_peak() {
    PeakSearch search(request_.settings.target_qps, request_.peak_precision, request_.most_trials);
    std::optional<LoadResult> best, last;
    EnergyReport best_energy;
    while (const auto rate = search.next()) {
      LoadSettings settings = request_.settings;
      settings.target_qps = *rate;
      if (!check(settings)) break;  // beyond what one run may issue
      say("at " + human_number(*rate) + " queries/s");
      LoadVerdict verdict;
      auto result = measured_trial(*rate, verdict);
      if (!result && (best || last)) {  // trials are kept
        earlier_faults_.push_back({result.error().code, result.error().message});
        break;
      }
      if (!result) return result.error();
      const LoadSummary summary = summarise(*result);
      PeakTrial trial{*rate, summary.queries_per_s, result->queries, summary.latency.p99, verdict.valid(), {}};
      for (const LoadViolation& violation : verdict.violations) trial.broken_rules.push_back(violation.rule);
      report_.trials.push_back(std::move(trial));
      report_.search_is_interrupted = verdict.breaks("interrupted");
      if (report_.search_is_interrupted) {  // it says nothing of its rate
        if (best) earlier_faults_.push_back({"interrupted", "the search was ended by a signal"});
        if (!best) last = std::move(*result);
        break;
      }
      search.tell(verdict.valid());
      // A lower rate has fewer queries in the same time: nothing there would be valid either.
      report_.search_is_too_short = !search.best() && verdict.is_only_too_short() && verdict.over_limits == 0;
      if (verdict.valid()) {
        best = std::move(*result);
        best_energy = energy_.report;
      } else {
        last = std::move(*result);
      }
      if (report_.search_is_too_short) break;
    }
    report_.peak_qps = search.best();
    report_.peak_bound_qps = search.bound();
    if (!best && !last) return usage_error("bad-usage", "no trial was made", "--target-qps", "a lower first rate");
    if (best) energy_.report = best_energy;
    report_.result = best ? std::move(*best) : std::move(*last);
    conclude();
    return {};
  }

  void conclude() {
    LoadResult& result = report_.result;
    if (request_.performance) {
      result.faults.insert(result.faults.begin(), earlier_faults_.begin(), earlier_faults_.end());
    }
    report_.summary = summarise(result);
    report_.verdict = judge(result, report_.summary, report_.rules);
    const double samples_per_s = report_.summary.samples_per_s;
    for (const LoadObjective& objective : request_.objectives) {
      const bool is_measured = report_.summary.seconds_s > 0;
      if (is_measured) report_.objectives.push_back(judge_load_objective(objective, result, samples_per_s));
    }
    compare_with_the_field();
    if (request_.meters == nullptr) return;
    energy_.missing = request_.meters->missing;
    std::optional<EnergyScope> scope = scope_of_cpu_work({&energy_.report, 1});
    if (const auto widest = widest_joules(energy_.report); widest && !system_.runs_on_cpus()) scope = widest->scope;
    if (scope) {
      energy_.joules = joules_of_scope(energy_.report, *scope);
      energy_.covers = to_string(*scope);
    }
    report_.energy = energy_;
  }

  // What can't be measured is left out: it is no fault of the run.
  void measure_client() {
    const bool is_whole = report_.result.answered > 0 && report_.result.faults.empty();
    if (!request_.performance || !is_whole) return;
    if (request_.null_endpoint) {
      const auto [pieces, gap_s] = *request_.null_endpoint;
      report_.overhead = overhead_of(report_.result, report_.summary.samples_per_s, pieces, gap_s);
    }
    if (!request_.measures_overhead) return;
    say("measuring the client itself");
    OverheadRequest request = overhead_request_of(report_);
    request.is_interrupted = request_.is_interrupted;
    if (auto overhead = measure_overhead(request)) report_.overhead = *std::move(overhead);
  }

  void compare_with_the_field() {
    const LoadSettings& settings = report_.result.settings;
    const auto say_not = [this](const std::string& why) { report_.not_comparable.push_back(why); };
    if (report_.benchmark.empty()) say_not("no benchmark of the field is named");
    if (settings.scenario == LoadScenario::kConcurrency || settings.scenario == LoadScenario::kTrace) {
      say_not("the load is none of its scenarios");
    }
    if (settings.mode == LoadMode::kAccuracy) say_not("accuracy alone was measured");
    if (settings.scenario != LoadScenario::kTrace && settings.min_duration_s < kComparableDuration_s) {
      say_not("it is shorter than the " + human_seconds(kComparableDuration_s) +
              " that are asked of published results");
    }
    if (settings.seeds != LoadSeeds{}) say_not("its order is not that of the published seeds");
    const LoadResult& result = report_.result;
    if (result.streamed_tokens < result.tokens) {
      say_not(std::to_string(result.tokens - result.streamed_tokens) + " of " + std::to_string(result.tokens) +
              " tokens were not seen as they came: they are the system's own count");
    }
    if (report_.division == "open") say_not("in the open division the model may be another");
    for (const std::string& why : request_.not_comparable) say_not(why);
  }

  Result<BenchReport> finish() {
    if (!log_) return std::move(report_);
    report_.samples_left_out = log_->left_out();
    Status written = log_->finish(report_.result, report_.summary, report_.verdict, report_.rules);
    if (written) written = log_->close();
    if (written) {
      written = write_file_atomically(log_->folder() + "/result.json", perfcast::to_text(to_json(report_)),
                                      NewFile::kPrivate);
    }
    if (!written) {
      report_.verdict.violations.push_back({"log-failed", written.error().message, "room for the log"});
    }
    return std::move(report_);
  }

  const BenchRequest& request_;
  SystemUnderTest& system_;
  BenchReport report_;
  BenchEnergy energy_;
  std::unique_ptr<LoadLog> log_;
  std::vector<LoadFault> earlier_faults_;  // of what ran beside `report_.result`
  std::string doing_;
};

}  // namespace

Result<BenchReport> run_bench(const BenchRequest& request, SystemUnderTest& system) {
  return Bench(request, system).run();
}

}  // namespace perfcast::ai
