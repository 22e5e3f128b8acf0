#include "studies/latency/neusight_data.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace perfcast::ai::latency_study {
namespace {

constexpr const char* kHead = "vendor,device,op,B,M,N,K,H,latency_ms,kernel,tile_m,tile_n,grid_x,grid_y,grid_z\n";

TEST(NeusightData, ReadsProductsAndVectors) {
  const auto table = parse_neusight_operators(std::string(kHead) +
                                                  "x,GPU A,linear,2,10,20,30,,0.5,gemm_a,128,64,1,1,3\n"
                                                  "x,GPU A,bmm,7,10,20,30,,0.25,gemm_b,,,1,1,7\n"
                                                  "x,GPU A,softmax,100,,,,512,0.125,soft,,,1,1,1\n"
                                                  "x,GPU A,conv,1,,,,,1,c,,,1,1,1\n",
                                              "t.csv");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->products.size(), 2u);
  const NeusightProduct& linear = table->products[0];
  EXPECT_TRUE(linear.shape.weights);
  EXPECT_EQ(linear.shape.batch, 1);
  EXPECT_EQ(linear.shape.m, 20);  // B x M rows
  EXPECT_EQ(linear.shape.k, 20);  // N is the reduction
  EXPECT_EQ(linear.shape.n, 30);
  EXPECT_DOUBLE_EQ(linear.seconds, 0.5e-3);
  EXPECT_EQ(linear.split_k, 3);
  EXPECT_EQ(linear.tile_m, 128);
  const NeusightProduct& batched = table->products[1];
  EXPECT_FALSE(batched.shape.weights);
  EXPECT_EQ(batched.shape.batch, 7);
  EXPECT_EQ(batched.split_k, 1);
  EXPECT_EQ(batched.tile_m, 0);
  ASSERT_EQ(table->vectors.size(), 1u);
  EXPECT_EQ(table->vectors[0].columns, 512);
}

TEST(NeusightData, NamesTheRowThatIsWrong) {
  const auto blank = parse_neusight_operators(std::string(kHead) + "x,A,linear,1,10,20,30,,,k,1,1,1,1,1\n", "t.csv");
  ASSERT_FALSE(blank);
  EXPECT_EQ(blank.error().where, "t.csv:2");
  EXPECT_FALSE(parse_neusight_operators(std::string(kHead) + "x,A,linear,1,-1,20,30,,1,k,1,1,1,1,1\n", "t.csv"));
  EXPECT_FALSE(parse_neusight_operators(std::string(kHead) + "x,A,ln,1,,,,0,1,k,1,1,1,1,1\n", "t.csv"));
  EXPECT_FALSE(parse_neusight_operators("device,op\n", "t.csv"));
}

constexpr const char* kLabels =
    "device,model,mode,seq,batch,option,num_layer,e2e_ms,fw_ms,bwall_ms\n"
    "A,net,inf,128,2,,3,10,10,0\n"
    "A,net,inf,128,2,fusion,3,8,8,0\n"
    "A,net,train,128,2,,3,30,10,20\n";
constexpr const char* kOperators =
    "device,model,mode,seq,batch,segment,op,fw_ops,label_fw_ms,label_bw_ms\n"
    "A,net,inf,128,2,begin,EMBEDDING,MEM:2x128/2x128x64,0.1,0\n"
    "A,net,inf,128,2,layer,Linear,Linear:256x64x192,1,0\n"
    "A,net,inf,128,2,layer,BMM,BMM:8x128x16x128,0.5,0\n"
    "A,net,inf,128,2,layer,chain,VECadd:256x64|VECln:256x64,0.2,0\n"
    "B,net,inf,128,2,layer,Linear,Linear:256x64x192,1,0\n";

TEST(NeusightData, JoinsModelsWithTheirOperators) {
  const auto models = parse_neusight_models(kLabels, "labels", kOperators, "operators");
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 2u);  // the option is left out
  const TimedModel& first = models->front();
  EXPECT_FALSE(first.training);
  EXPECT_DOUBLE_EQ(first.seconds, 0.01);
  EXPECT_EQ(first.layers, 3);
  ASSERT_EQ(first.operators.size(), 4u);
  EXPECT_EQ(first.operators[0].parts[0].tensors, (std::vector<double>{256, 2 * 128 * 64}));
  EXPECT_EQ(first.operators[1].parts[0].shape.n, 192);
  EXPECT_EQ(first.operators[2].parts[0].shape.batch, 8);
  EXPECT_EQ(first.operators[3].parts.size(), 2u);
  EXPECT_EQ(first.operators[3].parts[1].op, "ln");
  EXPECT_TRUE((*models)[1].operators.empty());
}

TEST(NeusightData, RefusesWhatItCantRead) {
  const std::string twice = std::string(kLabels) + "A,net,inf,128,2,,3,11,11,0\n";
  EXPECT_FALSE(parse_neusight_models(twice, "labels", kOperators, "operators"));
  const std::string odd = std::string(kOperators) + "A,net,inf,128,2,layer,x,CONV:1x2,1,0\n";
  const auto refused = parse_neusight_models(kLabels, "labels", odd, "operators");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "operators:7");
  EXPECT_FALSE(
      parse_neusight_models("device,model,mode,seq,batch,option,num_layer,e2e_ms,fw_ms,bwall_ms\n"
                            "A,net,infer,1,1,,1,1,1,1\n",
                            "labels", kOperators, "operators"));
}

TEST(NeusightData, PublishedSet) {
  const std::string folder = std::string(PERFCAST_SHARED_DATA) + "/neusight";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto data = read_neusight(folder);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_GT(data->train.products.size(), 100000u);
  EXPECT_GT(data->test.products.size(), 10000u);
  EXPECT_GT(data->models.size(), 50u);
  EXPECT_GT(data->predictions.size(), 200u);
}

}  // namespace
}  // namespace perfcast::ai::latency_study
