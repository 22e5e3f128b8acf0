#include "ai/latency/model/half_precision_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

HalfPrecisionBundle invented() {
  HalfPrecisionBundle bundle;
  bundle.source = "a made-up bench";
  bundle.licence = "CC0";
  bundle.trained = "from nothing";
  bundle.transfer_log_error = 0.25;
  HalfPrecisionDevice device;
  device.facts.name = "Invented";
  device.facts.memory_bytes_per_s = 1e12;
  device.facts.units = 10;
  device.facts.clock_hz = 1e9;
  device.facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 1e14;
  device.parameters.start_s = 3.5e-6;
  device.parameters.vector.fill({2e-6, 7});
  device.parameters.product_log_error = 0.1;
  device.parameters.vector_log_error = 0.2;
  bundle.devices = {device, device};
  bundle.devices[1].facts.name = "Linked";
  bundle.devices[1].facts.link_bytes_per_s = 3e11;
  bundle.devices[1].parameters.link_start_s = 1e-5;
  bundle.devices[1].parameters.link_step_s = 1e-6;
  bundle.devices[1].parameters.link_efficiency = 0.75;
  return bundle;
}

TEST(HalfPrecisionFile, ReadsWhatItWrote) {
  const std::string text = to_text(to_json(invented()));
  const auto back = parse_half_precision(text, "b.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_text(to_json(*back)), text);
  EXPECT_EQ(back->licence, "CC0");
  EXPECT_EQ(back->transfer_log_error, 0.25);
  ASSERT_EQ(back->devices.size(), 2u);
  EXPECT_EQ(back->devices[0].parameters.start_s, 3.5e-6);
  EXPECT_EQ(back->devices[0].parameters.vector[2].bytes_per_cycle, 7);
  EXPECT_TRUE(std::isnan(back->devices[0].parameters.link_start_s));
  EXPECT_EQ(back->devices[1].parameters.link_efficiency, 0.75);
  EXPECT_EQ(back->devices[1].facts.link_bytes_per_s, 3e11);
}

TEST(HalfPrecisionFile, NamesWhatIsWrong) {
  const auto complaint = [](const std::function<void(Json&)>& spoil) {
    Json json = to_json(invented());
    spoil(json);
    const auto bundle = parse_half_precision(to_text(json), "b.json");
    return bundle ? std::string("ok") : bundle.error().code + " " + bundle.error().message;
  };
  EXPECT_EQ(complaint([](Json&) {}), "ok");
  EXPECT_THAT(complaint([](Json& json) { json["schema"] = "perfcast.half-precision/2"; }), HasSubstr("schema"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"] = Json::array(); }), HasSubstr("0 devices"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][0]["product"].erase("power_drop"); }),
              HasSubstr("b.json.devices[0].product.power_drop"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][1]["product"]["compute_efficiency"] = 1.5; }),
              HasSubstr("b.json.devices[1].product.compute_efficiency"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][0]["vector"]["norm"]["bytes_per_cycle"] = 0; }),
              HasSubstr("vector.norm.bytes_per_cycle"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][0]["facts"]["unit"] = 3; }), HasSubstr("facts.unit"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][0]["facts"]["units"] = 0; }), HasSubstr("facts.units"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][1]["link"].erase("step_s"); }), HasSubstr("link.step_s"));
  EXPECT_THAT(complaint([](Json& json) { json["devices"][1] = 5; }), HasSubstr("bad-json-field"));
  EXPECT_EQ(parse_half_precision("{", "b").error().code, "bad-json");
}

}  // namespace
}  // namespace perfcast::ai
