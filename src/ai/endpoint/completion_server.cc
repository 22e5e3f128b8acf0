#include "ai/endpoint/completion_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace perfcast::ai {
namespace {

constexpr std::string_view kJson = "application/json", kEvents = "text/event-stream";

int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Error not_found(const std::string& path) {
  return usage_error("not-found", "there is nothing at '" + path.substr(0, 200) + "'", "",
                     "/v1/completions, /v1/chat/completions, /v1/models or /health");
}

}  // namespace

Result<std::unique_ptr<CompletionServer>> CompletionServer::start(Transformer transformer,
                                                                  const CompletionServerOptions& options) {
  const int64_t slots = transformer.options().slots;
  if (options.step_tokens < slots) {
    return usage_error("bad-usage", "a step of " + std::to_string(options.step_tokens) + " tokens", "step-tokens",
                       "at least " + std::to_string(slots) + ", a token of each sequence");
  }
  if (Status prepared = transformer.prepare(options.step_tokens); !prepared) return prepared.error();
  std::unique_ptr<CompletionServer> server(new CompletionServer(std::move(transformer), options));
  HttpServerOptions http;
  http.host = options.host;
  http.port = options.port;
  auto listening = HttpServer::listen(http, *server);
  if (!listening) return listening.error();
  server->server_ = std::move(*listening);
  server->server_->start();
  server->steps_ = std::jthread([self = server.get()](const std::stop_token& stop) { self->run_steps(stop); });
  return server;
}

CompletionServer::CompletionServer(Transformer transformer, const CompletionServerOptions& options)
    : transformer_(std::move(transformer)),
      model_{.name = transformer_.model().config.name,
             .vocabulary = transformer_.model().config.vocab,
             .context_tokens = transformer_.options().context},
      created_s_(seconds_since_1970()),
      queue_(transformer_, {.chunked_prefill = true, .step_tokens = options.step_tokens}) {}

// Steps end first: what they made is posted to the server.
CompletionServer::~CompletionServer() {
  if (!steps_.joinable()) return;
  steps_.request_stop();
  steps_.join();
}

bool CompletionServer::drain(double most_s) {
  server_->post([this] {
    server_->stop_listening();
    is_draining_ = true;
  });
  std::unique_lock lock(lock_);
  return changed_.wait_for(lock, std::chrono::duration<double>(most_s), [this] { return open_ == 0; });
}

void CompletionServer::refuse(uint64_t exchange, const Error& error) {
  server_->answer(exchange, status_of(error), kJson, error_body(error));
}

std::string CompletionServer::body_of_problem(const HttpProblem& problem) {
  return error_body(usage_error("bad-request", problem.words, "", ""));
}

void CompletionServer::on_request(uint64_t exchange, HttpRequest request) {
  const std::string& path = request.path;
  const bool is_chat = path == "/v1/chat/completions";
  const bool completes = is_chat || path == "/v1/completions";
  const bool is_list = path == "/v1/models", is_health = path == "/health";
  const bool is_model = path == "/v1/models/" + model_.name;
  if (!completes && !is_list && !is_model && !is_health) return refuse(exchange, not_found(path));
  if (request.method != (completes ? "POST" : "GET")) {
    return refuse(exchange,
                  usage_error("wrong-method", "this path is asked otherwise", "", completes ? "POST" : "GET"));
  }
  if (completes) return complete(exchange, request, is_chat);
  server_->answer(exchange, 200, kJson,
                  is_health ? "{\"status\":\"ok\"}" : models_body(model_.name, created_s_, is_list));
}

void CompletionServer::complete(uint64_t exchange, const HttpRequest& request, bool is_chat) {
  if (is_draining_) {
    return refuse(exchange, environment_error("unavailable", "the server is about to end", "", ""));
  }
  auto asked = parse_completion(request.body, is_chat, model_);
  if (!asked) return refuse(exchange, asked.error());
  answers_.emplace(exchange, CompletionAnswer(*asked, model_.name, exchange, seconds_since_1970()));
  if (asked->stream) server_->begin_stream(exchange, kEvents);
  {
    const std::lock_guard guard(lock_);
    ++open_;
    jobs_.push_back({exchange, {std::move(asked->prompt), asked->max_tokens, asked->sampling}});
  }
  changed_.notify_all();
}

void CompletionServer::on_gone(uint64_t exchange) {
  if (answers_.erase(exchange) == 0) return;
  {
    const std::lock_guard guard(lock_);
    --open_;
    cancelled_.push_back(exchange);
  }
  changed_.notify_all();
}

void CompletionServer::send(const std::vector<Made>& made) {
  size_t ended = 0;
  for (const Made& each : made) {
    const auto found = answers_.find(each.exchange);
    if (found == answers_.end()) continue;
    CompletionAnswer& answer = found->second;
    const std::string events = answer.add(each.token);
    if (answer.is_stream()) server_->write(each.exchange, each.is_last ? events + answer.finish() : events);
    if (!each.is_last) continue;
    if (answer.is_stream()) {
      server_->end(each.exchange);
    } else {
      server_->answer(each.exchange, 200, kJson, answer.finish());
    }
    answers_.erase(found);
    ++ended;
  }
  if (ended == 0) return;
  const std::lock_guard guard(lock_);
  open_ -= ended;
  changed_.notify_all();
}

// A stream that has begun can only break off.
void CompletionServer::fail(const std::vector<uint64_t>& exchanges, const Error& error) {
  size_t ended = 0;
  for (const uint64_t exchange : exchanges) {
    const auto answer = answers_.extract(exchange);
    if (answer.empty()) continue;
    ++ended;
    if (answer.mapped().is_stream()) {
      server_->write(exchange, "data: " + error_body(error) + "\n\n");
      server_->end(exchange);
    } else {
      refuse(exchange, error);
    }
  }
  const std::lock_guard guard(lock_);
  open_ -= ended;
  changed_.notify_all();
}

void CompletionServer::take_orders() {
  std::vector<Job> jobs;
  std::vector<uint64_t> cancelled;
  {
    const std::lock_guard guard(lock_);
    jobs.swap(jobs_);
    cancelled.swap(cancelled_);
  }
  for (Job& job : jobs) {
    // parse_completion() has held it to what the queue asks.
    const int64_t new_tokens = job.request.new_tokens;
    if (const auto number = queue_.add(std::move(job.request))) {
      running_.emplace(*number, Running{job.exchange, new_tokens});
    }
  }
  for (const uint64_t exchange : cancelled) {
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [exchange](const auto& each) { return each.second.exchange == exchange; });
    if (found == running_.end()) continue;
    queue_.cancel(found->first);
    running_.erase(found);
  }
}

void CompletionServer::run_steps(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (queue_.is_idle()) {
      std::unique_lock lock(lock_);
      changed_.wait(lock, stop, [this] { return !jobs_.empty(); });
    }
    take_orders();
    std::vector<Made> made;
    const Status done = queue_.step([&](size_t number, int64_t index, int32_t token) {
      const auto found = running_.find(number);
      const bool is_last = index + 1 == found->second.new_tokens;
      made.push_back({found->second.exchange, token, is_last});
      if (is_last) running_.erase(found);
      return true;
    });
    if (!done) {
      // Requests that come from now on are none of these.
      std::vector<uint64_t> failed;
      for (const auto& [number, running] : std::exchange(running_, {})) failed.push_back(running.exchange);
      queue_.clear();
      server_->post([this, failed = std::move(failed), error = done.error()] { fail(failed, error); });
      continue;
    }
    if (!made.empty()) server_->post([this, made = std::move(made)] { send(made); });
  }
}

}  // namespace perfcast::ai
