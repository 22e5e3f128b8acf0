#include "program/forecast/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "profile/core/design.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"

namespace perfcast::program {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Profile example() { return synthetic_profile({}, 11); }

ForecastReport report_of(const ForecastRequest& request, const Profile& profile = example()) {
  auto report = forecast_program(synthetic_forecaster(), profile, request);
  if (!report) throw std::runtime_error(to_text(report.error()));
  return std::move(*report);
}

std::string error_of(const ForecastRequest& request, const Profile& profile = example()) {
  const auto report = forecast_program(synthetic_forecaster(), profile, request);
  return report ? "" : report.error().code;
}

double geometric_mean_rpv(const ForecastReport& report) {
  double sum = 0;
  for (const PlatformRow& row : report.rows) sum += std::log(row.rpv);
  return std::exp(sum / static_cast<double>(report.rows.size()));
}

TEST(ForecastReport, SortsPlatformsAgainstTheirMean) {
  const ForecastReport report = report_of({});
  ASSERT_THAT(report.rows, SizeIs(6));
  for (size_t i = 1; i < report.rows.size(); ++i) EXPECT_LE(report.rows[i - 1].rpv, report.rows[i].rpv);
  for (const PlatformRow& row : report.rows) {
    EXPECT_LT(row.lower, row.rpv);
    EXPECT_LT(row.rpv, row.upper);
  }
  EXPECT_NEAR(geometric_mean_rpv(report), 1, 1e-9);
}

TEST(ForecastReport, SaysWhatModelsOfCoresPutItsCyclesDownTo) {
  EXPECT_THAT(report_of({}).core_designs, SizeIs(0));  // an older profile
  Profile profile = example();
  profile.metrics["core_zen3_cycles_count"] = 2 * profile.metrics.at("instructions_count");
  profile.core_bounds = {{"zen3", {{"memory", 0.5}, {"L1", 0.25}}}, {"zen5", {{"width", 1}}}};
  const ForecastReport report = report_of({}, profile);
  ASSERT_THAT(report.core_designs, SizeIs(1));  // no platform carries Zen 5
  const CoreDesignRow& row = report.core_designs.front();
  EXPECT_EQ(row.design, "zen3");
  EXPECT_DOUBLE_EQ(row.cycles_per_instruction, 2);
  EXPECT_EQ(row.cycles_ratio_by_bound, profile.core_bounds.at("zen3"));
  EXPECT_TRUE(row.is_own);
  for (const PlatformRow& platform : report.rows) {
    if (platform.platform.name == row.fastest_platform) break;
    EXPECT_NE(platform.platform.vendor, "AMD") << "is faster, of the same design";
  }
  EXPECT_EQ(to_json(report)["explanation"]["core_designs"][0]["cycles_ratio_by_bound"]["memory"], 0.5);
  EXPECT_FALSE(row.memory_is_least);
}

// A tenth of the instructions wait for memory, ten at once, for 300 cycles: 3 cycles an instruction at the least.
TEST(ForecastReport, HoldsWaitsForMemoryAgainstTheCounts) {
  Profile profile = example();
  const double instructions = profile.metrics.at("instructions_count");
  profile.metrics["core_zen3_cycles_count"] = 2 * instructions;
  profile.metrics["miss_32m_random_count"] = 0.1 * instructions;
  profile.core_bounds = {{"zen3", {{"memory", 0.5}, {"L1", 0.5}}}};
  CoreDesign zen3;
  zen3.name = "zen3";
  zen3.l3_bytes = 32 << 20;
  zen3.memory_ns = 100;
  zen3.clock_hz = 3e9;
  zen3.misses = 10;
  ForecastRequest request;
  request.core_designs = std::make_shared<const std::vector<CoreDesign>>(std::vector<CoreDesign>{zen3});
  const ForecastReport report = report_of(request, profile);
  ASSERT_THAT(report.core_designs, SizeIs(1));
  const CoreDesignRow& row = report.core_designs.front();
  EXPECT_TRUE(row.memory_is_least);
  EXPECT_DOUBLE_EQ(row.cycles_per_instruction, 4);
  EXPECT_DOUBLE_EQ(row.cycles_ratio_by_bound.at("memory"), 0.75);
  EXPECT_DOUBLE_EQ(row.cycles_ratio_by_bound.at("L1"), 0.25);
  EXPECT_EQ(to_json(report)["explanation"]["core_designs"][0]["memory_is_least"], true);
}

TEST(ForecastReport, TellsSecondsFromTheRunOnTheHost) {
  const ForecastReport report = report_of({});
  ASSERT_TRUE(report.host_platform);
  EXPECT_EQ(report.host_platform->id, "example-200");
  EXPECT_EQ(report.time_basis, "cpu");
  for (const PlatformRow& row : report.rows) {
    ASSERT_TRUE(row.time_s);
    if (!row.is_host) continue;
    EXPECT_NEAR(*row.time_s, *report.host_time_s, 1e-9);
    EXPECT_NEAR(*row.time_lower_s, *report.host_time_s, 1e-9);
  }
  EXPECT_NEAR(*report.rows[0].time_s / *report.rows[1].time_s, report.rows[0].rpv / report.rows[1].rpv, 1e-9);
}

const PlatformRow& host_row(const ForecastReport& report) {
  for (const PlatformRow& row : report.rows) {
    if (row.is_host) return row;
  }
  throw std::runtime_error("no row is the host's");
}

// A host that was only taken for a platform may be another CPU of its kind: even that platform's seconds are uncertain,
// and the more so the less the match is worth.
TEST(ForecastReport, SecondsKnowThatTheHostMayBeAnother) {
  Profile by_model = example(), nearest = example();
  by_model.host.name = nearest.host.name = "Intel(R) Xeon(R) Processor";
  nearest.host.model = 99;
  const ForecastReport named = report_of({}), modelled = report_of({}, by_model), near = report_of({}, nearest);
  ASSERT_EQ(modelled.host->certainty, HostMatch::Certainty::kModel);
  ASSERT_EQ(near.host->certainty, HostMatch::Certainty::kNearest);
  for (const ForecastReport* report : {&modelled, &near}) {
    const PlatformRow& host = host_row(*report);
    EXPECT_LT(*host.time_lower_s, 0.99 * *host.time_s);
    EXPECT_GT(*host.time_upper_s, 1.01 * *host.time_s);
  }
  for (size_t i = 0; i < named.rows.size(); ++i) {
    EXPECT_GT(*modelled.rows[i].time_upper_s, *named.rows[i].time_upper_s);
    EXPECT_LT(*modelled.rows[i].time_lower_s, *named.rows[i].time_lower_s);
    EXPECT_NEAR(modelled.rows[i].upper, named.rows[i].upper, 1e-12);  // relative times don't depend on the match
  }
}

TEST(ForecastReport, SaysWhereMeasuredTimesContradictTheRunHere) {
  Profile nearest = example();
  nearest.host.name = "Intel(R) Xeon(R) Processor";
  nearest.host.model = 99;
  const ForecastReport plain = report_of({}, nearest);
  const PlatformRow& first = plain.rows.front();
  ForecastRequest request;
  request.measured_s = {{first.platform.name, *first.time_s}};
  const auto agreeing = report_of(request, nearest).notes;
  EXPECT_THAT(agreeing, Contains(HasSubstr("not from the run here")));
  EXPECT_THAT(agreeing, Not(Contains(HasSubstr("of what the run here took"))));
  request.measured_s = {{first.platform.name, 10 * *first.time_s}};
  EXPECT_THAT(report_of(request, nearest).notes, Contains(HasSubstr("10.0x of what the run here took")));
}

// On a host that is surely known the run here counts as measured, and still doesn't hide that a time is out of line.
TEST(ForecastReport, SaysWhereMeasuredTimesContradictTheRunOnASureHost) {
  const ForecastReport plain = report_of({});
  ASSERT_EQ(plain.host->certainty, HostMatch::Certainty::kName);
  const PlatformRow& other = plain.rows[plain.rows.front().is_host ? 1 : 0];
  ForecastRequest request;
  request.measured_s = {{other.platform.name, *other.time_s}};
  EXPECT_THAT(report_of(request).notes, Not(Contains(HasSubstr("of what the run here took"))));
  request.measured_s = {{other.platform.name, 1000 * *other.time_s}};
  EXPECT_THAT(report_of(request).notes, Contains(HasSubstr("of what the run here took")));
}

TEST(ForecastReport, SaysWhereMeasuredTimesContradictEachOther) {
  const ForecastReport plain = report_of({});
  const PlatformRow &one = plain.rows[0], &other = plain.rows[1];
  ForecastRequest request;
  request.measured_s = {{one.platform.name, *one.time_s}, {other.platform.name, *other.time_s}};
  EXPECT_THAT(report_of(request).notes, Not(Contains(HasSubstr("apart from what the forecast"))));
  request.measured_s = {{one.platform.name, *one.time_s}, {other.platform.name, 40 * *other.time_s}};
  const ForecastReport report = report_of(request);
  // The run here is a third time: of three it can be told which one is out of line.
  EXPECT_THAT(report.out_of_line,
              HasSubstr("the measured time of " + other.platform.name + " is 40.0x of what the other"));
  EXPECT_THAT(report.notes, Contains(HasSubstr(report.out_of_line)));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("of what the run here took"))));
  Profile elsewhere = example();  // no run that counts
  elsewhere.host.vendor = "CentaurHauls";
  EXPECT_THAT(report_of(request, elsewhere).notes, Contains(HasSubstr("40.0x apart from the forecast without them")));
}

// It can be the run here that is out of line; a nearest match of the host is no evidence against anybody.
TEST(ForecastReport, SaysWhenTheRunHereIsOutOfLine) {
  const ForecastReport plain = report_of({});
  ForecastRequest request;
  for (const PlatformRow& row : plain.rows) {
    if (!row.is_host && request.measured_s.size() < 2) {
      request.measured_s.emplace_back(row.platform.name, 10 * *row.time_s);
    }
  }
  ASSERT_EQ(request.measured_s.size(), 2U);
  EXPECT_THAT(report_of(request).out_of_line,
              HasSubstr("the run here took 0.1x of what the measured times and the forecast imply"));
  Profile nearest = example();
  nearest.host.name = "Intel(R) Xeon(R) Processor";
  nearest.host.model = 99;
  const std::string out_of_line = report_of(request, nearest).out_of_line;
  EXPECT_THAT(out_of_line, HasSubstr("the measured times put this host at 10.0x of what the run here took"));
  for (const auto& [name, seconds] : request.measured_s) EXPECT_THAT(out_of_line, Not(HasSubstr(name)));
}

TEST(ForecastReport, SaysWhichUnitWouldFitAndRefusesOnlyWhenStrict) {
  const ForecastReport plain = report_of({});
  const PlatformRow &one = plain.rows[0], &other = plain.rows[1];
  ForecastRequest request;
  request.measured_s = {{one.platform.name, *one.time_s}, {other.platform.name, 1000 * *other.time_s}};
  const ForecastReport report = report_of(request);
  EXPECT_THAT(report.out_of_line, HasSubstr("is 1000x of what"));
  EXPECT_THAT(report.out_of_line, HasSubstr("was it in milliseconds?"));
  request.strict = true;
  EXPECT_EQ(error_of(request), "contradicting-times");
  request.measured_s[1].second /= 1000;
  EXPECT_EQ(error_of(request), "");
}

// All in milliseconds: they agree with each other, not with the run here.
TEST(ForecastReport, SaysThatAllTimesAreInAnotherUnit) {
  const ForecastReport plain = report_of({});
  const PlatformRow &one = plain.rows[0], &other = plain.rows[1];
  ForecastRequest request;
  request.measured_s = {{one.platform.name, 1000 * *one.time_s}, {other.platform.name, 1000 * *other.time_s}};
  EXPECT_THAT(report_of(request).out_of_line, HasSubstr("of what the run here implies: were they in milliseconds?"));
  const auto host =
      std::find_if(plain.rows.begin(), plain.rows.end(), [](const PlatformRow& row) { return row.is_host; });
  request.measured_s = {{one.platform.name, 1000 * *one.time_s}, {host->platform.name, 1000 * *plain.host_time_s}};
  const ForecastReport on_host = report_of(request);
  EXPECT_THAT(on_host.out_of_line,
              HasSubstr("the measured time of " + host->platform.name + " is 1000x of what the run here took on it"));
  EXPECT_THAT(on_host.out_of_line, HasSubstr("was it in milliseconds?"));
  request.strict = true;
  EXPECT_EQ(error_of(request), "contradicting-times");
}

TEST(ForecastReport, RowsThatWereMeasuredShowWhatWasGiven) {
  const ForecastReport plain = report_of({});
  ForecastRequest request;
  request.measured_s = {{plain.rows[0].platform.name, 1.5 * *plain.rows[0].time_s}};
  for (const PlatformRow& row : report_of(request).rows) {
    if (row.platform.id == plain.rows[0].platform.id) {
      EXPECT_DOUBLE_EQ(*row.time_s, 1.5 * *plain.rows[0].time_s);
      EXPECT_EQ(row.time_lower_s, row.time_upper_s);
    } else if (!row.is_measured) {
      EXPECT_LT(*row.time_lower_s, *row.time_upper_s);
    }
  }
}

TEST(ForecastReport, TheUserMayNameTheHost) {
  Profile hidden = example();
  hidden.host.name = "AMD EPYC";
  ForecastRequest request;
  request.host = "Example 500";
  const ForecastReport report = report_of(request, hidden);
  EXPECT_EQ(report.host_platform->id, "example-500");
  EXPECT_EQ(report.host->certainty, HostMatch::Certainty::kName);
  EXPECT_TRUE(report.host_runners_up.empty());
  // A CPU may hide its name, not what it runs, nor its maker.
  for (const char* impossible : {"Example 600", "Example 400"}) {
    request.host = impossible;
    EXPECT_EQ(error_of(request, hidden), "bad-usage") << impossible;
  }
  request.host = "Exmaple 600";
  EXPECT_EQ(error_of(request, hidden), "unknown-platform");
  EXPECT_EQ(check_request(synthetic_forecaster(), request).error().where, "host");
}

TEST(ForecastReport, AnInstanceStandsForItsPlatform) {
  const Server& server = synthetic_forecaster().bundle().servers.front();
  ForecastRequest request;
  request.reference = server.vendor + " " + server.name;
  EXPECT_EQ(report_of(request).reference, server.platform);
  request.reference = "m9.x9";
  const Status status = check_request(synthetic_forecaster(), request);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().expected, HasSubstr("for example cloud-a m1.x"));
}

TEST(ForecastReport, SaysThatSecondsAreSummedOverThreads) {
  Profile profile = example();
  profile.metrics["threads_peak_count"] = 3;  // which may all wait for each other
  EXPECT_THAT(report_of({}, profile).notes, Not(Contains(HasSubstr("at a time"))));
  for (const double running : {1.0, 1.0, 1.0, 2.5}) {
    CourseInterval interval;
    interval.length_s = 0.1;
    interval.running_count = running;
    profile.course.push_back(interval);
  }
  EXPECT_THAT(report_of({}, profile).notes,
              Contains(HasSubstr("up to 2.5 threads ran at a time (more than one 25% of the time)")));
}

TEST(ForecastReport, BeginsWithWaiting) {
  Profile profile = example();
  profile.metrics["cpu_s"] = 0.2;
  profile.metrics["wall_s"] = 0.3;
  EXPECT_THAT(report_of({}, profile).notes, Contains(HasSubstr("on a CPU for 67% of its time")));
  profile.metrics["wall_s"] = 2;
  const ForecastReport report = report_of({}, profile);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings[0].code, "waits");
  EXPECT_THAT(report.warnings[0].message, HasSubstr("waited for 90% of its 2 s here. It used a CPU for only 200 ms"));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("on a CPU for"))));
  CourseInterval starved;
  starved.length_s = 2;
  starved.running_count = 0.1;
  starved.ready_count = 0.85;
  profile.course = {starved};
  const ForecastReport busy = report_of({}, profile);
  EXPECT_EQ(busy.warnings[0].code, "no-cpu");
  EXPECT_THAT(busy.warnings[0].message, HasSubstr("waited for a free CPU for 85% of its 2 s here"));
}

TEST(ForecastReport, HasNoSecondsForAHostLikeNone) {
  Profile profile = example();
  profile.host.vendor = "CentaurHauls";
  const ForecastReport report = report_of({}, profile);
  EXPECT_FALSE(report.host_platform);
  EXPECT_FALSE(report.rows[0].time_s);
  EXPECT_TRUE(to_json(report)["host_platform"].is_null());
  ForecastRequest request;
  request.reference = "host";
  EXPECT_EQ(error_of(request, profile), "unknown-host");
}

TEST(ForecastReport, AgainstANamedReference) {
  ForecastRequest request;
  request.reference = "300";
  const ForecastReport report = report_of(request);
  EXPECT_EQ(report.reference, "example-300");
  for (const PlatformRow& row : report.rows) {
    if (row.platform.id != "example-300") continue;
    EXPECT_NEAR(row.rpv, 1, 1e-12);
    EXPECT_NEAR(row.lower, 1, 1e-12);
    EXPECT_NEAR(row.upper, 1, 1e-12);
  }
  request.reference = "host";
  EXPECT_EQ(report_of(request).reference, "example-200");
  request.reference = "Example 999";
  EXPECT_EQ(error_of(request), "unknown-platform");
}

TEST(ForecastReport, MeasuredTimesMoveTheForecast) {
  ForecastRequest request;
  const ForecastReport before = report_of(request);
  request.measured_s = {{"Example 600", 100}};
  const ForecastReport after = report_of(request);
  EXPECT_EQ(after.time_basis, "measured");
  const auto ratio = [](const ForecastReport& report) {
    double host = 0, other = 0;
    for (const PlatformRow& row : report.rows) {
      if (row.platform.id == "example-200") host = row.rpv;
      if (row.platform.id == "example-600") other = row.rpv;
    }
    return other / host;
  };
  EXPECT_GT(ratio(after), 3 * ratio(before));  // the host's own run is the second measurement
  EXPECT_THAT(after.notes, Contains(HasSubstr("also counts as a measured time")));
  request.measured_s = {{"Example 600", -1}};
  EXPECT_EQ(error_of(request), "bad-usage");
  request.measured_s = {{"Example 600", 1}, {"600", 2}};
  const auto twice = forecast_program(synthetic_forecaster(), example(), request);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, "bad-usage");
  EXPECT_EQ(twice.error().message, "Example 600 is measured twice");
  request.measured_s = {{"Example 9", 1}};
  EXPECT_EQ(error_of(request), "unknown-platform");
}

// Half widths of the seconds' intervals, in log time, by platform.
std::map<std::string, double> half_widths(const ForecastReport& report) {
  std::map<std::string, double> halves;
  for (const PlatformRow& row : report.rows) halves[row.platform.id] = std::log(*row.time_upper_s / *row.time_s);
  return halves;
}

TEST(ForecastReport, OrderOfMeasuredTimesDoesNotMatter) {
  Profile elsewhere = example();  // so that the run here is no third measurement
  elsewhere.host.vendor = "CentaurHauls";
  ForecastRequest one_way, other_way;
  one_way.measured_s = {{"Example 600", 12}, {"Example 300", 9.5}};
  other_way.measured_s = {{"Example 300", 9.5}, {"Example 600", 12}};
  EXPECT_EQ(to_json(report_of(one_way, elsewhere)).dump(), to_json(report_of(other_way, elsewhere)).dump());
  one_way.measured_s.emplace_back("Example 100", 3);
  other_way.measured_s.emplace(other_way.measured_s.begin() + 1, "Example 100", 3);
  EXPECT_EQ(to_json(report_of(one_way)).dump(), to_json(report_of(other_way)).dump());
}

TEST(ForecastReport, SecondsHangOnAllMeasuredTimesAlike) {
  Profile elsewhere = example();
  elsewhere.host.vendor = "CentaurHauls";
  ForecastRequest request;
  request.measured_s = {{"Example 600", 12}};
  const auto one = half_widths(report_of(request, elsewhere));
  EXPECT_EQ(one.at("example-600"), 0);
  request.measured_s = {{"Example 600", 12}, {"Example 300", 9.5}};
  const auto two = half_widths(report_of(request, elsewhere));
  // What was measured is no forecast, whichever was named first.
  EXPECT_EQ(two.at("example-600"), 0);
  EXPECT_EQ(two.at("example-300"), 0);
  for (const char* other : {"example-100", "example-200", "example-400", "example-500"}) {
    EXPECT_LT(two.at("example-600"), two.at(other)) << other;
    EXPECT_LT(two.at("example-300"), two.at(other)) << other;
  }
}

TEST(ForecastReport, FiltersByFactsAndNames) {
  ForecastRequest request;
  request.filters = {"vendor=amd"};
  EXPECT_THAT(report_of(request).rows, SizeIs(2));
  request.filters = {"arch=x86_64", "name=example"};
  EXPECT_THAT(report_of(request).rows, SizeIs(4));
  request.filters = {"500"};
  EXPECT_THAT(report_of(request).rows, SizeIs(1));
  request.filters = {"cloud=cloud-a"};
  request.top = 2;
  EXPECT_THAT(report_of(request).rows, SizeIs(2));
  request.filters = {"kind=cloud, server"};
  EXPECT_EQ(error_of(request), "no-platform");  // these platforms do not say what they are for
  request.filters = {"kind=laptop"};
  EXPECT_EQ(error_of(request), "bad-usage");
  request.filters = {"vendor=via"};
  EXPECT_EQ(error_of(request), "no-platform");
  request.filters = {"colour=red"};
  EXPECT_EQ(error_of(request), "bad-usage");
}

TEST(ForecastReport, CostsComeFromPricesAndSeconds) {
  const auto prices = PriceList::parse("vendor,server,price_per_hour\ncloud-a,m2.x1,3.6\ncloud-b,m2.x2,7.2\n", "p.csv");
  ForecastRequest request;
  request.prices = *prices;
  const ForecastReport report = report_of(request);
  for (const PlatformRow& row : report.rows) {
    if (row.platform.id != "example-200") {
      EXPECT_FALSE(row.cost);
      continue;
    }
    ASSERT_THAT(row.instances, SizeIs(2));
    EXPECT_EQ(row.instances[0].server.name, "m2.x1");
    EXPECT_NEAR(*row.cost, *row.time_s / 1000, 1e-12);
  }
  const auto elsewhere = PriceList::parse("vendor,server,price_per_hour\ncloud-z,m2.x1,3.6\n", "p.csv");
  request.prices = *elsewhere;
  EXPECT_THAT(report_of(request).notes, Contains(HasSubstr("no platform shown has an instance type with a price")));
}

TEST(ForecastReport, ListsPricesOfUnknownInstanceTypes) {
  std::string csv = "vendor,server,price_per_hour\ncloud-a,m2.x1,3.6\ncloud-z,m2.x1,1\n";
  ForecastRequest request;
  request.prices = *PriceList::parse(csv, "p.csv");
  ForecastReport report = report_of(request);
  ASSERT_THAT(*report.unmatched_prices, SizeIs(1));
  EXPECT_EQ(report.unmatched_prices->front().vendor, "cloud-z");
  EXPECT_EQ(report.unmatched_prices->front().where, "p.csv:3");
  const std::string listed =
      "1 of 2 prices matches no known instance type: cloud-z m2.x1 (p.csv:3; near: cloud-a m2.x1";
  EXPECT_THAT(report.notes, Contains(HasSubstr(listed)));
  EXPECT_EQ(to_json(report)["unmatched_prices"].dump(), R"([{"vendor":"cloud-z","server":"m2.x1","where":"p.csv:3"}])");

  // What a filter hides is known all the same; what matches all leaves no note.
  csv = "vendor,server,price_per_hour\ncloud-a,m2.x1,3.6\n";
  request.prices = *PriceList::parse(csv, "p.csv");
  request.filters = {"cloud=cloud-b"};
  report = report_of(request);
  EXPECT_THAT(*report.unmatched_prices, SizeIs(0));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("no known instance type"))));
  EXPECT_EQ(to_json(report)["unmatched_prices"], Json::array());
  EXPECT_FALSE(to_json(report_of({})).contains("unmatched_prices"));

  for (int i = 0; i < 7; ++i) csv += "cloud-y,y" + std::to_string(i) + ",1\n";
  request.prices = *PriceList::parse(csv, "p.csv");
  EXPECT_THAT(report_of(request).notes, Contains(AllOf(HasSubstr("7 of 8 prices match no"),
                                                       HasSubstr("y4 (p.csv:7; near:"), HasSubstr(" and 2 more"))));
}

TEST(ForecastReport, ListsInstancesOnDemand) {
  EXPECT_THAT(report_of({}).rows[0].instances, SizeIs(0));
  ForecastRequest request;
  request.instances = true;
  EXPECT_THAT(report_of(request).rows[0].instances, SizeIs(4));
  request.filters = {"cloud=cloud-a"};
  for (const PlatformRow& row : report_of(request).rows) {
    for (const InstanceRow& instance : row.instances) EXPECT_EQ(instance.server.vendor, "cloud-a");
  }
}

TEST(ForecastReport, MemoryThatNobodyKnowsIsSaid) {
  Bundle bundle = synthetic_forecaster().bundle();
  bundle.servers.front().memory_gib.reset();
  const Forecaster forecaster(std::make_shared<const Bundle>(std::move(bundle)));
  ForecastRequest request;
  request.instances = true;
  auto report = forecast_program(forecaster, example(), request);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->notes, Contains(HasSubstr("the memory of 1 instance type is not known")));
  request.filters = {"memory=1GiB.."};
  report = forecast_program(forecaster, example(), request);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->notes, Contains(HasSubstr("left out by the filter of memory: 1 instance types")));
  request.filters = {"cloud=cloud-a,cloud-b", "memory=1GiB.."};
  EXPECT_TRUE(forecast_program(forecaster, example(), request));
}

TEST(ForecastReport, SaysLoudlyWhatIsOutOfDistribution) {
  Profile profile = example();
  profile.instruction_set = "riscv64";
  const ForecastReport report = report_of({}, profile);
  EXPECT_FALSE(report.in_distribution);
  ASSERT_THAT(report.warnings, SizeIs(1));
  EXPECT_THAT(report.warnings[0].message, HasSubstr("riscv64"));
  EXPECT_EQ(to_json(report)["in_distribution"], false);
}

TEST(ForecastReport, CarriesTheProfilesOwnWarnings) {
  Profile profile = example();
  profile.warnings.push_back({"clock-bound", "its run time does not grow under instrumentation", "fix the work"});
  profile.warnings.push_back({"multiplexed", "counters were shared in time", ""});
  const ForecastReport report = report_of({}, profile);
  EXPECT_FALSE(report.in_distribution);
  EXPECT_THAT(report.warnings, SizeIs(2));
}

TEST(ForecastReport, NotesProgramsThatWaitOrSpread) {
  Profile profile = example();
  profile.metrics["wall_s"] = 2 * profile.metrics["cpu_s"];
  EXPECT_THAT(report_of({}, profile).notes, Contains(HasSubstr("50% of its time")));
  profile.metrics["wall_s"] = profile.metrics["cpu_s"] / 4;
  const ForecastReport spread = report_of({}, profile);
  EXPECT_EQ(spread.time_basis, "wall");
  EXPECT_THAT(spread.notes, Contains(HasSubstr("4.0 cores")));
}

// Every input on every platform, and one platform against another; the names are checked before anything is measured.
TEST(ForecastReport, IsTakenApartWhereAsked) {
  EXPECT_FALSE(to_json(report_of({}))["explanation"].contains("attribution"));
  ForecastRequest request;
  request.explain = true;
  const ForecastReport report = report_of(request);
  ASSERT_TRUE(report.breakdown);
  EXPECT_EQ(report.forecast_ids[report.breakdown->platform], report.rows.front().platform.id);
  request.explain_platform = report.forecast_names[2];
  request.explain_against = report.forecast_names[0];
  const Json json = to_json(report_of(request))["explanation"]["attribution"];
  EXPECT_EQ(json["platforms"].get<std::vector<std::string>>(), report.forecast_ids);
  EXPECT_EQ(json["spread"]["platform"], report.forecast_ids[2]);
  EXPECT_EQ(json["spread"]["against"], report.forecast_ids[0]);
  for (size_t j = 0; j < report.forecast_ids.size(); ++j) {
    double features = json["typical_program_log"][j], groups = features;
    for (const Json& feature : json["features"]) features += feature["log"][j].get<double>();
    for (const Json& group : json["groups"]) groups += group["log"][j].get<double>();
    EXPECT_NEAR(features, json["forecast_log"][j].get<double>(), 1e-6);
    EXPECT_NEAR(groups, json["forecast_log"][j].get<double>(), 1e-6);
  }
  double spread = json["spread"]["typical_program_log"];
  for (const Json& effect : json["spread"]["features"]) spread += effect["log"].get<double>();
  EXPECT_NEAR(spread, json["forecast_log"][2].get<double>() - json["forecast_log"][0].get<double>(), 1e-6);
}

TEST(ForecastReport, HasTheFixedNames) {
  const Json json = to_json(report_of({}));
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.forecast/1");
  for (const char* name :
       {"program", "reference", "in_distribution", "nearest", "host_platform", "platforms", "explanation"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  for (const char* name : {"id", "name", "rpv", "lower", "upper", "time_s"}) {
    EXPECT_TRUE(json["platforms"][0].contains(name)) << name;
  }
  double share = 0;
  for (const Json& group : json["explanation"]["groups"]) share += group["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
}

}  // namespace
}  // namespace perfcast::program
