#include "program/model/features/work_features.h"

#include <gmock/gmock.h>

#include <cmath>

#include "profile/metrics/catalogue.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

Eigen::Index index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return found - names.begin();
}

Profile plain_profile() {
  Profile profile;
  for (const std::string& metric : work_feature_metrics()) profile.metrics[metric] = 0;
  profile.metrics["instructions_count"] = 1000;
  return profile;
}

TEST(Features, EveryMetricIsInTheCatalogue) {
  for (const std::string& metric : all_feature_metrics()) {
    EXPECT_NE(Catalogue::built_in().find(metric), nullptr) << metric;
  }
}

TEST(Features, RatesArePerInstruction) {
  Profile profile = plain_profile();
  profile.metrics["op_int_div_count"] = 50;
  const Eigen::MatrixXd rates = work_rates({&profile});
  const auto names = work_class_names();
  EXPECT_DOUBLE_EQ(rates(0, index_of(names, "int_divide")), 0.05);
  EXPECT_DOUBLE_EQ(rates(0, index_of(names, "base")), 1);
  EXPECT_DOUBLE_EQ(rates(0, index_of(names, "memory")), 0);
}

TEST(Features, SharesAreSquareRootsThatSumToOneSquared) {
  Profile profile = plain_profile();
  profile.metrics["op_int_div_count"] = 50;
  const Eigen::MatrixXd features = extract_work_features({&profile});
  const auto classes = static_cast<Eigen::Index>(work_class_names().size());
  EXPECT_NEAR(features.row(0).head(classes).squaredNorm(), 1, 1e-12);
  const Eigen::VectorXd costs = textbook_costs();
  const double divide = 0.05 * costs(index_of(work_class_names(), "int_divide"));
  const double base = costs(index_of(work_class_names(), "base"));
  EXPECT_NEAR(features(0, index_of(work_feature_names(), "share_int_divide")), std::sqrt(divide / (divide + base)),
              1e-12);
  EXPECT_NEAR(features(0, index_of(work_feature_names(), "rate_op_int_div")), std::log(0.05 + 1e-4), 1e-12);
}

TEST(Features, QuantitiesAreWhatValuesStandFor) {
  Profile profile = plain_profile();
  profile.metrics["op_int_div_count"] = 50;
  profile.metrics["page_faults_minor_count"] = 0.001;
  const Eigen::MatrixXd features = extract_work_features({&profile});
  const auto quantity = [&](const std::string& name) {
    return feature_quantity(name, features(0, index_of(work_feature_names(), name)));
  };
  EXPECT_NEAR(quantity("rate_op_int_div"), 0.05, 1e-12);
  EXPECT_NEAR(quantity("rate_page_faults_minor"), 1e-6, 1e-15);
  EXPECT_NEAR(quantity("rate_op_int_mul"), 0, 1e-15);
  EXPECT_NEAR(quantity("share_base") + quantity("share_int_divide") + quantity("share_page_fault"), 1, 1e-12);
  EXPECT_DOUBLE_EQ(feature_quantity("relative_core_zen3_cycles_count", std::log(0.8)), 0.8);
  EXPECT_DOUBLE_EQ(feature_quantity("log_nvprof_warps_count", std::log(8)), 8);
  EXPECT_EQ(feature_quantity("on_Some GPU", 1), 1);
  EXPECT_TRUE(std::isnan(feature_quantity("rate_loads", std::nan(""))));
}

TEST(Features, SayWhichMetricsTheyTellOf) {
  using testing::ElementsAre;
  EXPECT_THAT(metrics_of_feature("share_branch_miss"), ElementsAre("tage_misses_count"));
  EXPECT_THAT(metrics_of_feature("share_l3_hit"), ElementsAre("miss_1m_random_count", "miss_16m_random_count"));
  EXPECT_THAT(metrics_of_feature("rate_miss_2m_store"),
              ElementsAre("miss_2m_store_sequential_count", "miss_2m_store_random_count"));
  EXPECT_THAT(metrics_of_feature("relative_core_zen3_cycles_count"), ElementsAre("core_zen3_cycles_count"));
  EXPECT_THAT(metrics_of_feature("log_nvprof_warps_count"), ElementsAre("nvprof_warps_count"));
}

TEST(Features, LengthOfTheRunDoesNotMatter) {
  Random random(3);
  const Profile profile = testing_world::random_profile(random, "a");
  Profile twice = profile;
  for (auto& [name, value] : twice.metrics) value *= 2;
  EXPECT_TRUE(extract_work_features({&profile}).isApprox(extract_work_features({&twice}), 1e-12));
}

TEST(Features, DifferencesOfCountersDoNotGoBelowZero) {
  Profile profile = plain_profile();
  profile.metrics["miss_32k_random_count"] = 5;
  profile.metrics["miss_1m_random_count"] = 9;  // larger cache, more misses: possible under sampling
  EXPECT_EQ(work_rates({&profile})(0, index_of(work_class_names(), "l2_hit")), 0);
}

TEST(Features, AbsentIsNotZero) {
  Profile profile = plain_profile();
  profile.metrics.erase("tlb_miss_count");
  const Eigen::MatrixXd features = extract_work_features({&profile});
  EXPECT_TRUE(std::isnan(features(0, index_of(work_feature_names(), "share_tlb_miss"))));
  EXPECT_TRUE(std::isnan(features(0, index_of(work_feature_names(), "rate_tlb_miss"))));
  EXPECT_FALSE(std::isnan(features(0, index_of(work_feature_names(), "share_page_walk"))));
}

TEST(Features, WithoutInstructionsNothingIsKnown) {
  Profile profile = plain_profile();
  profile.metrics.erase("instructions_count");
  EXPECT_TRUE(extract_work_features({&profile}).array().isNaN().all());
  const Profile empty;
  EXPECT_TRUE(extract_work_features({&empty}).array().isNaN().all());
}

}  // namespace
}  // namespace perfcast::program
