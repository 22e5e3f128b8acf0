#include "program/model/forecast/forecaster.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/fit/targets.h"
#include "program/model/forecast/wider_vectors.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing::Contains;
using testing::Field;
using testing_world::additive_world;

class ForecasterTest : public testing::Test {
 protected:
  static const Forecaster& forecaster() {
    static const Forecaster made = [] {
      auto bundle = train_bundle(table(), {.model = "kernel"});
      EXPECT_TRUE(bundle);
      return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
    }();
    return made;
  }
  static const TrainingTable& table() {
    static const TrainingTable made =
        additive_world({.programs = 40, .platforms = 6, .families = 20, .noise_log = 0.05}).table;
    return made;
  }
  static Forecast forecast(const Profile& profile, const std::vector<Measurement>& measured = {}) {
    auto result = forecaster().forecast(profile, measured);
    EXPECT_TRUE(result);
    return *result;
  }
};

TEST_F(ForecasterTest, KnownProgramIsInDistributionAndItsOwnNeighbour) {
  const Forecast result = forecast(table().profiles[7]);
  EXPECT_TRUE(result.in_distribution);
  EXPECT_TRUE(result.warnings.empty());
  ASSERT_EQ(result.nearest.size(), 3u);
  EXPECT_EQ(result.nearest[0].program, "program7");
  EXPECT_NEAR(result.distance, 0, 1e-12);
  EXPECT_LE(result.nearest[1].distance, result.nearest[2].distance);
  EXPECT_NEAR(result.log_rpv.mean(), 0, 1e-9);
  EXPECT_TRUE((result.lower.array() < result.log_rpv.array()).all());
  EXPECT_TRUE((result.upper.array() > result.log_rpv.array()).all());
  EXPECT_FALSE(result.log_seconds);
}

TEST_F(ForecasterTest, StrangerIsOutOfDistributionWithWiderIntervals) {
  Profile strange = table().profiles[7];
  for (auto& [name, value] : strange.metrics) {
    if (name.starts_with("miss_") || name.starts_with("op_x87")) value = 5e8;
  }
  const Forecast usual = forecast(table().profiles[7]);
  const Forecast result = forecast(strange);
  EXPECT_FALSE(result.in_distribution);
  EXPECT_THAT(result.warnings, Contains(Field(&ProfileWarning::code, "unlike-training")));
  EXPECT_TRUE(
      result.warnings.front().advice.starts_with("time it on a machine that you consider, and pass that time: "
                                                 "--measured"));
  // A build is several programs.
  strange.parts.resize(2);
  strange.parts[0].program = "cc1";
  EXPECT_TRUE(forecast(strange).warnings.front().advice.starts_with(
      "forecast the program that takes most of its time alone: --process cc1; or time it on"));
  EXPECT_GT(result.half_width.minCoeff(),
            1.2 * usual.half_width.maxCoeff() * usual.half_width.minCoeff() / usual.half_width.maxCoeff());
}

// What nobody counted is the same code on all platforms with AVX-512: a time on one of them says it for the others.
TEST_F(ForecasterTest, CodeForWiderVectorsWidensIntervalsBetweenPlatforms) {
  Bundle bundle = forecaster().bundle();
  for (size_t j = 0; j < 3; ++j) bundle.platforms[j].flags = {"avx512f"};
  const Forecaster knows(std::make_shared<const Bundle>(std::move(bundle)));
  Profile profile = table().profiles[7];
  const Forecast without = *knows.forecast(profile, {});
  profile.metrics["wider_code_per_instruction_ratio"] = 0.36;
  const Forecast with = *knows.forecast(profile, {});
  EXPECT_EQ(with.log_rpv, without.log_rpv);
  EXPECT_THAT(with.warnings, Contains(Field(&ProfileWarning::code, kWiderVectors)));
  const double added = kNormal95 * kWiderVectorsDeviation_ln * 0.6 * 0.5;
  for (Eigen::Index j = 0; j < with.half_width.size(); ++j)
    EXPECT_NEAR(with.half_width(j), std::hypot(without.half_width(j), added), 1e-9);
  const auto width = [](const Forecast& forecast, int64_t from, int64_t to) {
    const Forecast relative = Forecaster::relative_to(forecast, from);
    return relative.upper(to) - relative.lower(to);
  };
  const double between = width(with, 0, 3) / width(without, 0, 3), among = width(with, 0, 1) / width(without, 0, 1);
  EXPECT_GT(between, 1.2);
  EXPECT_LT(among, 0.9 * between);
}

TEST_F(ForecasterTest, SamplingErrorWidensTheInterval) {
  Profile profile = table().profiles[7];
  const Forecast exact = forecast(profile);
  profile.replicates = {{}, {}, {}, {}};
  EXPECT_EQ(forecast(profile).half_width, exact.half_width);  // all alike
  for (size_t r = 0; r < profile.replicates.size(); ++r) {
    for (const auto& [name, value] : profile.metrics) {
      if (name.starts_with("miss_")) profile.replicates[r][name] = value * (0.4 + 0.4 * static_cast<double>(r));
    }
  }
  const Forecast sampled = forecast(profile);
  EXPECT_EQ(sampled.log_rpv, exact.log_rpv);
  EXPECT_TRUE((sampled.half_width.array() >= exact.half_width.array()).all());
  EXPECT_GT(sampled.half_width.maxCoeff(), exact.half_width.minCoeff());
  // Twice as many of the same scatter are half as uncertain, and Student's factor falls from 2.35 to 1.89.
  Profile more = profile;
  more.replicates.insert(more.replicates.end(), profile.replicates.begin(), profile.replicates.end());
  EXPECT_TRUE((forecast(more).half_width.array() <= sampled.half_width.array()).all());
}

TEST_F(ForecasterTest, WhatWasNotSeenWidensTheInterval) {
  Profile profile = table().profiles[7];
  const Forecast whole = forecast(profile);
  profile.partly_seen = {0.4, 0};
  EXPECT_EQ(forecast(profile).half_width, whole.half_width);
  profile.partly_seen = {0.4, 0.5};
  EXPECT_TRUE(forecast(profile).half_width.isApprox(2.5 * whole.half_width, 1e-12));
  EXPECT_EQ(forecast(profile).log_rpv, whole.log_rpv);
}

TEST_F(ForecasterTest, SaysWhyNothingIsPromised) {
  Profile profile = table().profiles[3];
  profile.metrics["kernel_cpu_ratio"] = 0.8;
  EXPECT_THAT(forecast(profile).warnings, Contains(Field(&ProfileWarning::code, "os-heavy")));
  profile = table().profiles[3];
  profile.instruction_set = "aarch64";
  EXPECT_THAT(forecast(profile).warnings, Contains(Field(&ProfileWarning::code, "other-instruction-set")));
  profile = table().profiles[3];
  profile.warnings.push_back({"clock-bound", "runs by the clock", "give it a fixed amount of work"});
  EXPECT_THAT(forecast(profile).warnings, Contains(Field(&ProfileWarning::code, "clock-bound")));
  EXPECT_FALSE(forecast(profile).in_distribution);
  profile = table().profiles[3];
  profile.warnings.push_back({"other-code-path", "too fast for what was counted", "turn the extension off"});
  EXPECT_FALSE(forecast(profile).in_distribution);
  profile = table().profiles[3];
  std::erase_if(profile.metrics, [](const auto& item) { return item.first.starts_with("miss_"); });
  EXPECT_THAT(forecast(profile).warnings, Contains(Field(&ProfileWarning::code, "counters-missing")));
}

// A model of somebody's own columns: what perfcast doctor says would not help.
TEST_F(ForecasterTest, SaysHowToGiveTheColumnsOfATable) {
  TrainingTable own = table();
  for (size_t p = 0; p < own.profiles.size(); ++p) {
    const double level = static_cast<double>(p % 7) + 1;
    own.profiles[p].metrics = {{"instructions_count", 1e9 * level},
                               {"table_llc_misses_count", 1e5 * static_cast<double>(p % 5 + 1)},
                               {"table_simd_share_ratio", 0.1 * level}};
  }
  auto bundle = train_bundle(own, {.model = "knn"});
  ASSERT_TRUE(bundle) << to_text(bundle.error());
  const Forecaster of_columns(std::make_shared<const Bundle>(std::move(*bundle)));
  Profile ours;
  ours.metrics = {{"instructions_count", 2e9}};
  const auto result = of_columns.forecast(ours, {});
  ASSERT_TRUE(result) << to_text(result.error());
  EXPECT_THAT(result->outside, Contains("counters-missing"));
  const auto missing = std::find_if(result->warnings.begin(), result->warnings.end(),
                                    [](const ProfileWarning& each) { return each.code == "counters-missing"; });
  ASSERT_NE(missing, result->warnings.end());
  EXPECT_THAT(missing->advice,
              testing::HasSubstr("doesn't count: table_llc_misses_count, table_simd_share_ratio. A row "
                                 "with these columns can be forecast: perfcast import table"));
  ours.metrics = {{"wall_s", 1}};
  EXPECT_THAT(of_columns.forecast(ours, {}).error().expected, testing::HasSubstr("table_llc_misses_count"));
}

// The reason that the profile gives, not that there are none.
TEST_F(ForecasterTest, SaysWhyThereAreNoCounters) {
  Profile profile;
  profile.metrics["wall_s"] = 1;
  profile.warnings = {{"noisy-host", "CPU time varied by 11% between 3 runs", "a quiet machine"},
                      {"tool-missing", "qemu-x86_64 is not installed", "apt install qemu-user"}};
  Error error = forecaster().forecast(profile, {}).error();
  EXPECT_EQ(error.message, "no instruction mix: qemu-x86_64 is not installed");
  EXPECT_EQ(error.expected, "apt install qemu-user");
  profile.warnings.push_back({"exec-not-followed", "a launcher", "its program"});
  EXPECT_EQ(forecaster().forecast(profile, {}).error().message, "no instruction mix: a launcher");
}

TEST_F(ForecasterTest, RefusesAProfileWithoutCounters) {
  Profile profile;
  profile.metrics["wall_s"] = 1;
  const auto result = forecaster().forecast(profile, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "bad-profile");
}

TEST_F(ForecasterTest, MeasurementsNarrowAndCorrect) {
  const Profile& profile = table().profiles[7];
  const Forecast before = forecast(profile);
  const auto truth = [&](size_t platform) { return table().at(7, platform)->log_time; };
  const Forecast after = forecast(profile, {{0, truth(0)}, {1, truth(1)}, {2, truth(2)}});
  EXPECT_LT(after.half_width.sum(), before.half_width.sum());
  EXPECT_LT(after.half_width(0), before.half_width(0));
  // Measured platforms now differ by what was measured.
  EXPECT_NEAR(after.log_rpv(0) - after.log_rpv(1), truth(0) - truth(1), 0.03);
  ASSERT_TRUE(after.log_seconds);
  EXPECT_NEAR(*after.log_seconds + after.log_rpv(0), truth(0), 0.03);
  EXPECT_NEAR(after.log_rpv.mean(), 0, 1e-9);
}

TEST_F(ForecasterTest, OneMeasurementGivesSecondsOnly) {
  const Profile& profile = table().profiles[7];
  const Forecast after = forecast(profile, {{2, std::log(10.0)}});
  EXPECT_EQ(after.log_rpv, forecast(profile).log_rpv);
  ASSERT_TRUE(after.log_seconds);
  EXPECT_NEAR(std::exp(*after.log_seconds + after.log_rpv(2)), 10, 1e-9);
}

TEST_F(ForecasterTest, ReferenceIsAShiftWithIntervalsOfTheDifference) {
  const Forecast mean = forecast(table().profiles[7], {{2, std::log(10.0)}});
  const Forecast result = Forecaster::relative_to(mean, 4);
  EXPECT_EQ(result.reference, 4);
  EXPECT_DOUBLE_EQ(result.log_rpv(4), 0);
  EXPECT_DOUBLE_EQ(result.lower(4), 0);
  EXPECT_DOUBLE_EQ(result.upper(4), 0);
  EXPECT_NEAR(result.log_rpv(1) - result.log_rpv(0), mean.log_rpv(1) - mean.log_rpv(0), 1e-12);
  EXPECT_GT(result.upper(0), result.log_rpv(0));
  // Seconds stay what they were.
  EXPECT_NEAR(*result.log_seconds + result.log_rpv(0), *mean.log_seconds + mean.log_rpv(0), 1e-12);
}

TEST(TrainBundle, SaysWhatItCannotTrain) {
  EXPECT_EQ(train_bundle(additive_world({}).table, {.model = "x"}).error().code, "unknown-model");
  EXPECT_EQ(train_bundle(TrainingTable{}, {.model = "mean"}).error().code, "empty-table");
  EXPECT_EQ(train_bundle(additive_world({.programs = 4, .families = 1}).table, {.model = "mean"}).error().code,
            "too-few-families");
}

// With gaps the limit must be one that forecasts are judged by: of distances over what both programs have.
TEST(TrainBundle, MeasuresUsualDistancesAsForecastsDo) {
  TrainingTable table = additive_world({.programs = 12, .platforms = 3, .families = 6}).table;
  for (size_t p = 0; p < 3; ++p) {
    std::erase_if(table.profiles[p].metrics, [](const auto& item) { return item.first.starts_with("miss_"); });
  }
  const auto bundle = train_bundle(table, {.model = "mean"});
  ASSERT_TRUE(bundle);
  const Eigen::MatrixXd& features = bundle->training_features;
  ASSERT_TRUE(features.array().isNaN().any());
  const auto targets = make_targets(table);
  const Eigen::MatrixXd rows = Standardiser::fit(features, targets->weights).apply_with_gaps(features);
  const Eigen::MatrixXd distances = feature_distances(rows, rows);
  double largest = 0;  // with this few programs the 95% quantile is the largest
  for (Eigen::Index p = 0; p < rows.rows(); ++p) {
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index q = 0; q < rows.rows(); ++q) {
      if (p % 6 != q % 6) least = std::min(least, distances(p, q));
    }
    largest = std::max(largest, least);
  }
  EXPECT_NEAR(bundle->distance_limit, largest, 1e-12);
}

TEST(TrainBundle, KnowsAbsoluteTimesWhereTheWorkIsKnown) {
  TrainingTable table = additive_world({.programs = 10, .platforms = 3, .families = 5}).table;
  table.profiles[1].work_units.reset();
  table.profiles[2].work_units = 4;
  const auto bundle = train_bundle(table, {.model = "mean"});
  ASSERT_TRUE(bundle);
  const auto targets = make_targets(table);
  EXPECT_NEAR(bundle->training_log_seconds_per_instruction_mean(0), targets->log_seconds(0) - std::log(1e9), 1e-9);
  EXPECT_TRUE(std::isnan(bundle->training_log_seconds_per_instruction_mean(1)));
  EXPECT_NEAR(bundle->training_log_seconds_per_instruction_mean(2), targets->log_seconds(2) - std::log(1e9 / 4), 1e-9);
}

}  // namespace
}  // namespace perfcast::program
