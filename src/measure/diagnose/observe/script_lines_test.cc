#include "measure/diagnose/observe/script_lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/process/temp_folder.h"
#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {
namespace {

// Of a function of eight lines, by CPython 3.11: co_linetable; co_lines() says the lines below.
constexpr unsigned char kTable[] = {0x80, 0x00, 0xd8, 0x08, 0x09, 0x80, 0x41, 0xd8, 0x0d, 0x0e, 0xf0, 0x00, 0x02,
                                    0x05, 0x13, 0xf0, 0x00, 0x00, 0x05, 0x14, 0x88, 0x01, 0xd8, 0x0b, 0x0c, 0x90,
                                    0x01, 0x88, 0x36, 0x88, 0x36, 0xd8, 0x0c, 0x0d, 0x90, 0x11, 0x89, 0x46, 0x88,
                                    0x41, 0xf8, 0xe0, 0x0c, 0x0d, 0xdd, 0x0c, 0x0f, 0x90, 0x01, 0x89, 0x46, 0x8c,
                                    0x46, 0xf1, 0x03, 0x01, 0x0d, 0x13, 0xf0, 0x00, 0x01, 0x05, 0x14};

TEST(ScriptLines, ReadTheTableOfLines) {
  const std::string_view table(reinterpret_cast<const char*>(kTable), sizeof(kTable));
  const std::vector<std::pair<int, int>> expected = {{0, 1},  {1, 2},  {3, 3},  {6, 3},  {7, 4},  {11, 5},
                                                     {14, 5}, {16, 0}, {17, 7}, {18, 8}, {31, 8}, {32, 7}};
  for (const auto& [unit, line] : expected) EXPECT_EQ(line_of_instruction(table, 1, unit), line) << unit;
  EXPECT_EQ(line_of_instruction(table, 1, 35), 0);  // behind the end
  EXPECT_EQ(line_of_instruction(table, 101, 18), 108);
  EXPECT_EQ(line_of_instruction("", 1, 0), 0);
  EXPECT_EQ(line_of_instruction("abc", 1, 0), 0);
}

TEST(ScriptLines, KnowTheVersionByTheName) {
  EXPECT_EQ(python_minor_version("python3.11"), 11);
  EXPECT_EQ(python_minor_version("libpython3.12.so.1.0"), 12);
  EXPECT_EQ(python_minor_version("python3"), 0);
  EXPECT_EQ(python_minor_version("perl"), 0);
}

TEST(ScriptLines, AreThoseOfARunningScript) {
  const std::string python = "/usr/bin/python3.11";
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no " << python;
  const auto folder = TempFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/job.py";
  std::ofstream(path) << "import time\n"
                         "def find(items, seen):\n"
                         "    n = 0\n"
                         "    for item in items:\n"
                         "        if item in seen:\n"
                         "            n += 1\n"
                         "    return n\n"
                         "find(range(2000, 9000), list(range(4000)))\n"
                         "time.sleep(0.3)\n";
  ObserveRequest request;
  request.command = {python, path};
  const auto seen = observe(request);
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_system_calls.empty()) GTEST_SKIP() << seen->no_system_calls;
  const auto line_at = [&](int number) {
    for (const ScriptLine& line : seen->script) {
      if (line.line == number) return line;
    }
    return ScriptLine();
  };
  const ScriptLine searching = line_at(5), sleeping = line_at(9);
  EXPECT_EQ(searching.in_words(), "find (job.py:5): `if item in seen:`");
  EXPECT_GT(searching.in_s, 0.5 * searching.cpu_s);
  EXPECT_GT(searching.cpu_s, 0.03);
  EXPECT_EQ(sleeping.function, "<module>");
  EXPECT_NEAR(sleeping.waits.of(ThreadState::kSleep), 0.3, 0.1);
}

TEST(ScriptLines, KnowTextsThatComeAgain) {
  const std::string python = "/usr/bin/python3.11";
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no " << python;
  const auto folder = TempFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/job.py";
  std::ofstream(path) << "import json\n"
                         "text = json.dumps(list(range(300)))\n"
                         "texts = [json.dumps(list(range(i, i + 300))) for i in range(12000)]\n"
                         "for _ in range(20000): json.loads(text)\n"
                         "for other in texts: json.loads(other)\n";
  ObserveRequest request;
  request.command = {python, path};
  const auto seen = observe(request);
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_system_calls.empty()) GTEST_SKIP() << seen->no_system_calls;
  for (const ScriptLine& line : seen->script) {
    if (line.line != 4 && line.line != 5) continue;
    EXPECT_EQ(line.making, "parsing JSON");
    EXPECT_GT(line.making_s, 0.5 * line.cpu_s);
    if (line.line == 4) {
      EXPECT_GT(line.again_s, 0.5 * line.making_s);
    } else {
      EXPECT_EQ(line.again_s, 0);
    }
  }
}

// Two lines that were seen to run for 3 s, of which the kernel counted 1.5: the rest was the wait for a CPU.
TEST(ScriptLines, TakeNoMoreThanTheCpuTime) {
  std::vector<ScriptLine> lines(2);
  lines[0].cpu_s = 2;
  lines[0].in_s = 1;
  lines[1].cpu_s = 1;
  hold_to_cpu_time(lines, 1.5);
  EXPECT_DOUBLE_EQ(lines[0].cpu_s, 1);
  EXPECT_DOUBLE_EQ(lines[0].in_s, 0.5);
  EXPECT_DOUBLE_EQ(lines[1].cpu_s, 0.5);
  hold_to_cpu_time(lines, 2);  // all of it is there
  EXPECT_DOUBLE_EQ(lines[0].cpu_s, 1);
}

}  // namespace
}  // namespace perfcast::measure
