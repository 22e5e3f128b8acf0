#include "ai/transformer/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ai/transformer/testing/safetensors_writer.h"

namespace perfcast::ai {
namespace {

TEST(SafeTensors, TensorsLieWhereTheHeaderSays) {
  const std::string file = tensors_text({{"a", "F32", {2, 1}, std::string(8, 'x')}, {"b", "BF16", {}, "yz"}});
  const auto parsed = parse_safetensors(file, file.size(), "f");
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  ASSERT_EQ(parsed->tensors.size(), 2u);
  const SafeTensor& a = parsed->tensors.find("a")->second;
  EXPECT_EQ(a.type, SafeTensorType::kF32);
  EXPECT_EQ(a.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(file.substr(a.begin, a.end - a.begin), "xxxxxxxx");
  EXPECT_EQ(parsed->tensors.find("b")->second.end, file.size());
}

std::string refused(const std::string& file, uint64_t size) {
  const auto parsed = parse_safetensors(file, size, "f");
  return parsed ? "accepted" : parsed.error().code + ": " + parsed.error().message;
}
std::string refused(const std::string& header, const std::string& data) {
  const std::string file = framed_tensors(header, data);
  return refused(file, file.size());
}

TEST(SafeTensors, WhatIsWrongIsNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(refused(std::string("abc"), 3), HasSubstr("too short"));
  EXPECT_THAT(refused(std::string(8, '\xff'), 8), HasSubstr("header would take"));
  const std::string whole = tensors_text({{"a", "F32", {1}, "wxyz"}});
  EXPECT_THAT(refused(whole.substr(0, 20), whole.size()), HasSubstr("safetensors-truncated"));
  EXPECT_THAT(refused(whole, whole.size() + 1), HasSubstr("bytes behind the last"));
  EXPECT_THAT(refused("[]", ""), HasSubstr("no list of tensors"));
  EXPECT_THAT(refused("{\"a\":1}", ""), HasSubstr("'a' is no object"));
  EXPECT_THAT(refused("{\"a\":{}}", ""), HasSubstr("lacks dtype"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", "wxyz"),
              HasSubstr("unknown type 'F31'"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "wxyz"), HasSubstr("a shape"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", "wxyz"),
              HasSubstr("too large"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "wxyz"), HasSubstr("other bytes"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "wxyz"), HasSubstr("outside"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "wxyz"), HasSubstr("outside"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                          "b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                      "wxyz"),
              HasSubstr("overlap"));
  EXPECT_THAT(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})", "vwxyz"), HasSubstr("gap"));
}

TEST(SafeTensors, HalvesAreTheirNumbers) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0f);
  EXPECT_EQ(half_to_float(0xC001), -2.0f - 0x1.0p-9f);
  EXPECT_EQ(half_to_float(0x0001), 0x1.0p-24f);
  EXPECT_EQ(half_to_float(0x83FF), -1023 * 0x1.0p-24f);
  EXPECT_EQ(half_to_float(0x7BFF), 65504.0f);
  EXPECT_TRUE(std::isinf(half_to_float(0xFC00)));
  EXPECT_TRUE(std::isnan(half_to_float(0x7E00)));
  EXPECT_EQ(bf16_to_float(0xC040), -3.0f);
}

}  // namespace
}  // namespace perfcast::ai
