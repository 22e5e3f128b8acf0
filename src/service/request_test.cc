#include "service/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::service {
namespace {

using testing::HasSubstr;

const std::vector<Field>& table() {
  static const std::vector<Field> fields = {
      {.name = "model", .meaning = "A model.", .is_required = true},
      {.name = "batch", .kind = FieldKind::kIntegers, .meaning = "Sizes.", .least = 1, .most = 8, .most_items = 3},
      {.name = "rate", .kind = FieldKind::kNumber, .meaning = "A rate.", .unit = "1/s", .least = 0},
      {.name = "phase", .meaning = "A step.", .choices = {"prefill", "decode"}},
      {.name = "price", .kind = FieldKind::kAmounts, .meaning = "Prices.", .unit = "USD/h", .least = 0.5},
      {.name = "hosts", .kind = FieldKind::kNames, .meaning = "Hosts."},
      {.name = "eager", .kind = FieldKind::kYes, .meaning = "Whether."},
      {.name = "profile", .kind = FieldKind::kDocument, .meaning = "A profile.", .schema = "perfcast.profile/1"},
      {.name = "profiles", .kind = FieldKind::kDocuments, .meaning = "Profiles.", .schema = "perfcast.profile/1"}};
  return fields;
}

std::string mistakes_of(const std::string& text) {
  const auto json = parse_json(text, "test");
  EXPECT_TRUE(json) << text;
  const auto request = Request::read(*json, table());
  EXPECT_FALSE(request) << text;
  if (request) return "";
  EXPECT_EQ(request.error().code, "bad-json-field");
  EXPECT_EQ(request.error().kind, ErrorKind::kUsage);
  return request.error().message;
}

TEST(Request, HasWhatTheTableAllows) {
  const auto request = Request::read(*parse_json(R"({"model": "m", "batch": [1, 8], "rate": 2.5, "phase": "decode",
      "price": {"a": 1, "b": 0.5}, "hosts": {"a": "c"}, "eager": true, "profile": {"x": 1}, "profiles": [{}, {}]})",
                                                 "test"),
                                     table());
  ASSERT_TRUE(request) << to_text(request.error());
  EXPECT_EQ(request->text("model"), "m");
  EXPECT_EQ(request->integers("batch"), (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(request->number("rate"), 2.5);
  EXPECT_EQ(request->text("phase", "prefill"), "decode");
  EXPECT_EQ(request->amounts("price"), (std::vector<std::pair<std::string, double>>{{"a", 1}, {"b", 0.5}}));
  EXPECT_EQ(request->names("hosts"), (std::vector<std::pair<std::string, std::string>>{{"a", "c"}}));
  EXPECT_TRUE(request->yes("eager"));
  EXPECT_EQ((*request->document("profile"))["x"], 1);
  EXPECT_EQ(request->document("profiles")->size(), 2U);
}

TEST(Request, LeavesOutWhatIsNullOrAbsent) {
  const auto request = Request::read(*parse_json(R"({"model": "m", "rate": null})", "test"), table());
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->has("rate"));
  EXPECT_FALSE(request->number("rate"));
  EXPECT_EQ(request->text("phase", "prefill"), "prefill");
  EXPECT_EQ(request->document("profile"), nullptr);
  EXPECT_TRUE(request->integers("batch").empty());
  EXPECT_FALSE(request->yes("eager"));
}

TEST(Request, TellsEveryMistakeWithItsPlace) {
  const std::string mistakes = mistakes_of(R"({"btach": 1, "batch": [1, 2.5, 9], "rate": -1, "phase": "train",
      "price": {"a": 0.1}, "hosts": {"a": 1}, "eager": "yes", "profile": [], "profiles": [1]})");
  EXPECT_THAT(mistakes, HasSubstr("request.model: found nothing"));
  EXPECT_THAT(mistakes, HasSubstr("request.btach: found an unknown key, expected one of batch"));
  EXPECT_THAT(mistakes, HasSubstr("request.batch[1]: found 2.5, expected a whole number from 1 to 8"));
  EXPECT_THAT(mistakes, HasSubstr("request.batch[2]: found 9"));
  EXPECT_THAT(mistakes, HasSubstr("request.rate: found -1, expected a number of at least 0"));
  EXPECT_THAT(mistakes, HasSubstr("request.phase: found 'train', expected one of prefill, decode"));
  EXPECT_THAT(mistakes, HasSubstr("request.price.a: found 0.1, expected a number of at least 0.5"));
  EXPECT_THAT(mistakes, HasSubstr("request.hosts.a: found 1, expected a text"));
  EXPECT_THAT(mistakes, HasSubstr("request.eager: found 'yes', expected true or false"));
  EXPECT_THAT(mistakes, HasSubstr("request.profile: found an array, expected an object"));
  EXPECT_THAT(mistakes, HasSubstr("request.profiles[0]: found 1, expected an object"));
}

TEST(Request, HasLimitsOnEverything) {
  EXPECT_THAT(mistakes_of(R"({"model": "m", "batch": [1, 1, 1, 1]})"), HasSubstr("4 entries, expected at most 3"));
  EXPECT_THAT(mistakes_of(R"({"model": "m", "rate": 1e301})"), HasSubstr("request.rate: found 1e+301"));
  EXPECT_THAT(mistakes_of(R"({"model": "m", "batch": [18446744073709551615]})"), HasSubstr("request.batch[0]"));
  const auto array = Request::read(Json::array(), table());
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().expected, "a JSON object");
}

TEST(Request, SchemaHasTheTypesUnitsAndRangesOfTheTable) {
  const Json schema = json_schema(table());
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json::array({"model"}));
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties.size(), table().size());
  EXPECT_EQ(properties["batch"]["type"], "array");
  EXPECT_EQ(properties["batch"]["maxItems"], 3);
  EXPECT_EQ(properties["batch"]["items"]["type"], "integer");
  EXPECT_EQ(properties["batch"]["items"]["maximum"], 8);
  EXPECT_EQ(properties["rate"]["description"], "A rate. Unit: 1/s.");
  EXPECT_EQ(properties["phase"]["enum"], Json::array({"prefill", "decode"}));
  EXPECT_EQ(properties["price"]["additionalProperties"]["minimum"], 0.5);
  EXPECT_EQ(properties["profile"]["description"], "A profile. Schema: perfcast.profile/1.");
}

}  // namespace
}  // namespace perfcast::service
