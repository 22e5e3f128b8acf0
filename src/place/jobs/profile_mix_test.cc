#include "place/jobs/profile_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "fleet/testing/small_world.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"
#include "program/model/scaling/scaling_model.h"
#include "program/model/scaling/testing/scaling_world.h"

namespace perfcast::place {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Profile program() {
  Profile profile = program::synthetic_profile({}, 11);
  profile.metrics["max_rss_bytes"] = 1e9;
  profile.metrics["page_faults_minor_count"] = 500;
  return profile;
}

// The small world, and that copies slow each other there as in the world of scaling.
const program::Forecaster& forecaster_with_scaling() {
  static const program::Forecaster made = [] {
    auto bundle = std::make_shared<program::Bundle>(program::synthetic_forecaster().bundle());
    auto scaling = std::make_shared<program::ScalingModel>();
    if (Status fitted = scaling->fit(program::ScalingFit(program::scaling_world::world(6, 0.02)), 0.9); !fitted)
      throw std::runtime_error(to_text(fitted.error()));
    bundle->scaling = scaling;
    return program::Forecaster(bundle);
  }();
  return made;
}

Result<fleet::ProgramMix> mix_of(const program::Forecaster& forecaster, fleet::Cluster cluster,
                                 const ProfileMixRequest& request) {
  const program::Bundle& bundle = forecaster.bundle();
  const auto machines = find_machines(cluster, bundle.platforms, bundle.servers, "of the bundle");
  if (!machines) return machines.error();
  return make_profile_mix(forecaster, cluster, *machines, request);
}

fleet::ProgramMix mix_of(const program::Forecaster& forecaster, const fleet::Cluster& cluster,
                         const Profile& profile = program()) {
  auto mix = mix_of(forecaster, cluster, ProfileMixRequest{{{profile, 1}}, ""});
  if (!mix) throw std::runtime_error(to_text(mix.error()));
  return std::move(*mix);
}

TEST(ProfileMix, OnCpuModelsJobsTakeWhatIsForecast) {
  const auto forecast = program::forecast_program(program::synthetic_forecaster(), program(), {});
  ASSERT_TRUE(forecast);
  const fleet::ProgramMix mix = mix_of(program::synthetic_forecaster(),
                                       {{fleet::nodes("Example 100", 1, 4), fleet::nodes("Example 300", 1, 4)}, ""});
  EXPECT_THAT(mix.platforms, ElementsAre("Example 100", "Example 300"));
  ASSERT_THAT(mix.programs, SizeIs(1));
  const fleet::MixProgram& job = mix.programs[0];
  EXPECT_EQ(job.name, "example");
  EXPECT_EQ(job.cores, 1);
  EXPECT_EQ(job.memory_bytes, 1e9);
  EXPECT_EQ(job.time_s, job.forecast_s);
  for (const program::PlatformRow& row : forecast->rows) {
    if (row.platform.name != "Example 100") continue;
    EXPECT_NEAR(job.time_s[0], *row.time_s, 1e-12);
    EXPECT_NEAR(job.lower_s[0], *row.time_lower_s, 1e-9);
    EXPECT_NEAR(job.upper_s[0], *row.time_upper_s, 1e-9);
  }
}

TEST(ProfileMix, OnInstancesJobsTakeWhatACopyTakesAmongThose) {
  program::ForecastRequest all;
  all.instances = true;
  const auto forecast = program::forecast_program(forecaster_with_scaling(), program(), all);
  ASSERT_TRUE(forecast);
  const fleet::ProgramMix mix =
      mix_of(forecaster_with_scaling(), {{fleet::instances("cloud-b m1.x4"), fleet::nodes("Example 100", 1, 8)}, ""});
  const fleet::MixProgram& job = mix.programs.at(0);
  for (const program::PlatformRow& row : forecast->rows) {
    for (const program::InstanceRow& instance : row.instances) {
      if (instance.server.name != "m1.x4") continue;
      EXPECT_EQ(instance.copies, 8);
      EXPECT_NEAR(job.time_s[0], 8 * program::kSecondsPerHour / *instance.runs_per_hour, 1e-9);
      EXPECT_NEAR(job.upper_s[0], 8 * program::kSecondsPerHour / *instance.runs_per_hour_lower, 1e-9);
    }
  }
  EXPECT_GT(job.time_s[0], 1.01 * job.time_s[1]);  // the same CPU model by itself
  EXPECT_THAT(mix.notes, testing::Contains(HasSubstr("fill it")));
  const fleet::ProgramMix alone = mix_of(program::synthetic_forecaster(),
                                         {{fleet::instances("cloud-b m1.x4"), fleet::nodes("Example 100", 1, 8)}, ""});
  EXPECT_NEAR(alone.programs[0].time_s[0], alone.programs[0].time_s[1], 1e-9);
  EXPECT_THAT(alone.notes, testing::Contains(HasSubstr("but of example on cloud-b m1.x4 as long as alone")));
}

TEST(ProfileMix, FewerCopiesWhereMemoryHoldsNoMore) {
  Profile large = program();
  large.metrics["max_rss_bytes"] = 20.0 * (int64_t{1} << 30);
  const fleet::Cluster cluster = {{fleet::instances("m1.x1"), fleet::instances("m1.x4")}, ""};  // 8 and 32 GiB
  const fleet::ProgramMix mix = mix_of(forecaster_with_scaling(), cluster, large);
  EXPECT_TRUE(std::isnan(mix.programs[0].time_s[0]));
  EXPECT_LT(mix.programs[0].time_s[1], mix_of(forecaster_with_scaling(), cluster).programs[0].time_s[1]);
}

// Two threads take two cores each, as long as their work on both; whatever they had of the host's CPUs.
TEST(ProfileMix, ThreadsTakeCores) {
  const fleet::Cluster cluster = {
      {fleet::nodes("Example 100", 1, 8), fleet::instances("m1.x1"), fleet::instances("cloud-b m1.x4")}, ""};
  const fleet::MixProgram alone = mix_of(forecaster_with_scaling(), cluster).programs[0];
  Profile two = program();
  CourseInterval interval;
  interval.length_s = two.metrics.at("wall_s");
  interval.running_count = 1;
  interval.ready_count = 1;
  two.course = {interval};
  const fleet::MixProgram waited = mix_of(forecaster_with_scaling(), cluster, two).programs[0];
  EXPECT_EQ(waited.cores, 2);
  EXPECT_NEAR(waited.time_s[0] / alone.time_s[0], 0.5, 0.05);
  EXPECT_LT(waited.time_s[2], 0.75 * alone.time_s[2]);
  interval.ready_count = 1e18;  // no machine: neither a crash nor no cores
  two.course = {interval};
  const auto none = mix_of(forecaster_with_scaling(), cluster, ProfileMixRequest{{{two, 1}}, ""});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "infeasible");
  EXPECT_THAT(none.error().message, HasSubstr("1048576 cores"));
}

// What isn't known of a host moves the programs that were profiled there alike.
TEST(ProfileMix, ProgramsErrAlike) {
  const fleet::Cluster cluster = {{fleet::nodes("Example 600", 1, 4)}, ""};
  Profile other = program();
  other.program = "other";
  const auto mix =
      mix_of(program::synthetic_forecaster(), cluster, ProfileMixRequest{{{program(), 1}, {other, 1}}, ""});
  ASSERT_TRUE(mix);
  fleet::MixOptions options;
  options.jobs = 30;
  options.arrivals.rate_per_s = 1;
  const auto jobs = fleet::draw_jobs(*mix, options);
  ASSERT_TRUE(jobs);
  for (size_t i = 1; i < jobs->size(); ++i) EXPECT_NEAR(jobs->times(i)[0], jobs->times(0)[0], 1e-9);
}

// Drawn true times have the spread of the forecast's interval, and platforms of one CPU model err alike.
TEST(ProfileMix, SamplesDifferByTheErrorsOfTheForecast) {
  const fleet::Cluster cluster = {
      {fleet::nodes("Example 600", 1, 4), fleet::instances("m6.x1"), fleet::nodes("Example 200", 1, 4)}, ""};
  const fleet::ProgramMix mix = mix_of(program::synthetic_forecaster(), cluster);
  const fleet::MixProgram& job = mix.programs.at(0);
  constexpr int kSamples = 400;
  int within = 0;
  for (int seed = 1; seed <= kSamples; ++seed) {
    fleet::MixOptions options;
    options.jobs = 2;
    options.arrivals.rate_per_s = 1;
    options.seed = static_cast<uint64_t>(seed);
    const auto jobs = fleet::draw_jobs(mix, options);
    ASSERT_TRUE(jobs);
    const auto times = jobs->times(0);
    EXPECT_EQ(times[0], jobs->times(1)[0]);  // one draw for a program in a sample
    EXPECT_NEAR(times[1] / times[0], 1, 1e-3);
    EXPECT_NEAR(times[2] / job.time_s[2], 1, 1e-3);  // the host: nothing is forecast there
    EXPECT_EQ(jobs->forecasts(0)[0], job.forecast_s[0]);
    within += times[0] >= job.lower_s[0] && times[0] <= job.upper_s[0] ? 1 : 0;
  }
  EXPECT_NEAR(within, 0.9 * kSamples, 0.05 * kSamples);
}

// What nothing can run is no part of a plan that would then hold without it.
TEST(ProfileMix, AProgramThatFitsNowhereIsAnError) {
  Profile large = program();
  large.metrics["max_rss_bytes"] = 64.0 * (int64_t{1} << 30);
  const auto mix = mix_of(forecaster_with_scaling(), {{fleet::instances("m1.x1"), fleet::instances("m1.x4")}, ""},
                          ProfileMixRequest{{{large, 1}}, ""});
  ASSERT_FALSE(mix);
  EXPECT_EQ(mix.error().code, "infeasible");
  EXPECT_THAT(mix.error().message, HasSubstr("64.0 GiB of memory"));
  // Of a CPU model nobody knows the memory: it may fit.
  EXPECT_TRUE(mix_of(forecaster_with_scaling(), {{fleet::instances("m1.x1"), fleet::nodes("Example 100", 1, 4)}, ""},
                     ProfileMixRequest{{{large, 1}}, ""}));
}

TEST(ProfileMix, SharesAndHostsThatAreNone) {
  const fleet::Cluster cluster = {{fleet::nodes("Example 100", 1, 4)}, ""};
  const auto nothing = mix_of(program::synthetic_forecaster(), cluster, ProfileMixRequest{{{program(), 0}}, ""});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "bad-usage");
  EXPECT_EQ(nothing.error().where, "weights");
  Profile elsewhere = program();
  elsewhere.host.name = elsewhere.host.vendor = "";
  elsewhere.host.cpu_family = elsewhere.host.model = std::nullopt;
  const auto unknown = mix_of(program::synthetic_forecaster(), cluster, ProfileMixRequest{{{elsewhere, 1}}, ""});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-host");
  EXPECT_TRUE(mix_of(program::synthetic_forecaster(), cluster, ProfileMixRequest{{{elsewhere, 1}}, "Example 200"}));
}

}  // namespace
}  // namespace perfcast::place
