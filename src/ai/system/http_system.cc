#include "ai/system/http_system.h"

#include <curl/curl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "ai/system/answer_stream.h"
#include "ai/system/curl_loop.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr long kStatusOk = 200;
constexpr int64_t kOtherFiles = 64;  // of this process, beside connections
constexpr size_t kMostErrorBytes = 4096;
constexpr size_t kMostVectorBytes = size_t{64} << 20;  // of an answer with embeddings
constexpr int64_t kLookForStallsEvery_ns = 200'000'000;

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
  IssuedSample sample;
  RequestBodies::Body body;
  bool is_vector = false;
  AnswerStream answer;
  std::string refusal;   // the body of a status other than 200
  std::string vector;    // of embeddings, the answer
  int64_t heard_ns = 0;  // when anything came last, or it was sent
  char curl_problem[CURL_ERROR_SIZE] = "";

  void reset(const IssuedSample& new_sample, ResponseSink* new_sink, RequestBodies::Body new_body) {
    sink = new_sink;
    sample = new_sample;
    body = std::move(new_body);
    answer = {};
    refusal.clear();
    vector.clear();
    heard_ns = steady_ns();
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
    heard_ns = now_ns;
    if (status() != kStatusOk) {
      if (refusal.size() < kMostErrorBytes) refusal.append(bytes);
      return true;
    }
    if (is_vector) {
      vector.append(bytes);
      return vector.size() <= kMostVectorBytes;
    }
    answer.take(bytes, now_ns, [this, now_ns] { sink->token(sample.id, 1, now_ns); });
    return answer.problem().empty();
  }

  // Why there is no answer; empty: there is one.
  std::string problem_of(CURLcode outcome) {
    std::string problem = answer.problem();
    if (problem.empty() && outcome != CURLE_OK) {
      problem = with_pieces(curl_problem[0] != '\0' ? curl_problem : curl_easy_strerror(outcome));
    } else if (problem.empty() && status() != kStatusOk) {
      problem = "status " + std::to_string(status()) + ": " + std::string(trim(refusal)).substr(0, 200);
    } else if (problem.empty() && !is_vector) {
      answer.finish([this] { sink->token(sample.id, 1, answer.end_ns()); });
      problem = answer.problem();
    }
    return problem;
  }

  std::string with_pieces(const std::string& what) const {
    if (answer.pieces() == 0) return what;
    return what + " after " + std::to_string(answer.pieces()) + " pieces of the answer";
  }

  void conclude(CURLcode outcome, RequestBodies& bodies) {
    const std::string problem = problem_of(outcome);
    if (!problem.empty()) return sink->fail(sample.id, problem, steady_ns());
    if (is_vector) return conclude_vector();
    bodies.answered(sample.index, body, answer.text());
    const bool is_counted = answer.counted_tokens() > 0;
    sink->complete(sample.id, {.tokens = is_counted ? answer.counted_tokens() : answer.pieces(),
                               .data = answer.text(),
                               .at_ns = answer.end_ns() != 0 ? answer.end_ns() : heard_ns,
                               .has_own_count = is_counted,
                               .prompt_tokens = answer.prompt_tokens()});
  }

  void conclude_vector() {
    const auto vectors = scan_embedding_answer(vector);
    if (!vectors) return sink->fail(sample.id, vectors.error().message, heard_ns);
    sink->complete(sample.id, {.data = vector, .at_ns = heard_ns, .prompt_tokens = vectors->prompt_tokens});
  }

  // Whether it was sent, and nothing came for so long. Time that it waits for a connection is the client's own.
  bool is_stalled(int64_t now_ns, int64_t limit_ns) {
    curl_off_t sent_us = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_PRETRANSFER_TIME_T, &sent_us);
    if (sent_us <= 0) heard_ns = now_ns;
    return now_ns - heard_ns > limit_ns;
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
  CurlRequests(const HttpSystemOptions& options, RequestBodies& bodies)
      : url_(with_path(options.url)),
        connect_limit_s_(options.connect_limit_s),
        stall_limit_s_(options.stall_limit_s),
        is_vector_(is_embedding(url_)),
        bodies_(bodies) {
    curl_multi_setopt(loop_.multi(), CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(options.most_connections));
    curl_multi_setopt(loop_.multi(), CURLMOPT_MAXCONNECTS, static_cast<long>(options.most_connections));
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, is_vector_ ? "Accept: application/json" : "Accept: text/event-stream");
    list = curl_slist_append(list, "Expect:");
    for (const std::string& header : options.headers) list = curl_slist_append(list, header.c_str());
    headers_.reset(list);
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  }

  ~CurlRequests() override {
    thread_.request_stop();
    loop_.wake();
    thread_.join();
    idle_.clear();
  }
  CurlRequests(const CurlRequests&) = delete;
  CurlRequests& operator=(const CurlRequests&) = delete;

  void add(std::span<const IssuedSample> query, ResponseSink& sink) override {
    {
      const std::lock_guard guard(lock_);
      for (const IssuedSample& sample : query) queue_.push_back({sample, &sink});
    }
    loop_.wake();
  }

  void give_up() override {
    std::unique_lock lock(lock_);
    gives_up_ = true;
    loop_.wake();
    given_up_.wait(lock, [this] { return !gives_up_; });
  }

 private:
  struct Job {
    IssuedSample sample;
    ResponseSink* sink;
  };

  void follow(const std::stop_token& stop) {
    loop_.run(stop, [this] {
      take_jobs();
      take_finished();
      end_stalled();
    });
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
    bodies_.forget();
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
    transfer->reset(job.sample, job.sink, bodies_.body_of(job.sample.index));
    transfer->is_vector = is_vector_;
    CURL* const easy = transfer->easy.get();
    const std::string& body = transfer->body.bytes();
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
    curl_multi_add_handle(loop_.multi(), easy);
    running_.emplace(easy, std::move(transfer));
  }

  void take_finished() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(loop_.multi(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode outcome = message->data.result;
      const auto found = running_.find(message->easy_handle);
      if (found == running_.end()) continue;
      std::unique_ptr<Transfer> transfer = std::move(found->second);
      running_.erase(found);
      curl_multi_remove_handle(loop_.multi(), transfer->easy.get());
      transfer->conclude(outcome, bodies_);
      idle_.push_back(std::move(transfer));
    }
  }

  // A server may stop in the middle of one answer while it goes on with others.
  void end_stalled() {
    const int64_t now_ns = steady_ns();
    if (now_ns - looked_ns_ < kLookForStallsEvery_ns) return;
    looked_ns_ = now_ns;
    for (auto at = running_.begin(); at != running_.end();) {
      Transfer& transfer = *at->second;
      if (!transfer.is_stalled(now_ns, static_cast<int64_t>(stall_limit_s_ * 1e9))) {
        ++at;
        continue;
      }
      curl_multi_remove_handle(loop_.multi(), transfer.easy.get());
      const std::string what = "it stalls: nothing came for " + human_seconds(stall_limit_s_);
      transfer.sink->fail(transfer.sample.id, transfer.with_pieces(what), now_ns);
      at = running_.erase(at);
    }
  }

  void drop_all() {
    for (auto& [easy, transfer] : running_) curl_multi_remove_handle(loop_.multi(), easy);
    running_.clear();
  }

  std::string url_;
  double connect_limit_s_, stall_limit_s_;
  bool is_vector_;
  RequestBodies& bodies_;
  int64_t looked_ns_ = 0;
  CurlLoop loop_;
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

Status make_room_for_connections(int64_t connections, int64_t files_each) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const auto needed = static_cast<rlim_t>(connections * files_each + kOtherFiles);
  if (needed <= limit.rlim_cur) return {};
  const int64_t most = std::max<int64_t>((static_cast<int64_t>(limit.rlim_cur) - kOtherFiles) / files_each, 1);
  return usage_error(
      "bad-usage",
      std::to_string(connections) + " connections need " + std::to_string(needed) +
          " open files, and the limit here is " + std::to_string(limit.rlim_cur),
      "--connections",
      "at most " + std::to_string(most) + " for --connections and --concurrency, or a higher limit: ulimit -n");
}

HttpSystem::HttpSystem(HttpSystemOptions options) : options_(std::move(options)), bodies_(options_) {}

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
