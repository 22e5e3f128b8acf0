#include "explain/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(PriceList, ReadsVendorServerAndPrice) {
  const auto prices =
      PriceList::parse("vendor,server,price_per_hour,note\naws,m6i.large,0.096,x\ngcp,n2,,blank\n", "p.csv");
  ASSERT_TRUE(prices) << to_text(prices.error());
  ASSERT_EQ(prices->prices().size(), 1u);
  EXPECT_EQ(prices->prices()[0].server, "m6i.large");
  EXPECT_EQ(prices->prices()[0].where, "p.csv:2");
  EXPECT_EQ(prices->per_hour("aws", "m6i.large"), 0.096);
  EXPECT_EQ(prices->per_hour("gcp", "n2"), std::nullopt);
}

TEST(PriceList, NamesTheLineOfAMistake) {
  const auto free = PriceList::parse("vendor,server,price\naws,a,1\naws,b,0\n", "p.csv");
  ASSERT_FALSE(free);
  EXPECT_EQ(free.error().code, "bad-price");
  EXPECT_EQ(free.error().where, "p.csv:3");
  EXPECT_EQ(PriceList::parse("vendor,server,price\naws,a,1\naws,a,2\n", "p.csv").error().code, "bad-price");
  EXPECT_EQ(PriceList::parse("vendor,server,price\naws,a,x\n", "p.csv").error().code, "bad-number");
}

TEST(PriceList, NeedsItsColumns) {
  EXPECT_EQ(PriceList::parse("vendor,server\naws,a\n", "p.csv").error().code, "missing-column");
  EXPECT_EQ(PriceList::parse("vendor,price\naws,1\n", "p.csv").error().code, "missing-column");
  EXPECT_EQ(PriceList::parse("vendor,server,price,spot_price\na,b,1,2\n", "p.csv").error().code, "ambiguous-column");
}

}  // namespace
}  // namespace perfcast
