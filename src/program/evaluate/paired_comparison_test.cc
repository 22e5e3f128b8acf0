#include "program/evaluate/paired_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

using testing::IsEmpty;

Eigen::MatrixXd column(std::initializer_list<double> values) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(values.size()), 1);
  Eigen::Index i = 0;
  for (const double value : values) result(i++, 0) = value;
  return result;
}

MeanDifference difference_of(const Eigen::MatrixXd& sums, const Eigen::MatrixXd& counts, uint64_t seed = 1) {
  return bootstrap_mean_difference(sums, counts, seed).front();
}

TEST(BootstrapMeanDifference, IsTheMeanOverSamplesNotOverUnits) {
  // Units of 1, 4 and 5 samples: (2 + 0 - 1) / 10.
  const MeanDifference found = difference_of(column({2, 0, -1}), column({1, 4, 5}));
  EXPECT_DOUBLE_EQ(found.difference, 0.1);
  EXPECT_EQ(found.units, 3);
}

TEST(BootstrapMeanDifference, OfFewUnitsHasNoInterval) {
  const Eigen::MatrixXd five = column({1, 1, 1, 1, 1}), six = column({1, 1, 1, 1, 1, 1});
  EXPECT_EQ(difference_of(five, five).lower, std::nullopt);
  EXPECT_FALSE(difference_of(five, five).significant());
  EXPECT_EQ(difference_of(six, six).lower, 1.0);
  EXPECT_EQ(difference_of(six, six).upper, 1.0);
  EXPECT_TRUE(difference_of(six, six).significant());
  // Six equal differences tell; one of the six the other way round doesn't.
  EXPECT_FALSE(difference_of(column({1, 1, 1, 1, 1, -1}), six).significant());
  EXPECT_EQ(difference_of(column({0, 0}), column({0, 0})).units, 0);
  EXPECT_THAT(bootstrap_mean_difference(Eigen::MatrixXd(3, 0), Eigen::MatrixXd(3, 0), 1), IsEmpty());
}

TEST(BootstrapMeanDifference, TailsAreWidenedByStudentsQuantile) {
  // Phi(-sqrt(n / (n - 1)) t) with t of tables at n - 1 = 1, 2, 5 degrees of freedom.
  const struct {
    int64_t units;
    double quantile;
  } known[] = {{2, 12.706204736}, {3, 4.3026527297}, {6, 2.5705818356}};
  for (const auto& [units, quantile] : known) {
    const double n = static_cast<double>(units);
    const double tail = 0.5 * std::erfc(std::sqrt(n / (n - 1)) * quantile / std::sqrt(2.0));
    EXPECT_NEAR(bootstrap_tail_share(units) / tail, 1, 1e-6) << units;
  }
  EXPECT_NEAR(bootstrap_tail_share(6), 0.002432, 1e-5);
  EXPECT_NEAR(bootstrap_tail_share(1000000), 0.025, 1e-6);
}

TEST(BootstrapMeanDifference, UnitsWithoutASampleChangeNothing) {
  const Eigen::MatrixXd sums = column({1, 2, -1, 3, 2, 1, 0, 2}), counts = column({1, 2, 1, 3, 2, 1, 1, 2});
  const MeanDifference alone = difference_of(sums, counts);
  Eigen::MatrixXd more_sums(16, 1), more_counts(16, 1);
  more_sums << sums, Eigen::MatrixXd::Zero(8, 1);
  more_counts << counts, Eigen::MatrixXd::Zero(8, 1);
  const MeanDifference with = difference_of(more_sums, more_counts);
  EXPECT_EQ(with.units, 8);
  EXPECT_EQ(with.difference, alone.difference);
  EXPECT_EQ(with.lower, alone.lower);
  EXPECT_EQ(with.upper, alone.upper);
}

TEST(BootstrapMeanDifference, SwappingTheModelsSwapsSignsAndBounds) {
  Random random(5);
  for (int world = 0; world < 20; ++world) {
    const auto units = static_cast<Eigen::Index>(6 + random.below(30));
    Eigen::MatrixXd sums(units, 1), counts(units, 1);
    for (Eigen::Index u = 0; u < units; ++u) {
      counts(u, 0) = static_cast<double>(random.below(4) + (u < 6 ? 1 : 0));
      sums(u, 0) = counts(u, 0) * (0.3 + random.normal());
    }
    const auto seed = static_cast<uint64_t>(world);
    const MeanDifference ab = difference_of(sums, counts, seed), ba = difference_of(-sums, counts, seed);
    EXPECT_EQ(ab.difference, -ba.difference);
    EXPECT_NEAR(*ab.lower, -*ba.upper, 1e-12);
    EXPECT_NEAR(*ab.upper, -*ba.lower, 1e-12);
    EXPECT_EQ(ab.significant(), ba.significant());
    EXPECT_LE(*ab.lower, ab.difference);
    EXPECT_GE(*ab.upper, ab.difference);
  }
}

// Units whose true mean difference is 0.4. A unit's samples share most of their noise, as one family's do, and their
// number varies. Share of the intervals that contain 0.4.
double coverage(Eigen::Index units, int worlds, uint64_t seed) {
  Random random(seed);
  int covered = 0;
  for (int world = 0; world < worlds; ++world) {
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(units, 1), counts(units, 1);
    for (Eigen::Index u = 0; u < units; ++u) {
      const double of_unit = 0.4 + random.normal();
      counts(u, 0) = static_cast<double>(3 + random.below(3));
      for (int i = 0; i < static_cast<int>(counts(u, 0)); ++i) sums(u, 0) += of_unit + 0.3 * random.normal();
    }
    const auto found = bootstrap_mean_difference(sums, counts, static_cast<uint64_t>(world), 1000).front();
    covered += *found.lower <= 0.4 && 0.4 <= *found.upper ? 1 : 0;
  }
  return static_cast<double>(covered) / worlds;
}

TEST(BootstrapMeanDifference, IntervalsCoverTheTrueDifference) {
  // Of 2000 worlds a true coverage of 95% shows as 0.940 to 0.960 in 95% of such tests; the seeds are fixed.
  EXPECT_NEAR(coverage(12, 2000, 1), 0.95, 0.015);
  EXPECT_NEAR(coverage(30, 2000, 2), 0.95, 0.015);
  EXPECT_NEAR(coverage(7, 2000, 3), 0.935, 0.015);  // what resampling seven units can do
}

// Eight families with two programs of two inputs each, three platforms.
struct World {
  TrainingTable table;
  ScoreInput truth;
};
World world_of(uint64_t seed = 3) {
  World world;
  Random random(seed);
  for (int j = 0; j < 3; ++j) world.table.platforms.emplace_back().name = "p" + std::to_string(j);
  for (int i = 0; i < 32; ++i) {
    Program program;
    program.family = "f" + std::to_string(i / 4);
    program.id =
        program.family + ".v" + std::string(1, static_cast<char>('a' + i / 2 % 2)) + "." + std::to_string(i % 2);
    program.group = i < 16 ? "first" : "second";
    world.table.programs.push_back(program);
  }
  world.truth.truth = Eigen::MatrixXd(32, 3);
  for (double& value : world.truth.truth.reshaped()) value = random.normal();
  return world;
}

ComparedModel model(const std::string& name, const World& world, double error, uint64_t seed = 9) {
  ComparedModel result{name, error, {world.truth}};
  Random random(seed);
  ScoreInput& input = result.repetitions.front();
  input.predicted = input.truth;
  for (double& value : input.predicted.reshaped()) value += error * (random.uniform() < 0.5 ? -1 : 1);
  return result;
}

const PairedComparison& find(const std::vector<PairedComparison>& all, const std::string& group,
                             const std::string& metric) {
  for (const PairedComparison& comparison : all) {
    if (comparison.group == group && comparison.metric == metric) return comparison;
  }
  throw std::runtime_error("no comparison of " + group + ", " + metric);
}

TEST(CompareModels, DifferencesAreThoseOfTheScores) {
  const World world = world_of();
  const ComparedModel good = model("good", world, 0.1), bad = model("bad", world, 0.8, 10);
  const auto comparisons = compare_models(world.table, Split::kProgramFamily, {bad, good}, 1);
  ASSERT_EQ(comparisons.size(), 6u);  // three groups, two scores
  const PairedComparison& errors = find(comparisons, "all", "mae_log");
  EXPECT_EQ(errors.a, "good");
  EXPECT_EQ(errors.b, "bad");
  EXPECT_NEAR(errors.difference, 0.1 - 0.8, 1e-12);
  EXPECT_TRUE(errors.significant);
  EXPECT_EQ(errors.units, 8);
  EXPECT_EQ(find(comparisons, "first", "mae_log").units, 4);
  EXPECT_EQ(find(comparisons, "first", "mae_log").lower, std::nullopt);

  const auto scored = [&](const ComparedModel& of) {
    ScoreInput input = of.repetitions.front();
    input.families.assign(32, "f");
    return score(input);
  };
  EXPECT_NEAR(find(comparisons, "all", "pair_order").difference, *scored(good).pair_order - *scored(bad).pair_order,
              1e-12);
  EXPECT_NEAR(errors.difference, *scored(good).mae_log - *scored(bad).mae_log, 1e-12);
}

TEST(CompareModels, OfThreePlatformsByHand) {
  TrainingTable table;
  table.platforms.resize(3);
  table.programs.resize(1);
  table.programs[0].group = "g";
  ScoreInput a, b;
  a.truth = b.truth = Eigen::RowVector3d(0, 1, 1.01);  // the last two are within 5%: no pair
  a.predicted = Eigen::RowVector3d(0, 0, 2);           // off by 0, 1, .99; (0,1) undecided, (0,2) right
  b.predicted = Eigen::RowVector3d(0.5, kUnknown, 0);  // off by .5, -, 1.01; (0,2) wrong
  const auto comparisons = compare_models(table, Split::kProgram, {{"a", 1, {a}}, {"b", 2, {b}}}, 1);
  EXPECT_NEAR(find(comparisons, "g", "mae_log").difference, (0 + 0.99 - 0.5 - 1.01) / 2, 1e-12);
  EXPECT_NEAR(find(comparisons, "g", "pair_order").difference, 1, 1e-12);
}

TEST(CompareModels, AModelDoesNotDifferFromItself) {
  const World world = world_of();
  ComparedModel twin = model("a", world, 0.5);
  twin.name = "b";
  for (const PairedComparison& c : compare_models(world.table, Split::kWorkload, {model("a", world, 0.5), twin}, 1)) {
    EXPECT_EQ(c.difference, 0) << c.group;
    EXPECT_EQ(c.lower, 0.0);
    EXPECT_EQ(c.upper, 0.0);
    EXPECT_FALSE(c.significant);
  }
}

TEST(CompareModels, UnitsAreWhatTheSplitLeavesOutAsAWhole) {
  const World world = world_of();
  const std::vector<ComparedModel> models = {model("a", world, 0.5), model("b", world, 0.6, 10)};
  const auto units = [&](Split split) {
    return find(compare_models(world.table, split, models, 1), "all", "mae_log").units;
  };
  EXPECT_EQ(units(Split::kProgramFamily), 8);
  EXPECT_EQ(units(Split::kProgram), 16);
  EXPECT_EQ(units(Split::kWorkload), 32);
  EXPECT_EQ(units(Split::kRandom), 32);
  const auto by_platform = compare_models(world.table, Split::kPlatform, models, 1);
  EXPECT_EQ(find(by_platform, "all", "mae_log").units, 3);
  for (const PairedComparison& comparison : by_platform) EXPECT_EQ(comparison.metric, "mae_log");
}

TEST(CompareModels, SeedsAreNoMoreFamilies) {
  const World world = world_of();
  std::vector<ComparedModel> models = {model("a", world, 0.5), model("b", world, 0.6, 10)};
  const auto once = compare_models(world.table, Split::kProgramFamily, models, 1);
  for (ComparedModel& of : models) of.repetitions.resize(4, of.repetitions.front());
  const auto four_times = compare_models(world.table, Split::kProgramFamily, models, 1);
  ASSERT_EQ(once.size(), four_times.size());
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(four_times[i].units, once[i].units);
    EXPECT_NEAR(four_times[i].difference, once[i].difference, 1e-12);
    if (!once[i].lower) continue;
    EXPECT_NEAR(*four_times[i].lower, *once[i].lower, 1e-12);
    EXPECT_NEAR(*four_times[i].upper, *once[i].upper, 1e-12);
  }
}

TEST(CompareModels, ManyModelsAreComparedWithTheBest) {
  const World world = world_of();
  std::vector<ComparedModel> models;
  for (const double error : {0.5, 0.2, 0.3, 0.4}) models.push_back(model("e" + std::to_string(error), world, error));
  const auto pairs = [&] {
    std::set<std::pair<std::string, std::string>> names;
    for (const auto& c : compare_models(world.table, Split::kProgram, models, 1)) names.emplace(c.a, c.b);
    return names;
  };
  EXPECT_EQ(pairs().size(), 6u);
  models.push_back(model("e0.1", world, 0.1));
  EXPECT_EQ(pairs().size(), 4u);
  for (const auto& [a, b] : pairs()) EXPECT_EQ(a, "e0.1");
  EXPECT_THAT(compare_models(world.table, Split::kProgram, {models.front()}, 1), IsEmpty());
}

}  // namespace
}  // namespace perfcast::program
