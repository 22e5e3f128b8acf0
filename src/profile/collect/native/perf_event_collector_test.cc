#include "profile/collect/native/perf_event_collector.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "profile/collect/native/host_facts.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Reading {
  uint64_t value, enabled_ns, running_ns;
};

// A kernel that offers some events: its descriptors are pipes that hold the reading.
class FakeKernel {
 public:
  using Key = std::pair<uint32_t, uint64_t>;
  void offer(uint32_t type, uint64_t config, Reading reading, bool user_only = false) {
    events_[{type, config}] = {reading, user_only};
  }
  int error = ENOENT;
  std::map<uint64_t, int> groups;  // of each event that was opened, by its config

  PerfEventCollector::Open open() {
    return [this](perf_event_attr& attributes, pid_t, int group) {
      EXPECT_EQ(attributes.inherit, 1);
      EXPECT_EQ(attributes.enable_on_exec, 1);
      groups[attributes.config] = group;
      const auto found = events_.find({attributes.type, attributes.config});
      if (found == events_.end()) {
        errno = error;
        return -1;
      }
      if (found->second.second && attributes.exclude_kernel == 0) {
        errno = EACCES;
        return -1;
      }
      std::array<int, 2> ends;
      if (pipe(ends.data()) != 0) return -1;
      EXPECT_EQ(write(ends[1], &found->second.first, sizeof(Reading)), static_cast<ssize_t>(sizeof(Reading)));
      close(ends[1]);
      return ends[0];
    };
  }

 private:
  std::map<Key, std::pair<Reading, bool>> events_;
};

TEST(PerfEvent, ReadsCountersAndSaysWhatIsMissing) {
  FakeKernel kernel;
  kernel.offer(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, {1000, 50, 50});
  kernel.offer(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, {2500, 50, 50});
  kernel.offer(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, {3000000000, 50, 50});
  PerfEventCollector collector(2, kernel.open());
  EXPECT_TRUE(collector.available());
  collector.attach(1);
  const Collection found = collector.harvest();
  EXPECT_EQ(found.counters.at("hw_cycles_count"), 1000);
  EXPECT_EQ(found.counters.at("hw_instructions_count"), 2500);
  EXPECT_EQ(found.counters.at("hw_task_clock_s"), 3);
  EXPECT_THAT(found.counters, SizeIs(3));
  EXPECT_THAT(found.missing.at("hw_branch_misses_count"), HasSubstr("does not offer the event"));
  EXPECT_EQ(found.counters.count("hw_branch_misses_count"), 0u);
  EXPECT_EQ(found.record.status, "ok");
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(PerfEvent, ScalesAndReportsMultiplexedCounters) {
  FakeKernel kernel;
  kernel.offer(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, {1000, 100, 25});
  kernel.offer(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, {5, 100, 0});
  PerfEventCollector collector(2, kernel.open());
  collector.attach(1);
  const Collection found = collector.harvest();
  EXPECT_EQ(found.counters.at("hw_cycles_count"), 4000);
  EXPECT_THAT(found.missing.at("hw_instructions_count"), HasSubstr("never got a hardware counter"));
  ASSERT_THAT(found.warnings, SizeIs(1));
  EXPECT_EQ(found.warnings[0].code, "multiplexed");
  EXPECT_THAT(found.warnings[0].message, HasSubstr("25%"));
}

TEST(PerfEvent, FallsBackToUserModeButNotForWhatTheKernelDoes) {
  FakeKernel kernel;
  kernel.offer(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, {1000, 50, 50}, true);
  kernel.offer(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, {0, 50, 50}, true);
  PerfEventCollector collector(2, kernel.open());
  EXPECT_TRUE(collector.available());
  collector.attach(1);
  const Collection found = collector.harvest();
  EXPECT_EQ(found.counters.at("hw_cycles_count"), 1000);
  EXPECT_EQ(found.record.note, "user mode only");
  EXPECT_THAT(found.missing.at("hw_context_switches_count"), HasSubstr("kernel.perf_event_paranoid is 2"));
}

TEST(PerfEvent, IsSkippedWhereNothingIsPermitted) {
  FakeKernel kernel;
  kernel.error = EACCES;
  PerfEventCollector collector(4, kernel.open());
  EXPECT_THAT(collector.available().error().message, HasSubstr("kernel.perf_event_paranoid is 4"));
  collector.attach(1);
  const Collection found = collector.harvest();
  EXPECT_EQ(found.record.status, "skipped");
  EXPECT_THAT(found.record.note, HasSubstr("sysctl kernel.perf_event_paranoid=1"));
  EXPECT_THAT(found.counters, IsEmpty());
}

TEST(PerfEvent, EveryEventHasACatalogueEntry) {
  FakeKernel kernel;
  PerfEventCollector collector(2, kernel.open());
  collector.attach(1);
  EXPECT_THAT(collector.harvest().missing, SizeIs(30));
}

TEST(PerfEvent, CountsSlotsAsAGroupWhereTheProcessorHasThem) {
  FakeKernel kernel;
  kernel.offer(PERF_TYPE_RAW, 0x400, {6000, 50, 50});
  kernel.offer(PERF_TYPE_RAW, 0x8100, {1500, 50, 50});
  PerfEventCollector with(2, kernel.open(), true);
  with.attach(1);
  EXPECT_EQ(kernel.groups.at(0x400), -1);
  EXPECT_GE(kernel.groups.at(0x8100), 0);
  const Collection found = with.harvest();
  EXPECT_EQ(found.counters.at("hw_topdown_slots_count"), 6000);
  EXPECT_EQ(found.counters.at("hw_topdown_bad_speculation_slots_count"), 1500);
  EXPECT_THAT(found.missing.at("hw_topdown_retiring_slots_count"), HasSubstr("does not offer the event"));
  // Elsewhere the same numbers are other events: none is opened.
  kernel.groups.clear();
  PerfEventCollector without(2, kernel.open(), false);
  without.attach(1);
  EXPECT_EQ(kernel.groups.count(0x400), 0U);
  EXPECT_EQ(without.harvest().counters.count("hw_topdown_slots_count"), 0U);
}

TEST(PerfEvent, CountsARealRun) {
  PerfEventCollector collector(perf_event_paranoid());
  CollectRequest request;
  request.command = {PERFCAST_GUINEA, "work", "3000000"};
  const auto found = collector.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->exit_code, 0);
  if (found->counters.empty()) GTEST_SKIP() << "no event here: " << found->record.note;
  EXPECT_THAT(found->counters.size() + found->missing.size(), 30u);
  if (found->counters.count("hw_instructions_count") > 0) {
    EXPECT_GT(found->counters.at("hw_instructions_count"), 3e6 * 8);
  }
  if (found->counters.count("hw_task_clock_s") > 0) {
    EXPECT_GT(found->counters.at("hw_task_clock_s"), 0.001);
  }
}

}  // namespace
}  // namespace perfcast
