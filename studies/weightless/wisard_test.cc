#include "studies/weightless/wisard.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace perfcast::program::weightless_study {
namespace {

struct Clusters {
  std::vector<float> rows;
  std::vector<uint32_t> labels;
};

// Three classes around corners of a cube, with noise.
Clusters clusters(size_t count, uint64_t seed) {
  Random random(seed);
  Clusters made;
  for (size_t r = 0; r < count; ++r) {
    const auto label = static_cast<uint32_t>(random.below(3));
    for (uint32_t input = 0; input < 6; ++input)
      made.rows.push_back(static_cast<float>((input % 3 == label ? 2.0 : 0.0) + 0.5 * random.normal()));
    made.labels.push_back(label);
  }
  return made;
}

template <typename Model>
double accuracy(const Model& model, const Clusters& of) {
  size_t right = 0;
  for (size_t r = 0; r < of.labels.size(); ++r)
    right += model.best(std::span(of.rows).subspan(6 * r, 6)) == of.labels[r] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(of.labels.size());
}

TEST(Wisard, RemembersWhatItSawAndKnowsItsLike) {
  const Clusters seen = clusters(300, 1), unseen = clusters(300, 2);
  const auto model = Wisard::train({seen.rows, 6}, seen.labels, 3, {});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(accuracy(*model, seen), 0.95);
  EXPECT_GT(accuracy(*model, unseen), 0.9);
  EXPECT_GT(model->bytes(), 300U);
}

// One row of class 1 among many of class 0 has the same address once: counts decide.
TEST(Wisard, BleachesTies) {
  const std::vector<float> rows = {0, 0, 0, 0, 1, 1};
  const std::vector<uint32_t> labels = {0, 0, 0, 1, 1, 1};
  const auto model = Wisard::train({rows, 1}, labels, 2, {.levels = 1, .tuple = 1});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->best(std::vector<float>{0}), 0U);
  EXPECT_EQ(model->best(std::vector<float>{1}), 1U);
}

TEST(BloomClassifier, KnowsTheLikeOfWhatItSaw) {
  const Clusters seen = clusters(400, 1), unseen = clusters(300, 2);
  const auto model = BloomClassifier::train({seen.rows, 6}, seen.labels, 3, {.tuple = 8});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(accuracy(*model, unseen), 0.9);
  const auto again = BloomClassifier::train({seen.rows, 6}, seen.labels, 3, {.tuple = 8});
  EXPECT_EQ(accuracy(*again, unseen), accuracy(*model, unseen));
}

TEST(Wisard, SaysWhatCanNotBe) {
  const std::vector<float> rows = {0, 1};
  const std::vector<uint32_t> labels = {0, 1}, beyond = {0, 2};
  EXPECT_EQ(Wisard::train({rows, 1}, beyond, 2, {}).error().code, "bad-input");
  EXPECT_EQ(Wisard::train({rows, 1}, labels, 2, {.tuple = 64}).error().code, "bad-config");
  EXPECT_EQ(BloomClassifier::train({rows, 1}, beyond, 2, {}).error().code, "bad-input");
  EXPECT_EQ(BloomClassifier::train({rows, 1}, labels, 2, {.entries_log2 = 21}).error().code, "bad-config");
  const std::vector<float> flat = {1, 1};
  EXPECT_EQ(Wisard::train({flat, 1}, labels, 2, {}).error().code, "no-variation");
}

}  // namespace
}  // namespace perfcast::program::weightless_study
