#include "measure/diagnose/observe/thread_states.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace perfcast::measure {
namespace {

std::string no_descriptor(int64_t) { return ""; }

ThreadState state_of_texts(const std::string& stat, const std::string& syscall, const std::string& target = "",
                           const std::vector<pid_t>& tasks = {}) {
  return thread_state_of({stat, syscall, &tasks}, "x86_64", [&](int64_t) { return target; });
}

constexpr const char* kWaits = "12 (a name) S 1 12 12 0";

TEST(ThreadState, IsRunningWhateverTheNameHolds) {
  EXPECT_EQ(state_of_texts("12 (evil) S ) R 1 12", "running"), ThreadState::kRunning);
  EXPECT_EQ(state_of_texts("12 (a) Z 1 12", ""), ThreadState::kRunning);
  EXPECT_EQ(state_of_texts("", ""), ThreadState::kOther);
}

TEST(ThreadState, TellsLocksFromEndsAndConditions) {
  const std::string rest = " 0x0 0x0 0x0 0x7ffd 0x7f11";
  // FUTEX_WAIT_PRIVATE on a mutex that says 2.
  EXPECT_EQ(state_of_texts(kWaits, "202 0x55 0x80 0x2" + rest), ThreadState::kLock);
  // The thread 345's number, shared, with a clock: pthread_join.
  EXPECT_EQ(state_of_texts(kWaits, "202 0x55 0x109 0x159" + rest, "", {12, 345}), ThreadState::kJoin);
  // The same of a number that is no thread's.
  EXPECT_EQ(state_of_texts(kWaits, "202 0x55 0x109 0x159" + rest, "", {12}), ThreadState::kSignal);
  EXPECT_EQ(state_of_texts(kWaits, "202 0x55 0x189 0x0" + rest), ThreadState::kSignal);
}

TEST(ThreadState, TellsWhatADescriptorIs) {
  const std::string read = "0 0x3 0x7f 0x1000 0x0 0x0 0x0 0x7ffd 0x7f11";
  EXPECT_EQ(state_of_texts(kWaits, read, "pipe:[12]"), ThreadState::kPipe);
  EXPECT_EQ(state_of_texts(kWaits, read, "socket:[12]"), ThreadState::kNetwork);
  EXPECT_EQ(state_of_texts(kWaits, read, "/dev/pts/1"), ThreadState::kTerminal);
  EXPECT_EQ(state_of_texts(kWaits, read, "/home/a/b"), ThreadState::kStorage);
  EXPECT_EQ(state_of_texts("12 (a) D 1", read, "/home/a/b"), ThreadState::kStorage);
}

TEST(ThreadState, KnowsTheCallsOfBothInstructionSets) {
  const std::string rest = " 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffd 0x7f11";
  EXPECT_EQ(state_of_texts(kWaits, "230" + rest), ThreadState::kSleep);
  EXPECT_EQ(state_of_texts(kWaits, "61" + rest), ThreadState::kChild);
  EXPECT_EQ(state_of_texts(kWaits, "75" + rest), ThreadState::kStorage);
  EXPECT_EQ(state_of_texts(kWaits, "232" + rest), ThreadState::kPoll);
  EXPECT_EQ(state_of_texts(kWaits, "9999" + rest), ThreadState::kOther);
  EXPECT_EQ(thread_state_of({kWaits, "115" + rest, nullptr}, "aarch64", no_descriptor), ThreadState::kSleep);
  EXPECT_EQ(thread_state_of({kWaits, "260" + rest, nullptr}, "aarch64", no_descriptor), ThreadState::kChild);
}

TEST(ThreadState, OfNoCallIsPagingWhereTheKernelWaits) {
  EXPECT_EQ(state_of_texts("12 (a) D 1", "-1 0x7ffd 0x7f11"), ThreadState::kPaging);
  EXPECT_EQ(state_of_texts("12 (a) D 1", ""), ThreadState::kOther);
  EXPECT_EQ(state_of_texts("12 (a) S 1", "garbage"), ThreadState::kOther);
}

TEST(ThreadState, NamesTheCallThatIsWaitedIn) {
  EXPECT_EQ(waiting_call_name("202 0x55 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f11", "x86_64"), "futex");
  EXPECT_EQ(waiting_call_name("98 0x55 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f11", "aarch64"), "futex");
  EXPECT_EQ(waiting_call_name("9999 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffd 0x7f11", "x86_64"), "");
  EXPECT_EQ(waiting_call_name("running", "x86_64"), "");
  EXPECT_EQ(waiting_call_name("", "x86_64"), "");
}

// Our own process, looked at twice: one span for each of its threads.
TEST(ThreadStates, RememberWhatThreadsDid) {
  ThreadStates states;
  states.look(0.02, {getpid()});
  states.look(0.04, {getpid()});
  const auto history = states.history();
  ASSERT_FALSE(history.empty());
  bool found = false;
  for (const ThreadStateSpan& span : history) {
    EXPECT_EQ(span.process, getpid());
    EXPECT_LT(span.start_s, span.end_s);
    if (span.thread != getpid()) continue;
    found = true;
    // It looks, and therefore runs.
    EXPECT_EQ(span.state, ThreadState::kRunning);
    EXPECT_DOUBLE_EQ(span.start_s, 0);
    EXPECT_DOUBLE_EQ(span.end_s, 0.04);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace perfcast::measure
