// The forest against scikit-learn's, on the same matrices and folds: R2 of log relative times about each platform's
// mean agrees within 0.02. Ours are extremely randomised trees, so that ExtraTreesRegressor is the reference;
// RandomForestRegressor, which draws samples and searches the best cut, is printed beside it.
//
// Needs /usr/bin/python3 with scikit-learn (Debian: python3-sklearn); skipped with the reason where that is absent.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/text.h"
#include "corpus/importers/gpuperfpredict_importer.h"
#include "corpus/program_catalogue.h"
#include "corpus/splits.h"
#include "evaluate/evaluate.h"
#include "evaluate/scores.h"
#include "evaluate/testing/synthetic_corpus.h"
#include "model/training.h"
#include "model/tree/forest_predictor.h"

namespace perfcast {
namespace {

constexpr double kTolerance = 0.02;
constexpr int kNotInstalled = 77;

class ForestDifferential : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "perfcast-forest-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(size_t fold, const std::string& name) const {
    return folder_ + "/" + std::to_string(fold) + "." + name + ".csv";
  }

  void write(size_t fold, const std::string& name, const Eigen::MatrixXd& values) const {
    std::string text;
    char number[32];
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (Eigen::Index j = 0; j < values.cols(); ++j) {
        std::snprintf(number, sizeof number, "%s%.17g", j == 0 ? "" : ",", values(i, j));
        text += number;
      }
      text += "\n";
    }
    const Status written = write_file_atomically(path(fold, name), text);
    ASSERT_TRUE(written) << to_text(written.error());
  }

  // Empty where the file isn't what it should be.
  Eigen::MatrixXd read(size_t fold, const std::string& name, Eigen::Index rows, Eigen::Index columns) const {
    const auto text = read_file(path(fold, name));
    if (!text) return {};
    std::vector<std::string> lines = split(*text, '\n');
    if (static_cast<Eigen::Index>(lines.size()) != rows + 1) return {};
    Eigen::MatrixXd values(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const std::vector<std::string> cells = split(lines[static_cast<size_t>(i)], ',');
      if (static_cast<Eigen::Index>(cells.size()) != columns) return {};
      for (Eigen::Index j = 0; j < columns; ++j)
        values(i, j) = std::strtod(cells[static_cast<size_t>(j)].c_str(), nullptr);
    }
    return values;
  }

  // Fits ours on every fold, writes what it saw, lets scikit-learn do the same and compares the scores over all folds.
  void compare(const TrainingTable& table, const std::vector<Fold>& folds, int64_t trees) const {
    const auto rows = static_cast<Eigen::Index>(table.programs.size());
    const auto columns = static_cast<Eigen::Index>(table.platforms.size());
    const Eigen::MatrixXd absent = Eigen::MatrixXd::Constant(rows, columns, std::numeric_limits<double>::quiet_NaN());
    Eigen::MatrixXd ours = absent, mean = absent;
    const ForestOptions defaults;
    double share = 0;
    for (size_t f = 0; f < folds.size(); ++f) {
      const TrainingTable training = table.with_programs(folds[f].train_programs);
      std::vector<const Profile*> tested;
      for (const size_t p : folds[f].test_programs) tested.push_back(&table.profiles[p]);
      const auto targets = make_targets(training);
      ASSERT_TRUE(targets) << to_text(targets.error());
      const ProgramFeatures features = ProgramFeatures::fit(training, targets->weights);
      const bool counters = features.space().kind() == FeatureSpace::Kind::kCounters;
      share = counters ? defaults.counter_share : defaults.feature_share;
      write(f, "train_x", features.rows(profiles_of(training)));
      write(f, "train_y", targets->log_rpv);
      write(f, "train_w", targets->weights);
      write(f, "test_x", features.rows(tested));

      ForestPredictor forest(ForestOptions{.trees = trees, .trees_of_many = trees});
      const Status fitted = forest.fit(training, FitOptions{});
      ASSERT_TRUE(fitted) << to_text(fitted.error());
      put(folds[f], forest.predict(tested), ours);
      put(folds[f], weighted_mean(targets->log_rpv, targets->weights).transpose().replicate(tested.size(), 1), mean);
    }

    const std::string command = "/usr/bin/python3 '" + std::string(PERFCAST_SOURCE_DIR) +
                                "/src/evaluate/testing/sklearn_forest.py' '" + folder_ + "' " +
                                std::to_string(folds.size()) + " " + std::to_string(trees) + " " +
                                std::to_string(share) + " > '" + folder_ + "/log' 2>&1";
    const int state = std::system(command.c_str());
    const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (status == 127) GTEST_SKIP() << "no /usr/bin/python3";
    const auto log = read_file(folder_ + "/log");
    if (status == kNotInstalled) GTEST_SKIP() << "python3-sklearn is not installed: " << *log;
    ASSERT_EQ(status, 0) << (log ? *log : "");

    const double r2 = r2_of(table, ours), r2_of_mean = r2_of(table, mean);
    double theirs[2] = {};
    const char* const names[] = {"extra_trees", "random_forest"};
    for (int i = 0; i < 2; ++i) {
      Eigen::MatrixXd predicted = absent;
      for (size_t f = 0; f < folds.size(); ++f) {
        const auto tested = static_cast<Eigen::Index>(folds[f].test_programs.size());
        const Eigen::MatrixXd of_fold = read(f, names[i], tested, columns);
        ASSERT_EQ(of_fold.rows(), tested) << path(f, names[i]);
        put(folds[f], of_fold, predicted);
      }
      theirs[i] = r2_of(table, predicted);
    }
    std::printf(
        "R2 (log, by platform): perfcast %.4f, ExtraTreesRegressor %.4f, RandomForestRegressor %.4f, mean %.4f\n", r2,
        theirs[0], theirs[1], r2_of_mean);
    EXPECT_NEAR(r2, theirs[0], kTolerance);
    EXPECT_GT(r2, r2_of_mean + 0.2) << "too little to learn here for the comparison to tell anything";
  }

 private:
  static void put(const Fold& fold, const Eigen::MatrixXd& predicted, Eigen::MatrixXd& into) {
    for (size_t i = 0; i < fold.test_programs.size(); ++i) {
      into.row(static_cast<Eigen::Index>(fold.test_programs[i])) = predicted.row(static_cast<Eigen::Index>(i));
    }
  }

  static double r2_of(const TrainingTable& table, const Eigen::MatrixXd& predicted) {
    ScoreInput input{log_times(table), predicted, {}, {}, std::vector<std::string>(table.programs.size(), ""), {}};
    relative_to(-1, input);
    return score(input).r2_log_platform.value_or(std::numeric_limits<double>::quiet_NaN());
  }

  std::string folder_;
};

// The world that perfcast_write_synthetic writes, with more families: instruction mixes, no outside data.
TEST_F(ForestDifferential, AgreesWithScikitLearnOnInventedCounters) {
  SyntheticOptions world;
  world.families = 40;
  const auto table = make_training_table(synthetic_corpus(world), TableOptions{});
  ASSERT_TRUE(table) << to_text(table.error());
  compare(*table, make_folds(*table, Split::kProgramFamily, 5, 1), 200);
}

// Plain counters: nvprof's, on four of the GPUs, as the table of accuracies has them; every fourth workload.
TEST_F(ForestDifferential, AgreesWithScikitLearnOnGpuCounters) {
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

}  // namespace
}  // namespace perfcast
