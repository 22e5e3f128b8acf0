// `perfcast profile` and `perfcast doctor` as a user runs them: the built binary, its streams and its exit code.

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process/process_tree.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "profile/profile.h"

namespace perfcast::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPerfcast = PERFCAST_BINARY_DIR "/perfcast";
constexpr const char* kGuinea = PERFCAST_BINARY_DIR "/bin/perfcast_guinea";

struct ProfileOutcome {
  int exit_code = -1;
  std::string out, err;
};

class ProfileCommandTest : public testing::Test {
 protected:
  // `command` with $P for perfcast and $G for the program that does as it is told.
  ProfileOutcome shell(const std::string& command) const {
    const std::string line = "cd '" + folder_.path() + "'; P='" + kPerfcast + "'; G='" + kGuinea + "'; ( " + command +
                             " ) > out 2> err < /dev/null";
    const int state = std::system(line.c_str());
    return {WIFEXITED(state) ? WEXITSTATUS(state) : -1, file("out"), file("err")};
  }
  std::string file(const std::string& name) const {
    const auto text = read_file(folder_.path() + "/" + name);
    return text ? *text : "(no file " + name + ")";
  }
  Profile stored(const std::string& name = "p.json") const {
    auto profile = read_profile(folder_.path() + "/" + name);
    EXPECT_TRUE(profile) << profile.error().message;
    return profile ? *profile : Profile{};
  }
  TempFolder folder_ = *TempFolder::create();
};

TEST_F(ProfileCommandTest, PassesTheProgramsStreamsAndExitCode) {
  const ProfileOutcome said = shell("$P profile -o p.json -- $G say out err");
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_EQ(said.out, "out");
  EXPECT_EQ(said.err, "err");
  EXPECT_EQ(stored().exit_code, 0);
  EXPECT_EQ(stored().command.size(), 4u);

  const ProfileOutcome failed = shell("$P profile -o p.json -- $G exit 3");
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_THAT(failed.err, HasSubstr("perfcast: warning: the program ended with exit code 3"));
  EXPECT_EQ(stored().exit_code, 3);
  EXPECT_FALSE(stored().ok());

  const ProfileOutcome killed = shell("$P profile -o p.json -- $G kill 15");
  EXPECT_EQ(killed.exit_code, 128 + SIGTERM);
  EXPECT_EQ(stored().signal, SIGTERM);
  EXPECT_THAT(stored().warnings, Contains(Field(&ProfileWarning::code, "killed-by-signal")));
}

TEST_F(ProfileCommandTest, GivesEveryRunTheSameInput) {
  ASSERT_TRUE(write_file_atomically(folder_.path() + "/input", std::string(200000, 'x')));
  const std::string direct = shell("$G input < input").out;
  EXPECT_THAT(direct, StartsWith("200000 bytes"));
  EXPECT_EQ(shell("$P profile -o p.json -- $G input < input").out, direct);
  const double from_file = stored().metrics["io_read_bytes"];
  EXPECT_GE(from_file, 200000);
  EXPECT_EQ(shell("cat input | $P profile -o p.json -- $G input").out, direct);
  EXPECT_EQ(stored().metrics["io_read_bytes"], from_file);
  // The instrumented run read it too.
  if (const Profile profile = stored(); profile.metrics.contains("sys_read_bytes")) {
    EXPECT_GE(profile.metrics.at("sys_read_bytes"), 200000);
  }
}

TEST_F(ProfileCommandTest, PrintsASummaryWithoutAFile) {
  const ProfileOutcome outcome = shell("$P profile -- $G work 3000000");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("program       perfcast_guinea"), HasSubstr("wall  "), HasSubstr("runs 3")));
  EXPECT_EQ(shell("$P profile --quiet -- $G say out ''").err, "");
}

TEST_F(ProfileCommandTest, OwnsStdoutUnderJson) {
  const ProfileOutcome outcome = shell("$P profile --json -- $G say out err");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const auto json = parse_json(outcome.out, "stdout");
  ASSERT_TRUE(json) << outcome.out;
  EXPECT_EQ((*json)["schema"], kProfileSchema);
  EXPECT_EQ((*json)["metrics"].value("native_runs_count", 0), 3);
  EXPECT_EQ(shell("$P profile -o - --show-output -- $G say out err").err, "errout");  // flushed last
}

TEST_F(ProfileCommandTest, ExplainsWhatCannotBeMeasured) {
  const ProfileOutcome unknown = shell("$P profile -- no-such-program-here");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no program 'no-such-program-here' in PATH"));
  const ProfileOutcome refused = shell("$P profile -- /etc/passwd");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("chmod +x"));
  const ProfileOutcome as_json = shell("$P profile --json -- no-such-program-here");
  EXPECT_EQ((*parse_json(as_json.out, "stdout"))["code"], "program-not-found");
  const ProfileOutcome nowhere = shell("$P profile -o /nonexistent/p.json -- $G say ran ''");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_EQ(nowhere.out, "");
}

TEST_F(ProfileCommandTest, ExitsWith2ForBadUsage) {
  EXPECT_EQ(shell("$P profile").exit_code, 2);
  EXPECT_EQ(shell("$P profile --limit soon -- true").exit_code, 2);
  EXPECT_EQ(shell("$P profile --repeats 0 -- true").exit_code, 2);
  EXPECT_EQ(shell("$P profile --phases 1000 -- true").exit_code, 2);
  EXPECT_THAT(shell("$P profile").err, HasSubstr("perfcast profile [-o p.json] -- CMD ARGS"));
}

TEST_F(ProfileCommandTest, EndsAtTheLimit) {
  const ProfileOutcome outcome = shell("$P profile --limit 200ms -- $G stubborn");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("did not end within the limit of 200 ms"));
}

TEST_F(ProfileCommandTest, SaysWhenTheClockDecides) {
  if (find_in_path("qemu-" + host_instruction_set()).empty()) GTEST_SKIP() << "QEMU is not installed";
  EXPECT_THAT(shell("$P profile -o p.json -- $G sleep 200").err,
              AllOf(HasSubstr("bound to a clock"), HasSubstr("a fixed amount of work")));
}

TEST_F(ProfileCommandTest, InterruptLeavesNoProcessBehind) {
  const std::string marker = folder_.path() + "/pids";
  const std::string script =
      "echo $$ >> " + marker + "; " + kGuinea + " stubborn & echo $! >> " + marker + "; " + kGuinea + " stubborn";
  const pid_t perfcast = fork();
  if (perfcast == 0) {
    close(STDERR_FILENO);
    execl(kPerfcast, kPerfcast, "profile", "--", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  std::vector<pid_t> started;
  for (int i = 0; i < 500 && started.size() < 4; ++i) {
    usleep(10000);
    started = descendants_of(perfcast);  // the guardian, the shell and its two children
  }
  ASSERT_GE(started.size(), 4u);
  kill(perfcast, SIGINT);
  int state = 0;
  waitpid(perfcast, &state, 0);
  ASSERT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 128 + SIGINT);
  for (const pid_t process : started) EXPECT_TRUE(kill(process, 0) != 0 || is_zombie(process)) << process;
}

TEST_F(ProfileCommandTest, DoctorReportsEveryCollector) {
  const ProfileOutcome outcome = shell("$P doctor");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name : {"native", "qemu", "cachegrind", "perf_event", "gpu", "bundle", "corpus"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string(" ") + name + " ")) << name;
  }
  const auto json = parse_json(shell("$P doctor --json").out, "stdout");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["schema"], "perfcast.doctor/1");
  EXPECT_EQ((*json)["findings"][0]["name"], "native");
  EXPECT_EQ((*json)["findings"][0]["status"], "ok");
  EXPECT_THAT((*json)["host"].value("arch", ""), Not(IsEmpty()));
}

}  // namespace
}  // namespace perfcast::cli
