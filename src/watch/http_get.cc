#include "watch/http_get.h"

#include <httplib.h>

#include <chrono>

namespace perfcast {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr const char* kScheme = "http://";

struct Address {
  std::string server, path;
};

Address address_of(const std::string& url) {
  const size_t slash = url.find('/', std::string(kScheme).size());
  if (slash == std::string::npos) return {url, "/metrics"};
  return {url.substr(0, slash), url.substr(slash)};
}

}  // namespace

Status check_url(const std::string& url) {
  if (url.starts_with(kScheme) && httplib::Client(address_of(url).server).is_valid()) return {};
  return usage_error("bad-usage", "'" + url + "' is no address that can be scraped", "--prometheus",
                     "such as http://localhost:9100/metrics; https and passwords by a proxy of yours");
}

Result<std::string> http_get(const std::string& url, double limit_s) {
  const Address address = address_of(url);
  httplib::Client client(address.server);
  const auto limit = std::chrono::microseconds(static_cast<int64_t>(limit_s * 1e6));
  client.set_connection_timeout(limit);
  client.set_read_timeout(limit);
  client.set_write_timeout(limit);
  std::string body;
  bool too_long = false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto result = client.Get(address.path.c_str(), [&](const char* bytes, size_t size) {
    too_long = body.size() + size > kMostBytes;
    if (too_long || std::chrono::steady_clock::now() > deadline) return false;
    body.append(bytes, size);
    return true;
  });
  const auto failed = [&](const std::string& what) {
    return environment_error("endpoint-failed", what, url, "a server that answers with Prometheus' text format");
  };
  if (too_long) return failed("the answer is longer than 64 MiB");
  if (!result) return failed(httplib::to_string(result.error()));
  if (result->status != 200) return failed("the answer has status " + std::to_string(result->status));
  return body;
}

}  // namespace perfcast
