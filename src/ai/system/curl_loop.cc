#include "ai/system/curl_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "ai/load/system_under_test.h"

namespace perfcast::ai {
namespace {

constexpr int kLongestWaitMs = 1000;
constexpr int64_t kNsOfMs = 1'000'000;

CURLM* new_multi() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return curl_multi_init();
}

}  // namespace

CurlLoop::CurlLoop()
    : multi_(new_multi()), epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &take_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &take_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

CurlLoop::~CurlLoop() {
  curl_multi_cleanup(multi_);  // takes its sockets out
  ::close(wake_);
  ::close(epoll_);
}

int CurlLoop::take_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* loop, void* known) {
  auto* const self = static_cast<CurlLoop*>(loop);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(self->epoll_, EPOLL_CTL_DEL, socket, nullptr);
    curl_multi_assign(self->multi_, socket, nullptr);
    return 0;
  }
  epoll_event event = {};
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  event.data.fd = socket;
  epoll_ctl(self->epoll_, known != nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  if (known == nullptr) curl_multi_assign(self->multi_, socket, self);
  return 0;
}

int CurlLoop::take_timer(CURLM* /*multi*/, long timeout_ms, void* loop) {
  static_cast<CurlLoop*>(loop)->timer_ns_ = timeout_ms < 0 ? -1 : steady_ns() + timeout_ms * kNsOfMs;
  return 0;
}

bool CurlLoop::run_timer() {
  if (timer_ns_ < 0 || steady_ns() < timer_ns_) return false;
  timer_ns_ = -1;
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  return true;
}

int CurlLoop::wait_ms() const {
  if (timer_ns_ < 0) return kLongestWaitMs;
  const int64_t left_ns = timer_ns_ - steady_ns();
  return left_ns <= 0 ? 0 : static_cast<int>(std::min<int64_t>((left_ns + kNsOfMs - 1) / kNsOfMs, kLongestWaitMs));
}

void CurlLoop::run(const std::stop_token& stop, const std::function<void()>& turn) {
  std::array<epoll_event, 256> events;
  while (!stop.stop_requested()) {
    turn();
    // A transfer may have ended in it: the next turn is to see that at once.
    const int most_ms = run_timer() ? 0 : wait_ms();
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), most_ms);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.fd == wake_) {
        uint64_t times = 0;
        (void)!::read(wake_, &times, sizeof times);
        continue;
      }
      int what = 0;
      if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
      if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
      if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
      int running = 0;
      curl_multi_socket_action(multi_, event.data.fd, what, &running);
    }
  }
}

void CurlLoop::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

}  // namespace perfcast::ai
