#include "ai/gemm/conv/conv_report.h"

#include <gmock/gmock.h>

#include "ai/gemm/conv/conv_rung.h"
#include "ai/gemm/report/report.h"
#include "ai/gemm/session.h"
#include "base/json.h"

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;
using testing::Not;

RungResult timed_row(const ConvLayer& layer, const char* name, double seconds) {
  RungResult found;
  found.name = found.title = name;
  found.conv = layer;
  found.shape = product_of(layer.shape);
  found.median_s = seconds;
  found.spread = 0;
  found.samples = 3;
  found.gflops = operations(found.shape) / seconds / 1e9;
  found.correct = true;
  return found;
}

TEST(ConvReport, AddsUpANetworkByCounts) {
  ConvLayer a = resnet50_layers()[1], b = resnet50_layers()[3];
  a.count = 2;
  b.count = 3;
  GemmResult result;
  result.op = "conv";
  result.rungs = {timed_row(a, "slow", 0.5), timed_row(a, "fast", 0.01), timed_row(a, "half", 0.1),
                  timed_row(b, "slow", 1), timed_row(b, "fast", 0.02)};
  const std::string text = network_text(result);
  EXPECT_THAT(text, HasSubstr("2 shapes, 5 convolutions"));
  EXPECT_THAT(text, HasSubstr(" 4.0000 s "));
  EXPECT_THAT(text, HasSubstr("50.0x"));
  EXPECT_THAT(text, Not(HasSubstr("half")));  // it lacks a layer
  result.rungs.resize(3);
  EXPECT_EQ(network_text(result), "");
}

// A layer whose equivalent product is another's as well has a ladder of its own.
TEST(ConvReport, KeepsLayersOfEqualProductsApart) {
  const ConvLayer down = *find_conv_layer("conv3_down"), same = *find_conv_layer("conv3_3x3");
  ASSERT_EQ(product_of(down.shape), product_of(same.shape));
  GemmResult result;
  result.op = "conv";
  result.rungs = {timed_row(down, "first", 1), timed_row(same, "second", 1)};
  const std::string text = to_text(result);
  EXPECT_THAT(text, HasSubstr("convolution conv3_down: 1 x 128 x 56 x 56 to 128, 3 x 3, stride 2, padding 1"));
  EXPECT_THAT(text, HasSubstr("convolution conv3_3x3: 1 x 128 x 28 x 28 to 128, 3 x 3, stride 1, padding 1"));
  EXPECT_THAT(text, Not(HasSubstr("keynote")));
}

TEST(ConvReport, ListsLayers) {
  const Json json = conv_list_json();
  EXPECT_EQ(json["layers"].size(), resnet50_layers().size());
  EXPECT_EQ(json["macs"], 4087136256.0);
  EXPECT_EQ(json["rungs"][0]["name"], "naive-o1");
  EXPECT_THAT(conv_list_text(), HasSubstr("conv4_3x3"));
}

TEST(ConvSession, MeasuresEachLayer) {
  GemmRequest request;
  request.convolutions = {{"", {1, 5, 9, 9, 12, 3, 3, 1, 1}}, {"", {2, 5, 9, 9, 12, 3, 3, 2, 0}}};
  request.rungs = *select_conv_rungs("naive-o1,reordered,onednn-direct");
  request.threads = {1, 2};
  request.read_bytes = 1 << 20;
  request.ladder.worker = {PERFCAST_BINARY_DIR "/bin/perfcast_gemm_guinea_worker"};
  request.ladder.rounds = 2;
  request.ladder.turn_s = 0.001;
  request.ladder.budget_s = 0.1;
  const auto result = run_gemm(request);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->rungs.size(), 8u);
  for (const RungResult& each : result->rungs) {
    EXPECT_TRUE(each.correct) << each.name;
    EXPECT_GT(each.gflops, 0) << each.name;
  }
  EXPECT_EQ(result->rungs[4].speedup, 1);
  const Json json = to_json(*result);
  EXPECT_EQ(json["schema"], "perfcast.gemm/1");
  EXPECT_EQ(json["op"], "conv");
  EXPECT_EQ(json["rungs"][4]["batch"], 2);
  EXPECT_EQ(json["rungs"][4]["stride"], 2);
  EXPECT_EQ(json["rungs"][4]["n"], 2 * 4 * 4);
  EXPECT_EQ(json["rungs"][4]["k"], 45);
  EXPECT_TRUE(roofline_svg(*result));
}

}  // namespace
}  // namespace perfcast::ai::gemm
