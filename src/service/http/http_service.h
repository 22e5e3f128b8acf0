#pragma once
// The operations over HTTP: POST /v1/OPERATION, jobs with server-sent events, the OpenAPI document, health, metrics,
// and the page for browsers.
//
// Some threads have the connections and answer what takes a moment; others compute the rest. No path of a request
// reaches the file system.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/http_server.h"
#include "base/result.h"
#include "service/context.h"
#include "service/http/answer_cache.h"
#include "service/http/jobs.h"
#include "service/http/rate_limit.h"
#include "service/http/service_metrics.h"
#include "service/http/workers.h"

namespace perfcast::service {

struct HttpServiceOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                             // 0: a free one
  size_t threads = 1;                          // that have connections; as many others compute
  std::string token = {};                      // that requests must bear; empty: none
  std::shared_ptr<const TlsContext> tls = {};  // null: plain
  size_t most_body_bytes = size_t{32} << 20;
  double request_limit_s = 30;     // from a request's first byte to its last
  double most_requests_per_s = 0;  // of each client; 0: any number
  int log = -1;                    // a descriptor: a line of JSON for each request; -1: none
  bool logs_failures_only = false;
  std::string version = {};
};

class HttpService {
 public:
  // "bad-usage" for another address than this machine's own without a token or without TLS; errors of
  // Context::forecaster() and HttpServer::listen().
  static Result<std::unique_ptr<HttpService>> start(ContextFiles files, HttpServiceOptions options);
  ~HttpService();
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  int port() const;
  // Reads all files anew. What is being answered keeps what it has; where a file can't be read, all stays as it was.
  Status reload();
  // Takes no further connection, and waits until what is under way has been answered, at most so long. Whether it has.
  bool drain(double most_s);

 private:
  class Loop;
  HttpService(ContextFiles files, HttpServiceOptions options);
  std::shared_ptr<const Context> context() const;
  static Result<std::shared_ptr<const Context>> read_context(const ContextFiles& files);
  std::string metrics_text() const;
  Result<std::string> bundles_text() const;
  void write_log(const std::string& line) const;

  const ContextFiles files_;
  const HttpServiceOptions options_;
  const std::string openapi_;
  const bool is_loopback_;
  mutable std::mutex lock_;  // of the context
  std::shared_ptr<const Context> context_;
  std::mutex reload_lock_;
  ServiceMetrics metrics_;
  RateLimit rate_limit_;
  AnswerCache answers_;
  std::atomic<int64_t> in_flight_ = 0;
  std::atomic<bool> drains_ = false;
  std::atomic<uint64_t> next_request_ = 0;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<Jobs> jobs_;        // after the loops: jobs tell them
  std::unique_ptr<Workers> workers_;  // likewise
};

// Whether only this machine reaches the address: 127.0.0.0/8 or ::1.
bool is_loopback(const std::string& host);

}  // namespace perfcast::service
