#include "ai/system/curl_loop.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace perfcast::ai {
namespace {

// It ends by the clock, in which nothing comes from a socket.
TEST(CurlLoop, ATransferThatEndsInTheTimerIsNoticedAtOnce) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);  // and nobody answers
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  CurlLoop loop;
  CURL* const easy = curl_easy_init();
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 100L);
  curl_multi_add_handle(loop.multi(), easy);
  const auto begin = std::chrono::steady_clock::now();
  std::stop_source stop;
  CURLcode outcome = CURLE_OK;
  std::chrono::steady_clock::duration passed{};
  loop.run(stop.get_token(), [&] {
    int left = 0;
    if (const CURLMsg* const message = curl_multi_info_read(loop.multi(), &left)) {
      outcome = message->data.result;
      passed = std::chrono::steady_clock::now() - begin;
      stop.request_stop();
    }
  });
  EXPECT_EQ(outcome, CURLE_OPERATION_TIMEDOUT);
  EXPECT_GE(passed, std::chrono::milliseconds(90));
  EXPECT_LT(passed, std::chrono::milliseconds(700));
  curl_multi_remove_handle(loop.multi(), easy);
  curl_easy_cleanup(easy);
  ::close(listener);
}

}  // namespace
}  // namespace perfcast::ai
