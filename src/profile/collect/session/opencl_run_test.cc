#include "profile/collect/session/opencl_run.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;

class StandIn : public Collector {
 public:
  explicit StandIn(CollectResult result) : result_(std::move(result)) {}
  std::string name() const override { return "oclgrind"; }
  Status available() const override { return {}; }
  DoctorFinding examine() override { return {name(), "ok", "", ""}; }
  CollectResult collect(const CollectRequest&) override { return result_; }

 private:
  CollectResult result_;
};

Collection with_kernel(int exit_code) {
  Collection run;
  run.kernels.resize(1);
  run.kernels[0].name = "k";
  run.exit_code = exit_code;
  return run;
}

Profile ended_with(int exit_code) {
  Profile profile;
  profile.exit_code = exit_code;
  return profile;
}

OpenclRun run_with(Collection found, const Profile& so_far, bool is_asked_for = false) {
  StandIn collector(std::move(found));
  Collection native;
  native.exit_code = so_far.exit_code;
  auto run = collect_kernels(collector, {}, is_asked_for, so_far, &native);
  EXPECT_TRUE(run);
  return *std::move(run);
}

TEST(OpenclRun, TakesTheKernels) {
  const OpenclRun run = run_with(with_kernel(0), ended_with(0));
  ASSERT_TRUE(run.found);
  EXPECT_EQ(run.found->kernels[0].name, "k");
  EXPECT_TRUE(run.warnings.empty());
  EXPECT_FALSE(run.native_failed);
}

TEST(OpenclRun, StandsForANativeRunWithoutADevice) {
  const OpenclRun run = run_with(with_kernel(0), ended_with(3));
  EXPECT_TRUE(run.native_failed);
  ASSERT_EQ(run.warnings.size(), 1u);
  EXPECT_EQ(run.warnings[0].code, "no-native-opencl");
  EXPECT_THAT(run.warnings[0].message, HasSubstr("with exit code 3"));
}

// A run that the time limit ended has no exit code: it ended neither well nor badly.
TEST(OpenclRun, TakesTheKernelsOfACutRunForAPart) {
  Collection cut = with_kernel(0);
  cut.exit_code.reset();
  cut.outputs = {OutputDigest{}};
  Collection native;
  native.exit_code = 0;
  native.outputs.assign(2, OutputDigest{.bytes = 100});
  StandIn collector(cut);
  const auto run = collect_kernels(collector, {}, false, ended_with(0), &native);
  ASSERT_TRUE(run && run->found);
  EXPECT_TRUE(run->warnings.empty());
  const OpenclRun without_device = run_with(cut, ended_with(3));
  EXPECT_TRUE(without_device.native_failed);
  ASSERT_EQ(without_device.warnings.size(), 1u);
  EXPECT_THAT(without_device.warnings[0].message, HasSubstr("until its time was over"));
  EXPECT_THAT(without_device.warnings[0].message, testing::Not(HasSubstr("under Oclgrind well")));
}

TEST(OpenclRun, SaysThatTheProgramFailedUnderOclgrindAlone) {
  const OpenclRun run = run_with(with_kernel(4), ended_with(0));
  EXPECT_FALSE(run.native_failed);
  ASSERT_EQ(run.warnings.size(), 1u);
  EXPECT_EQ(run.warnings[0].code, "runs-differ");
}

TEST(OpenclRun, WithoutKernelsIsNoNewsUnlessTheyWereAskedFor) {
  Collection none;
  none.exit_code = 0;
  const OpenclRun quiet = run_with(none, ended_with(0));
  EXPECT_FALSE(quiet.found);
  EXPECT_EQ(quiet.status, "skipped");
  EXPECT_TRUE(quiet.warnings.empty());
  EXPECT_EQ(run_with(none, ended_with(0), true).warnings.size(), 1u);
  none.exit_code = 4;
  const OpenclRun failed = run_with(none, ended_with(0));
  EXPECT_EQ(failed.status, "failed");
  ASSERT_EQ(failed.warnings.size(), 1u);
  EXPECT_EQ(failed.warnings[0].code, "no-kernels");
}

TEST(OpenclRun, IsForProgramsThatNameTheLibrary) {
  ProgramFacts program;
  CollectRequest request;
  EXPECT_FALSE(uses_opencl(request, program, nullptr));
  program.names_opencl = true;
  EXPECT_TRUE(uses_opencl(request, program, nullptr));
  program.names_opencl = false;
  request.opencl = true;
  EXPECT_TRUE(uses_opencl(request, program, nullptr));
  request.mix_only = true;
  EXPECT_FALSE(uses_opencl(request, program, nullptr));
  EXPECT_TRUE(names_opencl("a libOpenCL.so.1 b"));
  EXPECT_FALSE(names_opencl("libOpenGL.so"));
}

}  // namespace
}  // namespace perfcast
