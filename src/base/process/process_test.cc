#include "base/process/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/process/process_tree.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

ProcessRequest guinea(std::vector<std::string> arguments) {
  ProcessRequest request;
  request.executable = PERFCAST_GUINEA;
  request.arguments = std::move(arguments);
  request.arguments.insert(request.arguments.begin(), "guinea");
  return request;
}

ProcessRequest shell(const std::string& script) {
  ProcessRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", script};
  return request;
}

// What `request` writes to stdout, with our own stdout a file meanwhile.
std::string stdout_of(ProcessRequest request) {
  std::string path = testing::TempDir() + "perfcast-stdout-XXXXXX";
  const int file = mkstemp(path.data());
  const int saved = dup(STDOUT_FILENO);
  fflush(stdout);
  dup2(file, STDOUT_FILENO);
  request.output = StreamTo::kPass;
  const auto outcome = run_process(request);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(file);
  const std::string text = read_file(path).ok() ? *read_file(path) : "";
  unlink(path.c_str());
  return outcome ? text : outcome.error().code;
}

bool gone(pid_t process) { return kill(process, 0) != 0 || is_zombie(process); }

bool gone_soon(pid_t process) {
  for (int i = 0; i < 200 && !gone(process); ++i) usleep(10000);
  return gone(process);
}

TEST(Process, GivesExitCode) {
  const auto outcome = run_process(guinea({"exit", "3"}));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->signal, std::nullopt);
  EXPECT_FALSE(outcome->limit_reached);
}

TEST(Process, GivesSignal) {
  const auto outcome = run_process(guinea({"kill", "11"}));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->signal, SIGSEGV);
  EXPECT_EQ(outcome->exit_code, std::nullopt);
}

TEST(Process, NamesWhatCannotRun) {
  ProcessRequest request;
  request.executable = "/nonexistent/program";
  request.arguments = {"program"};
  EXPECT_EQ(run_process(request).error().code, "program-not-found");
  request.executable = "/etc/passwd";
  EXPECT_EQ(run_process(request).error().code, "not-executable");
  EXPECT_THAT(run_process(request).error().expected, HasSubstr("chmod +x"));

  const std::string script = testing::TempDir() + "perfcast-no-interpreter";
  ASSERT_TRUE(write_file_atomically(script, "#!/nonexistent/interpreter\n"));
  chmod(script.c_str(), 0755);
  request.executable = script;
  EXPECT_THAT(run_process(request).error().message, HasSubstr("interpreter"));
  unlink(script.c_str());
}

TEST(Process, MeasuresTimeAndWork) {
  const auto slept = run_process(guinea({"sleep", "60"}));
  ASSERT_TRUE(slept);
  EXPECT_THAT(slept->wall_s, AllOf(Ge(0.06), Le(2)));
  EXPECT_LE(slept->cpu_s(), 0.05);
  ProcessRequest request = guinea({"work", "30000000"});
  request.watch = true;
  const auto worked = run_process(request);
  ASSERT_TRUE(worked);
  EXPECT_GE(worked->user_s, 0.01);
  EXPECT_GE(worked->peak_resident_bytes, 100e3);
  EXPECT_GE(worked->minor_faults, 10);
}

TEST(Process, CountsInputAndOutputOfTheZombie) {
  const auto outcome = run_process(guinea({"write", "40960"}));
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->io);
  EXPECT_EQ(outcome->io->written_bytes, 40960);
  EXPECT_EQ(outcome->io->write_calls, 10);
}

TEST(Process, EndsWhatTakesMoreMemoryThanItMay) {
  ProcessRequest request = guinea({"hold", "64", "60000"});
  request.memory_limit_bytes = 32 << 20;
  const auto ended = run_process(request);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(ended->memory_limit_reached);
  EXPECT_FALSE(ended->limit_reached);
  EXPECT_EQ(ended->signal, SIGKILL);
  EXPECT_LE(ended->wall_s, 20);
  request.memory_limit_bytes = 1 << 30;
  request.arguments.back() = "50";
  const auto allowed = run_process(request);
  ASSERT_TRUE(allowed);
  EXPECT_FALSE(allowed->memory_limit_reached);
  EXPECT_EQ(allowed->exit_code, 0);
}

// 48 MiB that two more processes share by a fork are there once.
TEST(Process, CountsSharedMemoryOnce) {
  ProcessRequest request = guinea({"hold", "48", "400", "2"});
  request.memory_limit_bytes = 100 << 20;
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->memory_limit_reached);
  EXPECT_EQ(outcome->exit_code, 0);
  request.memory_limit_bytes = 40 << 20;
  EXPECT_TRUE(run_process(request)->memory_limit_reached);
}

class Around : public testing::Test {
 protected:
  std::string log() const {
    const auto text = read_file(folder_.path() + "/log");
    return text ? *text : "";
  }
  // Each writes its word; `status`: of the program.
  ProcessRequest request(int status = 0) const {
    ProcessRequest request = shell("echo run >> " + folder_.path() + "/log; exit " + std::to_string(status));
    request.around = {"echo before >> " + folder_.path() + "/log", "echo after >> " + folder_.path() + "/log"};
    return request;
  }
  TempFolder folder_ = *TempFolder::create();
};

TEST_F(Around, LinesRunBeforeAndAfterEachRun) {
  ASSERT_TRUE(run_process(request())->ok());
  EXPECT_EQ(log(), "before\nrun\nafter\n");
  EXPECT_EQ(run_process(request(3))->exit_code, 3) << "what failed is cleaned up after, too";
  EXPECT_EQ(log(), "before\nrun\nafter\nbefore\nrun\nafter\n");
}

TEST_F(Around, ItsFailureIsAnError) {
  ProcessRequest failing = request();
  failing.around.prepare = "echo no such target >&2; exit 2";
  const auto unprepared = run_process(failing);
  ASSERT_FALSE(unprepared);
  EXPECT_EQ(unprepared.error().code, "prepare-failed");
  EXPECT_EQ(unprepared.error().where, "prepare");
  EXPECT_EQ(unprepared.error().message, "what is to run before each run ended with exit code 2: no such target");
  EXPECT_TRUE(is_of_around(unprepared.error()));
  EXPECT_EQ(log(), "") << "nothing ran";
  failing = request(1);
  failing.around.cleanup = "kill -9 $$";
  const auto uncleaned = run_process(failing);
  ASSERT_FALSE(uncleaned);
  EXPECT_EQ(uncleaned.error().code, "cleanup-failed");
  EXPECT_THAT(uncleaned.error().message, HasSubstr("after each run was killed by signal 9"));
  EXPECT_FALSE(is_of_around(run_process(shell("exit 1")) ? Error{} : Error{"exec-failed", "", "", ""}));
}

TEST_F(Around, ItsTimeIsNotTheRuns) {
  ProcessRequest slow = shell("exit 0");
  slow.around = {"sleep 0.3", "sleep 0.3"};
  slow.limit_s = 0.25;
  const auto outcome = run_process(slow);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->limit_reached);
  EXPECT_LE(outcome->wall_s, 0.25);
}

TEST(Process, DigestsOutput) {
  const auto digest_of = [](const std::string& script) {
    ProcessRequest request = shell(script);
    request.output = StreamTo::kDigest;
    const auto outcome = run_process(request);
    return outcome && outcome->digest ? *outcome->digest : OutputDigest{-1, 0};
  };
  EXPECT_EQ(digest_of("true"), (OutputDigest{0, 0xcbf29ce484222325u}));
  EXPECT_EQ(digest_of("printf a"), (OutputDigest{1, 0xaf63dc4c8601ec8cu}));  // FNV-1a's own example
  EXPECT_EQ(digest_of("printf a; printf b; echo >&2").hash, digest_of("printf ab").hash);
  EXPECT_NE(digest_of("printf ab").hash, digest_of("printf ba").hash);
  EXPECT_EQ(digest_of("head -c 1000000 /dev/zero").bytes, 1e6);
  EXPECT_FALSE(run_process(shell("echo"))->digest);
}

TEST(Process, SeesHowMuchAddressSpaceIsReserved) {
  ProcessRequest request = guinea({"hold", "64", "100"});
  request.watch = true;
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome && outcome->peak_address_bytes);
  EXPECT_GE(*outcome->peak_address_bytes, 64 << 20);
  EXPECT_FALSE(run_process(guinea({"hold", "1", "10"}))->peak_address_bytes) << "not watched";
}

// Work alone, then in three threads: the course knows when, on however many CPUs.
TEST(Process, TellsHowParallelARunWasOverItsTime) {
  ProcessRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", PERFCAST_GUINEA " work 150000000; " PERFCAST_GUINEA " threads 3 100000000"};
  request.watch = true;
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_GT(outcome->course.size(), 10u);
  EXPECT_LE(outcome->course.size(), RunCourse::kMostIntervals);
  double length_s = 0, cpu_s = 0, early = 0, early_s = 0;
  std::vector<double> wanted;  // threads that ran or would have, whatever else the machine did
  for (const RunInterval& interval : outcome->course) {
    length_s += interval.length_s;
    cpu_s += interval.cpu_s;
    wanted.push_back((interval.cpu_s + interval.ready_s) / interval.length_s);
    if (length_s > 0.2 * outcome->wall_s) continue;
    early += interval.cpu_s + interval.ready_s;
    early_s += interval.length_s;
  }
  EXPECT_NEAR(length_s, outcome->wall_s, 0.05 * outcome->wall_s + 0.01);
  EXPECT_NEAR(cpu_s, outcome->cpu_s(), 0.1 * outcome->cpu_s());
  EXPECT_NEAR(early / early_s, 1, 0.4);
  // A third of the time at least goes to the threads, until the first of them ends.
  std::sort(wanted.begin(), wanted.end());
  EXPECT_GT(wanted[wanted.size() * 8 / 10], 1.6);
  EXPECT_LT(wanted[wanted.size() * 8 / 10], 3.6);
}

TEST(Process, WatchesThreadsAndDescriptorsOfAllProcesses) {
  ProcessRequest request = guinea({"files", "17"});
  request.watch = true;
  const auto files = run_process(request);
  ASSERT_TRUE(files);
  EXPECT_GE(files->descriptors, 20);
  request = guinea({"threads", "5", "1000"});
  request.watch = true;
  const auto threads = run_process(request);
  ASSERT_TRUE(threads);
  EXPECT_EQ(threads->threads, 6);
  request = shell("sleep 0.2 & sleep 0.2 & wait");
  request.watch = true;
  const auto children = run_process(request);
  ASSERT_TRUE(children);
  EXPECT_EQ(children->threads, 3);
  EXPECT_EQ(children->processes, 3);
}

TEST(Process, PassesOutputOrKeepsItsTail) {
  EXPECT_EQ(stdout_of(guinea({"say", "hello", ""})), "hello");
  const auto tail = run_process(shell("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done"));
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->error_tail.size(), 4096u);
  EXPECT_THAT(tail->error_tail, testing::EndsWith("line 2999\n"));
}

TEST(Process, EndsAtTheLimitWithAllDescendants) {
  ProcessRequest request = shell(std::string("echo $$ >&2; ") + PERFCAST_GUINEA + " daemon; " + PERFCAST_GUINEA +
                                 " stubborn & echo $! >&2; wait");
  request.limit_s = 0.3;
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->limit_reached);
  EXPECT_THAT(outcome->wall_s, AllOf(Ge(0.3), Le(3)));
  const size_t second = outcome->error_tail.find('\n') + 1;
  EXPECT_TRUE(gone_soon(std::atoi(outcome->error_tail.c_str())));
  EXPECT_TRUE(gone_soon(std::atoi(outcome->error_tail.c_str() + second)));
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST(Process, KillsWhatIgnoresRequests) {
  ProcessRequest request = guinea({"stubborn"});
  request.limit_s = 0.05;
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->signal, SIGKILL);
  EXPECT_TRUE(outcome->limit_reached);
}

TEST(Process, EndsDaemonsUnlessAskedToKeepThem) {
  const auto ended = run_process(guinea({"daemon"}));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->left_behind, 1);
  EXPECT_TRUE(children_of(getpid()).empty());

  ProcessRequest request = guinea({"daemon"});
  request.keep_background = true;
  const pid_t daemon = std::atoi(stdout_of(request).c_str());
  ASSERT_GT(daemon, 1);
  EXPECT_FALSE(gone(daemon));
  // A later run leaves it alone too.
  ASSERT_TRUE(run_process(guinea({"exit", "0"})));
  EXPECT_FALSE(gone(daemon));
  kill(daemon, SIGKILL);
  waitpid(daemon, nullptr, 0);
}

TEST(Process, InterruptEndsTheProgram) {
  const InterruptGuard guard;
  forget_interrupt();
  std::thread sender([] {
    usleep(100000);
    kill(getpid(), SIGINT);
  });
  const auto outcome = run_process(shell("sleep 100 & sleep 100; true"));
  sender.join();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "interrupted");
  EXPECT_EQ(interrupting_signal(), SIGINT);
  EXPECT_TRUE(children_of(getpid()).empty());
  EXPECT_EQ(run_process(guinea({"exit", "0"})).error().code, "interrupted");
  forget_interrupt();
}

TEST(Process, TakesAnIgnoredInterruptButPassesItOn) {
  std::signal(SIGINT, SIG_IGN);
  {
    const InterruptGuard guard;
    forget_interrupt();
    std::thread sender([] {
      usleep(200000);
      kill(getpid(), SIGINT);
    });
    // The shell inherits the ignored signal and sends it to itself in vain.
    const auto outcome = run_process(shell("kill -INT $$; sleep 100; true"));
    sender.join();
    EXPECT_EQ(outcome.error().code, "interrupted");
    EXPECT_THAT(outcome.error().message, HasSubstr("SIGINT"));
  }
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  std::signal(SIGINT, SIG_DFL);
  forget_interrupt();
}

// A process that measures and is killed without a chance to clean up.
TEST(Process, OurDeathLeavesNothingBehind) {
  std::string path = testing::TempDir() + "perfcast-death-XXXXXX";
  close(mkstemp(path.data()));
  const pid_t measurer = fork();
  if (measurer == 0) {
    const auto ignored = run_process(shell("sleep 100 & echo $! > " + path + "; sleep 100"));
    _exit(ignored.ok() ? 0 : 1);
  }
  std::string text;
  for (int i = 0; i < 300 && text.empty(); ++i) {
    usleep(10000);
    text = *read_file(path);
  }
  ASSERT_FALSE(text.empty());
  const pid_t grandchild = std::atoi(text.c_str());
  EXPECT_FALSE(gone(grandchild));
  kill(measurer, SIGKILL);
  waitpid(measurer, nullptr, 0);
  EXPECT_TRUE(gone_soon(grandchild));
  unlink(path.c_str());
}

TEST(Process, OurDeathBeforeTheProgramStartsLeavesNothingBehind) {
  std::string path = testing::TempDir() + "perfcast-early-death-XXXXXX";
  close(mkstemp(path.data()));
  const pid_t measurer = fork();
  if (measurer == 0) {
    ProcessRequest request = shell("true");
    request.before_exec = [&](pid_t child) {
      if (write_file_atomically(path, std::to_string(child))) kill(getpid(), SIGKILL);
    };
    const auto ignored = run_process(request);
    _exit(ignored.ok() ? 0 : 1);
  }
  int state = 0;
  waitpid(measurer, &state, 0);
  ASSERT_TRUE(WIFSIGNALED(state));
  const pid_t child = std::atoi(read_file(path)->c_str());
  ASSERT_GT(child, 0);
  EXPECT_TRUE(gone_soon(child));
  unlink(path.c_str());
}

// --- input ---

std::string hash_line(const std::string& text) {
  unsigned long hash = 5381;
  for (const char c : text) hash = hash * 33 + static_cast<unsigned char>(c);
  std::array<char, 64> line;
  snprintf(line.data(), line.size(), "%zu bytes %lx\n", text.size(), hash);
  return line.data();
}

std::string some_text(size_t size) {
  std::string text(size, ' ');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * i + i / 7) % 26);
  return text;
}

TEST(InputFeed, EveryRunReadsTheRestOfAFile) {
  const std::string path = testing::TempDir() + "perfcast-input";
  const std::string text = some_text(300000);
  ASSERT_TRUE(write_file_atomically(path, text));
  const int file = open(path.c_str(), O_RDONLY);
  lseek(file, 1000, SEEK_SET);
  InputFeed feed(file);
  ProcessRequest request = guinea({"input"});
  request.input = &feed;
  for (int run = 0; run < 3; ++run) EXPECT_EQ(stdout_of(request), hash_line(text.substr(1000)));
  EXPECT_FALSE(feed.is_stream());
  EXPECT_EQ(lseek(file, 0, SEEK_CUR), 300000);  // as the first run left it
  close(file);
  unlink(path.c_str());
}

TEST(InputFeed, EveryRunReadsTheSamePipe) {
  const std::string text = some_text(1000000);
  std::array<int, 2> ends;
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  std::thread writer([&] {
    for (size_t done = 0; done < text.size();) {
      const ssize_t count = write(ends[1], text.data() + done, std::min<size_t>(70001, text.size() - done));
      ASSERT_GT(count, 0);
      done += static_cast<size_t>(count);
    }
    close(ends[1]);
  });
  InputFeed feed(ends[0]);
  EXPECT_TRUE(feed.is_stream());
  ProcessRequest request = guinea({"input"});
  request.input = &feed;
  EXPECT_EQ(stdout_of(request), hash_line(text));
  writer.join();
  EXPECT_EQ(stdout_of(request), hash_line(text));
  EXPECT_EQ(stdout_of(request), hash_line(text));
  close(ends[0]);
}

TEST(InputFeed, LaterRunsMayReadOnWhereTheFirstStopped) {
  const std::string text = some_text(500000);
  std::array<int, 2> ends;
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  std::thread writer([&] {
    for (size_t done = 0; done < text.size();) {
      const ssize_t count = write(ends[1], text.data() + done, text.size() - done);
      ASSERT_GT(count, 0);
      done += static_cast<size_t>(count);
    }
    close(ends[1]);
  });
  InputFeed feed(ends[0]);
  ProcessRequest request = shell("head -c 10");
  request.input = &feed;
  EXPECT_EQ(stdout_of(request), text.substr(0, 10));
  request = guinea({"input"});
  request.input = &feed;
  EXPECT_EQ(stdout_of(request), hash_line(text));
  writer.join();
  EXPECT_EQ(stdout_of(request), hash_line(text));
  close(ends[0]);
}

TEST(InputFeed, ASilentOpenPipeDoesNoHarm) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  InputFeed feed(ends[0]);
  ProcessRequest request = guinea({"exit", "0"});
  request.input = &feed;
  for (int run = 0; run < 2; ++run) EXPECT_TRUE(run_process(request).ok());
  close(ends[0]);
  close(ends[1]);
}

TEST(InputFeed, RefusesAnotherRunBeyondTheSpool) {
  const std::string path = testing::TempDir() + "perfcast-spool";
  std::array<int, 2> ends;
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string text = some_text(50000);
  ASSERT_EQ(write(ends[1], text.data(), text.size()), 50000);
  close(ends[1]);
  InputFeed feed(ends[0], 10000);
  ProcessRequest request = guinea({"input"});
  request.input = &feed;
  EXPECT_EQ(stdout_of(request), hash_line(text));
  EXPECT_FALSE(feed.repeatable());
  EXPECT_EQ(run_process(request).error().code, "input-too-large");
  close(ends[0]);
}

TEST(Process, WritesBothStreamsToAGivenDescriptor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  ProcessRequest request = shell("echo out; echo err >&2");
  request.output = request.error = StreamTo::kGiven;
  request.given_descriptor = ends[1];
  const auto outcome = run_process(request);
  ASSERT_TRUE(outcome) << to_text(outcome.error());
  close(ends[1]);
  std::array<char, 64> bytes{};
  const ssize_t count = read(ends[0], bytes.data(), bytes.size());
  close(ends[0]);
  EXPECT_EQ(std::string(bytes.data(), static_cast<size_t>(std::max<ssize_t>(0, count))), "out\nerr\n");
}

// The folder of a process that was killed goes when the next one makes its own; those of living processes stay.
TEST(TempFolder, OfKilledProcessesAreRemoved) {
  std::string base = testing::TempDir() + "perfcast-orphans-XXXXXX";
  ASSERT_NE(mkdtemp(base.data()), nullptr);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(setenv("TMPDIR", base.c_str(), 1), 0);
  const auto killed_folder = [] {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto folder = TempFolder::create();
      const std::string path = folder ? folder->path() : "";
      [[maybe_unused]] const ssize_t written = write(ends[1], path.data(), path.size());
      raise(SIGKILL);
    }
    char path[4096] = {};
    EXPECT_GT(read(ends[0], path, sizeof path - 1), 0);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    return std::string(path);
  };
  const std::string orphan = killed_folder();
  EXPECT_TRUE(std::filesystem::is_directory(orphan));
  {
    const auto living = TempFolder::create();
    ASSERT_TRUE(living);
    EXPECT_FALSE(std::filesystem::exists(orphan));
    const auto another = TempFolder::create();
    ASSERT_TRUE(another);
    EXPECT_TRUE(std::filesystem::is_directory(living->path()));
    EXPECT_TRUE(std::filesystem::is_directory(another->path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(base));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  std::filesystem::remove_all(base);
}

}  // namespace
}  // namespace perfcast
