#include "place/jobs/advise_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/forecast/forecast.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::place {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kNow_ns = 1'700'000'000'000'000'000;

const program::Forecaster& mean_forecaster() {
  static const program::Forecaster made = [] {
    const auto table = program::make_training_table(program::synthetic_corpus({}), {});
    auto bundle = program::train_bundle(*table, {.model = "mean", .coverage = 0.9, .fit = {}});
    if (!bundle) throw std::runtime_error(to_text(bundle.error()));
    return program::Forecaster(std::make_shared<const program::Bundle>(std::move(*bundle)));
  }();
  return made;
}

AdviseJobRequest solver_on(std::vector<fleet::SlurmPartition> partitions) {
  AdviseJobRequest request;
  request.job = *fleet::parse_job_script("#!/bin/sh\n#SBATCH --job-name=solver\nsrun ./a.out\n", "job.sh");
  request.partitions = std::move(partitions);
  request.profile = program::synthetic_profile({}, 11);
  request.profile.command = {"./a.out"};
  return request;
}

fleet::SlurmPartition partition(const std::string& name, const std::string& platform) {
  return {name, platform, std::nullopt, std::nullopt};
}

TEST(AdviseJob, RanksPartitionsByTheForecastOfTheirPlatform) {
  AdviseJobRequest request = solver_on({partition("slow", "Example 300"), partition("fast", "Example 600")});
  request.settings.tie_ratio = 0;
  const auto advice = advise_job(mean_forecaster(), request);
  ASSERT_TRUE(advice) << to_text(advice.error());
  EXPECT_EQ(advice->program, "solver");
  EXPECT_EQ(advice->command, "./a.out");
  EXPECT_TRUE(advice->in_distribution);
  ASSERT_THAT(advice->rows, SizeIs(2));
  // The same numbers as `forecast_program` has for those platforms, best first.
  const auto report = program::forecast_program(mean_forecaster(), request.profile, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(advice->reference, report->reference_name);
  for (const fleet::AdviceRow& row : advice->rows) {
    ASSERT_TRUE(row.of.forecast);
    size_t found = 0;
    for (const program::PlatformRow& platform : report->rows) {
      if (platform.platform.name != row.of.partition.platform) continue;
      ++found;
      EXPECT_EQ(row.of.forecast->rpv, platform.rpv);
      EXPECT_EQ(row.of.forecast->lower, platform.lower);
      EXPECT_EQ(row.of.forecast->upper, platform.upper);
      EXPECT_EQ(row.of.forecast->time_s, platform.time_s);
    }
    EXPECT_EQ(found, 1u);
  }
  EXPECT_LT(advice->rows[0].of.forecast->rpv, advice->rows[1].of.forecast->rpv);
  EXPECT_THAT(advice->chosen, ElementsAre(advice->rows[0].of.partition.name));
}

TEST(AdviseJob, ReferenceIsTheRequests) {
  AdviseJobRequest request = solver_on({partition("slow", "Example 300"), partition("fast", "Example 600")});
  request.reference = "Example 300";
  const auto advice = advise_job(mean_forecaster(), request);
  ASSERT_TRUE(advice) << to_text(advice.error());
  EXPECT_EQ(advice->reference, "Example 300");
  for (const fleet::AdviceRow& row : advice->rows) {
    if (row.of.partition.name != "slow") continue;
    EXPECT_NEAR(row.of.forecast->rpv, 1, 1e-12);
  }
  request.reference = "Example 999";
  EXPECT_EQ(advise_job(mean_forecaster(), request).error().code, "unknown-platform");
}

TEST(AdviseJob, GivesATimeForTheProfiledRunAlone) {
  AdviseJobRequest request = solver_on({partition("fast", "Example 600")});
  const auto advised = [&](const std::string& commands) {
    request.job = *fleet::parse_job_script("#!/bin/sh\n#SBATCH --time=8:00:00\n" + commands + "\n", "job.sh");
    auto advice = advise_job(mean_forecaster(), request);
    if (!advice) throw std::runtime_error(to_text(advice.error()));
    return *advice;
  };
  request.profile.command = {"mpirun", "./solver", "a.in"};
  EXPECT_EQ(advised("srun ./solver a.in").time_limit_s, 60);
  const std::string kept =
      ": the forecast is of one profiled run, so no --time is given here; the script's "
      "--time=8:00:00 stays";
  for (const auto& [commands, why] :
       {std::pair<std::string, std::string>{"srun ./solver b.in",
                                            "the script has other arguments than the profiled run, ./solver a.in"},
        {"while true; do srun ./solver a.in; done", "the script runs commands in a loop"},
        {"./prepare\nsrun ./solver a.in", "the script also runs prepare"}}) {
    const fleet::SlurmAdvice advice = advised(commands);
    EXPECT_EQ(advice.time_limit_s, std::nullopt) << commands;
    EXPECT_THAT(advice.notes, Contains(why + kept)) << commands;
  }
}

TEST(AdviseJob, RefusesAProfileOfAnotherProgram) {
  AdviseJobRequest request = solver_on({partition("fast", "Example 600")});
  request.job = *fleet::parse_job_script("#!/bin/sh\nsrun python3 train.py\n", "job.sh");
  request.profile.command = {"/opt/bin/work", "a.in"};
  const auto advice = advise_job(mean_forecaster(), request);
  ASSERT_FALSE(advice);
  EXPECT_EQ(advice.error().code, "other-program");
  EXPECT_EQ(advice.error().message, "the script runs python3, the profile is of work");
  EXPECT_EQ(advice.error().where, "job.sh");
  EXPECT_EQ(advice.error().expected,
            "a profile of python3; or, if the script runs work all the same, --command '/opt/bin/work a.in'");
  // Folders don't matter; a profile without a command is nobody's contradiction.
  request.job = *fleet::parse_job_script("#!/bin/sh\nsrun ./work a.in\n", "job.sh");
  EXPECT_TRUE(advise_job(mean_forecaster(), request));
  request.profile.command.clear();
  const auto untold = advise_job(mean_forecaster(), request);
  ASSERT_TRUE(untold) << to_text(untold.error());
  EXPECT_THAT(untold->notes, Contains(HasSubstr("the profile does not tell its command")));
}

TEST(AdviseJob, ListsPartitionsOfUnknownPlatformWithoutAForecast) {
  const auto advice =
      advise_job(mean_forecaster(), solver_on({partition("near", "Exampel 300"), partition("fast", "Example 600")}));
  ASSERT_TRUE(advice) << to_text(advice.error());
  ASSERT_THAT(advice->rows, SizeIs(2));
  EXPECT_EQ(advice->rows[1].of.partition.name, "near");
  EXPECT_FALSE(advice->rows[1].of.forecast);
  EXPECT_EQ(advice->rows[1].note, "no forecast: no platform is called 'Exampel 300'");
  EXPECT_THAT(advice->chosen, ElementsAre("fast"));
  EXPECT_THAT(advice->notes, Contains(HasSubstr("partition near: for example Example 300, ")));
}

TEST(AdviseJob, FailsWhereNoPlatformIsKnown) {
  const auto advice =
      advise_job(mean_forecaster(), solver_on({partition("a", "Exampel 300"), partition("b", "Exampel 600")}));
  ASSERT_FALSE(advice);
  EXPECT_EQ(advice.error().code, "unknown-platform");
  EXPECT_EQ(advice.error().kind, ErrorKind::kData);  // it stands in a file
  EXPECT_EQ(advice.error().where, "partition a");
}

TEST(AdviseJob, NamesTheProgramOfTheRequestOrOfTheScript) {
  AdviseJobRequest request = solver_on({partition("fast", "Example 600")});
  request.program = "other";
  EXPECT_EQ(advise_job(mean_forecaster(), request)->program, "other");
  request.program = "two words";
  const auto bad = advise_job(mean_forecaster(), request);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, "bad-usage");
  EXPECT_EQ(bad.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(bad.error().where, "program");
  request.program.clear();
  request.job = *fleet::parse_job_script("#!/bin/sh\n", "empty.sh");
  EXPECT_EQ(advise_job(mean_forecaster(), request).error().code, "no-program-name");
}

TEST(AdviseJob, ThePluginRemembersTheAdviceAndKeepsItsMode) {
  const std::string path = (std::filesystem::temp_directory_path() / "perfcast_advise_job.tsv").string();
  std::filesystem::remove(path);
  EXPECT_EQ(plugin_state(path).error().code, "file-not-found");
  fleet::SlurmAdvice advice;
  advice.program = "solver";
  advice.rows.resize(1);
  advice.rows[0].of = {partition("fast", "Example 600"), fleet::PlatformForecast{"Example 600", 0.5, 0.4, 0.75, {}},
                       ""};
  advice.chosen = {"fast"};
  ASSERT_TRUE(remember_advice(path, advice, 2, kNow_ns));
  EXPECT_EQ(*read_file(path),
            "perfcast-forecasts/1\tact\t1700000000000000000\t172800\n"
            "solver\t1700000000\tfast\tfast=0.5[0.4..0.75]\n");
  const auto observed = set_plugin_mode(path, fleet::CacheMode::kObserve, kNow_ns + 1);
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->programs, 1u);
  advice.program = "other";
  ASSERT_TRUE(remember_advice(path, advice, std::nullopt, kNow_ns + 2));
  const auto state = plugin_state(path);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->mode, fleet::CacheMode::kObserve);
  EXPECT_EQ(state->programs, 2u);
  EXPECT_EQ(fleet::read_forecast_cache(path)->oldest_valid_s, 172800);

  // A broken one is never overwritten.
  ASSERT_TRUE(write_file_atomically(path, "nonsense"));
  EXPECT_EQ(remember_advice(path, advice, 2, kNow_ns).error().code, "bad-cache");
  EXPECT_EQ(*read_file(path), "nonsense");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace perfcast::place
