#include "profile/suite/slurm_client.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(SlurmClientTest, JobIds) {
  EXPECT_EQ(*parse_job_id("123\n"), "123");
  EXPECT_EQ(*parse_job_id("123;cluster\n"), "123");
  for (const char* bad : {"", "\n", "Submitted batch job 5", "-1", "1_2", "123456789012345678901"}) {
    EXPECT_FALSE(parse_job_id(bad).ok()) << bad;
  }
}

TEST(SlurmClientTest, Queue) {
  EXPECT_THAT(parse_queue("12_1 my job\n  12_22  \n7 a\n12_[3-4] a\nx_1\n_1\n1_\n\n"),
              ElementsAre(Pair("12_1", "my job"), Pair("12_22", "")));
}

TEST(SlurmClientTest, Accounts) {
  EXPECT_EQ(parse_accounts("12_1|perfcast-a\n12_2|perfcast-a\n13_[1-4]|perfcast-b\n", "perfcast-a"), "12");
  EXPECT_EQ(parse_accounts("12_1|perfcast-a\n13_[1-4%2]|perfcast-b\n", "perfcast-b"), "13");
  EXPECT_EQ(parse_accounts("12_1|perfcast-a\n15_1|perfcast-a\n", "perfcast-a"), "15");  // the latest
  for (const char* none : {"", "\n", "12_1|perfcast-ab\n", "x|perfcast-a\n", "12_1\n", "|perfcast-a\n"}) {
    EXPECT_EQ(parse_accounts(none, "perfcast-a"), "") << none;
  }
}

// Stand-ins for Slurm's commands, in a PATH of their own.
class FakeSlurm : public testing::Test {
 protected:
  void SetUp() override {
    path_ = getenv("PATH");
    setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }
  void command(const std::string& name, const std::string& script) {
    std::ofstream(folder_.path() + "/" + name) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_.path() + "/" + name, std::filesystem::perms::owner_all);
  }
  TempFolder folder_ = std::move(*TempFolder::create());
  std::string path_;
};

TEST_F(FakeSlurm, SubmitsAnArray) {
  command("sbatch", "printf '%s\\n' \"$@\" > '" + folder_.path() + "/arguments'; echo 42");
  const auto job =
      real_slurm_client().submit({"/x/job 1.sh", "epyc", "perfcast-cloud", "/x/%A_%a", 3, true, {"--qos=low"}});
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(*job, "42");
  EXPECT_EQ(*read_file(folder_.path() + "/arguments"),
            "--parsable\n--partition=epyc\n--array=1-3\n--output=/x/%A_%a\n--ntasks=1\n"
            "--exclusive\n--qos=low\n--job-name=perfcast-cloud\n/x/job 1.sh\n");
}

TEST_F(FakeSlurm, SaysWhatSlurmSaid) {
  command("sbatch", "echo 'sbatch: error: invalid partition specified: moon' >&2; exit 1");
  const auto job = real_slurm_client().submit({"job.sh", "moon", "n", "o", 1, false, {}});
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, "slurm-failed");
  EXPECT_THAT(job.error().message, HasSubstr("invalid partition specified: moon"));
}

TEST_F(FakeSlurm, AsksTheAccountsByName) {
  command("sacct", "printf '%s\\n' \"$@\" > '" + folder_.path() + "/arguments'; echo '42_1|perfcast-x'");
  EXPECT_EQ(*real_slurm_client().accounted("perfcast-x"), "42");
  EXPECT_EQ(*read_file(folder_.path() + "/arguments"),
            "--noheader\n--parsable2\n--allocations\n--starttime=now-30days\n--name=perfcast-x\n"
            "--format=JobID,JobName\n");
  command("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_EQ(real_slurm_client().accounted("perfcast-x").error().code, "slurm-failed");
}

TEST_F(FakeSlurm, ReadsLongQueues) {
  command("squeue", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo 99_$i; done");
  const auto queued = real_slurm_client().queued();
  ASSERT_TRUE(queued.ok()) << queued.error().message;
  EXPECT_EQ(queued->size(), 3000U);
  EXPECT_TRUE(queued->contains("99_3000"));
}

}  // namespace
}  // namespace perfcast
