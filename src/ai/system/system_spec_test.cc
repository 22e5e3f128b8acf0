#include "ai/system/system_spec.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "ai/system/http_system.h"

namespace perfcast::ai {
namespace {

TEST(SystemSpec, MakesWhatIsNamed) {
  for (const char* const name : {"null", "mlp", "gemm:16", "http://localhost:1/v1/completions"}) {
    SystemSpec spec;
    spec.name = name;
    spec.samples = 4;
    const auto system = make_system(spec);
    ASSERT_TRUE(system) << name;
    EXPECT_FALSE((*system)->name().empty());
    EXPECT_EQ(is_streaming(spec), spec.name.starts_with("http"));
  }
  SystemSpec pipe;
  pipe.name = "pipe";
  pipe.command = {"cat"};
  EXPECT_EQ((*make_system(pipe))->name(), "cat");
}

TEST(SystemSpec, RefusesWhatIsNone) {
  for (const char* const name : {"", "nul", "pipe", "mlp:0", "tcp://host", "http://"}) {
    SystemSpec spec;
    spec.name = name;
    const auto system = make_system(spec);
    ASSERT_FALSE(system) << name;
    EXPECT_EQ(system.error().where, "--system");
  }
  SystemSpec spec;
  spec.name = "http://localhost:1";
  spec.prompts_file = "/nowhere/prompts.jsonl";
  EXPECT_FALSE(make_system(spec));
}

TEST(SystemSpec, RefusesPromptsAndConnectionsThatDoNotFit) {
  SystemSpec spec;
  spec.name = "http://localhost:1";
  ServingTrace trace;
  trace.requests = {{.prompt_tokens = 4'000'000}};
  spec.trace = std::make_shared<const ServingTrace>(trace);
  EXPECT_TRUE(make_system(spec));
  trace.requests.push_back({.prompt_tokens = 4'000'001});
  spec.trace = std::make_shared<const ServingTrace>(trace);
  const auto large = make_system(spec);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().where, "--trace");
  EXPECT_EQ(large.error().message, "request 2 has a prompt of 4000001 tokens, too many to send");
  spec.trace.reset();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_TRUE(make_system(spec));
  rlimit after = {};
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
  const auto many = make_room_for_connections(int64_t{1} << 40, 2);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().where, "--connections");
}

}  // namespace
}  // namespace perfcast::ai
