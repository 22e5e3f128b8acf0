#include "measure/compare/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/process/temp_folder.h"

namespace perfcast::measure {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ResultFile parsed(const std::string& text) {
  auto file = parse_result_file(text, "r.json");
  EXPECT_TRUE(file) << (file ? "" : to_text(file.error()));
  return file ? *file : ResultFile();
}
Error refused(const std::string& text) {
  const auto file = parse_result_file(text, "r.json");
  EXPECT_FALSE(file);
  return file ? Error() : file.error();
}

TEST(ResultFile, OfHyperfineHasEachRun) {
  const ResultFile file = parsed(R"({"results": [
    {"command": "sleep 0.1", "mean": 0.11, "stddev": 0.01, "median": 0.11, "user": 0.0, "system": 0.0, "min": 0.1,
     "max": 0.12, "times": [0.1, 0.12, 0.11], "exit_codes": [0, 1, null]},
    {"command": "old", "mean": 2.0, "stddev": 0.5, "times": null}]})");
  EXPECT_EQ(file.tool, "hyperfine");
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_EQ(file.benchmarks[0].name, "sleep 0.1");
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(0.1, 0.12, 0.11));
  EXPECT_FALSE(file.benchmarks[0].cpu.is_known());
  EXPECT_THAT(file.notes, ElementsAre("sleep 0.1: 2 of its runs failed, and count as they are"));
  EXPECT_THAT(file.benchmarks[1].wall.runs_s, IsEmpty());
  EXPECT_DOUBLE_EQ(file.benchmarks[1].wall.mean_s, 2);
  EXPECT_EQ(file.benchmarks[1].wall.runs(), 1);
}

TEST(ResultFile, SaysItsHostAsFarAsTheToolDoes) {
  const ResultFile python = parsed(R"({"machine_info": {"machine": "x86_64", "cpu": {"brand_raw": "AMD EPYC 7763",
    "vendor_id_raw": "AuthenticAMD", "family": 25, "model": 1, "stepping": 1, "count": 4, "flags": ["avx2", 3]}},
    "benchmarks": [{"name": "a", "stats": {"data": [1]}}]})");
  EXPECT_EQ(python.host.name, "AMD EPYC 7763");
  EXPECT_EQ(python.host.vendor, "AuthenticAMD");
  EXPECT_EQ(python.host.arch, "x86_64");
  EXPECT_EQ(python.host.cpu_family, 25);
  EXPECT_EQ(python.host.logical_cpus, 4);
  EXPECT_THAT(python.host.cpu_flags, ElementsAre("avx2"));
  const ResultFile odd =
      parsed(R"({"machine_info": {"cpu": "fast"}, "benchmarks": [{"name": "a", "stats": {"data": [1]}}]})");
  EXPECT_EQ(odd.host, HostFacts());
  const ResultFile google = parsed(R"({"context": {"num_cpus": 2, "cpu_model": "Neoverse-N1"}, "benchmarks": [
    {"name": "a", "run_type": "iteration", "threads": 8, "real_time": 20, "cpu_time": 10}]})");
  EXPECT_EQ(google.host.name, "Neoverse-N1");
  EXPECT_EQ(google.benchmarks[0].busy_cpus, 8);
  const ResultFile hyperfine =
      parsed(R"({"results": [{"command": "x", "mean": 2.0, "user": 5.0, "system": 1.0, "times": [2.0]}]})");
  EXPECT_EQ(hyperfine.host, HostFacts());
  EXPECT_EQ(hyperfine.benchmarks[0].busy_cpus, 3);
}

TEST(ResultFile, OfGoogleBenchmarkHasRepetitionsInTheirUnit) {
  const ResultFile file = parsed(R"({"context": {"num_cpus": 2}, "benchmarks": [
    {"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "repetitions": 2, "repetition_index": 0,
     "iterations": 10, "real_time": 20.0, "cpu_time": 10.0, "time_unit": "us"},
    {"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "repetitions": 2, "repetition_index": 1,
     "iterations": 10, "real_time": 22.0, "cpu_time": 11.0, "time_unit": "us"},
    {"name": "BM_a_mean", "run_name": "BM_a", "run_type": "aggregate", "repetitions": 2, "aggregate_name": "mean",
     "aggregate_unit": "time", "real_time": 21.0, "cpu_time": 10.5, "time_unit": "us"},
    {"name": "BM_a_cv", "run_name": "BM_a", "run_type": "aggregate", "repetitions": 2, "aggregate_name": "cv",
     "aggregate_unit": "percentage", "real_time": 0.1, "cpu_time": 0.1, "time_unit": "us"},
    {"name": "BM_b_mean", "run_name": "BM_b", "run_type": "aggregate", "repetitions": 5, "aggregate_name": "mean",
     "real_time": 3.0, "cpu_time": 0, "time_unit": "ms"},
    {"name": "BM_b_stddev", "run_name": "BM_b", "run_type": "aggregate", "repetitions": 5, "aggregate_name": "stddev",
     "real_time": 0.5, "cpu_time": 0, "time_unit": "ms"},
    {"name": "BM_c", "run_type": "iteration", "error_occurred": true, "error_message": "no"}]})");
  EXPECT_EQ(file.tool, "Google Benchmark");
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(DoubleEq(20e-6), DoubleEq(22e-6)));
  EXPECT_THAT(file.benchmarks[0].cpu.runs_s, ElementsAre(DoubleEq(10e-6), DoubleEq(11e-6)));
  EXPECT_EQ(file.benchmarks[1].name, "BM_b");
  EXPECT_DOUBLE_EQ(file.benchmarks[1].wall.mean_s, 3e-3);
  EXPECT_DOUBLE_EQ(file.benchmarks[1].wall.deviation_s, 0.5e-3);
  EXPECT_EQ(file.benchmarks[1].wall.runs(), 5);
  EXPECT_FALSE(file.benchmarks[1].cpu.is_known());  // 0 is what the system's clock did not see
  EXPECT_THAT(file.notes, ElementsAre(HasSubstr("1 runs that failed")));
}

// Without run_type and run_name: aggregates are told by their names, a fit by its members.
TEST(ResultFile, OfGoogleBenchmarkBefore15) {
  const ResultFile file = parsed(R"({"context": {}, "benchmarks": [
    {"name": "BM_a/8", "real_time": 20, "cpu_time": 10, "time_unit": "us", "hits": -nan},
    {"name": "BM_a/8", "real_time": 22, "cpu_time": 11, "time_unit": "us", "hits": inf},
    {"name": "BM_a/8_mean", "real_time": 21, "cpu_time": 10.5, "time_unit": "us"},
    {"name": "BM_a/8_median", "real_time": 21, "cpu_time": 10.5, "time_unit": "us"},
    {"name": "BM_a/8_stddev", "real_time": 1, "cpu_time": 0.5, "time_unit": "us"},
    {"name": "BM_b_mean", "real_time": 3, "cpu_time": 1, "time_unit": "ms"},
    {"name": "BM_b_stddev", "real_time": 0.5, "cpu_time": 0.1, "time_unit": "ms"},
    {"name": "geo_mean", "real_time": 4, "cpu_time": 4},
    {"name": "BM_a_BigO", "cpu_coefficient": 2.5, "real_coefficient": 2.5, "big_o": "N", "time_unit": "us"},
    {"name": "BM_a_RMS", "rms": 0.01}, {"name": "fit", "rms": 0.01}]})");
  ASSERT_THAT(file.benchmarks, SizeIs(3));
  EXPECT_EQ(file.benchmarks[0].name, "BM_a/8");
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(DoubleEq(20e-6), DoubleEq(22e-6)));
  EXPECT_EQ(file.benchmarks[1].name, "BM_b");
  EXPECT_DOUBLE_EQ(file.benchmarks[1].wall.mean_s, 3e-3);
  EXPECT_DOUBLE_EQ(file.benchmarks[1].wall.deviation_s, 0.5e-3);
  EXPECT_EQ(file.benchmarks[2].name, "geo_mean");
  EXPECT_THAT(file.benchmarks[2].wall.runs_s, ElementsAre(DoubleEq(4e-9)));
}

TEST(ResultFile, OfPytestBenchmarkHasRoundsWhereTheyWereSaved) {
  const ResultFile file = parsed(R"({"machine_info": {}, "version": "4.0.0", "benchmarks": [
    {"name": "test_a", "fullname": "t.py::test_a", "stats": {"mean": 2.0, "stddev": 0.1, "rounds": 3, "data": [1.9, 2.0, 2.1]}},
    {"name": "test_b", "stats": {"mean": 4.0, "stddev": 0.2, "rounds": 9}}]})");
  EXPECT_EQ(file.tool, "pytest-benchmark");
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_EQ(file.benchmarks[0].name, "t.py::test_a");
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(1.9, 2.0, 2.1));
  EXPECT_EQ(file.benchmarks[1].name, "test_b");
  EXPECT_EQ(file.benchmarks[1].wall.runs(), 9);
}

TEST(ResultFile, TimesOfZeroAreNotedAndLeftOut) {
  const ResultFile file = parsed(R"({"results": [
    {"command": "a", "mean": 0.5, "times": [0.0, 0, 1.0, 2.0]}, {"command": "b", "mean": 0.0, "times": [0.0]}]})");
  ASSERT_THAT(file.benchmarks, SizeIs(1));
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(1.0, 2.0));
  EXPECT_THAT(file.notes, ElementsAre(HasSubstr("a: 2 of 4 times are 0"), HasSubstr("b: 1 of 1 times are 0")));
}

TEST(ResultFile, CountersThatAreNoNumbersDontRefuseAFile) {
  const ResultFile file = parsed(R"({"context": {}, "benchmarks": [
    {"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 1.0, "cpu_time": 1.0,
     "time_unit": "ns", "hit": NaN, "rate": Infinity, "low": -Infinity}]})");
  ASSERT_THAT(file.benchmarks, SizeIs(1));
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(DoubleEq(1e-9)));
  EXPECT_THAT(refused(R"({"benchmarks": [{"name": "x", "real_time": 1e-320, "cpu_time": 1}]})").message,
              HasSubstr("x: 1 of 1 times are 0"));
}

TEST(ResultFile, ParametersTellBenchmarksApart) {
  const ResultFile file = parsed(R"({"results": [
    {"command": "sort", "times": [1], "parameters": {"n": "10", "algo": "quick"}},
    {"command": "sort", "times": [2], "parameters": {"n": "100", "algo": "quick"}},
    {"command": "sort -n 100", "times": [3], "parameters": {"n": "100"}}]})");
  ASSERT_THAT(file.benchmarks, SizeIs(3));
  EXPECT_EQ(file.benchmarks[0].name, "sort (algo=quick, n=10)");
  EXPECT_EQ(file.benchmarks[1].name, "sort (algo=quick, n=100)");
  EXPECT_EQ(file.benchmarks[2].name, "sort -n 100");
  const ResultFile google = parsed(R"({"benchmarks": [
    {"name": "B", "family_index": 0, "real_time": 1, "cpu_time": 1, "time_unit": "s"},
    {"name": "B", "family_index": 1, "real_time": 2, "cpu_time": 2, "time_unit": "s"},
    {"name": "B", "family_index": 0, "real_time": 3, "cpu_time": 3, "time_unit": "s"}]})");
  ASSERT_THAT(google.benchmarks, SizeIs(2));
  EXPECT_THAT(google.benchmarks[0].wall.runs_s, ElementsAre(1, 3));
  EXPECT_EQ(google.benchmarks[1].name, "B #2");
}

TEST(ResultFile, OfJmhHasEachIterationOfEachFork) {
  const ResultFile file = parsed(R"([
    {"jmhVersion": "1.37", "benchmark": "a.B.x", "mode": "avgt", "params": {"size": "8"}, "primaryMetric":
      {"score": 12.0, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[12.0, 14.0], [16.0]]}},
    {"benchmark": "a.B.y", "mode": "thrpt", "primaryMetric": {"score": 4.0, "scoreUnit": "ops/ms", "rawData": [[4.0]]}},
    {"benchmark": "a.B.y", "mode": "sample", "primaryMetric": {"score": 2.0, "scoreUnit": "ms/op"}}])");
  EXPECT_EQ(file.tool, "JMH");
  ASSERT_THAT(file.benchmarks, SizeIs(3));
  EXPECT_EQ(file.benchmarks[0].name, "a.B.x (size=8)");
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(DoubleEq(12e-6), DoubleEq(14e-6), DoubleEq(16e-6)));
  EXPECT_EQ(file.benchmarks[1].name, "a.B.y (mode=thrpt)");
  EXPECT_THAT(file.benchmarks[1].wall.runs_s, ElementsAre(DoubleEq(0.25e-3)));
  EXPECT_EQ(file.benchmarks[2].name, "a.B.y (mode=sample)");
  EXPECT_THAT(file.benchmarks[2].wall.runs_s, ElementsAre(DoubleEq(2e-3)));
}

// Sampled times are [time, how often] pairs for each iteration of each fork, whose mean is a run.
TEST(ResultFile, OfJmhHasIterationsOfSampledTimes) {
  const ResultFile file = parsed(R"([
    {"benchmark": "a.B.x", "mode": "sample", "primaryMetric": {"score": 9.0, "scoreUnit": "us/op",
      "rawDataHistogram": [[[[1.0, 3], [5.0, 1]], [[4.0, 2]]], [[[6.0, 1]]]]}},
    {"benchmark": "a.B.y", "mode": "avgt", "primaryMetric": {"score": "NaN", "scoreUnit": "s/op",
      "rawData": [[2.0, "NaN"], [3.0]]}}])");
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_THAT(file.benchmarks[0].wall.runs_s, ElementsAre(DoubleEq(2e-6), DoubleEq(4e-6), DoubleEq(6e-6)));
  EXPECT_THAT(file.benchmarks[1].wall.runs_s, ElementsAre(2, 3));
  EXPECT_THAT(file.notes, ElementsAre("a.B.y: 1 of its iterations have no result and are left out"));
  // What is too large or too small for a time in seconds.
  const ResultFile extreme = parsed(R"([
    {"benchmark": "x", "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[1e-320, 2]]}},
    {"benchmark": "y", "primaryMetric": {"scoreUnit": "ops/day", "rawData": [[1e-320, 2]]}}])");
  EXPECT_THAT(extreme.benchmarks.at(0).wall.runs_s, ElementsAre(DoubleEq(2e-9)));
  EXPECT_THAT(extreme.benchmarks.at(1).wall.runs_s, ElementsAre(43200));
  for (const char* bad : {"[[[[1.0]]]]", "[[[[1.0, 2, 3]]]]", "[[[[-1.0, 2]]]]", "[[[[1.0, -2]]]]", "[[[7]]]", "[7]"}) {
    const std::string text = R"([{"benchmark": "x", "primaryMetric": {"score": 1, "scoreUnit": "s/op",)";
    EXPECT_EQ(refused(text + R"("rawDataHistogram": )" + bad + "}}]").code, "bad-json-field") << bad;
  }
}

TEST(ResultFile, OfHyperfineAsCsvSavedBySpreadsheets) {
  const ResultFile file = parsed("command;mean;stddev;user;parameter_n\nsort;0,5;0,125;0,75;1.000\n");
  ASSERT_THAT(file.benchmarks, SizeIs(1));
  EXPECT_EQ(file.benchmarks[0].name, "sort (n=1000)");
  EXPECT_DOUBLE_EQ(file.benchmarks[0].wall.mean_s, 0.5);
  EXPECT_DOUBLE_EQ(file.benchmarks[0].wall.deviation_s, 0.125);
  EXPECT_EQ(file.benchmarks[0].busy_cpus, 1.5);
  EXPECT_THAT(file.notes, ElementsAre("the table was read with columns separated by semicolons; decimal commas, points "
                                      "between thousands"));
  EXPECT_THAT(parsed("\"command\",\"mean\",\"stddev\"\n\"sort\",0.5,\n").benchmarks, SizeIs(1));
}

TEST(ResultFile, OfHyperfineAsCsvHasMeans) {
  for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
    for (const std::string end : {"\n", "\r\n"}) {
      std::string text = mark;
      text.append("command,mean,stddev,median,user,system,min,max,parameter_n").append(end);
      text.append("\"./t a,b\",0.5,0.1,0.5,0,0,0.4,0.6,7").append(end);
      const ResultFile file = parsed(text);
      ASSERT_THAT(file.benchmarks, SizeIs(1));
      EXPECT_EQ(file.benchmarks[0].name, "./t a,b (n=7)");
      EXPECT_DOUBLE_EQ(file.benchmarks[0].wall.mean_s, 0.5);
      EXPECT_DOUBLE_EQ(file.benchmarks[0].wall.deviation_s, 0.1);
    }
  }
}

TEST(ResultFile, AnUnknownFormatIsCalledThat) {
  for (const char* text :
       {"<xml/>", "a,b\n1,2\n", "[]", R"({"results": [{"name": "x"}]})", R"({"benchmarks": [{"id": 1}]})", "7"}) {
    EXPECT_EQ(refused(text).code, "unknown-format") << text;
  }
  for (const char* empty : {"", " \n", "\xEF\xBB\xBF"}) EXPECT_EQ(refused(empty).code, "no-results");
}

TEST(ResultFile, NamesThatRepeatStayApart) {
  const ResultFile file = parsed(R"({"results": [{"command": "x", "times": [1]}, {"command": "x", "times": [2]}]})");
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_EQ(file.benchmarks[1].name, "x #2");
}

TEST(ResultFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused("[1]").code, "unknown-format");
  EXPECT_EQ(refused(R"({"results": 3})").code, "unknown-format");
  EXPECT_EQ(refused(R"({"results": []})").code, "no-results");
  EXPECT_EQ(refused("{").code, "bad-json");
  const Error error = refused(R"({"results": [{"command": 5, "times": [1, -2]}, 7,
                                              {"command": "y", "times": ["1"]}, {"command": "z"}]})");
  EXPECT_EQ(error.code, "bad-json-field");
  EXPECT_THAT(error.message, HasSubstr("results[0].command: found number, expected a string"));
  EXPECT_THAT(error.message, HasSubstr("results[0].times: found a time below 0"));
  EXPECT_THAT(error.message, HasSubstr("results[1]"));
  EXPECT_THAT(error.message, HasSubstr("results[2].times: found what is no number"));
  EXPECT_EQ(refused(R"({"benchmarks": [{"name": "x", "real_time": 1, "cpu_time": 1, "time_unit": "h"}]})").code,
            "bad-json-field");
  EXPECT_EQ(refused(R"({"benchmarks": [{"name": "x", "real_time": 0, "cpu_time": 1}]})").code, "no-results");
  EXPECT_THAT(refused(R"({"benchmarks": [{"name": "x", "real_time": 0, "cpu_time": 1}]})").message,
              HasSubstr("x: 1 of 1 times are 0"));
  EXPECT_EQ(refused(R"({"machine_info": {}, "benchmarks": [{"name": "x"}]})").code, "bad-json-field");
}

TEST(ResultFile, OfAProfileIsItsNativeRuns) {
  Profile profile;
  profile.program = "gzip";
  profile.metrics = {{"wall_s", 2.0}, {"wall_spread_ratio", 0.01693}, {"native_runs_count", 3}, {"cpu_s", 1.0}};
  const ResultFile file = result_file_of(profile, "p.json");
  ASSERT_THAT(file.benchmarks, SizeIs(1));
  EXPECT_EQ(file.benchmarks[0].wall.runs(), 3);
  EXPECT_NEAR(file.benchmarks[0].wall.deviation_s, 0.02, 1e-12);  // a range of 1.693 deviations
  EXPECT_TRUE(file.benchmarks[0].cpu.is_known());
  EXPECT_THAT(result_file_of(Profile(), "p.json").benchmarks, IsEmpty());
}

TEST(ComparedFile, IsNoCommand) {
  const auto folder = TempFolder::create();
  ASSERT_TRUE(folder);
  const std::string json = folder->path() + "/r", script = folder->path() + "/s";
  std::ofstream(json) << "\n {\"results\": [{\"command\": \"x\", \"times\": [1]}]}";
  std::ofstream(script) << "#!/bin/sh\n";
  EXPECT_TRUE(is_compared_file(json));
  for (const char* text :
       {"[1]", "\xEF\xBB\xBF{}", "\xFF\xFE{", "\x1f\x8b", "command,mean,stddev\n", "command;mean;stddev\n"}) {
    std::ofstream(script) << text;
    EXPECT_TRUE(is_compared_file(script)) << text;
  }
  for (const char* text : {"<x/>", ""}) {
    std::ofstream(script + ".xml") << text;
    EXPECT_TRUE(is_compared_file(script + ".xml")) << text;
  }
  std::ofstream(script) << "#!/bin/sh\n";
  EXPECT_FALSE(is_compared_file(script));
  EXPECT_FALSE(is_compared_file(folder->path()));
  EXPECT_FALSE(is_compared_file("true"));
  const auto file = read_compared_file(json);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->profile);
  EXPECT_THAT(file->results.benchmarks, SizeIs(1));
}

TEST(ComparedFile, OfAComparisonIsWhatItsBDid) {
  const auto folder = TempFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/c.json";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return read_compared_file(path);
  };
  const auto file =
      read(R"({"schema": "perfcast.comparison/1", "b": {"counts": {"instructions_count": 5e6, "loads_count": 2}}})");
  ASSERT_TRUE(file) << to_text(file.error());
  ASSERT_TRUE(file->counts);
  EXPECT_EQ(file->counts->counts.at("instructions_count"), 5e6);
  EXPECT_GT(file->counts->repeats_within, 0);
  EXPECT_EQ(read(R"({"schema": "perfcast.comparison/2"})").error().code, "future-version");
  EXPECT_EQ(read(R"({"schema": "perfcast.comparison/1", "b": {}})").error().code, "no-counts");
  EXPECT_EQ(read(R"({"schema": "perfcast.comparison/1"})").error().code, "bad-json-field");
  EXPECT_EQ(read(R"({"schema": "perfcast.comparison/1", "b": {"counts": {"loads_count": -2}}})").error().code,
            "bad-json-field");
}

}  // namespace
}  // namespace perfcast::measure
