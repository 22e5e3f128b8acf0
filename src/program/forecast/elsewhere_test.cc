#include "program/forecast/elsewhere.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::program {
namespace {

const Bundle& forest_bundle() {
  static const Bundle bundle = [] {
    TrainOptions options;
    options.model = "forest";
    const Corpus corpus = synthetic_corpus({});
    auto made = train_bundle(*make_training_table(corpus, {}), options);
    if (!made) throw std::runtime_error(to_text(made.error()));
    return std::move(*made);
  }();
  return bundle;
}

TEST(Elsewhere, GivesTheForecastAndWhatItComesFrom) {
  const Profile profile = synthetic_profile({}, 11);
  const auto elsewhere = look_elsewhere(forest_bundle(), profile, "Example 300");
  ASSERT_TRUE(elsewhere) << to_text(elsewhere.error());
  EXPECT_EQ(elsewhere->platform, "Example 300");
  EXPECT_TRUE(std::isfinite(elsewhere->log_ratio));
  EXPECT_FALSE(elsewhere->method.empty());
  for (size_t i = 1; i < elsewhere->effects.size(); ++i)
    EXPECT_GE(std::abs(elsewhere->effects[i - 1].log), std::abs(elsewhere->effects[i].log));
  for (const Counterfactual& change : elsewhere->counterfactuals) {
    if (change.reaches) {
      EXPECT_LE(change.time_ratio, 0.9 + 1e-9);
    }
  }
  EXPECT_EQ(to_json(*elsewhere)["platform"], "Example 300");
}

TEST(Elsewhere, SaysWhichPlatformsThereAre) {
  const auto elsewhere = look_elsewhere(forest_bundle(), synthetic_profile({}, 11), "Exmaple 300");
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, "unknown-platform");
}

}  // namespace
}  // namespace perfcast::program
