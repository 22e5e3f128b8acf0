#include "service/http/http_service.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "program/model/bundle/bundle.h"
#include "service/http/openapi.h"
#include "service/http/page_files.h"
#include "service/http/problem.h"

namespace perfcast::service {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kJson = "application/json";
constexpr const char* kHealthSchema = "perfcast.health/1";
constexpr const char* kBundlesSchema = "perfcast.bundles/1";
// A request of more bytes is computed behind the connections, whatever it asks for.
constexpr size_t kMostQuickBytes = size_t{256} << 10;
constexpr size_t kMostWaiting = 1024;
constexpr size_t kMostKeptBytes = size_t{64} << 20;     // of answers that may be asked for again
constexpr size_t kMostUnsentBytes = size_t{128} << 20;  // twice the longest answer
constexpr std::string_view kSafeFields =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";
constexpr std::string_view kNoStore = "Cache-Control: no-store\r\n";

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

// As long as the wrong one of the same length takes, however many letters are right.
bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (size_t i = 0; i < secret.size(); ++i) {
    const char c = given.empty() ? '\0' : given[i % given.size()];
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[i]);
  }
  return difference == 0;
}

bool is_json(std::string_view content_type) {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  return lower_case(type) == kJson;
}

// A name that resolves to this machine may be anybody's; these are ours.
bool names_this_machine(std::string_view host) {
  if (host.empty()) return true;  // HTTP/1.0
  std::string name(host);
  if (name.starts_with('[')) {
    name = name.substr(1, name.find(']') - 1);
  } else {
    name.resize(std::min(name.find(':'), name.size()));
  }
  return lower_case(name) == "localhost" || is_loopback(name);
}

std::string request_id_of(const std::string& given, uint64_t number) {
  const bool is_plain = !given.empty() && given.size() <= 64 && std::all_of(given.begin(), given.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
  static const std::string process = random_id().substr(0, 12);
  return is_plain ? given : fmt::format("{}-{:x}", process, number);
}

std::string utc_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since).count() % 1'000'000;
  std::tm time = {};
  ::gmtime_r(&seconds, &time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday,
                     time.tm_hour, time.tm_min, time.tm_sec, micros);
}

}  // namespace

bool is_loopback(const std::string& host) {
  in_addr four = {};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six = {};
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

// The connections of one thread.
class HttpService::Loop final : public HttpHandler {
 public:
  explicit Loop(HttpService& service) : service_(service) {}

  Status listen(const HttpServerOptions& options) {
    auto server = HttpServer::listen(options, *this);
    if (!server) return server.error();
    server_ = std::move(*server);
    return {};
  }
  HttpServer& server() { return *server_; }

  void on_request(uint64_t exchange, HttpRequest request) override {
    ++service_.in_flight_;
    Exchange& at = exchanges_[exchange];
    at.id = request_id_of(request.request_id, ++service_.next_request_);
    at.method = request.method;
    at.path = request.path;
    at.peer = request.peer;
    at.is_cancelled = std::make_shared<std::atomic<bool>>(false);
    if (Status may = admit(request); !may) return refuse(exchange, may.error());
    route(exchange, std::move(request));
  }

  void on_gone(uint64_t exchange) override {
    const auto found = exchanges_.find(exchange);
    if (found == exchanges_.end()) return;
    *found->second.is_cancelled = true;
    if (!found->second.job.empty()) service_.jobs_->leave(found->second.job, found->second.listener);
    finish(exchange, 499, 0);
  }

  std::string body_of_problem(const HttpProblem& problem) override {
    service_.metrics_.count_request("other", problem.status, 0);
    return problem_document({"bad-http", problem.words, "", "a request of HTTP/1.1"}, problem.status, "");
  }
  std::string_view type_of_problem() const override { return kProblemType; }

 private:
  struct Exchange {
    std::string id, method, path, peer, operation = "other";
    Clock::time_point began = Clock::now();
    std::shared_ptr<std::atomic<bool>> is_cancelled;
    std::string job;  // whose events it has; empty: none
    uint64_t listener = 0;
  };

  Status admit(const HttpRequest& request) const {
    const HttpServiceOptions& options = service_.options_;
    if (service_.is_loopback_ && options.token.empty() && !names_this_machine(request.host)) {
      return usage_error("wrong-host", "the request is for the host '" + printable(request.host.substr(0, 80)) + "'",
                         "Host", "localhost, or an address of this machine's own");
    }
    if (!service_.rate_limit_.takes(request.peer, Clock::now())) {
      return usage_error("too-many-requests", "this client sends too many requests", "",
                         fmt::format("at most {:g} requests a second", options.most_requests_per_s));
    }
    // The page has no secrets, and asks for the token itself.
    const bool is_open = options.token.empty() || request.path == "/healthz" || request.path == "/readyz" ||
                         find_page_file(request.path) != nullptr;
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view given = request.authorization;
    const bool bears = lower_case(given.substr(0, kBearer.size())) == "bearer ";
    if (!is_open && !same_secret(bears ? trim(given.substr(kBearer.size())) : std::string_view(), options.token)) {
      return usage_error("no-token", "the request does not bear the token", "Authorization",
                         "Authorization: Bearer TOKEN");
    }
    return {};
  }

  void route(uint64_t exchange, HttpRequest request) {
    Exchange& at = exchanges_.at(exchange);
    const std::string_view path = request.path;
    constexpr std::string_view kVersion = "/v1/", kJobs = "/v1/jobs/";
    if (path.starts_with(kJobs)) return route_job(exchange, request, std::string(path.substr(kJobs.size())));
    const Operation* const operation =
        path.starts_with(kVersion) ? find_operation(path.substr(kVersion.size())) : nullptr;
    if (operation != nullptr) {
      at.operation = operation->name;
      if (request.method != "POST") return refuse_method(exchange, "POST");
      if (!is_json(request.content_type)) {
        return refuse(exchange, usage_error("wrong-media-type", "the body is not said to be JSON", "Content-Type",
                                            std::string(kJson)));
      }
      return answer_operation(exchange, *operation, std::move(request));
    }
    if (path == "/v1/bundles/reload") {
      at.operation = "reload";
      return request.method == "POST" ? reload(exchange) : refuse_method(exchange, "POST");
    }
    if (const PageFile* const file = find_page_file(path); file != nullptr) {
      at.operation = "page";
      if (request.method != "GET") return refuse_method(exchange, "GET");
      return answer(exchange, 200, file->bytes, file->type);
    }
    static constexpr std::string_view kGets[] = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/bundles"};
    if (std::find(std::begin(kGets), std::end(kGets), path) == std::end(kGets)) {
      return refuse(exchange, usage_error("unknown-path", "there is nothing at '" + printable(path.substr(0, 80)) + "'",
                                          "path", "a path of /openapi.json"));
    }
    at.operation = path.substr(path.rfind('/') + 1);
    if (request.method != "GET") return refuse_method(exchange, "GET");
    answer_get(exchange, path);
  }

  void answer_get(uint64_t exchange, std::string_view path) {
    if (path == "/metrics") return answer(exchange, 200, service_.metrics_text(), "text/plain; version=0.0.4");
    if (path == "/openapi.json") return answer(exchange, 200, service_.openapi_);
    if (path == "/v1/bundles") return answer_result(exchange, service_.bundles_text());
    const bool is_ready = path == "/healthz" || !service_.drains_;
    const Json json = {{"schema", kHealthSchema}, {"status", is_ready ? "ok" : "ending"}};
    answer(exchange, is_ready ? 200 : 503, compact_text(json));
  }

  void answer_operation(uint64_t exchange, const Operation& operation, HttpRequest request) {
    auto context = service_.context();
    if (operation.is_long && lower_case(request.prefer).find("respond-async") != std::string::npos) {
      return begin_job(exchange, operation, std::move(context), std::move(request.body));
    }
    if (const auto known = service_.answers_.find(operation, *context, request.body); known != nullptr) {
      count_forecasts(*known);
      return answer(exchange, 200, known->json);
    }
    if (operation.is_quick && request.body.size() <= kMostQuickBytes) {
      return answer_result(exchange, compute(operation, context, request.body, {}));
    }
    Watch watch;
    watch.is_cancelled = [flag = exchanges_.at(exchange).is_cancelled] { return flag->load(); };
    behind(exchange, [this, exchange, &operation, context = std::move(context), body = std::move(request.body),
                      watch = std::move(watch)] {
      auto result = watch.cancelled() ? Result<std::string>(interrupted_error("the client left"))
                                      : compute(operation, context, body, watch);
      server_->post([this, exchange, result = std::move(result)] { answer_result(exchange, result); });
    });
  }

  // From any thread.
  Result<std::string> compute(const Operation& operation, const std::shared_ptr<const Context>& context,
                              std::string_view body, const Watch& watch) {
    auto result = answer_json(operation, *context, body, watch);
    if (!result) return result.error();
    count_forecasts(*result);
    if (!result->reads_files) service_.answers_.keep(operation, context, body, *result);
    return std::move(result->json);
  }

  void count_forecasts(const Answer& answer) {
    if (answer.forecasts > 0) service_.metrics_.count_forecasts(answer.forecasts, answer.out_of_distribution);
  }

  void behind(uint64_t exchange, std::function<void()> task) {
    if (service_.workers_->post(std::move(task))) return;
    refuse(exchange, usage_error("too-many-requests", std::to_string(kMostWaiting) + " requests wait already", "",
                                 "another try later"));
  }

  void reload(uint64_t exchange) {
    behind(exchange, [this, exchange] {
      const Status done = service_.reload();
      auto result = done ? service_.bundles_text() : Result<std::string>(done.error());
      server_->post([this, exchange, result = std::move(result)] { answer_result(exchange, result); });
    });
  }

  void begin_job(uint64_t exchange, const Operation& operation, std::shared_ptr<const Context> context,
                 std::string body) {
    const auto id = service_.jobs_->begin(
        operation.name, [this, &operation, context = std::move(context), body = std::move(body)](const Watch& watch) {
          auto result = answer_json(operation, *context, body, watch);
          if (result) count_forecasts(*result);
          return result;
        });
    if (!id) return refuse(exchange, id.error());
    const auto text = service_.jobs_->describe(*id);
    answer(exchange, 202, text ? std::string_view(*text) : "{}", kJson,
           fmt::format("Location: /v1/jobs/{}\r\nPreference-Applied: respond-async\r\n", *id));
  }

  void route_job(uint64_t exchange, const HttpRequest& request, std::string id) {
    Exchange& at = exchanges_.at(exchange);
    at.operation = "jobs";
    constexpr std::string_view kEvents = "/events";
    const bool wants_events = id.ends_with(kEvents);
    if (wants_events) id.resize(id.size() - kEvents.size());
    if (request.method == "DELETE" && !wants_events) return answer_result(exchange, service_.jobs_->cancel(id));
    if (request.method != "GET") return refuse_method(exchange, wants_events ? "GET" : "GET, DELETE");
    if (!wants_events) return answer_result(exchange, service_.jobs_->describe(id));
    if (const auto there = service_.jobs_->describe(id); !there) return refuse(exchange, there.error());
    server_->begin_stream(exchange, "text/event-stream", std::string(kNoStore) + id_field(at));
    const auto listener = service_.jobs_->listen(id, [this, exchange](const std::string& event,
                                                                      const std::string& text) {
      server_->post([this, exchange, bytes = "event: " + event + "\ndata: " + text + "\n\n", is_last = event == "end"] {
        if (!exchanges_.contains(exchange)) return;
        server_->write(exchange, bytes);
        if (!is_last) return;
        server_->end(exchange);
        finish(exchange, 200, bytes.size());
      });
    });
    if (!listener) {
      server_->end(exchange);
      return finish(exchange, 200, 0);
    }
    at.job = std::move(id);
    at.listener = *listener;
  }

  void answer_result(uint64_t exchange, const Result<std::string>& result) {
    if (!result) return refuse(exchange, result.error());
    answer(exchange, 200, *result);
  }

  void refuse_method(uint64_t exchange, const std::string& allowed) {
    const Error error =
        usage_error("wrong-method", exchanges_.at(exchange).method + " is not taken here", "method", allowed);
    refuse(exchange, error, "Allow: " + allowed + "\r\n");
  }

  void refuse(uint64_t exchange, const Error& error, std::string fields = "") {
    const auto found = exchanges_.find(exchange);
    if (found == exchanges_.end()) return;
    const int status = status_of(error);
    if (status == 401) fields += "WWW-Authenticate: Bearer\r\n";
    if (status == 429) fields += "Retry-After: 1\r\n";
    answer(exchange, status, problem_document(error, status, found->second.id), kProblemType, fields);
  }

  void answer(uint64_t exchange, int status, std::string_view body, std::string_view type = kJson,
              const std::string& fields = "") {
    const auto found = exchanges_.find(exchange);
    if (found == exchanges_.end()) return;
    std::string all = id_field(found->second);
    all.append(kNoStore).append(fields);
    finish(exchange, status, body.size());
    server_->answer(exchange, status, type, body, all);
  }

  static std::string id_field(const Exchange& at) { return "X-Request-Id: " + at.id + "\r\n"; }

  void finish(uint64_t exchange, int status, size_t bytes) {
    const auto found = exchanges_.find(exchange);
    const Exchange& at = found->second;
    const double took_s = seconds_since(at.began);
    service_.metrics_.count_request(at.operation, status, took_s);
    const bool is_logged = service_.options_.log >= 0 && (status >= 400 || !service_.options_.logs_failures_only);
    if (is_logged) {
      service_.write_log(compact_text({{"time", utc_now()},
                                       {"request_id", at.id},
                                       {"client", at.peer},
                                       {"method", printable(at.method.substr(0, 20))},
                                       {"path", printable(at.path.substr(0, 200))},
                                       {"operation", at.operation},
                                       {"status", status},
                                       {"answer_bytes", bytes},
                                       {"duration_s", took_s}}));
    }
    exchanges_.erase(found);
    --service_.in_flight_;
  }

  HttpService& service_;
  std::unordered_map<uint64_t, Exchange> exchanges_;
  std::unique_ptr<HttpServer> server_;  // the last: its thread uses all others
};

HttpService::HttpService(ContextFiles files, HttpServiceOptions options)
    : files_(std::move(files)),
      options_(std::move(options)),
      openapi_(compact_text(openapi_document(options_.version))),
      is_loopback_(is_loopback(options_.host)),
      rate_limit_(options_.most_requests_per_s),
      answers_(kMostKeptBytes),
      jobs_(std::make_unique<Jobs>()),
      workers_(std::make_unique<Workers>(options_.threads, kMostWaiting)) {}

Result<std::unique_ptr<HttpService>> HttpService::start(ContextFiles files, HttpServiceOptions options) {
  if (!is_loopback(options.host) && (options.token.empty() || options.tls == nullptr)) {
    return usage_error("bad-usage", "other machines reach " + printable(options.host), "listen",
                       "127.0.0.1 or [::1]; or --token-file, --tls-cert and --tls-key with it");
  }
  std::unique_ptr<HttpService> service(new HttpService(std::move(files), std::move(options)));
  auto context = read_context(service->files_);
  if (!context) return context.error();
  service->context_ = *std::move(context);
  const HttpServiceOptions& how = service->options_;
  HttpServerOptions listening;
  listening.host = how.host;
  listening.port = how.port;
  listening.limits = {.head_bytes = size_t{16} << 10, .body_bytes = how.most_body_bytes};
  listening.request_limit_s = how.request_limit_s;
  listening.shares_port = how.threads > 1;
  listening.tls = how.tls;
  listening.fields = kSafeFields;
  listening.most_unsent_bytes = kMostUnsentBytes;
  for (size_t i = 0; i < how.threads; ++i) {
    auto loop = std::make_unique<Loop>(*service);
    if (Status listens = loop->listen(listening); !listens) return listens.error();
    listening.port = loop->server().port();
    service->loops_.push_back(std::move(loop));
  }
  for (const auto& loop : service->loops_) loop->server().start();
  return service;
}

HttpService::~HttpService() {
  // Requests begin tasks and jobs, which post to the loops.
  for (const auto& loop : loops_) loop->server().stop();
  jobs_.reset();
  workers_.reset();
  loops_.clear();
}

int HttpService::port() const { return loops_.front()->server().port(); }

std::shared_ptr<const Context> HttpService::context() const {
  const std::lock_guard guard(lock_);
  return context_;
}

// Whatever requests need is read before the first of them comes; what can't be is said now.
Result<std::shared_ptr<const Context>> HttpService::read_context(const ContextFiles& files) {
  auto context = std::make_shared<const Context>(files);
  if (const auto forecaster = context->forecaster(); !forecaster) return forecaster.error();
  if (const auto devices = context->devices(); !devices) return devices.error();
  if (const auto engines = context->engines(); !engines) return engines.error();
  if (const auto facts = context->device_facts(); !facts) return facts.error();
  if (const auto models = context->audit_models(); !models) return models.error();
  for (const auto& [name, path] : files.price_lists) {
    if (const auto list = program::PriceList::read(path); !list) return list.error();
  }
  context->core_designs();
  return context;
}

Status HttpService::reload() {
  const std::lock_guard one(reload_lock_);
  auto read = read_context(files_);
  metrics_.count_reload(read.ok());
  if (!read) return read.error();
  const std::lock_guard guard(lock_);
  context_ = *std::move(read);
  return {};
}

bool HttpService::drain(double most_s) {
  if (!drains_.exchange(true)) {
    for (const auto& loop : loops_) {
      loop->server().post([server = &loop->server()] { server->stop_listening(); });
    }
  }
  const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(most_s));
  constexpr std::chrono::milliseconds kStep(5);
  do {
    std::this_thread::sleep_for(kStep);
    if (in_flight_ == 0 && jobs_->running() == 0 && jobs_->waiting() == 0) return true;
  } while (Clock::now() < limit);
  return false;
}

std::string HttpService::metrics_text() const {
  ServiceMetrics::Now now;
  if (const auto forecaster = context()->forecaster(); forecaster) {
    const program::ModelCard& card = (*forecaster)->bundle().card;
    now.bundle = card.name;
    now.bundle_created_unix_s = unix_s_of_utc(card.created_utc);
  }
  now.in_flight = in_flight_;
  now.jobs_waiting = static_cast<int64_t>(jobs_->waiting());
  now.jobs_running = static_cast<int64_t>(jobs_->running());
  now.version = options_.version;
  return metrics_.text(now);
}

Result<std::string> HttpService::bundles_text() const {
  const auto current = context();
  const auto forecaster = current->forecaster();
  if (!forecaster) return forecaster.error();
  const program::Bundle& bundle = (*forecaster)->bundle();
  Json item = {{"name", bundle.card.name},
               {"created_utc", bundle.card.created_utc},
               {"model", bundle.card.model},
               {"licence", bundle.card.licence},
               {"platforms_count", bundle.platforms.size()},
               {"instances_count", bundle.servers.size()},
               {"programs_count", bundle.programs.size()}};
  Json lists = Json::array();
  for (const auto& [name, path] : files_.price_lists) lists.push_back(name);
  return compact_text({{"schema", kBundlesSchema},
                       {"bundles", Json::array({std::move(item)})},
                       {"price_lists", std::move(lists)},
                       {"has_corpus", !files_.corpus.empty()}});
}

void HttpService::write_log(const std::string& line) const {
  const std::string whole = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(options_.log, whole.data(), whole.size());
}

}  // namespace perfcast::service
