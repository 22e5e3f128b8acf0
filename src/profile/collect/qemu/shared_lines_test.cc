#include "profile/collect/qemu/shared_lines.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

const std::string kFirstUser = "user 1 writes 100 reads 7 atomic 90 written ff read ff code 1a2b /home/a b/prog\n";
const std::string kSecondUser = "user 2 writes 50 reads 0 atomic 0 written ff00 read 0 code 0 -\n";
const std::string kSharingHead = "perfcast-sharing 1\naccesses 5000\ndropped 3\n";

TEST(SharedLines, AreReadAsThePluginWritesThem) {
  const auto lines = parse_shared_lines(
      kSharingHead + "line 7f00001240 transfers 140 of_data 13\n" + kFirstUser + kSecondUser + "end 1\n", "sharing");
  ASSERT_TRUE(lines) << to_text(lines.error());
  EXPECT_EQ(lines->accesses_count, 5000);
  EXPECT_EQ(lines->dropped_count, 3);
  ASSERT_EQ(lines->lines.size(), 1U);
  const SharedCacheLine& line = lines->lines[0];
  EXPECT_EQ(line.address, 0x7f00001240U);
  EXPECT_EQ(line.transfers_count, 140);
  ASSERT_EQ(line.users.size(), 2U);
  EXPECT_EQ(line.users[0].thread, 1);
  EXPECT_EQ(line.users[0].written, 0xffU);
  EXPECT_EQ(line.users[0].file, "/home/a b/prog");
  EXPECT_EQ(line.users[0].file_offset_bytes, 0x1a2bU);
  EXPECT_EQ(line.users[1].file, "");
  EXPECT_EQ(line.writes_count(), 150);
  EXPECT_EQ(line.atomic_count(), 90);
  EXPECT_EQ(line.accesses_count(), 157);
  EXPECT_EQ(line.contended_count(), 50);
  EXPECT_TRUE(line.is_false_sharing());
}

TEST(SharedLines, AreTrulySharedWhereDataTravels) {
  SharedCacheLine line;
  line.transfers_count = 1000;
  line.of_data_count = 99;
  EXPECT_TRUE(line.is_false_sharing());
  line.of_data_count = 500;
  EXPECT_FALSE(line.is_false_sharing());
}

TEST(SharedLines, OfSeveralProcessesAreJoined) {
  const auto one = parse_shared_lines(kSharingHead + "line 40 transfers 100 of_data 0\n" + kFirstUser + kFirstUser +
                                          "line 80 transfers 70 of_data 0\nend 1\n",
                                      "a");
  const auto other =
      parse_shared_lines(kSharingHead + "line c0 transfers 90 of_data 0\n" + kFirstUser + kSecondUser + "end 1\n", "b");
  ASSERT_TRUE(one && other);
  SharedLines all = *one;
  all.add(*other);
  EXPECT_EQ(all.accesses_count, 10000);
  ASSERT_EQ(all.lines.size(), 3U);
  EXPECT_EQ(all.lines[1].address, 0xc0U);
}

TEST(SharedLines, AreRefusedWhereTheyAreWrong) {
  const auto error_of = [](const std::string& text) {
    const auto lines = parse_shared_lines(text, "sharing");
    return lines ? std::string() : lines.error().code + " " + lines.error().where;
  };
  EXPECT_EQ(error_of(""), "bad-shared-lines sharing:0");
  EXPECT_EQ(error_of("perfcast-sharing 2\n"), "future-version sharing");
  EXPECT_EQ(error_of("perfcast-sharing one\n"), "bad-shared-lines sharing:1");
  EXPECT_EQ(error_of("perfcast-sharing 1\naccesses 5\n"), "bad-shared-lines sharing:2");
  EXPECT_EQ(error_of("perfcast-sharing 1\naccesses -5\n"), "bad-shared-lines sharing:2");
  EXPECT_EQ(error_of(kSharingHead), "bad-shared-lines sharing:3");
  EXPECT_EQ(error_of(kSharingHead + "end 1"), "bad-shared-lines sharing:3");
  EXPECT_EQ(error_of(kSharingHead + "end 1\nmore\n"), "bad-shared-lines sharing:4");
  EXPECT_EQ(error_of(kSharingHead + kFirstUser + "end 1\n"), "bad-shared-lines sharing:4");
  EXPECT_EQ(error_of(kSharingHead + "line xyz transfers 1 of_data 0\nend 1\n"), "bad-shared-lines sharing:4");
  EXPECT_EQ(
      error_of(kSharingHead +
               "line 40 transfers 1 of_data 0\nuser 0 writes 1 reads 1 atomic 0 written 1 read 1 code 0 -\nend 1\n"),
      "bad-shared-lines sharing:5");
  EXPECT_EQ(
      error_of(kSharingHead +
               "line 40 transfers 1 of_data 0\nuser 1 writes 1 reads 1 atomic 0 written 1 read 1 code 0 rel\nend 1\n"),
      "bad-shared-lines sharing:5");
  EXPECT_EQ(error_of(kSharingHead + "line 40 transfers 1 of_data 0\n" + kFirstUser + kFirstUser + kFirstUser +
                     kFirstUser + kFirstUser + "end 1\n"),
            "bad-shared-lines sharing:9");
  EXPECT_EQ(error_of(kSharingHead + "line 40 transfers 1 of_data 2\nend 1\n"), "bad-shared-lines sharing:4");
}

}  // namespace
}  // namespace perfcast
