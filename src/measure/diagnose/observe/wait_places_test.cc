#include "measure/diagnose/observe/wait_places.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

ThreadsLook look(int number, int32_t running, pid_t runner, int32_t through, int32_t threads) {
  ThreadsLook made;
  made.start_s = 0.02 * number;
  made.end_s = 0.02 * (number + 1);
  made.running = made.most_in_process = running;
  made.runner = running == 1 ? runner : 0;
  made.is_first = runner == 1;
  made.through = through;
  made.threads = threads;
  return made;
}

TEST(LoneSpans, TellTheFirstThreadFromOthers) {
  std::vector<ThreadsLook> course;
  for (int i = 0; i < 5; ++i) course.push_back(look(i, 1, 1, 0, 1));    // the first thread, before the others
  for (int i = 5; i < 15; ++i) course.push_back(look(i, 2, 0, 1, 3));   // both
  for (int i = 15; i < 22; ++i) course.push_back(look(i, 1, 3, 1, 2));  // one has ended
  EXPECT_EQ(lone_spans(course, 2, Lone::kSerial).size(), 5U);
  EXPECT_EQ(lone_spans(course, 2, Lone::kUneven).size(), 7U);
  EXPECT_TRUE(lone_spans(course, 1, Lone::kSerial).empty());
  // What waits for a lock or a file is not through.
  for (ThreadsLook& of : course) of.elsewhere = 1;
  EXPECT_TRUE(lone_spans(course, 2, Lone::kSerial).empty());
  EXPECT_TRUE(lone_spans(course, 2, Lone::kUneven).empty());
}

TEST(LoneSpans, LeaveOutTurnsAndProgramsOfOneThread) {
  std::vector<ThreadsLook> turns;
  for (int i = 0; i < 20; ++i) turns.push_back(look(i, i % 5 == 0 ? 2 : 1, 2 + i % 2, 2, 3));
  EXPECT_TRUE(lone_spans(turns, 2, Lone::kUneven).empty());
  std::vector<ThreadsLook> one;
  for (int i = 0; i < 20; ++i) one.push_back(look(i, 1, 1, 0, 1));
  // Another process beside it.
  one.front().running = 2;
  EXPECT_TRUE(lone_spans(one, 2, Lone::kSerial).empty());
}

TEST(LoneSpans, KnowOneWorkerThatAllWaitFor) {
  std::vector<ThreadsLook> course;
  for (int i = 0; i < 12; ++i) course.push_back(look(i, 1, 2, 1, 2));
  EXPECT_EQ(lone_spans(course, 2, Lone::kSingle).size(), 12U);
  EXPECT_TRUE(lone_spans(course, 2, Lone::kUneven).empty());
  EXPECT_TRUE(lone_spans(course, 1, Lone::kSingle).empty());
  // Another one has something else to do.
  for (ThreadsLook& of : course) of.threads = 3;
  EXPECT_TRUE(lone_spans(course, 2, Lone::kSingle).empty());
}

}  // namespace
}  // namespace perfcast::measure
