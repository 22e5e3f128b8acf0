#include "cli/shared/forecast_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::cli {
namespace {

using testing::HasSubstr;

program::PlatformRow row_of(const std::string& name, double rpv, std::optional<double> time_s) {
  program::PlatformRow row;
  row.platform.name = name;
  row.rpv = rpv;
  row.lower = 0.8 * rpv;
  row.upper = 1.25 * rpv;
  row.time_s = time_s;
  return row;
}

program::ForecastReport two_platforms() {
  program::ForecastReport report;
  report.program = "sort";
  report.reference_name = "the mean over 2 platforms";
  report.nearest = {{"qsort", 0.1}, {"merge", 0.2}};
  report.host_cpu = "Example 200";
  report.rows = {row_of("Example 100", 0.5, 0.0763), row_of("Example 200", 2, 0.1603)};
  report.rows[1].is_host = report.rows[1].is_measured = true;
  report.rows[0].time_lower_s = 0.05;
  report.rows[0].time_upper_s = 0.1;
  report.rows[1].time_lower_s = report.rows[1].time_upper_s = report.rows[1].time_s;
  report.time_basis = "cpu";
  return report;
}

TEST(ForecastText, IsATableOfPlatforms) {
  EXPECT_EQ(forecast_text(two_platforms(), {.explain = false, .most_rows = 20}),
            "fastest: Example 100, 76.3 ms a run (90%: 50.0 .. 100.0 ms)\nhow sure: in distribution (nearest: qsort, "
            "merge)\n\nplatform     rel. time  90% interval  CPU time      90% interval\nExample 100       0.50  0.40 "
            ".. 0.62   76.3 ms  50.0 .. 100.0 ms\nExample 200       2.00  1.60 .. 2.50  160.3 ms                    "
            "nearest to this host, measured\n\nprogram: sort; times relative to the mean over 2 platforms\nhost: "
            "Example 200; similar to no known platform; seconds come from times that were measured elsewhere\n");
}

TEST(ForecastText, IsAlsoAPageATableOfNumbersAndColoured) {
  program::ForecastReport report = two_platforms();
  report.rows[0].platform.name = "Example \"100\" | a, b";
  const std::string page = forecast_text(report, {.is_markdown = true});
  EXPECT_THAT(page, HasSubstr("|---|---:|---:|---:|---:|---|\n| Example \"100\" \\| a, b | 0.50 | 0.40 .. 0.62 |"));
  const std::string csv = forecast_csv(report);
  EXPECT_THAT(csv, HasSubstr("\"Example \"\"100\"\" | a, b\",,,,0.5,0.4,0.625,0.0763,0.05,0.1,,0,0\n"));
  EXPECT_THAT(csv, HasSubstr("2.5,0.1603,0.1603,0.1603,,1,1\n"));
  report.in_distribution = false;
  EXPECT_THAT(forecast_text(report, {.is_coloured = true}),
              HasSubstr("\x1b[1;31mOUT OF DISTRIBUTION\x1b[0m: the intervals"));
}

TEST(ForecastText, ShowsTheFastestAndWhatTheUserKnows) {
  program::ForecastReport report = two_platforms();
  for (int i = 0; i < 30; ++i) report.rows.push_back(row_of("Other " + std::to_string(i), 3 + i, 1));
  report.rows[25].is_host = true;
  const std::string text = forecast_text(report, {.explain = false, .most_rows = 20});
  EXPECT_THAT(text, HasSubstr("Other 17 "));
  EXPECT_THAT(text, testing::Not(HasSubstr("Other 18 ")));
  EXPECT_THAT(text, HasSubstr("Other 23 "));  // the host
  EXPECT_THAT(text, HasSubstr("\n11 more platforms: --all shows them, --filter narrows the table\n"));
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 0}), HasSubstr("Other 29 "));
}

TEST(ForecastText, SaysLoudlyWhatIsOutOfDistribution) {
  program::ForecastReport report = two_platforms();
  report.in_distribution = false;
  report.warnings = {{"waits", "it sleeps", ""}, {"clock-bound", "its time does not grow", "fix the work"}};
  report.outside = {"clock-bound"};
  report.notes = {"a note"};
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}),
              HasSubstr("OUT OF DISTRIBUTION: the intervals are wider, and may still be too narrow (nearest: qsort, "
                        "merge)\n  reason: its time does not grow\n    advice: fix the work\n  warning: it sleeps\n"));
  report.unanswered = "all cores: no forecast";
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}),
              testing::StartsWith("all cores: no forecast\nfastest: "));
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}), HasSubstr("\nnote: a note\n"));
}

TEST(ForecastText, ListsInstances) {
  program::ForecastReport report = two_platforms();
  EXPECT_EQ(forecast_text(report, {.explain = false, .most_rows = 20}).find("vCPUs"), std::string::npos);
  program::InstanceRow instance;
  instance.server.vendor = "cloud-a";
  instance.server.name = "m2.x1";
  instance.server.vcpus = 4;
  report.rows[0].instances = {instance};
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}),
              HasSubstr("cloud    instance  platform     vCPUs\n"
                        "cloud-a  m2.x1     Example 100      4\n"));
  report.rows[0].instances[0].wall_s = 2;
  report.rows[0].instances[0].copies = 3;
  report.rows[0].instances[0].memory_limits = true;
  report.rows[0].instances[0].runs_per_hour = 5000;
  report.rows[0].instances[0].runs_per_hour_lower = 4000;
  report.rows[0].instances[0].runs_per_hour_upper = 6250;
  report.rows[0].instances[0].price_per_hour = 0.05;
  report.rows[0].instances[0].cost_per_1000 = 0.01;
  report.currency = "EUR";
  report.choice.fastest = {"cloud-a", "m2.x1", "Example 100", 2, 0.01, 3, 0.875};
  report.choice.cheapest = report.choice.compromise = report.choice.fastest;
  EXPECT_THAT(
      forecast_text(report, {.explain = false, .most_rows = 20}),
      HasSubstr("one run  copies  runs/hour   90% interval  price/hour EUR  cost/1000 runs EUR\n"
                "cloud-a  m2.x1     Example 100      4   2.00 s      3*        5 k  4 k .. 6.25 k            0.05"
                "              0.0100\n"));
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}),
              HasSubstr("fastest and cheapest: cloud-a m2.x1 (Example 100): 2 s a run, 0.0100 EUR per 1000 runs with 3 "
                        "copies side by side; 88%\n  likely within 5% of the best\n"));
  EXPECT_THAT(instances_csv(report),
              HasSubstr("\ncloud-a,m2.x1,Example 100,4,,2,3,1,5000,4000,6250,0.05,0.01,EUR,own\n"));
  report.choice.fastest->server = "m9.x1";
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}),
              HasSubstr("\ncheapest within 1.2x of the fastest: cloud-a m2.x1\n"));
}

TEST(ForecastText, SaysWhereCyclesGoOnTheFastestHostsAndSlowestDesign) {
  program::ForecastReport report = two_platforms();
  report.core_designs = {{"zen5", 0.5, {{"memory", 0.5}}, "Example 100", false, true},
                         {"zen4", 1, {{"memory", 0.25}, {"L1", 0.75}}, "Example 200", true, true},
                         {"zen3", 1.5, {{"width", 1}}, "Example 250", false, true},
                         {"zen2", 2, {{"float", 0.7}}, "Example 300", false, true},
                         {"neoverse-n1", 3, {{"TLB", 1}}, "Example 400", false, false}};
  EXPECT_THAT(forecast_text(report, {.explain = false, .most_rows = 20}), testing::Not(HasSubstr("cores: on")));
  EXPECT_THAT(forecast_text(report, {.explain = true, .most_rows = 20}),
              HasSubstr("\ncores: on zen5 (Example 100) cycles go to memory 50%; on zen4 (this host) to L1 75%, memory "
                        "25%; on zen2 (Example 300)\n  to float 70%\n"));
  const std::string explained = forecast_text(report, {.explain = true, .most_rows = 20});
  EXPECT_THAT(explained, HasSubstr("zen3                            1.500  width 100%\n"));
  EXPECT_THAT(explained, HasSubstr("L1 75%, memory 25%  this host\n"));
  EXPECT_THAT(explained,
              HasSubstr("neoverse-n1 *                   3.000  TLB 100%\n*: this core has another instruction set"));
  report.core_designs[1].memory_is_least = true;
  const std::string raised = forecast_text(report, {.explain = true, .most_rows = 20});
  EXPECT_THAT(raised, HasSubstr("\n  to float 70%; memory is the least that counts allow\n"));
  EXPECT_THAT(raised, HasSubstr("L1 75%, memory 25% +  this host\n"));
  EXPECT_THAT(raised, HasSubstr("\n+: the pieces of the run missed waits for memory; its counts say so much at the "
                                "least\n*: this core"));
}

TEST(ForecastText, ExplanationNamesPlatformsInFull) {
  program::ForecastReport report = two_platforms();
  const std::string long_name = "a platform of a very long name, with all of its 24 cores and threads ";
  report.rows.clear();
  for (int j = 0; j < 6; ++j) {
    report.forecast_ids.push_back("p" + std::to_string(j));
    report.forecast_names.push_back(long_name + std::to_string(j));
    program::PlatformRow row;
    row.platform.id = report.forecast_ids.back();
    row.platform.name = report.forecast_names.back();
    report.rows.push_back(row);
  }
  report.attribution.deviation_log = Eigen::VectorXd::LinSpaced(6, -0.5, 0.5);
  report.attribution.groups = {{"memory", 1, report.attribution.deviation_log}};
  const std::string text = forecast_text(report, {.explain = true, .most_rows = 20});
  // The two where it stands out most, either way.
  EXPECT_THAT(text, HasSubstr("(1) " + long_name + "0\n  (2) " + long_name + "1\n  (3) " + long_name + "4\n  (4) " +
                              long_name + "5\n"));
  EXPECT_THAT(text, HasSubstr("together"));
  EXPECT_THAT(text, HasSubstr("x0.61"));
  EXPECT_THAT(text, HasSubstr("x1.65"));
  EXPECT_EQ(forecast_text(report, {.explain = false, .most_rows = 20}).find("together"), std::string::npos);
  // A forecast input by input: names in full, in lines of their own, and what the effects come to.
  program::ForecastBreakdown breakdown;
  breakdown.platform = 5;
  breakdown.against = 0;
  program::ForecastAttribution& apart = breakdown.attribution;
  apart.inputs = {{"rate_loads", "memory", "memory reads per instruction", "per instruction", 0.25, 0.00125},
                  {"share_branch_miss", "branch", "time in branch mispredictions", "share of time", 0.082, 0.0214}};
  apart.log = Eigen::MatrixXd::Zero(2, 6);
  apart.log(0, 5) = 0.1;
  apart.log(1, 0) = 0.2;
  apart.groups = {"memory", "branch"};
  apart.group_log = apart.log;
  apart.baseline_log = Eigen::VectorXd::Zero(6);
  apart.forecast_log = apart.log.colwise().sum();
  apart.parts = {{"forest", program::AttributionMethod::kTreeShap, 0}};
  report.breakdown = breakdown;
  report.rows[1].is_measured = false;
  const std::string shown = forecast_text(report, {.explain = true, .most_rows = 20});
  EXPECT_THAT(shown, HasSubstr("\ninput by input: " + long_name +
                               "5 against a platform of a very\n  long name, with all of its 24 cores and threads 0\n  "
                               "an input is what the model sees of the program; the effects, multiplied, give the "
                               "forecast\n"));
  EXPECT_THAT(shown, HasSubstr("effect  input                          this program       a typical one\n"
                               "x0.819  time in branch mispredictions          8.2%                2.1%\n"
                               "x1.105  memory reads per instruction          0.250  1.25 in a thousand\n"));
  EXPECT_THAT(shown, HasSubstr("x0.905  together: the forecast"));
  // Of those that are asked for alone.
  report.rows.erase(report.rows.begin());
  EXPECT_THAT(forecast_text(report, {.explain = true, .most_rows = 20}), HasSubstr("(1) " + long_name + "1\n"));
}

}  // namespace
}  // namespace perfcast::cli
