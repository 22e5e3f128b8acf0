#include "profile/collect/session/run_agreement.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

Collection run_of(MetricValues counters, std::optional<int> exit_code, std::optional<int> signal = {}) {
  Collection run;
  run.counters = std::move(counters);
  run.exit_code = exit_code;
  run.signal = signal;
  return run;
}

// Every pair of endings: only equal ones agree.
TEST(RunAgreement, ComparesEndings) {
  const std::vector<std::pair<std::optional<int>, std::optional<int>>> endings = {{0, {}},   {1, {}}, {2, {}},
                                                                                  {139, {}}, {{}, 6}, {{}, 11}};
  for (const auto& natively : endings) {
    for (const auto& instrumented : endings) {
      const auto found = differing_run(run_of({{"user_s", 0.5}}, natively.first, natively.second),
                                       run_of({{"instructions_count", 1e9}}, instrumented.first, instrumented.second));
      EXPECT_EQ(found.has_value(), natively != instrumented);
    }
  }
}

TEST(RunAgreement, ComparesTheWork) {
  const Collection native = run_of({{"user_s", 0.5}}, 0);
  Collection little = run_of({{"instructions_count", 180e3}}, 0);
  const auto found = differing_run(native, little);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "runs-differ");
  EXPECT_THAT(found->message, HasSubstr("natively the program was busy for 500 ms"));
  EXPECT_FALSE(differing_run(native, run_of({{"instructions_count", 2.5e6}}, 0)));
  EXPECT_FALSE(differing_run(run_of({{"user_s", 0.049}}, 0), little));
  little.unseen.push_back({"/bin/x", "setuid", 1});
  EXPECT_FALSE(differing_run(native, little)) << "its share is said elsewhere";
}

TEST(RunAgreement, LeavesARunThatALimitEnded) {
  Collection cut = run_of({{"instructions_count", 1000}}, {}, {});
  cut.seen_ratio = 0.5;
  EXPECT_FALSE(differing_run(run_of({{"user_s", 0.5}}, 0), cut));
}

TEST(RunAgreement, IsMissingWhereTheEmulatorLacksIoUring) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
  CollectRequest request;
  request.command = {PERFCAST_NATIVE_ONLY, "io_uring"};
  request.pass_output = false;
  request.input_descriptor = -1;
  request.quick = true;
  const auto found = profile_command(request, [](const std::string&) {});
  ASSERT_TRUE(found);
  if (found->exit_code != 0) GTEST_SKIP() << "this kernel has no io_uring, or forbids it";
  EXPECT_FALSE(found->metrics.contains("instructions_count"));
  EXPECT_TRUE(found->metrics.contains("cpu_s"));
  const auto differing = std::find_if(found->warnings.begin(), found->warnings.end(),
                                      [](const ProfileWarning& warning) { return warning.code == "runs-differ"; });
  ASSERT_NE(differing, found->warnings.end());
  EXPECT_THAT(differing->message,
              HasSubstr("natively the program ended with exit code 0, instrumented with exit code 2"));
  EXPECT_THAT(differing->message, HasSubstr("no io_uring"));
}

}  // namespace
}  // namespace perfcast
