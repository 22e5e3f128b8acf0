#include "measure/diagnose/prove/output_check.h"

#include <gtest/gtest.h>

#include <string>

namespace perfcast::measure {
namespace {

std::vector<std::string> shell(const std::string& line) { return {"sh", "-c", line}; }

TEST(OutputCheck, TellsSameFromOther) {
  OutputCheck check(shell("seq 1 400000"), 60);  // 2.7 MB: more than a pipe holds
  EXPECT_EQ(*check.compare(shell("seq 1 200000; seq 200001 400000")), SameOutput::kSame);
  EXPECT_EQ(*check.compare(shell("seq 1 400001")), SameOutput::kDiffers);
  EXPECT_EQ(*check.compare(shell("seq 1 399999; echo 40000O")), SameOutput::kDiffers);
  EXPECT_EQ(*check.compare({"true"}), SameOutput::kDiffers);
  const auto failed = check.compare(shell("seq 1 400000; exit 3"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "program-failed");
}

TEST(OutputCheck, KnowsNothingOfWhatPrintsNothing) {
  OutputCheck check({"true"}, 60);
  EXPECT_EQ(*check.compare(shell(":")), SameOutput::kSame);
  EXPECT_EQ(*check.compare(shell("echo")), SameOutput::kDiffers);
}

TEST(OutputCheck, SaysWhatVaries) {
  OutputCheck check(shell("echo $$; date +%N"), 60);
  EXPECT_EQ(*check.compare({"true"}), SameOutput::kVaries);
}

TEST(OutputCheck, EndsWhatHangs) {
  OutputCheck check(shell("sleep 0.1"), 1);
  const auto hanging = check.compare(shell("exec sleep 100"));
  ASSERT_FALSE(hanging);
  EXPECT_EQ(hanging.error().code, "program-failed");
}

}  // namespace
}  // namespace perfcast::measure
