#include "program/explain/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

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

std::string seed(const std::string& name) {
  const auto text = read_file(PERFCAST_SOURCE_DIR "/src/program/explain/fuzz/prices/" + name);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

TEST(PriceList, ReadsSkyPilotsCatalogue) {
  const auto list = PriceList::parse(seed("skypilot.csv"), "vms.csv");
  ASSERT_TRUE(list) << to_text(list.error());
  EXPECT_EQ(list->prices().size(), 2u);
  EXPECT_EQ(list->per_hour("aws", "m7i.large"), 0.1008);
  EXPECT_EQ(list->memory_gib("aws", "p3.2xlarge"), 61);
  EXPECT_EQ(list->currency(), "USD");
  EXPECT_EQ(list->regions(), "us-east-1");
  EXPECT_EQ(list->source_in_words(), "vms.csv (SkyPilot's catalogue, region us-east-1 of 2)");
  EXPECT_EQ(PriceList::parse(seed("skypilot.csv"), "vms.csv", {.region = "EU-west-1"})->per_hour("aws", "m7i.large"),
            0.1124);
  // Of several zones the lowest.
  const auto spot = PriceList::parse(seed("skypilot.csv"), "vms.csv", {.spot = true});
  EXPECT_EQ(spot->per_hour("aws", "m7i.large"), 0.0385);
  const auto unknown = PriceList::parse(seed("skypilot.csv"), "vms.csv", {.region = "us-east1"});
  EXPECT_EQ(unknown.error().code, "unknown-region");
  EXPECT_EQ(unknown.error().expected, "one of the list's, such as us-east-1, eu-west-1");
  // Of a cloud whose names tell nothing: by the name alone.
  const auto google = PriceList::parse(
      "InstanceType,vCPUs,MemoryGiB,Price,SpotPrice,Region\nn2-standard-2,2,8,0.0971,,x\n"
      ",,,2.9,1,x\n",
      "gcp.csv");
  ASSERT_TRUE(google) << to_text(google.error());
  EXPECT_EQ(google->per_hour("gcp", "n2-standard-2"), 0.0971);
  EXPECT_EQ(google->prices().size(), 1u);
}

TEST(PriceList, ReadsAwssJson) {
  const auto offer = PriceList::parse(seed("aws_offer.json"), "index.json");
  ASSERT_TRUE(offer) << to_text(offer.error());
  EXPECT_EQ(offer->prices().size(), 2u);
  EXPECT_EQ(offer->per_hour("aws", "m7i.large"), 0.1124);
  EXPECT_EQ(offer->memory_gib("aws", "u-6tb1.metal"), 6144);
  EXPECT_EQ(offer->prices()[0].where, "index.json: AAAA");
  EXPECT_EQ(offer->source_in_words(), "index.json (AWS's offer file, region eu-west-1), of 2026-11-01");
  EXPECT_EQ(PriceList::parse(seed("aws_offer.json"), "index.json", {.region = "EU (Ireland)"})->regions(), "eu-west-1");
  const auto products = PriceList::parse(seed("aws_get_products.json"), "p.json");
  ASSERT_TRUE(products) << to_text(products.error());
  EXPECT_EQ(products->prices().size(), 2u);
  EXPECT_EQ(products->per_hour("aws", "c7i.large"), 0.0893);
  EXPECT_EQ(products->date(), "2026-10-02");
  const auto spot = PriceList::parse(seed("aws_spot.json"), "s.json", {.spot = true});
  ASSERT_TRUE(spot) << to_text(spot.error());
  EXPECT_EQ(spot->per_hour("aws", "m7i.large"), 0.0401);
  EXPECT_EQ(spot->regions(), "eu-west-1");
  EXPECT_THAT(PriceList::parse(seed("aws_spot.json"), "s.json").error().message, testing::HasSubstr("--spot"));
}

TEST(PriceList, ReadsAzuresJson) {
  const auto list = PriceList::parse(seed("azure_pages.json"), "a.json");
  ASSERT_TRUE(list) << to_text(list.error());
  EXPECT_EQ(list->per_hour("azure", "Standard_D2s_v5"), 0.096);
  EXPECT_EQ(list->per_hour("azure", "Standard_B2ms"), 0.0832);
  EXPECT_EQ(list->prices().size(), 2u);
  EXPECT_EQ(PriceList::parse(seed("azure_pages.json"), "a.json", {.spot = true})->per_hour("azure", "Standard_D2s_v5"),
            0.02);
  EXPECT_EQ(PriceList::parse(seed("azure_pages.json"), "a.json", {.region = "westeurope"})
                ->per_hour("azure", "Standard_D2s_v5"),
            0.115);
}

TEST(PriceList, OtherJsonIsNoPriceList) {
  const auto code = [](const std::string& json) { return PriceList::parse(json, "x.json").error().code; };
  EXPECT_EQ(code("{}"), "bad-price");
  EXPECT_EQ(code("[1, 2]"), "bad-price");
  EXPECT_EQ(code("{\"Items\": []}"), "bad-price");
  EXPECT_EQ(code("{\"Items\": ["), "bad-json");
  EXPECT_EQ(code(seed("aws_offer.json").substr(0, 900)), "bad-json");
}

TEST(UnmatchedPrices, NearNamesAreShown) {
  const std::vector<std::string> known = {"aws m7i.large", "aws m7i.xlarge", "gcp n2-standard-2"};
  EXPECT_EQ(unmatched_prices_in_words({{"aws", "m8g.large", 1, "p.csv:2"}}, 3, "known instance type", {}),
            "1 of 3 prices matches no known instance type: aws m8g.large (p.csv:2; its CPU is AWS Graviton4, and "
            "nobody measured this type)");
  EXPECT_EQ(unmatched_prices_in_words({{"aws", "m7i.lrge", 1, "p.csv:2"}}, 3, "known instance type", known),
            "1 of 3 prices matches no known instance type: aws m7i.lrge (p.csv:2; near: aws m7i.large, aws "
            "m7i.xlarge, ...)");
}

}  // namespace
}  // namespace perfcast::program
