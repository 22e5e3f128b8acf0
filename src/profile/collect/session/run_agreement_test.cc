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

constexpr OutputDigest kText = {1000, 1}, kSameLength = {1000, 2}, kLonger = {1900, 3}, kTwice = {2100, 4};

Collection with_outputs(Collection run, std::vector<OutputDigest> outputs) {
  run.outputs = std::move(outputs);
  return run;
}

TEST(RunAgreement, ComparesOutputThatNativeRunsRepeat) {
  const Collection native = with_outputs(run_of({}, 0), {kText, kText});
  const auto with = [&](OutputDigest output) { return with_outputs(run_of({}, 0), {output}); };
  EXPECT_FALSE(differing_run(native, with(kText)) || differing_output(native, with(kText)));
  for (const OutputDigest& other : {kSameLength, kLonger}) {
    EXPECT_FALSE(differing_run(native, with(other)));
    ASSERT_TRUE(differing_output(native, with(other)));
    EXPECT_EQ(differing_output(native, with(other))->code, "output-differs");
  }
  const auto found = differing_run(native, with(kTwice));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "runs-differ");
  EXPECT_THAT(found->message, HasSubstr("two native runs wrote the same 1000 bytes, the instrumented one 2100 bytes"));
  EXPECT_TRUE(differing_run(native, with({0, 0})));
  // A program that says something else each time, or ran once, or was cut, tells nothing.
  for (const Collection& other :
       {with_outputs(native, {kText, kSameLength}), with_outputs(native, {kText}), run_of({}, 0)})
    EXPECT_FALSE(differing_run(other, with(kTwice)) || differing_output(other, with(kTwice)));
  Collection cut = with(kTwice);
  cut.seen_ratio = 0.5;
  EXPECT_FALSE(differing_run(native, cut) || differing_output(native, cut));
}

// What a program of native_only.c does, measured.
Result<Profile> profile_of(const std::vector<std::string>& arguments, bool quick = true) {
  CollectRequest request;
  request.command = {PERFCAST_NATIVE_ONLY};
  request.command.insert(request.command.end(), arguments.begin(), arguments.end());
  request.pass_output = false;
  request.input_descriptor = -1;
  request.quick = quick;
  return profile_command(request, [](const std::string&) {});
}

bool warns(const Profile& profile, const std::string& code) {
  return std::any_of(profile.warnings.begin(), profile.warnings.end(),
                     [&](const ProfileWarning& warning) { return warning.code == code; });
}

TEST(RunAgreement, SeesAnotherWayByTheOutput) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
  const auto similar = profile_of({"say", "similar"}, false), other = profile_of({"say", "other"}, false);
  ASSERT_TRUE(similar && other);
  if (profile_of({"io_uring"})->exit_code != 0) GTEST_SKIP() << "this kernel has no io_uring, or forbids it";
  EXPECT_TRUE(warns(*similar, "output-differs"));
  EXPECT_TRUE(similar->metrics.contains("instructions_count"));
  EXPECT_TRUE(warns(*other, "runs-differ"));
  EXPECT_FALSE(other->metrics.contains("instructions_count"));
}

// A program that lives in memory alone is followed, also where its descriptor closes with the exec.
TEST(RunAgreement, FollowsAProgramFromMemory) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
  for (const char* mode : {"memfd", "memfd-cloexec"}) {
    const auto found = profile_of({mode});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->exit_code, 0) << mode;
    ASSERT_TRUE(found->metrics.contains("instructions_count")) << mode;
    EXPECT_GE(found->metrics.at("instructions_count"), 400e6) << mode << ": its loop runs 100 million times";
    EXPECT_FALSE(warns(*found, "runs-differ")) << mode;
  }
}

TEST(RunAgreement, IsMissingWhereTheEmulatorLacksIoUring) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
  const auto found = profile_of({"io_uring"});
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
