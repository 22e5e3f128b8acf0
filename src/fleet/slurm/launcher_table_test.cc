#include "fleet/slurm/launcher_table.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace perfcast::fleet {
namespace {

TEST(LauncherTable, WordsAreWhole) {
  EXPECT_TRUE(has_word("srun mpirun", "srun"));
  EXPECT_TRUE(has_word("srun mpirun", "mpirun"));
  for (const char* none : {"run", "mpi", "", "srun mpirun", "sruns"})
    EXPECT_FALSE(has_word("srun mpirun", none)) << none;
}

// The plugin is one file that knows no other: it holds a copy of the lists.
TEST(LauncherTable, ThePluginHasTheSameLists) {
  const auto plugin = read_file(PERFCAST_SOURCE_DIR "/data/slurm/job_submit.lua");
  ASSERT_TRUE(plugin.ok());
  const std::string first = "-- launchers: begin\n", last = "-- launchers: end\n";
  const size_t begin = plugin->find(first), end = plugin->find(last);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(plugin->substr(begin + first.size(), end - begin - first.size()), launchers_as_lua())
      << "copy the text above between the two lines of data/slurm/job_submit.lua";
}

}  // namespace
}  // namespace perfcast::fleet
