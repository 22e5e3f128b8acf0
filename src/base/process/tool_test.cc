#include "base/process/tool.h"

#include <gtest/gtest.h>

#include <chrono>

namespace perfcast {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(FirstLineLater, GivesTheFirstLineOnly) {
  FirstLineLater question({"sh", "-c", "echo first; echo second; echo no >&2"});
  EXPECT_EQ(question.get(), "first");
  EXPECT_EQ(question.get(), "first");
  EXPECT_EQ(FirstLineLater({"/bin/sh", "-c", "echo by path"}).get(), "by path");
}

TEST(FirstLineLater, DoesNotWaitForWhatComesBehindTheLine) {
  const auto begin = std::chrono::steady_clock::now();
  FirstLineLater question({"sh", "-c", "echo said; exec sleep 60"});
  EXPECT_EQ(question.get(), "said");
  EXPECT_LT(seconds_since(begin), 30);
}

TEST(FirstLineLater, NeedNotBeAskedForTheAnswer) {
  const auto begin = std::chrono::steady_clock::now();
  { const FirstLineLater question({"sleep", "60"}); }
  EXPECT_LT(seconds_since(begin), 30);
}

TEST(FirstLineLater, IsEmptyWhereNothingIsSaid) {
  EXPECT_EQ(FirstLineLater({"true"}).get(), "");
  EXPECT_EQ(FirstLineLater({"there-is-no-such-program"}).get(), "");
  EXPECT_EQ(FirstLineLater({"/there/is/no/such/program"}).get(), "");
}

}  // namespace
}  // namespace perfcast
