#include "program/model/fit/fit_checkpoint.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/json.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/fit/out_of_family.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/neural/vae_predictor.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;
using testing_world::World;

// Keeps everything in memory and can be told to fail, as a full disk or a kill would.
class MemoryCheckpoint : public FitCheckpoint {
 public:
  std::string load(const std::string& part) override {
    ++loads;
    const auto found = parts.find(part);
    return found == parts.end() ? "" : found->second;
  }
  Status save(const std::string& part, std::string bytes) override {
    if (saves_left-- <= 0) return Error{"killed", "no more saves", part, ""};
    if (bytes.empty()) {
      parts.erase(part);
    } else {
      parts[part] = std::move(bytes);
    }
    return {};
  }
  std::map<std::string, std::string> parts;
  int64_t saves_left = 1000000, loads = 0;
};

Json small_json() {
  return {{"schema", kVaeConfigSchema}, {"latent", 3},      {"hidden", {8}},    {"head_hidden", {16}},
          {"pretrain_epochs", 4},       {"vae_epochs", 12}, {"head_epochs", 12}};
}

FitOptions small_options(FitCheckpoint* checkpoint) {
  FitOptions options;
  options.settings = std::make_shared<const Json>(small_json());
  options.inner_folds = 3;
  options.checkpoint = checkpoint;
  return options;
}

TEST(TrainingCheckpoint, ComesBackAsItWas) {
  const TrainingCheckpoint checkpoint{.run = 0xDEADBEEF, .parts = {{"model", "state"}, {"model/fold 1 of 3", "x"}}};
  const std::string bytes = to_bytes(checkpoint);
  const auto back = training_checkpoint_from_bytes(bytes, "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->checkpoint.run, 0xDEADBEEF);
  EXPECT_EQ(back->checkpoint.parts, checkpoint.parts);
  EXPECT_EQ(back->whole_bytes, bytes.size());
}

TEST(TrainingCheckpoint, TheLastRecordOfAPartCounts) {
  const std::string bytes = to_bytes({.run = 1, .parts = {{"a", "old"}, {"b", "gone"}}}) +
                            checkpoint_record("a", "new") + checkpoint_record("b", "");
  const auto back = training_checkpoint_from_bytes(bytes, "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->checkpoint.parts, (std::map<std::string, std::string>{{"a", "new"}}));
}

// However far the last record got, all before it stands; so it does where a bit of the last record fell over.
TEST(TrainingCheckpoint, ATornTailCostsTheLastRecordAlone) {
  const std::string before = to_bytes({.run = 7, .parts = {{"model", "state"}}});
  const std::string all = before + checkpoint_record("model", "later state");
  for (size_t n = before.size(); n < all.size(); ++n) {
    const auto torn = training_checkpoint_from_bytes(all.substr(0, n), "x");
    ASSERT_TRUE(torn) << n;
    EXPECT_EQ(torn->checkpoint.parts.at("model"), "state") << n;
    EXPECT_EQ(torn->whole_bytes, before.size()) << n;
    std::string changed = all;
    changed[n] = static_cast<char>(changed[n] ^ 16);
    const auto damaged = training_checkpoint_from_bytes(changed, "x");
    ASSERT_TRUE(damaged) << n;
    EXPECT_EQ(damaged->checkpoint.parts.at("model"), "state") << n;
  }
}

TEST(TrainingCheckpoint, ADamagedHeadIsAnError) {
  constexpr size_t kHead = 20;
  const std::string bytes = to_bytes({.run = 7, .parts = {{"model", "state"}}});
  for (size_t n = 0; n < kHead; ++n) {
    EXPECT_EQ(training_checkpoint_from_bytes(bytes.substr(0, n), "x").error().code, "bad-checkpoint") << n;
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 16);
    EXPECT_EQ(training_checkpoint_from_bytes(changed, "x").error().code, "bad-checkpoint") << n;
  }
}

// What is left of a head may have a checksum that is right: its last four bytes are the sum of those before.
TEST(TrainingCheckpoint, AShortHeadIsAnErrorWhateverItsChecksum) {
  for (size_t body = 0; body < sizeof(uint32_t); ++body) {
    ByteWriter head("PCFITCKP");
    head.put(uint32_t{2});
    head.put_raw("xyz", body);
    EXPECT_EQ(training_checkpoint_from_bytes(std::move(head).finish(), "x").error().code, "bad-checkpoint") << body;
  }
}

// As the first versions of perfcast wrote it: magic, version, run, number of parts, parts, one checksum.
TEST(TrainingCheckpoint, TakesWhatVersion1Wrote) {
  ByteWriter old("PCFITCKP");
  old.put(uint32_t{1});
  old.put(uint32_t{5});
  old.put(uint64_t{3});
  for (const char* text : {"a", "state", "b", "other", "empty", ""}) old.put_text(text);
  const std::string bytes = std::move(old).finish();
  const auto back = training_checkpoint_from_bytes(bytes, "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->checkpoint.run, 5u);
  EXPECT_EQ(back->checkpoint.parts, (std::map<std::string, std::string>{{"a", "state"}, {"b", "other"}}));
  EXPECT_EQ(back->whole_bytes, 0u);
  EXPECT_EQ(training_checkpoint_from_bytes(bytes.substr(0, bytes.size() - 1), "x").error().code, "bad-checkpoint");
}

TEST(TrainingFingerprint, TellsAllThatMatters) {
  const World world = additive_world({.programs = 6, .platforms = 3, .families = 3});
  const FitOptions options = small_options(nullptr);
  const uint32_t same = training_fingerprint(world.table, "vae-dnn", options);
  EXPECT_EQ(
      training_fingerprint(additive_world({.programs = 6, .platforms = 3, .families = 3}).table, "vae-dnn", options),
      same);
  const auto differs = [&](auto change) {
    TrainingTable table = world.table;
    FitOptions other = options;
    std::string model = "vae-dnn";
    change(table, other, model);
    return training_fingerprint(table, model, other) != same;
  };
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.times[4]->log_time += 1e-12; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.times[4].reset(); }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.profiles[5].metrics["cpu_s"] = 2; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.profiles[5].host.name = "other"; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.programs[0].family = "other"; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.platforms[0].facts["l2_bytes"] = 1; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.inputs.counters = InputChoice::Counters::kTable1; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.inputs.source = InputChoice::Source::kNone; }));
  EXPECT_TRUE(differs([](auto& table, auto&, auto&) { table.inputs.facts["a"]["l2_bytes"] = 1; }));
  EXPECT_TRUE(differs([](auto&, auto& other, auto&) { other.seed = 2; }));
  EXPECT_TRUE(differs([](auto&, auto& other, auto&) {
    Json settings = small_json();
    settings["latent"] = 4;
    other.settings = std::make_shared<const Json>(settings);
  }));
  EXPECT_TRUE(differs([](auto&, auto& other, auto&) { other.inner_folds = 4; }));
  EXPECT_TRUE(differs([](auto&, auto&, auto& model) { model = "dnn"; }));
  EXPECT_FALSE(differs([](auto&, auto& other, auto&) { other.threads = 2; }));
}

// Wherever it is cut off, in the model's own fit or in a fold's, the training goes on to the same forecasts.
TEST(FitCheckpoint, ATrainingCutOffAnywhereEndsTheSame) {
  const World world = additive_world({.programs = 12, .platforms = 3, .families = 6});
  const auto forecasts_of = [&](FitCheckpoint* checkpoint) -> Result<std::vector<Eigen::MatrixXd>> {
    TrainOptions options{.model = "vae-dnn", .fit = small_options(checkpoint)};
    const auto bundle = train_bundle(world.table, options);
    if (!bundle) return bundle.error();
    return std::vector<Eigen::MatrixXd>{bundle->predictor->predict(profiles_of(world.table)),
                                        bundle->calibration.residuals};
  };
  const auto whole = forecasts_of(nullptr);
  ASSERT_TRUE(whole) << to_text(whole.error());
  MemoryCheckpoint all;
  ASSERT_TRUE(forecasts_of(&all));
  const int64_t saves = 1000000 - all.saves_left;
  ASSERT_GT(saves, 12);  // the model and three folds, each saved in each of its three stages
  for (int64_t cut = 0; cut < saves; ++cut) {
    MemoryCheckpoint checkpoint;
    checkpoint.saves_left = cut;
    EXPECT_EQ(forecasts_of(&checkpoint).error().code, "killed");
    checkpoint.saves_left = 1000000;
    const auto resumed = forecasts_of(&checkpoint);
    ASSERT_TRUE(resumed) << to_text(resumed.error());
    EXPECT_EQ((*resumed)[0], (*whole)[0]) << cut;
    EXPECT_EQ((*resumed)[1], (*whole)[1]) << cut;
    EXPECT_LE(1000000 - checkpoint.saves_left, saves);  // what was done is not done again
  }
}

TEST(FitCheckpoint, FoldsThatAreDoneAreNotFittedAgain) {
  const World world = additive_world({.programs = 12, .platforms = 3, .families = 6});
  MemoryCheckpoint checkpoint;
  FitOptions options = small_options(&checkpoint);
  int fits = 0;
  const MakePredictor make = [&fits]() {
    ++fits;
    return make_predictor("knn");
  };
  const auto first = predict_out_of_family(make, world.table, options);
  ASSERT_TRUE(first);
  EXPECT_EQ(fits, 3);
  EXPECT_EQ(checkpoint.parts.size(), 3u);
  const auto again = predict_out_of_family(make, world.table, options);
  ASSERT_TRUE(again);
  EXPECT_EQ(fits, 3);
  EXPECT_EQ(again->log_rpv, first->log_rpv);
  EXPECT_EQ(again->disagreement, first->disagreement);
}

}  // namespace
}  // namespace perfcast::program
