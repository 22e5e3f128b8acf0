#include "place/workload/place_llm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "place/workload/break_even.h"
#include "place/workload/testing/place_devices.h"

namespace perfcast::place {
namespace {

using perfcast::place::testing::row_called;
using ::testing::Contains;
using ::testing::HasSubstr;

struct World {
  std::vector<PlaceDevice> devices = testing::round_devices();
  std::vector<PlaceCpu> cpus = {testing::known_cpu("AMD EPYC 7763"), testing::known_cpu("Neoverse-N1")};
};
const World& world() {
  static const World one;
  return one;
}

LlmPlaceRequest request_of(const std::string& model, int64_t sequence = 512, int64_t batch = 1) {
  LlmPlaceRequest request;
  request.config = testing::known_model(model);
  request.request.batch = batch;
  request.request.sequence = sequence;
  request.request.tensor_parallel = 0;
  return request;
}

LlmPlacer placer_of(const LlmPlaceRequest& request) {
  auto placer = LlmPlacer::create(request, world().devices, world().cpus, testing::shipped_tokens());
  EXPECT_TRUE(placer);
  return *std::move(placer);
}

Placement placed_model(const LlmPlaceRequest& request) {
  auto placement = placer_of(request).place();
  EXPECT_TRUE(placement);
  EXPECT_TRUE(finish_placement({}, *placement));
  return *std::move(placement);
}

TEST(PlaceLlm, DecodeIsBoundByMemoryAndLongPromptsByArithmetic) {
  const Placement placement = placed_model(request_of("llama3-8b", 2048));
  const PlacementRow& gpu = row_called(placement, "big");
  EXPECT_EQ(gpu.token_bound, PlaceBound::kMemory);
  EXPECT_EQ(gpu.prefill_bound, PlaceBound::kCompute);
  EXPECT_EQ(gpu.bound, PlaceBound::kMemory);  // 127 tokens take longer than the prompt
  LlmPlaceRequest prompt = request_of("llama3-8b", 8192);
  prompt.request.output_tokens = 1;
  EXPECT_EQ(row_called(placed_model(prompt), "big").bound, PlaceBound::kCompute);
  EXPECT_EQ(row_called(placement, "EPYC 7763").token_bound, PlaceBound::kMemory);
}

TEST(PlaceLlm, RowsAreSortedAndHoldTheirForecast) {
  const Placement placement = placed_model(request_of("llama3-8b"));
  double before = 0;
  for (const PlacementRow& row : placement.rows) {
    if (!row.is_candidate()) continue;
    ASSERT_TRUE(row.time_s) << row.device;
    EXPECT_GE(*row.time_s, before) << row.device;
    before = *row.time_s;
    if (row.kind == PlaceKind::kCpu && !row.lower_s) continue;
    EXPECT_LT(*row.lower_s, *row.time_s) << row.device;
    EXPECT_GT(*row.upper_s, *row.time_s) << row.device;
  }
  EXPECT_EQ(placement.rows.front().kind == PlaceKind::kCpu, false);
}

TEST(PlaceLlm, UnitsAddUp) {
  const LlmPlaceRequest request = request_of("llama3-8b");
  for (const PlacementRow& row : placed_model(request).rows) {
    if (!row.time_s) continue;
    EXPECT_NEAR(*row.prefill_s + 127 * *row.token_s + *row.transfer_s, *row.time_s, 1e-9 * *row.time_s) << row.device;
    EXPECT_NEAR(*row.tokens_per_s * *row.token_s, 1, 1e-9) << row.device;
    if (row.energy_joules) {
      EXPECT_NEAR(*row.energy_joules, *row.time_s * *row.power_w * row.count, 1e-6) << row.device;
    }
  }
}

TEST(PlaceLlm, AsManyDevicesAsHoldIt) {
  const Placement placement = placed_model(request_of("llama3-70b"));
  const PlacementRow& big = row_called(placement, "big");  // 141 GB of weights over 72
  EXPECT_EQ(big.count, 2);
  EXPECT_EQ(big.fits, true);
  const PlacementRow& small = row_called(placement, "small");  // would need more than a node of eight
  EXPECT_EQ(small.count, 1);
  EXPECT_EQ(small.fits, false);
  EXPECT_EQ(small.bound, PlaceBound::kCapacity);
  ASSERT_TRUE(small.fits_on);
  EXPECT_GT(*small.fits_on, 8);
  EXPECT_FALSE(small.is_candidate());

  LlmPlaceRequest alone = request_of("llama3-70b");
  alone.request.tensor_parallel = 1;
  const Placement refused = placed_model(alone);
  EXPECT_EQ(row_called(refused, "big").fits, false);
  EXPECT_EQ(row_called(refused, "big").fits_on, 2);
}

TEST(PlaceLlm, CpusServeABatchInTurn) {
  const Placement one = placed_model(request_of("llama3-8b")), eight = placed_model(request_of("llama3-8b", 512, 8));
  EXPECT_NEAR(*row_called(eight, "EPYC 7763").time_s, 8 * *row_called(one, "EPYC 7763").time_s, 1e-6);
  EXPECT_LT(*row_called(eight, "big").time_s, 8 * *row_called(one, "big").time_s);
  EXPECT_THAT(eight.notes, Contains(HasSubstr("one sequence after the other")));
}

TEST(PlaceLlm, OtherFormatsOnCpusAreLessSure) {
  LlmPlaceRequest request = request_of("llama3-8b");
  const Placement usual = placed_model(request);
  EXPECT_THAT(usual.notes, Contains(HasSubstr("fp16 on accelerators and q4_k_m on CPUs")));
  request.cpu_weights = ai::Precision::kFp16;
  const Placement wide = placed_model(request);
  const PlacementRow& before = row_called(usual, "EPYC 7763");
  const PlacementRow& after = row_called(wide, "EPYC 7763");
  EXPECT_GT(*after.time_s, *before.time_s);
  EXPECT_GT(*after.upper_s / *after.lower_s, 2 * *before.upper_s / *before.lower_s);
  EXPECT_THAT(wide.notes, Contains(HasSubstr("carried over")));
}

TEST(PlaceLlm, EncodersHaveNoForecastOnCpus) {
  LlmPlaceRequest request = request_of("bert-base", 128, 4);
  const Placement placement = placed_model(request);
  EXPECT_FALSE(row_called(placement, "EPYC 7763").time_s);
  EXPECT_THAT(row_called(placement, "EPYC 7763").note, HasSubstr("encoders"));
  EXPECT_TRUE(row_called(placement, "big").time_s);
}

TEST(PlaceLlm, LoadsWeightsOverTheHostLinkOnce) {
  LlmPlaceRequest request = request_of("llama3-8b");
  const PlacementRow plain = row_called(placed_model(request), "big");
  EXPECT_NEAR(*plain.load_s, 16.06e9 / (0.8 * 3.15e10), 0.01);
  request.count_load = true;
  EXPECT_NEAR(*row_called(placed_model(request), "big").time_s, *plain.time_s + *plain.load_s, 1e-9);
  request.host_link_bytes_per_s = 1e12;
  EXPECT_LT(*row_called(placed_model(request), "big").load_s, *plain.load_s);
}

TEST(PlaceLlm, BreakEvenBatchIsWhereTheForecastsCross) {
  // The small one has a fifth of the arithmetic at an eighth of the power.
  LlmPlacer placer = placer_of(request_of("llama3.2-1b", 128));
  auto placement = placer.place();
  ASSERT_TRUE(placement);
  ASSERT_TRUE(finish_placement({}, *placement));
  const auto seconds = [&](const std::string& device, int64_t batch) { return placer.at_size(device, batch); };
  EXPECT_NEAR(seconds("Big GPU", 1)->time_s, *row_called(*placement, "big").time_s, 1e-12);
  EXPECT_NEAR(*seconds("Big GPU", 1)->power_w, *row_called(*placement, "big").power_w, 1e-9);
  EXPECT_GT(*seconds("Big GPU", 64)->power_w, *seconds("Big GPU", 1)->power_w);
  const auto all = find_break_even(*placement, seconds, std::nullopt, 1, 65536);
  ASSERT_TRUE(all);
  ASSERT_FALSE(all->empty());
  for (const PlaceBreakEven& one : *all) {
    EXPECT_GE(one.most, 1);
    if (!one.at) continue;
    EXPECT_GT(*one.at, one.least);
    EXPECT_LE(*one.at, one.most);
  }
  const auto too_large = seconds("Small GPU", 65536);
  EXPECT_FALSE(too_large);
}

TEST(PlaceLlm, IsTheSameEachTime) {
  const LlmPlaceRequest request = request_of("mixtral-8x7b");
  EXPECT_EQ(to_text(to_json(placed_model(request))), to_text(to_json(placed_model(request))));
}

TEST(PlaceLlm, RefusesWhatNoDeviceCanDo) {
  LlmPlaceRequest request = request_of("gpt2", 4096);
  auto placer = LlmPlacer::create(request, world().devices, {}, testing::shipped_tokens());
  ASSERT_TRUE(placer);
  EXPECT_FALSE(placer->place());  // more tokens than positions were learned
}

}  // namespace
}  // namespace perfcast::place
