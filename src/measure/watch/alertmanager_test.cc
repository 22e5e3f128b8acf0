#include "measure/watch/alertmanager.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/http_server.h"
#include "base/json.h"

namespace perfcast::measure {
namespace {

// Keeps what is posted; answers with a status that can be set.
class Receiver : public HttpHandler {
 public:
  Receiver() {
    auto listening = HttpServer::listen({}, *this);
    EXPECT_TRUE(listening) << to_text(listening.error());
    server = std::move(*listening);
    server->start();
  }
  void on_request(uint64_t exchange, HttpRequest request) override {
    const std::lock_guard guard(lock);
    lines.push_back(request.method + " " + request.path);
    bodies.push_back(request.body);
    server->answer(exchange, status, "text/plain", "");
  }
  void on_gone(uint64_t) override {}
  std::string body_of_problem(const HttpProblem&) override { return ""; }

  std::mutex lock;
  int status = 200;
  std::vector<std::string> lines, bodies;
  std::unique_ptr<HttpServer> server;
};

const std::vector<std::string> kMetrics = {"cpu"};

Alert incident(AlertState state, double time_s) {
  Alert alert;
  alert.id = 7;
  alert.group = "web-1";
  alert.since_s = 1764144000;  // 2025-11-26 08:00:00
  alert.time_s = time_s;
  alert.state = state;
  alert.severity = state == AlertState::kOpen ? Severity::kMinor : Severity::kCritical;
  alert.metrics = {{0, 1, 95, 20}};
  return alert;
}

TEST(Alertmanager, IsToldOfAnIncidentAndOfItsEndWithTheSameLabels) {
  Receiver receiver;
  Alertmanager to("http://127.0.0.1:" + std::to_string(receiver.server->port()), "rows.csv");
  EXPECT_TRUE(to.send().ok());  // nothing to say
  to.add(incident(AlertState::kOpen, 1764144000.25), kMetrics);
  ASSERT_TRUE(to.send().ok());
  to.add(incident(AlertState::kClosed, 1764144600), kMetrics);
  ASSERT_TRUE(to.send().ok());
  const std::lock_guard guard(receiver.lock);
  ASSERT_EQ(receiver.lines, (std::vector<std::string>{"POST /api/v2/alerts", "POST /api/v2/alerts"}));
  const auto opened = parse_json(receiver.bodies[0], "first");
  const auto closed = parse_json(receiver.bodies[1], "second");
  ASSERT_TRUE(opened.ok() && closed.ok());
  ASSERT_EQ(opened->size(), 1u);
  const Json& labels = (*opened)[0]["labels"];
  EXPECT_EQ(labels["alertname"], "PerfcastWatch");
  EXPECT_EQ(labels["incident"], "7");
  EXPECT_EQ(labels["metric"], "cpu");
  EXPECT_EQ(labels["group"], "web-1");
  EXPECT_EQ(labels["severity"], "minor");
  EXPECT_EQ((*closed)[0]["labels"], labels);
  EXPECT_EQ((*closed)[0]["annotations"]["severity"], "critical");
  EXPECT_EQ((*opened)[0]["startsAt"], "2025-11-26T08:00:00.000Z");
  EXPECT_EQ((*opened)[0]["endsAt"], "2025-12-03T08:00:00.250Z");
  EXPECT_EQ((*closed)[0]["endsAt"], "2025-11-26T08:10:00.000Z");
}

TEST(Alertmanager, KeepsWhatCouldNotBeSent) {
  Receiver receiver;
  Alertmanager to("http://127.0.0.1:" + std::to_string(receiver.server->port()) + "/", "rows.csv");
  {
    const std::lock_guard guard(receiver.lock);
    receiver.status = 500;
  }
  to.add(incident(AlertState::kOpen, 1764144000), kMetrics);
  const Status failed = to.send();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "the answer has status 500");
  to.add(incident(AlertState::kClosed, 1764144600), kMetrics);
  EXPECT_TRUE(to.send().ok());  // too soon: not tried
  EXPECT_EQ(to.waiting(), 2u);
  {
    const std::lock_guard guard(receiver.lock);
    receiver.status = 200;
  }
  EXPECT_TRUE(to.send(true).ok());
  EXPECT_EQ(to.waiting(), 0u);
  const std::lock_guard guard(receiver.lock);
  ASSERT_EQ(receiver.bodies.size(), 2u);
  const auto both = parse_json(receiver.bodies[1], "both");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->size(), 2u);
}

}  // namespace
}  // namespace perfcast::measure
