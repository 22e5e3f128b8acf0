#include "machine/meter/sysfs.h"

#include <gmock/gmock.h>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::ElementsAre;

TEST(Sysfs, ReadsOneValueOrSaysWhy) {
  const FolderOfFiles folder{{"count", " 123456\nmore\n"},     {"below", "-5\n"},
                             {"text", "package-0\n"},          {"half", "1.5\n"},
                             {"huge", std::string(5000, '1')}, {"empty", ""}};
  EXPECT_EQ(*read_sysfs_number(folder.of("count")), 123456);
  EXPECT_EQ(*read_sysfs_number(folder.of("below")), -5);
  EXPECT_EQ(*read_sysfs(folder.of("text")), "package-0");
  EXPECT_EQ(read_sysfs_number(folder.of("text")).error().code, "bad-number");
  EXPECT_EQ(read_sysfs_number(folder.of("half")).error().code, "bad-number");
  EXPECT_EQ(read_sysfs_number(folder.of("empty")).error().code, "bad-number");
  EXPECT_EQ(read_sysfs_number(folder.of("huge")).error().code, "file-too-large");
  EXPECT_EQ(read_sysfs_number(folder.of("absent")).error().code, "file-not-found");
  EXPECT_EQ(read_sysfs(folder.path()).error().code, "file-error");  // a folder
  EXPECT_FALSE(sysfs_number(folder.of("absent")));
  EXPECT_EQ(sysfs_text(folder.of("absent")), "");
}

TEST(Sysfs, SortsNamesByTheirNumbers) {
  const FolderOfFiles folder{{"hwmon10", ""}, {"hwmon9", ""}, {"hwmon9b", ""}, {"a", ""}};
  EXPECT_THAT(sysfs_names(folder.path()), ElementsAre("a", "hwmon9", "hwmon9b", "hwmon10"));
  EXPECT_THAT(sysfs_names(folder.of("absent")), ElementsAre());
}

}  // namespace
}  // namespace perfcast
