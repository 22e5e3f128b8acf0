#include "base/http/http_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/http/testing/http_client.h"

namespace perfcast {
namespace {

// Answers with the body that it got; "/stream" in two pieces; "/never" not at all; "/later" when the test says so.
class Echo : public HttpHandler {
 public:
  explicit Echo(HttpServerOptions options = {}) {
    auto listening = HttpServer::listen(options, *this);
    EXPECT_TRUE(listening) << to_text(listening.error());
    server = std::move(*listening);
    server->start();
  }
  void on_request(uint64_t exchange, HttpRequest request) override {
    if (request.path == "/never") return;
    if (request.path == "/later") {
      const std::lock_guard guard(lock);
      later = exchange;
      return changed.notify_all();
    }
    if (request.path == "/stream") {
      server->begin_stream(exchange, "text/plain");
      server->write(exchange, "hello ");
      std::thread([this, exchange] {
        server->post([this, exchange] {
          server->write(exchange, "world");
          server->end(exchange);
        });
      }).join();
      return;
    }
    server->answer(exchange, 200, "text/plain", request.body);
  }
  void on_gone(uint64_t exchange) override {
    const std::lock_guard guard(lock);
    gone = exchange;
    changed.notify_all();
  }
  std::string body_of_problem(const HttpProblem& problem) override { return problem.words; }

  uint64_t wait_for_gone() {
    std::unique_lock guard(lock);
    changed.wait_for(guard, std::chrono::seconds(10), [this] { return gone != 0; });
    return gone;
  }

  void answer_later() {
    std::unique_lock guard(lock);
    ASSERT_TRUE(changed.wait_for(guard, std::chrono::seconds(10), [this] { return later != 0; }));
    server->post([this, exchange = later] { server->answer(exchange, 200, "text/plain", "late"); });
  }

  std::mutex lock;
  std::condition_variable changed;
  uint64_t gone = 0, later = 0;
  std::unique_ptr<HttpServer> server;  // the last: it uses all others
};

TEST(HttpServer, AnswersSeveralRequestsOfAConnectionInTurn) {
  Echo echo;
  HttpTestClient client(echo.server->port());
  client.send("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\noneGET /stream HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.receive("0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\none"
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\nCache-Control: no-store\r\n"
            "Transfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n");
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n"
            "hello world");
}

TEST(HttpServer, WhatIsNoRequestIsRefusedAndTheConnectionCloses) {
  Echo echo;
  HttpTestClient client(echo.server->port());
  client.send("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n" + std::string(100000, 'x'));
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            "Content-Length: 38\r\n\r\nthe body is longer than 16777216 bytes");
}

TEST(HttpServer, TellsWhenAClientLeaves) {
  Echo echo;
  HttpTestClient client(echo.server->port());
  client.send("GET /never HTTP/1.1\r\n\r\n");
  client.close();
  EXPECT_EQ(echo.wait_for_gone(), 1u);
}

TEST(HttpServer, TellsWhenAClientLeavesThatSentTooMuch) {
  Echo echo;
  HttpTestClient client(echo.server->port());
  client.send("GET /never HTTP/1.1\r\n\r\n" + std::string(160 << 10, 'x'));
  client.close();
  EXPECT_EQ(echo.wait_for_gone(), 1u);
}

// More of them than the connection may hold, each of which would move the others.
TEST(HttpServer, ManyRequestsInARowDelayNobodyElse) {
  Echo echo;
  HttpTestClient many(echo.server->port()), other(echo.server->port());
  const std::string small = "GET / HTTP/1.1\r\n\r\n", answer = "HTTP/1.1 200 OK\r\n";
  constexpr size_t kRequests = 120'000;
  std::string requests = "POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
  for (size_t i = 1; i < kRequests; ++i) requests += small;
  requests += "GET / HTTP/1.0\r\n\r\n";
  std::thread sender([&] { many.send(requests); });
  // Time for the server to take what it would.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  echo.answer_later();
  std::string answers;
  std::thread receiver([&] { answers = many.receive(); });
  other.send(small);
  EXPECT_NE(other.receive("Content-Length: 0\r\n\r\n").find(answer), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  sender.join();
  receiver.join();
  size_t count = 0;
  for (size_t at = 0; (at = answers.find(answer, at)) != std::string::npos; at += answer.size()) ++count;
  EXPECT_EQ(count, kRequests + 1);
}

TEST(HttpServer, ClosesConnectionsThatSendNothing) {
  HttpServerOptions options;
  options.idle_limit_s = 0.1;
  Echo echo(options);
  HttpTestClient client(echo.server->port());
  client.send("GET / HTT");
  EXPECT_EQ(client.receive(), "");
}

TEST(HttpServer, APortThatIsTakenIsAnError) {
  Echo echo;
  HttpServerOptions options;
  options.port = echo.server->port();
  const auto second = HttpServer::listen(options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "cannot-listen");
  options.host = "localhost";
  EXPECT_EQ(HttpServer::listen(options, echo).error().code, "bad-usage");
}

}  // namespace
}  // namespace perfcast
