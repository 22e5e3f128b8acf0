#include "explain/counterfactual.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast {
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
  result.metrics = {
      {"instructions_count", 1000}, {"loads_count", 400}, {"stores_count", 100}, {"syscalls_count", 0}};
  return result;
}

TEST(Counterfactuals, FindTheLeastChangeOfEachMetric) {
  const auto found =
      counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.platform = 0, .time_ratio = 1.1, .metrics = {}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].metric, "loads_count");
  EXPECT_NEAR(found[0].factor, (0.4 + std::log(1.1)) / 0.4, 1e-5);
  EXPECT_NEAR(found[0].before, 0.4, 1e-12);
  EXPECT_NEAR(found[0].after, 0.4 + std::log(1.1), 1e-5);
  EXPECT_NEAR(found[0].time_ratio, 1.1, 1e-5);
  // A jump: it is found where it is, and reaches beyond what was asked for.
  EXPECT_EQ(found[1].metric, "stores_count");
  EXPECT_NEAR(found[1].factor, 2, 1e-4);
  EXPECT_GT(found[1].factor, 2);
  EXPECT_NEAR(found[1].time_ratio, std::exp(1), 1e-9);
  EXPECT_EQ(counterfactual_in_words(found[1]), "memory writes per instruction 0.100 to 0.200 (x2.00)");
}

TEST(Counterfactuals, GoDownToNothingAndUpToOnePerInstruction) {
  const auto faster = counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.platform = 0, .time_ratio = 0.9});
  ASSERT_EQ(faster.size(), 1u);
  EXPECT_NEAR(faster[0].factor, (0.4 + std::log(0.9)) / 0.4, 1e-5);
  // More than all loads would have to go.
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.platform = 0, .time_ratio = 0.5}), IsEmpty());
  // On the other platform it is the other way round; against it, twice as much.
  const auto other = counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.platform = 1, .time_ratio = 0.9});
  ASSERT_EQ(other.size(), 2u);
  EXPECT_NEAR(other[0].factor, (0.4 - std::log(0.9)) / 0.4, 1e-5);
  const auto between = counterfactuals(LoadsAndManyStores(), loads_and_stores(),
                                       {.platform = 0, .against = 1, .time_ratio = 0.9, .metrics = {"loads_count"}});
  ASSERT_EQ(between.size(), 1u);
  EXPECT_NEAR(between[0].factor, (0.4 + std::log(0.9) / 2) / 0.4, 1e-5);
  // Four loads an instruction would be needed.
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(),
                              {.platform = 0, .time_ratio = 4, .metrics = {"loads_count"}}),
              IsEmpty());
}

TEST(Counterfactuals, OfNothingAreNone) {
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), Profile(), {}), IsEmpty());
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.time_ratio = 1}), IsEmpty());
  EXPECT_THAT(counterfactuals(LoadsAndManyStores(), loads_and_stores(), {.metrics = {"syscalls_count"}}), IsEmpty());
}

}  // namespace
}  // namespace perfcast
