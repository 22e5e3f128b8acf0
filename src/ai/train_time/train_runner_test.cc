#include "ai/train_time/train_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/train_time/train_log.h"

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrainRunner : public testing::Test {
 protected:
  TrainRunner() {
    request_.reader = &reader_;
    request_.seeds = {1, 2};
    request_.record = [this](const std::string& line) {
      record_ += line;
      return Status();
    };
  }
  void add(const std::string& name, const std::string& script) {
    request_.systems.push_back({name, {"/bin/sh", "-c", script}});
  }

  MetricReader reader_ = *MetricReader::create("accuracy", "");
  TrainRunRequest request_;
  std::string record_ = train_log_head("accuracy");
};

TEST_F(TrainRunner, RunsSystemsInTurnsAndRecordsAsItGoes) {
  add("a", "echo accuracy=0.{seed}; sleep 0.2; echo accuracy=0.9 >&2; printf 'accuracy=1'");
  add("b", "echo '{\"accuracy\": 0.5}' $PERFCAST_SEED");
  const auto curves = run_trainings(request_);
  ASSERT_TRUE(curves) << to_text(curves.error());
  ASSERT_EQ(curves->size(), 4u);
  std::vector<std::string> order;
  for (const TrainCurve& curve : *curves) order.push_back(curve.system + std::to_string(curve.seed));
  EXPECT_THAT(order, ElementsAre("a1", "b1", "a2", "b2"));
  const TrainCurve& last = (*curves)[2];
  ASSERT_EQ(last.readings.size(), 3u);
  EXPECT_EQ(last.readings[0].value, 0.2);
  EXPECT_EQ(last.readings[2].value, 1);  // a last line without an end
  EXPECT_GE(last.readings[1].time_s - last.readings[0].time_s, 0.15);
  EXPECT_GE(*last.wall_s, last.readings[1].time_s - 0.05);
  const auto log = parse_train_log(record_, "record", reader_, "");
  ASSERT_TRUE(log) << to_text(log.error());
  EXPECT_EQ(log->curves.size(), 4u);
  EXPECT_EQ(log->curves[2].readings.size(), 3u);
  EXPECT_EQ(log->curves[2].state, TrainRunState::kDone);
}

TEST_F(TrainRunner, StartsTheClockAtALine) {
  add("a", "echo accuracy=0.1; sleep 0.3; echo run_start; echo accuracy=0.5");
  request_.start_pattern = "run_sta.t";
  request_.seeds = {1};
  const auto curves = run_trainings(request_);
  ASSERT_TRUE(curves) << to_text(curves.error());
  ASSERT_EQ(curves->front().readings.size(), 1u);
  EXPECT_LT(curves->front().readings[0].time_s, 0.25);
  request_.start_pattern = "run_stop";
  EXPECT_THAT(run_trainings(request_)->front().why, HasSubstr("no line matched"));
  request_.start_pattern = "(";
  EXPECT_EQ(run_trainings(request_).error().code, "bad-usage");
}

TEST_F(TrainRunner, KeepsWhatAFailedOneReached) {
  add("fails", "echo accuracy=0.5; echo no memory >&2; exit 3");
  add("hangs", "echo accuracy=0.6; sleep 60");
  request_.seeds = {1};
  request_.limit_s = 0.5;
  const auto curves = run_trainings(request_);
  ASSERT_TRUE(curves) << to_text(curves.error());
  EXPECT_EQ((*curves)[0].state, TrainRunState::kFailed);
  EXPECT_THAT((*curves)[0].why, HasSubstr("status 3"));
  EXPECT_THAT((*curves)[0].why, HasSubstr("no memory"));
  EXPECT_EQ((*curves)[0].readings.size(), 1u);
  EXPECT_EQ((*curves)[1].state, TrainRunState::kLimit);
  EXPECT_EQ((*curves)[1].readings.size(), 1u);
}

TEST_F(TrainRunner, SkipsWhatIsDone) {
  add("a", "echo accuracy=0.5");
  request_.done = {{"a", 1}};
  const auto curves = run_trainings(request_);
  ASSERT_TRUE(curves);
  ASSERT_EQ(curves->size(), 1u);
  EXPECT_EQ(curves->front().seed, 2);
}

TEST_F(TrainRunner, StopsWhereTheRecordCannotBeWritten) {
  add("a", "echo accuracy=0.5");
  request_.record = [](const std::string&) { return Status(Error{"cannot-write", "disk full", "", ""}); };
  EXPECT_EQ(run_trainings(request_).error().code, "cannot-write");
}

TEST_F(TrainRunner, StopsAfterARunWithoutTheMetric) {
  add("a", "echo epoch=1 acuracy=0.5 loss=2");
  const auto curves = run_trainings(request_);
  ASSERT_FALSE(curves);
  EXPECT_EQ(curves.error().code, "no-metric");
  EXPECT_THAT(curves.error().message, HasSubstr("it printed values of acuracy, "));
  EXPECT_EQ(record_.find("\"seed\":2"), std::string::npos);
  EXPECT_TRUE(is_spent_record(record_));
  // A later seed may well have none.
  request_.systems.clear();
  add("b", "test {seed} = 2 || echo accuracy=0.5");
  EXPECT_TRUE(run_trainings(request_));
  EXPECT_FALSE(is_spent_record(record_));
  request_.systems.clear();
  add("c", "echo loss=2; exit 3");
  const auto failed = run_trainings(request_);
  ASSERT_TRUE(failed);
  EXPECT_THAT(failed->front().why, HasSubstr("it printed values of loss"));
}

TEST_F(TrainRunner, LooksForProgramsBeforeAnythingRuns) {
  add("a", "true");
  EXPECT_TRUE(check_programs(request_.systems).ok());
  request_.systems.push_back({"b", {"no-such-program-at-all"}});
  const Status missing = check_programs(request_.systems);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "program-not-found");
}

TEST_F(TrainRunner, SaysThatThereIsNoSuchProgram) {
  request_.systems.push_back({"a", {"no-such-program-at-all"}});
  EXPECT_EQ(run_trainings(request_).error().code, "program-not-found");
}

}  // namespace
}  // namespace perfcast::ai
