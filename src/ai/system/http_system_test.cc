#include "ai/system/http_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "ai/load/load_generator.h"
#include "ai/load/load_summary.h"
#include "base/http/testing/http_client.h"
#include "base/json.h"
#include "base/process/program_inspector.h"
#include "base/process/spawn.h"

namespace perfcast::ai {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// The server in a process of its own.
class Endpoint : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string python = find_in_path("python3");
    if (python.empty() || !input_.open() || !output_.open()) return;
    SpawnRequest request;
    request.executable = python;
    request.arguments = {"python3", PERFCAST_SOURCE_DIR "/src/ai/system/testing/fake_endpoint.py"};
    request.input = input_.read_end.get();
    request.output = output_.write_end.get();
    const auto child = spawn(request);
    if (!child) return;
    child_ = *child;
    char line[32] = "";
    for (size_t length = 0; length + 1 < sizeof line && read(output_.read_end.get(), line + length, 1) == 1; ++length) {
      if (line[length] == '\n') break;
    }
    port_ = line;
    port_ = port_.substr(0, port_.find('\n'));
  }
  static void TearDownTestSuite() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  void SetUp() override {
    if (port_.empty()) GTEST_SKIP() << "no python3 here";
    settings_.tokens = true;
    settings_.loaded_samples = settings_.total_samples = 8;
    settings_.min_duration_s = 0;
    settings_.min_queries = 12;
    settings_.answer_limit_s = 2;
  }

  static HttpSystemOptions options_of(const std::string& path) {
    HttpSystemOptions options;
    options.url = "http://127.0.0.1:" + port_ + path;
    options.model = "fake";
    options.max_tokens = 5;
    options.prompts = made_up_prompts(8, 4, is_chat(options.url), 1);
    return options;
  }

  LoadResult run(const std::string& path) {
    HttpSystem system(options_of(path));
    const auto result = run_load(settings_, system);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : LoadResult();
  }

  // What is said of answers that a path spoils.
  std::string failure_of(const std::string& path) {
    settings_.min_queries = 2;
    const LoadResult result = run(path);
    EXPECT_EQ(result.answered, 0) << path;
    EXPECT_EQ(result.failed, 2) << path;
    for (const LoadFault& fault : result.faults) {
      if (fault.code == "failed-answers") return fault.message;
    }
    return "";
  }

  static Pipe input_, output_;
  static pid_t child_;
  static std::string port_;
  LoadSettings settings_;
};

Pipe Endpoint::input_, Endpoint::output_;
pid_t Endpoint::child_ = -1;
std::string Endpoint::port_;

TEST_F(Endpoint, StreamsAreTimedInBothForms) {
  for (const char* const path : {"/v1/completions", "/v1/chat/completions", "", "/", "/v1", "/v1/"}) {
    const LoadResult result = run(path);
    EXPECT_THAT(result.faults, IsEmpty()) << path;
    EXPECT_EQ(result.answered, 12);
    EXPECT_EQ(result.tokens, 12 * 5);
    EXPECT_EQ(result.too_few_tokens, 0);
    EXPECT_EQ(result.inter_token_count, 12 * 4);
  }
}

TEST_F(Endpoint, TokensTakeTheirTime) {
  settings_.min_queries = 3;
  const LoadResult result = run("/slow/v1/completions");
  const LoadSummary summary = summarise(result);
  EXPECT_GE(summary.ttft.min, 20'000'000);
  EXPECT_GE(summary.latency.min, 100'000'000);
  EXPECT_GE(summary.tpot.min, 10'000'000);
  EXPECT_LE(summary.ttft.min, summary.latency.max - 40'000'000);
}

TEST_F(Endpoint, TheEndIsTheLastToken) {
  settings_.min_queries = 3;
  const LoadResult result = run("/late/v1/completions");
  EXPECT_THAT(result.faults, IsEmpty());
  const LoadSummary summary = summarise(result);
  EXPECT_GE(summary.latency.min, 100'000'000);
  EXPECT_LT(summary.latency.min, 300'000'000);
  EXPECT_EQ(result.tokens, 3 * 5);
}

TEST_F(Endpoint, ManyAtOnce) {
  settings_.scenario = LoadScenario::kServer;
  settings_.target_qps = 200;
  settings_.min_queries = 60;
  const LoadResult result = run("/slow/v1/completions");
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.answered, 60);
  // One after the other they would take 6 s.
  EXPECT_LT(result.end_ns, 3'000'000'000);
}

TEST_F(Endpoint, TheServersOwnCountIsTaken) {
  const LoadResult result = run("/usage/v1/completions");
  EXPECT_EQ(result.tokens, 12 * 9);
  EXPECT_EQ(result.streamed_tokens, 12 * 5);
  EXPECT_THAT(result.faults, IsEmpty());
}

TEST_F(Endpoint, AnAnswerThatIsNotStreamedHasNoFirstToken) {
  const LoadResult result = run("/whole/v1/completions");
  EXPECT_EQ(result.answered, 12);
  EXPECT_EQ(result.tokens, 12 * 3);
  EXPECT_EQ(result.too_few_tokens, 12);
}

TEST_F(Endpoint, WhatIsSpoiltIsSaid) {
  EXPECT_THAT(failure_of("/reset/v1/completions"), HasSubstr("after 2 pieces of the answer"));
  EXPECT_THAT(failure_of("/short/v1/completions"), HasSubstr("the stream ended after 2 pieces without its end"));
  EXPECT_THAT(failure_of("/badutf8/v1/completions"), HasSubstr("a piece of the stream is no JSON"));
  EXPECT_THAT(failure_of("/badchunk/v1/completions"), HasSubstr("after 2 pieces of the answer"));
  EXPECT_THAT(failure_of("/notjson/v1/completions"), HasSubstr("a piece of the stream is no JSON"));
  EXPECT_THAT(failure_of("/error/v1/completions"),
              HasSubstr("status 500: {\"error\": {\"message\": \"out of memory\"}}"));
  EXPECT_THAT(failure_of("/errorpiece/v1/completions"), HasSubstr("the server says: overloaded"));
  EXPECT_THAT(failure_of("/long/v1/completions"), HasSubstr("an event of more than 4 MiB"));
}

TEST_F(Endpoint, ASilentServerHangs) {
  settings_.answer_limit_s = 0.5;
  const LoadResult result = run("/silent/v1/completions");
  ASSERT_THAT(result.faults, Contains(Field("code", &LoadFault::code, std::string("system-hung"))));
  EXPECT_EQ(result.answered, 0);
}

TEST_F(Endpoint, OneStalledAnswerFailsAndTheOthersGoOn) {
  settings_.scenario = LoadScenario::kServer;
  settings_.target_qps = 50;
  settings_.min_queries = 20;
  settings_.answer_limit_s = 5;
  HttpSystemOptions options = options_of("/stall/v1/completions");
  options.stall_limit_s = 0.5;
  HttpSystem system(options);
  const auto result = run_load(settings_, system);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->failed, 5);
  EXPECT_EQ(result->answered, 15);
  EXPECT_LT(result->end_ns, 4'000'000'000);
  ASSERT_EQ(result->faults.size(), 1u);
  EXPECT_THAT(result->faults[0].message, HasSubstr("it stalls: nothing came for 500 ms after 2 pieces of the answer"));
}

TEST_F(Endpoint, ToolCallsAndReasoningAloneAreAnswers) {
  const LoadResult tools = run("/tools/v1/chat/completions");
  EXPECT_THAT(tools.faults, IsEmpty());
  EXPECT_EQ(tools.answered, 12);
  EXPECT_EQ(tools.tokens, 12 * 12);
  EXPECT_EQ(tools.prompt_tokens, 12 * 90);
  EXPECT_EQ(tools.empty_answers, 0);
  EXPECT_EQ(tools.too_few_tokens, 12);  // all in one piece: nobody knows the time of each
  EXPECT_THAT(tools.tpot_ns, testing::Each(-1));
  EXPECT_THAT(tools.ttft_ns, testing::Each(testing::Gt(0)));
  const LoadResult reasoning = run("/reasoning/v1/chat/completions");
  EXPECT_THAT(reasoning.faults, IsEmpty());
  EXPECT_EQ(reasoning.too_few_tokens, 0);
}

TEST_F(Endpoint, EmbeddingsHaveNoTokens) {
  settings_.tokens = false;
  const LoadResult result = run("/v1/embeddings");
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.answered, 12);
  EXPECT_EQ(result.tokens, 0);
  EXPECT_EQ(result.prompt_tokens, 12 * 7);
}

std::string words_of_user(const Json& bodies, size_t request) { return bodies[request]["messages"][0]["content"]; }

// What the server said is in the next turn, which comes when it has ended.
TEST_F(Endpoint, ConversationsGoOn) {
  ServingTrace trace;
  for (int32_t i = 0; i < 6; ++i) {
    trace.requests.push_back({.arrival_s = i % 3 == 0 ? 0 : 0.02,
                              .prompt_tokens = 4 + 9 * (i % 3),
                              .output_tokens = 5,
                              .after = i % 3 == 0 ? -1 : i - 1});
  }
  auto plan = std::make_shared<LoadPlan>();
  for (const ServingRequest& request : trace.requests) plan->push_back({request.arrival_s, request.after});
  settings_.scenario = LoadScenario::kTrace;
  settings_.plan = plan;
  settings_.loaded_samples = settings_.total_samples = 6;
  HttpSystemOptions options = options_of("/talk/v1/chat/completions");
  options.trace = std::make_shared<const ServingTrace>(trace);
  HttpSystem system(options);
  const auto result = run_load(settings_, system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_EQ(result->answered, 6);
  EXPECT_GE(result->end_ns, 340'000'000);  // three turns of 100 ms, 20 ms apart
  HttpTestClient client(std::stoi(port_));
  client.send("GET /talk HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string answer = client.receive();
  const auto bodies = parse_json(answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4)), "bodies");
  ASSERT_TRUE(bodies) << answer;
  // Of each turn what was said before, by whom.
  const std::string first = words_of_user(*bodies, 0), other = words_of_user(*bodies, 1);
  EXPECT_NE(first, other);
  std::vector<int> turns(3, 0);
  for (const Json& body : *bodies) {
    const Json& messages = body["messages"];
    ASSERT_EQ(messages.size() % 2, 1u) << body;
    ASSERT_LE(messages.size(), 5u) << body;
    ++turns[messages.size() / 2];
    EXPECT_THAT(messages[0]["content"].get<std::string>(), testing::AnyOf(first, other));
    for (size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(messages[i]["role"], i % 2 == 0 ? "user" : "assistant");
      if (i % 2 == 0) continue;
      EXPECT_EQ(messages[i]["content"], " word0 word1 word2 word3 word4");
    }
    if (messages.size() < 5) continue;
    const auto is_start = [&messages](const Json& earlier) {
      const Json& said = earlier["messages"];
      return said.size() == 3 && std::equal(said.begin(), said.end(), messages.begin());
    };
    EXPECT_EQ(std::count_if(bodies->begin(), bodies->end(), is_start), 1) << body;
  }
  EXPECT_THAT(turns, testing::Each(2));
}

TEST_F(Endpoint, NobodyThereIsAnError) {
  HttpSystemOptions options = options_of("/v1/completions");
  options.url = "http://127.0.0.1:1/v1/completions";
  HttpSystem system(options);
  const auto result = run_load(settings_, system);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "endpoint-failed");
  EXPECT_EQ(result.error().where, "http://127.0.0.1:1/v1/completions");
}

TEST(HttpPrompts, RequestsHoldWhatIsAsked) {
  HttpSystemOptions options;
  options.url = "http://h/v1/chat/completions";
  options.model = "m";
  options.max_tokens = 7;
  const auto chat = parse_json(request_body(options, R"({"prompt": "hello", "temperature": 0})"), "body");
  ASSERT_TRUE(chat);
  EXPECT_EQ((*chat)["messages"][0]["content"], "hello");
  EXPECT_FALSE(chat->contains("prompt"));
  EXPECT_EQ((*chat)["temperature"], 0);
  EXPECT_EQ((*chat)["model"], "m");
  EXPECT_EQ((*chat)["max_tokens"], 7);
  EXPECT_EQ((*chat)["stream"], true);
  options.url = "http://h/v1/completions";
  EXPECT_EQ((*parse_json(request_body(options, R"({"prompt": "hello"})"), "body"))["prompt"], "hello");
}

TEST(HttpPrompts, HaveTheirOwnLimitOfTokens) {
  HttpSystemOptions options;
  options.url = "http://h/v1/completions";
  options.max_tokens = 64;
  const auto limit_of = [&](const char* prompt) {
    const auto body = parse_json(request_body(options, prompt), "body");
    return body && body->contains("max_tokens") ? (*body)["max_tokens"].get<int>() : 0;
  };
  EXPECT_EQ(limit_of(R"({"prompt": "a"})"), 64);
  EXPECT_EQ(limit_of(R"({"prompt": "a", "max_tokens": 5})"), 5);
  EXPECT_EQ(limit_of(R"({"prompt": "a", "max_completion_tokens": 5})"), 0);
  options.max_tokens_wins = true;
  EXPECT_EQ(limit_of(R"({"prompt": "a", "max_tokens": 5})"), 64);
}

TEST(HttpPrompts, AreReadLineByLine) {
  const std::string lines = "\"one\"\n\n{\"prompt\": \"two\"}\n{\"messages\": []}";
  const auto prompts = parse_prompts(lines, "p", true);
  ASSERT_TRUE(prompts);
  EXPECT_EQ(prompts->size(), 3u);
  const auto refused = parse_prompts(lines, "p", false);  // completions have no messages
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "p:4");
  EXPECT_THAT(refused.error().expected, HasSubstr("/v1/chat/completions"));
  for (const char* const text : {"", "3", "{}", "{\"prompt\": 3}", "one"})
    EXPECT_FALSE(parse_prompts(text, "p", true)) << text;
  EXPECT_EQ(made_up_prompts(3, 5, false, 1), made_up_prompts(3, 5, false, 1));
  EXPECT_NE(made_up_prompts(3, 5, false, 1)[0], made_up_prompts(3, 5, false, 1)[1]);
}

TEST(HttpPrompts, AddressesAreChecked) {
  EXPECT_TRUE(check_endpoint("http://localhost:8000"));
  EXPECT_TRUE(check_endpoint("https://host/v1/completions"));
  for (const char* const url : {"", "localhost:8000", "ftp://host/", "http://", "http://host:99999/"}) {
    EXPECT_FALSE(check_endpoint(url)) << url;
  }
}

}  // namespace
}  // namespace perfcast::ai
