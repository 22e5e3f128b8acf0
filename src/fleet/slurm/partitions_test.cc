#include "fleet/slurm/partitions.h"

#include <gmock/gmock.h>

namespace perfcast::fleet {
namespace {

using testing::HasSubstr;

std::string partitions_error(const std::string& rows) {
  const auto read = parse_partitions(R"({"schema":"perfcast.partitions/1","partitions":[)" + rows + "]}", "p.json");
  return read ? "" : read.error().code + ": " + read.error().message + " " + read.error().where;
}

TEST(PartitionsTest, ReadsWhatIsStated) {
  const auto read = parse_partitions(
      R"({"schema":"perfcast.partitions/1","partitions":[
          {"name":"epyc","platform":"AMD EPYC 7763","price_per_hour":1.5,"cores":64},
          {"name":"graviton","platform":"Neoverse-N1"}]})",
      "p.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].platform, "AMD EPYC 7763");
  EXPECT_EQ((*read)[0].price_per_hour, 1.5);
  EXPECT_EQ((*read)[0].cores, 64);
  EXPECT_FALSE((*read)[1].price_per_hour || (*read)[1].cores);
}

TEST(PartitionsTest, RefusesWhatSlurmOrArithmeticCantHave) {
  EXPECT_THAT(partitions_error(""), HasSubstr("0 partitions"));
  EXPECT_THAT(partitions_error(R"({"name":"a,b","platform":"x"})"), HasSubstr("'a,b' is no name"));
  EXPECT_THAT(partitions_error(R"({"name":"a","platform":" "})"), HasSubstr("empty platform"));
  EXPECT_THAT(partitions_error(R"({"name":"a","platform":"x"},{"name":"a","platform":"y"})"), HasSubstr("twice"));
  EXPECT_THAT(partitions_error(R"({"name":"a","platform":"x","price_per_hour":0})"), HasSubstr("bad-json-field"));
  EXPECT_THAT(partitions_error(R"({"name":"a","platform":"x","cores":1.5})"), HasSubstr("bad-json-field"));
  EXPECT_THAT(partitions_error(R"({"name":"a"})"), HasSubstr("platform"));
  const auto mistyped = parse_partitions(
      R"({"schema":"perfcast.partitions/1","partitions":[{"name":"a","platform":"x","price":3}]})", "p.json");
  ASSERT_FALSE(mistyped.ok());
  EXPECT_THAT(to_text(mistyped.error()), HasSubstr("partitions[0].price"));
  EXPECT_THAT(to_text(mistyped.error()), HasSubstr("one of price_per_hour"));
  EXPECT_FALSE(parse_partitions(R"({"schema":"perfcast.partitions/2","partitions":[]})", "p.json").ok());
  EXPECT_FALSE(parse_partitions("[]", "p.json").ok());
}

TEST(PartitionsTest, PlainNames) {
  EXPECT_TRUE(is_plain_name("gzip-9_v1.2+x"));
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a\tb"), std::string("-a"),
                                 std::string("a=b"), std::string("a/b"), std::string(129, 'a')}) {
    EXPECT_FALSE(is_plain_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace perfcast::fleet
