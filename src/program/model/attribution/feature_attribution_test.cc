#include "program/model/attribution/feature_attribution.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "program/model/predictor.h"

namespace perfcast::program {
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

// Programs of four plain counters, each an input of its own, so that a subset of inputs is a profile.
TrainingTable four_counters() {
  TrainingTable table;
  for (const char* name : {"A", "B", "C"}) {
    Platform platform;
    platform.id = platform.name = name;
    table.platforms.push_back(platform);
  }
  Random random(8);
  for (int p = 0; p < 40; ++p) {
    Program program;
    program.id = "program" + std::to_string(p);
    program.family = "family" + std::to_string(p);
    table.programs.push_back(program);
    Profile profile;
    for (const char* counter : {"w_count", "x_count", "y_count", "z_count"}) {
      profile.metrics[counter] = std::exp(random.uniform(0, 6));
    }
    const double w = std::log(profile.metrics["w_count"]), x = std::log(profile.metrics["x_count"]);
    const double y = std::log(profile.metrics["y_count"]);
    for (const double log : {0.1 * w, x > 3 && y > 3 ? 0.5 : 0, -0.1 * y}) {
      PlatformTime time;
      time.log_time = log;
      time.servers = 1;
      table.times.emplace_back(time);
    }
    table.profiles.push_back(std::move(profile));
  }
  return table;
}

// By the definition and by predict() alone, [counters x platforms]: each subset's forecast, weighted by its chance in
// drawn orders.
Eigen::MatrixXd shapley_by_definition(const Predictor& predictor, const Profile& own, const Profile& reference) {
  std::vector<std::string> names;
  for (const auto& [name, value] : own.metrics) names.push_back(name);
  const size_t count = names.size();
  std::vector<Profile> mixed(size_t{1} << count, reference);
  std::vector<const Profile*> pointers;
  for (size_t subset = 0; subset < mixed.size(); ++subset) {
    for (size_t i = 0; i < count; ++i) {
      if ((subset >> i & 1) != 0) mixed[subset].metrics[names[i]] = own.metrics.at(names[i]);
    }
    pointers.push_back(&mixed[subset]);
  }
  const Eigen::MatrixXd forecasts = predictor.predict(pointers);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(count), forecasts.cols());
  for (size_t i = 0; i < count; ++i) {
    for (size_t subset = 0; subset < mixed.size(); ++subset) {
      if ((subset >> i & 1) != 0) continue;
      const double before = static_cast<double>(__builtin_popcountll(subset)),
                   after = static_cast<double>(count) - before;
      const double chance = std::tgamma(before + 1) * std::tgamma(after) / std::tgamma(static_cast<double>(count) + 1);
      result.row(static_cast<Eigen::Index>(i)) +=
          chance * (forecasts.row(static_cast<Eigen::Index>(subset | size_t{1} << i)) -
                    forecasts.row(static_cast<Eigen::Index>(subset)));
    }
  }
  return result;
}

TEST(AttributeFeatures, AreShapleyValuesWhereTheMethodIsExact) {
  const TrainingTable table = four_counters();
  for (const char* family : {"forest", "gbt", "lasso", "knn", "cluster", "forest+gbt+lasso"}) {
    const auto predictor = make_predictor(family);
    ASSERT_TRUE(predictor);
    const Status fitted = (*predictor)->fit(table, {});
    ASSERT_TRUE(fitted.ok()) << to_text(fitted.error());
    for (const size_t p : {size_t{1}, size_t{17}, size_t{30}}) {
      const Profile &own = table.profiles[p], &reference = table.profiles[p + 3];
      // Each input is a group of its own: over groups is then over inputs.
      const AttributionRequest request{&own, &reference, [](const std::string& feature) { return feature; }};
      const auto found = attribute_features(**predictor, request);
      ASSERT_TRUE(found) << to_text(found.error());
      ASSERT_EQ(found->features,
                (std::vector<std::string>{"log_w_count", "log_x_count", "log_y_count", "log_z_count"}));
      const Eigen::MatrixXd defined = shapley_by_definition(**predictor, own, reference);
      EXPECT_LT((found->log - defined).cwiseAbs().maxCoeff(), 1e-12) << family << " " << p;
      EXPECT_GT(defined.cwiseAbs().maxCoeff(), 1e-3) << family;
    }
  }
}

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
}  // namespace perfcast::program
