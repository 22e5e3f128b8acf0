#include "program/evaluate/program_groups.h"

#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

TEST(ProgramGroups, AreFollowedByTheirSourcesWhereThereAreSeveral) {
  TrainingTable table;
  table.platforms.resize(3);
  table.sources = {"geekbench6", "sparecores"};
  table.programs.resize(4);
  table.times.resize(12);
  const char* groups[] = {"application", "user", "application", "application"};
  const size_t sources[] = {0, 1, 1, 0};
  for (size_t i = 0; i < 4; ++i) {
    table.programs[i].group = groups[i];
    for (size_t j = 0; j < 3; ++j) {
      PlatformTime time;
      time.source = j == 0 ? 1 : sources[i];  // most of the times are of the row's own
      table.times[i * 3 + j] = time;
    }
  }
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> rows;
  for (const ProgramGroup& group : program_groups(table)) {
    names.push_back(group.name);
    rows.push_back(group.rows);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"application", "application (geekbench6)", "application (sparecores)",
                                             "user", "all"}));
  EXPECT_EQ(rows, (std::vector<std::vector<int64_t>>{{0, 2, 3}, {0, 3}, {2}, {1}, {0, 1, 2, 3}}));
}

}  // namespace
}  // namespace perfcast::program
