#include "machine/facts/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "machine/facts/platform.h"

namespace perfcast {
namespace {

using ::testing::HasSubstr;

HostFacts host() {
  HostFacts facts;
  facts.name = "AMD EPYC 7763 64-Core Processor";
  facts.vendor = "AuthenticAMD";
  facts.arch = "x86_64";
  facts.cpu_family = 25;
  facts.model = 1;
  facts.l2_bytes = 524288;
  facts.cpu_flags = {"avx2", "sha_ni"};
  return facts;
}

TEST(MachineJson, HostsComeBackAndLeaveOutWhatIsUnknown) {
  const Json json = to_json(host());
  EXPECT_EQ(json.dump(),
            R"({"cpu_model":"AMD EPYC 7763 64-Core Processor","cpu_vendor":"AuthenticAMD","arch":"x86_64",)"
            R"("cpu_family":25,"model":1,"l2_bytes":524288.0,"cpu_flags":["avx2","sha_ni"]})");
  const auto read = host_facts_from_json(json, "p.json.host");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, host());
  EXPECT_EQ(*host_facts_from_json(Json::object(), "h"), HostFacts{});
}

TEST(MachineJson, AllMistakesAreNamed) {
  const auto read = host_facts_from_json(Json{{"cpu_model", 7}, {"model", -1}, {"l2_bytes", -5.0}}, "p.json.host");
  ASSERT_FALSE(read.ok());
  for (const char* field : {"p.json.host.cpu_model", "p.json.host.model", "p.json.host.l2_bytes"}) {
    EXPECT_THAT(read.error().message, HasSubstr(field));
  }
}

TEST(MachineJson, PlatformsComeBackWithoutFacts) {
  Platform platform;
  platform.id = "a";
  platform.name = "A";
  platform.vendor = "AMD";
  platform.arch = "x86_64";
  platform.cpu_family = 25;
  platform.flags = {"avx2"};
  platform.facts = {{"l2_bytes", 1.0}};
  platform.source = "s";
  const Json json = to_json(platform);
  EXPECT_EQ(json.dump(), R"({"id":"a","name":"A","kind":"cpu","arch":"x86_64","vendor":"AMD","cpu_family":25,)"
                         R"("flags":["avx2"],"source":"s"})");
  const auto read = platform_from_json(json, "b.platforms[0]");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->id, "a");
  EXPECT_EQ(read->cpu_family, 25);
  EXPECT_FALSE(read->model);
  EXPECT_TRUE(read->facts.empty());
  EXPECT_THAT(platform_from_json(Json::object(), "b.platforms[0]").error().message, HasSubstr("b.platforms[0].id"));
}

}  // namespace
}  // namespace perfcast
