#include "ai/bench/bench_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ai/bench/bench_tables.h"
#include "ai/bench/client_overhead.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

double point_seconds(int64_t time_ns) { return static_cast<double>(time_ns) * 1e-9; }

class Sweep {
 public:
  Sweep(const SweepRequest& request, SystemUnderTest& system) : request_(request), system_(system) {
    sweep_.by_rate = request.by_rate;
    sweep_.log_folder = request.log_folder;
  }

  Result<BenchSweep> run() {
    for (size_t i = 0; i < request_.points.size(); ++i) {
      if (is_over()) {
        sweep_.left_out.push_back(request_.loads[i]);
        continue;
      }
      auto report = run_bench(request_.points[i], system_);
      if (!report) {
        if (sweep_.points.empty()) return report.error();
        sweep_.error = report.error();
        sweep_.left_out.push_back(request_.loads[i]);
        continue;
      }
      add(request_.loads[i], *std::move(report));
      if (Status written = write(); !written) sweep_.error = written.error();
    }
    if (request_.measures_overhead && sweep_.best && !sweep_.error && !sweep_.is_interrupted) {
      OverheadRequest wanted = overhead_request_of(sweep_.points[*sweep_.best].report);
      wanted.is_interrupted = request_.points[*sweep_.best].is_interrupted;
      if (auto overhead = measure_overhead(wanted)) sweep_.overhead = *std::move(overhead);
      sweep_.is_interrupted = wanted.is_interrupted && wanted.is_interrupted();
    }
    if (Status written = write(); !written && !sweep_.error) sweep_.error = written.error();
    return std::move(sweep_);
  }

 private:
  bool is_over() const {
    return sweep_.error || sweep_.is_interrupted || has_ended_ || (sweep_.saturated && !request_.runs_all);
  }

  void add(double load, BenchReport report) {
    SweepPoint point;
    point.load = load;
    LoadResult& result = report.result;
    point.answers_per_s = answers_per_s(result);
    if (request_.by_rate) point.queue = queue_trend(result);
    point.saturation = saturation_of(point, report);
    for (auto* times : {&result.latencies_ns, &result.ttft_ns, &result.tpot_ns, &result.due_ns, &result.lateness_ns}) {
      *times = {};  // many points, each of up to a hundred million
    }
    result.answer_tokens = {};
    sweep_.is_interrupted = report.verdict.breaks("interrupted");
    has_ended_ = report.verdict.breaks("system-broke") || report.verdict.breaks("system-hung");
    point.report = std::move(report);
    sweep_.points.push_back(std::move(point));
    const size_t last = sweep_.points.size() - 1;
    if (!sweep_.saturated && !sweep_.points[last].saturation.empty()) sweep_.saturated = last;
    if (!sweep_.best || sweep_.points[last].answers_per_s > sweep_.points[*sweep_.best].answers_per_s) {
      sweep_.best = last;
    }
  }

  std::string saturation_of(const SweepPoint& point, const BenchReport& report) const {
    if (report.verdict.breaks("interrupted")) return "";
    if (report.verdict.breaks("outstanding-limit")) return "the queue grows up to --max-outstanding";
    if (point.queue && point.queue->grows()) {
      return "the queue grows: " + human_number(point.queue->early) +
             " requests wait or run in the second quarter of "
             "the run, " +
             human_number(point.queue->late) + " in the last";
    }
    if (sweep_.points.empty()) return "";
    const SweepPoint& before = sweep_.points.back();
    const auto is_too_short = [](const SweepPoint& each) { return each.queue && each.queue->is_too_short; };
    if (is_too_short(before) || is_too_short(point)) return "";
    if (has_grown(before.load, before.answers_per_s, point.load, point.answers_per_s)) return "";
    return "throughput no longer grows: " + human_number(before.answers_per_s) + " answers/s at " +
           sweep_.load_text(before.load) + ", " + human_number(point.answers_per_s) + " here";
  }

  Status write() const {
    if (request_.log_folder.empty()) return {};
    return write_file_atomically(request_.log_folder + "/sweep.json", perfcast::to_text(to_json(sweep_)));
  }

  const SweepRequest& request_;
  SystemUnderTest& system_;
  BenchSweep sweep_;
  bool has_ended_ = false;
};

std::string verdict_of(const SweepPoint& point) {
  std::vector<std::string> broken;
  for (const LoadViolation& violation : point.report.verdict.violations) broken.push_back(violation.rule);
  if (point.report.misses_objectives()) broken.emplace_back("objective");
  return join(broken, ", ");
}

}  // namespace

std::string BenchSweep::load_text(double load) const { return csv_number(load) + (by_rate ? "/s" : " at once"); }

bool BenchSweep::is_sound() const {
  static constexpr std::array<std::string_view, 8> kExpected = {
      "latency", "ttft", "tpot", "min-queries", "min-duration", "early-stopping", "few-tokens", "outstanding-limit"};
  const auto is_expected = [](const LoadViolation& broken) {
    return std::find(kExpected.begin(), kExpected.end(), broken.rule) != kExpected.end();
  };
  return !error && std::all_of(points.begin(), points.end(), [&](const SweepPoint& point) {
    const auto& broken = point.report.verdict.violations;
    // What a run that was given up leaves unanswered is no further fault.
    const bool given_up = point.report.verdict.breaks("outstanding-limit");
    return given_up || std::all_of(broken.begin(), broken.end(), is_expected);
  });
}

Result<BenchSweep> run_bench_sweep(const SweepRequest& request, SystemUnderTest& system) {
  return Sweep(request, system).run();
}

ReportTable sweep_table(const BenchSweep& sweep) {
  using enum Quantity;
  using Row = SweepPoint;
  std::vector<ColumnOf<Row>> columns = {
      {"", sweep.by_rate ? "requests/s sent" : "clients", kNumber, &Row::load,
       [](const Row& point) { return csv_number(point.load); }},
      {"", "answers/s", kNumber, &Row::answers_per_s,
       [](const Row& point) { return human_number(point.answers_per_s); }},
      {"", "tokens/s", kNumber,
       [](const Row& point) -> ReportValue {
         return point.report.result.tokens > 0 ? ReportValue(point.report.summary.tokens_per_s) : ReportValue();
       },
       [](const Row& point) {
         return point.report.result.tokens > 0 ? human_number(point.report.summary.tokens_per_s) : "-";
       }},
      {"", "answered", kCount, [](const Row& point) { return point.report.result.answered; }}};
  struct Times {
    const char* title;
    LatencySummary LoadSummary::*of;
  };
  for (const Times& times : {Times{"first token", &LoadSummary::ttft}, Times{"per token", &LoadSummary::tpot},
                             Times{"latency", &LoadSummary::latency}}) {
    columns.push_back(
        {"", std::string(times.title) + " p50, p99", kText, [of = times.of](const Row& point) -> ReportValue {
           const LatencySummary& summary = point.report.summary.*of;
           if (summary.count == 0) return {};
           return human_seconds(point_seconds(summary.p50)) + ", " + human_seconds(point_seconds(summary.p99));
         }});
  }
  columns.push_back({"", "kept", kShare,
                     [](const Row& point) -> ReportValue {
                       if (point.report.objectives.empty()) return {};
                       return point.report.objectives.front().kept_share;
                     },
                     1, "share of the requests that keep the first objective"});
  columns.push_back({"", "goodput/s", kNumber, [](const Row& point) -> ReportValue {
                       if (point.report.objectives.empty()) return {};
                       return point.report.objectives.front().goodput_per_s;
                     }});
  columns.push_back({"", "rules broken", kText, [](const Row& point) { return verdict_of(point); }});
  return table_of<Row>("", sweep.points, columns);
}

std::string sweep_verdict(const BenchSweep& sweep) {
  std::string text;
  if (sweep.saturated) {
    const SweepPoint& point = sweep.points[*sweep.saturated];
    text = "SATURATED at " + sweep.load_text(point.load) + ": " + point.saturation;
  } else if (sweep.points.empty()) {
    text = "NOT MEASURED";
  } else {
    text = "NOT SATURATED at " + sweep.load_text(sweep.points.back().load);
    const auto& queue = sweep.points.back().queue;
    if (queue && queue->is_too_short) text += ", as far as such short runs show: a longer --duration tells more";
  }
  if (sweep.is_interrupted) text += "; interrupted";
  if (sweep.error) text += "; ended by " + sweep.error->message;
  return text;
}

Json to_json(const BenchSweep& sweep) {
  Json json{{"schema", kBenchSweepSchema},
            {"by", sweep.by_rate ? "rate" : "concurrency"},
            {"saturated", sweep.saturated.has_value()}};
  if (sweep.saturated) {
    json["saturated_at"] = sweep.points[*sweep.saturated].load;
    json["saturation"] = sweep.points[*sweep.saturated].saturation;
  }
  if (sweep.best) {
    const SweepPoint& best = sweep.points[*sweep.best];
    json["best"] = Json{{"load", best.load}, {"answers_per_s", best.answers_per_s}};
    if (best.report.result.tokens > 0) json["best"]["tokens_per_s"] = best.report.summary.tokens_per_s;
  }
  if (!sweep.points.empty()) json["system"] = sweep.points.front().report.result.system;
  json["points"] = Json::array();
  for (const SweepPoint& point : sweep.points) {
    Json entry = to_json(point.report);
    entry["load"] = point.load;
    entry["answers_per_s"] = point.answers_per_s;
    entry["saturated"] = !point.saturation.empty();
    if (point.queue) {
      entry["queue"] = Json{{"early", point.queue->early},
                            {"late", point.queue->late},
                            {"behind_ratio", point.queue->behind_share},
                            {"too_short", point.queue->is_too_short}};
    }
    json["points"].push_back(std::move(entry));
  }
  if (!sweep.left_out.empty()) json["left_out"] = sweep.left_out;
  if (sweep.overhead) json["client_overhead"] = overhead_json(*sweep.overhead);
  if (sweep.is_interrupted) json["interrupted"] = true;
  if (sweep.error) json["error"] = to_json(*sweep.error);
  if (!sweep.log_folder.empty()) json["log"] = sweep.log_folder;
  return json;
}

}  // namespace perfcast::ai
