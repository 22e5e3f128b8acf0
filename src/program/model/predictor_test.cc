// What every family must do, and what each alone can.

#include "program/model/predictor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/combined/auto_predictor.h"
#include "program/model/combined/stack_predictor.h"
#include "program/model/factor/factor_predictor.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/linear/additive_cost.h"
#include "program/model/neighbour/knn_predictor.h"
#include "program/model/neural/dense_predictor.h"
#include "program/model/neural/vae_predictor.h"
#include "program/model/physics/physics_predictor.h"
#include "program/model/test_world.h"
#include "program/model/tree/forest_predictor.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;
using testing_world::split_table;
using testing_world::World;

class EveryFamily : public testing::TestWithParam<std::string> {
 protected:
  // The network at a size that tests can afford; every other family as it is.
  static std::unique_ptr<Predictor> unfitted() {
    if (GetParam() == "dnn") return std::make_unique<DensePredictor>(DenseOptions{.hidden = {32, 32}});
    if (GetParam().starts_with("vae-dnn")) {
      VaeRegressorConfig config;
      config.latent = 4;
      config.hidden = {16};
      config.head_hidden = {32, 32};
      config.pretrain_epochs = config.vae_epochs = config.head_epochs = 5;
      return std::make_unique<VaePredictor>(GetParam(), config);
    }
    auto predictor = make_predictor(GetParam());
    EXPECT_TRUE(predictor);
    return std::move(*predictor);
  }
  static std::unique_ptr<Predictor> fitted(const TrainingTable& table) {
    auto predictor = unfitted();
    const Status status = predictor->fit(table, {.seed = 1, .threads = 1});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : to_text(status.error()));
    return predictor;
  }
};

TEST_P(EveryFamily, ForecastsAreCentredAndFinite) {
  const World world = additive_world({.programs = 24, .platforms = 5, .families = 12});
  const auto predictor = fitted(world.table);
  EXPECT_EQ(predictor->family(), GetParam());
  EXPECT_EQ(predictor->outputs(), 5);
  const Eigen::MatrixXd predicted = predictor->predict(profiles_of(world.table));
  ASSERT_EQ(predicted.rows(), 24);
  ASSERT_EQ(predicted.cols(), 5);
  EXPECT_TRUE(predicted.allFinite());
  EXPECT_NEAR(predicted.rowwise().mean().cwiseAbs().maxCoeff(), 0, 1e-6);
  EXPECT_EQ(predictor->predict_with_disagreement(profiles_of(world.table)).disagreement.size(), 24);
  EXPECT_EQ(predictor->predict({}).rows(), 0);
}

TEST_P(EveryFamily, SameSeedSameForecast) {
  const World world = additive_world({.programs = 16, .platforms = 3, .families = 8});
  const auto profiles = profiles_of(world.table);
  EXPECT_EQ(fitted(world.table)->predict(profiles), fitted(world.table)->predict(profiles));
}

// Enough rows for the work to be shared; a network wide enough for it.
TEST(Threads, DontChangeAForecast) {
  const World world = additive_world({.programs = 300, .platforms = 24, .families = 30});
  const auto forecasts_of = [&](Predictor& predictor, int threads) {
    const Status status = predictor.fit(world.table, {.seed = 1, .threads = threads});
    EXPECT_TRUE(status.ok());
    return predictor.predict(profiles_of(world.table));
  };
  DensePredictor one({.hidden = {1024, 1024}, .most_epochs = 3});
  DensePredictor three({.hidden = {1024, 1024}, .most_epochs = 3});
  EXPECT_EQ(forecasts_of(one, 1), forecasts_of(three, 3));
  VaeRegressorConfig config;
  config.batch = 64;
  config.pretrain_epochs = config.vae_epochs = config.head_epochs = 1;
  VaePredictor vae_one("vae-dnn", config), vae_three("vae-dnn", config);
  EXPECT_EQ(forecasts_of(vae_one, 1), forecasts_of(vae_three, 3));
  ForestPredictor forest_one({.trees = 5}), forest_three({.trees = 5});
  EXPECT_EQ(forecasts_of(forest_one, 1), forecasts_of(forest_three, 3));
  const auto boosted_one = make_predictor("gbt"), boosted_three = make_predictor("gbt");
  EXPECT_EQ(forecasts_of(**boosted_one, 1), forecasts_of(**boosted_three, 3));
}

TEST_P(EveryFamily, ForecastsTheSameAfterSaveAndLoad) {
  const World world = additive_world({.programs = 16, .platforms = 3, .families = 8});
  const auto predictor = fitted(world.table);
  TensorMap tensors;
  predictor->save(tensors);
  auto loaded = make_predictor(GetParam());
  ASSERT_TRUE(loaded);
  const Status status = (*loaded)->load(tensors);
  ASSERT_TRUE(status.ok()) << to_text(status.error());
  const auto profiles = profiles_of(world.table);
  EXPECT_EQ((*loaded)->predict(profiles), predictor->predict(profiles));
  EXPECT_EQ((*loaded)->outputs(), 3);
  EXPECT_EQ((*loaded)->family(), GetParam());
}

TEST_P(EveryFamily, RefusesABundleWithoutItsTensors) {
  auto predictor = make_predictor(GetParam());
  ASSERT_TRUE(predictor);
  const Status status = (*predictor)->load(TensorMap{});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "bad-bundle");
}

TEST_P(EveryFamily, TakesMissingCountersAndMissingTimes) {
  World world = additive_world({.programs = 24, .platforms = 4, .families = 12});
  world.table.times[5].reset();
  world.table.times[17].reset();
  world.table.profiles[3].metrics.erase("tlb_miss_count");
  const auto predictor = fitted(world.table);
  Profile sparse;
  sparse.metrics["instructions_count"] = 1e9;
  sparse.metrics["loads_count"] = 3e8;
  const Eigen::MatrixXd predicted = predictor->predict({&sparse, &world.table.profiles[3]});
  EXPECT_TRUE(predicted.allFinite());
}

// What inputs add: on every platform it comes to the forecast, and against itself a program has nothing to add. One
// program lacks a counter, the other is of another instruction set, of which models of cores say nothing.
TEST_P(EveryFamily, AttributionsSumToTheForecast) {
  World world = additive_world({.programs = 24, .platforms = 5, .families = 12});
  for (size_t j = 0; j < 5; ++j) {
    world.table.platforms[j].name = j % 2 == 0 ? "AMD EPYC 9654" : "Intel Xeon Platinum 8375C";
    world.table.platforms[j].vendor = j % 2 == 0 ? "AMD" : "Intel";
    if (j % 2 == 0) world.table.platforms[j].model = 17;
  }
  Random random(3);
  for (Profile& profile : world.table.profiles) {
    for (const std::string& metric : core_metrics()) profile.metrics[metric] *= std::exp(0.3 * random.normal());
  }
  const auto predictor = fitted(world.table);
  Profile sparse = world.table.profiles[3], other = world.table.profiles[5];
  sparse.metrics.erase("tlb_miss_count");
  other.instruction_set = "aarch64";
  const std::vector<const Profile*> programs = {&sparse, &world.table.profiles[4], &other};
  for (const Profile* profile : programs) {
    const auto attribution = attribute_features(*predictor, {profile, &world.table.profiles[7]});
    ASSERT_TRUE(attribution) << to_text(attribution.error());
    const Eigen::MatrixXd forecasts = predictor->predict({profile, &world.table.profiles[7]});
    ASSERT_EQ(attribution->log.rows(), static_cast<Eigen::Index>(attribution->features.size()));
    const Eigen::VectorXd sums = attribution->baseline_log + attribution->log.colwise().sum().transpose();
    EXPECT_LT((sums - forecasts.row(0).transpose()).cwiseAbs().maxCoeff(), kMostResidueLog);
    EXPECT_LT((attribution->baseline_log - forecasts.row(1).transpose()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((attribution->forecast_log - forecasts.row(0).transpose()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE(attribution->residue_log, kMostResidueLog);
    EXPECT_FALSE(attribution->parts.empty());
  }
  const auto own = attribute_features(*predictor, {&sparse, &sparse});
  ASSERT_TRUE(own) << to_text(own.error());
  EXPECT_TRUE(own->log.isZero(0));
}

TEST_P(EveryFamily, RefusesAnEmptyTable) {
  auto predictor = make_predictor(GetParam());
  ASSERT_TRUE(predictor);
  const Status status = (*predictor)->fit(TrainingTable{}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "empty-table");
}

std::vector<std::string> families_and_on_cores() {
  std::vector<std::string> families = predictor_families();
  families.emplace_back("cores:stack");
  return families;
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily, testing::ValuesIn(families_and_on_cores()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), ':', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Each program profiled on each of two GPUs by a tool of which no instruction mix is known.
TrainingTable counters_world() {
  const World world = additive_world({.programs = 20, .platforms = 3, .families = 10});
  TrainingTable table;
  table.platforms = world.table.platforms;
  for (size_t p = 0; p < world.table.programs.size(); ++p) {
    for (const char* gpu : {"GPU A", "GPU B"}) {
      Profile profile;
      profile.host.name = gpu;
      const auto value = static_cast<double>(p);
      profile.metrics = {{"nvprof_warps_count", 1 + value * value}, {"nvprof_occupancy_ratio", value / 20}};
      table.programs.push_back(world.table.programs[p]);
      table.profiles.push_back(profile);
      for (size_t j = 0; j < 3; ++j) table.times.push_back(world.table.at(p, j));
    }
  }
  return table;
}

TEST_P(EveryFamily, TakesPlainCountersOrSaysThatItCannot) {
  const TrainingTable table = counters_world();
  auto predictor = unfitted();
  const Status status = predictor->fit(table, {.seed = 1, .threads = 1});
  if (GetParam() == "physics" || GetParam() == "nncost") {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, "bad-profile");
    return;
  }
  ASSERT_TRUE(status.ok()) << to_text(status.error());
  TensorMap tensors;
  predictor->save(tensors);
  auto loaded = make_predictor(GetParam());
  const Status read = (*loaded)->load(tensors);
  ASSERT_TRUE(read.ok()) << to_text(read.error());
  const Eigen::MatrixXd predicted = predictor->predict(profiles_of(table));
  EXPECT_TRUE(predicted.allFinite());
  EXPECT_EQ((*loaded)->predict(profiles_of(table)), predicted);
}

// Whatever the user lets models see: kept with the model, and a profile of a platform unknown to it is no trouble.
TEST_P(EveryFamily, SeesWhatTheTableAllows) {
  TrainingTable table = additive_world({.programs = 24, .platforms = 3, .families = 12}).table;
  for (size_t p = 0; p < table.profiles.size(); ++p) {
    table.profiles[p].host.name = p % 2 == 0 ? "Platform 0" : "Platform 1";
  }
  table.inputs.facts = {{"Platform 0", {{"l2_bytes", 1e6}}}, {"Platform 1", {{"l2_bytes", 2e6}}}};
  for (const auto counters : {InputChoice::Counters::kAll, InputChoice::Counters::kTable1}) {
    for (const auto source : {InputChoice::Source::kOneHot, InputChoice::Source::kFacts, InputChoice::Source::kNone}) {
      table.inputs.counters = counters;
      table.inputs.source = source;
      auto predictor = unfitted();
      const Status status = predictor->fit(table, {.seed = 1, .threads = 1});
      if (!status && (GetParam() == "physics" || GetParam() == "nncost")) {
        EXPECT_EQ(status.error().code, "bad-inputs");
        EXPECT_EQ(counters, InputChoice::Counters::kTable1);
        continue;
      }
      ASSERT_TRUE(status.ok()) << to_text(status.error());
      TensorMap tensors;
      predictor->save(tensors);
      auto loaded = make_predictor(GetParam());
      const Status read = (*loaded)->load(tensors);
      ASSERT_TRUE(read.ok()) << to_text(read.error());
      Profile elsewhere = table.profiles[0];
      elsewhere.host.name = "Platform 9";
      Profile nowhere = elsewhere;
      nowhere.host.name = "";
      const std::vector<const Profile*> profiles = {&table.profiles[0], &elsewhere, &nowhere};
      const Eigen::MatrixXd predicted = predictor->predict(profiles);
      EXPECT_TRUE(predicted.allFinite());
      EXPECT_EQ((*loaded)->predict(profiles), predicted);
      if (source == InputChoice::Source::kNone) {
        EXPECT_EQ(predicted.row(0), predicted.row(1));
      }
    }
  }
}

double held_out_error(Predictor& predictor, const TrainingTable& train, const TrainingTable& test) {
  EXPECT_TRUE(predictor.fit(train, {}).ok());
  const auto targets = make_targets(test);
  EXPECT_TRUE(targets);
  return (predictor.predict(profiles_of(test)) - targets->log_rpv).cwiseAbs().mean();
}

double held_out_error(const std::string& family, const TrainingTable& train, const TrainingTable& test) {
  auto predictor = make_predictor(family);
  EXPECT_TRUE(predictor);
  return held_out_error(**predictor, train, test);
}

TEST(AdditiveCost, FindsTheCostsOfAnAdditiveWorld) {
  const World world = additive_world({.programs = 240, .platforms = 4, .families = 240});
  const auto [train, test] = split_table(world.table, 40);
  AdditiveCostPredictor predictor;
  const double error = held_out_error(predictor, train, test);
  EXPECT_LT(error, 0.02);
  EXPECT_LT(error, held_out_error("mean", train, test) / 5);
  EXPECT_GE(predictor.costs().minCoeff(), 0);
  // The class that fills most of the time is known best: its cost on one platform over another.
  const auto names = work_class_names();
  const auto memory = std::find(names.begin(), names.end(), "memory") - names.begin();
  const double found = predictor.costs()(memory, 0) / predictor.costs()(memory, 1);
  EXPECT_NEAR(std::log(found / (world.cost_factor(memory, 0) / world.cost_factor(memory, 1))), 0, 0.05);
}

TEST(Physics, FollowsAnAdditiveWorldBetterThanTheMean) {
  const World world = additive_world({.programs = 120, .platforms = 4, .families = 120});
  const auto [train, test] = split_table(world.table, 40);
  PhysicsPredictor predictor;
  EXPECT_LT(held_out_error(predictor, train, test), held_out_error("mean", train, test) / 4);
  EXPECT_GT(predictor.costs().minCoeff(), 0);
}

// Two kinds of program in two places of feature space, each with its own order of platforms.
TrainingTable two_kinds() {
  TrainingTable table = additive_world({.programs = 30, .platforms = 3, .families = 30}).table;
  for (size_t p = 0; p < 30; ++p) {
    const bool vector = p % 2 == 0;
    for (auto& [name, value] : table.profiles[p].metrics) {
      if (name.starts_with("op_fp_vec")) value = vector ? 2e8 : 1;
    }
    const double times[] = {vector ? -0.5 : 0.5, 0, vector ? 0.5 : -0.5};
    for (size_t j = 0; j < 3; ++j) table.times[p * 3 + j]->log_time = times[j];
  }
  return table;
}

TEST(Knn, ForecastsWhatItsKindDoes) {
  const auto [train, test] = split_table(two_kinds(), 4);
  KnnPredictor predictor;
  EXPECT_LT(held_out_error(predictor, train, test), 0.7 * held_out_error("mean", train, test));
  EXPECT_GE(predictor.neighbours(), 1);
}

TEST(Kernel, NearlyInterpolatesItsTrainingPrograms) {
  const auto [train, test] = split_table(two_kinds(), 4);
  EXPECT_LT(held_out_error("kernel", train, train), 0.1);
  EXPECT_LT(held_out_error("kernel", train, test), 0.25);
}

TEST(Forest, WeightsAreSharesOfTrainingPrograms) {
  const auto [train, test] = split_table(two_kinds(), 4);
  ForestPredictor predictor({.trees = 50, .feature_share = 0.33});
  EXPECT_LT(held_out_error(predictor, train, test), 0.1);
  const Eigen::MatrixXd weights = predictor.program_weights(profiles_of(test));
  EXPECT_EQ(weights.cols(), static_cast<Eigen::Index>(train.programs.size()));
  EXPECT_NEAR((weights.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-5);
  EXPECT_GE(weights.minCoeff(), 0);
  // On its training programs every tree ends in a leaf that holds them.
  const Eigen::MatrixXd own = predictor.program_weights(profiles_of(train));
  EXPECT_GT(own.diagonal().minCoeff(), 0.99);
}

TEST(Forest, AnotherSeedGrowsOtherTrees) {
  const auto [train, test] = split_table(additive_world({}).table, 4);
  ForestPredictor a({.trees = 10});
  ForestPredictor b({.trees = 10});
  ASSERT_TRUE(a.fit(train, {.seed = 1}).ok());
  ASSERT_TRUE(b.fit(train, {.seed = 2}).ok());
  EXPECT_NE(a.predict(profiles_of(test)), b.predict(profiles_of(test)));
}

TEST(Gbt, LearnsTheTwoKinds) {
  const auto [train, test] = split_table(two_kinds(), 4);
  EXPECT_LT(held_out_error("gbt", train, test), 0.15);
}

TEST(Stack, IsTheMeanOfItsPartsAndTellsHowFarTheyDisagree) {
  const Eigen::MatrixXd a = Eigen::RowVector2d(1, -1);
  const Eigen::MatrixXd b = Eigen::RowVector2d(0, 0);
  std::vector<Eigen::MatrixXd> parts(2, a);
  parts[1] = b;
  const Prediction both = stack_of(parts);
  EXPECT_DOUBLE_EQ(both.log_rpv(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(both.disagreement(0), 0.5);
  parts[1] = a;
  EXPECT_DOUBLE_EQ(stack_of(parts).disagreement(0), 0);
}

TEST(Stack, LoadsThePartsThatItsBundleNamesAndNoOthers) {
  const TrainingTable table = two_kinds();
  StackPredictor two({"knn", "forest"});
  ASSERT_TRUE(two.fit(table, {}).ok());
  TensorMap tensors;
  two.save(tensors);
  StackPredictor loaded;
  ASSERT_TRUE(loaded.load(tensors).ok());
  EXPECT_EQ(loaded.parts(), (std::vector<std::string>{"knn", "forest"}));
  EXPECT_EQ(loaded.predict(profiles_of(table)), two.predict(profiles_of(table)));
  const auto by_name = make_predictor("knn+forest");
  ASSERT_TRUE(by_name.ok());
  EXPECT_EQ((*by_name)->family(), "knn+forest");
  for (const char* wrong : {"knn+", "knn+knn", "knn+stack", "+", "knn+unheard-of"}) {
    ASSERT_FALSE(make_predictor(wrong).ok()) << wrong;
    EXPECT_EQ(make_predictor(wrong).error().code, "unknown-model");
  }
  for (const Json& wrong : {Json::array(), Json::array({"stack", "knn"}), Json::array({"knn"}),
                            Json::array({"knn", "knn"}), Json("knn"), Json::array({"knn", 1})}) {
    tensors.put_json("parts", wrong);
    const Status status = StackPredictor().load(tensors);
    ASSERT_FALSE(status.ok()) << wrong;
    EXPECT_EQ(status.error().code, "bad-bundle");
  }
}

TEST(Auto, ChoosesTheAdditiveModelInAnAdditiveWorld) {
  AutoPredictor predictor;
  ASSERT_TRUE(predictor.fit(additive_world({.programs = 80, .platforms = 4, .families = 10}).table, {}).ok());
  EXPECT_TRUE(predictor.chosen_family() == "nncost" || predictor.chosen_family() == "physics")
      << predictor.chosen_family();
}

// Two candidates on three families. The second is best on all: its errors are 0.3, 0.3, 0, the first's 0.2, 0.2, 0.3.
// But without the third family, which alone speaks for it, the first is chosen: that is what the third's forecast is
// from.
TEST(Auto, ForecastsAFamilyByTheChoiceOfTheOthers) {
  Targets targets;
  targets.log_rpv = Eigen::MatrixXd::Zero(3, 2);
  targets.present = Eigen::MatrixXd::Ones(3, 2);
  targets.family = {0, 1, 2};
  targets.families = 3;
  const auto off_by = [](double a, double b, double c) {
    Prediction prediction;
    prediction.log_rpv.resize(3, 2);
    prediction.log_rpv << a, -a, b, -b, c, -c;
    prediction.disagreement = Eigen::Vector3d(a, b, c);
    return prediction;
  };
  Candidates candidates;
  candidates.names = {"first", "second"};
  candidates.predictions.push_back(off_by(0.2, 0.2, 0.3));
  candidates.predictions.push_back(off_by(0.3, 0.3, 0));
  EXPECT_EQ(best_candidate(candidates, targets), 1u);
  const Prediction honest = predict_by_choice_of_others(candidates, targets, {0, 1, 2});
  // Without the first or the second family the errors are 0.5 and 0.3: the second is chosen.
  EXPECT_EQ(honest.log_rpv.col(0), Eigen::Vector3d(0.3, 0.3, 0.3));
  EXPECT_EQ(honest.disagreement, Eigen::Vector3d(0.3, 0.3, 0.3));
}

// Candidates that know nothing, each wrong by chance: whichever was best on these families will be as wrong as any on
// the next. Errors of what was chosen by all are too small; by the others' choice they are what a new family sees.
TEST(Auto, ErrorsByTheChoiceOfTheOthersAreThoseOfANewFamily) {
  constexpr int64_t kFamilies = 12, kPlatforms = 4;
  Random random(5);
  double by_all = 0, by_others = 0, of_new = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    Targets targets;
    targets.log_rpv = Eigen::MatrixXd::Zero(kFamilies, kPlatforms);
    targets.present = Eigen::MatrixXd::Ones(kFamilies, kPlatforms);
    targets.families = kFamilies;
    std::vector<int64_t> group;
    for (int64_t f = 0; f < kFamilies; ++f) group.push_back(f);
    targets.family = group;
    Candidates candidates;
    for (int c = 0; c < 8; ++c) {
      Prediction prediction;
      prediction.log_rpv.setZero(kFamilies, kPlatforms);
      prediction.disagreement.setZero(kFamilies);
      for (double& value : prediction.log_rpv.reshaped()) value = 0.2 * random.normal();
      candidates.names.push_back(std::to_string(c));
      candidates.predictions.push_back(prediction);
    }
    by_all += family_mean_error(candidates.predictions[best_candidate(candidates, targets)].log_rpv, targets);
    by_others += family_mean_error(predict_by_choice_of_others(candidates, targets, group).log_rpv, targets);
    of_new += 0.2 * std::sqrt(2 / 3.14159265358979);
  }
  EXPECT_LT(by_all, 0.9 * of_new);
  EXPECT_NEAR(by_others, of_new, 0.02 * of_new);
}

TEST(Auto, ChoosesTheMeanWhereNothingElseIsToBeHad) {
  TrainingTable table = additive_world({.programs = 20, .platforms = 4, .families = 20}).table;
  Random random(9);
  for (auto& time : table.times) time->log_time = 0.3 * random.normal();
  AutoPredictor predictor;
  ASSERT_TRUE(predictor.fit(table, {}).ok());
  EXPECT_EQ(predictor.chosen_family(), "mean");
}

TEST(Predictors, UnknownNameListsTheValidOnes) {
  const auto predictor = make_predictor("forrest");
  ASSERT_FALSE(predictor);
  EXPECT_EQ(predictor.error().code, "unknown-model");
  EXPECT_THAT(predictor.error().expected, testing::HasSubstr("forest"));
}

// What programs without a profile say of a platform that no program with one was timed on but once.
TEST(Factor, LearnsAPlatformFromCompanions) {
  World world = additive_world({.programs = 40, .platforms = 6, .families = 40});
  TrainingTable& whole = world.table;
  std::vector<size_t> first, rest;
  for (size_t p = 0; p < whole.programs.size(); ++p) (p < 20 ? first : rest).push_back(p);
  TrainingTable table = whole.with_programs(first);
  for (size_t p = 1; p < table.programs.size(); ++p) table.times[p * 6 + 5].reset();
  const auto error_of_last = [&](const TrainingTable& trained_on) {
    FactorPredictor predictor;
    EXPECT_TRUE(predictor.fit(trained_on, {}).ok());
    const TrainingTable tests = whole.with_programs(rest);
    const Eigen::MatrixXd truth = log_rpv(tests), guess = predictor.predict(profiles_of(tests));
    return (guess - truth).col(5).cwiseAbs().mean();
  };
  const double alone = error_of_last(table);
  // Companions of other families than those that are asked for.
  World others = additive_world({.programs = 70, .platforms = 6, .families = 70});
  for (size_t p = 40; p < 70; ++p) {
    table.companions.push_back(others.table.programs[p]);
    for (size_t j = 0; j < 6; ++j) table.companion_times.push_back(others.table.at(p, j));
  }
  EXPECT_LT(error_of_last(table), 0.8 * alone);
}

}  // namespace
}  // namespace perfcast::program
