#pragma once
// A transformer behind OpenAI's interface: /v1/completions, /v1/chat/completions, /v1/models, /health.
//
// One thread runs steps, in which answers of all ages go together (GenerationQueue); another one has all connections.
// A client that leaves cancels its request.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ai/endpoint/completion_answer.h"
#include "ai/endpoint/completion_request.h"
#include "ai/transformer/generation.h"
#include "ai/transformer/transformer.h"
#include "base/http/http_server.h"
#include "base/result.h"

namespace perfcast::ai {

struct CompletionServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: a free one
  int64_t step_tokens = kPassRows;
};

class CompletionServer final : private HttpHandler {
 public:
  // Errors of HttpServer::listen() and Transformer::prepare(), and "bad-usage" where steps have fewer tokens than there
  // are slots.
  static Result<std::unique_ptr<CompletionServer>> start(Transformer transformer,
                                                         const CompletionServerOptions& options);
  ~CompletionServer() override;
  CompletionServer(const CompletionServer&) = delete;
  CompletionServer& operator=(const CompletionServer&) = delete;

  int port() const { return server_->port(); }
  const ServedModel& model() const { return model_; }
  // Takes no further request, and waits until what is under way has been answered, at most so long. Whether it has.
  bool drain(double most_s);

 private:
  struct Job {
    uint64_t exchange;
    GenerationRequest request;
  };
  struct Running {
    uint64_t exchange;
    int64_t new_tokens;
  };
  struct Made {  // a token of an answer
    uint64_t exchange;
    int32_t token;
    bool is_last;
  };
  CompletionServer(Transformer transformer, const CompletionServerOptions& options);

  // On the thread of connections.
  void on_request(uint64_t exchange, HttpRequest request) override;
  void on_gone(uint64_t exchange) override;
  std::string body_of_problem(const HttpProblem& problem) override;
  std::string_view type_of_problem() const override { return "application/json"; }
  void complete(uint64_t exchange, const HttpRequest& request, bool is_chat);
  void refuse(uint64_t exchange, const Error& error);
  void send(const std::vector<Made>& made);
  void fail(const std::vector<uint64_t>& exchanges, const Error& error);

  // On the thread of steps.
  void run_steps(const std::stop_token& stop);
  void take_orders();

  Transformer transformer_;
  ServedModel model_;
  int64_t created_s_;
  GenerationQueue queue_;
  std::map<size_t, Running> running_;  // by the number that the queue has of a request

  std::map<uint64_t, CompletionAnswer> answers_;  // under way, by exchange
  bool is_draining_ = false;

  std::mutex lock_;  // of what follows
  std::condition_variable_any changed_;
  std::vector<Job> jobs_;
  std::vector<uint64_t> cancelled_;
  size_t open_ = 0;  // answers under way

  std::unique_ptr<HttpServer> server_;
  std::jthread steps_;  // the last: it uses all others
};

}  // namespace perfcast::ai
