#include "program/explain/counterfactual.h"

#include <gmock/gmock.h>

#include <cmath>

#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

using testing::IsEmpty;

// Loads cost on the first of two platforms; of stores it only knows whether they are many.
class LoadsAndManyStores : public Predictor {
 public:
  std::string family() const override { return "fake"; }
  Status fit(const TrainingTable&, const FitOptions&) override { return {}; }
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override {
    Eigen::MatrixXd result(static_cast<int64_t>(profiles.size()), 2);
    for (size_t i = 0; i < profiles.size(); ++i) {
      const MetricValues& metrics = profiles[i]->metrics;
      const double loads = metrics.at("loads_count") / metrics.at("instructions_count");
      const double log = loads + (metrics.at("stores_count") > 200 ? 1 : 0);
      result.row(static_cast<int64_t>(i)) << log, -log;
    }
    return result;
  }
  int64_t outputs() const override { return 2; }
  void save(TensorMap&) const override {}
  Status load(const TensorMap&) override { return {}; }
};

Profile loads_and_stores() {
  Profile result;
  result.metrics = {{"instructions_count", 1000}, {"loads_count", 400}, {"stores_count", 100}, {"syscalls_count", 0}};
  return result;
}

TEST(Counterfactuals, FindTheLeastChangeOfEachCounter) {
  const auto found =
      counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.platform = 0, .time_ratio = 1.1, .causes = {}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].cause.name, "loads and stores");
  EXPECT_NEAR(found[0].factor, (0.4 + std::log(1.1)) / 0.4, 1e-5);
  EXPECT_EQ(counterfactual_in_words(found[0]), "loads and stores x1.24: relative time x1.10");
  EXPECT_EQ(found[1].cause.name, "loads_count");
  EXPECT_TRUE(found[1].reaches);
  EXPECT_NEAR(found[1].factor, (0.4 + std::log(1.1)) / 0.4, 1e-5);
  EXPECT_NEAR(found[1].before, 0.4, 1e-12);
  EXPECT_NEAR(found[1].after, 0.4 + std::log(1.1), 1e-5);
  EXPECT_NEAR(found[1].time_ratio, 1.1, 1e-5);
  // A jump: it is found where it is, and reaches beyond what was asked for.
  EXPECT_EQ(found[2].cause.name, "stores_count");
  EXPECT_NEAR(found[2].factor, 2, 1e-4);
  EXPECT_GT(found[2].factor, 2);
  EXPECT_NEAR(found[2].time_ratio, std::exp(1), 1e-9);
  EXPECT_EQ(counterfactual_in_words(found[2]),
            "memory writes per instruction 0.100 to 0.200 (x2.00): relative time x2.72");
}

const MetricCause kLoads = {"loads_count", "loads", {"loads_count"}};

TEST(Counterfactuals, GoDownToNothingAndUpToOnePerInstruction) {
  const LoadsAndManyStores model;
  const auto faster =
      counterfactuals(model, loads_and_stores(), {.platform = 0, .time_ratio = 0.9, .causes = {kLoads}});
  ASSERT_EQ(faster.size(), 1u);
  EXPECT_NEAR(faster[0].factor, (0.4 + std::log(0.9)) / 0.4, 1e-5);
  // More than all loads would have to go, or come: 2.5 times as many are one for each instruction.
  const auto all = counterfactuals(model, loads_and_stores(), {.platform = 0, .time_ratio = 0.5, .causes = {kLoads}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].reaches);
  EXPECT_EQ(all[0].factor, 0);
  EXPECT_NEAR(all[0].time_ratio, std::exp(-0.4), 1e-12);
  EXPECT_EQ(counterfactual_in_words(all[0]), "loads 0.400 to none (x0.00): relative time x0.67, no farther");
  const auto slower = counterfactuals(model, loads_and_stores(), {.platform = 0, .time_ratio = 4, .causes = {kLoads}});
  ASSERT_EQ(slower.size(), 1u);
  EXPECT_FALSE(slower[0].reaches);
  EXPECT_NEAR(slower[0].factor, 2, 1e-12);
  // On the other platform it is the other way round; against it, twice as much.
  const auto other = counterfactuals(model, loads_and_stores(), {.platform = 1, .time_ratio = 0.9, .causes = {kLoads}});
  ASSERT_EQ(other.size(), 1u);
  EXPECT_NEAR(other[0].factor, (0.4 - std::log(0.9)) / 0.4, 1e-5);
  const auto between =
      counterfactuals(model, loads_and_stores(), {.platform = 0, .against = 1, .time_ratio = 0.9, .causes = {kLoads}});
  ASSERT_EQ(between.size(), 1u);
  EXPECT_NEAR(between[0].factor, (0.4 + std::log(0.9) / 2) / 0.4, 1e-5);
}

TEST(Counterfactuals, OfNothingAreNone) {
  const MetricCause calls = {"syscalls_count", "system calls", {"syscalls_count"}};
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), Profile(), {}), IsEmpty());
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.time_ratio = 1}), IsEmpty());
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.causes = {calls}}), IsEmpty());
}

TEST(CausesIn, AreWhatGoesTogetherThenEachCounter) {
  Profile profile;
  profile.metrics["instructions_count"] = 1000;
  for (const std::string& metric : work_feature_metrics()) profile.metrics[metric] = 1;
  profile.metrics["op_x87_mul_count"] = 0;
  const std::vector<MetricCause> causes = causes_in(profile);
  EXPECT_EQ(causes.size(), 11 + work_feature_metrics().size() - 2);
  EXPECT_EQ(causes[0].name, "branch mispredictions");
  EXPECT_THAT(causes[0].metrics, testing::UnorderedElementsAre("tage_misses_count", "gshare_misses_count",
                                                               "bimodal_misses_count", "indirect_misses_count"));
  EXPECT_THAT(causes[1].metrics, testing::SizeIs(10));
  EXPECT_THAT(causes[1].metrics, testing::Not(testing::Contains("miss_1m_store_random_count")));
  EXPECT_THAT(causes[3].metrics, testing::SizeIs(20));
}

}  // namespace
}  // namespace perfcast::program
