#include "program/corpus/splits.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/random.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;

TrainingTable table_of(const std::vector<std::pair<std::string, std::string>>& ids_and_families, size_t platforms) {
  TrainingTable table;
  for (const auto& [id, family] : ids_and_families) {
    Program program;
    program.id = id;
    program.family = family;
    table.programs.push_back(program);
  }
  table.profiles.resize(table.programs.size());
  for (size_t i = 0; i < platforms; ++i) {
    Platform platform;
    platform.id = platform.name = "p" + std::to_string(i);
    table.platforms.push_back(platform);
  }
  table.times.resize(table.programs.size() * platforms, PlatformTime{});
  return table;
}

TrainingTable compressors() {
  return table_of({{"compress.gzip.1.c", "gzip"},
                   {"compress.gzip.9.c", "gzip"},
                   {"compress.gzip.9.d", "gzip"},
                   {"compress.lz4.6.b65536.c", "lz4"},
                   {"compress.lz4.6.b1048576.c", "lz4"},
                   {"stressng.matrix", "matrix"}},
                  3);
}

std::vector<std::string> left_out(const std::vector<Fold>& folds) {
  std::vector<std::string> names;
  names.reserve(folds.size());
  for (const Fold& fold : folds) names.push_back(fold.left_out);
  return names;
}

TEST(SplitsTest, NamesReadBack) {
  for (const char* name : {"random", "workload", "program", "program-family", "platform"}) {
    const auto split = parse_split(name);
    ASSERT_TRUE(split.ok());
    EXPECT_EQ(to_string(*split), name);
  }
  const auto unknown = parse_split("family");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, "bad-usage");
  EXPECT_EQ(unknown.error().expected,
            "one of: random, workload, program, program-family, group, platform, core-design");
}

TEST(SplitsTest, AProgramIsItsIdWithoutNumericInputs) {
  EXPECT_EQ(program_key("compress.lz4.6.b65536.d"), "compress.lz4.d");
  EXPECT_EQ(program_key("aiwc.lud.lud_diagonal.=large"), "aiwc.lud.lud_diagonal");
  EXPECT_EQ(program_key("openssl.sha256.16384"), "openssl.sha256");
  EXPECT_EQ(program_key("stressng.bsearch"), "stressng.bsearch");
  EXPECT_EQ(program_key("b.b1"), "b");
  EXPECT_EQ(program_key("123"), "123");
}

TEST(SplitsTest, LeavesOutEachFamilyOnce) {
  const auto folds = make_folds(compressors(), Split::kProgramFamily, 0, 1);
  EXPECT_THAT(left_out(folds), ElementsAre("gzip", "lz4", "matrix"));
  EXPECT_THAT(folds[0].test_programs, ElementsAre(0, 1, 2));
  EXPECT_THAT(folds[0].train_programs, ElementsAre(3, 4, 5));
  EXPECT_THAT(folds[0].train_platforms, ElementsAre(0, 1, 2));
  EXPECT_THAT(folds[0].test_platforms, ElementsAre(0, 1, 2));
}

TEST(SplitsTest, LeavesOutEachGroupWithAllItsFamilies) {
  TrainingTable table = compressors();
  for (Program& program : table.programs) program.group = program.family == "matrix" ? "user" : "compressor";
  const auto folds = make_folds(table, Split::kGroup, 0, 1);
  EXPECT_THAT(left_out(folds), ElementsAre("compressor", "user"));
  EXPECT_THAT(folds[0].test_programs, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(folds[0].train_programs, ElementsAre(5));
}

TEST(SplitsTest, LeavesOutEachProgramWithAllItsInputs) {
  EXPECT_THAT(left_out(make_folds(compressors(), Split::kProgram, 0, 1)),
              ElementsAre("compress.gzip.c", "compress.gzip.d", "compress.lz4.c", "stressng.matrix"));
}

TEST(SplitsTest, LeavesOutPlatforms) {
  const auto folds = make_folds(compressors(), Split::kPlatform, 0, 1);
  EXPECT_THAT(left_out(folds), ElementsAre("p0", "p1", "p2"));
  EXPECT_THAT(folds[1].test_platforms, ElementsAre(1));
  EXPECT_THAT(folds[1].train_platforms, ElementsAre(0, 2));
  EXPECT_EQ(folds[1].train_programs.size(), 6u);
  EXPECT_EQ(folds[1].test_programs.size(), 6u);
}

TEST(SplitsTest, LeavesOutCoreDesignsWithAllTheirPlatforms) {
  TrainingTable table = compressors();
  for (size_t j : {0, 2}) {
    table.platforms[j].arch = "x86_64";
    table.platforms[j].vendor = "AuthenticAMD";
    table.platforms[j].cpu_family = 25;
    table.platforms[j].model = 1;
  }
  const auto folds = make_folds(table, Split::kCoreDesign, 0, 1);
  EXPECT_THAT(left_out(folds), ElementsAre("p1", "zen3"));  // p1's core can't be told
  EXPECT_THAT(folds[1].test_platforms, ElementsAre(0, 2));
  EXPECT_THAT(folds[1].train_platforms, ElementsAre(1));
}

TEST(SplitsTest, NothingToLeaveOutGivesNoFold) {
  EXPECT_TRUE(make_folds(table_of({{"a", "a"}}, 1), Split::kProgramFamily, 0, 1).empty());
  EXPECT_TRUE(make_folds(table_of({{"a", "a"}}, 1), Split::kRandom, 5, 1).empty());
  EXPECT_TRUE(make_folds(TrainingTable(), Split::kPlatform, 0, 1).empty());
}

TEST(SplitsTest, TheSeedAloneDecides) {
  const TrainingTable table = compressors();
  const auto a = make_folds(table, Split::kWorkload, 3, 7);
  const auto b = make_folds(table, Split::kWorkload, 3, 7);
  ASSERT_EQ(a.size(), 3u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].test_programs, b[i].test_programs);
  std::set<std::vector<size_t>> first_folds;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    first_folds.insert(make_folds(table, Split::kWorkload, 3, seed)[0].test_programs);
  }
  EXPECT_GT(first_folds.size(), 1u);
}

std::string side_key(const TrainingTable& table, Split split, size_t row) {
  const Program& program = table.programs[row];
  if (split == Split::kProgramFamily) return program.family;
  return split == Split::kProgram ? program_key(program.id) : program.id;
}

TEST(SplitsTest, WhatASplitKeepsTogetherNeverStandsOnBothSides) {
  Random random(1);
  constexpr Split kRowSplits[] = {Split::kWorkload, Split::kProgram, Split::kProgramFamily};
  for (int i = 0; i < 200; ++i) {
    std::vector<std::pair<std::string, std::string>> names;
    for (uint64_t n = random.below(40); n > 0; --n) {
      const std::string family = "f" + std::to_string(random.below(9));
      names.emplace_back("compress." + family + "." + std::to_string(random.below(4)) + ".c", family);
    }
    const TrainingTable table = table_of(names, random.below(6));
    const Split split = kRowSplits[random.below(std::size(kRowSplits))];
    const auto folds = make_folds(table, split, static_cast<int64_t>(random.below(12)), random.next());
    std::vector<int> tested(table.programs.size());
    for (const Fold& fold : folds) {
      ASSERT_FALSE(fold.train_programs.empty());
      ASSERT_FALSE(fold.test_programs.empty());
      std::set<std::string> train_keys;
      for (const size_t row : fold.train_programs) train_keys.insert(side_key(table, split, row));
      for (const size_t row : fold.test_programs) {
        ASSERT_FALSE(train_keys.contains(side_key(table, split, row))) << side_key(table, split, row);
        ++tested[row];
      }
      ASSERT_EQ(fold.train_programs.size() + fold.test_programs.size(), table.programs.size());
    }
    for (const int times : tested) ASSERT_EQ(times, folds.empty() ? 0 : 1);
  }
}

TEST(SplitsTest, RandomFoldsPartTheRowsOfOneProgram) {
  // Ten profiles of each of three programs.
  std::vector<std::pair<std::string, std::string>> rows;
  rows.reserve(30);
  for (int i = 0; i < 30; ++i) rows.push_back({std::string(1, static_cast<char>('a' + i % 3)), "family"});
  const TrainingTable table = table_of(rows, 2);
  const std::vector<Fold> folds = make_folds(table, Split::kRandom, 0, 3);
  ASSERT_EQ(folds.size(), 5u);
  std::vector<int> tested(rows.size(), 0);
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.test_programs.size(), 6u);
    EXPECT_EQ(fold.train_programs.size(), 24u);
    for (const size_t row : fold.test_programs) ++tested[row];
  }
  EXPECT_THAT(tested, testing::Each(1));
  // The split workload keeps them together.
  for (const Fold& fold : make_folds(table, Split::kWorkload, 3, 3)) EXPECT_EQ(fold.test_programs.size(), 10u);
}

}  // namespace
}  // namespace perfcast::program
