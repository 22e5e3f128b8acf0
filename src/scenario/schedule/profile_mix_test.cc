#include "scenario/schedule/profile_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "evaluate/testing/synthetic_corpus.h"
#include "evaluate/testing/synthetic_forecaster.h"
#include "model/scaling/scaling_model.h"
#include "model/scaling/testing/scaling_world.h"
#include "schedule/testing/small_world.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Profile program() {
  Profile profile = synthetic_profile({}, 11);
  profile.metrics["max_rss_bytes"] = 1e9;
  profile.metrics["page_faults_minor_count"] = 500;
  return profile;
}

// The small world, and that copies slow each other there as in the world of scaling.
const Forecaster& forecaster_with_scaling() {
  static const Forecaster made = [] {
    auto bundle = std::make_shared<Bundle>(synthetic_forecaster().bundle());
    auto scaling = std::make_shared<ScalingModel>();
    if (Status fitted = scaling->fit(ScalingFit(scaling_world::world(6, 0.02)), 0.9); !fitted)
      throw std::runtime_error(to_text(fitted.error()));
    bundle->scaling = scaling;
    return Forecaster(bundle);
  }();
  return made;
}

Result<ProgramMix> mix_of(const Forecaster& forecaster, Cluster cluster, const ProfileMixRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  const auto machines = find_machines(cluster, bundle.platforms, bundle.servers, "of the bundle");
  if (!machines) return machines.error();
  return make_profile_mix(forecaster, cluster, *machines, request);
}

ProgramMix mix_of(const Forecaster& forecaster, const Cluster& cluster, const Profile& profile = program()) {
  auto mix = mix_of(forecaster, cluster, ProfileMixRequest{{{profile, 1}}, ""});
  if (!mix) throw std::runtime_error(to_text(mix.error()));
  return std::move(*mix);
}

TEST(ProfileMix, OnCpuModelsJobsTakeWhatIsForecast) {
  const auto forecast = forecast_program(synthetic_forecaster(), program(), {});
  ASSERT_TRUE(forecast);
  const ProgramMix mix = mix_of(synthetic_forecaster(), {{nodes("Example 100", 1, 4), nodes("Example 300", 1, 4)}, ""});
  EXPECT_THAT(mix.platforms, ElementsAre("Example 100", "Example 300"));
  ASSERT_THAT(mix.programs, SizeIs(1));
  const MixProgram& job = mix.programs[0];
  EXPECT_EQ(job.name, "example");
  EXPECT_EQ(job.cores, 1);
  EXPECT_EQ(job.memory_bytes, 1e9);
  EXPECT_EQ(job.time_s, job.forecast_s);
  for (const PlatformRow& row : forecast->rows) {
    if (row.platform.name != "Example 100") continue;
    EXPECT_NEAR(job.time_s[0], *row.time_s, 1e-12);
    EXPECT_NEAR(job.lower_s[0], *row.time_lower_s, 1e-9);
    EXPECT_NEAR(job.upper_s[0], *row.time_upper_s, 1e-9);
  }
}

TEST(ProfileMix, OnInstancesJobsTakeWhatACopyTakesAmongThose) {
  ForecastRequest all;
  all.instances = true;
  const auto forecast = forecast_program(forecaster_with_scaling(), program(), all);
  ASSERT_TRUE(forecast);
  const ProgramMix mix =
      mix_of(forecaster_with_scaling(), {{instances("cloud-b m1.x4"), nodes("Example 100", 1, 8)}, ""});
  const MixProgram& job = mix.programs.at(0);
  for (const PlatformRow& row : forecast->rows) {
    for (const InstanceRow& instance : row.instances) {
      if (instance.server.name != "m1.x4") continue;
      EXPECT_EQ(instance.copies, 8);
      EXPECT_NEAR(job.time_s[0], 8 * kSecondsPerHour / *instance.runs_per_hour, 1e-9);
      EXPECT_NEAR(job.upper_s[0], 8 * kSecondsPerHour / *instance.runs_per_hour_lower, 1e-9);
    }
  }
  EXPECT_GT(job.time_s[0], 1.01 * job.time_s[1]);  // the same CPU model by itself
  EXPECT_THAT(mix.notes, testing::Contains(HasSubstr("fill it")));
  const ProgramMix alone =
      mix_of(synthetic_forecaster(), {{instances("cloud-b m1.x4"), nodes("Example 100", 1, 8)}, ""});
  EXPECT_NEAR(alone.programs[0].time_s[0], alone.programs[0].time_s[1], 1e-9);
  EXPECT_THAT(alone.notes, testing::Contains(HasSubstr("but of example on cloud-b m1.x4 as long as alone")));
}

TEST(ProfileMix, FewerCopiesWhereMemoryHoldsNoMore) {
  Profile large = program();
  large.metrics["max_rss_bytes"] = 20.0 * (int64_t{1} << 30);
  const Cluster cluster = {{instances("m1.x1"), instances("m1.x4")}, ""};  // 8 and 32 GiB
  const ProgramMix mix = mix_of(forecaster_with_scaling(), cluster, large);
  EXPECT_TRUE(std::isnan(mix.programs[0].time_s[0]));
  EXPECT_LT(mix.programs[0].time_s[1], mix_of(forecaster_with_scaling(), cluster).programs[0].time_s[1]);
}

// Two threads take two cores each, as long as their work on both; whatever they had of the host's CPUs.
TEST(ProfileMix, ThreadsTakeCores) {
  const Cluster cluster = {{nodes("Example 100", 1, 8), instances("m1.x1"), instances("cloud-b m1.x4")}, ""};
  const MixProgram alone = mix_of(forecaster_with_scaling(), cluster).programs[0];
  Profile two = program();
  CourseInterval interval;
  interval.length_s = two.metrics.at("wall_s");
  interval.running_count = 1;
  interval.ready_count = 1;
  two.course = {interval};
  const MixProgram waited = mix_of(forecaster_with_scaling(), cluster, two).programs[0];
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
  const Cluster cluster = {{nodes("Example 600", 1, 4)}, ""};
  Profile other = program();
  other.program = "other";
  const auto mix = mix_of(synthetic_forecaster(), cluster, ProfileMixRequest{{{program(), 1}, {other, 1}}, ""});
  ASSERT_TRUE(mix);
  MixOptions options;
  options.jobs = 30;
  options.arrivals.rate_per_s = 1;
  const auto jobs = draw_jobs(*mix, options);
  ASSERT_TRUE(jobs);
  for (size_t i = 1; i < jobs->size(); ++i) EXPECT_NEAR(jobs->times(i)[0], jobs->times(0)[0], 1e-9);
}

// Drawn true times have the spread of the forecast's interval, and platforms of one CPU model err alike.
TEST(ProfileMix, SamplesDifferByTheErrorsOfTheForecast) {
  const Cluster cluster = {{nodes("Example 600", 1, 4), instances("m6.x1"), nodes("Example 200", 1, 4)}, ""};
  const ProgramMix mix = mix_of(synthetic_forecaster(), cluster);
  const MixProgram& job = mix.programs.at(0);
  constexpr int kSamples = 400;
  int within = 0;
  for (int seed = 1; seed <= kSamples; ++seed) {
    MixOptions options;
    options.jobs = 2;
    options.arrivals.rate_per_s = 1;
    options.seed = static_cast<uint64_t>(seed);
    const auto jobs = draw_jobs(mix, options);
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
  const auto mix = mix_of(forecaster_with_scaling(), {{instances("m1.x1"), instances("m1.x4")}, ""},
                          ProfileMixRequest{{{large, 1}}, ""});
  ASSERT_FALSE(mix);
  EXPECT_EQ(mix.error().code, "infeasible");
  EXPECT_THAT(mix.error().message, HasSubstr("64.0 GiB of memory"));
  // Of a CPU model nobody knows the memory: it may fit.
  EXPECT_TRUE(mix_of(forecaster_with_scaling(), {{instances("m1.x1"), nodes("Example 100", 1, 4)}, ""},
                     ProfileMixRequest{{{large, 1}}, ""}));
}

TEST(ProfileMix, SharesAndHostsThatAreNone) {
  const Cluster cluster = {{nodes("Example 100", 1, 4)}, ""};
  const auto nothing = mix_of(synthetic_forecaster(), cluster, ProfileMixRequest{{{program(), 0}}, ""});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "bad-usage");
  EXPECT_EQ(nothing.error().where, "weights");
  Profile elsewhere = program();
  elsewhere.host.name = elsewhere.host.vendor = "";
  elsewhere.host.cpu_family = elsewhere.host.model = std::nullopt;
  const auto unknown = mix_of(synthetic_forecaster(), cluster, ProfileMixRequest{{{elsewhere, 1}}, ""});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-host");
  EXPECT_TRUE(mix_of(synthetic_forecaster(), cluster, ProfileMixRequest{{{elsewhere, 1}}, "Example 200"}));
}

}  // namespace
}  // namespace perfcast
