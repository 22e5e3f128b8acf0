#include "program/forecast/export_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Bundle& weightless_bundle() {
  static const Bundle bundle = [] {
    TrainOptions options;
    options.model = "dwn";
    options.fit.settings = std::make_shared<const Json>(
        Json{{"schema", "perfcast.dwn/2"}, {"networks", 2}, {"boosted", {{"tables", 30}}}, {"best", {{"epochs", 5}}}});
    const Corpus corpus = synthetic_corpus({});
    auto made = train_bundle(*make_training_table(corpus, {}), options);
    if (!made) throw std::runtime_error(to_text(made.error()));
    return std::move(*made);
  }();
  return bundle;
}

TEST(ExportModel, RecordsTheProfileAndTheTrainingPrograms) {
  ExportRequest request;
  request.name = "eight";
  request.drawn_rows = 10;
  request.profiles = {synthetic_profile({}, 11)};
  const auto model = export_model(weightless_bundle(), request);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->files.size(), 3U);
  EXPECT_EQ(model->files[0].name, "eight.h");
  EXPECT_EQ(model->platforms.size(), 6U);
  EXPECT_EQ(model->recorded, 1 + 24U + 10);
  ASSERT_EQ(model->profiles.size(), 1U);
  // The least forecast of the bundle is the best of the source.
  const Eigen::MatrixXd expected = weightless_bundle().predictor->predict({request.profiles.data()});
  Eigen::Index best = 0;
  expected.row(0).minCoeff(&best);
  EXPECT_EQ(model->profiles[0].best, static_cast<size_t>(best));
}

TEST(ExportModel, MarksEveryFile) {
  ExportRequest request;
  for (const SourceFormat format : {SourceFormat::kC, SourceFormat::kCpp, SourceFormat::kVerilog}) {
    request.format = format;
    const auto model = export_model(weightless_bundle(), request);
    ASSERT_TRUE(model) << model.error().message;
    for (const SourceFile& file : model->files) EXPECT_LT(file.text.find(kExportMark), 1000U) << file.name;
  }
}

TEST(ExportModel, KeepsThePlatformsAskedFor) {
  ExportRequest request;
  request.task = IntegerTask::kBestPlatform;
  request.platforms = {"Example 300", "Example 100"};
  const auto model = export_model(weightless_bundle(), request);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(model->network.outputs, ElementsAre("Example 300", "Example 100"));
  request.platforms = {"Example 300", "Example 300"};
  EXPECT_EQ(export_model(weightless_bundle(), request).error().code, "bad-usage");
  request.platforms = {"Exmaple 300"};
  EXPECT_EQ(export_model(weightless_bundle(), request).error().code, "unknown-platform");
}

TEST(ExportModel, SaysThatOtherModelsAreNoTables) {
  const auto model = export_model(synthetic_forecaster().bundle(), {});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "not-exportable");
  EXPECT_THAT(model.error().message, HasSubstr("kernel"));
}

}  // namespace
}  // namespace perfcast::program
