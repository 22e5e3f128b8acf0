#include "program/model/kinds/kind_predictor.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/combined/mean_predictor.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

// Applications touch much code and take exp(level + wide x slope) on platform j, others little and exp(-level). What
// `wide` is follows from the share of wide vectors, as the model sees it.
struct KindWorld {
  TrainingTable table;
  Eigen::VectorXd level, slope;  // J, about 0
};

KindWorld kind_world(int64_t programs = 32) {
  KindWorld world{additive_world({.programs = programs, .platforms = 6, .families = programs}).table, {}, {}};
  world.level = Eigen::VectorXd::LinSpaced(6, -0.5, 0.5);
  world.slope = (Eigen::VectorXd(6) << 0.2, -0.2, 0.1, -0.1, 0.3, -0.3).finished();
  Random random(3);
  TrainingTable& table = world.table;
  table.sources = {"one", "two"};
  for (size_t p = 0; p < table.programs.size(); ++p) {
    const bool is_application = p % 2 == 0;
    table.programs[p].group = is_application ? kApplicationGroup : "user";
    MetricValues& metrics = table.profiles[p].metrics;
    metrics["code_lines_count"] = is_application ? 50000 : 500;
    metrics["vec_fp_256_count"] = 1e9 * random.uniform(0, 0.5);
  }
  const auto& names = work_feature_names();
  const auto wide = std::find(names.begin(), names.end(), "share_wide_vector") - names.begin();
  const Eigen::MatrixXd work = extract_work_features(profiles_of(table));
  for (size_t p = 0; p < table.programs.size(); ++p) {
    for (size_t j = 0; j < 6; ++j) {
      const auto row = static_cast<Eigen::Index>(p), column = static_cast<Eigen::Index>(j);
      PlatformTime& time = *table.times[p * 6 + j];
      time.log_time = table.programs[p].group == kApplicationGroup
                          ? static_cast<double>(p) + world.level(column) + 3 * work(row, wide) * world.slope(column)
                          : -world.level(column);
      time.log_error = 0.01;
      time.source = 0;
    }
  }
  return world;
}

TEST(KindOfProgram, TellsApplicationsFromOthers) {
  const TrainingTable table = kind_world().table;
  KindOfProgram kind;
  kind.fit(table);
  const Eigen::VectorXd share = kind.share(profiles_of(table));
  for (size_t p = 0; p < table.programs.size(); ++p) {
    const double own = share(static_cast<Eigen::Index>(p));
    if (table.programs[p].group == kApplicationGroup) {
      EXPECT_GT(own, 0.6) << p;
    } else {
      EXPECT_LT(own, 0.05) << p;
    }
  }
  Profile bare;  // that knows none of the inputs is as likely as the mean program
  bare.instruction_set = "x86_64";
  EXPECT_GT(kind.share({&bare})(0), 0.05);
  EXPECT_LT(kind.share({&bare})(0), 0.8);
}

TEST(KindOfProgram, IsSureWhereThereIsOneKind) {
  TrainingTable table = kind_world().table;
  for (Program& program : table.programs) program.group = kApplicationGroup;
  KindOfProgram kind;
  kind.fit(table);
  EXPECT_NEAR(kind.share(profiles_of(table)).minCoeff(), 1, 1e-9);
  for (Program& program : table.programs) program.group = "user";
  kind.fit(table);
  EXPECT_NEAR(kind.share(profiles_of(table)).maxCoeff(), 0, 1e-9);
}

TEST(ApplicationLevels, FindsLevelsAndSlopes) {
  const KindWorld world = kind_world(80);
  Eigen::MatrixXd inputs = Eigen::MatrixXd::Zero(80, 1);
  const auto& names = work_feature_names();
  const auto wide = std::find(names.begin(), names.end(), "share_wide_vector") - names.begin();
  inputs.col(0) = extract_work_features(profiles_of(world.table)).col(wide);
  ApplicationLevels levels;
  levels.fit(world.table, inputs, Eigen::VectorXd::Zero(6));
  // 40 applications against a level drawn to 0 with a deviation of 0.15, and slopes to 0 with 0.2.
  const Eigen::MatrixXd forecast = levels.predict(inputs);
  for (Eigen::Index p = 0; p < 80; p += 2) {
    for (Eigen::Index j = 0; j < 6; ++j) {
      EXPECT_NEAR(forecast(p, j), world.level(j) + 3 * inputs(p, 0) * world.slope(j), 0.02) << p << " " << j;
    }
  }
  EXPECT_NEAR(levels.level().mean(), 0, 1e-12);
  EXPECT_NEAR(levels.slopes().mean(), 0, 1e-12);
}

// Programs without a profile say what the level is; a source whose times scatter says less.
TEST(ApplicationLevels, LearnsFromProgramsWithoutAProfileAndWeighsSources) {
  TrainingTable table = kind_world().table;
  const auto with_companions = [&](size_t source, double noise) {
    TrainingTable more = table;
    Random random(9);
    for (int i = 0; i < 30; ++i) {
      Program program;
      program.id = program.family = "timed" + std::to_string(i);
      program.group = kApplicationGroup;
      more.companions.push_back(program);
      for (size_t j = 0; j < 6; ++j) {
        PlatformTime time;
        time.log_time = (j == 0 ? 0.6 : 0.0) + noise * random.normal();
        time.log_error = 0.01;
        time.source = source;
        more.companion_times.emplace_back(time);
      }
    }
    ApplicationLevels levels;
    levels.fit(more, Eigen::MatrixXd::Zero(32, 0), Eigen::VectorXd::Zero(6));
    return levels.level()(0);
  };
  ApplicationLevels alone;
  alone.fit(table, Eigen::MatrixXd::Zero(32, 0), Eigen::VectorXd::Zero(6));
  EXPECT_LT(alone.level()(0), -0.3);
  const double told = with_companions(1, 0.02), scattered = with_companions(1, 0.5);
  EXPECT_GT(told, 0.2);
  EXPECT_LT(scattered, told - 0.2);
}

TEST(KindPredictor, ForecastsApplicationsFromApplications) {
  const KindWorld world = kind_world();
  KindPredictor predictor(std::make_unique<MeanPredictor>());
  EXPECT_EQ(predictor.family(), "kinds:mean");
  ASSERT_TRUE(predictor.fit(world.table, {}).ok());
  const Eigen::MatrixXd forecast = predictor.predict(profiles_of(world.table));
  const Eigen::MatrixXd truth = log_rpv(world.table);
  MeanPredictor mean;
  ASSERT_TRUE(mean.fit(world.table, {}).ok());
  const Eigen::MatrixXd others = mean.predict(profiles_of(world.table));
  EXPECT_NEAR(forecast.rowwise().mean().cwiseAbs().maxCoeff(), 0, 1e-9);
  for (Eigen::Index p = 0; p < forecast.rows(); p += 2) {
    EXPECT_LT((forecast.row(p) - truth.row(p)).cwiseAbs().mean(), 0.15) << p;
    EXPECT_GT((others.row(p) - truth.row(p)).cwiseAbs().mean(), 0.25) << p;
  }
  // Where it is not clear which of the two answers is right, they disagree.
  const Prediction said = predictor.predict_with_disagreement(profiles_of(world.table));
  EXPECT_GT(said.disagreement.maxCoeff(), 0);
}

TEST(KindPredictor, SaysThatItNeedsApplications) {
  TrainingTable table = kind_world().table;
  for (Program& program : table.programs) program.group = "user";
  KindPredictor predictor(std::make_unique<MeanPredictor>());
  const Status status = predictor.fit(table, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "no-applications");
}

TEST(KindPredictor, InputsAddUpToTheForecast) {
  const KindWorld world = kind_world();
  auto predictor = make_predictor("kinds:forest");
  ASSERT_TRUE(predictor.ok());
  ASSERT_TRUE((*predictor)->fit(world.table, {}).ok());
  for (const auto& [own, reference] : {std::pair<size_t, size_t>{0, 2}, {0, 1}, {1, 3}, {4, 4}}) {
    const auto attribution = attribute_features(
        **predictor, {.profile = &world.table.profiles[own], .reference = &world.table.profiles[reference]});
    ASSERT_TRUE(attribution.ok());
    EXPECT_LT(attribution->residue_log, 1e-9);
  }
}

TEST(KindPredictor, SurvivesABundle) {
  const KindWorld world = kind_world();
  auto predictor = make_predictor("kinds:knn");
  ASSERT_TRUE(predictor.ok());
  ASSERT_TRUE((*predictor)->fit(world.table, {}).ok());
  TensorMap tensors;
  (*predictor)->save(tensors);
  auto loaded = make_predictor("kinds:knn");
  ASSERT_TRUE((*loaded)->load(tensors).ok());
  EXPECT_EQ((*loaded)->predict(profiles_of(world.table)), (*predictor)->predict(profiles_of(world.table)));
  auto other = make_predictor("kinds:mean");
  const Status status = (*other)->load(tensors);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "bad-bundle");
}

}  // namespace
}  // namespace perfcast::program
