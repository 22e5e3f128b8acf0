#include "profile/suite/slurm_campaign.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/process/temp_folder.h"
#include "base/text.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Suite three_programs() {
  Suite suite;
  suite.name = "test";
  for (const char* name : {"a", "b", "c"}) {
    SuiteProgram entry;
    entry.program.id = name;
    suite.programs.push_back(entry);
  }
  suite.programs[2].program.excluded = "machine-sized";
  suite.programs[2].evidence = "as large as the cache";
  return suite;
}

class Campaign : public testing::Test {
 protected:
  void SetUp() override {
    options_.folder = folder_.path() + "/campaign";
    options_.partitions = {"p", "q"};
    options_.task_command = {"/opt/perf cast", "collect", "--here"};
    client_.submit = [this](const ArrayRequest& request) -> Result<std::string> {
      requests_.push_back(request);
      if (request.partition == refuses_) return Error{"slurm-failed", "invalid partition", "", ""};
      const std::string job = std::to_string(100 + requests_.size());
      names_[job] = request.name;
      for (size_t i = 1; i <= request.tasks; ++i) queue_.push_back({job + "_" + std::to_string(i), request.partition});
      return job;
    };
    client_.queued = [this]() -> Result<std::map<std::string, std::string>> {
      if (squeue_fails_ > 0 && squeue_fails_-- > 0) return Error{"slurm-failed", "timed out", "", ""};
      std::map<std::string, std::string> jobs;
      for (const auto& [job, partition] : queue_) jobs[job] = names_[job.substr(0, job.find('_'))];
      return jobs;
    };
    client_.accounted = [this](const std::string& name) -> Result<std::string> {
      ++sacct_calls_;
      if (!has_accounts_) return Error{"slurm-failed", "accounting is disabled", "", ""};
      for (const auto& [job, job_name] : names_) {
        if (job_name == name) return job;
      }
      return std::string();
    };
  }

  // One task of the queue ends; with a result, or with none.
  void finish_one() {
    if (queue_.empty()) return;
    const auto [job, partition] = queue_.front();
    queue_.erase(queue_.begin());
    const std::string folder = options_.folder + (options_.profile ? "/profiles/" : "/times/") + partition;
    const size_t index = std::stoul(job.substr(job.find('_') + 1));
    const std::string id = job.substr(0, job.find('_'));
    std::string list;
    for (const std::string& line : split(*read_file(folder + "/arrays.tsv"), '\n')) {
      if (line.starts_with(id + "\t")) list = line.substr(id.size() + 1);
    }
    const std::string program = split(*read_file(folder + "/" + list), '\n')[index - 1];
    if (partition + "/" + program == dies_) {
      std::ofstream(folder + "/logs/" + job + ".txt") << "slurmstepd: error: out of memory\n";
      return;
    }
    const std::string path = folder + "/results/" + program + ".json";
    left_queue_s_ = clock_s_;
    std::ofstream(partition + "/" + program == late_ ? path + ".unseen" : path)
        << R"({"schema":"perfcast.collection/1","suite":"test","programs":[{"id":")" << program
        << R"(","status":"timed","time_per_unit_s":0.5,"took_s":3}]})";
  }

  Result<std::vector<CampaignRow>> run() {
    requests_.clear();
    sunk_.clear();
    SlurmCampaign campaign(suite_, options_, client_, [this](double seconds) -> Status {
      if (--sleeps_left_ < 0) return interrupted_error("interrupted");
      clock_s_ += seconds;
      if (queue_.empty() && !late_.empty() && clock_s_ - left_queue_s_ >= lag_s_) {
        const std::string path = options_.folder + "/times/" + late_.substr(0, 1) + "/results/" + late_.substr(2);
        std::error_code ignored;
        std::filesystem::rename(path + ".json.unseen", path + ".json", ignored);
      }
      finish_one();
      return {};
    });
    return campaign.run(
        [this](const std::string& partition, const std::string& path) -> Status {
          sunk_.push_back(partition + " " + path.substr(path.rfind('/') + 1));
          return {};
        },
        [](const std::string&) {});
  }

  std::vector<std::string> statuses(const Result<std::vector<CampaignRow>>& rows) {
    EXPECT_TRUE(rows.ok()) << rows.error().message;
    std::vector<std::string> result;
    if (rows) {
      for (const CampaignRow& row : *rows) {
        result.push_back(row.partition + " " + row.outcome.program + " " + row.outcome.status);
      }
    }
    return result;
  }

  TempFolder folder_ = std::move(*TempFolder::create());
  Suite suite_ = three_programs();
  CampaignOptions options_;
  SlurmClient client_;
  std::vector<ArrayRequest> requests_;
  std::vector<std::pair<std::string, std::string>> queue_;
  std::vector<std::string> sunk_;
  std::map<std::string, std::string> names_;  // of jobs, by id
  std::string refuses_, dies_;
  std::string late_;  // its result is seen lag_s_ after it left the queue
  double clock_s_ = 0, left_queue_s_ = 0, lag_s_ = 0;
  int squeue_fails_ = 0, sleeps_left_ = 100, sacct_calls_ = 0;
  bool has_accounts_ = true;
};

TEST_F(Campaign, OneArrayForEachPartitionAndAllResultsArrive) {
  const auto rows = run();
  EXPECT_THAT(statuses(rows),
              ElementsAre("p a timed", "p b timed", "p c excluded", "q a timed", "q b timed", "q c excluded"));
  EXPECT_EQ((*rows)[0].outcome.time_per_unit_s, 0.5);
  EXPECT_THAT(sunk_, ElementsAre("p a.db", "p b.db", "q a.db", "q b.db"));
  ASSERT_EQ(requests_.size(), 2U);
  EXPECT_EQ(requests_[0].tasks, 2U);
  const std::string script = *read_file(requests_[1].script);
  EXPECT_THAT(script, HasSubstr("exec '/opt/perf cast' 'collect' '--here' --only \"$program\""));
  EXPECT_THAT(script, HasSubstr("/campaign/times/q/results'/\"$program\".json"));
}

TEST_F(Campaign, ASecondCallSubmitsOnlyWhatIsMissing) {
  dies_ = "q/b";
  EXPECT_THAT(statuses(run()),
              ElementsAre("p a timed", "p b timed", "p c excluded", "q a timed", "q b failed", "q c excluded"));
  const auto again = (dies_.clear(), run());
  EXPECT_THAT(statuses(again),
              ElementsAre("p a kept", "p b kept", "p c excluded", "q a kept", "q b timed", "q c excluded"));
  EXPECT_THAT(sunk_, ElementsAre("p a.db", "p b.db", "q a.db", "q b.db"));
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].partition, "q");
  EXPECT_EQ(requests_[0].tasks, 1U);
  (void)run();
  EXPECT_THAT(requests_, IsEmpty());
}

TEST_F(Campaign, ATaskThatDiesSaysWhy) {
  dies_ = "p/a";
  const auto rows = run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].outcome.reason, "task 101_1 ended without a result: slurmstepd: error: out of memory");
}

TEST_F(Campaign, AResultMayArriveAfterItsTaskLeftTheQueue) {
  late_ = "q/b";  // the last one
  lag_s_ = 30;
  EXPECT_EQ(statuses(run())[4], "q b timed");
  EXPECT_GE(clock_s_ - left_queue_s_, 30);
}

TEST_F(Campaign, AResultIsAwaitedForAMinuteNotForEver) {
  late_ = "q/b";
  lag_s_ = 1e9;
  const auto rows = run();
  EXPECT_EQ(statuses(rows)[4], "q b failed");
  EXPECT_GE(clock_s_ - left_queue_s_, 60);
  EXPECT_LE(clock_s_ - left_queue_s_, 60 + 2 * 15);  // and two of the longest pauses
}

TEST_F(Campaign, WithoutWaitingTheSecondCallWaitsForTheSameTasks) {
  options_.wait = false;
  EXPECT_THAT(statuses(run()),
              ElementsAre("p a waiting", "p b waiting", "p c excluded", "q a waiting", "q b waiting", "q c excluded"));
  finish_one();
  EXPECT_THAT(statuses(run()),
              ElementsAre("p a kept", "p b waiting", "p c excluded", "q a waiting", "q b waiting", "q c excluded"));
  EXPECT_THAT(requests_, IsEmpty());  // what is queued is not submitted again
  options_.wait = true;
  EXPECT_THAT(statuses(run()),
              ElementsAre("p a kept", "p b timed", "p c excluded", "q a timed", "q b timed", "q c excluded"));
  EXPECT_THAT(requests_, IsEmpty());
}

TEST_F(Campaign, AnInterruptLeavesTheTasksToASecondCall) {
  sleeps_left_ = 1;
  const auto rows = run();
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, "interrupted");
  sleeps_left_ = 100;
  EXPECT_THAT(statuses(run()),
              ElementsAre("p a kept", "p b timed", "p c excluded", "q a timed", "q b timed", "q c excluded"));
  EXPECT_THAT(requests_, IsEmpty());
}

TEST_F(Campaign, AgainTimesEverythingAnew) {
  (void)run();
  options_.again = true;
  EXPECT_EQ(statuses(run())[0], "p a timed");
  EXPECT_EQ(requests_.size(), 2U);
}

TEST_F(Campaign, TimesAreNoProfiles) {
  (void)run();
  options_.profile = true;
  EXPECT_EQ(statuses(run())[0], "p a timed");
  ASSERT_EQ(requests_.size(), 2U);
  EXPECT_THAT(*read_file(requests_[0].script), HasSubstr(" --profiles '" + options_.folder + "/profiles/p/profiles'"));
}

TEST_F(Campaign, OnlyAndExcluded) {
  options_.only = {"c"};
  options_.partitions = {"p"};
  EXPECT_THAT(statuses(run()), ElementsAre("p c excluded"));
  options_.include_excluded = true;
  EXPECT_THAT(statuses(run()), ElementsAre("p c timed"));
}

TEST_F(Campaign, BearsABusyControllerNotAnAbsentOne) {
  options_.wait = false;
  (void)run();
  options_.wait = true;
  squeue_fails_ = 0;
  int calls = 0;
  const auto real = client_.queued;
  client_.queued = [&]() -> Result<std::map<std::string, std::string>> {
    if (++calls >= 3 && calls <= 5) return Error{"slurm-failed", "timed out", "", ""};
    return real();
  };
  EXPECT_EQ(statuses(run())[0], "p a timed");
  squeue_fails_ = 1000;
  client_.queued = real;
  const auto rows = run();
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, "slurm-failed");
}

TEST_F(Campaign, RefusesOddNamesAndASecondProcess) {
  for (const char* name : {"", "../x", "a b", "-p", "..", "p"}) {  // the last is there twice
    options_.partitions = {"p", name};
    const auto rows = run();
    ASSERT_FALSE(rows.ok()) << name;
    EXPECT_EQ(rows.error().code, "bad-usage");
  }
  options_.partitions = {"p"};
  options_.folder = folder_.path() + "/100%";
  EXPECT_EQ(run().error().code, "bad-usage");
  options_.folder = folder_.path() + "/campaign";
  client_.queued = [this]() -> Result<std::map<std::string, std::string>> {
    SlurmCampaign other(suite_, options_, client_, [](double) { return Status(); });
    const auto rows =
        other.run([](const std::string&, const std::string&) { return Status(); }, [](const std::string&) {});
    EXPECT_EQ(rows.ok() ? "" : rows.error().code, "campaign-running");
    return std::map<std::string, std::string>();
  };
  options_.wait = false;
  EXPECT_TRUE(run().ok());
}

// Killed between sbatch and its record: the queue tells the array by its name.
TEST_F(Campaign, AnArrayWhoseIdWasNeverWrittenDownIsNotSubmittedTwice) {
  options_.partitions = {"p"};
  options_.wait = false;
  const auto submit = client_.submit;
  client_.submit = [&](const ArrayRequest& request) -> Result<std::string> {
    (void)submit(request);
    return Error{"slurm-failed", "killed", "", ""};
  };
  ASSERT_FALSE(run().ok());
  ASSERT_EQ(queue_.size(), 2U);
  client_.submit = submit;
  EXPECT_THAT(statuses(run()), ElementsAre("p a waiting", "p b waiting", "p c excluded"));
  EXPECT_THAT(requests_, IsEmpty());
  queue_.clear();  // cancelled: it is submitted anew
  (void)run();
  EXPECT_EQ(requests_.size(), 1U);
}

// The same, and the array has ended before the next call: the accounts tell it.
TEST_F(Campaign, AnEndedArrayWhoseIdWasNeverWrittenDownIsNotSubmittedTwice) {
  options_.partitions = {"p"};
  const auto submit = client_.submit;
  client_.submit = [&](const ArrayRequest& request) -> Result<std::string> {
    (void)submit(request);
    queue_.clear();
    return Error{"slurm-failed", "killed", "", ""};
  };
  ASSERT_FALSE(run().ok());
  EXPECT_EQ(sacct_calls_, 0);
  client_.submit = submit;
  // Its first task left a result, its second one none.
  std::ofstream(options_.folder + "/times/p/results/a.json")
      << R"({"schema":"perfcast.collection/1","suite":"test","programs":[{"id":"a","status":"timed","took_s":3}]})";
  const auto rows = run();
  EXPECT_THAT(statuses(rows), ElementsAre("p a kept", "p b failed", "p c excluded"));
  EXPECT_EQ((*rows)[1].outcome.reason, "task 101_2 ended without a result");
  EXPECT_GE(clock_s_, options_.lag_s);  // the result may have been late
  EXPECT_THAT(requests_, IsEmpty());
  EXPECT_EQ(sacct_calls_, 1);
  EXPECT_THAT(*read_file(options_.folder + "/times/p/arrays.tsv"), HasSubstr("\n101\tlist-1.txt\n"));
  EXPECT_THAT(statuses(run()), ElementsAre("p a kept", "p b timed", "p c excluded"));  // a call later, as any failure
  EXPECT_EQ(requests_.size(), 1U);
  EXPECT_EQ(sacct_calls_, 1);  // its id is on record now
}

TEST_F(Campaign, WhatNobodyKnowsIsSubmittedAgain) {
  options_.partitions = {"p"};
  const auto submit = client_.submit;
  client_.submit = [](const ArrayRequest&) -> Result<std::string> { return Error{"slurm-failed", "full", "", ""}; };
  ASSERT_FALSE(run().ok());
  client_.submit = submit;
  has_accounts_ = false;
  EXPECT_THAT(statuses(run()), ElementsAre("p a timed", "p b timed", "p c excluded"));
  EXPECT_EQ(requests_.size(), 1U);
}

TEST_F(Campaign, AHistoryThatCantBeReadIsNotOverwritten) {
  options_.partitions = {"p"};
  options_.wait = false;
  (void)run();
  const std::string path = options_.folder + "/times/p/arrays.tsv";
  std::filesystem::rename(path, path + ".kept");
  std::filesystem::create_directory(path);
  EXPECT_EQ(run().error().code, "file-error");
  EXPECT_THAT(requests_, IsEmpty());
  std::filesystem::remove(path);
  std::filesystem::create_symlink("elsewhere.tsv", path);  // its disk is not there now
  EXPECT_FALSE(run().ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(requests_, IsEmpty());
  std::filesystem::remove(path);
  std::filesystem::rename(path + ".kept", path);
  std::filesystem::remove(options_.folder + "/times/p/list-1.txt");
  EXPECT_FALSE(run().ok());
  EXPECT_THAT(requests_, IsEmpty());
}

TEST_F(Campaign, APartitionThatSlurmRefusesIsAnError) {
  refuses_ = "q";
  const auto rows = run();
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, "slurm-failed");
}

TEST(TaskResultTest, ReadsOneProgram) {
  const auto good = parse_task_result(
      R"({"schema":"perfcast.collection/1","programs":[{"id":"a","status":"failed","reason":"r","took_s":1}]})", "r");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->status + good->reason, "failedr");
  for (const char* bad :
       {"", "[]", R"({"schema":"perfcast.collection/1","programs":[]})",
        R"({"schema":"x","programs":[{"id":"a","status":"timed"}]})",
        R"({"schema":"perfcast.collection/1","programs":[{"id":"a","status":"timed","time_per_unit_s":0}]})",
        R"({"schema":"perfcast.collection/1","programs":[7]})"}) {
    EXPECT_FALSE(parse_task_result(bad, "r").ok()) << bad;
  }
}

}  // namespace
}  // namespace perfcast
