#include "ai/endpoint/completion_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ai/load/load_generator.h"
#include "ai/system/http_system.h"
#include "ai/transformer/testing/reference_transformer.h"
#include "base/http/testing/http_client.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

Transformer small_one(int64_t slots, int64_t context = 64) {
  TransformerOptions options;
  options.slots = slots;
  options.context = context;
  TransformerModel model = small_transformer(false);
  model.config.max_positions = context;
  auto transformer = Transformer::random(model, 3, options);
  EXPECT_TRUE(transformer);
  return *std::move(transformer);
}

std::unique_ptr<CompletionServer> started(int64_t slots = 3, int64_t context = 64) {
  auto server = CompletionServer::start(small_one(slots, context), {.step_tokens = 16});
  EXPECT_TRUE(server) << (server ? "" : to_text(server.error()));
  return *std::move(server);
}

std::string request_of(const std::string& method, const std::string& path, const std::string& body = "") {
  return method + " " + path + " HTTP/1.1\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// Status and body.
std::pair<std::string, std::string> asked(int port, const std::string& method, const std::string& path,
                                          const std::string& body = "") {
  HttpTestClient client(port);
  client.send(request_of(method, path, body));
  const std::string answer = client.receive();
  return {answer.substr(9, 3), answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4))};
}

TEST(CompletionServer, AnswersAreThoseOfTheTransformerAlone) {
  const auto server = started();
  Transformer transformer = small_one(1);
  for (const int64_t words : {3, 20}) {
    GenerationRequest request{.prompt = {}, .new_tokens = 5, .sampling = {}};
    std::string prompt, expected;
    for (int64_t i = 0; i < words; ++i) {
      request.prompt.push_back(static_cast<int32_t>(7 * i % 150));
      prompt += word_of(request.prompt.back()) + " ";
    }
    ASSERT_TRUE(generate(transformer, {&request, 1}, [&](size_t, int64_t index, int32_t token) {
      expected += (index > 0 ? " " : "") + word_of(token);
      return true;
    }));
    const Json body{{"prompt", prompt}, {"max_tokens", 5}};
    const auto [status, text] = asked(server->port(), "POST", "/v1/completions", body.dump());
    EXPECT_EQ(status, "200") << text;
    const auto json = parse_json(text, "answer");
    ASSERT_TRUE(json);
    EXPECT_EQ((*json)["choices"][0]["text"], expected);
    EXPECT_EQ((*json)["usage"]["prompt_tokens"], words);
  }
}

TEST(CompletionServer, ABenchmarkOfItCountsEveryToken) {
  const auto server = started();
  for (const char* const path : {"/v1/completions", "/v1/chat/completions"}) {
    HttpSystemOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(server->port()) + path;
    options.max_tokens = 7;
    options.prompts = made_up_prompts(8, 20, is_chat(options.url), 1);
    HttpSystem system(options);
    LoadSettings settings;
    settings.scenario = LoadScenario::kOffline;  // all at once: more than there are slots
    settings.tokens = true;
    settings.loaded_samples = settings.total_samples = 8;
    settings.min_duration_s = 0;
    settings.min_queries = 24;
    settings.answer_limit_s = 20;
    const auto result = run_load(settings, system);
    ASSERT_TRUE(result) << to_text(result.error());
    EXPECT_EQ(result->answered, 24);
    EXPECT_EQ(result->tokens, 24 * 7);
    EXPECT_EQ(result->streamed_tokens, 24 * 7);
    EXPECT_TRUE(result->faults.empty());
  }
}

TEST(CompletionServer, WhatItCannotDoIsAnErrorOfTheInterface) {
  const auto server = started();
  const int port = server->port();
  EXPECT_EQ(asked(port, "GET", "/health").second, "{\"status\":\"ok\"}");
  const std::string name = server->model().name;
  EXPECT_NE(asked(port, "GET", "/v1/models").second.find("\"id\":\"" + name + "\""), std::string::npos);
  EXPECT_EQ(asked(port, "GET", "/v1/nothing").first, "404");
  EXPECT_EQ(asked(port, "GET", "/v1/completions").first, "405");
  EXPECT_EQ(asked(port, "POST", "/v1/completions", R"({"prompt": "a", "model": "other"})").first, "404");
  const auto [status, body] = asked(port, "POST", "/v1/completions", R"({"prompt": "a", "max_tokens": 64})");
  EXPECT_EQ(status, "400");
  EXPECT_NE(body.find("\"code\":\"context_length_exceeded\""), std::string::npos) << body;
  EXPECT_EQ(asked(port, "POST", "/v1/chat/completions", "{").first, "400");
}

TEST(CompletionServer, WhoLeavesMakesRoomForOthers) {
  const auto server = started(1, 60000);
  const auto begin = std::chrono::steady_clock::now();
  const std::string body = R"({"prompt": "a", "max_tokens": 50000, "stream": true})";
  {
    HttpTestClient client(server->port());
    client.send(request_of("POST", "/v1/completions", body));
    EXPECT_NE(client.receive("data: ").find("text/event-stream"), std::string::npos);
  }
  EXPECT_EQ(asked(server->port(), "POST", "/v1/completions", R"({"prompt": "a"})").first, "200");
  // The first answer alone would take half a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST(CompletionServer, AnswersUnderWayAreFinishedBeforeItEnds) {
  auto server = started(3, 5000);
  HttpTestClient client(server->port()), late(server->port());
  late.send("GET /health HTTP/1.1\r\n\r\n");
  EXPECT_NE(late.receive("\"ok\"}").find(" 200 "), std::string::npos);
  client.send(request_of("POST", "/v1/completions", R"({"prompt": "a", "max_tokens": 4500, "stream": true})"));
  std::string answer = client.receive("data: ");
  std::thread reader([&] { answer += client.receive(); });
  EXPECT_FALSE(server->drain(0));
  late.send(request_of("POST", "/v1/completions", R"({"prompt": "a", "max_tokens": 2})"));
  EXPECT_EQ(late.receive().substr(9, 3), "503");
  EXPECT_TRUE(server->drain(20));
  server.reset();
  reader.join();
  EXPECT_NE(answer.find("[DONE]"), std::string::npos);
}

TEST(CompletionServer, StepsHaveATokenOfEachAnswer) {
  const auto server = CompletionServer::start(small_one(3), {.step_tokens = 2});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().where, "step-tokens");
}

}  // namespace
}  // namespace perfcast::ai
