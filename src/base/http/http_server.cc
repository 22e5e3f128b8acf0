#include "base/http/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/process/spawn.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr uint64_t kListener = 0, kWaker = 1, kFirstConnection = 2;  // of what epoll waits for
constexpr size_t kMostHeldBytes = size_t{64} << 10;                  // behind a request that is being answered
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSweepEvery(1000);
constexpr Clock::duration kLinger = std::chrono::seconds(2);  // for a client to close a connection that has ended

Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct Address {
  sockaddr_storage bytes = {};
  socklen_t size = 0;
};

Result<Address> address_of(const HttpServerOptions& options) {
  Address address;
  const auto port = htons(static_cast<uint16_t>(options.port));
  auto* const four = reinterpret_cast<sockaddr_in*>(&address.bytes);
  if (::inet_pton(AF_INET, options.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = port;
    address.size = sizeof(sockaddr_in);
    return address;
  }
  auto* const six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET6, options.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = port;
    address.size = sizeof(sockaddr_in6);
    return address;
  }
  return usage_error("bad-usage", "'" + printable(options.host) + "' is no address", "--host",
                     "an address of this machine in digits, such as 127.0.0.1, 0.0.0.0 or ::1");
}

std::string digits_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const number =
      address.bytes.ss_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_addr);
  return ::inet_ntop(address.bytes.ss_family, number, text.data(), text.size()) == nullptr ? "" : text.data();
}

Error cannot_listen(const HttpServerOptions& options, const std::string& what) {
  return environment_error("cannot-listen", "no connection can be taken: " + what + ": " + std::strerror(errno),
                           printable(options.host) + ":" + std::to_string(options.port),
                           "an address of this machine (--host), and a port that is free: --port 0 finds one");
}

}  // namespace

class HttpServer::Loop {
 public:
  Loop(const HttpServerOptions& options, HttpHandler& handler)
      : options_(options),
        handler_(handler),
        idle_limit_(duration_of(options.idle_limit_s)),
        request_limit_(duration_of(options.request_limit_s)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        waker_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~Loop() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    ends_ = true;
    wake();
    thread_.join();
  }

  Status listen() {
    const auto address = address_of(options_);
    if (!address) return address.error();
    listener_ = Descriptor(::socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    if (listener_.get() >= 0) ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (options_.shares_port) ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    if (listener_.get() < 0 || epoll_.get() < 0 || waker_.get() < 0) return cannot_listen(options_, "no socket");
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address->bytes), address->size) != 0 ||
        ::listen(listener_.get(), SOMAXCONN) != 0) {
      return cannot_listen(options_, "the address can't be taken");
    }
    Address taken;
    taken.size = sizeof taken.bytes;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&taken.bytes), &taken.size);
    const bool is_four = taken.bytes.ss_family == AF_INET;
    port_ = ntohs(is_four ? reinterpret_cast<const sockaddr_in*>(&taken.bytes)->sin_port
                          : reinterpret_cast<const sockaddr_in6*>(&taken.bytes)->sin6_port);
    watch(EPOLL_CTL_ADD, listener_.get(), EPOLLIN, kListener);
    watch(EPOLL_CTL_ADD, waker_.get(), EPOLLIN, kWaker);
    return {};
  }

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  int port() const { return port_; }

  void post(std::function<void()> task) {
    {
      const std::lock_guard guard(lock_);
      tasks_.push_back(std::move(task));
      if (tasks_.size() > 1) return;  // it was woken for the first of them
    }
    wake();
  }

  void answer(uint64_t exchange, int status, std::string_view content_type, std::string_view body,
              std::string_view fields) {
    Connection* const connection = of_exchange(exchange);
    if (connection == nullptr) return;
    if (stops_) connection->keeps_alive = false;
    std::string bytes = head_of(*connection, status, content_type);
    bytes.append(fields).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    bytes += body;
    send(*connection, bytes);
    end_exchange(*connection);
  }

  void begin_stream(uint64_t exchange, std::string_view content_type, std::string_view fields) {
    Connection* const connection = of_exchange(exchange);
    if (connection == nullptr) return;
    // What has no chunks ends with its connection.
    if (connection->is_1_0 || stops_) connection->keeps_alive = false;
    send(*connection, head_of(*connection, 200, content_type)
                          .append(fields)
                          .append(connection->is_1_0 ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n"));
  }

  void write(uint64_t exchange, std::string_view bytes) {
    Connection* const connection = of_exchange(exchange);
    if (connection == nullptr || bytes.empty()) return;
    if (connection->is_1_0) return send(*connection, bytes);
    std::array<char, 24> size;
    const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    std::string chunk(size.data(), static_cast<size_t>(digits));
    chunk.append(bytes).append("\r\n");
    send(*connection, chunk);
  }

  void end(uint64_t exchange) {
    Connection* const connection = of_exchange(exchange);
    if (connection == nullptr) return;
    if (!connection->is_1_0) send(*connection, "0\r\n\r\n");
    end_exchange(*connection);
  }

  void stop_listening() {
    listener_.reset();
    stops_ = true;
  }

 private:
  struct Connection {
    uint64_t name = 0;
    Descriptor socket;
    std::unique_ptr<TlsSession> tls;  // null: plain
    std::string peer;
    HttpRequestReader reader;
    uint64_t exchange = 0;  // 0: none is under way
    std::string unsent;
    bool keeps_alive = true, is_1_0 = false;
    uint32_t events = EPOLLIN;  // that are waited for
    bool is_lost = false;       // nothing can be said to it any more
    bool is_ending = false;     // closed when all is sent
    Clock::time_point active = Clock::now();
    Clock::time_point began = Clock::time_point::max();  // when the first byte of a request came; max: none has
  };

  void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(waker_.get(), &one, sizeof one);
  }

  void watch(int what, int descriptor, uint32_t events, uint64_t name) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = name;
    ::epoll_ctl(epoll_.get(), what, descriptor, &event);
  }

  void run() {
    std::array<epoll_event, 256> events;
    auto next_sweep = Clock::now() + kSweepEvery;
    while (!ends_) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     static_cast<int>(kSweepEvery.count()));
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.u64 == kListener) {
          take_connections();
        } else if (event.data.u64 == kWaker) {
          run_tasks();
        } else if (const auto found = connections_.find(event.data.u64); found != connections_.end()) {
          serve(found->second, event.events);
        }
        look_at_changed();
      }
      if (Clock::now() < next_sweep) continue;
      next_sweep = Clock::now() + kSweepEvery;
      drop_idle();
      look_at_changed();
    }
  }

  void drop_idle() {
    if (std::exchange(is_deaf_, false) && listener_.get() >= 0) {
      watch(EPOLL_CTL_ADD, listener_.get(), EPOLLIN, kListener);
    }
    for (auto& [name, connection] : connections_) {
      const bool is_slow = request_limit_ > Clock::duration::zero() && connection.exchange == 0 &&
                           !connection.is_ending && connection.began != Clock::time_point::max() &&
                           Clock::now() > connection.began + request_limit_;
      if (is_slow) {
        refuse(connection, {408, "the request took longer than " +
                                     std::to_string(static_cast<int>(options_.request_limit_s)) + " s to arrive"});
        continue;
      }
      const Clock::duration limit = connection.is_ending ? std::min(idle_limit_, kLinger) : idle_limit_;
      if (connection.exchange != 0 || Clock::now() < connection.active + limit) continue;
      connection.is_lost = true;
      changed_.push_back(name);
    }
  }

  void run_tasks() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(waker_.get(), &count, sizeof count);
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard guard(lock_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
  }

  void take_connections() {
    for (;;) {
      Address from;
      from.size = sizeof from.bytes;
      Descriptor socket(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from.bytes), &from.size,
                                  SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.get() < 0) {
        // It would be called again at once, with no descriptor to spare: listens on a moment later.
        is_deaf_ = errno == EMFILE || errno == ENFILE;
        if (is_deaf_) watch(EPOLL_CTL_DEL, listener_.get(), 0, kListener);
        return;
      }
      if (connections_.size() >= options_.most_connections) continue;
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      const uint64_t name = next_connection_++;
      Connection& connection = connections_[name];
      connection.name = name;
      connection.socket = std::move(socket);
      connection.peer = digits_of(from);
      if (options_.tls) connection.tls = std::make_unique<TlsSession>(options_.tls, connection.socket.get());
      connection.reader = HttpRequestReader(options_.limits);
      watch(EPOLL_CTL_ADD, connection.socket.get(), EPOLLIN, name);
    }
  }

  // A client that has closed its side of the connection is gone.
  void serve(Connection& connection, uint32_t events) {
    connection.active = Clock::now();
    changed_.push_back(connection.name);
    if ((events & EPOLLOUT) != 0) send(connection, {});
    const bool reads_anyway = connection.tls != nullptr && connection.tls->waits_to_write();
    if ((events & ~static_cast<uint32_t>(EPOLLOUT)) == 0 && !reads_anyway) return;
    if ((connection.events & EPOLLIN) == 0) {
      connection.is_lost = true;
      return;
    }
    // What TLS has taken off the socket, the socket doesn't tell of any more.
    do {
      receive(connection);
    } while (!connection.is_lost && connection.tls != nullptr && connection.tls->has_more());
  }

  void receive(Connection& connection) {
    std::array<char, 65536> bytes;
    const ssize_t count = connection.tls ? connection.tls->read(bytes.data(), bytes.size())
                                         : ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
    if (count > 0 && !connection.is_ending) {
      if (connection.began == Clock::time_point::max()) connection.began = connection.active;
      connection.reader.add({bytes.data(), static_cast<size_t>(count)});
    } else if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
      connection.is_lost = true;
    }
  }

  // Requests that can be begun, and connections that have ended. Handlers and answers only name what has changed, so
  // that nothing is done inside of itself.
  void look_at_changed() {
    while (!changed_.empty()) {
      const auto found = connections_.find(changed_.back());
      changed_.pop_back();
      if (found == connections_.end()) continue;
      Connection& connection = found->second;
      if (connection.is_lost) {
        const uint64_t exchange = connection.exchange;
        exchanges_.erase(exchange);
        connections_.erase(found);
        if (exchange != 0) handler_.on_gone(exchange);
        continue;
      }
      if (connection.is_ending) {
        // Closed at once, an answer to a client that still sends would be lost: it closes first.
        if (connection.unsent.empty()) {
          if (connection.tls) connection.tls->end();
          ::shutdown(connection.socket.get(), SHUT_WR);
        }
      } else if (connection.exchange == 0) {
        take_request(connection);
      }
      if (!connection.is_lost) watch_what_matters(connection);
    }
  }

  // One at a time: the next one when the answer has ended.
  void take_request(Connection& connection) {
    auto request = connection.reader.next();
    if (!request) {
      if (connection.reader.wants_continue()) send(connection, kContinue);
      if (const auto& problem = connection.reader.problem()) refuse(connection, *problem);
      return;
    }
    connection.exchange = next_exchange_++;
    connection.began = Clock::time_point::max();
    request->peer = connection.peer;
    connection.keeps_alive = request->keeps_alive;
    connection.is_1_0 = request->is_1_0;
    exchanges_[connection.exchange] = &connection;
    handler_.on_request(connection.exchange, *std::move(request));
  }

  void refuse(Connection& connection, const HttpProblem& problem) {
    connection.keeps_alive = false;
    const std::string body = handler_.body_of_problem(problem);
    send(connection, head_of(connection, problem.status, handler_.type_of_problem()) +
                         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    end_connection(connection);
  }

  std::string head_of(const Connection& connection, int status, std::string_view content_type) const {
    std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
    text.append(reason_of(status)).append("\r\nContent-Type: ").append(content_type);
    text.append("\r\nConnection: ").append(connection.keeps_alive ? "keep-alive\r\n" : "close\r\n");
    return text.append(options_.fields);
  }

  void send(Connection& connection, std::string_view bytes) {
    if (connection.is_lost) return;
    const bool waited = !connection.unsent.empty();
    if (waited) connection.unsent += bytes;
    const std::string_view all = waited ? std::string_view(connection.unsent) : bytes;
    size_t sent = 0;
    while (sent < all.size()) {
      const ssize_t count = connection.tls
                                ? connection.tls->write(all.data() + sent, all.size() - sent)
                                : ::send(connection.socket.get(), all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) connection.is_lost = true;
      if (count < 0) break;
      sent += static_cast<size_t>(count);
    }
    if (waited) {
      connection.unsent.erase(0, sent);
    } else {
      connection.unsent = all.substr(sent);
    }
    if (connection.unsent.size() > options_.most_unsent_bytes) connection.is_lost = true;
    watch_what_matters(connection);
    if (connection.is_lost || connection.is_ending) changed_.push_back(connection.name);
  }

  // A client that sends on while it is answered waits, once enough is held; only its end is of interest then.
  void watch_what_matters(Connection& connection) {
    const bool is_full = connection.exchange != 0 && connection.reader.held_bytes() >= kMostHeldBytes;
    const bool writes = !connection.unsent.empty() || (connection.tls && connection.tls->waits_to_write());
    const uint32_t events = (is_full ? EPOLLRDHUP : EPOLLIN) | (writes ? EPOLLOUT : 0U);
    if (events == std::exchange(connection.events, events)) return;
    watch(EPOLL_CTL_MOD, connection.socket.get(), events, connection.name);
  }

  Connection* of_exchange(uint64_t exchange) const {
    const auto found = exchanges_.find(exchange);
    return found == exchanges_.end() || found->second->is_lost ? nullptr : found->second;
  }

  void end_exchange(Connection& connection) {
    exchanges_.erase(std::exchange(connection.exchange, 0));
    connection.active = Clock::now();
    if (!connection.keeps_alive) return end_connection(connection);
    changed_.push_back(connection.name);
  }

  void end_connection(Connection& connection) {
    connection.is_ending = true;
    changed_.push_back(connection.name);
  }

  const HttpServerOptions options_;
  HttpHandler& handler_;
  const Clock::duration idle_limit_, request_limit_;
  Descriptor epoll_, waker_, listener_;
  int port_ = 0;
  bool is_deaf_ = false;  // the listener is not waited for
  bool stops_ = false;    // no connection is wanted for further requests
  uint64_t next_connection_ = kFirstConnection, next_exchange_ = 1;
  std::map<uint64_t, Connection> connections_;           // stay where they are
  std::unordered_map<uint64_t, Connection*> exchanges_;  // under way
  std::vector<uint64_t> changed_;                        // connections to look at
  std::mutex lock_;                                      // of what follows
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpServerOptions& options, HttpHandler& handler) {
  auto loop = std::make_unique<Loop>(options, handler);
  if (Status listens = loop->listen(); !listens) return listens.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() = default;

void HttpServer::start() { loop_->start(); }
void HttpServer::stop() { loop_->stop(); }
int HttpServer::port() const { return loop_->port(); }
void HttpServer::post(std::function<void()> task) { loop_->post(std::move(task)); }
void HttpServer::answer(uint64_t exchange, int status, std::string_view content_type, std::string_view body,
                        std::string_view fields) {
  loop_->answer(exchange, status, content_type, body, fields);
}
void HttpServer::begin_stream(uint64_t exchange, std::string_view content_type, std::string_view fields) {
  loop_->begin_stream(exchange, content_type, fields);
}
void HttpServer::write(uint64_t exchange, std::string_view bytes) { loop_->write(exchange, bytes); }
void HttpServer::end(uint64_t exchange) { loop_->end(exchange); }
void HttpServer::stop_listening() { loop_->stop_listening(); }

}  // namespace perfcast
