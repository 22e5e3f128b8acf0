// Commands that stand before the work: a build, a pipeline, a script in the interpreter's place. What is counted is the
// real work.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "profile/collect/collector.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

constexpr double kWork = 30e6;  // rounds of the guinea's loop, of 15 instructions each
const std::string kOfGuinea = std::string(PERFCAST_GUINEA) + " work 30000000";

class RealWork : public testing::Test {
 protected:
  void SetUp() override {
    if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
  }
  Result<Profile> profile_of(std::vector<std::string> command, AroundRun around = {}) {
    CollectRequest request;
    request.command = std::move(command);
    request.around = std::move(around);
    request.pass_output = false;
    request.input_descriptor = -1;
    return profile_command(request, [](const std::string&) {});
  }
  std::string make(const std::string& name, const std::string& text) {
    std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(write_file_atomically(path, text));
    chmod(path.c_str(), 0755);
    return path;
  }
  // Of so many pieces of work, and nothing beside that is worth speaking of.
  static void expect_work(const Result<Profile>& profile, double pieces) {
    ASSERT_TRUE(profile) << profile.error().message;
    ASSERT_TRUE(profile->metrics.contains("instructions_count"));
    EXPECT_GE(profile->metrics.at("instructions_count"), 14 * kWork * pieces);
    EXPECT_LE(profile->metrics.at("instructions_count"), 16 * kWork * pieces + 100e6);
    EXPECT_GE(profile->accounted_cpu_ratio.value_or(0), 0.95);
  }
  static bool warns(const Profile& profile, const std::string& code) {
    for (const ProfileWarning& warning : profile.warnings) {
      if (warning.code == code) return true;
    }
    return false;
  }
  TempFolder folder_ = *TempFolder::create();
};

class Build : public RealWork {
 protected:
  void SetUp() override {
    RealWork::SetUp();
    if (find_in_path("make").empty()) GTEST_SKIP() << "no make here";
    make("Makefile",
         ".PHONY: all clean\nall: a.o b.o c.o\n%.o:\n\t" + kOfGuinea + " && touch $@\nclean:\n\trm -f a.o b.o c.o\n");
  }
  std::vector<std::string> build() const { return {"make", "-s", "-C", folder_.path(), "-j2"}; }
  std::string clean() const { return "make -s -C " + folder_.path() + " clean"; }
};

TEST_F(Build, ThatIsUpToDateIsNoticed) {
  const auto found = profile_of(build());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->exit_code, 0);
  EXPECT_TRUE(warns(*found, "work-done-once"));
  EXPECT_FALSE(found->metrics.contains("instructions_count"));
  EXPECT_GE(found->metrics.at("cpu_s"), 0.03) << "the first run's";
  EXPECT_EQ(found->metrics.at("native_runs_count"), 1);
}

TEST_F(Build, IsCountedWhereItBeginsAnew) {
  const auto found = profile_of(build(), {clean(), ""});
  expect_work(found, 3);
  EXPECT_FALSE(warns(*found, "work-done-once"));
  EXPECT_EQ(found->metrics.at("native_runs_count"), 3);
}

TEST_F(Build, EndsWhereItCannotBePrepared) {
  const auto found = profile_of(build(), {clean() + " no-such-target", ""});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "prepare-failed");
  EXPECT_THAT(found.error().message, HasSubstr("no-such-target"));
  // A line that works once ends all where it fails the second time.
  const auto later = profile_of(build(), {"mkdir " + folder_.path() + "/once", ""});
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, "prepare-failed");
}

TEST_F(RealWork, OfAPipelineIsOfAllItsPrograms) {
  expect_work(profile_of({"sh", "-c", kOfGuinea + " | " + kOfGuinea}), 2);
  expect_work(profile_of({"sh", "-c", "(" + kOfGuinea + "; echo a) | cat | (" + kOfGuinea + "; cat) | wc -c"}), 2);
}

// As version managers put them into PATH: a script that looks the interpreter up and becomes it.
TEST_F(RealWork, IsBehindAShim) {
  make("real-tool", "#!" + find_in_path("sh") + "\nexec " + kOfGuinea + "\n");
  const std::string shim = make("tool", "#!/usr/bin/env sh\nset -e\nprogram=\"${0##*/}\"\nexport TOOL=1\nexec \"" +
                                            folder_.path() + "/manager\" exec \"$program\" \"$@\"\n");
  make("manager",
       "#!/bin/sh\nshift\nfound=$(echo \"" + folder_.path() + "/real-$1\")\nshift\nexec \"$found\" \"$@\"\n");
  expect_work(profile_of({shim, "argument"}), 1);
}

TEST_F(RealWork, OfPythonIsBehindAShim) {
  const std::string python = find_in_path("python3");
  if (python.empty()) GTEST_SKIP() << "no python3 here";
  const std::string script = make("work.py", "s = 0\nfor i in range(300000):\n    s += i * i\n");
  const std::string shim = make("python3", "#!/bin/sh\nexec " + python + " \"$@\"\n");
  const auto direct = profile_of({python, script}), shimmed = profile_of({shim, script});
  ASSERT_TRUE(direct && shimmed);
  EXPECT_NEAR(shimmed->metrics.at("instructions_count") / direct->metrics.at("instructions_count"), 1, 0.15);
}

}  // namespace
}  // namespace perfcast
