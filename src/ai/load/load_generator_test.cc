#include "ai/load/load_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "ai/load/query_order.h"
#include "ai/load/testing/scripted_system.h"

namespace perfcast::ai {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

LoadSettings short_run(LoadScenario scenario) {
  LoadSettings settings;
  settings.scenario = scenario;
  settings.loaded_samples = settings.total_samples = 64;
  settings.min_duration_s = 0.05;
  settings.min_queries = 20;
  settings.target_qps = 1000;
  settings.answer_limit_s = 0.3;
  return settings;
}

testing::Matcher<std::vector<LoadFault>> has_fault(const std::string& code, const std::string& text = "") {
  return Contains(
      testing::AllOf(Field("code", &LoadFault::code, code), Field("message", &LoadFault::message, HasSubstr(text))));
}

TEST(LoadGenerator, EveryScenarioAnswersAll) {
  for (const LoadScenario scenario :
       {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
    ScriptedSystem system(answer_all);
    const auto result = run_load(short_run(scenario), system);
    ASSERT_TRUE(result) << to_string(scenario);
    EXPECT_THAT(result->faults, IsEmpty()) << to_string(scenario);
    EXPECT_EQ(result->samples, static_cast<int64_t>(system.issued.size()));
    EXPECT_EQ(result->answered, result->samples);
    EXPECT_EQ(result->latencies_ns.size(), system.issued.size());
    EXPECT_EQ(system.flushes, 1);
    EXPECT_EQ(system.finishes, 1);
    if (scenario != LoadScenario::kOffline) {
      EXPECT_GE(result->queries, 20);
    }
    if (scenario == LoadScenario::kOffline) {
      EXPECT_EQ(result->queries, 1);
      EXPECT_EQ(result->samples, 55);  // 1.1 x 0.05 s x 1000/s
    }
    if (scenario == LoadScenario::kMultiStream) {
      EXPECT_EQ(result->samples, 8 * result->queries);
      EXPECT_EQ(static_cast<int64_t>(result->query_latencies_ns.size()), result->queries);
    }
  }
}

TEST(LoadGenerator, AServersQueriesFollowTheOrderAndTheSchedule) {
  const LoadSettings settings = short_run(LoadScenario::kServer);
  ScriptedSystem system(answer_all);
  std::vector<SampleRecord> records;
  LoadHooks hooks;
  hooks.record = [&](std::span<const SampleRecord> some) {
    records.insert(records.end(), some.begin(), some.end());
    return Status();
  };
  const auto result = run_load(settings, system, hooks);
  ASSERT_TRUE(result);
  QueryOrder order(settings, sample_sets(settings).front());
  std::vector<uint32_t> samples;
  int64_t due_ns = 0;
  size_t i = 0;
  for (; order.next(samples, due_ns); ++i) {
    ASSERT_LT(i, records.size());
    EXPECT_EQ(records[i].index, samples[0]);
    EXPECT_EQ(records[i].due_ns, due_ns);
    EXPECT_GE(records[i].issued_ns, due_ns);
    EXPECT_GE(records[i].answered_ns, records[i].issued_ns);
  }
  EXPECT_EQ(i, records.size());
}

TEST(LoadGenerator, NoQueryComesBehindTheLongestDuration) {
  LoadSettings settings = short_run(LoadScenario::kServer);
  settings.target_qps = 0.05;  // the second query is due after some 37 s
  settings.max_duration_s = 0.1;
  settings.min_queries = 1;
  ScriptedSystem system(answer_all);
  const auto sparse = run_load(settings, system);
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->queries, 1);
  EXPECT_LT(sparse->end_ns, 1'000'000'000);
  settings.target_qps = 1000;
  settings.min_duration_s = 10;
  const auto dense = run_load(settings, system);
  ASSERT_TRUE(dense);
  EXPECT_GT(dense->queries, 10);
  EXPECT_LE(dense->last_due_ns, 100'000'000);
  settings.scenario = LoadScenario::kSingleStream;
  const auto stream = run_load(settings, system);
  ASSERT_TRUE(stream);
  EXPECT_LT(stream->last_issued_ns, 200'000'000);
}

TEST(LoadGenerator, AStallCountsForEveryQueryThatWasDueMeanwhile) {
  // A generator that waits for the system would find one slow query in a hundred; here it is all that were due.
  LoadSettings settings = short_run(LoadScenario::kServer);
  settings.min_duration_s = 0.2;
  int calls = 0;
  ScriptedSystem system([&](std::span<const IssuedSample> query, ResponseSink& sink) {
    if (++calls == 20) std::this_thread::sleep_for(std::chrono::milliseconds(120));
    answer_all(query, sink);
  });
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  const auto slow = std::count_if(result->latencies_ns.begin(), result->latencies_ns.end(),
                                  [](int64_t latency_ns) { return latency_ns > 40'000'000; });
  EXPECT_GT(slow, 40);
}

TEST(LoadGenerator, AnswersMayComeLateInAnyOrderFromAnotherThread) {
  LoadSettings settings = short_run(LoadScenario::kServer);
  std::vector<std::jthread> threads;
  ScriptedSystem system([&](std::span<const IssuedSample> query, ResponseSink& sink) {
    threads.emplace_back([id = query[0].id, &sink] {
      std::this_thread::sleep_for(std::chrono::milliseconds(id % 2 == 0 ? 20 : 1));
      sink.complete(id, {});
    });
  });
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_EQ(result->unanswered(), 0);
}

TEST(LoadGenerator, ASystemThatHangsEndsTheRunWithWhatWasMeasured) {
  for (const LoadScenario scenario : {LoadScenario::kSingleStream, LoadScenario::kServer}) {
    ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
      if (query[0].id != 10) answer_all(query, sink);
    });
    const auto result = run_load(short_run(scenario), system);
    ASSERT_TRUE(result);
    EXPECT_THAT(result->faults, has_fault("system-hung", "the first unanswered is id 10"));
    EXPECT_THAT(result->faults, has_fault("unanswered", "1 of"));
    EXPECT_GE(result->answered, 10);
  }
}

TEST(LoadGenerator, ASystemThatBreaksEndsTheRun) {
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    if (query[0].id < 5) return answer_all(query, sink);
    sink.broke({"system-broke", "it is gone", "", ""});
  });
  const auto result = run_load(short_run(LoadScenario::kSingleStream), system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("system-broke", "it is gone"));
  EXPECT_EQ(result->answered, 5);
}

TEST(LoadGenerator, WrongAnswersAreNamed) {
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    answer_all(query, sink);
    if (query[0].id == 3) sink.complete(3, {});
    if (query[0].id == 4) sink.complete(1000000, {});
    if (query[0].id == 5) sink.nonsense("what");
  });
  const auto result = run_load(short_run(LoadScenario::kSingleStream), system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("answered-twice", "id 3"));
  EXPECT_THAT(result->faults, has_fault("unknown-ids", "id 1000000"));
  EXPECT_THAT(result->faults, has_fault("bad-answers", "what"));
  EXPECT_EQ(result->unanswered(), 0);
}

TEST(LoadGenerator, FailedAnswersAreNoLatencies) {
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    if (query[0].id % 2 == 0) return answer_all(query, sink);
    sink.fail(query[0].id, "no");
  });
  const auto result = run_load(short_run(LoadScenario::kSingleStream), system);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->failed, result->samples / 2);
  EXPECT_EQ(static_cast<int64_t>(result->latencies_ns.size()), result->answered);
  EXPECT_THAT(result->faults, has_fault("failed-answers", "id 1: no"));
}

TEST(LoadGenerator, TooManyUnansweredEndTheRun) {
  LoadSettings settings = short_run(LoadScenario::kServer);
  settings.max_outstanding = 10;
  ScriptedSystem system([](std::span<const IssuedSample>, ResponseSink&) {});
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("outstanding-limit", "10 samples"));
  EXPECT_EQ(result->samples, 10);
}

TEST(LoadGenerator, AStepOfTheWallClockIsNoticed) {
  std::atomic<int64_t> offset_ns{0};
  std::atomic<int> looks{0};
  LoadHooks hooks;
  hooks.wall_offset_ns = [&] { return ++looks > 3 ? offset_ns - 3'600'000'000'000 : offset_ns.load(); };
  ScriptedSystem system(answer_all);
  const auto result = run_load(short_run(LoadScenario::kServer), system, hooks);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("clock-step", "3600 s backwards"));
  EXPECT_EQ(result->faults.size(), 1u);
  // The answers' times are of the steady clock.
  EXPECT_LT(*std::max_element(result->latencies_ns.begin(), result->latencies_ns.end()), 1'000'000'000);
}

TEST(LoadGenerator, AnInterruptEndsTheRun) {
  std::atomic<int> looks{0};
  LoadHooks hooks;
  hooks.is_interrupted = [&] { return ++looks > 5; };
  LoadSettings settings = short_run(LoadScenario::kServer);
  settings.min_duration_s = 60;
  ScriptedSystem system(answer_all);
  const auto result = run_load(settings, system, hooks);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("interrupted"));
  EXPECT_GT(result->answered, 0);
}

TEST(LoadGenerator, ALogThatCannotBeWrittenEndsTheRun) {
  LoadHooks hooks;
  hooks.record = [](std::span<const SampleRecord>) { return Status(Error{"log-failed", "disk full", "", ""}); };
  LoadSettings settings = short_run(LoadScenario::kSingleStream);
  settings.min_duration_s = 60;
  ScriptedSystem system(answer_all);
  const auto result = run_load(settings, system, hooks);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, has_fault("log-failed", "disk full"));
}

TEST(LoadGenerator, AccuracyAsksEverySampleOnceInSets) {
  for (const LoadScenario scenario :
       {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
    LoadSettings settings = short_run(scenario);
    settings.mode = LoadMode::kAccuracy;
    settings.total_samples = 100;
    settings.loaded_samples = 64;
    settings.target_qps = 10000;
    ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
      for (const IssuedSample& sample : query) sink.complete(sample.id, {0, sample.index < 90 ? "right" : "wrong", 0});
    });
    LoadHooks hooks;
    hooks.judge = [](uint32_t, std::string_view data) { return std::optional<bool>(data == "right"); };
    const auto result = run_load(settings, system, hooks);
    ASSERT_TRUE(result);
    EXPECT_THAT(result->faults, IsEmpty()) << to_string(scenario);
    EXPECT_EQ(system.started_with.size(), 2u);
    std::map<uint32_t, int> seen;
    for (const IssuedSample& sample : system.issued) ++seen[sample.index];
    EXPECT_EQ(seen.size(), 100u) << to_string(scenario);
    EXPECT_EQ(result->judged, 100);
    EXPECT_EQ(result->right, 90);
    if (scenario == LoadScenario::kMultiStream) continue;  // repeats samples to fill its queries
    EXPECT_EQ(result->samples, 100);
  }
}

TEST(LoadGenerator, TimesCountFromTheRunsStartOverAllSets) {
  for (const LoadScenario scenario : {LoadScenario::kSingleStream, LoadScenario::kServer}) {
    LoadSettings settings = short_run(scenario);
    settings.mode = LoadMode::kAccuracy;
    settings.total_samples = 60;
    settings.loaded_samples = 20;
    ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      answer_all(query, sink);
    });
    LoadHooks hooks;
    std::vector<int64_t> due_ns;
    hooks.record = [&](std::span<const SampleRecord> records) {
      for (const SampleRecord& record : records) due_ns.push_back(record.due_ns);
      return Status();
    };
    const auto result = run_load(settings, system, hooks);
    ASSERT_TRUE(result);
    ASSERT_EQ(due_ns.size(), 60u);
    EXPECT_TRUE(std::is_sorted(due_ns.begin(), due_ns.end())) << to_string(scenario);
    EXPECT_EQ(due_ns.back(), result->last_due_ns);
    EXPECT_GE(result->end_ns, 55'000'000);  // of 60 ms by themselves
    EXPECT_GE(result->last_issued_ns, 50'000'000);
    EXPECT_EQ(result->last_query_answered_ns, result->end_ns);
    EXPECT_LT(*std::max_element(result->latencies_ns.begin(), result->latencies_ns.end()), result->end_ns);
  }
}

TEST(LoadGenerator, StreamsHaveFirstTokensAndTimesPerToken) {
  LoadSettings settings = short_run(LoadScenario::kSingleStream);
  settings.tokens = true;
  settings.min_duration_s = 0;
  settings.min_queries = 4;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    const uint64_t id = query[0].id;
    const int64_t now = steady_ns();
    if (id == 2) return sink.complete(id, {1, "", now + 1000});  // no first token, one token
    sink.token(id, 1, now + 10'000);
    sink.token(id, 1, now + 20'000);
    sink.token(id, 1, now + 60'000);
    sink.complete(id, {0, "", now + 60'000});
  });
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->answered, 4);
  EXPECT_EQ(result->tokens, 10);
  EXPECT_EQ(result->too_few_tokens, 1);
  EXPECT_EQ(result->tpot_ns[0], 25'000);
  EXPECT_EQ(result->ttft_ns[2], -1);
  EXPECT_EQ(result->tpot_ns[2], -1);
  EXPECT_EQ(result->inter_token_count, 6);
}

TEST(LoadGenerator, AnAnswerHasAsManyTokensAsCame) {
  LoadSettings settings = short_run(LoadScenario::kSingleStream);
  settings.tokens = true;
  settings.min_duration_s = 0;
  settings.min_queries = 3;
  bool own_count = false;
  ScriptedSystem system([&](std::span<const IssuedSample> query, ResponseSink& sink) {
    for (int i = 0; i < 4; ++i) sink.token(query[0].id);
    sink.complete(query[0].id, {query[0].id == 1 ? 40 : 4, "", 0, own_count});
  });
  const auto claimed = run_load(settings, system);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->faults.size(), 1u);
  EXPECT_THAT(claimed->faults, has_fault("token-counts", "id 1 says 40 tokens, 4 came"));
  // Pieces of several tokens are told apart from those that were seen.
  own_count = true;
  const auto counted = run_load(settings, system);
  ASSERT_TRUE(counted);
  EXPECT_THAT(counted->faults, IsEmpty());
  EXPECT_EQ(counted->tokens, 48);
  EXPECT_EQ(counted->streamed_tokens, 12);
}

TEST(LoadGenerator, ASystemThatRefusesToStartIsAnError) {
  ScriptedSystem system(answer_all);
  system.refuses = Error{"no", "not today", "", ""};
  const auto result = run_load(short_run(LoadScenario::kServer), system);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "not today");
}

TEST(LoadGenerator, SettingsThatMakeNoRunAreRefused) {
  const auto refused = [](const std::function<void(LoadSettings&)>& change) {
    LoadSettings settings = short_run(LoadScenario::kServer);
    change(settings);
    ScriptedSystem system(answer_all);
    const auto result = run_load(settings, system);
    return result ? std::string() : result.error().where;
  };
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.target_qps = 0; }), "target_qps");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.target_qps = 1e9, settings.min_duration_s = 600; }),
            "target_qps");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.loaded_samples = 65; }), "loaded_samples");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.total_samples = 0; }), "total_samples");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.total_samples = settings.loaded_samples = 0; }),
            "loaded_samples");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.min_duration_s = -1; }), "min_duration_s");
  EXPECT_EQ(refused([](LoadSettings& settings) { settings.max_outstanding = 0; }), "max_outstanding");
  EXPECT_EQ(refused([](LoadSettings& settings) {
              settings.scenario = LoadScenario::kMultiStream;
              settings.samples_per_query = 65;
            }),
            "samples_per_query");
}

TEST(LoadGenerator, WarmUpIsNotMeasuredAndTellsFaults) {
  ScriptedSystem good(answer_all);
  const auto fine = warm_up(short_run(LoadScenario::kServer), 7, good);
  ASSERT_TRUE(fine);
  EXPECT_THAT(*fine, IsEmpty());
  EXPECT_EQ(good.issued.size(), 7u);
  ScriptedSystem bad([](std::span<const IssuedSample> query, ResponseSink& sink) { sink.fail(query[0].id, "no"); });
  const auto faults = warm_up(short_run(LoadScenario::kOffline), 1, bad);
  ASSERT_TRUE(faults);
  EXPECT_THAT(*faults, has_fault("failed-answers", "no"));
}

}  // namespace
}  // namespace perfcast::ai
