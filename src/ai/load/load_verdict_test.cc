#include "ai/load/load_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace perfcast::ai {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

// A server's run of so many queries, of which some are slow.
LoadResult server_run(int64_t queries, int64_t slow = 0) {
  LoadResult result;
  result.settings.scenario = LoadScenario::kServer;
  result.queries = result.samples = result.answered = queries;
  result.latencies_ns.assign(static_cast<size_t>(queries), 1'000'000);
  for (int64_t i = 0; i < slow; ++i) result.latencies_ns[static_cast<size_t>(i)] = 20'000'000;
  result.last_due_ns = result.last_issued_ns = result.last_query_answered_ns = result.end_ns = 10'000'000'000;
  return result;
}

LoadRules server_rules() {
  LoadRules rules;
  rules.max_latency_s = 0.015;
  rules.min_duration_s = 10;
  return rules;
}

std::vector<std::string> rules_broken(const LoadResult& result, const LoadRules& rules) {
  std::vector<std::string> names;
  for (const LoadViolation& violation : judge(result, summarise(result), rules).violations) {
    names.push_back(violation.rule);
    EXPECT_FALSE(violation.message.empty());
    EXPECT_FALSE(violation.mend.empty()) << violation.rule;
  }
  return names;
}

TEST(LoadVerdict, ARunThatKeepsAllRulesIsValid) {
  EXPECT_THAT(rules_broken(server_run(1000), server_rules()), IsEmpty());
  EXPECT_THAT(rules_broken(server_run(100000, 900), server_rules()), IsEmpty());
}

TEST(LoadVerdict, TheLatencyAtThePercentileCounts) {
  EXPECT_THAT(rules_broken(server_run(100000, 1100), server_rules()), ElementsAre("latency", "early-stopping"));
  const LoadResult result = server_run(100000, 1100);
  const LoadVerdict verdict = judge(result, summarise(result), server_rules());
  EXPECT_EQ(verdict.over_latency, 1100);
  EXPECT_FALSE(verdict.latency_met);
  EXPECT_THAT(verdict.violations[0].message, HasSubstr("p99 of latency is 20 ms, the limit 15 ms; 1100 of 100000"));
}

TEST(LoadVerdict, JustWithinThePercentileIsNotEnoughToBeSure) {
  EXPECT_THAT(rules_broken(server_run(1000, 9), server_rules()), ElementsAre("early-stopping"));
  EXPECT_THAT(rules_broken(server_run(458), server_rules()), ElementsAre("early-stopping"));
  EXPECT_THAT(rules_broken(server_run(459), server_rules()), IsEmpty());
}

TEST(LoadVerdict, TellsARunThatIsTooShortFromARateThatIsTooHigh) {
  const auto verdict_of = [](const LoadResult& result) { return judge(result, summarise(result), server_rules()); };
  EXPECT_FALSE(verdict_of(server_run(1000)).is_only_too_short());
  const LoadVerdict few = verdict_of(server_run(58));
  EXPECT_TRUE(few.is_only_too_short());
  EXPECT_EQ(few.missing_queries, 401);
  EXPECT_EQ(few.over_limits, 0);
  EXPECT_THAT(few.violations[0].mend, HasSubstr("--min-queries 459"));
  EXPECT_EQ(verdict_of(server_run(1000, 9)).over_limits, 9);
  EXPECT_FALSE(verdict_of(server_run(100000, 1100)).is_only_too_short());
}

TEST(LoadVerdict, MissingAnswersAreOverAnyLimit) {
  LoadResult result = server_run(1000);
  result.samples = 1020;
  result.faults = {{"unanswered", "20 of 1020 samples have no answer"}};
  EXPECT_THAT(rules_broken(result, server_rules()), ElementsAre("unanswered", "latency", "early-stopping"));
}

TEST(LoadVerdict, DurationAndCountAreAsked) {
  LoadRules rules = server_rules();
  rules.min_duration_s = 600;
  rules.min_queries = 2000;
  EXPECT_THAT(rules_broken(server_run(1000), rules), ElementsAre("min-duration", "min-queries"));
}

TEST(LoadVerdict, MendsAreThoseThatWouldHelp) {
  const auto mends_of = [](const LoadResult& result, const LoadRules& rules) {
    std::vector<std::string> mends;
    for (const LoadViolation& violation : judge(result, summarise(result), rules).violations) {
      mends.push_back(violation.rule + ": " + violation.mend);
    }
    return mends;
  };
  LoadRules rules = server_rules();
  rules.min_duration_s = 60;
  rules.min_queries = 64;
  LoadResult result = server_run(31);
  result.settings.min_queries = 64;
  result.settings.min_duration_s = 60;
  result.faults = {{"system-hung", "no answer for 1 s"}};
  const std::string see = ": a run that isn't ended early: see system-hung";
  EXPECT_THAT(mends_of(result, rules), IsSupersetOf({"min-duration" + see, "min-queries" + see}));
  result.samples = 40;  // nine have no answer, which is no question of the rate
  EXPECT_THAT(mends_of(result, rules), IsSupersetOf({"latency" + see, "early-stopping" + see}));
  result.samples = 31;
  result.faults.clear();
  result.settings.max_queries = 31;
  EXPECT_THAT(mends_of(result, rules), Each(HasSubstr(": a higher --max-queries")));
  result.settings.max_queries = 0;
  result.settings.max_duration_s = 12;
  EXPECT_THAT(mends_of(result, rules), Each(HasSubstr(": a longer --max-duration")));
  EXPECT_THAT(mends_of(server_run(100000, 1100), server_rules()),
              Each(EndsWith(": a lower --target-qps, or a faster system")));
  // It was not to be longer, by its own settings.
  result.settings = LoadSettings();
  result.settings.scenario = LoadScenario::kServer;
  EXPECT_THAT(mends_of(result, rules), ElementsAre("min-duration: a longer --duration", "min-queries: --min-queries 64",
                                                   "early-stopping: --min-queries 459"));
  result.settings.target_qps = 3;
  result.settings.max_duration_s = 60;
  EXPECT_THAT(mends_of(result, rules), Contains("early-stopping: --min-queries 459 and a --max-duration above 153 s"));
}

TEST(LoadVerdict, SingleStreamNeedsItsQueries) {
  LoadResult result = server_run(63);
  result.settings.scenario = LoadScenario::kSingleStream;
  LoadRules rules;
  rules.percentile = 0.9;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("early-stopping"));
  LoadResult enough = server_run(64);
  enough.settings.scenario = LoadScenario::kSingleStream;
  EXPECT_THAT(rules_broken(enough, rules), IsEmpty());
  EXPECT_THAT(judge(enough, summarise(enough), rules).early_stopping, HasSubstr("p90 is at most 1 ms"));
}

TEST(LoadVerdict, TokensHaveLimitsOfTheirOwn) {
  LoadResult result = server_run(1000);
  result.settings.tokens = true;
  result.ttft_ns.assign(1000, 500'000);
  result.tpot_ns.assign(1000, 50'000);
  result.answer_tokens.assign(1000, 11);
  LoadRules rules;
  rules.max_ttft_s = 0.001;
  rules.max_tpot_s = 0.00004;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("tpot", "early-stopping"));
  rules.max_tpot_s = 0.001;
  EXPECT_THAT(rules_broken(result, rules), IsEmpty());
  result.too_few_tokens = 3;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("few-tokens"));
  // An answer of one token is sound; one without any is none.
  EXPECT_TRUE(judge(result, summarise(result), rules).is_sound());
  result.empty_answers = 1;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("empty-answers", "few-tokens"));
  EXPECT_FALSE(judge(result, summarise(result), rules).is_sound());
}

// Clients end a run by sending nothing more: its last query begins earlier than it is long.
TEST(LoadVerdict, ClientsAreBusyUntilTheirLastAnswer) {
  LoadResult result = server_run(1000);
  result.settings.scenario = LoadScenario::kConcurrency;
  result.last_issued_ns = 9'900'000'000;
  result.end_ns = 10'100'000'000;
  LoadRules rules;
  rules.early_stopping = false;
  rules.min_duration_s = 10;
  EXPECT_THAT(rules_broken(result, rules), IsEmpty());
  result.end_ns = 9'950'000'000;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("min-duration"));
}

TEST(LoadVerdict, AccuracyMustBeKnownAndEnough) {
  LoadRules rules = server_rules();
  rules.least_accuracy = 75.69;
  EXPECT_THAT(rules_broken(server_run(1000), rules), ElementsAre("accuracy-unknown"));
  rules.accuracy = 75.68;
  EXPECT_THAT(rules_broken(server_run(1000), rules), ElementsAre("accuracy"));
  rules.accuracy = 75.69;
  EXPECT_THAT(rules_broken(server_run(1000), rules), IsEmpty());
}

TEST(LoadVerdict, TheOrderMustBeTheOneThatIsAsked) {
  LoadRules rules = server_rules();
  rules.seeds = LoadSeeds{};
  EXPECT_THAT(rules_broken(server_run(1000), rules), IsEmpty());
  LoadResult other = server_run(1000);
  other.settings.seeds = seeds_from(3);
  EXPECT_THAT(rules_broken(other, rules), ElementsAre("seeds"));
}

TEST(LoadVerdict, EveryFaultIsAViolationWithAMend) {
  LoadResult result = server_run(1000);
  for (const char* const code : {"system-broke", "system-hung", "failed-answers", "answered-twice", "unknown-ids",
                                 "bad-answers", "late-tokens", "outstanding-limit", "clock-step", "interrupted"}) {
    result.faults.push_back({code, "it happened"});
  }
  EXPECT_EQ(rules_broken(result, server_rules()).size(), 10u);
}

TEST(LoadVerdict, NothingAnsweredIsNoRun) {
  LoadResult result;
  result.settings.scenario = LoadScenario::kOffline;
  result.queries = 1;
  result.samples = 10;
  LoadRules rules;
  EXPECT_THAT(rules_broken(result, rules), ElementsAre("no-answers"));
}

}  // namespace
}  // namespace perfcast::ai
