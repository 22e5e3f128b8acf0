#include "ai/system/null_endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <queue>
#include <unordered_map>
#include <utility>

#include "ai/system/http_system.h"
#include "base/process/duration.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostPieces = 100'000;
constexpr double kLongestGap_s = 3600;
constexpr int kDeafForMs = 100;
constexpr size_t kLargestRequest = size_t{16} << 20;
constexpr int kBacklog = 1024, kSendLimitMs = 1000;
constexpr size_t kRequestChunk = 65536;

std::string chunk_of(const std::string& data) {
  std::array<char, 24> size;
  const auto end = std::to_chars(size.data(), size.data() + size.size(), data.size(), 16);
  return std::string(size.data(), end.ptr) + "\r\n" + data + "\r\n";
}

std::string event_of(const std::string& json) { return chunk_of("data: " + json + "\n\n"); }

// The length that a request's head states; -1: none.
int64_t body_length(std::string_view head) {
  const std::string lower = lower_case(head);
  static constexpr std::string_view kName = "\r\ncontent-length:";
  const size_t at = lower.find(kName);
  if (at == std::string::npos) return -1;
  const std::string_view digits = trim(std::string_view(lower).substr(at + kName.size(), 24));
  int64_t length = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return length;
}

// A client's connection. Requests on it come one after the other.
struct Connection {
  uint64_t number = 0;  // descriptors are used again
  std::string input;
  int64_t pieces_left = 0, next_ns = 0;
  bool chat = false;
};

class NullServer {
 public:
  NullServer(int listener, int wake, const NullEndpointOptions& options)
      : listener_(listener), wake_(wake), options_(options) {}
  ~NullServer() {
    for (const auto& [descriptor, connection] : connections_) ::close(descriptor);
    if (timer_ >= 0) ::close(timer_);
    if (epoll_ >= 0) ::close(epoll_);
  }
  NullServer(const NullServer&) = delete;
  NullServer& operator=(const NullServer&) = delete;

  void run(const std::stop_token& stop) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    for (const int descriptor : {listener_, wake_, timer_}) watch(descriptor);
    std::array<epoll_event, 256> events;
    while (!stop.stop_requested()) {
      const int count =
          epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), listens_at_ns_ != 0 ? kDeafForMs : -1);
      if (listens_at_ns_ != 0 && steady_ns() >= listens_at_ns_) {
        listens_at_ns_ = 0;
        watch(listener_);
      }
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<size_t>(i)].data.fd;
        if (descriptor == listener_) {
          accept_all();
        } else if (descriptor == timer_) {
          uint64_t expired = 0;
          (void)!::read(timer_, &expired, sizeof expired);
        } else if (descriptor != wake_) {
          read_from(descriptor);
        }
      }
      send_due();
      set_timer();
    }
  }

 private:
  struct Due {
    int64_t at_ns;
    int descriptor;
    uint64_t number;
    bool operator<(const Due& other) const { return at_ns > other.at_ns; }  // the earliest is on top
  };

  void watch(int descriptor) const {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void accept_all() {
    for (;;) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) {
        // It would be called again at once, with no descriptor to spare: listens on a moment later.
        if (errno == EMFILE || errno == ENFILE) {
          epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
          listens_at_ns_ = steady_ns() + int64_t{kDeafForMs} * 1'000'000;
        }
        return;
      }
      const int yes = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_[descriptor].number = ++accepted_;
      watch(descriptor);
    }
  }

  void drop(int descriptor) {
    connections_.erase(descriptor);
    ::close(descriptor);
  }

  void read_from(int descriptor) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    std::array<char, kRequestChunk> bytes;
    for (;;) {
      const ssize_t count = recv(descriptor, bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count <= 0 || connection.input.size() > kLargestRequest) return drop(descriptor);
      connection.input.append(bytes.data(), static_cast<size_t>(count));
    }
    take_request(descriptor, connection);
  }

  void take_request(int descriptor, Connection& connection) {
    if (connection.pieces_left > 0) return;
    const size_t end = connection.input.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::string_view head = std::string_view(connection.input).substr(0, end);
    const int64_t length = std::max<int64_t>(body_length(head), 0);
    const size_t whole = end + 4 + static_cast<size_t>(std::min<int64_t>(length, kLargestRequest));
    if (connection.input.size() < whole) return;
    const std::string line(head.substr(0, head.find("\r\n")));
    connection.input.erase(0, whole);
    connection.chat = is_chat(line);
    if (is_embedding(line)) {
      static const std::string kVector = R"({"data":[{"index":0,"embedding":[0.5,-0.5]}],"usage":{"prompt_tokens":1}})";
      send_all(descriptor, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                               std::to_string(kVector.size()) + "\r\n\r\n" + kVector);
      return;
    }
    connection.pieces_left = options_.pieces;
    connection.next_ns = steady_ns();
    due_.push({connection.next_ns, descriptor, connection.number});
  }

  // All pieces that are due by now.
  void send_due() {
    while (!due_.empty() && due_.top().at_ns <= steady_ns()) {
      const Due due = due_.top();
      due_.pop();
      const auto found = connections_.find(due.descriptor);
      if (found == connections_.end() || found->second.number != due.number) continue;
      Connection& connection = found->second;
      std::string text;
      if (connection.pieces_left == options_.pieces) {
        text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
      }
      const int64_t now_ns = steady_ns();
      while (connection.pieces_left > 0 && connection.next_ns <= now_ns) {
        text +=
            event_of(connection.chat ? R"({"choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]})"
                                     : R"({"choices":[{"index":0,"text":" word","finish_reason":null}]})");
        --connection.pieces_left;
        connection.next_ns += static_cast<int64_t>(options_.gap_s * 1e9);
      }
      const bool is_last = connection.pieces_left == 0;
      if (is_last) text += event_of("[DONE]") + "0\r\n\r\n";
      if (!send_all(due.descriptor, text)) continue;
      if (is_last) {
        take_request(due.descriptor, connection);  // one that came meanwhile
      } else {
        due_.push({connection.next_ns, due.descriptor, due.number});
      }
    }
  }

  // Waits for a client that doesn't read; one that doesn't for long is dropped.
  bool send_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
      if (count > 0) {
        text.remove_prefix(static_cast<size_t>(count));
        continue;
      }
      if (count < 0 && errno == EINTR) continue;
      pollfd ready = {descriptor, POLLOUT, 0};
      if (count < 0 && errno == EAGAIN && poll(&ready, 1, kSendLimitMs) > 0) continue;
      drop(descriptor);
      return false;
    }
    return true;
  }

  void set_timer() const {
    itimerspec when = {};
    if (!due_.empty()) {
      const int64_t at_ns = std::max<int64_t>(due_.top().at_ns, 1);
      when.it_value = {static_cast<time_t>(at_ns / 1'000'000'000), static_cast<long>(at_ns % 1'000'000'000)};
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  }

  int listener_, wake_, epoll_ = -1, timer_ = -1;
  NullEndpointOptions options_;
  std::unordered_map<int, Connection> connections_;
  std::priority_queue<Due> due_;
  uint64_t accepted_ = 0;
  int64_t listens_at_ns_ = 0;  // again; 0: it listens
};

// Both ends of a run.
class NullEndpointSystem final : public SystemUnderTest {
 public:
  NullEndpointSystem(std::unique_ptr<NullEndpoint> endpoint, const NullEndpointOptions& options,
                     HttpSystemOptions client)
      : endpoint_(std::move(endpoint)), client_(std::move(client)) {
    name_ = "null-endpoint, " + std::to_string(options.pieces) + (options.pieces == 1 ? " piece" : " pieces");
    if (options.gap_s > 0) name_ += " " + human_seconds(options.gap_s) + " apart";
  }
  std::string name() const override { return name_; }
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override { return client_.start(samples, sink); }
  void issue(std::span<const IssuedSample> query) override { client_.issue(query); }
  void finish() override { client_.finish(); }
  bool runs_on_cpus() const override { return true; }

 private:
  std::unique_ptr<NullEndpoint> endpoint_;
  HttpSystem client_;
  std::string name_;
};

}  // namespace

Result<NullEndpointOptions> parse_null_endpoint(std::string_view text, const std::string& where) {
  NullEndpointOptions options;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return options;
  const std::vector<std::string> parts = split(text.substr(colon + 1), ',');
  const std::string& pieces = parts.front();
  const auto read = std::from_chars(pieces.data(), pieces.data() + pieces.size(), options.pieces);
  const bool is_count = read.ec == std::errc{} && read.ptr == pieces.data() + pieces.size() && options.pieces >= 1 &&
                        options.pieces <= kMostPieces;
  if (!is_count || parts.size() > 2) {
    return usage_error(
        "bad-usage", "'" + printable(text) + "' is no form of the null endpoint", where,
        "null-endpoint:PIECES,GAP with 1 to " + std::to_string(kMostPieces) + " pieces, such as null-endpoint:20,10ms");
  }
  if (parts.size() == 1) return options;
  const auto gap_s = parse_duration_s(parts[1], where);
  if (!gap_s) return gap_s.error();
  if (*gap_s > kLongestGap_s) {
    return usage_error("bad-usage", "'" + printable(parts[1]) + "' is too long from one piece to the next", where,
                       "a gap of at most 3600s, such as null-endpoint:20,10ms");
  }
  options.gap_s = *gap_s;
  return options;
}

Result<std::unique_ptr<NullEndpoint>> NullEndpoint::start(const NullEndpointOptions& options) {
  std::unique_ptr<NullEndpoint> endpoint(new NullEndpoint);
  endpoint->listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  endpoint->wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool listens = endpoint->listener_ >= 0 && endpoint->wake_ >= 0 &&
                       bind(endpoint->listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       listen(endpoint->listener_, kBacklog) == 0 &&
                       getsockname(endpoint->listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (!listens) {
    return environment_error("endpoint-failed", std::string("no endpoint can listen here: ") + std::strerror(errno),
                             "127.0.0.1", "a machine with a loopback network");
  }
  endpoint->port_ = ntohs(address.sin_port);
  endpoint->thread_ = std::jthread([listener = endpoint->listener_, wake = endpoint->wake_, options](
                                       const std::stop_token& stop) { NullServer(listener, wake, options).run(stop); });
  return {std::move(endpoint)};
}

NullEndpoint::~NullEndpoint() {
  if (thread_.joinable()) {
    thread_.request_stop();
    const uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
    thread_.join();
  }
  if (listener_ >= 0) ::close(listener_);
  if (wake_ >= 0) ::close(wake_);
}

Result<std::unique_ptr<SystemUnderTest>> make_null_endpoint_system(const NullEndpointOptions& options,
                                                                   HttpSystemOptions client) {
  auto endpoint = NullEndpoint::start(options);
  if (!endpoint) return endpoint.error();
  client.url = (*endpoint)->address();
  return {std::make_unique<NullEndpointSystem>(std::move(*endpoint), options, std::move(client))};
}

}  // namespace perfcast::ai
