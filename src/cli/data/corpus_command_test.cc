// `perfcast import` and `perfcast corpus` as a user runs them: the built binary, its output and its exit code.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli_test.h"

namespace perfcast::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CorpusCommandTest : public CliTest {
 protected:
  CorpusCommandTest() {
    write("data/servers.csv",
          "vendor,server,arch,cpu_vendor,cpu_model,cpu_family,model,vcpus\n"
          "aws,m5.large,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core Processor,25,1,2\n"
          "aws,m6.large,x86_64,AuthenticAMD,AMD EPYC 9R14,25,17,2\n");
    write("data/benchmarks_wide.csv",
          "vendor,server,stressng.matrix.1,stressng.matrix.N,redis.SET.t1.p1.rps\n"
          "aws,m5.large,100,200,5\naws,m6.large,150,0,0\n");
  }
  Json json(const std::string& arguments) const {
    const Outcome outcome = perfcast(arguments + " --json");
    const auto parsed = parse_json(outcome.text, "output");
    EXPECT_TRUE(parsed.ok()) << outcome.text;
    return parsed.ok() ? *parsed : Json();
  }
};

TEST_F(CorpusCommandTest, ImportsAndReports) {
  const Outcome outcome = perfcast("import sparecores data --corpus c.db");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("platforms  2\n"));
  EXPECT_THAT(outcome.text, HasSubstr("runs       3\n"));
  EXPECT_THAT(outcome.text, HasSubstr("zero: the program did not run"));
  EXPECT_THAT(outcome.text, HasSubstr("redis.SET.p1"));

  const Json again = json("import sparecores data --corpus c.db");
  EXPECT_EQ(again["schema"], "perfcast.import/1");
  EXPECT_EQ(again["runs_count"], 3);
  const Json info = json("corpus info --corpus c.db");
  EXPECT_EQ(info["schema"], "perfcast.corpus.info/1");
  EXPECT_EQ(info["runs_count"], 3);  // importing twice changes nothing
  EXPECT_EQ(info["platforms"][0]["name"], "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(info["sources"][0]["licence"], "CC BY-SA 4.0");
}

TEST_F(CorpusCommandTest, ApplicationsFromPublishedMeans) {
  write("ob/tests.csv", "test,unit,match_err\npts-x,Seconds,2\npts-y,Nodes Per Second,2\npts-z,Seconds,2\n");
  write("ob/cpus.csv", "cpu,vendor_id\n");
  std::string results = "test,cpu,perf_mean,perf_sd,n_results,higher_is_better\n";
  for (const std::string row : {"AMD EPYC 7763 64-Core,8", "2 x AMD EPYC 7763 64-Core,8.1", "Intel Xeon Gold 6138,10",
                                "Intel Core i7-8700K,7"}) {
    results.append("pts-x,").append(row).append(",0.1,5,0\n");
    results.append("pts-y,").append(row).append(",0.2,3,1\n");
    results.append("pts-z,").append(row).append(",,4,0\n");
  }
  write("ob/results.csv", results);
  const Outcome imported = perfcast("import openbenchmarking ob --corpus a.db");
  EXPECT_EQ(imported.exit_code, 0) << imported.text;
  EXPECT_THAT(imported.text, HasSubstr("platforms  3\n"));
  EXPECT_THAT(imported.text, HasSubstr("runs       12\n"));
  EXPECT_THAT(imported.text, HasSubstr("kept, but without a deviation"));
  EXPECT_THAT(perfcast("corpus check --corpus a.db").text, HasSubstr("halves drawn from their standard error"));

  const std::string baselines = "evaluate --corpus a.db --split program --no-intervals --include-unprofiled --quiet";
  const Json scores = json(baselines + " --models mean --minimum-programs 3");
  EXPECT_EQ(scores["platforms"].size(), 3u);
  EXPECT_EQ(scores["models"][0]["model"], "mean");
  EXPECT_EQ(scores["models"][0]["group"], "application");
  EXPECT_EQ(json(baselines + " --models mean --segments server")["platforms"].size(), 2u);
  const Outcome model = perfcast(baselines + " --models knn");
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.text, HasSubstr("the model knn reads profiles"));
  const Outcome segment = perfcast(baselines + " --models mean --segments phone");
  EXPECT_EQ(segment.exit_code, 2);
  EXPECT_THAT(segment.text, HasSubstr("there is no segment 'phone'"));

  // Both sources describe one CPU model.
  ASSERT_EQ(perfcast("import sparecores data --corpus a.db").exit_code, 0);
  EXPECT_EQ(json("corpus info --corpus a.db")["platforms_count"], 4);
  write("ob/results.csv", "test,cpu\n");
  const Outcome broken = perfcast("import openbenchmarking ob --corpus a.db");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.text, HasSubstr("perf_mean"));
  EXPECT_EQ(json("corpus info --corpus a.db")["platforms_count"], 4);  // as before
}

TEST_F(CorpusCommandTest, ChecksExportsAndMerges) {
  ASSERT_EQ(perfcast("import sparecores data --corpus c.db").exit_code, 0);
  const Json check = json("corpus check --corpus c.db");
  EXPECT_EQ(check["schema"], "perfcast.corpus.check/1");
  EXPECT_EQ(check["platforms_below_three_servers_count"], 2);
  EXPECT_THAT(perfcast("corpus check --corpus c.db").text, HasSubstr("noise floor"));

  EXPECT_EQ(perfcast("corpus export tables --corpus c.db").exit_code, 0);
  const auto runs = read_file(folder_ + "/tables/runs.csv");
  ASSERT_TRUE(runs.ok());
  EXPECT_THAT(*runs, StartsWith("program,platform,server,threads_count,time_s,energy_joules,source,"));

  const Outcome none = perfcast("corpus export --program stressng.cpu --corpus c.db");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.text, HasSubstr("the corpus has no profile of 'stressng.cpu'"));
  EXPECT_EQ(perfcast("corpus export tables --program x --corpus c.db").exit_code, 2);
  EXPECT_EQ(perfcast("corpus export --corpus c.db").exit_code, 2);

  const Outcome merged = perfcast("corpus merge c.db --corpus d.db");
  EXPECT_EQ(merged.exit_code, 0);
  EXPECT_THAT(merged.text, HasSubstr(": 1 source, "));
  EXPECT_EQ(json("corpus info --corpus d.db")["runs_count"], 3);
  EXPECT_EQ(perfcast("corpus merge c.db --corpus c.db").exit_code, 2);
}

// A limit on files' sizes stands for a disk that is full.
TEST_F(CorpusCommandTest, AFullDiskLeavesNoEmptyCorpus) {
  const std::string in_little_room = "ulimit -f 20; trap '' XFSZ; ";
  EXPECT_EQ(std::system((in_little_room + command("import sparecores data --corpus full.db > full.txt 2>&1")).c_str()),
            256 * 1);
  EXPECT_THAT(content("full.txt"), HasSubstr("cannot use the corpus"));
  EXPECT_FALSE(std::filesystem::exists(path("full.db")));
}

TEST_F(CorpusCommandTest, SaysWhatIsWrong) {
  const Outcome format = perfcast("import spare data --corpus c.db");
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_THAT(format.text, HasSubstr("one of: sparecores, openbenchmarking, profiles"));
  const Outcome folder = perfcast("import sparecores absent --corpus c.db");
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/c.db"));  // a failed import leaves nothing behind
  EXPECT_EQ(json("corpus info --corpus absent.db")["code"], "file-not-found");
  // A file that the command line names is wrong usage; a default one that isn't there yet is not.
  for (const char* named :
       {"corpus info --corpus absent.db", "corpus merge absent.db --corpus c.db", "corpus trace absent",
        "import sparecores data --suite absent.json --corpus c.db", "evaluate --corpus absent.db --models mean",
        "evaluate --config absent.json --models dnn", "train --evaluation absent.json -o b.pcb",
        "predict --profile absent.json", "predict --prices absent.csv -- true", "cores absent",
        "llm analyze absent.json", "llm forecast gpt2 --on A100 --calibrate absent.csv"}) {
    EXPECT_EQ(perfcast(named).exit_code, 2) << named;
  }
  EXPECT_EQ(perfcast("corpus trace absent --corpus c.db").exit_code, 2);
  EXPECT_THAT(perfcast("corpus trace absent --corpus c.db").text, HasSubstr("--corpus"));
  EXPECT_EQ(perfcast("corpus").exit_code, 2);
  EXPECT_EQ(perfcast("corpus frobnicate").exit_code, 2);
  write("not.db", "hello, this is no database");
  const Json refused = json("import sparecores data --corpus not.db");
  EXPECT_EQ(refused["schema"], "perfcast.error/1");
  EXPECT_EQ(refused["code"], "not-a-corpus");
}

TEST_F(CorpusCommandTest, ImportsATableOfOnesOwnAndProfilesOfAnotherTool) {
  write("lab/map.json",
        R"({"schema": "perfcast.table/1", "name": "lab", "csv": "runs.csv", "program": "app", "platform": "machine",
            "time": {"column": "ms", "unit": "ms"}})");
  write("lab/runs.csv", "app,machine,ms\nheap,Box A,12.5\nheap,Box B,0\nquick,Box B,7\n");
  const Outcome outcome = perfcast("import table lab/map.json --corpus t.db");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("platforms  2\nprograms   2\nruns       2\n"));
  EXPECT_THAT(outcome.text, HasSubstr("1  time  zero"));
  write("stat/lab.heap.csv", "4000,,instructions:u,5,100.00,,\n<not supported>,,cycles:u,0,0.00,,\n");
  const Json profiles = json("import perf-stat stat --corpus t.db");
  EXPECT_EQ(profiles["profiles_count"], 1);
  EXPECT_EQ(profiles["excluded"][0]["reason"], "not supported");
  const Json info = json("corpus info --corpus t.db");
  EXPECT_EQ(info["programs_count"], 2);
  EXPECT_EQ(info["runs_count"], 2);
  write("lab/map.json",
        R"({"schema": "perfcast.table/1", "name": "lab", "csv": "runs.csv", "program": "app", "platform": "machine",
            "time": {"column": "msec", "unit": "ms"}})");
  const Outcome missing = perfcast("import table lab/map.json --corpus t.db");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.text, HasSubstr("there is no column 'msec', which the mapping's time names"));
  EXPECT_THAT(missing.text, HasSubstr("one of: app, machine, ms"));
}

}  // namespace
}  // namespace perfcast::cli
