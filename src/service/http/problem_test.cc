#include "service/http/problem.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::service {
namespace {

TEST(Problem, SaysWhatWhereAndWhatIsAllowed) {
  const Error error = usage_error("bad-usage", "no device holds it (--weight-precision)", "--tensor-parallel",
                                  "--tensor-parallel 4: a-b -- stays");
  const auto json = parse_json(problem_document(error, 422, "r-1"), "problem");
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, (Json{{"type", "about:blank"},
                         {"title", "Unprocessable Content"},
                         {"status", 422},
                         {"detail", "no device holds it (weight_precision)"},
                         {"where", "tensor_parallel"},
                         {"allowed", "tensor_parallel 4: a-b -- stays"},
                         {"code", "bad-usage"},
                         {"instance", "urn:request:r-1"}}));
}

TEST(Problem, HasAStatusThatTellsWhoseFaultItIs) {
  EXPECT_EQ(status_of({"bad-json", "", "", ""}), 400);
  EXPECT_EQ(status_of(usage_error("bad-json-field", "", "", "")), 422);
  EXPECT_EQ(status_of({"unknown-platform", "", "", ""}), 422);
  EXPECT_EQ(status_of(infeasible_error("no-memory", "", "", "")), 422);
  EXPECT_EQ(status_of(interrupted_error("")), 409);
  EXPECT_EQ(status_of(environment_error("no-room", "", "", "")), 503);
  EXPECT_EQ(status_of(usage_error("unknown-path", "", "", "")), 404);
  EXPECT_EQ(status_of(usage_error("no-token", "", "", "")), 401);
  EXPECT_EQ(status_of(usage_error("too-many-requests", "", "", "")), 429);
}

}  // namespace
}  // namespace perfcast::service
