#include "service/http/http_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "base/http/testing/http_client.h"
#include "base/json.h"
#include "service/http/page_files.h"
#include "service/testing/shipped_context.h"

namespace perfcast::service {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Reply {
  int status = 0;
  std::string head, body;
  Json json() const {
    const auto parsed = parse_json(body, "body");
    EXPECT_TRUE(parsed) << body.substr(0, 200);
    return parsed ? *parsed : Json();
  }
};

class HttpServiceTest : public testing::Test {
 protected:
  void begin(HttpServiceOptions options = {}, ContextFiles files = shipped_files()) {
    options.port = 0;
    options.version = "1.2.3";
    auto started = HttpService::start(std::move(files), std::move(options));
    ASSERT_TRUE(started) << to_text(started.error());
    service_ = std::move(*started);
  }

  Reply send(const std::string& bytes) const {
    HttpTestClient client(service_->port());
    client.send(bytes);
    const std::string text = client.receive();
    Reply reply;
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return reply;
    reply.head = text.substr(0, end);
    reply.body = text.substr(end + 4);
    reply.status = std::stoi(reply.head.substr(9, 3));
    return reply;
  }
  Reply get(const std::string& path, const std::string& fields = "", const std::string& method = "GET") const {
    return send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields + "\r\n");
  }
  Reply post(const std::string& path, const std::string& body,
             const std::string& fields = "Content-Type: application/json\r\n") const {
    return send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  Json wait_for_job(const std::string& id) const {
    for (int i = 0; i < 2000; ++i) {
      Json job = get("/v1/jobs/" + id).json();
      if (job["state"] != "waiting" && job["state"] != "running") return job;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
  }

  std::unique_ptr<HttpService> service_;
};

constexpr const char* kLongPlan = R"({"model": "llama3-8b", "rate": [200], "objective": ["ttft=1s,tpot=50ms"]})";

TEST_F(HttpServiceTest, AnswersAsTheOperation) {
  begin();
  const Context context(shipped_files());
  const auto expected = answer_json(*find_operation("forecast"), context, request_with_profile(R"("top": 2)"));
  ASSERT_TRUE(expected);
  const Reply reply = post("/v1/forecast", request_with_profile(R"("top": 2)"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, expected->json);
  EXPECT_THAT(reply.head, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(reply.head, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(reply.head, HasSubstr("\r\nContent-Security-Policy: default-src 'none'"));
  EXPECT_THAT(reply.head, HasSubstr("\r\nCache-Control: no-store\r\n"));
  EXPECT_THAT(reply.head, HasSubstr("\r\nX-Request-Id: "));
  const Reply behind = post("/v1/llm/forecast", R"({"model": "llama3-8b", "on": ["H100"]})");
  EXPECT_EQ(behind.status, 200);
  EXPECT_EQ(behind.json()["schema"], "perfcast.llm.forecast/1");
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_requests_total{operation=\"forecast\",status=\"200\"} 1\n"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_forecasts_total 1\n"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_bundle_age_seconds{bundle=\""));
}

TEST_F(HttpServiceTest, TheSameRequestAgainHasTheSameAnswer) {
  begin();
  const std::string request = request_with_profile(R"("top": 2)");
  const Reply first = post("/v1/forecast", request), again = post("/v1/forecast", request);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_NE(post("/v1/forecast", request_with_profile(R"("top": 3)")).body, first.body);
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_forecasts_total 3\n"));
}

// A price list is a file that others may change at any time.
TEST_F(HttpServiceTest, PricesThatChangedCountAtOnce) {
  const std::string path = testing::TempDir() + "/perfcast_prices_" + std::to_string(::getpid()) + ".csv";
  ContextFiles files = shipped_files();
  files.price_lists = {{"mine", path}};
  ASSERT_TRUE(write_file_atomically(path, "vendor,server,price_usd_per_hour\naws,c7a.xlarge,1\n"));
  begin({}, files);
  const std::string request = request_with_profile(R"("price_list": "mine", "filter": ["instance=c7a.xlarge"])");
  const Reply dear = post("/v1/instances", request);
  EXPECT_EQ(dear.status, 200) << dear.body;
  ASSERT_TRUE(write_file_atomically(path, "vendor,server,price_usd_per_hour\naws,c7a.xlarge,0.5\n"));
  const Reply cheap = post("/v1/instances", request);
  EXPECT_EQ(cheap.status, 200);
  EXPECT_NE(cheap.body, dear.body);
  std::filesystem::remove(path);
}

TEST_F(HttpServiceTest, ErrorsAreProblemDocuments) {
  begin();
  const Reply reply = post("/v1/forecast", R"({"porfile": {}})",
                           "Content-Type: application/json; charset=utf-8\r\nX-Request-Id: mine-1\r\n");
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.head, HasSubstr("Content-Type: application/problem+json"));
  EXPECT_THAT(reply.head, HasSubstr("X-Request-Id: mine-1\r\n"));
  const Json problem = reply.json();
  EXPECT_EQ(problem["status"], 422);
  EXPECT_THAT(problem["detail"].get<std::string>(), HasSubstr("request.porfile: found an unknown key"));
  EXPECT_EQ(problem["instance"], "urn:request:mine-1");
  EXPECT_EQ(post("/v1/forecast", "{").status, 400);
  EXPECT_EQ(post("/v1/forecast", "{}", "Content-Type: text/plain\r\n").status, 415);
  EXPECT_EQ(post("/v1/forecast", "{}", "").status, 415);
  EXPECT_EQ(post("/v1/nothing", "{}").status, 404);
  EXPECT_EQ(get("/etc/passwd").status, 404);
  EXPECT_EQ(get("/v1/jobs/../../etc/passwd").status, 404);
  const Reply method = get("/v1/forecast");
  EXPECT_EQ(method.status, 405);
  EXPECT_THAT(method.head, HasSubstr("\r\nAllow: POST\r\n"));
  EXPECT_EQ(get("/healthz", "", "DELETE").status, 405);
  EXPECT_THAT(get("/healthz", "X-Request-Id: a b\r\n").head, Not(HasSubstr("a b")));
  const Reply wrong = send("nonsense\r\n\r\n");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.json()["title"], "Bad Request");
}

TEST_F(HttpServiceTest, TellsWhatItIs) {
  begin();
  EXPECT_EQ(get("/healthz").json()["status"], "ok");
  EXPECT_EQ(get("/readyz").status, 200);
  const Json bundles = get("/v1/bundles").json();
  EXPECT_EQ(bundles["schema"], "perfcast.bundles/1");
  EXPECT_EQ(bundles["price_lists"], Json::array({"example"}));
  EXPECT_FALSE(bundles["has_corpus"]);
  const Json document = get("/openapi.json").json();
  EXPECT_EQ(document["info"]["version"], "1.2.3");
  EXPECT_TRUE(document["paths"].contains("/v1/forecast"));
}

TEST_F(HttpServiceTest, HasAPageForBrowsers) {
  begin();
  for (const PageFile& file : page_files()) {
    const Reply reply = get(std::string(file.path));
    EXPECT_EQ(reply.status, 200) << file.path;
    EXPECT_EQ(reply.body, file.bytes) << file.path;
    EXPECT_THAT(reply.head, HasSubstr("\r\nContent-Type: " + std::string(file.type) + "\r\n"));
    EXPECT_THAT(reply.head, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(reply.head, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'; "));
    EXPECT_THAT(reply.head, Not(HasSubstr("unsafe")));
  }
  EXPECT_EQ(get("/?a=b").body, page_files().front().bytes);
  const Reply method = get("/", "", "DELETE");
  EXPECT_EQ(method.status, 405);
  EXPECT_THAT(method.head, HasSubstr("\r\nAllow: GET\r\n"));
  EXPECT_EQ(get("/page.html").status, 404);
  EXPECT_EQ(get("/../README.md").status, 404);
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_requests_total{operation=\"page\",status=\"200\"}"));
}

TEST_F(HttpServiceTest, OnlyTheTokenOpensIt) {
  const std::string token = "0123456789abcdef";
  begin({.token = token});
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/").status, 200);  // the page, which asks for the token
  const Reply without = get("/metrics");
  EXPECT_EQ(without.status, 401);
  EXPECT_THAT(without.head, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  for (const char* wrong : {"Bearer 0123456789abcdee", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer ",
                            "Basic 0123456789abcdef", "0123456789abcdef"}) {
    EXPECT_EQ(get("/metrics", std::string("Authorization: ") + wrong + "\r\n").status, 401) << wrong;
  }
  EXPECT_EQ(get("/metrics", "Authorization: Bearer " + token + "\r\n").status, 200);
  EXPECT_EQ(get("/metrics", "authorization: bearer  " + token + " \r\n").status, 200);
}

TEST(HttpService, OtherMachinesNeedATokenAndTls) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("10.0.0.1"));
  const auto open = HttpService::start(shipped_files(), {.host = "0.0.0.0", .port = 0});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().where, "listen");
  const auto half = HttpService::start(shipped_files(), {.host = "0.0.0.0", .port = 0, .token = "0123456789abcdef"});
  EXPECT_FALSE(half);
}

// A page elsewhere may give its name this machine's address.
TEST_F(HttpServiceTest, AnswersNoNamesOfOthers) {
  begin();
  const auto status_for = [&](const std::string& host) {
    return send("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n").status;
  };
  EXPECT_EQ(status_for("localhost:" + std::to_string(service_->port())), 200);
  EXPECT_EQ(status_for("127.0.0.1"), 200);
  EXPECT_EQ(status_for("[::1]:80"), 200);
  EXPECT_EQ(status_for("evil.example"), 421);
  EXPECT_EQ(status_for("127.evil.example"), 421);
}

TEST_F(HttpServiceTest, HasLimitsOnBodiesHeadsAndRates) {
  begin({.most_body_bytes = 1000, .most_requests_per_s = 5});
  EXPECT_EQ(post("/v1/forecast", "{\"a\": \"" + std::string(2000, 'a') + "\"}").status, 413);
  EXPECT_EQ(get("/healthz", "X-Long: " + std::string(20'000, 'a') + "\r\n").status, 431);
  int refused = 0;
  for (int i = 0; i < 30; ++i) refused += get("/healthz").status == 429 ? 1 : 0;
  EXPECT_GE(refused, 15);
}

TEST_F(HttpServiceTest, ASlowRequestIsRefused) {
  begin({.request_limit_s = 0.5});
  HttpTestClient client(service_->port());
  client.send("POST /v1/forecast HTTP/1.1\r\nContent-Length: 10\r\n\r\n{");
  const std::string text = client.receive();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(HttpServiceTest, ALongOperationIsAJobWhereThatIsAsked) {
  begin();
  const std::string fields = "Content-Type: application/json\r\nPrefer: respond-async\r\n";
  const std::string body = R"({"model": "llama3-8b", "on": ["H100"], "rate": [1], "requests": 50})";
  const Reply accepted = post("/v1/llm/serve-sim", body, fields);
  ASSERT_EQ(accepted.status, 202);
  const std::string id = accepted.json()["id"];
  EXPECT_THAT(accepted.head, HasSubstr("\r\nLocation: /v1/jobs/" + id + "\r\n"));
  const Json job = wait_for_job(id);
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["answer"], post("/v1/llm/serve-sim", body).json());
  const Reply events = get("/v1/jobs/" + id + "/events");
  EXPECT_THAT(events.head, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(events.body, HasSubstr("event: end\ndata: {\"schema\":\"perfcast.job/1\""));
  EXPECT_EQ(get("/v1/jobs/00000000000000000000000000000000").status, 404);
  EXPECT_EQ(get("/v1/jobs/00000000000000000000000000000000/events").status, 404);
  const std::string wrong = post("/v1/llm/serve-sim", R"({"model": "no"})", fields).json()["id"];
  EXPECT_EQ(wait_for_job(wrong)["state"], "failed");
}

TEST_F(HttpServiceTest, AJobIsCancelledAndItsEventsEnd) {
  begin();
  const std::string fields = "Content-Type: application/json\r\nPrefer: respond-async\r\n";
  const std::string id = post("/v1/llm/capacity", kLongPlan, fields).json()["id"];
  HttpTestClient listener(service_->port());
  listener.send("GET /v1/jobs/" + id + "/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::string text = listener.receive("event: progress");
  EXPECT_EQ(get("/v1/jobs/" + id, "", "DELETE").status, 200);
  text += listener.receive();
  EXPECT_THAT(text, HasSubstr("event: end"));
  EXPECT_THAT(text, HasSubstr("\"state\":\"cancelled\""));
  EXPECT_EQ(wait_for_job(id)["state"], "cancelled");
}

TEST_F(HttpServiceTest, AReloadFailsNoRequest) {
  const std::string bundle = testing::TempDir() + "perfcast-reload-" + std::to_string(::getpid()) + ".pcb";
  ContextFiles files = shipped_files();
  std::filesystem::copy_file(files.bundle, bundle, std::filesystem::copy_options::overwrite_existing);
  files.bundle = bundle;
  begin({.threads = 2}, files);
  std::atomic<bool> ends = false;
  std::atomic<int> done = 0, failed = 0;
  std::thread load([&] {
    const std::string body = request_with_profile(R"("top": 1, "reasons": false)");
    const std::string first = post("/v1/forecast", body).body;
    while (!ends) {
      const Reply reply = post("/v1/forecast", body);
      ++(reply.status == 200 && reply.body == first ? done : failed);
    }
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(post("/v1/bundles/reload", "", "").status, 200);
  std::filesystem::resize_file(bundle, 1000);
  EXPECT_EQ(post("/v1/bundles/reload", "", "").status, 422);
  std::filesystem::remove(bundle);
  EXPECT_FALSE(service_->reload());
  for (int i = 0; done < 5 && i < 1000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ends = true;
  load.join();
  EXPECT_GE(done, 5);
  EXPECT_EQ(failed, 0);
  EXPECT_THAT(get("/metrics").body, HasSubstr("perfcast_reloads_total{result=\"failed\"} 2\n"));
}

TEST_F(HttpServiceTest, FinishesWhatIsUnderWay) {
  begin();
  HttpTestClient client(service_->port());
  const std::string body = R"({"model": "llama3-8b", "on": ["H100"], "rate": [50], "requests": 20000})";
  client.send(
      "POST /v1/llm/serve-sim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  while (get("/metrics").body.find("perfcast_requests_in_flight 2\n") == std::string::npos) {
  }
  auto answer = std::async(std::launch::async, [&] { return client.receive(); });
  EXPECT_TRUE(service_->drain(60));
  service_.reset();
  EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServiceTest, EveryRequestHasALine) {
  std::array<int, 2> pipe = {};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  begin({.log = pipe[1]});
  get("/healthz", "X-Request-Id: mine\r\n");
  get("/nothing");
  service_.reset();
  ::close(pipe[1]);
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count = 0; (count = ::read(pipe[0], bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<size_t>(count));
  }
  ::close(pipe[0]);
  const auto first = parse_json(text.substr(0, text.find('\n')), "log");
  ASSERT_TRUE(first) << text;
  EXPECT_EQ((*first)["request_id"], "mine");
  EXPECT_EQ((*first)["path"], "/healthz");
  EXPECT_EQ((*first)["status"], 200);
  EXPECT_EQ((*first)["client"], "127.0.0.1");
  EXPECT_THAT(text, HasSubstr("\"path\":\"/nothing\""));
}

// Whatever comes, the service goes on.
TEST_F(HttpServiceTest, OutlivesClientsThatLeave) {
  begin();
  for (int i = 0; i < 10; ++i) {
    HttpTestClient client(service_->port());
    const std::string body = R"({"model": "llama3-8b", "on": ["H100"], "rate": [20], "requests": 5000})";
    client.send(
        "POST /v1/llm/serve-sim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_TRUE(service_->drain(60));
}

}  // namespace
}  // namespace perfcast::service
