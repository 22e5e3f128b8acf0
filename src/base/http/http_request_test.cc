#include "base/http/http_request.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

int status_of(const std::string& bytes) {
  HttpRequestReader reader;
  reader.add(bytes);
  EXPECT_FALSE(reader.next());
  return reader.problem() ? reader.problem()->status : 0;
}

TEST(HttpRequest, IsReadWhateverThePiecesItComesIn) {
  const std::string bytes =
      "POST /v1/completions?x=1 HTTP/1.1\r\nHost: a\r\ncontent-LENGTH:  5 \r\n\r\nhello"
      "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n";
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    HttpRequestReader reader;
    std::vector<HttpRequest> requests;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.add(std::string_view(bytes).substr(at, piece));
      while (auto request = reader.next()) requests.push_back(*request);
    }
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].method + requests[0].path + requests[0].body, "POST/v1/completionshello");
    EXPECT_TRUE(requests[0].keeps_alive);
    EXPECT_EQ(requests[1].method + requests[1].path + requests[1].body, "GET/health");
    EXPECT_FALSE(requests[1].keeps_alive);
    EXPECT_TRUE(reader.is_between_requests());
    EXPECT_FALSE(reader.problem());
  }
}

TEST(HttpRequest, OldClientsCloseUnlessTheySayOtherwise) {
  HttpRequestReader reader;
  reader.add("\r\nGET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
  const auto first = reader.next(), second = reader.next();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->is_1_0);
  EXPECT_FALSE(first->keeps_alive);
  EXPECT_TRUE(second->keeps_alive);
}

TEST(HttpRequest, WhoWaitsForContinueIsToldOnce) {
  HttpRequestReader reader;
  reader.add("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.wants_continue());
  EXPECT_FALSE(reader.wants_continue());
  reader.add("ab");
  EXPECT_EQ(reader.next()->body, "ab");
}

TEST(HttpRequest, WhatIsNoneHasAStatus) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n"), 0);  // more may come
  EXPECT_EQ(status_of("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("G\x01T / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nno field\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nName : x\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 16777217\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(65536, 'x')), 431);
}

}  // namespace
}  // namespace perfcast
