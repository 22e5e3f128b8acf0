#include "base/process/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace perfcast {
namespace {

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 256> chunk;
  for (ssize_t count = 0; (count = read(descriptor, chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<size_t>(count));
  }
  return text;
}

int exit_code_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Spawn, TalksThroughPipesAndAddsToTheEnvironment) {
  Pipe to, from;
  ASSERT_TRUE(to.open() && from.open());
  SpawnRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", "read word; echo \"$word $SPAWN_TEST\"; exit 3"};
  request.environment = {{"SPAWN_TEST", "there"}};
  request.input = to.read_end.get();
  request.output = from.write_end.get();
  const auto process = spawn(request);
  ASSERT_TRUE(process.ok()) << process.error().message;
  EXPECT_EQ(getpgid(*process), *process);
  from.write_end.reset();
  ASSERT_EQ(write(to.write_end.get(), "hello\n", 6), 6);
  EXPECT_EQ(all_of(from.read_end.get()), "hello there\n");
  EXPECT_EQ(exit_code_of(*process), 3);
}

TEST(Spawn, WithoutDescriptorsReadsAndWritesNothing) {
  SpawnRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", "read word && exit 1; echo lost; exit 0"};
  const auto process = spawn(request);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(exit_code_of(*process), 0);
}

TEST(Spawn, EndsAGroupAndWaitsForItsLeader) {
  Pipe from;
  ASSERT_TRUE(from.open());
  SpawnRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", "trap '' TERM; sleep 60 & echo here; wait"};
  request.output = from.write_end.get();
  const auto process = spawn(request);
  ASSERT_TRUE(process.ok()) << process.error().message;
  from.write_end.reset();
  char first = 0;
  ASSERT_EQ(read(from.read_end.get(), &first, 1), 1);
  end_group(*process);
  EXPECT_EQ(all_of(from.read_end.get()), "ere\n");  // ends with the last that could write
  EXPECT_EQ(waitpid(*process, nullptr, WNOHANG), -1);
}

TEST(Spawn, SaysWhyAProgramCannotStart) {
  SpawnRequest request;
  request.executable = "/no/such/program";
  request.arguments = {"program"};
  auto process = spawn(request);
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().code, "program-not-found");
  request.executable = "/etc/passwd";
  process = spawn(request);
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().code, "not-executable");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

TEST(Spawn, AHeldChildStandsStillUntilReleased) {
  SpawnRequest request;
  request.executable = "/bin/true";
  request.arguments = {"true"};
  auto child = spawn_held(request);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(waitpid(child->process(), nullptr, WNOHANG), 0);
  ASSERT_TRUE(child->release().ok());
  EXPECT_EQ(exit_code_of(child->process()), 0);
}

TEST(Spawn, AHeldChildThatNobodyReleasesEnds) {
  pid_t process = -1;
  {
    SpawnRequest request;
    request.executable = "/bin/sleep";
    request.arguments = {"sleep", "100"};
    auto child = spawn_held(request);
    ASSERT_TRUE(child.ok());
    process = child->process();
  }
  EXPECT_EQ(exit_code_of(process), 127);
}

}  // namespace
}  // namespace perfcast
