#include "program/forecast/instance_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "program/corpus/all_cores.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::program {
namespace {

InstanceRow row_of(const std::string& name, double wall_s, double cost, double sharing = 0) {
  InstanceRow row;
  row.server.vendor = "cloud";
  row.server.name = name;
  row.wall_s = wall_s;
  row.cost_per_1000 = cost;
  row.sharing_half_width = sharing;
  return row;
}

TEST(InstanceChoice, NamesFastestCheapestAndWhatLiesBetween) {
  const std::vector<InstanceRow> rows = {row_of("fast", 1, 10), row_of("cheap", 3, 1), row_of("between", 1.15, 4)};
  std::vector<InstanceCandidate> candidates;
  for (size_t i = 0; i < rows.size(); ++i) candidates.push_back({&rows[i], i, "p" + std::to_string(i)});
  const Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(3, 3);
  const InstanceChoice sure = choose_instances(candidates, covariance, Eigen::VectorXd::Constant(3, 1e-3), 1.2);
  ASSERT_TRUE(sure.fastest && sure.cheapest && sure.compromise);
  EXPECT_EQ(sure.fastest->server, "fast");
  EXPECT_EQ(sure.cheapest->server, "cheap");
  EXPECT_EQ(sure.cheapest->platform, "p1");
  EXPECT_EQ(sure.compromise->server, "between");
  EXPECT_EQ(sure.fastest->chance_ratio, 1);
  EXPECT_EQ(sure.compromise->chance_ratio, 1);
  // Nothing is within 1.1 of the fastest but itself.
  EXPECT_EQ(choose_instances(candidates, covariance, Eigen::VectorXd::Constant(3, 1e-3), 1.1).compromise->server,
            "fast");
  const InstanceChoice unsure = choose_instances(candidates, covariance, Eigen::VectorXd::Constant(3, 1), 1.2);
  EXPECT_EQ(unsure.fastest->server, "fast");
  EXPECT_LT(unsure.fastest->chance_ratio, 0.8);
  EXPECT_GT(unsure.fastest->chance_ratio, 0.3);
}

// Two instances of one CPU model err alike, so which one is faster is sure; two CPU models that err alike likewise.
TEST(InstanceChoice, ErrorsThatAreSharedDontMatter) {
  const std::vector<InstanceRow> rows = {row_of("a", 1, 2), row_of("b", 1.2, 1)};
  const std::vector<InstanceCandidate> same = {{&rows[0], 0, "p"}, {&rows[1], 0, "p"}};
  const Eigen::VectorXd half = Eigen::VectorXd::Constant(2, 0.5);
  EXPECT_EQ(choose_instances(same, Eigen::MatrixXd::Identity(2, 2), half, 1.2).fastest->chance_ratio, 1);
  const std::vector<InstanceCandidate> two = {{&rows[0], 0, "p"}, {&rows[1], 1, "q"}};
  Eigen::MatrixXd alike = Eigen::MatrixXd::Constant(2, 2, 0.999);
  alike.diagonal().setOnes();
  EXPECT_GT(choose_instances(two, alike, half, 1.2).fastest->chance_ratio, 0.99);
  EXPECT_LT(choose_instances(two, Eigen::MatrixXd::Identity(2, 2), half, 1.2).fastest->chance_ratio, 0.9);
}

TEST(InstanceChoice, NeedsACostAndATime) {
  InstanceRow row = row_of("a", 1, 2);
  row.cost_per_1000.reset();
  EXPECT_FALSE(
      choose_instances({{&row, 0, "p"}}, Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Ones(1), 1.2).fastest);
  EXPECT_FALSE(choose_instances({}, Eigen::MatrixXd(), Eigen::VectorXd(), 1.2).cheapest);
}

// Two threads that had one CPU between them on a busy machine are two.
TEST(InstanceForecast, ThreadsAreThoseThatWantedToRun) {
  const Corpus corpus = synthetic_corpus({});
  const auto table = make_training_table(corpus, {});
  const auto bundle = train_bundle(*table, {.model = "mean", .coverage = 0.9, .fit = {}});
  ASSERT_TRUE(bundle);
  Profile profile = synthetic_profile({}, 11);
  const auto threads = [&](double running, double ready) {
    CourseInterval interval;
    interval.length_s = 1;
    interval.running_count = running;
    interval.ready_count = ready;
    profile.course = {interval};
    return InstanceForecaster(*bundle, profile, std::vector<double>(bundle->platforms.size(), 2.5), false).threads();
  };
  EXPECT_NEAR(threads(0.93, 1.01), 1.94, 1e-9);
  EXPECT_EQ(threads(0.5, 0.5), 1);  // one that waits for its turn
}

// Of programs that take 24 s on one core, on a server of eight vCPUs whose facts applications told, if they did.
class AllCores : public testing::Test {
 protected:
  AllCores() {
    const Corpus corpus = synthetic_corpus({});
    const auto table = make_training_table(corpus, {});
    auto trained = train_bundle(*table, {.model = "mean", .coverage = 0.9, .fit = {}});
    EXPECT_TRUE(trained);
    bundle_ = std::move(*trained);
    Server server;
    server.vendor = "v";
    server.name = "s";
    server.platform = bundle_.platforms[0].id;
    server.vcpus = 8;
    bundle_.servers = {server};
  }
  // Intervals of the profile's run: length, s, and threads that ran.
  InstanceRow forecast(const std::map<std::string, double>& facts,
                       const std::vector<std::pair<double, double>>& course = {}) const {
    Profile profile = synthetic_profile({}, 11);
    for (const auto& [length_s, threads] : course) {
      CourseInterval interval;
      interval.length_s = length_s;
      interval.running_count = threads;
      profile.course.push_back(interval);
    }
    InstanceRow row;
    row.server = bundle_.servers.front();
    row.server.facts = facts;
    row.price_per_hour = 3.6;
    const InstanceForecaster forecaster(bundle_, profile, std::vector<double>(bundle_.platforms.size(), 24), false);
    forecaster.fill(row, 0.3, {.copies = std::nullopt, .all_cores = true});
    return row;
  }

  Bundle bundle_;
  const std::map<std::string, double> twice_ = {
      {kAllCoresSlowdown, 2}, {kAllCoresDeviation, 0.1}, {kAllCoresFamilies, 10}};
};

TEST_F(AllCores, AreWorthWhatApplicationsMadeOfThem) {
  EXPECT_FALSE(forecast({}).wall_s);  // nothing was timed there
  const InstanceRow row = forecast(twice_);
  EXPECT_DOUBLE_EQ(row.wall_s.value(), 6);  // 24 s / 8 * 2
  EXPECT_EQ(row.copies, 1);
  EXPECT_DOUBLE_EQ(row.runs_per_hour.value(), 600);
  EXPECT_DOUBLE_EQ(row.cost_per_1000.value(), 6);
  EXPECT_NEAR(row.sharing_half_width, 1.8331 * 0.1 * std::sqrt(1.1), 1e-4);  // t(.95, 9)
  EXPECT_NEAR(std::log(*row.runs_per_hour_upper / *row.runs_per_hour), std::hypot(0.3, row.sharing_half_width), 1e-12);
}

// Half of the work with one thread alone: eight cores that are worth four take 24 s to 12 + 3 s.
TEST_F(AllCores, LeaveSerialWorkSerial) {
  const auto wall_s = [&](const std::vector<std::pair<double, double>>& course) {
    return forecast(twice_, course).wall_s.value();
  };
  EXPECT_DOUBLE_EQ(wall_s({{12, 1}, {6, 2}}), 15);
  EXPECT_DOUBLE_EQ(wall_s({{12, 2}}), 6);            // none of it alone
  EXPECT_DOUBLE_EQ(wall_s({{12, 1.9}, {6, 2}}), 6);  // a short wait now and then is none
  EXPECT_DOUBLE_EQ(wall_s({{24, 1}}), 6);            // nothing is known of a second thread
}

TEST(InstanceForecast, WithoutAScalingModelThereIsStillTheTimeOfARun) {
  const Corpus corpus = synthetic_corpus({});
  const auto table = make_training_table(corpus, {});
  auto bundle = train_bundle(*table, {.model = "mean", .coverage = 0.9, .fit = {}});
  ASSERT_TRUE(bundle);
  bundle->servers = corpus.servers;
  Profile profile = synthetic_profile({}, 11);
  profile.metrics["max_rss_bytes"] = 3.0 * (1 << 30);
  const InstanceForecaster forecaster(*bundle, profile, std::vector<double>(bundle->platforms.size(), 2.5), false);
  EXPECT_FALSE(forecaster.knows_scaling());
  EXPECT_EQ(forecaster.threads(), 1);
  InstanceRow row;
  row.server = corpus.servers.front();  // 2 vCPUs, 8 GiB
  forecaster.fill(row, 0.1, {});
  EXPECT_EQ(row.wall_s, 2.5);
  EXPECT_EQ(row.copies, 2);
  EXPECT_FALSE(row.memory_limits);
  EXPECT_FALSE(row.runs_per_hour);
  forecaster.fill(row, 0.1, {.copies = 64});
  EXPECT_TRUE(row.memory_limits);
  EXPECT_EQ(row.copies, 2);  // memory holds no third one
  profile.metrics["max_rss_bytes"] = 9.0 * (1 << 30);
  InstanceRow small;
  small.server = corpus.servers.front();
  InstanceForecaster(*bundle, profile, std::vector<double>(bundle->platforms.size(), 2.5), false).fill(small, 0.1, {});
  EXPECT_EQ(small.copies, 0);
  EXPECT_FALSE(small.wall_s);  // not even one
}

}  // namespace
}  // namespace perfcast::program
