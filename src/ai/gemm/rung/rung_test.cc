#include "ai/gemm/rung/rung.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "ai/gemm/run/gemm_task.h"
#include "ai/gemm/run/verify.h"

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

std::vector<std::string> names(const std::vector<const Rung*>& rungs) {
  std::vector<std::string> all;
  all.reserve(rungs.size());
  for (const Rung* rung : rungs) all.push_back(rung->name);
  return all;
}

TEST(Rungs, AreNamedOnceAndInTheOrderOfTheLadder) {
  std::set<std::string> seen;
  for (const Rung& rung : all_rungs()) {
    EXPECT_TRUE(seen.insert(rung.name).second) << rung.name;
    EXPECT_EQ(find_rung(rung.name), &rung);
  }
  EXPECT_EQ(all_rungs().front().name, "naive-o1");
  EXPECT_EQ(find_rung("nothing"), nullptr);
}

TEST(Rungs, AreSelectedByNameAndPattern) {
  EXPECT_EQ(names(*select_rungs("eigen,naive-o1")), (std::vector<std::string>{"naive-o1", "eigen"}));
  EXPECT_EQ(names(*select_rungs("naive*,naive-o3")),
            (std::vector<std::string>{"naive-o1", "naive-o3", "naive-native"}));
  EXPECT_EQ(names(*select_rungs("*-bf16")), (std::vector<std::string>{"onednn-bf16"}));
  EXPECT_EQ(select_rungs("*")->size(), all_rungs().size());
}

TEST(Rungs, UnknownOnesNameTheNearest) {
  const auto unknown = select_rungs("openblass");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "bad-usage");
  EXPECT_THAT(unknown.error().expected, HasSubstr("one of: openblas,"));
  for (const char* text : {"", ",", "naive*,nothing", "*a*b*c*d*e*f*", "q*"}) EXPECT_FALSE(select_rungs(text)) << text;
}

// Every rung that can run here gives the right product, also on shapes that fill no block.
class EveryRung : public testing::TestWithParam<size_t> {};

TEST_P(EveryRung, IsRightOnOddShapes) {
  const Rung& rung = all_rungs()[GetParam()];
  if (const std::string reason = rung.unavailable ? rung.unavailable() : ""; !reason.empty()) {
    GTEST_SKIP() << rung.name << ": " << reason;
  }
  const bool starts_an_interpreter = rung.name == "numpy" || rung.name == "torch";
  for (const Shape& shape : {Shape{37, 53, 129}, Shape{1, 65, 30}, Shape{64, 1, 17}}) {
    std::vector<float> a(static_cast<size_t>(shape.m * shape.k)), b(static_cast<size_t>(shape.k * shape.n));
    fill_operands(4, a, b);
    const auto kernel = rung.make();
    const Status ready = kernel->prepare({shape, a, b}, rung.threaded ? 2 : 1);
    if (!ready && ready.error().code == "unavailable") GTEST_SKIP() << rung.name << ": " << ready.error().message;
    ASSERT_TRUE(ready) << ready.error().message;
    const auto seconds = kernel->run(2);
    ASSERT_TRUE(seconds) << seconds.error().message;
    EXPECT_GT(*seconds, 0);
    std::vector<double> c(static_cast<size_t>(shape.m * shape.n));
    ASSERT_TRUE(kernel->read_result(c));
    const Verdict verdict = verify({shape, a, b}, rung.precision, c, 1);
    EXPECT_TRUE(verdict.correct) << rung.name << ' ' << to_text(shape) << ": " << verdict.detail << ' '
                                 << verdict.worst;
    EXPECT_FALSE(kernel->kernel().empty());
    if (starts_an_interpreter) break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryRung, testing::Range(size_t{0}, all_rungs().size()), [](const auto& at) {
  std::string name = all_rungs()[at.param].name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace perfcast::ai::gemm
