#include "cli/ai/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "ai/bench/bench_tables.h"
#include "base/text.h"
#include "cli/shared/energy_text.h"

namespace perfcast::cli {
namespace {

constexpr size_t kBenchWidth = 118;

std::string ns_in_words(int64_t time_ns) { return human_seconds(static_cast<double>(time_ns) / 1e9); }

std::string bench_line(const std::string& name, const std::string& text) {
  return wrapped(text, kBenchWidth, fmt::format("{:<14}", name), std::string(14, ' ')) + "\n";
}

std::string missed_text(const std::vector<ai::ObjectiveOutcome>& objectives) {
  const auto is_missed = [](const ai::ObjectiveOutcome& outcome) { return !outcome.met; };
  const auto missed = std::count_if(objectives.begin(), objectives.end(), is_missed);
  if (objectives.size() > 1) return fmt::format("{} of {} objectives missed", missed, objectives.size());
  const ai::ObjectiveOutcome& only = objectives.front();
  return fmt::format("{:.4g}% of requests keep the objective, and {:.4g}% must", 100 * only.kept_share,
                     100 * only.objective.share);
}

std::string rules_text(const ai::LoadVerdict& verdict) {
  if (verdict.valid()) return "every rule is kept";
  if (verdict.is_only_too_short()) return "it is too short for published results";
  if (verdict.is_sound()) return "some answers have no time per token";
  return fmt::format("{} {} broken", verdict.violations.size(), verdict.violations.size() == 1 ? "rule" : "rules");
}

std::string verdict_text(const ai::BenchReport& report) {
  std::string text = bench_verdict(report) + ": " + rules_text(report.verdict);
  if (report.misses_objectives()) {
    text = report.is_sound() ? "MISSED: " + missed_text(report.objectives) + "; " + rules_text(report.verdict)
                             : text + "; " + missed_text(report.objectives);
  }
  text += "\n";
  const auto& violations = report.verdict.violations;
  for (const ai::LoadViolation& violation : violations) {
    text += wrapped(violation.rule + ": " + printable(violation.message), kBenchWidth, "  ", "    ") + "\n";
    if (!violation.mend.empty()) text += wrapped("mend: " + violation.mend, kBenchWidth, "    ", "      ") + "\n";
  }
  return text;
}

std::string scenario_text(const ai::BenchReport& report) {
  const ai::LoadSettings& settings = report.result.settings;
  std::string text = to_string(settings.scenario);
  if (settings.mode == ai::LoadMode::kAccuracy) text += ", accuracy";
  if (ai::is_timed(settings.scenario)) text += fmt::format(", {:.6g} queries/s", settings.target_qps);
  if (settings.scenario == ai::LoadScenario::kConcurrency) text += fmt::format(", {} at once", settings.concurrency);
  if (settings.scenario == ai::LoadScenario::kMultiStream) text += fmt::format(" of {}", settings.samples_per_query);
  text += fmt::format(", {} samples of {}", settings.loaded_samples, settings.total_samples);
  if (!report.benchmark.empty()) text += ", " + report.benchmark;
  if (!report.category.empty()) text += ", " + report.category;
  if (!report.division.empty()) text += ", " + report.division + " division";
  return text;
}

std::string counts_text(const ai::BenchReport& report) {
  const ai::LoadResult& result = report.result;
  std::string text = fmt::format("{} {}, {} of {} samples answered", result.queries,
                                 result.queries == 1 ? "query" : "queries", result.answered, result.samples);
  if (result.failed > 0) text += fmt::format(", {} failed", result.failed);
  if (result.unanswered() > 0) text += fmt::format(", {} without an answer", result.unanswered());
  return text + " in " + human_seconds(report.summary.seconds_s);
}

std::string rates_text(const ai::BenchReport& report) {
  const ai::LoadSummary& summary = report.summary;
  const bool offline = report.result.settings.scenario == ai::LoadScenario::kOffline;
  std::string text =
      offline ? human_number(summary.samples_per_s) + " samples/s" : human_number(summary.queries_per_s) + " queries/s";
  if (ai::is_timed(report.result.settings.scenario)) {
    text += " completed, " + human_number(summary.scheduled_per_s) + " scheduled";
  } else if (!offline && report.result.samples > report.result.queries) {
    text += ", " + human_number(summary.samples_per_s) + " samples/s";
  }
  const bool fails = !offline && report.result.answered < report.result.samples;
  if (fails) text += " with failed ones, " + human_number(summary.samples_per_s) + " samples/s answered";
  if (report.result.tokens > 0) text += ", " + human_number(summary.tokens_per_s) + " tokens/s";
  return text;
}

std::string times_text(const ai::BenchReport& report) {
  const ai::LoadResult& result = report.result;
  const ai::LoadSummary& summary = report.summary;
  const bool multi = result.settings.scenario == ai::LoadScenario::kMultiStream;
  std::vector<ai::NamedLatency> rows = {{multi ? "query latency" : "latency", summary.latency}};
  if (multi) rows.push_back({"sample latency", summary.sample_latency});
  rows.push_back({"first token", summary.ttft});
  rows.push_back({"per output token", summary.tpot});
  ai::LatencySummary between;
  between.p50 = result.inter_token_p50_ns;
  between.p99 = result.inter_token_p99_ns;
  between.count = result.inter_token_count;
  rows.push_back({"between arrivals", between, true});
  if (ai::is_timed(result.settings.scenario)) rows.push_back({"issued late by", summary.lateness});
  std::erase_if(rows, [](const ai::NamedLatency& row) { return row.times.count == 0; });
  return rows.empty() ? "" : "\n" + rows_text(ai::latency_table(rows));
}

// What a search knows that a signal ended.
std::string interrupted_peak_text(const ai::BenchReport& report) {
  const auto& low = report.peak_qps;
  const auto& high = report.peak_bound_qps;
  if (low && high) return "interrupted; between " + human_number(*low) + " and " + human_number(*high) + " queries/s";
  if (low) return "interrupted; at least " + human_number(*low) + " queries/s";
  if (high) return "interrupted; below " + human_number(*high) + " queries/s";
  return "interrupted; not known, as no trial came to its end";
}

std::string trials_text(const ai::BenchReport& report) {
  if (report.trials.empty()) return "";
  std::string peak = "no rate was valid";
  if (report.peak_qps) peak = "highest valid rate " + human_number(*report.peak_qps) + " queries/s";
  if (report.search_is_interrupted) {
    peak = interrupted_peak_text(report);
  } else if (report.search_is_too_short) {
    peak = "not known: at this rate and below, a trial is too short or has too few queries to be judged";
  } else if (report.peak_bound_qps) {
    peak += ", lowest invalid " + human_number(*report.peak_bound_qps);
  }
  peak += std::string("; the times above are of ") + (report.peak_qps ? "the last valid run" : "the last run");
  return "\n" + rows_text(ai::trials_table(report.trials)) + wrapped("peak: " + peak, kBenchWidth) + "\n";
}

std::string bench_energy_text(const ai::BenchReport& report) {
  if (!report.energy) return "";
  const ai::BenchEnergy& energy = *report.energy;
  if (!energy.joules) {
    std::vector<std::string> kinds;
    for (const MeterEnergy& meter : energy.report.meters) kinds.push_back(meter.meter.name);
    for (const MissingMeter& meter : energy.missing) kinds.push_back(meter.kind);
    return bench_line(
        "energy", "no meter gives joules here (" + printable(join(kinds, ", ")) + "); perfcast energy --list says why");
  }
  std::string text = joules_in_words(*energy.joules) + " by the meters of the " + energy.covers;
  if (report.result.answered > 0) {
    text += ", " + joules_in_words(*energy.joules / static_cast<double>(report.result.answered)) + " a sample";
  }
  if (report.result.tokens > 0) {
    text += ", " + joules_in_words(*energy.joules / static_cast<double>(report.result.tokens)) + " a token";
  }
  return bench_line("energy", text + "; this includes what the idle machine would draw");
}

std::string accuracy_text(const ai::BenchReport& report) {
  const ai::LoadRules& rules = report.rules;
  if (!rules.accuracy && report.judged == 0) return "";
  std::string text;
  if (rules.accuracy) text = fmt::format("{:.6g}", *rules.accuracy);
  if (rules.accuracy && rules.accuracy_metric != "accuracy") text += ", " + rules.accuracy_metric;
  if (report.judged > 0) text += fmt::format(" ({} of {} answers right)", report.right, report.judged);
  if (rules.least_accuracy) text += fmt::format(", at least {:.6g} is required", *rules.least_accuracy);
  return bench_line("accuracy", text);
}

constexpr double kLateShare = 0.2;     // of the latency that lateness of the generator may take
constexpr int64_t kNoticed_ns = 1000;  // a system that does nothing answers sooner than the generator can sleep
constexpr double kQuietShare = 0.7;    // of the rate of one stream: a server that is not yet full

// As an option takes it.
std::string plain_rate(double per_s) {
  return per_s < 10 ? fmt::format("{:.2g}", per_s) : fmt::format("{:.0f}", per_s);
}

// The limits of an objective as rules, which a search needs.
std::string peak_flags(const ai::LoadObjective& objective) {
  std::string flags;
  const auto add = [&](const char* option, const std::optional<double>& limit_s) {
    if (!limit_s) return;
    const bool is_short = *limit_s < 1e-3;
    flags += fmt::format(" {} {:.10g}{}", option, *limit_s * (is_short ? 1e6 : 1e3), is_short ? "us" : "ms");
  };
  add("--max-latency", objective.latency_s);
  add("--ttft", objective.ttft_s);
  add("--tpot", objective.tpot_s);
  // --percentile takes 1 to 99.99.
  return flags + fmt::format(" --percentile {:.6g}", std::clamp(100 * objective.share, 1.0, 99.99));
}

// What to do with this run: why its times may be wrong, and which run tells more.
std::string advice_text(const ai::BenchReport& report) {
  using ai::LoadScenario;
  const ai::LoadSettings& settings = report.result.settings;
  const ai::LoadSummary& summary = report.summary;
  if (settings.mode == ai::LoadMode::kAccuracy) return "";  // its times are nobody's question
  std::vector<std::string> advice;
  const auto late = [&](int64_t by, int64_t of) {
    return by >= kNoticed_ns && static_cast<double>(by) > kLateShare * static_cast<double>(of);
  };
  const bool server = settings.scenario == LoadScenario::kServer;
  if (server && summary.lateness.count > 0 &&
      (late(summary.lateness.p50, summary.latency.p50) || late(summary.lateness.p99, summary.latency.p99))) {
    advice.push_back(
        fmt::format("queries were sent late: one in a hundred by {} or more{}. The load generator got no CPU in time. "
                    "Latencies count from the planned time, so they are too long. Give the generator a core of its "
                    "own, or lower --target-qps",
                    ns_in_words(summary.lateness.p99),
                    summary.lateness.p50 < kNoticed_ns
                        ? ""
                        : fmt::format(", and half of them by {} or more", ns_in_words(summary.lateness.p50))));
  }
  const bool rule_limits = report.rules.max_latency_s || report.rules.max_ttft_s || report.rules.max_tpot_s;
  const bool limits = rule_limits || !report.objectives.empty();
  if (server && !limits) {
    advice.emplace_back(
        "no limit on the latency was set, so no rate is too high: --max-latency 50ms, or --objective "
        "ttft=2s,tpot=200ms");
  }
  if (server && limits && report.trials.empty()) {
    const std::string flags = rule_limits ? "" : peak_flags(report.objectives.front().objective);
    advice.emplace_back("--find-peak" + flags + " searches the highest rate that keeps the limits");
  }
  if (settings.scenario == LoadScenario::kSingleStream && summary.queries_per_s > 0 && report.is_sound()) {
    advice.push_back(
        fmt::format("this is one user at a time; many at once: --scenario server --target-qps {} "
                    "--max-latency TIME",
                    plain_rate(kQuietShare * summary.queries_per_s)));
  }
  std::string text;
  for (const std::string& line : advice) text += bench_line(text.empty() ? "next" : "", line);
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string bench_verdict(const ai::BenchReport& report) {
  if (!report.is_sound()) return "INVALID";
  if (report.misses_objectives()) return "MISSED";
  return report.verdict.valid() ? "VALID" : "NOT COMPARABLE";
}

std::string bench_text(const ai::BenchReport& report) {
  std::string text = verdict_text(report);
  text += bench_line("system", printable(report.result.system));
  text += bench_line("scenario", scenario_text(report));
  text += bench_line("issued", counts_text(report));
  text += bench_line("rate", rates_text(report));
  text += accuracy_text(report);
  if (!report.verdict.early_stopping.empty()) text += bench_line("confidence", report.verdict.early_stopping);
  if (report.overhead) text += bench_line("client", ai::overhead_text(*report.overhead));
  text += bench_energy_text(report);
  text += times_text(report);
  if (report.summary.tpot_pooled_ns > 0) {
    text +=
        wrapped(
            "per output token (TPOT): (latency - first token) / (tokens - 1) of each answer; pooled over all tokens " +
                ns_in_words(report.summary.tpot_pooled_ns) +
                "; between arrivals (ITL): from one piece of a stream to the next, within 0.4%",
            kBenchWidth) +
        "\n";
  }
  if (!report.objectives.empty()) text += "\n" + rows_text(ai::objectives_table(report.objectives));
  text += trials_text(report);
  text += advice_text(report);
  if (!report.not_comparable.empty()) {
    text +=
        "\n" +
        wrapped("not comparable with published results: " + printable(join(report.not_comparable, "; ")), kBenchWidth) +
        "\n";
  }
  if (report.log_folder.empty()) return text;
  text += (report.not_comparable.empty() ? "\n" : "") + std::string("log: ") + printable(report.log_folder) + "\n";
  if (report.samples_left_out > 0) {
    text += fmt::format("samples.csv is full: {} answers have no line in it\n", report.samples_left_out);
  }
  return text;
}

std::string bench_progress(const std::string& what, const ai::LoadProgress& progress) {
  if (progress.issued == 0) return what;
  std::string text =
      fmt::format("{}: {:.0f} s, {} answered, {}/s, p50 {}, p99 {}", what, progress.elapsed_s,
                  human_number(static_cast<double>(progress.answered)), human_number(progress.answers_per_s),
                  ns_in_words(progress.p50_ns), ns_in_words(progress.p99_ns));
  if (progress.first_token_p50_ns > 0) {
    text += fmt::format(", first token p50 {}, p99 {}", ns_in_words(progress.first_token_p50_ns),
                        ns_in_words(progress.first_token_p99_ns));
  }
  return text;
}

}  // namespace perfcast::cli
