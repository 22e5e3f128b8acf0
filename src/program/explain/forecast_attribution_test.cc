#include "program/explain/forecast_attribution.h"

#include <gmock/gmock.h>

#include <cmath>

#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

// Two platforms that differ in what loads and branches cost: log times 3 loads + branches and its negative.
class TwoRates : public Predictor {
 public:
  std::string family() const override { return "two-rates"; }
  Status fit(const TrainingTable&, const FitOptions&) override { return {}; }
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override {
    Eigen::MatrixXd result(static_cast<int64_t>(profiles.size()), 2);
    for (size_t i = 0; i < profiles.size(); ++i) {
      const double log = 3 * rate(*profiles[i], "loads_count") + rate(*profiles[i], "branches_count");
      result.row(static_cast<int64_t>(i)) << log, -log;
    }
    return result;
  }
  int64_t outputs() const override { return 2; }
  void save(TensorMap&) const override {}
  Status load(const TensorMap&) override { return {}; }

 protected:
  static double rate(const Profile& profile, const char* name) {
    return profile.metrics.at(name) / profile.metrics.at("instructions_count");
  }
};

class ToldTwoRates : public TwoRates, public FeatureAttributor {
 public:
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override {
    const double loads = rate(*request.profile, "loads_count") - rate(*request.reference, "loads_count");
    const double branches = rate(*request.profile, "branches_count") - rate(*request.reference, "branches_count");
    Eigen::MatrixXd log(2, 2);
    log << 3 * loads, -3 * loads, branches, -branches;
    return attribution_of(*this, request, AttributionMethod::kAdditive, {"rate_loads", "rate_branches"}, log);
  }
};

Profile two_rates(double loads, double branches) {
  Profile result;
  result.metrics = {{"instructions_count", 1000}, {"loads_count", loads * 1000}, {"branches_count", branches * 1000}};
  return result;
}

const MetricValues kTypicalRates = {{"loads_count", 0.2}, {"branches_count", 0.1}, {"stores_count", 0.1}};

TEST(AttributeForecast, NamesInputsWithTheirValuesAndGroups) {
  const auto found = attribute_forecast(ToldTwoRates(), ModelInputs(), kTypicalRates, two_rates(0.4, 0.3));
  ASSERT_TRUE(found) << to_text(found.error());
  ASSERT_EQ(found->inputs.size(), 2u);
  EXPECT_EQ(found->inputs[0].feature, "rate_loads");
  EXPECT_EQ(found->inputs[0].group, "memory");
  EXPECT_EQ(found->inputs[0].unit, "per instruction");
  EXPECT_NEAR(found->inputs[0].value, 0.4, 1e-12);
  EXPECT_NEAR(found->inputs[0].typical, 0.2, 1e-12);
  EXPECT_NEAR(found->baseline_log(0), 0.7, 1e-12);
  EXPECT_NEAR(found->forecast_log(0), 1.5, 1e-12);
  EXPECT_EQ(found->groups, (std::vector<std::string>{"memory", "branch"}));
  EXPECT_NEAR(found->group_log(0, 0), 0.6, 1e-12);
  EXPECT_NEAR(found->group_log(1, 1), -0.2, 1e-12);
  EXPECT_THAT(method_in_words(*found), HasSubstr("two-rates: additive, exact; sums are"));
}

TEST(AttributeForecast, FallsBackToGroups) {
  const auto found = attribute_forecast(TwoRates(), ModelInputs(), kTypicalRates, two_rates(0.4, 0.3));
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_TRUE(found->inputs.empty());
  EXPECT_EQ(found->groups, (std::vector<std::string>{"memory", "branch"}));
  EXPECT_NEAR(found->group_log(0, 0), 0.6, 1e-12);
  EXPECT_LE(found->residue_log, 1e-12);
  EXPECT_THAT(method_in_words(*found), HasSubstr("Shapley over groups, exact; sums are"));
  const auto none = attribute_forecast(TwoRates(), ModelInputs(), kTypicalRates, Profile());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "bad-profile");
}

TEST(SpreadOf, IsOfOnePlatformOrBetweenTwo) {
  const auto found = attribute_forecast(ToldTwoRates(), ModelInputs(), kTypicalRates, two_rates(0.25, 0.3));
  ASSERT_TRUE(found);
  const Spread one = spread_of(*found, 0);
  EXPECT_NEAR(one.log, 1.05, 1e-12);
  EXPECT_NEAR(one.baseline_log, 0.7, 1e-12);
  EXPECT_EQ(one.inputs[0].name, "rate_branches");
  EXPECT_NEAR(one.inputs[0].log, 0.2, 1e-12);
  EXPECT_EQ(one.groups[0].text, "branch behaviour");
  const Spread two = spread_of(*found, 1, 0);
  EXPECT_NEAR(two.log, -2.1, 1e-12);
  EXPECT_NEAR(two.inputs[0].log, -0.4, 1e-12);
  EXPECT_NEAR(two.groups[1].log, -0.3, 1e-12);
}

TEST(EffectOf, IsOfAllInputsThatTellOfTheMetrics) {
  Spread spread;
  spread.inputs = {{"share_branch_miss", "branch", "", std::log(1.1)},
                   {"rate_loads", "memory", "", std::log(1.5)},
                   {"rate_tage_misses", "branch", "", std::log(1.07)},
                   {"share_indirect_miss", "branch", "", std::log(0.5)}};
  const SpreadEffect effect =
      effect_of(spread, "branch mispredictions", {"tage_misses_count", "gshare_misses_count", "bimodal_misses_count"});
  EXPECT_NEAR(effect.log, std::log(1.1 * 1.07), 1e-12);
  EXPECT_EQ(effect.group, "branch");
  EXPECT_EQ(effect.text, "branch mispredictions");
  EXPECT_EQ(effect_of(spread, "nothing", {"syscalls_count"}).log, 0);
}

TEST(SpreadLine, SaysWhatIsLostAndGained) {
  Spread spread;
  spread.groups = {{"branch", "branch", "branch behaviour", std::log(1.18)},
                   {"memory", "memory", "memory and caches", std::log(0.95)},
                   {"mix", "mix", "the instruction mix", std::log(1.01)}};
  EXPECT_EQ(spread_line(spread, "Neoverse-N2"),
            "on Neoverse-N2 it loses 18% to branch behaviour and gains 5% from memory and caches");
  EXPECT_EQ(spread_line(spread, "Neoverse-N2", 0.005),
            "on Neoverse-N2 it loses 18% to branch behaviour, gains 5% from memory and caches and loses 1% to the "
            "instruction mix");
  spread.groups[1].log = std::log(1.1);
  EXPECT_EQ(spread_line(spread, "Neoverse-N2"),
            "on Neoverse-N2 it loses 18% to branch behaviour and 10% to memory and caches");
  EXPECT_EQ(spread_line(spread, "Neoverse-N2", 0.15), "on Neoverse-N2 it loses 18% to branch behaviour");
  EXPECT_EQ(spread_line(spread, "Neoverse-N2", 0.5), "");
}

// What the shipped bundles are made of, on a world of tests: every input has its value, and its group its sum.
TEST(AttributeForecast, TakesAWholeModelApart) {
  const auto world = testing_world::additive_world({.programs = 24, .platforms = 4, .families = 12});
  auto predictor = make_predictor("cores:stack");
  ASSERT_TRUE(predictor && (*predictor)->fit(world.table, {}).ok());
  MetricValues typical;
  for (const std::string& name : all_feature_metrics()) typical[name] = 0.01;
  const auto found =
      attribute_forecast(**predictor, ModelInputs::choose(world.table), typical, world.table.profiles[2]);
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_LE(found->residue_log, kMostResidueLog);
  ASSERT_GT(found->inputs.size(), work_feature_names().size() - 1);
  for (const AttributedInput& input : found->inputs) {
    EXPECT_FALSE(std::isnan(input.value)) << input.feature;
    EXPECT_FALSE(std::isnan(input.typical)) << input.feature;
    EXPECT_NE(input.group, "other") << input.feature;
    EXPECT_FALSE(input.unit.empty()) << input.feature;
  }
  EXPECT_TRUE(found->log.colwise().sum().isApprox(found->group_log.colwise().sum(), 1e-9));
  EXPECT_THAT(method_in_words(*found), HasSubstr("forest: TreeSHAP, exact; physics, cores: additive, exact; knn, "
                                                 "cluster: Shapley over groups"));
}

}  // namespace
}  // namespace perfcast::program
