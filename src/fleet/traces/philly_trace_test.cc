#include "fleet/traces/philly_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;

constexpr const char* kPhillyTrace =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-11-05 01:30:00,60,8,480,aa\n"
    "2017-11-04 23:59:59,10.5,1,10.5,bb\n"
    "2017-11-05 02:00:00,5,2,11,aa\n"
    "2017-11-05 02:00:00,5,2,11,aa\n"
    "2017-11-06 00:00:00,5,0,0,aa\n"
    "2017-11-06 00:00:00,,1,0,aa\n";

TEST(PhillyTrace, ReadsAndCounts) {
  const auto trace = parse_philly_trace(kPhillyTrace, "p.csv");
  ASSERT_TRUE(trace) << to_text(trace.error());
  ASSERT_EQ(trace->size(), 4u);
  std::vector<double> arrivals;
  for (const JobRequest& job : trace->jobs) arrivals.push_back(job.arrival_s);
  EXPECT_THAT(arrivals, ElementsAre(0, 5401, 7201, 7201));
  EXPECT_THAT(trace->time_s, ElementsAre(10.5, 60, 5, 5));
  EXPECT_EQ(trace->jobs[0].id, 2);
  EXPECT_EQ(trace->jobs[1].gpus, 8);
  EXPECT_EQ(trace->jobs[1].cores, 0);
  EXPECT_TRUE(trace->jobs[1].spread);
  EXPECT_EQ(trace->owners[static_cast<size_t>(trace->jobs[0].owner)], "bb");
  EXPECT_THAT(
      trace->notes,
      ElementsAre(
          "1 job without GPUs: left out", "1 job without a duration: left out",
          "2 jobs whose gpu_time isn't duration times GPUs: the duration taken",
          "1 job the same as another in every column: kept", "1 job earlier than the row above: sorted",
          "1 job in the hour before 2017-11-05 02:00, which local time may have passed twice: as its first pass",
          "2 jobs after 2017-11-05 02:00, where clocks may have gone back: as they stand"));

  const auto back = parse_philly_trace(kPhillyTrace, "p.csv", {"V100", true});
  ASSERT_TRUE(back);
  EXPECT_THAT(back->platforms, ElementsAre("V100"));
  EXPECT_EQ(back->jobs[1].arrival_s, 5401);
  EXPECT_EQ(back->jobs[2].arrival_s, 7201 + 3600);
}

TEST(PhillyTrace, LeapDaysAndYearsCount) {
  const auto trace = parse_philly_trace(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2016-02-28 00:00:00,1,1,1,a\n2016-02-29 00:00:00,1,1,1,a\n2016-03-01 00:00:00,1,1,1,a\n"
      "2017-03-01 00:00:00,1,1,1,a\n",
      "p.csv");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[1].arrival_s, 86400);
  EXPECT_EQ(trace->jobs[2].arrival_s, 2 * 86400);
  EXPECT_EQ(trace->jobs[3].arrival_s, 367.0 * 86400);
  EXPECT_TRUE(trace->notes.empty());
}

TEST(PhillyTrace, ErrorsNameFileAndLine) {
  const auto error = [](const std::string& row) {
    const auto trace = parse_philly_trace("timestamp,duration,num_gpus,gpu_time,cluster\n" + row + "\n", "p.csv");
    return trace ? Error{"ok", "", "", ""} : trace.error();
  };
  EXPECT_EQ(error("2017-11-05 01:30:00,60,8,480,aa").code, "ok");
  for (const char* row :
       {"2017-11-05T01:30:00,1,1,1,a", "2017-13-05 01:30:00,1,1,1,a", "2017-02-29 01:30:00,1,1,1,a",
        "2017-11-05 24:00:00,1,1,1,a", "2017-11-05 01:30,1,1,1,a", "1969-11-05 01:30:00,1,1,1,a",
        "2017-11-05 01:30:00,-1,1,1,a", "2017-11-05 01:30:00,1,1.5,1,a", "2017-11-05 01:30:00,1,-1,1,a"}) {
    EXPECT_EQ(error(row).code, "bad-job") << row;
    EXPECT_EQ(error(row).where, "p.csv:2") << row;
  }
  EXPECT_EQ(error("2017-11-05 01:30:00,x,1,1,a").code, "bad-number");
  EXPECT_EQ(parse_philly_trace("timestamp,duration\n", "p.csv").error().code, "missing-column");
}

TEST(PhillyTrace, ReadsTheWholeTrace) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/philly_trace/philly_jobs_from_sia.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto trace = read_philly_trace(path);
  ASSERT_TRUE(trace) << to_text(trace.error());
  EXPECT_EQ(trace->size(), 82247u);
  EXPECT_EQ(trace->owners.size(), 15u);
  EXPECT_EQ(trace->jobs.front().arrival_s, 0);
  // 2017-09-04 10:30:41 to 2017-12-22 08:02:11, as timestamps stand.
  EXPECT_EQ(trace->jobs.back().arrival_s, 109.0 * 86400 - (10 * 3600 + 30 * 60 + 41) + (8 * 3600 + 2 * 60 + 11));
  double gpu_hours = 0;
  for (size_t i = 0; i < trace->size(); ++i) gpu_hours += trace->jobs[i].gpus * trace->time_s[i] / 3600;
  EXPECT_GT(gpu_hours, 300157);  // one GPU each: 82,247 jobs of 13,135.93 s
  EXPECT_THAT(trace->notes, testing::Contains("65 jobs the same as another in every column: kept"));
  EXPECT_THAT(trace->notes, testing::Contains("44878 jobs earlier than the row above: sorted"));
}

}  // namespace
}  // namespace perfcast::fleet
