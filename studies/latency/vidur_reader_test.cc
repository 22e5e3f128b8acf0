#include "studies/latency/vidur_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai::latency_study {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader =
    "device,model,n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,"
    "num_tensor_parallel_workers,emb_ms,input_layernorm_ms,attn_pre_proj_ms,attn_rope_ms,attn_post_proj_ms,"
    "post_attention_layernorm_ms,mlp_up_proj_ms,mlp_act_ms,mlp_down_proj_ms,add_ms\n";

Result<VidurProfile> parse(const std::string& rows) { return parse_vidur_layers(kHeader + rows, "m.csv"); }

// 8 heads of 16, 2 of keys, on two ranks: 64 values of queries, 16 each of keys and values.
TEST(VidurLayers, BecomeShapes) {
  const auto profile = parse(
      "gpu,some/model,8,2,128,512,1000,True,24,2,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0\n"
      "gpu,plain,8,8,128,512,1000,False,3,1,0.1,0.2,0.3,0.4,0.5,,0.7,0.8,0.9,1.0\n");
  ASSERT_TRUE(profile) << to_text(profile.error());
  EXPECT_EQ(profile->devices, std::vector<std::string>({"gpu"}));
  EXPECT_EQ(profile->models, std::vector<std::string>({"some/model", "plain"}));
  ASSERT_EQ(profile->products.size(), 8u);
  const auto expect = [&](size_t i, double m, double k, double n, double time) {
    const VidurProduct& row = profile->products[i];
    EXPECT_EQ(row.shape.m, m) << i;
    EXPECT_EQ(row.shape.k, k) << i;
    EXPECT_EQ(row.shape.n, n) << i;
    EXPECT_DOUBLE_EQ(row.seconds, time) << i;
  };
  expect(0, 24, 128, 64 + 2 * 16, 0.3e-3);
  expect(1, 24, 64, 128, 0.5e-3);
  expect(2, 24, 128, 512, 0.7e-3);  // both halves of the gate
  expect(3, 24, 256, 128, 0.9e-3);
  expect(4, 3, 128, 384, 0.3e-3);
  expect(6, 3, 128, 512, 0.7e-3);
  ASSERT_EQ(profile->vectors.size(), 9u);  // the second model has no second norm
  EXPECT_EQ(profile->vectors[2].shape.kind, VectorKind::kUnary);
  EXPECT_EQ(profile->vectors[2].shape.columns, 1.5 * 256);
  EXPECT_EQ(profile->vectors[4].shape.kind, VectorKind::kCopy);
  EXPECT_EQ(profile->vectors[4].shape.columns, 64 + 16);
  EXPECT_EQ(profile->vectors[4].seconds, 0.4e-3);
}

TEST(VidurLayers, RefuseWhatNoLayerHas) {
  const auto code = [](const std::string& rows) {
    const auto profile = parse(rows);
    return profile ? "ok" : profile.error().code + " " + profile.error().where;
  };
  EXPECT_EQ(code("g,m,8,2,128,512,1,Maybe,24,2,1,1,1,1,1,1,1,1,1,1\n"), "bad-vidur m.csv:2");
  EXPECT_EQ(code("g,m,8,2,129,512,1,True,24,2,1,1,1,1,1,1,1,1,1,1\n"), "bad-vidur m.csv:2");
  EXPECT_EQ(code("g,m,8,2,128,512,1,True,24,0,1,1,1,1,1,1,1,1,1,1\n"), "bad-vidur m.csv:2");
  EXPECT_EQ(code("g,m,8,2,128,512,1,True,24,2,1,1,-1,1,1,1,1,1,1,1\n"), "bad-vidur m.csv:2");
  EXPECT_EQ(code("g,m,8,2,128,512,1,True,1e30,2,1,1,1,1,1,1,1,1,1,1\n"), "bad-vidur m.csv:2");
  EXPECT_EQ(code("g,m,8,2,128,512,1,True,x,2,1,1,1,1,1,1,1,1,1,1\n"), "bad-number m.csv:2");
  EXPECT_EQ(parse_vidur_layers("device,model\n", "m.csv").error().code, "missing-column");
}

TEST(VidurAllReduces, AreThoseInsideOneNode) {
  const std::string header =
      "system,collective,rank,num_workers,size,devices_per_node,max_devices_per_node,median_ms\n";
  const auto rows = parse_vidur_all_reduces(header +
                                                "x_dgx,all_reduce,0,4,2048,4,8,0.02\n"
                                                "x_dgx,all_reduce,0,4,2048,2,8,0.05\n"
                                                "x_dgx,send_recv,0,2,2048,2,8,0.01\n",
                                            "c.csv");
  ASSERT_TRUE(rows) << to_text(rows.error());
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].system, "x_dgx");
  EXPECT_EQ((*rows)[0].workers, 4);
  EXPECT_EQ((*rows)[0].bytes, 2048);
  EXPECT_DOUBLE_EQ((*rows)[0].seconds, 2e-5);
  const auto odd = parse_vidur_all_reduces(header + "x,all_reduce,0,2.5,2048,2.5,8,0.02\n", "c.csv");
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, HasSubstr("2.5 workers"));
}

}  // namespace
}  // namespace perfcast::ai::latency_study
