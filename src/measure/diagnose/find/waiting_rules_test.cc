// Rules on threads that wait or work alone, on what is asked of the kernel, and on scripts.
#include <gtest/gtest.h>

#include "measure/diagnose/find/testing/busy_program.h"

namespace perfcast::measure {
namespace {

// Each thread has 10 us of work, and its start takes 20 us.
TEST(WaitingRules, KnowThreadsThatLiveForTheirStart) {
  Observation seen = busy();
  seen.run.wall_s = 1;
  seen.run.user_s = 0.1;
  seen.run.system_s = 0.4;
  seen.run.threads = 3;
  seen.threads_started_count = 10'000;
  seen.functions = {of_library("work", "/home/a/prog", 0.2)};
  Evidence evidence = evidence_of(seen);
  evidence.costs.thread_start_s = 20e-6;
  auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"thread-starts"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.9, 1e-9);
  // Of longer ones, what their starts take is all.
  seen.functions[0].cpu_share = 1;
  seen.run.user_s = 0.6;
  findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"thread-starts"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.2, 1e-9);
  seen.threads_started_count = 100;
  EXPECT_TRUE(find_causes(evidence).empty());
}

TEST(WaitingRules, KnowHandOversByTheirSwitches) {
  Observation seen = busy();
  seen.run.user_s = 0.1;
  seen.run.system_s = 0.3;
  seen.run.threads = 2;
  seen.run.voluntary_switches = 50'000;
  seen.threads.s = {};
  seen.threads.s[static_cast<size_t>(ThreadState::kSignal)] = 1.5;
  seen.functions = {of_library("work", "/home/a/prog", 0.2)};
  Evidence evidence = evidence_of(seen);
  evidence.costs.wake_up_s = 6e-6;
  const auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"hand-overs"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * (1 - 0.08), 1e-9);
  // Waits for times or files switch, too.
  seen.threads.s[static_cast<size_t>(ThreadState::kStorage)] = 2;
  EXPECT_TRUE(find_causes(evidence).empty());
}

TEST(WaitingRules, SayWhereCpusIdle) {
  Observation seen = busy();
  seen.run.threads = 3;
  seen.uneven = {0.6, 0.3, "rows (a.cc:7)"};
  seen.serial = {0.2, 0.1, "read (a.cc:3)"};
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), (std::vector<std::string>{"uneven-threads", "serial-part"}));
  EXPECT_EQ(findings[0].gain_ratio, 0.3);
  EXPECT_EQ(findings[0].title, "for 60% of the wall time threads that are through wait for others that are not");
  EXPECT_EQ(findings[0].evidence[0], "those still work in rows (a.cc:7)");
  EXPECT_NEAR(findings[1].gain_ratio, 0.09, 1e-12);
  EXPECT_EQ(findings[1].evidence[0], "in read (a.cc:3)");
}

TEST(WaitingRules, KnowTheOnlyWorkerOfAQueue) {
  Observation seen = busy();
  seen.run.threads = 2;
  seen.single = {0.9, 0.45, "thumbnail (a.cc:7)"};
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"single-worker"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.45, 1e-12);
  EXPECT_EQ(findings[0].evidence[0], "it works in thumbnail (a.cc:7)");
  // Now and then is no queue.
  seen.single.s = 0.5;
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(WaitingRules, TakeNoChanceForAWait) {
  Observation seen = busy();
  seen.looks = 8;
  seen.first_thread.s[0] = 0.875;
  seen.first_thread.s[static_cast<size_t>(ThreadState::kStorage)] = 0.125;  // one look
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.looks = 24;
  EXPECT_EQ(causes_of(find_causes(evidence_of(seen))), std::vector<std::string>{"serial-io"});
}

TEST(WaitingRules, SayWhatEmptiesTheBuffer) {
  Observation seen = busy();
  seen.run.io.emplace();
  seen.run.io->written_bytes = 2e7;
  seen.run.io->write_calls = 1e6;
  HotFunction function = of_library("write", "/lib/x86_64-linux-gnu/libc.so.6", 0.5);
  function.role = CodeRole::kInputOutput;
  function.caller = "main";
  function.caller_place = "a.cc:12";
  function.entry = "std::ostream& std::endl<char, std::char_traits<char> >(std::ostream&)";
  seen.functions = {function};
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"small-io"});
  EXPECT_EQ(findings[0].evidence.back(), "most by main (a.cc:12), through std::endl<..>");
  EXPECT_EQ(findings[0].advice, "write '\\n' in place of std::endl, which hands each line to the kernel at once");
  EXPECT_TRUE(findings[0].experiments.empty());  // stdbuf knows stdio's buffers alone
  // With the rest of endl within main.
  seen.functions[0].entry = "std::ostream::flush()";
  findings = find_causes(evidence_of(seen));
  EXPECT_EQ(findings[0].advice,
            "write '\\n' in place of std::endl or std::flush, which hand each line to the kernel at once");
  EXPECT_TRUE(findings[0].experiments.empty());
  seen.functions[0].entry = "__write";
  EXPECT_TRUE(find_causes(evidence_of(seen))[0].experiments.empty());
  seen.functions[0].entry = "fputs";
  EXPECT_EQ(find_causes(evidence_of(seen))[0].experiments.size(), 2u);
  seen.functions[0].entry = "";
  EXPECT_EQ(find_causes(evidence_of(seen))[0].experiments.size(), 2u);
  seen.functions[0].entry = "fflush";
  EXPECT_EQ(find_causes(evidence_of(seen))[0].advice,
            "flush once at the end, or when somebody waits for it, not after each piece");
}

TEST(WaitingRules, KnowStreamsThatKeepInStep) {
  Observation seen = busy();
  set_role(seen, CodeRole::kLetters, 0.2);
  HotFunction function = of_library("getc", "/lib/x86_64-linux-gnu/libc.so.6", 0.2);
  function.role = CodeRole::kLetters;
  seen.functions = {function};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  function.function = "__gnu_cxx::stdio_sync_filebuf<char, std::char_traits<char> >::uflow()";
  seen.functions.push_back(function);
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"letter-io"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.2, 1e-12);
  EXPECT_EQ(findings[0].advice, "std::ios::sync_with_stdio(false), first of all in main()");
  seen.functions.pop_back();
  set_role(seen, CodeRole::kLetters, 0.2);
  seen.role_share[static_cast<size_t>(CodeRole::kLetters)] = 0.4;
  findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"letter-io"});
  EXPECT_NE(findings[0].advice.find("getc_unlocked"), std::string::npos);
}

TEST(WaitingRules, NamePlacesOfWaits) {
  Observation seen = busy();
  seen.run.user_s = 0.2;
  seen.idle.s[static_cast<size_t>(ThreadState::kSleep)] = 0.8;
  WaitPlace place;
  place.state = ThreadState::kSleep;
  place.s = 0.8;
  place.function = "(anonymous namespace)::poll(int)";
  place.source = "queue.cc:31";
  place.entry = "usleep";
  place.call = "clock_nanosleep";
  place.threads_count = 1;
  seen.waits = {place};
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"sleeping"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.8, 1e-9);
  EXPECT_EQ(findings[0].title, "nothing runs for 80% of the wall time: it waits for a time to pass");
  EXPECT_EQ(findings[0].evidence[0], "800 ms waited in poll (queue.cc:31), in usleep");
}

TEST(WaitingRules, BlameTheUsersOwnCode) {
  HotFunction function = of_library("pthread_mutex_lock@GLIBC_2.2.5", "/lib/x86_64-linux-gnu/libc.so.6", 0.5);
  function.role = CodeRole::kLock;
  EXPECT_EQ(function.own_words(), "pthread_mutex_lock (libc.so.6)");
  function.caller = "add(std::vector<int>&)";
  function.caller_place = "a.cc:12";
  function.entry = function.function;
  EXPECT_EQ(function.own_words(), "add (a.cc:12)");
  EXPECT_EQ(calls_in_words(function), "add (a.cc:12)");
  function.entry = "std::mutex::lock()";
  EXPECT_EQ(calls_in_words(function), "add (a.cc:12), through std::mutex::lock");
}

TEST(WaitingRules, FindWhatAScriptSearches) {
  Observation seen = busy();
  ScriptLine line;
  line.file = "/home/a/job.py";
  line.function = "find";
  line.line = 5;
  line.text = "if item in seen:";
  line.cpu_s = 0.8;
  line.in_s = 0.7;
  ScriptLine other = line;
  other.line = 9;
  other.cpu_s = 0.2;
  other.in_s = 0;
  seen.script = {line, other};
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"linear-search"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.7, 1e-9);
  EXPECT_EQ(findings[0].evidence[0], "most in find (job.py:5): `if item in seen:`");
  seen.script[0].in_s = 0.1;
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.script[0].text = "first = queue.pop(0)";
  seen.script[0].in_s = 0;
  seen.script[0].call_s = 0.75;
  findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"linear-search"});
}

TEST(WaitingRules, FindWhatAScriptMakesAgain) {
  Observation seen = busy();
  ScriptLine line;
  line.file = "/home/a/job.py";
  line.function = "rate";
  line.line = 5;
  line.text = "settings = json.loads(TEXT)";
  line.cpu_s = 1;
  line.making_s = 0.8;
  line.making = "parsing JSON";
  seen.script = {line};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());  // another text each time
  seen.script[0].again_s = 0.6;
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"repeated-work"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.8, 1e-12);
  EXPECT_EQ(findings[0].title, "80% of the script's CPU time is parsing JSON, also of texts that come again");
  EXPECT_EQ(findings[0].evidence[0], "most in rate (job.py:5): `settings = json.loads(TEXT)`");
  EXPECT_EQ(findings[0].evidence[1], "in 75% of that time it was a text that had been seen there before");
}

TEST(WaitingRules, FindListsThatAScriptCopies) {
  Observation seen = busy();
  ScriptLine line;
  line.file = "/home/a/job.py";
  line.function = "collect";
  line.line = 5;
  line.text = "rows = rows + [row]";
  line.cpu_s = 1;
  line.add_s = 0.9;
  seen.script = {line};
  seen.functions = {of_library("list_concat", "/usr/bin/python3.11", 0.7)};
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"copying"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.9, 1e-12);
  // A sum of numbers, and a library's sum of arrays.
  seen.script[0].text = "total = rate * seconds + total";
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.script[0].text = "total += column";
  seen.functions = {of_library("add", "/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so", 0.9)};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(WaitingRules, BlameLengthsThatTheProgramAsksFor) {
  Observation seen = busy();
  HotFunction function = of_library("__strlen_evex", "/lib/x86_64-linux-gnu/libc.so.6", 0.4);
  function.role = CodeRole::kLength;
  function.entry = "__strlen_evex";
  seen.functions = {function};
  set_role(seen, CodeRole::kLength, 0.4);
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"string-length"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.4, 1e-9);
  seen.functions[0].entry = "__isoc99_sscanf";
  EXPECT_EQ(find_causes(evidence_of(seen)).size(), 1U);
  seen.functions[0].entry = "snprintf";
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(WaitingRules, NameTheCallsThatTheKernelAnswers) {
  Observation seen = busy();
  HotFunction function = of_library("lseek64", "/lib/x86_64-linux-gnu/libc.so.6", 0.4);
  function.kernel_share = 0.35;
  function.caller = "next(int)";
  function.caller_place = "a.cc:7";
  seen.functions = {function};
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"system-calls"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.4, 1e-9);
  EXPECT_EQ(findings[0].evidence[1], "called most by next (a.cc:7)");
  // Page faults in what computes are none of its calls.
  seen.functions[0].kernel_share = 0.1;
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  // Nor are a barrier's waits.
  seen.functions[0].kernel_share = 0.4;
  seen.functions[0].function = "syscall";
  EXPECT_EQ(find_causes(evidence_of(seen)).size(), 1U);
  seen.run.threads = 2;
  WaitPlace place;
  place.call = "futex";
  place.entry = "syscall";
  seen.waits = {place};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(WaitingRules, TryNoVariableThatNothingReads) {
  Observation seen = busy();
  Evidence evidence = evidence_of(seen);
  EXPECT_TRUE(evidence.uses_openmp());  // nobody knows
  seen.libraries = {"prog", "libc.so.6"};
  EXPECT_FALSE(evidence.uses_openmp());
  EXPECT_TRUE(evidence.thread_settings("2").empty());
  seen.libraries.insert("libgomp.so.1");
  EXPECT_EQ(evidence.thread_settings("2"), (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "2"}}));
  seen.libraries = {"prog", "libopenblas.so.0"};
  EXPECT_EQ(evidence.thread_settings("2"), (std::map<std::string, std::string>{{"OPENBLAS_NUM_THREADS", "2"}}));
  seen.functions = {of_library("GOMP_parallel", "/home/a/prog", 0.1)};
  EXPECT_TRUE(evidence.uses_openmp());
}

}  // namespace
}  // namespace perfcast::measure
