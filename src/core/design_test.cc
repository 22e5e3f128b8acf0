#include "core/design.h"

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
