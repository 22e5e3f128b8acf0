#include "service/http/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "base/json.h"

namespace perfcast::service {
namespace {

Json state_of(Jobs& jobs, const std::string& id) {
  const auto text = jobs.describe(id);
  EXPECT_TRUE(text);
  const auto json = text ? parse_json(*text, "job") : Result<Json>(Json());
  EXPECT_TRUE(json);
  return json ? *json : Json();
}

Json end_of(Jobs& jobs, const std::string& id) {
  for (int i = 0; i < 1000; ++i) {
    Json state = state_of(jobs, id);
    if (state.contains("answer") || state.contains("error")) return state;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << "the job does not end";
  return {};
}

TEST(Jobs, HaveAnAnswerAtTheirEnd) {
  std::promise<void> begun, may_end;
  Jobs jobs;
  const auto id = jobs.begin("llm/capacity", [&](const Watch& watch) -> Result<Answer> {
    watch.show("half");
    begun.set_value();
    may_end.get_future().wait();
    return Answer{R"({"schema":"x"})"};
  });
  ASSERT_TRUE(id);
  EXPECT_EQ(id->size(), 32U);
  begun.get_future().wait();
  const Json running = state_of(jobs, *id);
  EXPECT_EQ(running["state"], "running");
  EXPECT_EQ(running["stage"], "half");
  EXPECT_EQ(jobs.running(), 1U);
  may_end.set_value();
  const Json done = end_of(jobs, *id);
  EXPECT_EQ(done["schema"], "perfcast.job/1");
  EXPECT_EQ(done["operation"], "llm/capacity");
  EXPECT_EQ(done["state"], "done");
  EXPECT_EQ(done["answer"], (Json{{"schema", "x"}}));
}

TEST(Jobs, TellTheirErrors) {
  Jobs jobs;
  const auto id =
      jobs.begin("audit", [](const Watch&) -> Result<Answer> { return usage_error("bad", "why", "where", "what"); });
  ASSERT_TRUE(id);
  const Json failed = end_of(jobs, *id);
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["error"]["code"], "bad");
  EXPECT_EQ(jobs.describe(std::string(32, '0')).error().code, "unknown-job");
}

TEST(Jobs, EndWhenTheyAreCancelled) {
  std::promise<void> begun;
  Jobs jobs;
  const auto id = jobs.begin("x", [&](const Watch& watch) -> Result<Answer> {
    begun.set_value();
    while (!watch.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Answer{"{}"};
  });
  const auto behind = jobs.begin("y", [](const Watch&) -> Result<Answer> { return Answer{"{}"}; });
  ASSERT_TRUE(id && behind);
  begun.get_future().wait();
  EXPECT_EQ(state_of(jobs, *behind)["state"], "waiting");
  EXPECT_TRUE(jobs.cancel(*behind));
  EXPECT_TRUE(jobs.cancel(*id));
  EXPECT_EQ(end_of(jobs, *id)["state"], "cancelled");
  EXPECT_EQ(end_of(jobs, *behind)["state"], "cancelled");
  EXPECT_EQ(jobs.cancel("x").error().code, "unknown-job");
}

TEST(Jobs, TellListenersUntilTheEnd) {
  std::promise<void> may_begin, ended;
  std::mutex lock;
  std::vector<std::string> events, documents;
  Jobs jobs;
  const auto id = jobs.begin("x", [&](const Watch& watch) -> Result<Answer> {
    may_begin.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    watch.show("half");
    return Answer{"{}"};
  });
  ASSERT_TRUE(id);
  const auto listener = jobs.listen(*id, [&](const std::string& event, const std::string& document) {
    const std::lock_guard guard(lock);
    events.push_back(event);
    documents.push_back(document);
    if (event == "end") ended.set_value();
  });
  ASSERT_TRUE(listener);
  may_begin.set_value();
  ASSERT_EQ(ended.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  const std::lock_guard guard(lock);
  EXPECT_EQ(std::count(events.begin(), events.end(), "end"), 1);
  EXPECT_EQ(events.back(), "end");
  EXPECT_THAT(documents, testing::Contains(testing::HasSubstr("\"stage\":\"half\"")));
  EXPECT_THAT(documents.back(), testing::HasSubstr("\"answer\":{}"));
}

TEST(Jobs, AreForgottenInTime) {
  Jobs jobs({.most_kept = 2});
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    const auto id = jobs.begin("x", [](const Watch&) -> Result<Answer> { return Answer{"{}"}; });
    ASSERT_TRUE(id);
    ids.push_back(*id);
    end_of(jobs, *id);
  }
  EXPECT_FALSE(jobs.describe(ids[0]));
  EXPECT_TRUE(jobs.describe(ids[1]));
  EXPECT_TRUE(jobs.describe(ids[2]));
}

TEST(Jobs, RefuseMoreThanMayWait) {
  std::promise<void> begun, may_end;
  Jobs jobs({.most_waiting = 1});
  ASSERT_TRUE(jobs.begin("x", [&](const Watch&) -> Result<Answer> {
    begun.set_value();
    may_end.get_future().wait();
    return Answer{"{}"};
  }));
  begun.get_future().wait();
  const auto nothing = [](const Watch&) -> Result<Answer> { return Answer{"{}"}; };
  EXPECT_TRUE(jobs.begin("x", nothing));
  const auto refused = jobs.begin("x", nothing);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "too-many-requests");
  may_end.set_value();
}

TEST(Jobs, HaveIdsThatDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ids.insert(random_id()).second);
}

}  // namespace
}  // namespace perfcast::service
