#include "program/corpus/importers/provider_split.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A server whose six programs all have this rate, or none.
ScreenedServer server(const std::string& provider, const std::string& name, double rate, size_t platform = 0) {
  return {provider, name, platform, "", std::vector<double>(6, std::log(rate))};
}

TEST(ProviderSplit, WhereProvidersDifferByMoreThanTheirServers) {
  const std::vector<ScreenedServer> servers = {server("a", "1", 1.00), server("a", "2", 1.02), server("a", "3", 1.01),
                                               server("b", "1", 1.20), server("b", "2", 1.22), server("c", "1", 1.03),
                                               server("c", "2", 1.04)};
  const auto splits = split_by_provider({servers});
  ASSERT_THAT(splits, SizeIs(1));
  EXPECT_EQ(splits[0].platform, 0u);
  EXPECT_THAT(splits[0].groups, ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
  // Medians of logarithms: 1.01 of a, sqrt(1.2 x 1.22) of b. The typical server of each is 1% away.
  EXPECT_NEAR(splits[0].apart_ratio, std::sqrt(1.2 * 1.22) / 1.01 - 1, 1e-12);
  EXPECT_NEAR(splits[0].own_ratio, 1.02 / 1.01 - 1, 1e-3);
}

TEST(ProviderSplit, NotWhereTheirServersDifferAsMuch) {
  EXPECT_THAT(
      split_by_provider({{server("a", "1", 1.0), server("a", "2", 1.2), server("b", "1", 1.1), server("b", "2", 1.3)}}),
      IsEmpty());
  // 5% is little, however alike the servers of one provider are.
  EXPECT_THAT(split_by_provider(
                  {{server("a", "1", 1.0), server("a", "2", 1.0), server("b", "1", 1.05), server("b", "2", 1.05)}}),
              IsEmpty());
}

TEST(ProviderSplit, NotByOneServerSharedCoresOrFewPrograms) {
  EXPECT_THAT(split_by_provider({{server("a", "1", 1.0), server("a", "2", 1.0), server("b", "1", 1.5)}}), IsEmpty());
  EXPECT_THAT(split_by_provider({{server("a", "1", 1.0), server("a", "2", 1.0), server("aws", "t3.small", 1.5),
                                  server("aws", "t3.large", 1.5)}}),
              IsEmpty());
  std::vector<ScreenedServer> few = {server("a", "1", 1.0), server("a", "2", 1.0), server("b", "1", 1.5),
                                     server("b", "2", 1.5)};
  EXPECT_THAT(split_by_provider({few}), SizeIs(1));
  for (size_t i = 2; i < 4; ++i) few[i].log_rates[0] = few[i].log_rates[1] = kUnknown;
  EXPECT_THAT(split_by_provider({few}), IsEmpty());
  EXPECT_THAT(split_by_provider({}), IsEmpty());
}

// The second part decides only where the first can't; who can't be compared goes with the largest.
TEST(ProviderSplit, TheFirstPartThatTellsDecides) {
  const std::vector<ScreenedServer> rates = {server("a", "1", 1.0), server("a", "2", 1.0), server("a", "3", 1.0),
                                             server("b", "1", 1.5), server("b", "2", 1.5), server("c", "1", 2.0)};
  std::vector<ScreenedServer> scores = rates;
  for (ScreenedServer& one : scores) one.log_rates = std::vector<double>(6, std::log(3.0));
  EXPECT_THAT(split_by_provider({scores, rates}), IsEmpty());
  scores[4].log_rates = std::vector<double>(6, kUnknown);
  const auto splits = split_by_provider({scores, rates});
  ASSERT_THAT(splits, SizeIs(1));
  EXPECT_THAT(splits[0].groups, ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
}

TEST(ProviderSplit, EachPlatformByItself) {
  const auto splits =
      split_by_provider({{server("a", "1", 1.0, 0), server("b", "1", 2.0, 0), server("a", "2", 1.0, 0),
                          server("b", "2", 2.0, 0), server("a", "3", 3.0, 1), server("a", "4", 3.0, 1)}});
  ASSERT_THAT(splits, SizeIs(1));
  EXPECT_EQ(splits[0].platform, 0u);
}

}  // namespace
}  // namespace perfcast::program
