#include "ai/latency/kernels/kernel_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace perfcast::ai {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kProducts = "system,engine,engine_version,kernel_source,gemm_dtype,m,n,k,latency\n";

KernelDatabase read(const std::string& csv) {
  auto database = parse_kernel_table(csv, "t.csv");
  EXPECT_TRUE(database) << (database ? "" : to_text(database.error()));
  return database ? *std::move(database) : KernelDatabase();
}

const KernelDatabase::Left* left(const KernelDatabase& database, const std::string& reason) {
  for (const auto& each : database.left_out) {
    if (each.reason.find(reason) != std::string::npos) return &each;
  }
  return nullptr;
}

TEST(KernelDatabase, ReadsProducts) {
  const auto database = read(std::string(kProducts) +
                             "a100_sxm,vllm,0.14.0,torch,bfloat16,16,4096,1024,0.0125\n"
                             "a100_sxm,vllm,0.14.0,torch,fp8_block,1,64,128,0.002\n");
  ASSERT_EQ(database.kernels.size(), 2u);
  EXPECT_THAT(database.systems, ElementsAre("a100_sxm"));
  EXPECT_THAT(database.libraries, ElementsAre("torch"));
  const MeasuredKernel& kernel = database.kernels[0];
  EXPECT_EQ(kernel.shape, (KernelShape{KernelKind::kProduct, KernelFormat::kHalf, {16, 4096, 1024}}));
  EXPECT_DOUBLE_EQ(kernel.seconds, 12.5e-6);
  EXPECT_EQ(database.kernels[1].shape.format, KernelFormat::kFp8Block);
  EXPECT_TRUE(database.left_out.empty());
  EXPECT_TRUE(database.notes.empty());
}

TEST(KernelDatabase, TellsPromptsFromTokensByTheStep) {
  const auto database = read(
      "system,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,step,latency,window_"
      "size\n"
      "h100,2,512,32,8,128,bfloat16,fp8,0,0.5,128\n"
      "h100,4,1,32,8,128,bfloat16,bfloat16,1023,0.02,\n"
      "h100,4,1,32,8,128,fp8,fp8,1023,0.02,\n");
  ASSERT_EQ(database.kernels.size(), 2u);
  EXPECT_EQ(database.kernels[0].shape,
            (KernelShape{KernelKind::kPrefill, KernelFormat::kFp8, {2, 512, 32, 8, 128, 128}}));
  EXPECT_EQ(database.kernels[1].shape,
            (KernelShape{KernelKind::kDecode, KernelFormat::kHalf, {4, 1024, 32, 8, 128, 0}}));
  ASSERT_TRUE(left(database, "fewer than 16 bits"));
}

TEST(KernelDatabase, ReadsExperts) {
  const auto database = read(
      "system,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,"
      "latency\n"
      "b200,fp8,64,2048,768,8,128,2,4,power_law_1.2,0.1\n"
      "b200,fp8,64,2048,768,8,128,2,4,balanced,0.08\n"
      "b200,int4_wo,64,2048,768,8,128,2,4,balanced,0.08\n"
      "b200,fp8,64,2048,768,8,128,2,4,zipf,0.08\n");
  ASSERT_EQ(database.kernels.size(), 2u);
  EXPECT_EQ(database.kernels[0].shape,
            (KernelShape{KernelKind::kExperts, KernelFormat::kFp8, {64, 2048, 768, 8, 128, 2, 4, 0}}));
  EXPECT_EQ(database.kernels[1].shape.size[ExpertsAxis::kSkew], 1.2);
  EXPECT_TRUE(left(database, "'int4_wo' is none of"));
  EXPECT_TRUE(left(database, "neither balanced nor a power law"));
}

TEST(KernelDatabase, LeavesOutWhatCannotBeAndCountsIt) {
  const auto database = read(std::string(kProducts) +
                             "x,vllm,1,t,bfloat16,1,64,64,0\n"
                             "x,vllm,1,t,bfloat16,2,64,64,-1\n"
                             "x,vllm,1,t,bfloat16,4,64,64,abc\n"
                             "x,vllm,1,t,bfloat16,0,64,64,1\n"
                             "x,vllm,1,t,bfloat16,1.5,64,64,1\n"
                             ",vllm,1,t,bfloat16,1,64,64,1\n"
                             "x,vllm,1,t,bfloat16,8,64,64,4e6\n"
                             "x,vllm,1,t,bfloat16,16,64,64,0.01\n");
  ASSERT_EQ(database.kernels.size(), 1u);
  EXPECT_EQ(left(database, "no number above 0")->count, 3);
  EXPECT_EQ(left(database, "no number above 0")->example, "t.csv:2");
  EXPECT_EQ(left(database, "m is no whole number")->count, 2);
  EXPECT_EQ(left(database, "no system")->count, 1);
  EXPECT_EQ(left(database, "an hour")->count, 1);
}

TEST(KernelDatabase, LeavesOutTimesFarFromTheirNeighbours) {
  std::string csv = kProducts;
  for (const int m : {1, 2, 4, 8, 16}) {
    for (const int n : {64, 128, 256}) {
      const double ms = m == 4 && n == 128 ? 10 : 0.01;  // 1000 times its neighbours
      csv += "x,vllm,1,t,bfloat16," + std::to_string(m) + "," + std::to_string(n) + ",64," + std::to_string(ms) + "\n";
    }
  }
  const auto database = read(csv);
  EXPECT_EQ(database.kernels.size(), 14u);
  EXPECT_EQ(left(database, "100 times and more away")->count, 1);
}

TEST(KernelDatabase, KeepsTheNewestVersionOfAShape) {
  const auto database = read(std::string(kProducts) +
                             "x,vllm,0.9.0,t,bfloat16,1,64,64,0.03\n"
                             "x,vllm,0.14.0,t,bfloat16,1,64,64,0.02\n"
                             "x,vllm,0.9.0,t,bfloat16,2,64,64,0.04\n");
  ASSERT_EQ(database.kernels.size(), 2u);
  EXPECT_DOUBLE_EQ(database.kernels[0].seconds, 20e-6);
  EXPECT_DOUBLE_EQ(database.kernels[1].seconds, 40e-6);
  EXPECT_EQ(left(database, "an older version")->count, 1);
  EXPECT_THAT(database.notes, ElementsAre(HasSubstr("several versions of vllm")));
}

TEST(KernelDatabase, KeepsOneEngineOneLibraryAndTheMeanOfRepetitions) {
  const auto database = read(std::string(kProducts) +
                             "x,vllm,1,slow,bfloat16,1,64,64,0.09\n"
                             "x,vllm,1,fast,bfloat16,1,64,64,0.01\n"
                             "x,vllm,1,fast,bfloat16,1,64,64,0.04\n"
                             "x,sglang,9,fast,bfloat16,1,64,64,0.001\n");
  ASSERT_EQ(database.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(database.kernels[0].seconds, 20e-6);
  EXPECT_EQ(database.libraries[database.kernels[0].library], "fast");
  EXPECT_EQ(left(database, "another engine")->count, 1);
  EXPECT_EQ(left(database, "a slower kernel")->count, 1);
  EXPECT_EQ(left(database, "repetitions")->count, 1);
}

TEST(KernelDatabase, UnitsInTheNameOfTheColumn) {
  const auto database = read("system,gemm_dtype,m,n,k,latency_us\nx,fp16,1,64,64,5\n");
  EXPECT_DOUBLE_EQ(database.kernels[0].seconds, 5e-6);
  EXPECT_THAT(database.notes, ElementsAre(HasSubstr("latency_us is read as its name says")));
}

TEST(KernelDatabase, SaysWhatIsMissing) {
  const auto column = parse_kernel_table("system,gemm_dtype,m,n,latency\nx,fp16,1,64,5\n", "t.csv");
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().code, "missing-column");
  EXPECT_THAT(column.error().message, HasSubstr("'k'"));
  const auto kind = parse_kernel_table("a,b\n1,2\n", "t.csv");
  ASSERT_FALSE(kind);
  EXPECT_THAT(to_text(kind.error()), HasSubstr("gemm_dtype"));
  const auto nothing = parse_kernel_table(std::string(kProducts) + "x,vllm,1,t,bfloat16,1,64,64,0\n", "t.csv");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "no-kernels");
}

class KernelFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "kernel_folder";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }
  std::string folder_;
};

TEST_F(KernelFolder, ReadsEveryTableOfOne) {
  write("gemm_perf.csv", std::string(kProducts) + "x,vllm,1,t,bfloat16,1,64,64,0.01\n");
  write("gemm_more.csv", std::string(kProducts) + "y,vllm,1,t,bfloat16,1,64,64,0.01\n");
  write("moe_perf.csv", "system,moe_dtype,num_tokens\nx,fp8,1\n");
  write("nccl_perf.csv", "system,op_name,latency\nx,all_reduce,1\n");
  write("old.parquet", "PAR1");
  const auto database = read_kernel_database(folder_);
  ASSERT_TRUE(database) << to_text(database.error());
  EXPECT_EQ(database->kernels.size(), 2u);
  EXPECT_THAT(database->notes,
              ElementsAre(HasSubstr("1 Parquet files are not read"), HasSubstr("nccl_perf.csv is not used"),
                          HasSubstr("left out: moe_perf.csv")));
}

TEST_F(KernelFolder, WithoutTablesIsRefused) {
  write("gemm.parquet", "PAR1");
  const auto database = read_kernel_database(folder_);
  ASSERT_FALSE(database);
  EXPECT_THAT(to_text(database.error()), HasSubstr("1 Parquet files"));
  EXPECT_FALSE(read_kernel_database(folder_ + "/none"));
}

}  // namespace
}  // namespace perfcast::ai
