#include "measure/watch/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

namespace perfcast::measure {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr const char* kScheme = "http://";
constexpr long kOk = 200, kRedirects = 300;

struct Answer {
  std::string body;
  bool too_long = false;
};

// As libcurl calls it: fewer bytes taken than offered end the transfer.
size_t take_bytes(const char* bytes, size_t size, size_t count, void* to) {
  auto& answer = *static_cast<Answer*>(to);
  answer.too_long = answer.body.size() + size * count > kMostBytes;
  if (answer.too_long) return 0;
  answer.body.append(bytes, size * count);
  return size * count;
}

// With /metrics where it has no path of its own.
std::string whole_url(const std::string& url) {
  const bool has_path = url.find('/', std::string(kScheme).size()) != std::string::npos;
  return has_path ? url : url + "/metrics";
}

// `json`: what is posted; nullptr: a GET.
Status transfer(const std::string& url, const std::string* json, double limit_s, const std::string& expected,
                Answer& answer) {
  const auto failed = [&](const std::string& what) {
    return environment_error("endpoint-failed", what, url, expected);
  };
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), &curl_easy_cleanup);
  if (!handle) return failed("libcurl can't be used here");
  char problem[CURL_ERROR_SIZE] = "";
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(limit_s * 1e3)));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, &curl_slist_free_all);
  if (json != nullptr) {
    headers.reset(curl_slist_append(nullptr, "Content-Type: application/json"));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json->c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(json->size()));
  }
  const CURLcode outcome = curl_easy_perform(curl);
  if (answer.too_long) return failed("the answer is longer than 64 MiB");
  if (outcome != CURLE_OK) return failed(problem[0] != '\0' ? problem : curl_easy_strerror(outcome));
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  const bool done = json == nullptr ? status == kOk : status >= kOk && status < kRedirects;
  return done ? Status{} : failed("the answer has status " + std::to_string(status));
}

}  // namespace

Status check_url(const std::string& url, const std::string& option) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parts(curl_url(), &curl_url_cleanup);
  if (url.starts_with(kScheme) && curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) return {};
  return usage_error("bad-usage", "'" + url + "' is no address that can be used", option,
                     "such as http://localhost:9090; https and passwords by a proxy of yours");
}

Result<std::string> http_get(const std::string& url, double limit_s) {
  Answer answer;
  const std::string what = "a server that answers with Prometheus' text format";
  if (Status done = transfer(whole_url(url), nullptr, limit_s, what, answer); !done) return done.error();
  return std::move(answer.body);
}

Status http_post_json(const std::string& url, const std::string& json, double limit_s) {
  Answer answer;
  return transfer(url, &json, limit_s, "a server that takes alerts, such as Prometheus' Alertmanager", answer);
}

}  // namespace perfcast::measure
