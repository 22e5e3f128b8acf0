#include "ai/results/results_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/results/made_up_results.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResultsReport, SaysWhatItRestsOn) {
  const auto devices = made_up_devices();
  const auto results = made_up_results(devices, 1);
  ResultsReport report;
  report.sources = {"made up <b>"};
  report.division = "closed";
  report.divisions = {{"closed", results.size()}, {"open", 3}};
  report.results = report.with_rate = results.size();
  report.tables = task_tables(results, devices);
  report.rows = result_rows(results, devices);
  ResultFitOptions options;
  options.most_likelihood_rows = 60;
  options.iterations = 2;
  const auto scores = score_results(report.rows, options, nullptr);
  ASSERT_TRUE(scores);
  report.scores = *scores;
  const std::string text = results_report_text(report, 3);
  EXPECT_THAT(text, HasSubstr("no result measured power"));
  EXPECT_THAT(text, HasSubstr("and 5 more (--most)"));
  EXPECT_THAT(text, HasSubstr("generation"));
  EXPECT_THAT(text, HasSubstr("noise floor"));
  const Json json = results_report_json(report);
  EXPECT_EQ(json["schema"], "perfcast.bench.results/1");
  EXPECT_EQ(json["divisions"]["open"], 3);
  EXPECT_EQ(json["tables"].size(), 6u * 8u);
  EXPECT_FALSE(json["tables"][0].contains("best_samples_per_joule"));
  EXPECT_EQ(json["scores"].size(), 9u);
  const std::string page = results_report_page(report);
  EXPECT_THAT(page, HasSubstr("made up &lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("Left out: generation"));
}

}  // namespace
}  // namespace perfcast::ai
