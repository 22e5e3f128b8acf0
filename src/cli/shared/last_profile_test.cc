#include "cli/shared/last_profile.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/process/temp_folder.h"

namespace perfcast::cli {
namespace {

namespace fs = std::filesystem;

// Two working folders and a cache of its own.
class LastProfile : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", (folder_.path() + "/cache").c_str(), 1);
    for (const char* name : {"a", "b"}) fs::create_directory(folder_.path() + "/" + name);
    enter("a");
  }
  void TearDown() override {
    fs::current_path(before_);
    unsetenv("XDG_CACHE_HOME");
  }
  void enter(const std::string& name) const { fs::current_path(folder_.path() + "/" + name); }
  static std::string last() {
    const auto text = read_file(last_profile_path());
    return text ? *text : "";
  }
  TempFolder folder_ = *TempFolder::create();
  fs::path before_ = fs::current_path();
};

TEST_F(LastProfile, IsOfTheWorkingFolder) {
  EXPECT_EQ(last(), "");
  ASSERT_TRUE(keep_last_profile("1"));
  enter("b");
  EXPECT_EQ(last(), "");
  ASSERT_TRUE(keep_last_profile("2"));
  EXPECT_EQ(last(), "2");
  enter("a");
  EXPECT_EQ(last(), "1");
  ASSERT_TRUE(keep_last_profile("3"));
  EXPECT_EQ(last(), "3");
}

TEST_F(LastProfile, GivesWayToAFileOfThatName) {
  ASSERT_TRUE(keep_last_profile("1"));
  EXPECT_EQ(profile_path("last"), last_profile_path());
  EXPECT_EQ(profile_path("p.json"), "p.json");
  ASSERT_TRUE(write_file_atomically("last", "mine"));
  EXPECT_EQ(profile_path("last"), "last");
}

TEST(ProfileInWords, SaysWhatItIsAndHowOld) {
  Profile profile;
  profile.command = {"xz", "-6", "big.bin"};
  profile.started_utc = "1970-01-02T00:00:00Z";
  constexpr double kDay_s = 86400;
  EXPECT_EQ(profile_in_words(profile, kDay_s), "`xz -6 big.bin`, just taken");
  EXPECT_EQ(profile_in_words(profile, kDay_s + 1), "`xz -6 big.bin`, 1 second old");
  EXPECT_EQ(profile_in_words(profile, kDay_s + 3599), "`xz -6 big.bin`, 59 minutes old");
  EXPECT_EQ(profile_in_words(profile, kDay_s + 7200), "`xz -6 big.bin`, 2 hours old");
  EXPECT_EQ(profile_in_words(profile, 3 * kDay_s), "`xz -6 big.bin`, 2 days old");
  profile.started_utc = "yesterday";
  EXPECT_EQ(profile_in_words(profile, kDay_s), "`xz -6 big.bin`");
  profile.command = {std::string(100, 'a')};
  EXPECT_EQ(profile_in_words(profile, kDay_s), "`" + std::string(57, 'a') + "...`");
}

}  // namespace
}  // namespace perfcast::cli
