// Benchmarks of several scenarios, and forecasts beside them, as people read them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/csv.h"
#include "base/report/table.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/ai/bench_text.h"
#include "cli/shared/energy_text.h"

namespace perfcast::cli {
namespace {

constexpr size_t kSuiteWidth = 118;

std::string energy_of_scenario(const ai::BenchReport& report) {
  if (!report.energy) return "-";
  if (!report.energy->joules) return "no meter";
  const int64_t of = report.result.tokens > 0 ? report.result.tokens : report.result.answered;
  return of > 0 ? joules_in_words(*report.energy->joules / static_cast<double>(of)) : "-";
}

std::string scenarios_table(const ai::BenchSuite& suite) {
  const bool tokens = std::any_of(suite.reports.begin(), suite.reports.end(),
                                  [](const ai::BenchReport& report) { return report.result.tokens > 0; });
  using enum Quantity;
  using Report = ai::BenchReport;
  // One percentile of all scenarios. An offline run's latency is its whole time.
  const auto time = [](const char* title, ai::LatencySummary ai::LoadSummary::*of,
                       int64_t ai::LatencySummary::*percentile) {
    return ColumnOf<Report>("", title, kSpreadSeconds, [=](const Report& report) {
      const ai::LatencySummary& times = report.summary.*of;
      return times.count > 0 ? static_cast<double>(times.*percentile) / 1e9 : kUnknown;
    });
  };
  std::vector<ColumnOf<Report>> columns = {
      {"", "scenario", kText, [](const Report& report) { return to_string(report.result.settings.scenario); }},
      {"", "verdict", kText, bench_verdict},
      {"", "samples", kCount, [](const Report& report) { return report.result.answered; }},
      {"", "samples/s", kHuman, [](const Report& report) { return report.summary.samples_per_s; }},
      time("latency p50", &ai::LoadSummary::latency, &ai::LatencySummary::p50),
      time("p99", &ai::LoadSummary::latency, &ai::LatencySummary::p99)};
  if (tokens) {
    columns.push_back({"", "tokens/s", kHuman, [](const Report& report) { return report.summary.tokens_per_s; }});
    columns.push_back(time("first token p50", &ai::LoadSummary::ttft, &ai::LatencySummary::p50));
    columns.push_back(time("p99", &ai::LoadSummary::ttft, &ai::LatencySummary::p99));
    columns.push_back(time("per token p50", &ai::LoadSummary::tpot, &ai::LatencySummary::p50));
    columns.push_back(time("p99", &ai::LoadSummary::tpot, &ai::LatencySummary::p99));
  }
  columns.push_back({"", tokens ? "energy a token" : "energy a sample", kJoules, energy_of_scenario});
  ReportTable table = table_of<Report>("", suite.reports, columns);
  table.shows_unknown = true;
  return rows_text(table);
}

std::string value_in_words(ai::ForecastQuantity quantity, double value) {
  if (std::isnan(value)) return "-";
  if (quantity == ai::ForecastQuantity::kTokensPerS) return human_number(value);
  return quantity == ai::ForecastQuantity::kJoulesPerToken ? joules_in_words(value) : human_seconds(value);
}

std::string load_table(const ai::BenchForecast& forecast) {
  TextTable table;
  table.add_column("scenario", TextTable::Align::kLeft);
  table.add_column("mean", TextTable::Align::kLeft);
  const bool rough = forecast.comparison.request.quick;
  for (const char* const title : {"forecast", rough ? "rough interval" : "90% interval", "measured", "off by"}) {
    table.add_column(title, TextTable::Align::kRight);
  }
  table.add_column("", TextTable::Align::kLeft);
  for (const ai::BenchForecastRow& row : forecast.rows) {
    table.add_row({to_string(row.scenario), ai::title_of(row.quantity), value_in_words(row.quantity, row.forecast),
                   !row.no_interval.empty()
                       ? "-"
                       : value_in_words(row.quantity, row.lower) + " .. " + value_in_words(row.quantity, row.upper),
                   value_in_words(row.quantity, row.measured),
                   std::isnan(row.measured) ? "-" : fmt::format("{:+.1f}%", 100 * (row.forecast / row.measured - 1)),
                   !row.no_interval.empty() ? "no interval"
                   : row.outside()          ? "outside"
                                            : ""});
  }
  return table.to_text();
}

// Why rows have no interval, each reason once with its scenarios.
std::string no_interval_text(const ai::BenchForecast& forecast) {
  std::map<std::string, std::vector<std::string>> scenarios;
  for (const ai::BenchForecastRow& row : forecast.rows) {
    for (const std::string& why : row.no_interval) {
      std::vector<std::string>& named = scenarios[why];
      if (named.empty() || named.back() != to_string(row.scenario)) named.push_back(to_string(row.scenario));
    }
  }
  std::string text;
  for (const auto& [why, named] : scenarios) {
    text += wrapped("no interval, " + join(named, ", ") + ": " + why, kSuiteWidth, "", "  ");
    text += '\n';
  }
  return text;
}

// Another forecast of the same steps, which knows of this machine what a data sheet would.
std::string llm_forecast_table(const ai::BenchForecast& forecast) {
  if (!forecast.no_llm_steps.empty()) {
    return wrapped("perfcast llm forecast gives no forecast: " + printable(forecast.no_llm_steps), kSuiteWidth, "",
                   "  ") +
           "\n";
  }
  return "the forecast of perfcast llm forecast for a device with the bandwidth and the peaks measured here\n" +
         rows_text(ai::llm_steps_table(forecast.llm_steps));
}

std::string outside_of_forecast(const ai::BenchForecastRow& row) {
  const std::string what = row.farthest_operator.empty()
                               ? "each of its steps lies within its own interval, so the difference arises between the "
                                 "steps, or from other work on this machine"
                               : "most of the steps' difference comes from '" + row.farthest_operator + "'";
  return to_string(row.scenario) + ", " + ai::title_of(row.quantity) + ": measured " +
         value_in_words(row.quantity, row.measured) + " lies " + (row.measured > row.upper ? "above" : "below") +
         " the interval; " + what;
}

}  // namespace

std::string bench_suite_text(const ai::BenchSuite& suite) {
  const auto runs_with = [&suite](const char* verdict) {
    return std::count_if(suite.reports.begin(), suite.reports.end(),
                         [&](const ai::BenchReport& report) { return bench_verdict(report) == verdict; });
  };
  std::string text = "VALID: every rule is kept in every scenario\n";
  if (const auto broken = runs_with("INVALID"); broken > 0) {
    text = fmt::format("INVALID: rules are broken in {} of {} scenarios\n", broken, suite.reports.size());
  } else if (suite.error) {
    text = fmt::format("INVALID: the run ended after {} of {} scenarios\n", suite.reports.size(),
                       ai::suite_scenarios().size());
  } else if (const auto missed = runs_with("MISSED"); missed > 0) {
    text = fmt::format("MISSED: objectives are missed in {} of {} scenarios\n", missed, suite.reports.size());
  } else if (const auto brief = runs_with("NOT COMPARABLE"); brief > 0) {
    text = fmt::format("NOT COMPARABLE: {} of {} scenarios are too short for the field's rules\n", brief,
                       suite.reports.size());
  }
  if (suite.reports.empty()) return text;
  text += wrapped(printable(suite.reports.front().result.system), kSuiteWidth, "system  ", "        ") + "\n\n";
  text += scenarios_table(suite);
  if (suite.error) text += wrapped("ended early: " + printable(suite.error->message), kSuiteWidth, "", "  ") + "\n";
  std::vector<std::string> why_not;
  for (const ai::BenchReport& report : suite.reports) {
    const ai::LoadSettings& settings = report.result.settings;
    if (settings.scenario == ai::LoadScenario::kServer) {
      text += fmt::format("server: {} queries/s were due{}\n", human_number(settings.target_qps),
                          report.rate_source.empty() || report.peak_qps ? "" : ", " + report.rate_source);
    }
    if (report.attempts > 1) {
      text += fmt::format("{}: the last of {} runs; the earlier ones were too short\n", to_string(settings.scenario),
                          report.attempts);
    }
    for (const ai::LoadViolation& violation : report.verdict.violations) {
      text += wrapped(to_string(settings.scenario) + ", " + violation.rule + ": " + printable(violation.message),
                      kSuiteWidth, "", "  ") +
              "\n";
      if (!violation.mend.empty()) text += wrapped("mend: " + violation.mend, kSuiteWidth, "  ", "    ") + "\n";
    }
    for (const std::string& reason : report.not_comparable) {
      if (std::find(why_not.begin(), why_not.end(), reason) == why_not.end()) why_not.push_back(reason);
    }
  }
  if (!why_not.empty()) {
    text +=
        "\n" + wrapped("not comparable with published results: " + printable(join(why_not, "; ")), kSuiteWidth) + "\n";
  }
  const std::string& log = suite.reports.front().log_folder;
  if (log.empty()) return text;
  return text + (why_not.empty() ? "\n" : "") + "log: " + printable(log.substr(0, log.rfind('/'))) +
         ", a folder for each scenario\n";
}

std::string bench_sweep_text(const ai::BenchSweep& sweep) {
  std::string text = wrapped(printable(ai::sweep_verdict(sweep)), kSuiteWidth, "", "  ") + "\n";
  const ai::BenchReport& first = sweep.points.front().report;
  text += "system        " + printable(first.result.system) + "\n";
  if (sweep.best) {
    const ai::SweepPoint& best = sweep.points[*sweep.best];
    text += "highest       " + human_number(best.answers_per_s) + " answers/s at " + sweep.load_text(best.load) + "\n";
  }
  if (sweep.overhead) {
    text += wrapped(ai::overhead_text(*sweep.overhead), kSuiteWidth, "client        ", std::string(14, ' ')) + "\n";
  }
  text += "\n" + rows_text(ai::sweep_table(sweep), {.width = kSuiteWidth});
  for (const ai::SweepPoint& point : sweep.points) {
    for (const ai::LoadViolation& violation : point.report.verdict.violations) {
      text += wrapped(sweep.load_text(point.load) + ", " + violation.rule + ": " + printable(violation.message),
                      kSuiteWidth, "", "  ") +
              "\n";
    }
  }
  if (!sweep.left_out.empty()) {
    std::vector<std::string> loads;
    for (const double load : sweep.left_out) loads.push_back(csv_number(load));
    text += wrapped("not run: " + join(loads, ", "), kSuiteWidth, "", "  ") + "\n";
  }
  if (!sweep.log_folder.empty()) text += "log: " + printable(sweep.log_folder) + ", a folder for each load\n";
  return text;
}

std::string bench_forecast_text(const ai::BenchForecast& forecast) {
  std::string text = "forecast beside measured, on this machine\n\n" + load_table(forecast);
  text += no_interval_text(forecast);
  const auto scope = forecast.comparison.power_scope;
  const bool rows = std::any_of(forecast.rows.begin(), forecast.rows.end(), [](const ai::BenchForecastRow& row) {
    return row.quantity == ai::ForecastQuantity::kJoulesPerToken;
  });
  if (!scope) {
    text += "energy: no meter of a server, a board or CPU packages\n";
  } else {
    text += "energy: joules of scope '" + to_string(*scope) + "'" + (rows ? "" : ", which no run has") + "\n";
  }
  for (const ai::BenchForecastRow& row : forecast.rows) {
    if (row.outside()) text += wrapped(outside_of_forecast(row), kSuiteWidth, "", "  ") + "\n";
  }
  return text + "\n" + llm_forecast_table(forecast) + "\n" + to_text(forecast.comparison, true);
}

}  // namespace perfcast::cli
