#include "program/evaluate/report/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "base/figure/testing/markup.h"
#include "base/unknown.h"
#include "program/evaluate/evaluate.h"
#include "program/evaluate/report/report_figure.h"
#include "program/evaluate/testing/synthetic_corpus.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Evaluation evaluation_of(const EvaluationOptions& options, const SyntheticOptions& world = {}) {
  const auto table = make_training_table(synthetic_corpus(world), TableOptions{});
  if (!table) throw std::runtime_error(to_text(table.error()));
  auto evaluation = evaluate(*table, options);
  if (!evaluation) throw std::runtime_error(to_text(evaluation.error()));
  return std::move(*evaluation);
}

EvaluationOptions knn() {
  EvaluationOptions options;
  options.models = {"knn"};
  return options;
}

// Two programs and two platforms by hand; relative to the mean, so rows add up to 0 in logs.
Evaluation tiny() {
  Evaluation evaluation;
  evaluation.programs = 2;
  evaluation.families = 2;
  evaluation.platforms = {"p0", "p1"};
  evaluation.first_seed.rows = {{"gzip.1", "gzip", "compressor"}, {"matrix", "matrix", "user"}};
  evaluation.first_seed.platform_names = {"Platform 0", "Platform 1"};
  ScoreInput entries;
  const double two = std::log(2.0);
  entries.truth = Eigen::MatrixXd{{-two, two}, {two, -two}};
  entries.predicted = Eigen::MatrixXd{{-two, two}, {0, 0}};
  entries.lower = entries.predicted.array() - two / 2;
  entries.upper = entries.predicted.array() + two / 2;
  entries.families = {"gzip", "matrix"};
  evaluation.first_seed.models = {{"mean", entries}, {"knn", entries}};
  const auto vote = std::make_shared<const MajorityVote>(Eigen::MatrixXd{{0, 1}});
  evaluation.first_seed.votes = {vote, vote};
  for (const char* model : {"mean", "knn"}) {
    evaluation.rows.push_back(
        {model, "all", score(entries), "", {}, order_scores(entries, evaluation.first_seed.votes)});
    ScoreInput gzip = entries;
    gzip.truth.row(1).setConstant(kUnknown);
    evaluation.by_family.push_back({model, "gzip", "compressor", score(gzip)});
  }
  return evaluation;
}

CsvTable parsed(const Figure& figure) {
  auto table = CsvTable::parse(figure.csv, figure.id + ".csv");
  if (!table) throw std::runtime_error(to_text(table.error()));
  return std::move(*table);
}

TEST(HtmlReport, IsWellFormedSelfContainedAndTheSameEveryTime) {
  const Evaluation evaluation = evaluation_of(knn());
  const std::string html = html_report(evaluation, {"tiny.db", ""});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(html, html_report(evaluation, {"tiny.db", ""}));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  for (const char* id : {"scores", "distribution", "program", "order", "roc", "calibration", "families"}) {
    EXPECT_THAT(html, HasSubstr("id=\"" + std::string(id) + "\""));
    if (std::string(id) == "scores") continue;
    EXPECT_THAT(html, HasSubstr("download=\"perfcast-" + std::string(id) + ".csv\" href=\"data:text/csv;"));
  }
  for (const char* model : {"mean", "majority", "knn", "noise-floor"}) EXPECT_THAT(html, HasSubstr(model));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

TEST(HtmlReport, DoesNotReadWhatComesFromOutside) {
  Evaluation evaluation = evaluation_of(knn());
  const std::string evil = "<script>alert(\"1\")</script>&'";
  evaluation.first_seed.platform_names[1] = evil;
  evaluation.platforms[1] = evil;
  evaluation.notes.push_back(evil);
  for (SeedForecasts::Row& row : evaluation.first_seed.rows) row.program = row.family = row.group = evil;
  for (EvaluationRow& row : evaluation.rows) row.note = evil;
  for (FamilyRow& row : evaluation.by_family) row.family = evil;
  const std::string html = html_report(evaluation, {evil, evil});
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("alert(\"1")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_EQ(unbalanced(html), "");
}

TEST(HtmlReport, SaysWhyIntervalsAreAbsent) {
  EvaluationOptions options = knn();
  options.intervals = false;
  const std::string html = html_report(evaluation_of(options), {"tiny.db", ""});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("the evaluation ran with --no-intervals"));
  EXPECT_THAT(html, Not(HasSubstr("perfcast-calibration.csv")));
}

TEST(HtmlReport, HoldsForEverySplitAndManyPlatforms) {
  SyntheticOptions world;
  world.platforms = 60;
  for (const Split split : {Split::kRandom, Split::kPlatform}) {
    EvaluationOptions options = knn();
    options.split = split;
    options.folds = 4;
    const std::string html = html_report(evaluation_of(options, world), {"tiny.db", ""});
    EXPECT_EQ(unbalanced(html), "") << to_string(split);
  }
  EXPECT_EQ(unbalanced(html_report(Evaluation{}, {"nothing.db", ""})), "");
}

TEST(Figures, HaveTheirNumbersByHand) {
  const Evaluation evaluation = tiny();
  EXPECT_EQ(shown_model(evaluation)->name, "knn");

  const CsvTable entries = parsed(distribution_figure(evaluation));
  EXPECT_EQ(entries.rows(), 4u);
  EXPECT_EQ(entries.cell(0, *entries.find_column("measured_ratio")), "0.5");
  EXPECT_EQ(entries.cell(2, *entries.find_column("forecast_ratio")), "1");
  EXPECT_EQ(entries.cell(2, *entries.find_column("upper_ratio")), "1.41421");

  // gzip is exact; matrix is off by a factor of two both ways: errors 1/2 and 1.
  const Figure program = program_figure(evaluation, "");
  EXPECT_THAT(program.csv, HasSubstr("median error,gzip.1,"));
  EXPECT_THAT(program.csv, HasSubstr("worst,matrix,p0,knn,2,1,"));
  EXPECT_THAT(program.images.front(), HasSubstr("worst: mean error 75.0%"));
  EXPECT_THAT(program_figure(evaluation, "matrix").csv, HasSubstr("chosen,matrix,"));
  EXPECT_THAT(program_figure(evaluation, "xz").caption, HasSubstr("xz is in no fold"));

  // Half of the entries at no stretch, all of them only where the interval is stretched by two.
  const CsvTable coverage = parsed(calibration_figure(evaluation));
  const auto value = [&](const std::string& kind, const std::string& name, const std::string& factor) {
    for (size_t row = 0; row < coverage.rows(); ++row) {
      if (coverage.cell(row, 0) == kind && coverage.cell(row, 1) == name && coverage.cell(row, 2) == "knn" &&
          coverage.cell(row, 3) == factor) {
        return std::string(coverage.cell(row, 4));
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(value("width", "all", "0"), "0.5");
  EXPECT_EQ(value("width", "all", "1"), "0.5");
  EXPECT_EQ(value("width", "all", "2.1"), "1");
  EXPECT_EQ(value("family", "gzip", "1"), "1");
  EXPECT_EQ(value("family", "matrix", "1"), "0");
  EXPECT_EQ(value("platform", "p0", "1"), "0.5");

  // Majority: p0 first. gzip is so and forecast so; matrix is not, and its tie is no agreement.
  const Figure roc = roc_figure(evaluation);
  EXPECT_THAT(roc.images.front(), HasSubstr("whole orders (1 in the majority order, 1 not)"));
  EXPECT_THAT(roc.images.front(), HasSubstr("knn: AUC 1.000, sensitivity 100.0%, specificity 100.0%"));

  EXPECT_THAT(family_error_figure(evaluation).csv, HasSubstr("knn,gzip,compressor,1,2,0\n"));
  EXPECT_THAT(order_share_figure(evaluation).csv, HasSubstr("knn,all,0.5,0.75,4\n"));
}

TEST(Figures, WithoutAVoteHaveNoCurve) {
  Evaluation evaluation = tiny();
  evaluation.first_seed.votes = {nullptr, nullptr};
  evaluation.split = Split::kPlatform;
  const Figure figure = roc_figure(evaluation);
  EXPECT_THAT(figure.images, IsEmpty());
  EXPECT_THAT(figure.caption, HasSubstr("no majority order"));
}

TEST(Figures, EveryDrawingIsBalancedAndItsDataParses) {
  const Evaluation evaluation = evaluation_of(knn());
  for (const Figure& figure :
       {distribution_figure(evaluation), program_figure(evaluation, ""), order_share_figure(evaluation),
        roc_figure(evaluation), calibration_figure(evaluation), family_error_figure(evaluation)}) {
    EXPECT_FALSE(figure.images.empty()) << figure.id;
    for (const std::string& image : figure.images) EXPECT_EQ(unbalanced(image), "") << figure.id;
    EXPECT_GT(parsed(figure).rows(), 0u) << figure.id;
    for (const std::string& image : figure.images) EXPECT_THAT(image, Not(HasSubstr("nan"))) << figure.id;
  }
}

TEST(Evaluate, KeepsTheEntriesOfItsFigures) {
  EvaluationOptions options = knn();
  options.split = Split::kRandom;
  options.folds = 4;
  options.holdout = true;
  const Evaluation evaluation = evaluation_of(options);
  ASSERT_THAT(evaluation.first_seed.models, SizeIs(2));
  EXPECT_EQ(evaluation.first_seed.models[0].name, "mean");
  EXPECT_THAT(evaluation.first_seed.rows, SizeIs(24));
  EXPECT_THAT(entries_of(evaluation.first_seed.models[1].entries), SizeIs(6 * 6));
  int64_t votes = 0;
  for (const auto& vote : evaluation.first_seed.votes) votes += vote != nullptr ? 1 : 0;
  EXPECT_EQ(votes, 6);
}

TEST(LabelOf, DropsMarksOfTrade) {
  EXPECT_EQ(label_of("Intel(R) Xeon(R) Gold 6149 CPU @ 3.10GHz"), "Intel Xeon Gold 6149 CPU @ 3.10GHz");
  EXPECT_EQ(label_of("Neoverse-N1"), "Neoverse-N1");
}

}  // namespace
}  // namespace perfcast::program
