#include "ai/llm_forecast/calibration_runs.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

const std::string kHead = "device,kind,batch,m,k,n,precision,latency_s\n";

TEST(CalibrationRuns, ReadsRowsInAnyOrderOfColumns) {
  const auto runs = parse_calibration_runs(
      "latency_s,precision,n,k,m,batch,kind,device\n1.5e-4,FP16,3072,768,512,1,Linear, A100 \n"
      "0.25,fp32,64,32,16,96,bmm,\"my, gpu\"\n",
      "runs.csv");
  ASSERT_TRUE(runs) << to_text(runs.error());
  ASSERT_EQ(runs->size(), 2u);
  const CalibrationRun& first = runs->front();
  EXPECT_EQ(first.device, "A100");
  EXPECT_EQ(first.kind, CalibrationRun::Kind::kLinear);
  EXPECT_EQ(first.m, 512);
  EXPECT_EQ(first.k, 768);
  EXPECT_EQ(first.n, 3072);
  EXPECT_EQ(first.precision, Precision::kFp16);
  EXPECT_EQ(first.latency_s, 1.5e-4);
  EXPECT_EQ(first.line, 2u);
  EXPECT_EQ(runs->back().device, "my, gpu");
  EXPECT_EQ(runs->back().kind, CalibrationRun::Kind::kBmm);
  EXPECT_EQ(runs->back().batch, 96);
}

TEST(CalibrationRuns, RefusesWhatIsNoRunAndSaysWhere) {
  const auto refused = [](const std::string& text, const char* code, const char* mentions) {
    const auto runs = parse_calibration_runs(text, "runs.csv");
    ASSERT_FALSE(runs) << text;
    EXPECT_EQ(runs.error().code, code) << text;
    EXPECT_NE(to_text(runs.error()).find(mentions), std::string::npos) << to_text(runs.error());
  };
  refused("", "bad-csv", "");
  refused(kHead, "bad-calibration", "0 rows");
  refused("device,kind,batch,m,k,precision,latency_s\n", "missing-column", "n");
  refused("device,kind,batch,m,k,n,precision,latency_s,extra\na,bmm,1,1,1,1,fp16,1,2\n", "bad-calibration", "beside");
  refused(kHead + "a,conv,1,1,1,1,fp16,1\n", "bad-calibration", "conv");
  refused(kHead + ",bmm,1,1,1,1,fp16,1\n", "bad-calibration", "runs.csv:2");
  refused(kHead + "a,bmm,0,1,1,1,fp16,1\n", "bad-calibration", "batch is '0'");
  refused(kHead + "a,bmm,1,1.5,1,1,fp16,1\n", "bad-calibration", "m is no whole number");
  refused(kHead + "a,bmm,1,1,,1,fp16,1\n", "bad-calibration", "k is ''");
  refused(kHead + "a,bmm,1,1,1,1e30,fp16,1\n", "bad-calibration", "n is");
  refused(kHead + "a,bmm,1,1,1,x,fp16,1\n", "bad-number", "runs.csv:2");
  refused(kHead + "a,bmm,1000000,1000000,1000000,1,fp16,1\n", "bad-calibration", "2^53");
  refused(kHead + "a,bmm,1,1,1,1,q4_0,1\n", "bad-calibration", "q4_0");
  refused(kHead + "a,bmm,1,1,1,1,fp16,0\n", "bad-calibration", "latency_s is '0'");
  refused(kHead + "a,bmm,1,1,1,1,fp16,-1\n", "bad-calibration", "latency_s");
  refused(kHead + "a,bmm,1,1,1,1,fp16,1e9\n", "bad-calibration", "latency_s");
}

TEST(CalibrationRuns, SaysHowTheTableWasRead) {
  std::string form;
  const auto runs = parse_calibration_runs(
      "device;kind;batch;m;k;n;precision;latency_s\nA100;linear;1;512;768;3072;fp16;0,00015\n", "runs.csv", &form);
  ASSERT_TRUE(runs) << to_text(runs.error());
  EXPECT_EQ(runs->front().latency_s, 1.5e-4);
  EXPECT_EQ(form, "columns separated by semicolons; decimal commas");
}

}  // namespace
}  // namespace perfcast::ai
