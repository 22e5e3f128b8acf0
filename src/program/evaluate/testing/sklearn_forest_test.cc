// perfcast's forest against scikit-learn's, on the same matrices and folds: R2 of log relative times about each
// platform's mean agrees within 0.02. Ours are extremely randomised trees, so that ExtraTreesRegressor is the
// reference; RandomForestRegressor, which draws samples and searches the best cut, is printed beside it.

#include "program/evaluate/testing/sklearn_forest.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <limits>

#include "program/corpus/importers/gpuperfpredict_importer.h"
#include "program/corpus/program_catalogue.h"
#include "program/corpus/splits.h"
#include "program/evaluate/noise_floor.h"
#include "program/evaluate/scores.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/model/features/model_inputs.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"
#include "program/model/tree/forest_predictor.h"

namespace perfcast::program {
namespace {

constexpr double kTolerance = 0.02;
constexpr const char* kScript = PERFCAST_SOURCE_DIR "/src/program/evaluate/testing/sklearn_forest.py";

// Forecasts of the tested rows of all folds: [rows x platforms] of the table, absent elsewhere.
class Forecasts {
 public:
  explicit Forecasts(const TrainingTable& table)
      : table_(table),
        predicted_(Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(table.programs.size()),
                                             static_cast<Eigen::Index>(table.platforms.size()),
                                             std::numeric_limits<double>::quiet_NaN())) {}

  void put(const Fold& fold, const Eigen::MatrixXd& of_fold) {
    for (size_t i = 0; i < fold.test_programs.size(); ++i) {
      predicted_.row(static_cast<Eigen::Index>(fold.test_programs[i])) = of_fold.row(static_cast<Eigen::Index>(i));
    }
  }

  double r2() const {
    ScoreInput input{log_times(table_), predicted_, {}, {}, std::vector<std::string>(table_.programs.size(), ""), {}};
    relative_to(-1, input);
    return score(input).r2_log_platform.value_or(std::numeric_limits<double>::quiet_NaN());
  }

 private:
  const TrainingTable& table_;
  Eigen::MatrixXd predicted_;
};

void compare(const TrainingTable& table, const std::vector<Fold>& folds, int64_t trees) {
  Forecasts ours(table), mean(table), extra_trees(table), random_forest(table);
  const ForestOptions defaults;
  double share = 0;
  std::vector<ForestFold> seen;
  for (const Fold& fold : folds) {
    const TrainingTable training = table.with_programs(fold.train_programs);
    const TrainingTable tested = table.with_programs(fold.test_programs);
    const auto targets = make_targets(training);
    ASSERT_TRUE(targets) << to_text(targets.error());
    const StandardisedInputs features = StandardisedInputs::fit(training, targets->weights);
    const bool counters = features.chosen().kind() == ModelInputs::Kind::kCounters;
    share = counters ? defaults.counter_share : defaults.feature_share;
    seen.push_back(
        {features.rows(profiles_of(training)), targets->log_rpv, targets->weights, features.rows(profiles_of(tested))});

    ForestPredictor forest(ForestOptions{.trees = trees, .trees_of_many = trees});
    const Status fitted = forest.fit(training, FitOptions{});
    ASSERT_TRUE(fitted) << to_text(fitted.error());
    ours.put(fold, forest.predict(profiles_of(tested)));
    const Eigen::RowVectorXd centre = weighted_mean(targets->log_rpv, targets->weights).transpose();
    mean.put(fold, centre.replicate(static_cast<Eigen::Index>(fold.test_programs.size()), 1));
  }

  const auto theirs = sklearn_forests(kScript, seen, trees, share);
  if (!theirs && theirs.error().code == "not-installed") GTEST_SKIP() << to_text(theirs.error());
  ASSERT_TRUE(theirs) << to_text(theirs.error());
  for (size_t f = 0; f < folds.size(); ++f) {
    extra_trees.put(folds[f], theirs->extra_trees[f]);
    random_forest.put(folds[f], theirs->random_forest[f]);
  }
  std::printf("R2 (log, by platform): perfcast %.4f, ExtraTreesRegressor %.4f, RandomForestRegressor %.4f, mean %.4f\n",
              ours.r2(), extra_trees.r2(), random_forest.r2(), mean.r2());
  EXPECT_NEAR(ours.r2(), extra_trees.r2(), kTolerance);
  EXPECT_GT(ours.r2(), mean.r2() + 0.2) << "too little to learn here for the comparison to tell anything";
}

// The world that perfcast_write_synthetic writes, with more families: instruction mixes, no outside data.
TEST(SklearnForest, AgreesOnInventedCounters) {
  SyntheticOptions world;
  world.families = 40;
  const auto table = make_training_table(synthetic_corpus(world), TableOptions{});
  ASSERT_TRUE(table) << to_text(table.error());
  compare(*table, make_folds(*table, Split::kProgramFamily, 5, 1), 200);
}

// Plain counters: nvprof's, on four of the GPUs, as the table of accuracies has them; every fourth workload.
TEST(SklearnForest, AgreesOnGpuCounters) {
  const std::string set = std::string(PERFCAST_SHARED_DATA) + "/gpuperfpredict";
  if (!std::filesystem::exists(set)) GTEST_SKIP() << "no public data set at " << set;
  const auto imported = import_gpuperfpredict_path(set, ProgramCatalogue());
  ASSERT_TRUE(imported.ok()) << to_text(imported.error());
  TableOptions options;
  options.platforms = {"GTX-680", "Tesla-K40", "GTX-980", "Titan"};
  options.every_profile = options.complete_rows = true;
  const auto whole = make_training_table(imported->corpus, options);
  ASSERT_TRUE(whole) << to_text(whole.error());
  std::vector<size_t> kept;
  size_t workload = 0;  // its four profiles are neighbours
  for (size_t i = 0; i < whole->programs.size(); ++i) {
    if (i > 0 && whole->programs[i].id != whole->programs[i - 1].id) ++workload;
    if (workload % 4 == 0) kept.push_back(i);
  }
  const TrainingTable table = whole->with_programs(kept);
  std::vector<Fold> folds = make_folds(table, Split::kWorkload, 5, 1);
  folds.resize(1);
  compare(table, folds, 50);
}

TEST(SklearnForest, SaysWhyItDidNotRun) {
  const ForestFold fold{Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Ones(2, 1), Eigen::VectorXd::Ones(2),
                        Eigen::MatrixXd::Ones(1, 1)};
  const auto none = sklearn_forests("/nonexistent.py", {fold}, 1, 1);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().code == "failed" || none.error().code == "not-installed");
  EXPECT_FALSE(none.error().message.empty());
}

}  // namespace
}  // namespace perfcast::program
