#include "studies/watch/isolation_forest.h"

#include <gtest/gtest.h>

#include "studies/watch/episode_scores.h"

namespace perfcast::measure::watch_study {
namespace {

TEST(IsolationForest, HasThePaperPathLengths) {
  EXPECT_EQ(mean_path_length(1), 0);
  EXPECT_EQ(mean_path_length(2), 1);
  EXPECT_NEAR(mean_path_length(256), 10.2448, 1e-4);
}

TEST(IsolationForest, IsolatesWhatIsFarOut) {
  Random random(1);
  std::vector<double> values;
  values.reserve(2000);
  for (int i = 0; i < 2000; ++i) values.push_back(random.normal());
  IsolationForest forest;
  forest.fit(values, 2, 100, 256, 1);
  const double usual[] = {0, 0};
  const double far[] = {6, -6};
  EXPECT_LT(forest.score(usual), 0.5);
  EXPECT_GT(forest.score(far), 0.7);
}

TEST(DetectionCounts, TellFoundFromFalse) {
  const std::vector<InjectedFault> faults = {{FaultType::kSpike, 2, 1000, 1010, ""},
                                             {FaultType::kIoStall, 0, 9000, 9600, ""}};
  const auto counts = count_detections(faults, {500, 1002, 1500, 1700, 9601}, 1);
  EXPECT_EQ(counts.found[0][2], 1u);
  EXPECT_EQ(counts.found[6][0], 1u);
  EXPECT_EQ(counts.alarms, 5u);
  EXPECT_EQ(counts.false_alarms, 2u);  // 500 and 1700
  EXPECT_EQ(counts.delays_s, (std::vector<double>{2, 601}));
}

}  // namespace
}  // namespace perfcast::measure::watch_study
