#include "fleet/plan/job_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

std::string written(const std::string& name, const std::string& text) {
  std::string path = (std::filesystem::temp_directory_path() / name).string();
  EXPECT_TRUE(write_file_atomically(path, text));
  return path;
}

// Three jobs, the second out of order.
std::string three_jobs() {
  return written("perfcast_job_stream.csv", "id,arrival_s,time_s:A\n1,0,10\n2,40,10\n3,20,10\n");
}

ProgramMix two_programs() {
  ProgramMix mix;
  mix.platforms = {"A"};
  mix.source = "by hand";
  mix.programs.resize(2);
  for (MixProgram& program : mix.programs) program.time_s = program.forecast_s = {10};
  return mix;
}

const Cluster kCluster{{nodes("A", 1, 2)}, ""};

JobStreamRequest request_for(JobSource source, std::optional<Cluster> cluster) {
  JobStreamRequest request;
  request.source = std::move(source);
  request.cluster = std::move(cluster);
  return request;
}

MixSource mix_of_two() {
  MixSource source;
  source.mix = two_programs();
  return source;
}

TableSource table_of(const std::string& path) {
  TableSource source;
  source.path = path;
  return source;
}

TEST(JobStream, ATraceIsTheSameForEverySeedAndTellsWhatWasMended) {
  JobStreamRequest request = request_for(TableSource{three_jobs(), 2}, kCluster);
  request.rate_factor = 2;
  request.deadline_factor = 3;
  const auto stream = open_job_stream(request);
  ASSERT_TRUE(stream) << to_text(stream.error());
  EXPECT_FALSE(stream->generated);
  for (const uint64_t seed : {1, 2}) {
    const auto jobs = stream->jobs(seed);
    ASSERT_TRUE(jobs);
    ASSERT_THAT(jobs->jobs, SizeIs(2));
    EXPECT_EQ(jobs->jobs[1].arrival_s, 10);   // twice as fast
    EXPECT_EQ(jobs->jobs[1].deadline_s, 40);  // three times as long as it runs
    EXPECT_THAT(jobs->notes, Contains(HasSubstr("sorted by arrival")));
  }
}

TEST(JobStream, AMixComesAtALoadOrARate) {
  // Two cores and 10 s a job: 0.2 jobs a second at most.
  const auto by_load = open_job_stream(request_for(mix_of_two(), kCluster));
  ASSERT_TRUE(by_load) << to_text(by_load.error());
  EXPECT_NEAR(by_load->arrivals_per_s, 0.9 * 0.2, 1e-9);
  MixSource rated = mix_of_two();
  rated.jobs = 5;
  rated.jobs_per_hour = 36;
  JobStreamRequest faster = request_for(rated, kCluster);
  faster.rate_factor = 10;
  const auto by_rate = open_job_stream(faster);
  ASSERT_TRUE(by_rate);
  EXPECT_TRUE(by_rate->generated);
  EXPECT_EQ(by_rate->source, "by hand");
  EXPECT_NEAR(by_rate->arrivals_per_s, 0.1, 1e-12);
  EXPECT_THAT(by_rate->jobs(1)->jobs, SizeIs(5));
}

TEST(JobStream, AnErrorNamesTheField) {
  const auto field = [](JobStreamRequest request) {
    const auto stream = open_job_stream(std::move(request));
    EXPECT_FALSE(stream);
    EXPECT_EQ(stream.error().kind, ErrorKind::kUsage);
    return stream.error().where;
  };
  MixSource both = mix_of_two();
  both.load = 0.5;
  EXPECT_EQ(field(request_for(both, std::nullopt)), "cluster");
  both.jobs_per_hour = 4;
  EXPECT_EQ(field(request_for(both, kCluster)), "load");
  SyntheticSource negative;
  negative.load = -1;
  EXPECT_EQ(field(request_for(negative, std::nullopt)), "load");
  JobStreamRequest still = request_for(SyntheticSource(), std::nullopt);
  still.rate_factor = 0;
  EXPECT_EQ(field(still), "rate_factor");
  JobStreamRequest late = request_for(table_of(three_jobs()), kCluster);
  late.deadline_factor = -1;
  EXPECT_EQ(field(late), "deadline_factor");
  EXPECT_EQ(field(request_for(table_of(three_jobs()), std::nullopt)), "cluster");
}

TEST(JobStream, WhatStandsInAFileIsData) {
  const auto missing = open_job_stream(request_for(table_of("/nowhere/jobs.csv"), kCluster));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kData);
}

TEST(JobStream, AMadeTraceBringsItsMachines) {
  SyntheticSource source;
  source.jobs = 20;
  const auto stream = open_job_stream(request_for(source, std::nullopt));
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->cluster.cores(), 100);
  EXPECT_THAT(stream->jobs(3)->jobs, SizeIs(20));
}

}  // namespace
}  // namespace perfcast::fleet
