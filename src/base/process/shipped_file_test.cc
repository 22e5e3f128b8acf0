#include "base/process/shipped_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace perfcast {
namespace {

TEST(ShippedFile, LiesBesideTheBinaryOrInTheBuildTree) {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  EXPECT_EQ(find_shipped_file("no-such-file.so", "src/nowhere"), "");
  const std::filesystem::path built = folder.parent_path() / "src" / "shipped_file_test";
  std::filesystem::create_directories(built);
  ASSERT_TRUE(write_file_atomically((built / "shipped-file.so").string(), "x"));
  EXPECT_EQ(find_shipped_file("shipped-file.so", "src/shipped_file_test"), (built / "shipped-file.so").string());
  // Beside the binary goes first. A folder of that name is no such file.
  ASSERT_TRUE(write_file_atomically((folder / "shipped-file.so").string(), "x"));
  EXPECT_EQ(find_shipped_file("shipped-file.so", "src/shipped_file_test"), (folder / "shipped-file.so").string());
  EXPECT_EQ(find_shipped_file("shipped_file_test", "src"), "");
  std::filesystem::remove(folder / "shipped-file.so");
  std::filesystem::remove_all(built);
}

}  // namespace
}  // namespace perfcast
