#pragma once
// libcurl's transfers on one thread, by its socket interface: what costs time are the transfers that something came
// for. The older interface looks at every transfer each time, which with hundreds of open streams took milliseconds.

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <stop_token>

namespace perfcast::ai {

class CurlLoop {
 public:
  CurlLoop();
  ~CurlLoop();  // no transfer is in it any more
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  CURLM* multi() const { return multi_; }
  // Until `stop`: calls `turn` whenever something may have ended, after wake(), and at least every second.
  void run(const std::stop_token& stop, const std::function<void()>& turn);
  void wake() const;  // from any thread

 private:
  static int take_socket(CURL* easy, curl_socket_t socket, int what, void* loop, void* known);
  static int take_timer(CURLM* multi, long timeout_ms, void* loop);
  bool run_timer();  // whether libcurl was called
  int wait_ms() const;

  CURLM* multi_;
  int epoll_, wake_;
  int64_t timer_ns_ = -1;  // when libcurl wants to be called; -1: not before something comes
};

}  // namespace perfcast::ai
