#include "fleet/traces/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JobTable, ReadsTheFewestColumns) {
  const auto jobs = parse_job_table("time_s:A,arrival_s,id,time_s:B\n1.5,0,7,\n2,3,-8,4\n", "j.csv");
  ASSERT_TRUE(jobs) << to_text(jobs.error());
  EXPECT_THAT(jobs->platforms, ElementsAre("A", "B"));
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ(jobs->jobs[0].id, 7);
  EXPECT_EQ(jobs->jobs[1].id, -8);
  EXPECT_EQ(jobs->jobs[0].cores, 1);
  EXPECT_EQ(jobs->jobs[0].priority, 1);
  EXPECT_TRUE(std::isnan(jobs->jobs[0].limit_s));
  EXPECT_EQ(jobs->time_s[0], 1.5);
  EXPECT_TRUE(std::isnan(jobs->time_s[1]));
  EXPECT_EQ(jobs->time_s[3], 4);
  EXPECT_TRUE(jobs->forecast_s.empty());
  EXPECT_TRUE(jobs->notes.empty());
}

constexpr const char* kFull =
    "id,arrival_s,cores,gpus,spread,memory_bytes,limit_s,cancelled_s,deadline_s,priority,owner,program,after,think_s,"
    "\"time_s:Xeon, \"\"Gold\"\"\",forecast_s:B,time_s:B,lower_s:B,upper_s:B,energy_joules:B\n"
    "1,5,2,0,true,1e9,60,,100,2.5,ann,\"a,b\",3,7,1,2,3,4,5,6\n"
    "3,0.1,0,1,no,,,9,,,bob,,,,,,0.30000000000000004,,,\n";

TEST(JobTable, ReadsEveryColumnAndSorts) {
  const auto jobs = parse_job_table(kFull, "j.csv");
  ASSERT_TRUE(jobs) << to_text(jobs.error());
  EXPECT_THAT(jobs->platforms, ElementsAre("Xeon, \"Gold\"", "B"));
  EXPECT_THAT(jobs->notes, ElementsAre("1 job arrives before the row above: sorted by arrival"));
  EXPECT_THAT(jobs->owners, ElementsAre("ann", "bob"));
  const JobRequest& late = jobs->jobs[1];
  EXPECT_EQ(late.id, 1);
  EXPECT_EQ(late.after, 0);
  EXPECT_EQ(late.think_s, 7);
  EXPECT_EQ(late.cores, 2);
  EXPECT_TRUE(late.spread);
  EXPECT_EQ(late.memory_bytes, 1e9);
  EXPECT_EQ(late.limit_s, 60);
  EXPECT_EQ(late.deadline_s, 100);
  EXPECT_EQ(late.priority, 2.5);
  EXPECT_EQ(jobs->programs[static_cast<size_t>(late.program)], "a,b");
  EXPECT_EQ(jobs->time_s[2], 1);
  EXPECT_EQ(jobs->forecast_s[3], 2);
  EXPECT_EQ(jobs->time_s[3], 3);
  EXPECT_EQ(jobs->lower_s[3], 4);
  EXPECT_EQ(jobs->upper_s[3], 5);
  EXPECT_EQ(jobs->energy_joules[3], 6);
  const JobRequest& early = jobs->jobs[0];
  EXPECT_EQ(early.cores, 0);
  EXPECT_EQ(early.gpus, 1);
  EXPECT_EQ(early.cancelled_s, 9);
  EXPECT_EQ(early.owner, 1);
  EXPECT_EQ(early.program, kNoIndex);
}

bool same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

TEST(JobTable, RoundTripIsExact) {
  const auto first = parse_job_table(kFull, "j.csv");
  ASSERT_TRUE(first);
  const std::string text = job_table_text(*first);
  const auto back = parse_job_table(text, "again.csv");
  ASSERT_TRUE(back) << to_text(back.error()) << text;
  EXPECT_EQ(back->platforms, first->platforms);
  // Owners are numbered by their first job: after sorting that is bob.
  EXPECT_THAT(back->owners, ElementsAre("bob", "ann"));
  for (const auto matrix :
       {&Workload::time_s, &Workload::forecast_s, &Workload::lower_s, &Workload::upper_s, &Workload::energy_joules}) {
    const std::vector<double>& a = (*first).*matrix;
    const std::vector<double>& b = (*back).*matrix;
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], b[i])) << i;
  }
  for (size_t i = 0; i < first->size(); ++i) {
    const JobRequest& a = first->jobs[i];
    const JobRequest& b = back->jobs[i];
    EXPECT_TRUE(a.id == b.id && same(a.arrival_s, b.arrival_s) && a.cores == b.cores && a.gpus == b.gpus &&
                a.spread == b.spread && same(a.memory_bytes, b.memory_bytes) && same(a.limit_s, b.limit_s) &&
                same(a.cancelled_s, b.cancelled_s) && same(a.deadline_s, b.deadline_s) && a.priority == b.priority &&
                a.after == b.after && a.think_s == b.think_s)
        << i;
  }
  EXPECT_EQ(job_table_text(*back), text);
}

TEST(JobTable, ErrorsNameFileAndLine) {
  const auto error = [](const std::string& text) {
    const auto jobs = parse_job_table(text, "j.csv");
    return jobs ? Error{"ok", "", "", ""} : jobs.error();
  };
  const Error unknown = error("id,arrival_s,time_s:A,core\n1,0,1,1\n");
  EXPECT_EQ(unknown.code, "unknown-column");
  EXPECT_EQ(unknown.where, "j.csv:1");
  EXPECT_THAT(unknown.expected, HasSubstr("one of: cores"));
  EXPECT_THAT(error("id,arrival_s,time_s:A,times_s:B\n1,0,1,1\n").expected, HasSubstr("time_s:PLATFORM"));
  EXPECT_EQ(error("arrival_s,time_s:A\n0,1\n").code, "missing-column");
  EXPECT_EQ(error("id,arrival_s\n0,1\n").code, "missing-column");
  const Error orphan = error("id,arrival_s,time_s:A,forecast_s:B\n1,0,1,1\n");
  EXPECT_EQ(orphan.code, "missing-column");
  EXPECT_THAT(orphan.message, HasSubstr("forecast_s:B"));

  const std::string head = "id,arrival_s,time_s:A,cores,priority,after,spread,forecast_s:A\n1,0,1,1,1,,,\n";
  EXPECT_EQ(error(head).code, "ok");
  for (const auto& [row, code] : {std::pair{"2,-1,1,1,1,,,", "bad-job"}, std::pair{"2,x,1,1,1,,,", "bad-number"},
                                  std::pair{"2,inf,1,1,1,,,", "bad-number"}, std::pair{"2,0,-1,1,1,,,", "bad-job"},
                                  std::pair{"2,0,1,1.5,1,,,", "bad-job"}, std::pair{"2,0,1,-1,1,,,", "bad-job"},
                                  std::pair{"2,0,1,0,1,,,", "bad-job"}, std::pair{"2,0,1,99999999999,1,,,", "bad-job"},
                                  std::pair{"2,0,1,1,0,,,", "bad-job"}, std::pair{"2,0,1,1,1,5,,", "bad-job"},
                                  std::pair{"1,0,1,1,1,,,", "bad-job"}, std::pair{"2,0,1,1,1,,maybe,", "bad-job"},
                                  std::pair{"2,0,1,1,1,,,0", "bad-job"}, std::pair{"x,0,1,1,1,,,", "bad-job"},
                                  std::pair{",0,1,1,1,,,", "bad-job"}, std::pair{"2,,1,1,1,,,", "bad-job"},
                                  std::pair{"2,0,1,1,1,,", "bad-csv"}}) {
    const Error found = error(head + row + "\n");
    EXPECT_EQ(found.code, code) << row;
    EXPECT_EQ(found.where, "j.csv:3") << row;
  }
  const Error circle = error(head + "2,0,1,1,1,3,,\n3,0,1,1,1,2,,\n");
  EXPECT_EQ(circle.code, "cyclic-dependency");
  EXPECT_EQ(circle.where, "j.csv: job 2");
  EXPECT_EQ(error("id,arrival_s,time_s:A\n").code, "bad-workload");
}

}  // namespace
}  // namespace perfcast::fleet
