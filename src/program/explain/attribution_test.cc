#include "program/explain/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "profile/metrics/catalogue.h"
#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

using testing::IsEmpty;

// Log relative times linear in two rates, or their product: what each group adds is known exactly.
class FakePredictor : public Predictor {
 public:
  explicit FakePredictor(bool product) : product_(product) {}
  std::string family() const override { return "fake"; }
  Status fit(const TrainingTable&, const FitOptions&) override { return {}; }
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override {
    Eigen::MatrixXd result(static_cast<int64_t>(profiles.size()), 2);
    for (size_t i = 0; i < profiles.size(); ++i) {
      const MetricValues& metrics = profiles[i]->metrics;
      const double loads = metrics.at("loads_count") / metrics.at("instructions_count");
      const double branches = metrics.at("branches_count") / metrics.at("instructions_count");
      const double log = product_ ? loads * branches : 3 * loads + branches;
      result.row(static_cast<int64_t>(i)) << log, -log;
    }
    return result;
  }
  int64_t outputs() const override { return 2; }
  void save(TensorMap&) const override {}
  Status load(const TensorMap&) override { return {}; }

 private:
  bool product_;
};

Profile profile(double loads, double branches) {
  Profile result;
  result.metrics = {{"instructions_count", 1000}, {"loads_count", loads * 1000}, {"branches_count", branches * 1000}};
  return result;
}

const MetricValues kTypical = {{"loads_count", 0.2}, {"branches_count", 0.1}};

TEST(Attribute, AddsUpExactlyForALinearModel) {
  const Attribution result = attribute(FakePredictor(false), profile(0.4, 0.3), kTypical);
  ASSERT_EQ(result.groups.size(), 2u);
  EXPECT_NEAR(result.deviation_log(0), 0.8, 1e-12);
  EXPECT_EQ(result.groups[0].group, "memory");
  EXPECT_NEAR(result.groups[0].log(0), 0.6, 1e-12);
  EXPECT_NEAR(result.groups[0].log(1), -0.6, 1e-12);
  EXPECT_NEAR(result.groups[0].share, 0.75, 1e-12);
  EXPECT_EQ(result.groups[1].group, "branch");
  EXPECT_NEAR(result.groups[1].share, 0.25, 1e-12);
}

TEST(Attribute, SharesAnInteractionEvenly) {
  // 0.4 * 0.3 - 0.2 * 0.1 = 0.1; memory alone 0.02 then 0.06, branches alone 0.04 then 0.08.
  const Attribution result = attribute(FakePredictor(true), profile(0.4, 0.3), kTypical);
  ASSERT_EQ(result.groups.size(), 2u);
  EXPECT_EQ(result.groups[0].group, "branch");
  EXPECT_NEAR(result.groups[0].log(0), 0.06, 1e-12);
  EXPECT_NEAR(result.groups[1].log(0), 0.04, 1e-12);
}

TEST(Attribute, HasNothingToSayAboutATypicalProgram) {
  EXPECT_THAT(attribute(FakePredictor(false), profile(0.2, 0.1), kTypical).groups, IsEmpty());
  EXPECT_THAT(attribute(FakePredictor(false), Profile{}, kTypical).groups, IsEmpty());
}

TEST(Features, AllHaveAGroupAndAMeaning) {
  for (const std::string& name : work_feature_names()) {
    EXPECT_NE(group_of_feature(name), "other") << name;
    EXPECT_NE(describe_feature(name), name);
  }
  EXPECT_EQ(group_of_feature("relative_core_zen3_cycles_count"), "core");
  EXPECT_EQ(describe_feature("relative_core_zen3_cycles_count"),
            "cycles on the modelled core zen3, relative to the mean of all cores");
  EXPECT_EQ(describe_feature("rate_miss_32k_random_count"), "random reads that miss a 32 KiB cache per instruction");
}

TEST(Standings, OrderByDistanceFromTheTrainingPrograms) {
  Eigen::MatrixXd training(5, 3);
  training << 1, 10, 5, 2, 20, 5, 3, 30, 5, 4, 40, 5, 5, 50, 5;
  const auto result = standings(Eigen::RowVector3d(6, 30, 7), training, {"share_load", "share_branch", "share_x87"});
  ASSERT_EQ(result.size(), 2u);  // the third does not vary
  EXPECT_EQ(result[0].feature, "share_load");
  EXPECT_EQ(result[0].group, "memory");
  EXPECT_EQ(result[0].percentile, 100);
  EXPECT_GT(result[0].deviations, 1.5);
  EXPECT_EQ(result[1].percentile, 50);
  EXPECT_EQ(result[1].deviations, 0);
}

TEST(Standings, LeaveOutWhatIsAbsent) {
  const double absent = std::numeric_limits<double>::quiet_NaN();
  Eigen::MatrixXd training(4, 1);
  training << 1, 2, absent, 3;
  EXPECT_THAT(standings(Eigen::Matrix<double, 1, 1>(absent), training, {"share_load"}), IsEmpty());
  EXPECT_EQ(standings(Eigen::Matrix<double, 1, 1>(2.0), training, {"share_load"})[0].percentile, 50);
}

}  // namespace
}  // namespace perfcast::program
