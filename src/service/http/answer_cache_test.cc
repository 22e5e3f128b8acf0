#include "service/http/answer_cache.h"

#include <gtest/gtest.h>

namespace perfcast::service {
namespace {

Answer answer_of(const std::string& text) { return {.json = text, .forecasts = 1, .out_of_distribution = 0}; }

class AnswerCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const Context> context_ = std::make_shared<const Context>(ContextFiles{});
  const Operation& one_ = operations()[0];
  const Operation& other_ = operations()[1];
  std::string found(AnswerCache& cache, const Operation& operation, const std::string& body) const {
    const auto answer = cache.find(operation, *context_, body);
    return answer ? answer->json : "none";
  }
};

TEST_F(AnswerCacheTest, TheSameRequestHasTheSameAnswer) {
  AnswerCache cache(10000);
  EXPECT_EQ(found(cache, one_, "{}"), "none");
  cache.keep(one_, context_, "{}", answer_of("a"));
  cache.keep(other_, context_, "{}", answer_of("b"));
  EXPECT_EQ(found(cache, one_, "{}"), "a");
  EXPECT_EQ(found(cache, other_, "{}"), "b");
  EXPECT_EQ(found(cache, one_, "{ }"), "none");
  cache.keep(one_, context_, "{}", answer_of("c"));
  EXPECT_EQ(found(cache, one_, "{}"), "c");
}

TEST_F(AnswerCacheTest, WhatWasReadAnewForgetsAnswers) {
  AnswerCache cache(10000);
  cache.keep(one_, context_, "{}", answer_of("a"));
  const auto again = std::make_shared<const Context>(ContextFiles{});
  EXPECT_EQ(cache.find(one_, *again, "{}"), nullptr);
  cache.keep(one_, again, "[]", answer_of("b"));
  EXPECT_EQ(found(cache, one_, "{}"), "none");  // from the former
}

TEST_F(AnswerCacheTest, WhatWasNotAskedForLongestGoesFirst) {
  AnswerCache cache(8000);
  const std::string body(600, 'x');
  for (int i = 0; i < 20; ++i) {
    cache.keep(one_, context_, body + std::to_string(i), answer_of("a"));
    EXPECT_EQ(found(cache, one_, body + "0"), "a") << i;  // asked for each time
    EXPECT_LE(cache.bytes(), 8000);
  }
  EXPECT_EQ(found(cache, one_, body + "1"), "none");
  EXPECT_EQ(found(cache, one_, body + "19"), "a");
  cache.keep(one_, context_, std::string(2000, 'y'), answer_of("large"));
  EXPECT_EQ(found(cache, one_, std::string(2000, 'y')), "none");
}

}  // namespace
}  // namespace perfcast::service
