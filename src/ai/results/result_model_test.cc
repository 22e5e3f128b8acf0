#include "ai/results/result_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ai/results/made_up_results.h"

namespace perfcast::ai {
namespace {

ResultFit usual_fit() { return {usual_variances(), {}}; }

std::vector<ResultRow> made_up_rows() {
  const auto devices = made_up_devices();
  return result_rows(made_up_results(devices, 1), devices);
}

TEST(ResultModel, LeavesOutAsIfItHadNeverSeen) {
  const auto rows = made_up_rows();
  std::vector<int> group(rows.size());
  std::vector<ResultRow> others, left;
  std::vector<size_t> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool out = rows[i].accelerator == "Round 3";
    group[i] = out ? 1 : static_cast<int>(i) + 2;
    (out ? left : others).push_back(rows[i]);
    if (out) places.push_back(i);
  }
  const auto all = ResultModel::create(rows, usual_fit());
  const auto without = ResultModel::create(others, usual_fit());
  ASSERT_TRUE(all && without);
  const auto by_block = all->leave_out(group);
  const auto anew = without->forecast(left);
  ASSERT_EQ(anew.size(), places.size());
  for (size_t k = 0; k < places.size(); ++k) {
    // But for what facts are centred by.
    EXPECT_NEAR(by_block[places[k]].log_rate, anew[k].log_rate, 0.03);
    EXPECT_NEAR(by_block[places[k]].deviation, anew[k].deviation, 0.03);
  }
}

TEST(ResultModel, LearnsVariancesFromRowsAlone) {
  const auto rows = made_up_rows();
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  ResultFitOptions options;
  options.most_likelihood_rows = 100;
  options.iterations = 8;
  const auto fit = fit_results(rows, all, options);
  ASSERT_TRUE(fit) << to_text(fit.error());
  // The noise of the rows is 0.02, squared 0.0004: ten times less than where it began.
  EXPECT_LT(fit->variances[static_cast<size_t>(ResultTerm::kOwn)], 0.5 * usual_variances()[kResultTerms - 1]);
  const auto again = fit_results(rows, all, options);
  EXPECT_EQ(fit->variances, again->variances);
}

TEST(ResultModel, CountsLessWhatAllOthersContradict) {
  auto rows = made_up_rows();
  rows[5].log_rate += 1;
  std::vector<size_t> used(rows.size() - 1);
  std::iota(used.begin(), used.end(), size_t{0});
  ResultFitOptions options;
  options.most_likelihood_rows = 100;
  options.iterations = 4;
  const auto fit = fit_results(rows, used, options);
  ASSERT_TRUE(fit) << to_text(fit.error());
  EXPECT_GT(fit->noise[5], 10);
  EXPECT_EQ(fit->noise.back(), 1);  // not used
  EXPECT_EQ(fit->noise.size(), rows.size());
}

TEST(ResultModel, RefusesWhatIsTooFewOrTooMany) {
  auto rows = made_up_rows();
  rows.resize(7);
  EXPECT_EQ(ResultModel::create(rows, usual_fit()).error().code, "too-few-results");
  rows.resize(kMostResultRows + 1, rows.front());
  EXPECT_EQ(ResultModel::create(rows, usual_fit()).error().code, "too-many-results");
}

}  // namespace
}  // namespace perfcast::ai
