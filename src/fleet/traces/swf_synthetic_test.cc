#include "fleet/traces/swf_synthetic.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "fleet/traces/swf_reader.h"

namespace perfcast::fleet {
namespace {

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

TEST(SyntheticSwf, MatchesWhatIsPublishedOfTheLog) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    SwfSyntheticOptions options;
    options.seed = seed;
    const auto trace = synthetic_swf(options);
    ASSERT_TRUE(trace) << to_text(trace.error());
    ASSERT_EQ(trace->size(), 28476u);
    double cores = 0, area = 0;
    size_t powers = 0, at_limit = 0;
    for (size_t i = 0; i < trace->size(); ++i) {
      const JobRequest& job = trace->jobs[i];
      ASSERT_TRUE(job.cores >= 1 && job.cores <= 100);
      ASSERT_TRUE(trace->time_s[i] >= 1 && trace->time_s[i] <= 60 * 3600);
      ASSERT_GE(job.limit_s, trace->time_s[i]);
      cores += job.cores;
      area += job.cores * trace->time_s[i];
      powers += std::has_single_bit(static_cast<uint32_t>(job.cores)) ? 1 : 0;
      at_limit += job.limit_s == trace->time_s[i] ? 1 : 0;
    }
    const auto n = static_cast<double>(trace->size());
    EXPECT_NEAR(sum(trace->time_s) / n, 8900, 450);
    EXPECT_NEAR(cores / n, 7.7, 0.25);
    EXPECT_GT(static_cast<double>(powers) / n, 0.9);
    EXPECT_LT(static_cast<double>(at_limit) / n, 0.2);
    const double span_s = trace->jobs.back().arrival_s;
    EXPECT_NEAR(area / (100 * span_s), 0.70, 0.02);  // day and week bend the last arrival a little
    EXPECT_NEAR(span_s / 86400, 335, 30);            // eleven months
  }
}

TEST(SyntheticSwf, ArrivalsFollowDayAndWeek) {
  const auto trace = synthetic_swf();
  ASSERT_TRUE(trace);
  std::array<double, 24> hours = {};
  std::array<double, 7> days = {};
  for (const JobRequest& job : trace->jobs) {
    const auto hour = static_cast<int64_t>(job.arrival_s) / 3600;
    hours[static_cast<size_t>(hour % 24)] += 1;
    days[static_cast<size_t>(hour / 24 % 7)] += 1;
  }
  EXPECT_GT(hours[10], 4 * hours[3]);
  EXPECT_GT(days[2], 1.5 * days[6]);
}

TEST(SyntheticSwf, TheSameSeedGivesTheSameJobs) {
  SwfSyntheticOptions options;
  options.jobs = 1000;
  const auto text = [&] { return *swf_text(*synthetic_swf(options), 100); };
  const std::string first = text();
  EXPECT_EQ(text(), first);
  options.seed = 2;
  EXPECT_NE(text(), first);
  options.jobs = 0;
  EXPECT_EQ(synthetic_swf(options).error().code, "bad-mix");
  options.jobs = 1;
  options.load = 0;
  EXPECT_EQ(synthetic_swf(options).error().code, "bad-mix");
  options.load = 0.5;
  EXPECT_TRUE(synthetic_swf(options));
}

TEST(SyntheticSwf, SwfTextReadsBackTheSame) {
  SwfSyntheticOptions options;
  options.jobs = 3000;
  auto trace = synthetic_swf(options);
  ASSERT_TRUE(trace);
  trace->jobs[5].after = 3;
  trace->jobs[5].think_s = 12.5;
  trace->jobs[6].limit_s = kUnknown;
  trace->jobs[7].memory_bytes = 1024.0 * 1024 * trace->jobs[7].cores;
  trace->jobs.back().arrival_s += 0.1;
  trace->time_s[9] = 0.3;
  const auto text = swf_text(*trace, 100);
  ASSERT_TRUE(text) << to_text(text.error());
  const auto back = parse_swf(*text, "text");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(back->header.max_procs, 100);
  EXPECT_EQ(back->workload.time_s, trace->time_s);
  ASSERT_EQ(back->workload.size(), trace->size());
  for (size_t i = 0; i < trace->size(); ++i) {
    const JobRequest& a = trace->jobs[i];
    const JobRequest& b = back->workload.jobs[i];
    ASSERT_TRUE(a.id == b.id && a.arrival_s == b.arrival_s && a.cores == b.cores && a.after == b.after &&
                a.think_s == b.think_s && b.spread)
        << i;
    ASSERT_TRUE(a.limit_s == b.limit_s || (i == 6 && b.limit_s != b.limit_s)) << i;
    ASSERT_EQ(trace->owners[static_cast<size_t>(a.owner)], back->workload.owners[static_cast<size_t>(b.owner)]);
  }
  EXPECT_EQ(back->workload.jobs[7].memory_bytes, trace->jobs[7].memory_bytes);
}

}  // namespace
}  // namespace perfcast::fleet
