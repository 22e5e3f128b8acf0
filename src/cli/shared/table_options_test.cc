// Faulty data of a user's own, from the CSV to the score: a clear error, or what was done about it is said.
#include "cli/shared/table_options.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli_test.h"

namespace perfcast::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Row {
  std::string program, input, platform, time, instructions, ratio, constant = "5", blank;
};

class TableOptionsTest : public CliTest {
 protected:
  // Programs x inputs x platforms, spoilt row by row, as a corpus; gives what the import said.
  Outcome import(
      int programs, int inputs, int platforms, const std::function<void(Row&)>& spoil = [](Row&) {},
      const std::string& more = "") const {
    std::string csv = "app,size,machine,t,instructions,ratio,const,blank\n";
    for (int p = 0; p < programs; ++p) {
      for (int s = 0; s < inputs; ++s) {
        for (int m = 0; m < platforms; ++m) {
          const int work = 1000 * (p + 1) * (s + 1) + m;
          Row row;
          row.program = "app" + std::to_string(p);
          row.input = std::to_string(s);
          row.platform = std::string("Box ") + static_cast<char>('A' + m);
          row.time = std::to_string(1e-3 * work * (1 + 0.3 * m * (p % 3)));
          row.instructions = std::to_string(work);
          row.ratio = std::to_string(0.1 * p + 0.01 * s);
          spoil(row);
          for (const std::string* field :
               {&row.program, &row.input, &row.platform, &row.time, &row.instructions, &row.ratio, &row.constant}) {
            csv += *field + ",";
          }
          csv += row.blank + "\n";
        }
      }
    }
    const Json mapping = {{"schema", "perfcast.table/1"},
                          {"name", "lab"},
                          {"csv", "runs.csv"},
                          {"program", "app"},
                          {"input", {"size"}},
                          {"platform", "machine"},
                          {"time", {{"column", "t"}, {"unit", "s"}}},
                          {"counters",
                           {{{"column", "instructions"}, {"unit", "count"}, {"metric", "instructions_count"}},
                            {{"column", "ratio"}, {"unit", "ratio"}},
                            {{"column", "const"}, {"unit", "count"}},
                            {{"column", "blank"}, {"unit", "count"}}}}};
    EXPECT_TRUE(write_file_atomically(folder_ + "/runs.csv", csv + more));
    EXPECT_TRUE(write_file_atomically(folder_ + "/lab.json", to_text(mapping)));
    std::filesystem::remove(folder_ + "/c.db");
    return perfcast("import table lab.json --corpus c.db");
  }
  Outcome evaluate(const std::string& more = "") const {
    return perfcast(
        "evaluate --corpus c.db --models knn,forest,lasso,cluster,kernel,gbt --every-profile "
        "--no-intervals " +
        more);
  }
};

// The fold without the one family in which a counter varies has nothing to learn from: it forecasts the mean.
TEST_F(TableOptionsTest, AFoldWithoutAVaryingCounterIsForecastByTheMean) {
  write("lone.csv",
        "app,fam,machine,t,c\na1,A,X,1,5\na1,A,Y,2,5\na2,A,X,2,7\na2,A,Y,3,7\nb1,B,X,1,5\nb1,B,Y,3,5\n"
        "b2,B,X,1,5\nb2,B,Y,2,5\nc1,C,X,1,5\nc1,C,Y,4,5\nc2,C,X,2,5\nc2,C,Y,5,5\n");
  write("lone.json", R"({"schema": "perfcast.table/1", "name": "lone", "csv": "lone.csv", "program": "app",
                         "family": "fam", "platform": "machine", "time": {"column": "t", "unit": "s"},
                         "counters": [{"column": "c", "unit": "count"}], "counters_platform": "X"})");
  ASSERT_EQ(perfcast("import table lone.json --corpus lone.db").exit_code, 0);
  for (const char* model :
       {"knn", "cluster", "lasso", "nnlasso", "kernel", "forest", "gbt", "dnn", "vae-dnn", "stack", "auto"}) {
    const Outcome scored =
        perfcast(std::string("evaluate --corpus lone.db --no-intervals --quiet --json --models ") + model);
    ASSERT_EQ(scored.exit_code, 0) << model << ": " << scored.text;
    const auto json = parse_json(scored.text, "output");
    ASSERT_TRUE(json) << scored.text;
    for (const Json& row : (*json)["models"]) {
      if (row["model"] != model) continue;
      EXPECT_EQ(row["n"], 12) << model << ": no row may vanish";
    }
  }
}

TEST_F(TableOptionsTest, ConstantAndMissingColumnsAreNamed) {
  const Outcome imported = import(6, 2, 3);
  ASSERT_EQ(imported.exit_code, 0) << imported.text;
  EXPECT_THAT(imported.text, HasSubstr("36  counter  blank: not measured"));
  const Outcome scored = evaluate();
  EXPECT_EQ(scored.exit_code, 0) << scored.text;
  EXPECT_THAT(scored.text, HasSubstr("note: inputs: left out as constant over all profiles: table_const_count"));
  EXPECT_THAT(scored.text, Not(HasSubstr("nan")));
  const Outcome trained = perfcast("train --corpus c.db --model knn --every-profile --no-scores -o b.pcb");
  EXPECT_EQ(trained.exit_code, 0) << trained.text;
  EXPECT_THAT(trained.text, HasSubstr("perfcast: note: inputs: left out as constant"));
}

TEST_F(TableOptionsTest, NothingThatVariesIsNothingToForecastFrom) {
  ASSERT_EQ(import(6, 2, 3, [](Row& row) { row.instructions = "7", row.ratio = "0.5"; }).exit_code, 0);
  const Outcome constant = evaluate();
  EXPECT_EQ(constant.exit_code, 1);
  EXPECT_THAT(constant.text, HasSubstr("no counter differs between the profiles"));
  ASSERT_EQ(import(6, 2, 3, [](Row& row) { row.instructions = row.ratio = row.constant = ""; }).exit_code, 0);
  EXPECT_THAT(evaluate().text, HasSubstr("perfcast: no "));
}

TEST_F(TableOptionsTest, OneProgramOnly) {
  ASSERT_EQ(import(1, 1, 3).exit_code, 0);
  const Outcome family = evaluate();
  EXPECT_EQ(family.exit_code, 1);
  EXPECT_THAT(family.text, HasSubstr("too little to leave out under the split program-family"));
  EXPECT_THAT(perfcast("train --corpus c.db --model knn --every-profile --no-scores -o b.pcb").text,
              HasSubstr("all programs are of the family"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/b.pcb"));
}

TEST_F(TableOptionsTest, OnePlatformOnly) {
  ASSERT_EQ(import(6, 2, 1).exit_code, 0);
  for (const char* split : {"random", "program", "platform"}) {
    const Outcome scored = evaluate(std::string("--split ") + split);
    EXPECT_NE(scored.exit_code, 0);
    EXPECT_THAT(scored.text, HasSubstr("relative times take two platforms, there is 1"));
  }
  const Outcome trained = perfcast("train --corpus c.db --model knn --no-scores -o b.pcb");
  EXPECT_NE(trained.exit_code, 0) << trained.text;
  EXPECT_THAT(trained.text, HasSubstr("two platforms"));
}

TEST_F(TableOptionsTest, TimesAndCountersThatCannotBe) {
  const Outcome imported = import(6, 2, 3, [](Row& row) {
    if (row.platform != "Box B") return;
    if (row.program == "app1") row.time = "0";
    if (row.program == "app2") row.time = "-1";
    if (row.program == "app3") row.time = "nan";
    if (row.program == "app4") row.time = "inf";
    if (row.program == "app5") row.instructions = "nan";
    if (row.program == "app0") row.ratio = "inf";
  });
  ASSERT_EQ(imported.exit_code, 0) << imported.text;
  EXPECT_THAT(imported.text, HasSubstr("2  time     zero"));
  EXPECT_THAT(imported.text, HasSubstr("2  time     negative"));
  EXPECT_THAT(imported.text, HasSubstr("4  time     not finite"));
  EXPECT_THAT(imported.text, HasSubstr("4  counter  no finite number"));
  // Box B was measured on a third of the programs only.
  const Outcome scored = evaluate("--minimum-coverage 0");
  EXPECT_EQ(scored.exit_code, 0) << scored.text;
  EXPECT_THAT(scored.text, Not(HasSubstr("nan")));
  EXPECT_THAT(scored.text, HasSubstr("3 platforms"));
}

TEST_F(TableOptionsTest, DuplicatedKeys) {
  const Outcome imported = import(
      2, 2, 2, [](Row&) {}, "app0,1,Box A,3,1000,0.5,5,\n");
  EXPECT_EQ(imported.exit_code, 1);
  EXPECT_THAT(imported.text, HasSubstr("a second row for lab.app0.1 on Box A"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/c.db"));
}

TEST_F(TableOptionsTest, PlatformsThatAreNotThere) {
  ASSERT_EQ(import(6, 2, 3).exit_code, 0);
  const Outcome split = evaluate("--split platform --platforms 'Box A,Box Z'");
  EXPECT_EQ(split.exit_code, 2);
  EXPECT_THAT(split.text, HasSubstr("Box Z"));
  EXPECT_THAT(split.text, HasSubstr("Box A"));  // those that are there, nearest first
  const Outcome reference = evaluate("--reference 'Box Q'");
  EXPECT_EQ(reference.exit_code, 2);
  EXPECT_THAT(reference.text, HasSubstr("Box Q"));
}

// The platform that a profile was taken on, as an input: kept in the bundle, and an unknown one is said to be so.
TEST_F(TableOptionsTest, SourceAsInput) {
  ASSERT_EQ(import(6, 4, 3).exit_code, 0);
  const std::string train = "train --corpus c.db --model knn --every-profile --no-scores --quiet ";
  for (const char* source : {"one-hot", "none"}) {
    const Outcome trained = perfcast(train + "--source " + source + " -o " + source + ".pcb");
    ASSERT_EQ(trained.exit_code, 0) << trained.text;
  }
  const Outcome facts = perfcast(train + "--source facts -o facts.pcb");
  EXPECT_EQ(facts.exit_code, 1);
  EXPECT_THAT(facts.text, HasSubstr("the corpus knows no fact"));
  const Outcome single = perfcast("train --corpus c.db --model knn --no-scores -o one.pcb --source one-hot");
  EXPECT_EQ(single.exit_code, 1);
  EXPECT_THAT(single.text, HasSubstr("all profiles were taken on one platform"));
  EXPECT_EQ(perfcast(train + "--source sideways -o x.pcb").exit_code, 2);

  const auto predict = [this](const std::string& bundle, const std::string& host) {
    const Json profile = {{"schema", "perfcast.profile/1"},
                          {"program", "mine"},
                          {"command", {"mine"}},
                          {"host", {{"cpu_model", host}}},
                          {"metrics", {{"instructions_count", 4000}, {"table_ratio_ratio", 0.2}}},
                          {"exit_code", 0}};
    EXPECT_TRUE(write_file_atomically(folder_ + "/p.json", to_text(profile)));
    return perfcast("predict --profile p.json --bundle " + bundle + ".pcb --json");
  };
  const Outcome known = predict("one-hot", "Box B");
  EXPECT_EQ(known.exit_code, 0) << known.text;
  EXPECT_THAT(known.text, Not(HasSubstr("unknown-source")));
  const Outcome unknown = predict("one-hot", "Box Z");
  EXPECT_EQ(unknown.exit_code, 0) << unknown.text;
  EXPECT_THAT(unknown.text, HasSubstr("unknown-source"));
  EXPECT_THAT(unknown.text, HasSubstr("\"in_distribution\": false"));
  EXPECT_THAT(predict("none", "Box Z").text, Not(HasSubstr("unknown-source")));
}

// Options that say which part of a corpus is meant have nothing to say of jobs that don't come from one.
TEST_F(TableOptionsTest, ScheduleRefusesEachWhereNoCorpusIsRead) {
  CLI::App verb;
  verb.set_help_flag();
  TableArguments arguments;
  add_table_options(verb, arguments);
  ASSERT_FALSE(verb.get_options().empty());
  for (const CLI::Option* option : verb.get_options()) {
    const bool flag = option->get_expected_max() == 0;
    const std::string value = option->get_default_str().empty() ? "1" : option->get_default_str();
    const Outcome refused =
        perfcast("schedule simulate --synthetic --jobs 10 " + option->get_name() + (flag ? "" : " " + value));
    EXPECT_EQ(refused.exit_code, 2) << option->get_name();
    EXPECT_THAT(refused.text, HasSubstr(option->get_name() + " has no effect with --synthetic"));
  }
}

TEST_F(TableOptionsTest, Table1AsInput) {
  ASSERT_EQ(import(6, 2, 3).exit_code, 0);
  const Outcome scored = evaluate("--features table1");
  EXPECT_EQ(scored.exit_code, 0) << scored.text;
  EXPECT_THAT(scored.text, HasSubstr("note: inputs: 1 metrics of Table I; the profiles lack io_read_bytes, "));
  ASSERT_EQ(import(6, 2, 3, [](Row& row) { row.instructions = ""; }).exit_code, 0);
  const Outcome none = evaluate("--features table1");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.text, HasSubstr("no profile has any of the counters of Table I"));
  EXPECT_THAT(none.text, HasSubstr("instructions_count, "));
}

}  // namespace
}  // namespace perfcast::cli
