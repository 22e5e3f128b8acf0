#pragma once
// A small HTTP server: one thread waits on all connections, and calls a handler. Answers are whole, or streams of
// chunks, which may be written whenever there is something to say.
//
//   auto server = HttpServer::listen({.port = 0}, handler);
//   if (!server) return server.error();
//   (*server)->start();
//   (*server)->post([&] { (*server)->write(exchange, "more"); });   // from any thread

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/http/http_request.h"
#include "base/http/tls.h"
#include "base/result.h"

namespace perfcast {

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address of this machine, IPv4 or IPv6
  int port = 0;                    // 0: a free one
  size_t most_connections = 4096;  // further ones are closed
  HttpLimits limits;
  // A connection is closed that has sent a part of a request, or nothing, for so long.
  double idle_limit_s = 60;
  // A request must be whole so long after its first byte, or it is refused (408); 0: any time.
  double request_limit_s = 0;
  // Several servers of this process listen on one port, and the system spreads connections over them.
  bool shares_port = false;
  std::shared_ptr<const TlsContext> tls;  // null: plain
  std::string fields;                     // of every answer's head: lines that end in "\r\n"
  // A client that reads so little that more than this waits for it is gone.
  size_t most_unsent_bytes = size_t{16} << 20;
};

// Called by the server's thread. An exchange is a request with its answer; numbers are never used again.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual void on_request(uint64_t exchange, HttpRequest request) = 0;
  // The client left before its answer ended.
  virtual void on_gone(uint64_t exchange) = 0;
  // A body for what is no request; the connection is closed behind it.
  virtual std::string body_of_problem(const HttpProblem& problem) = 0;
  virtual std::string_view type_of_problem() const { return "text/plain"; }
};

class HttpServer {
 public:
  // "bad-usage" for a host that is no address, "cannot-listen" where the port is taken or not allowed. The handler must
  // outlive it; it is called only after start().
  static Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options, HttpHandler& handler);
  ~HttpServer();  // ends the thread and closes all connections
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void start();
  void stop();  // ends the thread: the handler is called no more, and tasks that are posted aren't run
  int port() const;
  // From any thread: runs the task on the server's.
  void post(std::function<void()> task);

  // The rest on the server's thread: in the handler, or in a task. Of an exchange that is gone, they do nothing.
  // `fields`: further lines of the head, each ending in "\r\n".
  void answer(uint64_t exchange, int status, std::string_view content_type, std::string_view body,
              std::string_view fields = {});
  void begin_stream(uint64_t exchange, std::string_view content_type,
                    std::string_view fields = "Cache-Control: no-store\r\n");
  void write(uint64_t exchange, std::string_view bytes);  // of a stream
  void end(uint64_t exchange);
  // No further connection is taken, and each is closed behind its next answer.
  void stop_listening();

 private:
  class Loop;
  explicit HttpServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace perfcast
