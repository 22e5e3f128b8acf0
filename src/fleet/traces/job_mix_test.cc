#include "fleet/traces/job_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;

ProgramMix mix_of(std::vector<MixProgram> programs) { return {{"A", "B"}, std::move(programs), "toy"}; }

MixProgram program_of(const char* name, double weight, std::vector<double> time_s) {
  MixProgram program;
  program.name = name;
  program.weight = weight;
  program.time_s = std::move(time_s);
  return program;
}

struct Gaps {
  double mean = 0, squared_variation = 0;
};
Gaps gaps_of(const Workload& workload) {
  double sum = 0, squares = 0, before = 0;
  for (const JobRequest& job : workload.jobs) {
    const double gap = job.arrival_s - before;
    before = job.arrival_s;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(workload.size());
  const double mean = sum / n;
  return {mean, squares / n / (mean * mean) - 1};
}

TEST(JobMix, ProgramsComeByTheirWeights) {
  MixProgram wide = program_of("wide", 3, {2, kUnknown});
  wide.cores = 8;
  wide.forecast_s = {2.5, kUnknown};
  const ProgramMix mix = mix_of({program_of("never", 0, {9, 9}), program_of("one", 1, {1, 4}), wide});
  MixOptions options;
  options.jobs = 40000;
  options.arrivals.kind = Arrivals::Kind::kBatch;
  const auto jobs = draw_jobs(mix, options);
  ASSERT_TRUE(jobs) << to_text(jobs.error());
  EXPECT_THAT(jobs->programs, ElementsAre("never", "one", "wide"));
  double wides = 0;
  for (size_t i = 0; i < jobs->size(); ++i) {
    const JobRequest& job = jobs->jobs[i];
    ASSERT_NE(job.program, 0);
    ASSERT_EQ(job.arrival_s, 0);
    ASSERT_EQ(job.id, static_cast<int64_t>(i) + 1);
    const bool is_wide = job.program == 2;
    wides += is_wide ? 1 : 0;
    ASSERT_EQ(job.cores, is_wide ? 8 : 1);
    ASSERT_EQ(jobs->time_s[2 * i], is_wide ? 2 : 1);
    ASSERT_EQ(std::isnan(jobs->time_s[2 * i + 1]), is_wide);
    ASSERT_EQ(std::isnan(jobs->forecast_s[2 * i]), !is_wide);
  }
  EXPECT_NEAR(wides / 40000, 0.75, 4 * std::sqrt(0.75 * 0.25 / 40000));
  EXPECT_TRUE(jobs->lower_s.empty());
}

TEST(JobMix, ArrivalsHaveTheirRateAndVariation) {
  const ProgramMix mix = mix_of({program_of("one", 1, {1, 4})});
  MixOptions options;
  options.jobs = 200000;
  options.arrivals.rate_per_s = 0.5;
  options.arrivals.kind = Arrivals::Kind::kPoisson;
  const Gaps poisson = gaps_of(*draw_jobs(mix, options));
  EXPECT_NEAR(poisson.mean, 2, 4 * 2 / std::sqrt(200000));
  EXPECT_NEAR(poisson.squared_variation, 1, 0.04);
  options.arrivals.kind = Arrivals::Kind::kBursty;
  options.arrivals.squared_variation = 9;
  const Gaps bursty = gaps_of(*draw_jobs(mix, options));
  EXPECT_NEAR(bursty.mean, 2, 4 * 6 / std::sqrt(200000));
  EXPECT_NEAR(bursty.squared_variation, 9, 0.9);
  options.arrivals.kind = Arrivals::Kind::kInterval;
  options.jobs = 4;
  const auto interval = draw_jobs(mix, options);
  EXPECT_EQ(interval->jobs[0].arrival_s, 0);
  EXPECT_EQ(interval->jobs[3].arrival_s, 6);
}

TEST(JobMix, LengthsScaleTruthAndForecastAlike) {
  MixProgram program = program_of("one", 1, {10, 40});
  program.forecast_s = {11, 30};
  program.lower_s = {9, 20};
  program.upper_s = {12, 50};
  program.energy_joules = {100, 200};
  const ProgramMix mix = mix_of({program, program_of("two", 1, {5, 5})});
  MixOptions options;
  options.jobs = 100000;
  options.arrivals.rate_per_s = 1;
  const auto plain = draw_jobs(mix, options);
  options.length_sigma = 0.5;
  const auto scaled = draw_jobs(mix, options);
  ASSERT_TRUE(scaled);
  double mean_factor = 0, mean_log = 0;
  for (size_t i = 0; i < scaled->size(); ++i) {
    ASSERT_EQ(scaled->jobs[i].program, plain->jobs[i].program);  // the streams don't disturb each other
    ASSERT_EQ(scaled->jobs[i].arrival_s, plain->jobs[i].arrival_s);
    const double factor = scaled->time_s[2 * i] / plain->time_s[2 * i];
    mean_factor += factor / 100000;
    mean_log += std::log(factor) / 100000;
    if (scaled->jobs[i].program != 0) continue;
    ASSERT_NEAR(scaled->forecast_s[2 * i + 1], 30 * factor, 1e-9 * factor);
    ASSERT_NEAR(scaled->lower_s[2 * i], 9 * factor, 1e-9 * factor);
    ASSERT_NEAR(scaled->upper_s[2 * i], 12 * factor, 1e-9 * factor);
    ASSERT_NEAR(scaled->energy_joules[2 * i], 100 * factor, 1e-9 * factor);
  }
  EXPECT_NEAR(mean_factor, 1, 0.01);
  EXPECT_NEAR(mean_log, -0.125, 0.01);
}

// Of programs that nobody measured, a sample draws what they take; forecasts stay, and so do the other streams.
TEST(JobMix, DrawsTrueTimesOncePerProgramAndSample) {
  MixProgram unsure = program_of("unsure", 1, {10, 40});
  unsure.forecast_s = {10, 40};
  MixProgram sure = program_of("sure", 1, {5, 5});
  sure.forecast_s = {5, 5};
  ProgramMix mix = mix_of({unsure, sure});
  mix.notes = {"drawn"};
  MixOptions options;
  options.jobs = 50;
  options.arrivals.rate_per_s = 1;
  const auto known = draw_jobs(mix, options);
  mix.programs[0].log_error_root = {0.2, 0, 0.1, 0.3};
  double mean = 0, mean_square = 0, mean_product = 0;
  constexpr int kSamples = 2000;
  for (int seed = 1; seed <= kSamples; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const auto drawn = draw_jobs(mix, options);
    ASSERT_TRUE(drawn);
    EXPECT_EQ(drawn->notes, mix.notes);
    std::vector<double> first;
    for (size_t i = 0; i < drawn->size(); ++i) {
      ASSERT_TRUE(seed != 1 || drawn->jobs[i].program == known->jobs[i].program);
      ASSERT_EQ(drawn->forecasts(i)[0], drawn->jobs[i].program == 0 ? 10 : 5);
      ASSERT_TRUE(drawn->jobs[i].program == 0 || drawn->times(i)[1] == 5);
      if (drawn->jobs[i].program != 0) continue;
      const std::vector<double> times(drawn->times(i).begin(), drawn->times(i).end());
      if (first.empty()) first = times;
      ASSERT_EQ(times, first);
    }
    ASSERT_FALSE(first.empty());
    const double a = std::log(first[0] / 10), b = std::log(first[1] / 40);
    mean += a / kSamples;
    mean_square += b * b / kSamples;
    mean_product += a * b / kSamples;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(mean_square, 0.01 + 0.09, 0.01);
  EXPECT_NEAR(mean_product, 0.2 * 0.1, 0.005);
}

TEST(JobMix, RefusesWhatCanNotBeDrawn) {
  const MixProgram good = program_of("one", 1, {1, 4});
  const auto code = [](const ProgramMix& mix, const MixOptions& options) {
    const auto jobs = draw_jobs(mix, options);
    return jobs ? std::string("ok") : jobs.error().code;
  };
  MixOptions options;
  EXPECT_EQ(code(mix_of({good}), options), "bad-mix");  // no rate
  options.arrivals.rate_per_s = 1;
  EXPECT_EQ(code(mix_of({good}), options), "ok");
  EXPECT_EQ(code(mix_of({}), options), "bad-mix");
  EXPECT_EQ(code({{}, {good}, ""}, options), "bad-mix");
  MixProgram odd = good;
  odd.log_error_root = {1, 2};
  EXPECT_EQ(code(mix_of({odd}), options), "bad-mix");
  odd.log_error_root = {1, 2, kUnknown, 4};
  EXPECT_EQ(code(mix_of({odd}), options), "bad-mix");
  EXPECT_EQ(code(mix_of({program_of("x", 0, {1, 1})}), options), "bad-mix");
  EXPECT_EQ(code(mix_of({program_of("x", -1, {1, 1})}), options), "bad-mix");
  EXPECT_EQ(code(mix_of({program_of("x", kUnknown, {1, 1})}), options), "bad-mix");
  EXPECT_EQ(code(mix_of({program_of("x", 1, {1})}), options), "bad-mix");
  EXPECT_EQ(code(mix_of({program_of("x", 1, {1, -1})}), options), "bad-mix");
  MixProgram nothing = good;
  nothing.cores = 0;
  EXPECT_EQ(code(mix_of({nothing}), options), "bad-workload");
  options.jobs = 0;
  EXPECT_EQ(code(mix_of({good}), options), "bad-mix");
  options.jobs = 1;
  options.arrivals.kind = Arrivals::Kind::kBursty;
  options.arrivals.squared_variation = 0.5;
  EXPECT_EQ(code(mix_of({good}), options), "bad-mix");
}

Workload trace_of(std::vector<double> times) {
  Workload workload;
  workload.platforms = {"any"};
  workload.time_s = std::move(times);
  workload.jobs.resize(workload.time_s.size());
  for (size_t i = 0; i < workload.size(); ++i) workload.jobs[i].id = static_cast<int64_t>(i);
  return workload;
}

TEST(PerturbForecasts, SigmaMeetsTheError) {
  EXPECT_EQ(sigma_of_error(0), 0);
  for (const double error : {1e-6, 0.01, 0.1, 0.2, 0.5, 1.0, 3.0, 100.0}) {
    EXPECT_NEAR(mean_absolute_error_of(sigma_of_error(error)) / error, 1, 1e-9);
  }
  // Small errors: E|sigma z| = sigma sqrt(2 / pi).
  EXPECT_NEAR(sigma_of_error(1e-4), 1e-4 * std::sqrt(M_PI / 2), 1e-8);
  // By numerical integration of |exp(z) - 1| over the normal density.
  EXPECT_NEAR(mean_absolute_error_of(1), std::exp(0.5) * 0.6826894921370859, 1e-14);
  double integral = 0;
  for (int step = -10000; step < 10000; ++step) {
    const double z = step * 1e-3;
    integral += std::abs(std::exp(z) - 1) * std::exp(-z * z / 2) / std::sqrt(2 * M_PI) * 1e-3;
  }
  EXPECT_NEAR(mean_absolute_error_of(1), integral, 1e-5);
}

TEST(PerturbForecasts, NoErrorIsTheTruth) {
  Workload workload = trace_of({1, 2.5, kUnknown, 0});
  ASSERT_TRUE(perturb_forecasts(workload, {}));
  EXPECT_EQ(workload.forecast_s[1], 2.5);
  EXPECT_EQ(workload.lower_s[1], 2.5);
  EXPECT_EQ(workload.upper_s[1], 2.5);
  EXPECT_TRUE(std::isnan(workload.forecast_s[2]));
  EXPECT_EQ(workload.forecast_s[3], kLeastForecast_s);
  PerturbOptions negative;
  negative.error_ratio = -0.1;
  EXPECT_EQ(perturb_forecasts(workload, negative).error().code, "bad-mix");
  negative.error_ratio = kUnknown;
  EXPECT_EQ(perturb_forecasts(workload, negative).error().code, "bad-mix");
}

TEST(PerturbForecasts, MeanErrorAndCoverageAreAsAsked) {
  for (const double error : {0.05, 0.3, 1.0}) {
    Workload workload = trace_of(std::vector<double>(50000, 3.0));
    PerturbOptions options;
    options.error_ratio = error;
    options.seed = 5;
    ASSERT_TRUE(perturb_forecasts(workload, options));
    double sum = 0, squares = 0, inside = 0;
    for (size_t i = 0; i < workload.size(); ++i) {
      const double off = std::abs(workload.forecast_s[i] / 3 - 1);
      sum += off;
      squares += off * off;
      inside += workload.lower_s[i] <= 3 && 3 <= workload.upper_s[i] ? 1 : 0;
    }
    const double mean = sum / 50000;
    const double standard_error = std::sqrt((squares / 50000 - mean * mean) / 50000);
    EXPECT_NEAR(mean, error, 4 * standard_error);
    EXPECT_NEAR(inside / 50000, 0.9, 4 * std::sqrt(0.09 / 50000));
    EXPECT_TRUE(check_workload(workload));
  }
}

TEST(PerturbForecasts, ProgramsErrAsOneUnlessAskedOtherwise) {
  Workload workload = trace_of({1, 2, 3, 4});
  workload.programs = {"p", "q"};
  for (size_t i = 0; i < 4; ++i) workload.jobs[i].program = static_cast<int32_t>(i % 2);
  PerturbOptions options;
  options.error_ratio = 0.3;
  ASSERT_TRUE(perturb_forecasts(workload, options));
  const double p = workload.forecast_s[0];
  EXPECT_NE(p, 1);
  EXPECT_DOUBLE_EQ(workload.forecast_s[2], 3 * p);
  EXPECT_DOUBLE_EQ(workload.forecast_s[3], 2 * workload.forecast_s[1]);
  EXPECT_NE(workload.forecast_s[1], 2 * p);
  const auto first = workload.forecast_s;
  ASSERT_TRUE(perturb_forecasts(workload, options));
  EXPECT_EQ(workload.forecast_s, first);
  options.per_job = true;
  ASSERT_TRUE(perturb_forecasts(workload, options));
  EXPECT_GT(std::abs(workload.forecast_s[2] - 3 * workload.forecast_s[0]), 1e-6);
}

}  // namespace
}  // namespace perfcast::fleet
