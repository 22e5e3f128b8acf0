#include "studies/adapt/transfer_curve.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/unknown.h"
#include "program/model/adapt/adapt_world.h"
#include "program/model/test_world.h"
#include "studies/adapt/transfer_figure.h"

namespace perfcast::program::adapt_study {
namespace {

using testing::HasSubstr;

TrainingTable table_of(const adapt_world::AdaptWorld& world) {
  TrainingTable table;
  table.platforms = world.platforms;
  table.programs = world.programs;
  Random random(1);
  for (Eigen::Index p = 0; p < world.log_times.rows(); ++p) {
    table.profiles.push_back(testing_world::random_profile(random, world.programs[static_cast<size_t>(p)].id));
    for (Eigen::Index j = 0; j < world.log_times.cols(); ++j) {
      PlatformTime time;
      time.log_time = world.log_times(p, j);
      time.half_a = time.half_b = kUnknown;
      table.times.emplace_back(time);
    }
  }
  return table;
}

CurveOptions quick_curve() {
  CurveOptions options;
  options.counts = {0, 2, 5};
  options.seeds = 2;
  options.transfer.rounds = 0;
  options.transfer.draws = 1;
  options.networks = 2;
  options.network.pair.batch = 32;
  options.network.epochs = {10};
  options.network.fact_noises = {0};
  options.network.tuning_steps = {0, 8};
  options.network.outer_steps = {20};
  options.network.tuning_platforms = 3;
  return options;
}

TEST(TransferCurve, HoldsEveryMethodAtEveryCount) {
  const TrainingTable table = table_of(adapt_world::adapt_world(5, 2, 16));
  const auto curve = transfer_curve(table, quick_curve());
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->designs, 5U);
  EXPECT_EQ(curve->network_choices.size(), 5U);
  std::map<std::string, std::set<size_t>> counts;
  std::map<std::pair<std::string, size_t>, CurvePoint> points;
  for (const CurvePoint& point : curve->points) {
    if (!point.group.empty()) continue;
    counts[point.method].insert(point.count);
    points[{point.method, point.count}] = point;
  }
  for (const char* method : {"adapt", "mean of platforms", "nearest by facts", "ridge on facts",
                             "first cache's bandwidth", "network, fine-tuned", "network, meta-learnt"}) {
    EXPECT_EQ(counts[method], (std::set<size_t>{0, 2, 5})) << method;
  }
  // What facts decide is told by facts, and what is left by runs.
  EXPECT_LT((points[{"adapt", 5}].median_error), (points[{"mean of platforms", 5}].median_error));
  EXPECT_LT((points[{"network, fine-tuned", 5}].median_error), (points[{"mean of platforms", 0}].median_error));
  // Without programs the draws are one; the networks have a seed each.
  EXPECT_TRUE(std::isnan(points[{"adapt", 0}].spread));
  EXPECT_GT((points[{"network, fine-tuned", 0}].spread), 0);
  EXPECT_THAT(transfer_page({*curve, *curve}), HasSubstr("network, meta-learnt"));
}

TEST(TransferCurve, ProfilesOfThePlatformLeftOutAreNotSeen) {
  const TrainingTable table = table_of(adapt_world::adapt_world(4, 1, 16));
  CurveOptions options = quick_curve();
  options.counts = {0};
  // Of each program a profile from each platform: alike but for the last platform's, which holds what nobody could
  // know.
  std::vector<std::vector<Profile>> own(table.programs.size());
  const auto errors_with = [&](double told) {
    options.profiles.clear();
    for (size_t p = 0; p < table.programs.size(); ++p) {
      own[p].assign(4, table.profiles[p]);
      options.profiles.emplace_back();
      for (size_t j = 4; j-- > 0;) {  // the last platform's first
        own[p][j].host.name = table.platforms[j].name;
        if (j == 3) own[p][j].metrics["instructions_count"] *= std::exp(told * static_cast<double>(p % 5));
        options.profiles[p].push_back(&own[p][j]);
      }
    }
    options.only_design = platform_design(table.platforms[3]);
    const auto curve = transfer_curve(table, options);
    EXPECT_TRUE(curve);
    std::vector<double> errors;
    for (const CurvePoint& point : curve->points) errors.push_back(point.median_error);
    return errors;
  };
  EXPECT_EQ(errors_with(0), errors_with(1));
}

}  // namespace
}  // namespace perfcast::program::adapt_study
