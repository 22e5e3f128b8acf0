#include "program/explain/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::program {
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
  EXPECT_EQ(PriceList::parse("vendor,server,price,list_price\na,b,1,2\n", "p.csv").error().code, "ambiguous-column");
}

TEST(PriceList, SaysWhatALineOrAHeaderShouldBe) {
  const auto expected = [](const std::string& csv) { return to_text(PriceList::parse(csv, "p.csv").error()); };
  using testing::HasSubstr;
  EXPECT_THAT(expected("instance,price\na,1\n"), HasSubstr("no column 'vendor' but instance, price"));
  // As a spreadsheet of another country writes it.
  const auto list = PriceList::parse("vendor;server;price\na;b;1,25\n", "p.csv");
  ASSERT_TRUE(list.ok()) << to_text(list.error());
  EXPECT_EQ(list->per_hour("a", "b"), 1.25);
  EXPECT_EQ(list->form(), "columns separated by semicolons; decimal commas");
  EXPECT_EQ(PriceList::parse("vendor,server,price\na,b,1.25\n", "p.csv")->form(), "");
  EXPECT_THAT(expected("vendor,server,price\n"), HasSubstr("the list has no price"));
  EXPECT_THAT(expected("vendor,server,price,currency\na,b,1,EUR/month\n"), HasSubstr("is no currency"));
}

TEST(PriceList, SpotPricesAreAColumnOfTheirOwn) {
  const std::string csv = "vendor,server,price_per_hour,spot_price_per_hour\na,b,1,0.25\na,c,2,\n";
  EXPECT_EQ(PriceList::parse(csv, "p.csv")->per_hour("a", "b"), 1);
  const auto spot = PriceList::parse(csv, "p.csv", {.spot = true});
  EXPECT_EQ(spot->per_hour("a", "b"), 0.25);
  EXPECT_EQ(spot->per_hour("a", "c"), std::nullopt);  // none to be had
  EXPECT_EQ(PriceList::parse("vendor,server,price\na,b,1\n", "p.csv", {.spot = true}).error().code, "missing-column");
  EXPECT_EQ(PriceList::parse("vendor,server,spot_price\na,b,1\n", "p.csv").error().code, "missing-column");
}

TEST(PriceList, SeveralCurrenciesNeedRates) {
  const std::string csv = "vendor,server,price_per_hour,currency\na,b,1,USD\na,c,2,eur\n";
  const auto mixed = PriceList::parse(csv, "p.csv");
  EXPECT_EQ(mixed.error().code, "mixed-currencies");
  EXPECT_EQ(mixed.error().where, "p.csv:3");
  const auto in_dollars = PriceList::parse(csv, "p.csv", {.rates = {{"EUR", 1.5}}});
  ASSERT_TRUE(in_dollars);
  EXPECT_EQ(in_dollars->currency(), "USD");
  EXPECT_EQ(in_dollars->per_hour("a", "c"), 3);
  const auto in_euros = PriceList::parse(csv, "p.csv", {.rates = {{"USD", 0.5}}});
  EXPECT_EQ(in_euros->currency(), "EUR");
  EXPECT_EQ(in_euros->per_hour("a", "b"), 0.5);
  EXPECT_EQ(PriceList::parse(csv, "p.csv", {.rates = {{"EUR", 1.5}, {"USD", 1}}}).error().code, "mixed-currencies");
}

}  // namespace
}  // namespace perfcast::program
