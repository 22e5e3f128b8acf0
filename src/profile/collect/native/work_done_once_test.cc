#include "profile/collect/native/work_done_once.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;

ProcessOutcome run_of(double cpu_s, double faults) {
  ProcessOutcome run;
  run.exit_code = 0;
  run.user_s = 0.75 * cpu_s;
  run.system_s = 0.25 * cpu_s;
  run.minor_faults = faults;
  return run;
}

TEST(WorkDoneOnce, IsSeenByCpuTimeAndPages) {
  const auto found = work_done_once(run_of(8, 1e6), run_of(0.01, 500));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "work-done-once");
  EXPECT_THAT(found->message, HasSubstr("the first run took 8 s of CPU time, the next one 10 ms"));
  EXPECT_THAT(found->advice, HasSubstr("--prepare 'make clean'"));
  EXPECT_TRUE(work_done_once(run_of(1, 1000), run_of(0.45, 600)));
  EXPECT_TRUE(work_done_once(run_of(1, 1000), run_of(0.3, 1000))) << "its result was kept, and read again";
  EXPECT_TRUE(work_done_once(run_of(0.05, 3000), run_of(0.01, 300)));
}

TEST(WorkDoneOnce, IsNotANoisyMachine) {
  EXPECT_FALSE(work_done_once(run_of(1, 1000), run_of(0.55, 600)));
  EXPECT_FALSE(work_done_once(run_of(1, 1000), run_of(0.45, 1000)));
  EXPECT_FALSE(work_done_once(run_of(0.02, 1000), run_of(0.001, 100))) << "too short to be judged";
  EXPECT_FALSE(work_done_once(run_of(1, 1000), run_of(4, 9000))) << "the first found its work done, the next not";
}

}  // namespace
}  // namespace perfcast
