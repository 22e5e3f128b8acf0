#include "ai/system/http_system.h"

#include <curl/curl.h>

#include <array>
#include <deque>
#include <map>
#include <utility>

#include "ai/system/answer_stream.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr long kStatusOk = 200;
constexpr size_t kMostErrorBytes = 4096;
constexpr int kPollMs = 1000;

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using EasyHandle = std::unique_ptr<CURL, CurlDeleter>;
using HeaderList = std::unique_ptr<curl_slist, CurlDeleter>;

// An address may be that of the server, or the base that clients of OpenAI's interface are given: it ends in /v1.
std::string with_path(std::string url) {
  const size_t host = url.find("://") + 3;
  while (url.ends_with('/')) url.pop_back();
  if (url.find('/', host) == std::string::npos) return url + "/v1/completions";
  return url.ends_with("/v1") ? url + "/completions" : url;
}

// One request on its way.
struct Transfer {
  EasyHandle easy;
  ResponseSink* sink = nullptr;
  uint64_t id = 0;
  AnswerStream answer;
  std::string refusal;  // the body of a status other than 200
  char curl_problem[CURL_ERROR_SIZE] = "";

  void reset(uint64_t new_id, ResponseSink* new_sink) {
    sink = new_sink;
    id = new_id;
    answer = {};
    refusal.clear();
    curl_problem[0] = '\0';
  }

  long status() const {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  // Whether the transfer may go on.
  bool take(std::string_view bytes) {
    const int64_t now_ns = steady_ns();
    if (status() != kStatusOk) {
      if (refusal.size() < kMostErrorBytes) refusal.append(bytes);
      return true;
    }
    answer.take(bytes, now_ns, [this, now_ns] { sink->token(id, 1, now_ns); });
    return answer.problem().empty();
  }

  void conclude(CURLcode outcome) {
    const int64_t now_ns = steady_ns();
    std::string problem = answer.problem();
    if (problem.empty() && outcome != CURLE_OK) {
      problem = curl_problem[0] != '\0' ? curl_problem : curl_easy_strerror(outcome);
      if (answer.pieces() > 0) problem += " after " + std::to_string(answer.pieces()) + " pieces of the answer";
    } else if (problem.empty() && status() != kStatusOk) {
      problem = "status " + std::to_string(status()) + ": " + std::string(trim(refusal)).substr(0, 200);
    } else if (problem.empty()) {
      answer.finish([this] { sink->token(id, 1, answer.end_ns()); });
      problem = answer.problem();
    }
    if (!problem.empty()) {
      sink->fail(id, problem, now_ns);
      return;
    }
    const bool is_counted = answer.counted_tokens() > 0;
    sink->complete(id, {.tokens = is_counted ? answer.counted_tokens() : answer.pieces(),
                        .data = answer.text(),
                        .at_ns = answer.end_ns() != 0 ? answer.end_ns() : now_ns,
                        .has_own_count = is_counted});
  }
};

size_t take_bytes_of_answer(char* bytes, size_t size, size_t count, void* to) {
  return static_cast<Transfer*>(to)->take({bytes, size * count}) ? size * count : 0;
}

size_t ignore_bytes(char* /*bytes*/, size_t size, size_t count, void* /*to*/) { return size * count; }

Error endpoint_failed(const std::string& what, const std::string& url) {
  return environment_error("endpoint-failed", what, url, "a server that speaks OpenAI's interface there");
}

// The thread with all requests.
class CurlRequests final : public EndpointRequests {
 public:
  CurlRequests(const HttpSystemOptions& options, const std::vector<std::string>& bodies)
      : url_(with_path(options.url)), connect_limit_s_(options.connect_limit_s), bodies_(bodies) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(options.most_connections));
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.most_connections));
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, "Accept: text/event-stream");
    list = curl_slist_append(list, "Expect:");
    for (const std::string& header : options.headers) list = curl_slist_append(list, header.c_str());
    headers_.reset(list);
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  }

  ~CurlRequests() override {
    thread_.request_stop();
    curl_multi_wakeup(multi_);
    thread_.join();
    idle_.clear();
    curl_multi_cleanup(multi_);
  }
  CurlRequests(const CurlRequests&) = delete;
  CurlRequests& operator=(const CurlRequests&) = delete;

  void add(std::span<const IssuedSample> query, ResponseSink& sink) override {
    {
      const std::lock_guard guard(lock_);
      for (const IssuedSample& sample : query) queue_.push_back({sample, &sink});
    }
    curl_multi_wakeup(multi_);
  }

  void give_up() override {
    std::unique_lock lock(lock_);
    gives_up_ = true;
    curl_multi_wakeup(multi_);
    given_up_.wait(lock, [this] { return !gives_up_; });
  }

 private:
  struct Job {
    IssuedSample sample;
    ResponseSink* sink;
  };

  void follow(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      take_jobs();
      int running = 0;
      curl_multi_perform(multi_, &running);
      take_finished();
      curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    }
    drop_all();
  }

  void take_jobs() {
    std::deque<Job> jobs;
    bool gives_up = false;
    {
      const std::lock_guard guard(lock_);
      jobs.swap(queue_);
      gives_up = gives_up_;
    }
    if (!gives_up) {
      for (const Job& job : jobs) begin(job);
      return;
    }
    drop_all();
    const std::lock_guard guard(lock_);
    gives_up_ = false;
    given_up_.notify_all();
  }

  void begin(const Job& job) {
    std::unique_ptr<Transfer> transfer;
    if (idle_.empty()) {
      transfer = std::make_unique<Transfer>();
      transfer->easy.reset(curl_easy_init());
    } else {
      transfer = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!transfer->easy) return job.sink->fail(job.sample.id, "libcurl can't be used here");
    transfer->reset(job.sample.id, job.sink);
    CURL* const easy = transfer->easy.get();
    const std::string& body = bodies_[job.sample.index % bodies_.size()];
    curl_easy_setopt(easy, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_limit_s_ * 1e3));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_problem);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &take_bytes_of_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer.get());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
    curl_multi_add_handle(multi_, easy);
    running_.emplace(easy, std::move(transfer));
  }

  void take_finished() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode outcome = message->data.result;
      const auto found = running_.find(message->easy_handle);
      if (found == running_.end()) continue;
      std::unique_ptr<Transfer> transfer = std::move(found->second);
      running_.erase(found);
      curl_multi_remove_handle(multi_, transfer->easy.get());
      transfer->conclude(outcome);
      idle_.push_back(std::move(transfer));
    }
  }

  void drop_all() {
    for (auto& [easy, transfer] : running_) curl_multi_remove_handle(multi_, easy);
    running_.clear();
  }

  std::string url_;
  double connect_limit_s_;
  const std::vector<std::string>& bodies_;
  CURLM* multi_ = nullptr;
  HeaderList headers_;
  std::map<CURL*, std::unique_ptr<Transfer>> running_;
  std::vector<std::unique_ptr<Transfer>> idle_;
  std::mutex lock_;
  std::condition_variable given_up_;
  std::deque<Job> queue_;
  bool gives_up_ = false;
  std::jthread thread_;  // the last: it uses all others
};

}  // namespace

Status check_endpoint(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parts(curl_url(), &curl_url_cleanup);
  const bool is_known = url.starts_with("http://") || url.starts_with("https://");
  if (is_known && curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) return {};
  return usage_error("bad-usage", "'" + printable(url) + "' is no address of a server", "--system",
                     "such as http://127.0.0.1:8000/v1/chat/completions");
}

HttpSystem::HttpSystem(HttpSystemOptions options) : options_(std::move(options)) {
  bodies_.reserve(options_.prompts.size());
  for (const std::string& prompt : options_.prompts) bodies_.push_back(request_body(options_, prompt));
}

HttpSystem::~HttpSystem() = default;

std::string HttpSystem::name() const { return printable(with_path(options_.url)).substr(0, 100); }

Status HttpSystem::start(std::span<const uint32_t> /*samples*/, ResponseSink& sink) {
  if (const Status valid = check_endpoint(options_.url); !valid) return valid.error();
  if (bodies_.empty()) return usage_error("bad-usage", "no prompt to send", "--prompts", "at least one");
  const EasyHandle probe(curl_easy_init());
  if (!probe) return endpoint_failed("libcurl can't be used here", options_.url);
  std::array<char, CURL_ERROR_SIZE> problem = {};
  const std::string url = with_path(options_.url);
  curl_easy_setopt(probe.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(probe.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(probe.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(probe.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(probe.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_limit_s * 1e3));
  curl_easy_setopt(probe.get(), CURLOPT_ERRORBUFFER, problem.data());
  curl_easy_setopt(probe.get(), CURLOPT_WRITEFUNCTION, &ignore_bytes);
  if (const CURLcode outcome = curl_easy_perform(probe.get()); outcome != CURLE_OK) {
    return endpoint_failed(problem[0] != '\0' ? problem.data() : curl_easy_strerror(outcome), url);
  }
  sink_ = &sink;
  if (!requests_) requests_ = std::make_unique<CurlRequests>(options_, bodies_);
  return {};
}

void HttpSystem::issue(std::span<const IssuedSample> query) { requests_->add(query, *sink_); }

void HttpSystem::finish() {
  if (requests_) requests_->give_up();
}

}  // namespace perfcast::ai
