#include "ai/system/system_spec.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace perfcast::ai
