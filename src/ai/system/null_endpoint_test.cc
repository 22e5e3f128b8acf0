#include "ai/system/null_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "ai/load/load_generator.h"
#include "ai/load/load_summary.h"
#include "ai/system/http_system.h"

namespace perfcast::ai {
namespace {

using testing::IsEmpty;

LoadSettings server(double rate_per_s, int64_t queries) {
  LoadSettings settings;
  settings.scenario = LoadScenario::kServer;
  settings.target_qps = rate_per_s;
  settings.tokens = true;
  settings.loaded_samples = settings.total_samples = 8;
  settings.min_duration_s = 0;
  settings.min_queries = queries;
  settings.answer_limit_s = 5;
  return settings;
}

TEST(NullEndpoint, AnswersComeInPiecesAtTheirTimes) {
  HttpSystemOptions client;
  client.prompts = made_up_prompts(8, 16, false, 1);
  auto system = make_null_endpoint_system({5, 0.01}, client);
  ASSERT_TRUE(system);
  EXPECT_EQ((*system)->name(), "null-endpoint, 5 pieces 10 ms apart");
  const auto result = run_load(server(100, 30), **system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_EQ(result->answered, 30);
  EXPECT_EQ(result->tokens, 30 * 5);
  EXPECT_EQ(result->inter_token_count, 30 * 4);
  const LoadSummary summary = summarise(*result);
  EXPECT_GE(summary.latency.min, 40'000'000);
  EXPECT_NEAR(static_cast<double>(summary.tpot.p50), 10e6, 2e6);
}

TEST(NullEndpoint, AllInterfacesAndManyClients) {
  auto endpoint = NullEndpoint::start({3, 0});
  ASSERT_TRUE(endpoint);
  for (const char* const path : {"/v1/completions", "/v1/chat/completions", "/v1/embeddings"}) {
    HttpSystemOptions options;
    options.url = (*endpoint)->address() + path;
    options.prompts = made_up_prompts(8, 20'000, is_chat(options.url), 1);  // more than is read at once
    HttpSystem system(options);
    LoadSettings settings = server(1, 40);
    settings.scenario = LoadScenario::kConcurrency;
    settings.concurrency = 16;
    settings.tokens = !is_embedding(options.url);
    const auto result = run_load(settings, system);
    ASSERT_TRUE(result);
    EXPECT_THAT(result->faults, IsEmpty()) << path;
    EXPECT_GE(result->answered, 40) << path;
    EXPECT_EQ(result->tokens, settings.tokens ? 3 * result->answered : 0) << path;
    EXPECT_EQ(result->prompt_tokens, settings.tokens ? 0 : result->answered) << path;
  }
}

TEST(NullEndpoint, WaitsWithoutFilesAndGoesOn) {
  auto endpoint = NullEndpoint::start({1, 0});
  ASSERT_TRUE(endpoint);
  const std::string url = (*endpoint)->address();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
  const auto connected = [&] {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? client : -1;
  };
  const auto is_answered = [](int client) {
    const std::string request = "POST /v1/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    pollfd ready = {client, POLLIN, 0};
    return send(client, request.data(), request.size(), MSG_NOSIGNAL) > 0 && poll(&ready, 1, 5000) == 1;
  };
  const int first = connected();
  ASSERT_TRUE(is_answered(first));  // the endpoint has all files of its own
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int probe = dup(first);
  ::close(probe);
  const rlimit one_more = {static_cast<rlim_t>(probe) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  const auto cpu_s = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double began_s = cpu_s();
  const int client = connected();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double used_s = cpu_s() - began_s;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LT(used_s, 0.1);
  EXPECT_TRUE(is_answered(client));
  ::close(client);
  ::close(first);
}

TEST(NullEndpoint, FormsAreRead) {
  EXPECT_EQ(parse_null_endpoint("null-endpoint", "")->pieces, 16);
  const auto read = parse_null_endpoint("null-endpoint:20,10ms", "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pieces, 20);
  EXPECT_DOUBLE_EQ(read->gap_s, 0.01);
  EXPECT_EQ(parse_null_endpoint("null-endpoint:3,3600s", "")->gap_s, 3600);
  EXPECT_DOUBLE_EQ(read->answer_s(), 0.19);
  for (const char* const text :
       {"null-endpoint:", "null-endpoint:0", "null-endpoint:x", "null-endpoint:3,", "null-endpoint:3,1s,2",
        "null-endpoint:3,ten", "null-endpoint:3,1e12s", "null-endpoint:3,3601s"}) {
    const auto refused = parse_null_endpoint(text, "--system");
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "bad-usage");
  }
}

}  // namespace
}  // namespace perfcast::ai
