#include "service/http/openapi.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/json.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

TEST(OpenApi, HasAPathForEachOperationAndNoOthers) {
  const Json document = openapi_document("1.2.3");
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_EQ(document["info"]["version"], "1.2.3");
  size_t operations_count = 0;
  for (const Operation& operation : operations()) {
    const Json& post = document["paths"]["/v1/" + operation.name]["post"];
    EXPECT_EQ(post["summary"], operation.summary);
    EXPECT_EQ(post["responses"].contains("202"), operation.is_long) << operation.name;
    ++operations_count;
  }
  EXPECT_EQ(document["paths"].size(), operations_count + 8);
}

TEST(OpenApi, EveryReferenceIsThereAndEveryIdIsUnique) {
  const Json document = openapi_document("1");
  std::set<std::string> ids;
  const std::function<void(const Json&)> walk = [&](const Json& json) {
    if (json.is_object() && json.contains("$ref")) {
      const std::string reference = json["$ref"];
      const std::string prefix = "#/components/schemas/";
      ASSERT_TRUE(reference.starts_with(prefix));
      EXPECT_TRUE(document["components"]["schemas"].contains(reference.substr(prefix.size()))) << reference;
    }
    if (json.is_object() && json.contains("operationId")) {
      EXPECT_TRUE(ids.insert(json["operationId"]).second) << json["operationId"];
    }
    if (json.is_structured()) {
      for (const Json& element : json) walk(element);
    }
  };
  walk(document);
  EXPECT_EQ(ids.size(), operations().size() + 9);
}

TEST(OpenApi, RequestsHaveTheFieldsThatAreChecked) {
  const Json document = openapi_document("1");
  const Json& schemas = document["components"]["schemas"];
  for (const Operation& operation : operations()) {
    std::string name = operation.name + "_request";
    for (char& c : name) c = c == '/' || c == '-' ? '_' : c;
    ASSERT_TRUE(schemas.contains(name)) << name;
    EXPECT_EQ(schemas[name]["properties"], json_schema(operation.fields)["properties"]);
  }
}

}  // namespace
}  // namespace perfcast::service
