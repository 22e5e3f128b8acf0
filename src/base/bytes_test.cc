#include "base/bytes.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

std::string small_file() {
  ByteWriter out("PCTESTXX");
  out.put(uint32_t{3});
  out.put(-1.5);
  out.put_text("two\0parts");
  return std::move(out).finish();
}

TEST(Bytes, ReadsWhatItWrote) {
  const std::string bytes = small_file();
  const ByteFrame frame = open_frame(bytes, "PCTESTXX", 3);
  ASSERT_EQ(frame.state, ByteFrame::State::kGood);
  ByteReader in(frame.body);
  double number = 0;
  std::string text;
  EXPECT_TRUE(in.get(number));
  EXPECT_TRUE(in.get_text(text));
  EXPECT_EQ(number, -1.5);
  EXPECT_EQ(text, "two");
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(in.get(number));
  EXPECT_FALSE(in.at_end());
}

TEST(Bytes, ChecksumIsThatOfZlib) { EXPECT_EQ(crc32_of("123456789"), 0xCBF43926u); }

TEST(Bytes, EveryCutAndEveryFlippedBitIsNoticed) {
  const std::string bytes = small_file();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(open_frame(std::string_view(bytes).substr(0, size), "PCTESTXX", 3).state, ByteFrame::State::kGood);
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string other = bytes;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(open_frame(other, "PCTESTXX", 3).state, ByteFrame::State::kGood) << "bit " << bit;
  }
  EXPECT_EQ(open_frame(bytes, "PCTESTXX", 4).state, ByteFrame::State::kOtherVersion);
  EXPECT_EQ(open_frame(bytes, "PCOTHERX", 3).state, ByteFrame::State::kOtherMagic);
}

TEST(Bytes, ALengthBeyondTheEndIsRefusedForGood) {
  ByteWriter out;
  out.put(uint64_t{1} << 63);
  out.put(1.0);
  ByteReader in(out.bytes());
  std::string text = "kept";
  EXPECT_FALSE(in.get_text(text));
  EXPECT_EQ(text, "kept");
  double number = 0;
  EXPECT_FALSE(in.get(number));
}

}  // namespace
}  // namespace perfcast
