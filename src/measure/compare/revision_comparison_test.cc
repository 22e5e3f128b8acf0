#include "measure/compare/revision_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/process/temp_folder.h"
#include "measure/compare/revision_report.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// A repository whose revisions run the guinea pig with so many rounds, by a script that the "build" makes. A number
// below 0 doesn't build.
class RevisionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
    auto made = TempFolder::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    source_ = folder_->path() + "/source";
    std::filesystem::create_directories(source_);
    git("init -q -b main");
  }
  void git(const std::string& words) const {
    const std::string command = "git -C " + source_ + " -c user.name=Ada -c user.email=ada@example.org " + words;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void commit(long rounds, const std::string& subject) {
    std::ofstream(source_ + "/rounds") << rounds << " " << subject << "\n";
    git("add -A");
    git("commit -q -m \"" + subject + "\"");
  }
  RevisionRequest request(const Repository& repository, const std::string& a, const std::string& b) const {
    RevisionRequest request;
    request.a = *repository.resolve(a);
    request.b = *repository.resolve(b);
    request.build =
        "read rounds rest < rounds; [ $rounds -gt 0 ] || { echo cannot build >&2; exit 7; }; "
        "printf '#!/bin/sh\\nexec " +
        std::string(PERFCAST_GUINEA) + " work %s\\n' $rounds > run; chmod +x run";
    request.trees = folder_->path();
    request.by_counts = true;
    request.comparison.threshold_ratio = 0.02;
    for (auto& command : request.comparison.commands) command = {"{tree}/run"};
    return request;
  }

  std::optional<TempFolder> folder_;
  std::string source_;
};

TEST_F(RevisionTest, TheFirstSlowOneIsFoundAndTheUsersTreeStays) {
  for (int i = 0; i < 5; ++i) commit(500'000, "same " + std::to_string(i));
  commit(600'000, "slow");
  commit(600'001, "after");
  commit(600'002, "last");
  std::ofstream(source_ + "/rounds") << "changed and not committed\n";
  const auto repository = Repository::open(source_);
  ASSERT_TRUE(repository) << to_text(repository.error());
  const auto search = find_first_slow(*repository, request(*repository, "HEAD~7", "main"));
  ASSERT_TRUE(search) << to_text(search.error());
  EXPECT_EQ(search->ends.verdict, CompareVerdict::kSlower);
  ASSERT_THAT(search->candidates, SizeIs(1));
  EXPECT_EQ(search->candidates[0].subject, "slow");
  EXPECT_EQ(search->candidates[0].author, "Ada");
  EXPECT_LE(search->steps.size(), 3u);
  std::ifstream in(source_ + "/rounds");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "changed and not committed");
  EXPECT_FALSE(std::filesystem::exists(source_ + "/.git/worktrees"));
  const std::string text = search_text(*search, {"a", "b"});
  EXPECT_THAT(text, HasSubstr("first slow: "));
  EXPECT_THAT(text, HasSubstr(" slow (Ada, "));
}

TEST_F(RevisionTest, WhatDoesNotBuildIsPassedOver) {
  commit(500'000, "good");
  commit(-1, "broken");
  commit(600'000, "slow");
  const auto repository = Repository::open(source_);
  ASSERT_TRUE(repository);
  const auto search = find_first_slow(*repository, request(*repository, "HEAD~2", "HEAD"));
  ASSERT_TRUE(search) << to_text(search.error());
  ASSERT_THAT(search->steps, SizeIs(1));
  EXPECT_TRUE(search->steps[0].is_skipped);
  EXPECT_THAT(search->steps[0].why_skipped, HasSubstr("cannot build"));
  ASSERT_THAT(search->candidates, SizeIs(2));
  EXPECT_EQ(search->candidates[0].subject, "broken");
  EXPECT_THAT(search_text(*search, {"a", "b"}), HasSubstr("among 2"));
}

TEST_F(RevisionTest, WithoutASlowdownThereIsNothingToLookFor) {
  commit(500'000, "good");
  commit(500'001, "as good");
  const auto repository = Repository::open(source_);
  ASSERT_TRUE(repository);
  const auto search = find_first_slow(*repository, request(*repository, "HEAD~1", "HEAD"));
  ASSERT_TRUE(search) << to_text(search.error());
  EXPECT_TRUE(search->candidates.empty());
  EXPECT_THAT(search_text(*search, {"a", "b"}), HasSubstr("nothing to look for"));
  const auto compared = compare_revisions(*repository, request(*repository, "HEAD", "HEAD~1"));
  ASSERT_TRUE(compared) << to_text(compared.error());
  EXPECT_EQ(compared->verdict, CompareVerdict::kNoDifference);
}

TEST_F(RevisionTest, ErrorsNameTheRevision) {
  commit(500'000, "one");
  commit(-1, "broken");
  const auto repository = Repository::open(source_);
  ASSERT_TRUE(repository);
  EXPECT_EQ(repository->resolve("no-such-tag").error().code, "unknown-revision");
  EXPECT_EQ(repository->resolve("--all").error().code, "unknown-revision");
  const auto failed = compare_revisions(*repository, request(*repository, "HEAD~1", "HEAD"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "build-failed");
  EXPECT_THAT(failed.error().message, HasSubstr("broken: the build failed: status 7"));
  EXPECT_EQ(find_first_slow(*repository, request(*repository, "HEAD", "HEAD~1")).error().code, "not-an-ancestor");
  EXPECT_EQ(Repository::open("/").error().code, "no-repository");
}

TEST(WithTree, ReplacesEachMark) { EXPECT_EQ(with_tree("{tree}/a {tree}{tree} tree", "/x"), "/x/a /x/x tree"); }

}  // namespace
}  // namespace perfcast::measure
