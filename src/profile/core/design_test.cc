#include "profile/core/design.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "base/json.h"

namespace perfcast {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kShipped = std::string(PERFCAST_SOURCE_DIR) + "/data/cores/designs.json";

Json shipped() { return *parse_json(*read_file(kShipped, 1 << 20), kShipped); }

TEST(CoreDesigns, TheShippedOnesAreWhole) {
  const auto designs = read_core_designs(kShipped);
  ASSERT_TRUE(designs) << designs.error().message;
  EXPECT_GE(designs->size(), 20U);
  std::set<std::string> names;
  for (const CoreDesign& design : *designs) {
    names.insert(design.name);
    EXPECT_FALSE(design.sources.empty()) << design.name;
    EXPECT_GE(design.window, design.scheduler) << design.name;
    EXPECT_LT(design.l1d_cycles, design.l2_cycles) << design.name;
    EXPECT_LT(design.l2_cycles, design.l3_cycles) << design.name;
    EXPECT_GT(design.memory_cycles(), design.l3_cycles) << design.name;
    EXPECT_LE(design.l1d_bytes, design.l2_bytes) << design.name;
  }
  EXPECT_EQ(names.size(), designs->size());
}

TEST(CoreDesigns, WhatIsNotGivenIsAsInTheDesignThatItIsLike) {
  const auto designs = read_core_designs(kShipped);
  ASSERT_TRUE(designs);
  const auto find = [&](const std::string& name) {
    return *std::find_if(designs->begin(), designs->end(), [&](const auto& design) { return design.name == name; });
  };
  EXPECT_EQ(find("haswell").width, 4);
  EXPECT_EQ(find("haswell").window, 192);
  EXPECT_EQ(find("haswell").ports.alu, 4);
  EXPECT_EQ(find("haswell").ports.load, 2);
  EXPECT_EQ(find("zen3").cost(CoreOp::kFma).latency_cycles, 4);
  EXPECT_EQ(find("zen3").cost(CoreOp::kMultiply).latency_cycles, 3);
}

TEST(CoreDesigns, NameAllMistakesAtOnce) {
  Json json = shipped();
  Json& first = json["designs"][0];
  first["width"] = 0;
  first["ports"]["load"] = "two";
  first["ops"]["multiply"] = {3};
  first["ops"]["juggle"] = {1, 1};
  first["clock_hz"] = 3;
  first.erase("window");
  first["windw"] = 100;
  const auto read = parse_core_designs(json.dump(), "d.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "bad-core-design");
  EXPECT_THAT(read.error().message,
              AllOf(HasSubstr("width"), HasSubstr("load"), HasSubstr("multiply"), HasSubstr("juggle"),
                    HasSubstr("clock_hz"), HasSubstr("window"), HasSubstr("windw")));
}

TEST(CoreDesigns, AMistakeThatOthersShareIsNamedOnce) {
  Json json = shipped();
  json["designs"][0]["fetch_bytes"] = -1;  // Haswell and those after it are like it
  json["designs"][1]["window"] = "many";
  const std::string message = parse_core_designs(json.dump(), "d.json").error().message;
  EXPECT_EQ(message,
            "designs[0].fetch_bytes: found -1, expected a whole number from 1 to 1024; "
            "designs[1].window: found string, expected an integer");
  json["designs"][0]["like"] = "zen9";
  EXPECT_EQ(parse_core_designs(json.dump(), "d.json").error().message,
            "designs[0].like: no design of that name before it");
}

TEST(CoreDesigns, RefuseWhatCannotBeTrueOfOneCore) {
  const auto message_after = [](const std::function<void(Json&)>& change) {
    Json json = shipped();
    change(json["designs"][0]);
    const auto read = parse_core_designs(json.dump(), "d.json");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(message_after([](Json&) {}), "");
  EXPECT_THAT(message_after([](Json& d) { d["scheduler"] = 4000; }),
              HasSubstr("scheduler: found 4000, expected at most"));
  EXPECT_THAT(message_after([](Json& d) { d["l2_bytes"] = 16384; }), HasSubstr("l1d_bytes"));
  EXPECT_THAT(message_after([](Json& d) { d["l2_cycles"] = 90; }), HasSubstr("l2_cycles"));
  EXPECT_THAT(message_after([](Json& d) { d["memory_ns"] = 5; }), HasSubstr("l3_cycles"));
  EXPECT_THAT(message_after([](Json& d) { d["instruction_set"] = "banana"; }), HasSubstr("\"x86_64\" or \"aarch64\""));
  EXPECT_THAT(parse_core_designs(R"({"schema": "perfcast.core_designs/1", "designs": []})", "d.json").error().message,
              HasSubstr("1 to 1000"));
}

TEST(CoreDesigns, EstimatesStayEstimatesInThoseThatAreLikeThem) {
  const auto designs = read_core_designs(kShipped);
  ASSERT_TRUE(designs);
  const auto estimated = [&](const std::string& name, const std::string& field) {
    const auto design =
        std::find_if(designs->begin(), designs->end(), [&](const CoreDesign& one) { return one.name == name; });
    return std::count(design->estimated.begin(), design->estimated.end(), field) == 1;
  };
  EXPECT_TRUE(estimated("sandy-bridge", "btb_miss_cycles"));
  EXPECT_TRUE(estimated("haswell", "btb_miss_cycles"));  // has it from Sandy Bridge
  EXPECT_TRUE(estimated("neoverse-n1", "mirror_cycles"));
  EXPECT_FALSE(estimated("haswell", "window"));
}

TEST(CoreDesigns, WhatIsNoDesignIsNamedBesideOtherMistakes) {
  Json json = shipped();
  json["designs"][0]["clock_hz"] = "4 GHz";
  for (const Json& wrong : {Json("zen9"), Json(3), Json(nullptr), Json::array()}) {
    json["designs"].push_back(wrong);
  }
  const size_t first = json["designs"].size() - 4;
  const std::string message = parse_core_designs(json.dump(), "d.json").error().message;
  EXPECT_EQ(message, "designs[0].clock_hz: found string, expected a finite number; designs[" + std::to_string(first) +
                         "]: found string, expected an object; designs[" + std::to_string(first + 1) +
                         "]: found number, expected an object; designs[" + std::to_string(first + 2) +
                         "]: found null, expected an object; designs[" + std::to_string(first + 3) +
                         "]: found array, expected an object");
}

TEST(CoreDesigns, RefuseUnknownRelativesAndTwins) {
  Json json = shipped();
  json["designs"][1]["like"] = "zen9";
  EXPECT_THAT(parse_core_designs(json.dump(), "d.json").error().message, HasSubstr("no design of that name before it"));
  json = shipped();
  json["designs"][1]["name"] = json["designs"][0]["name"];
  EXPECT_THAT(parse_core_designs(json.dump(), "d.json").error().message, HasSubstr("twice"));
  EXPECT_EQ(parse_core_designs("{}", "d.json").error().code, "bad-core-design");
  EXPECT_EQ(parse_core_designs("[", "d.json").error().code, "bad-json");
}

}  // namespace
}  // namespace perfcast
