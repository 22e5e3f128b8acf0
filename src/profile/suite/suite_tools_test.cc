#include "profile/suite/suite_tools.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kYaml = R"(---
build-info:
      compiler: 'gcc 12.2.0'

metrics:
    - stressor: fork
      bogo-ops: 1200
      bogo-ops-per-second-usr-sys-time: 3000.0
      wall-clock-time: 0.500000
      user-time: 0.150000
      system-time: 0.250000
      user-time-of-something: 9

    - stressor: heapsort
      bogo-ops: 0
      wall-clock-time: 0.100000
      user-time: 0.000000
      system-time: 0.000000

times:
      user-time: 77.0
...
)";

TEST(StressNgMetrics, ReadsTheStressorAskedFor) {
  const auto report = parse_stress_ng_metrics(kYaml, "fork", "r.yaml");
  ASSERT_TRUE(report.ok()) << to_text(report.error());
  EXPECT_EQ(report->work_units, 1200);
  EXPECT_EQ(report->user_s, 0.15);
  EXPECT_EQ(report->system_s, 0.25);
  EXPECT_EQ(report->wall_s, 0.5);
  EXPECT_DOUBLE_EQ(report->cpu_s(), 0.4);
}

TEST(StressNgMetrics, TellsASkippedStressorFromAnIdleOne) {
  EXPECT_EQ(parse_stress_ng_metrics(kYaml, "vdso", "r.yaml").error().code, "no-metrics");
  EXPECT_EQ(parse_stress_ng_metrics("", "fork", "r.yaml").error().code, "no-metrics");
  EXPECT_EQ(parse_stress_ng_metrics(kYaml, "heapsort", "r.yaml").error().code, "no-work");
}

TEST(StressNgMetrics, RefusesWhatIsNoNumber) {
  const auto broken = [](const std::string& from, const std::string& to) {
    std::string text = kYaml;
    text.replace(text.find(from), from.size(), to);
    return parse_stress_ng_metrics(text, "fork", "r.yaml").error();
  };
  EXPECT_EQ(broken("bogo-ops: 1200", "bogo-ops: many").code, "bad-number");
  EXPECT_EQ(broken("bogo-ops: 1200", "bogo-ops: nan").code, "bad-number");
  EXPECT_THAT(broken("user-time: 0.150000", "user-tyme: 1").message, HasSubstr("user-time is missing"));
  EXPECT_THAT(broken("system-time: 0.250000", "system-time: -1").message, HasSubstr("system-time is '-1'"));
}

TEST(StressNgMetrics, ReadsVersionAndStressors) {
  EXPECT_EQ(parse_stress_ng_version("stress-ng, version 0.20.01 (gcc 12.2.0, x86_64 Linux 6.1.0)\n"), "0.20.01");
  EXPECT_EQ(parse_stress_ng_version("stress-ng, version 0.15.06"), "0.15.06");
  EXPECT_EQ(parse_stress_ng_version("coreutils 9.1"), "");
  EXPECT_THAT(parse_stress_ng_stressors("cpu  atomic\nzero"), ElementsAre("atomic", "cpu", "zero"));
  EXPECT_TRUE(parse_stress_ng_stressors("").empty());
}

TEST(StressNg, SaysWhatIsMissing) {
  EXPECT_EQ(find_stress_ng("/nowhere/stress-ng").error().code, "tool-missing");
  EXPECT_THAT(find_stress_ng("/nowhere/stress-ng").error().expected, HasSubstr("--stress-ng"));
  EXPECT_EQ(find_stress_ng("/bin/true").error().code, "not-stress-ng");
}

TEST(HarnessReport, ReadsWorkAndTimes) {
  const auto report = parse_harness_report(
      R"({"schema":"perfcast.harness/1","work_units":8192,"user_s":0.5,"system_s":0.25,"wall_s":1.0})", "r.json");
  ASSERT_TRUE(report.ok()) << to_text(report.error());
  EXPECT_EQ(report->work_units, 8192);
  EXPECT_EQ(report->cpu_s(), 0.75);
  EXPECT_FALSE(parse_harness_report(R"({"schema":"perfcast.harness/1"})", "r.json").ok());
  EXPECT_FALSE(parse_harness_report(
                   R"({"schema":"perfcast.harness/1","work_units":0,"user_s":1,"system_s":0,"wall_s":1})", "r.json")
                   .ok());
  EXPECT_FALSE(parse_harness_report("", "r.json").ok());
}

}  // namespace
}  // namespace perfcast
