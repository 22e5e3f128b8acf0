#include "model/attribution/feature_attribution.h"

#include <gmock/gmock.h>

#include "model/predictor.h"

namespace perfcast {
namespace {

FeatureAttribution simple_attribution(std::vector<std::string> features, Eigen::MatrixXd log) {
  FeatureAttribution result;
  result.features = std::move(features);
  result.baseline_log = Eigen::VectorXd::Constant(log.cols(), 0.5);
  result.forecast_log = result.baseline_log + log.colwise().sum().transpose();
  result.log = std::move(log);
  result.parts.push_back({"part"});
  return result;
}

TEST(SumOf, TakesInputsOfOneNameTogether) {
  const FeatureAttribution sum = sum_of(
      {simple_attribution({"a", "b"}, Eigen::Vector2d(1, 2)), simple_attribution({"c", "a"}, Eigen::Vector2d(4, 8))},
      0.5);
  EXPECT_EQ(sum.features, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(sum.log.col(0), Eigen::Vector3d(4.5, 1, 2));
  EXPECT_DOUBLE_EQ(sum.baseline_log(0), 0.5);
  EXPECT_DOUBLE_EQ(sum.forecast_log(0), 8);
  EXPECT_EQ(sum.residue_log, 0);
  EXPECT_EQ(sum.parts.size(), 2u);
}

TEST(CentredOverPlatforms, LeavesWhatSetsPlatformsApart) {
  Eigen::MatrixXd log(2, 2);
  log << 1, 3, 5, 5;
  EXPECT_EQ(centred_over_platforms(log).row(0), Eigen::RowVector2d(-1, 1));
  EXPECT_TRUE(centred_over_platforms(log).row(1).isZero(0));
}

// 2 x and its negative, of the instructions alone.
class ToldPredictor : public Predictor, public FeatureAttributor {
 public:
  explicit ToldPredictor(double told) : told_(told) {}
  std::string family() const override { return "told"; }
  Status fit(const TrainingTable&, const FitOptions&) override { return {}; }
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override {
    Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), 2);
    for (size_t i = 0; i < profiles.size(); ++i) {
      const double log = 2 * profiles[i]->metrics.at("instructions_count");
      result.row(static_cast<Eigen::Index>(i)) << log, -log;
    }
    return result;
  }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override {
    return attribution_of(*this, request, AttributionMethod::kAdditive, {"x"}, Eigen::RowVector2d(told_, -told_));
  }
  int64_t outputs() const override { return 2; }
  void save(TensorMap&) const override {}
  Status load(const TensorMap&) override { return {}; }

 private:
  double told_;
};

TEST(AttributeFeatures, ChecksTheSums) {
  Profile profile, reference;
  profile.metrics = {{"instructions_count", 3}};
  reference.metrics = {{"instructions_count", 1}};
  const AttributionRequest request{&profile, &reference};
  const auto right = attribute_features(ToldPredictor(4), request);
  ASSERT_TRUE(right) << to_text(right.error());
  EXPECT_EQ(right->baseline_log, Eigen::Vector2d(2, -2));
  EXPECT_EQ(right->forecast_log, Eigen::Vector2d(6, -6));
  EXPECT_EQ(right->residue_log, 0);
  const auto wrong = attribute_features(ToldPredictor(4.00001), request);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "attribution-incomplete");
}

}  // namespace
}  // namespace perfcast
