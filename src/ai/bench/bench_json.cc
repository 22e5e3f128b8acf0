#include <algorithm>
#include <string>
#include <vector>

#include "ai/bench/bench_tables.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

void put_times(Json& json, const char* key, const LatencySummary& times) {
  if (times.count > 0) json[key] = rows_json(latency_table({{"", times}}))[0];
}

void put_streams(Json& json, const BenchReport& report) {
  const LoadResult& result = report.result;
  if (!result.settings.tokens && result.tokens == 0) return;
  put_times(json, "ttft_ns", report.summary.ttft);
  put_times(json, "tpot_ns", report.summary.tpot);
  if (report.summary.tpot_pooled_ns > 0) json["tpot_pooled_ns"] = report.summary.tpot_pooled_ns;
  if (result.inter_token_count > 0) {
    LatencySummary times;
    times.p50 = result.inter_token_p50_ns;
    times.p99 = result.inter_token_p99_ns;
    times.count = result.inter_token_count;
    json["inter_token_ns"] = rows_json(latency_table({{"", times, true}}))[0];
  }
  json["tokens"] = result.tokens;
  json["streamed_tokens"] = result.streamed_tokens;
  json["tokens_per_s"] = report.summary.tokens_per_s;
}

Json energy_json(const BenchReport& report) {
  const BenchEnergy& energy = *report.energy;
  Json meters = Json::array();
  for (const MeterEnergy& meter : energy.report.meters) {
    Json entry{{"meter", meter.meter.name}, {"scope", to_string(meter.meter.scope)}, {"covers", meter.meter.covers}};
    if (meter.joules) {
      entry["joules"] = *meter.joules;
      if (meter.uncertainty_joules) entry["uncertainty_joules"] = *meter.uncertainty_joules;
      if (meter.mean_w) entry["mean_w"] = *meter.mean_w;
      if (report.result.answered > 0)
        entry["joules_per_sample"] = *meter.joules / static_cast<double>(report.result.answered);
      if (report.result.tokens > 0)
        entry["joules_per_token"] = *meter.joules / static_cast<double>(report.result.tokens);
    } else {
      entry["missing"] = meter.why_missing;
    }
    meters.push_back(std::move(entry));
  }
  Json missing = Json::array();
  for (const MissingMeter& meter : energy.missing) {
    missing.push_back(Json{{"kind", meter.kind}, {"reason", meter.reason}, {"advice", meter.advice}});
  }
  Json json{{"meters", std::move(meters)}, {"missing", std::move(missing)}};
  if (energy.joules) json["covers"] = energy.covers;
  return json;
}

Json trials_json(const BenchReport& report) {
  Json peak{{"trials", rows_json(trials_table(report.trials))}};
  if (report.peak_qps) peak["highest_valid_qps"] = *report.peak_qps;
  if (report.search_is_interrupted) peak["interrupted"] = true;
  if (report.search_is_too_short) {
    peak["too_short"] = true;
  } else if (report.peak_bound_qps) {
    peak["lowest_invalid_qps"] = *report.peak_bound_qps;
  }
  return peak;
}

Json settings_json(const BenchReport& report) {
  const LoadSettings& settings = report.result.settings;
  Json json{{"mode", settings.mode == LoadMode::kAccuracy ? "accuracy" : "performance"},
            {"min_duration_s", settings.min_duration_s},
            {"min_queries", settings.min_queries},
            {"target_qps", settings.target_qps},
            {"samples", settings.loaded_samples},
            {"total_samples", settings.total_samples},
            {"equal_issue", settings.equal_issue},
            {"percentile", report.rules.percentile}};
  if (settings.scenario == LoadScenario::kMultiStream) json["samples_per_query"] = settings.samples_per_query;
  if (settings.scenario == LoadScenario::kConcurrency) json["concurrency"] = settings.concurrency;
  if (report.rules.max_latency_s) json["max_latency_s"] = *report.rules.max_latency_s;
  if (report.rules.max_ttft_s) json["max_ttft_s"] = *report.rules.max_ttft_s;
  if (report.rules.max_tpot_s) json["max_tpot_s"] = *report.rules.max_tpot_s;
  json["seeds"] = Json{{"data_set", settings.seeds.data_set},
                       {"sample_order", settings.seeds.sample_order},
                       {"schedule", settings.seeds.schedule}};
  return json;
}

std::string added_text(const LatencySummary& added) {
  const auto words = [](int64_t time_ns) { return human_seconds(static_cast<double>(time_ns) * 1e-9); };
  return words(added.p50) + " (p99 " + words(added.p99) + ")";
}

}  // namespace

Json overhead_json(const ClientOverhead& overhead) {
  Json json{{"requests_per_s", overhead.rate_per_s}, {"pieces", overhead.pieces}, {"gap_s", overhead.gap_s}};
  if (overhead.is_lighter) json["lighter_than_run"] = true;
  put_times(json, "first_token_ns", overhead.first_token);
  put_times(json, "latency_ns", overhead.latency);
  return json;
}

std::string overhead_text(const ClientOverhead& overhead) {
  std::string text = (overhead.is_lighter ? "adds about " : "adds at most ") + added_text(overhead.first_token) +
                     " to a first token and " + added_text(overhead.latency) +
                     " to a latency, measured on an endpoint without work: " + human_number(overhead.rate_per_s) +
                     " requests/s, " + std::to_string(overhead.pieces) + " pieces";
  if (overhead.gap_s > 0) text += " " + human_seconds(overhead.gap_s) + " apart";
  if (overhead.is_lighter) text += " (less load than the run)";
  return text;
}

bool BenchReport::misses_objectives() const {
  return std::any_of(objectives.begin(), objectives.end(),
                     [](const ObjectiveOutcome& outcome) { return !outcome.met; });
}

std::vector<std::string> BenchReport::why_not_comparable() const {
  std::vector<std::string> reasons = not_comparable;
  if (!verdict.is_sound()) return reasons;
  const bool is_said = std::any_of(reasons.begin(), reasons.end(),
                                   [](const std::string& reason) { return reason.starts_with("it is shorter"); });
  for (const LoadViolation& broken : verdict.violations) {
    if (broken.rule == "few-tokens") {
      reasons.push_back(broken.message);
    } else if (!is_said || broken.rule != "min-duration") {
      reasons.push_back("too short: " + broken.message);
    }
  }
  return reasons;
}

Json to_json(const BenchReport& report) {
  const LoadResult& result = report.result;
  const LoadSummary& summary = report.summary;
  Json json{{"schema", kBenchSchema}, {"scenario", to_string(result.settings.scenario)}, {"system", result.system}};
  if (!report.benchmark.empty()) json["benchmark"] = report.benchmark;
  if (!report.category.empty()) json["category"] = report.category;
  if (!report.division.empty()) json["division"] = report.division;
  json["valid"] = report.verdict.valid();
  Json violations = Json::array();
  for (const LoadViolation& violation : report.verdict.violations) {
    violations.push_back(Json{{"rule", violation.rule}, {"message", violation.message}, {"expected", violation.mend}});
  }
  json["violations"] = std::move(violations);
  const std::vector<std::string> why_not = report.why_not_comparable();
  json["comparable"] = why_not.empty();
  json["not_comparable"] = why_not;
  json["settings"] = settings_json(report);
  json["queries"] = result.queries;
  json["samples"] = result.samples;
  json["answered"] = result.answered;
  json["failed"] = result.failed;
  json["unanswered"] = result.unanswered();
  json["seconds_s"] = summary.seconds_s;
  json["queries_per_s"] = summary.queries_per_s;
  json["samples_per_s"] = summary.samples_per_s;
  if (summary.scheduled_per_s > 0) json["scheduled_per_s"] = summary.scheduled_per_s;
  put_times(json, "latency_ns", summary.latency);
  if (result.settings.scenario == LoadScenario::kMultiStream)
    put_times(json, "sample_latency_ns", summary.sample_latency);
  if (is_timed(result.settings.scenario)) put_times(json, "lateness_ns", summary.lateness);
  put_streams(json, report);
  if (result.prompt_tokens > 0) json["prompt_tokens"] = result.prompt_tokens;
  if (!report.verdict.early_stopping.empty()) json["early_stopping"] = report.verdict.early_stopping;
  if (summary.early_p90) json["early_stopping_p90_ns"] = summary.early_p90->latency_ns;
  if (summary.early_p99) json["early_stopping_p99_ns"] = summary.early_p99->latency_ns;
  if (!report.objectives.empty()) json["objectives"] = rows_json(objectives_table(report.objectives));
  if (report.rules.accuracy || report.rules.least_accuracy) {
    Json accuracy{{"metric", report.rules.accuracy_metric}};
    if (report.rules.accuracy) accuracy["value"] = *report.rules.accuracy;
    if (report.rules.least_accuracy) accuracy["least"] = *report.rules.least_accuracy;
    if (report.judged > 0) {
      accuracy["judged"] = report.judged;
      accuracy["right"] = report.right;
    }
    json["accuracy"] = std::move(accuracy);
  }
  if (!report.trials.empty()) json["peak"] = trials_json(report);
  if (report.energy) {
    if (report.energy->joules) json["energy_joules"] = *report.energy->joules;
    json["energy"] = energy_json(report);
  }
  if (report.overhead) json["client_overhead"] = overhead_json(*report.overhead);
  if (report.attempts > 1) json["attempts"] = report.attempts;
  if (!report.rate_source.empty()) json["rate_source"] = report.rate_source;
  if (!report.log_folder.empty()) {
    json["log"] = report.log_folder;
    if (report.samples_left_out > 0) json["samples_left_out"] = report.samples_left_out;
  }
  return json;
}

}  // namespace perfcast::ai
