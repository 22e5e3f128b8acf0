#include "ai/bench/bench_tables.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast::ai {
namespace {

std::string ns_in_words(int64_t time_ns) { return human_seconds(static_cast<double>(time_ns) / 1e9); }

std::string per_second(double rate) { return human_number(rate) + "/s"; }

}  // namespace

ReportTable latency_table(const std::vector<NamedLatency>& rows) {
  const auto time = [](const char* name, const char* title, int64_t LatencySummary::*of, bool always = false) {
    return ColumnOf<NamedLatency>(
        name, title, Quantity::kNumber,
        [=](const NamedLatency& row) { return row.only_some && !always ? ReportValue() : ReportValue(row.times.*of); },
        [=](const NamedLatency& row) { return row.only_some && !always ? "-" : ns_in_words(row.times.*of); });
  };
  return table_of<NamedLatency>("", rows,
                                {{"", "time", Quantity::kText, &NamedLatency::name},
                                 time("p50", "p50", &LatencySummary::p50, true),
                                 time("p90", "p90", &LatencySummary::p90),
                                 time("p95", "p95", &LatencySummary::p95),
                                 time("p97", "", &LatencySummary::p97),
                                 time("p99", "p99", &LatencySummary::p99, true),
                                 time("p999", "p99.9", &LatencySummary::p999),
                                 time("min", "", &LatencySummary::min),
                                 time("max", "max", &LatencySummary::max),
                                 time("mean", "mean", &LatencySummary::mean),
                                 time("count", "", &LatencySummary::count, true)});
}

ReportTable objectives_table(const std::vector<ObjectiveOutcome>& outcomes) {
  using enum Quantity;
  using Row = ObjectiveOutcome;
  return table_of<Row>("", outcomes,
                       {{"objective", "objective", kText, [](const Row& row) { return row.objective.text; }},
                        {"share", "asked", kShare, [](const Row& row) { return row.objective.share; },
                         [](const Row& row) { return fmt::format("{:.6g}%", 100 * row.objective.share); }},
                        {"kept_share", "kept by", kShare, &Row::kept_share, 2},
                        {"kept", "", kCount, &Row::kept},
                        {"met", "met", kYes, &Row::met},
                        {"goodput_per_s", "goodput", kHuman, &Row::goodput_per_s,
                         [](const Row& row) { return per_second(row.goodput_per_s); }}});
}

ReportTable trials_table(const std::vector<PeakTrial>& trials) {
  using enum Quantity;
  using Row = PeakTrial;
  return table_of<Row>("", trials,
                       {{"target_qps", "rate tried", kHuman, &Row::target_qps,
                         [](const Row& row) { return per_second(row.target_qps); }},
                        {"valid", "", kYes, &Row::valid},
                        {"queries", "queries", kCount, &Row::queries},
                        {"queries_per_s", "completed", kHuman, &Row::completed_per_s,
                         [](const Row& row) { return per_second(row.completed_per_s); }},
                        {"latency_p99_ns", "p99", kNumber, &Row::latency_p99_ns,
                         [](const Row& row) { return ns_in_words(row.latency_p99_ns); }},
                        {"broken_rules", "verdict", kText, &Row::broken_rules,
                         [](const Row& row) { return row.valid ? "valid" : join(row.broken_rules, ", "); }}});
}

}  // namespace perfcast::ai
