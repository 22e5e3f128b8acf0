#include "machine/facts/identifier.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(Identifier, KeepsLettersDigitsAndWhatIsAskedFor) {
  EXPECT_EQ(identifier("AMD EPYC 7763 64-Core", "", '-'), "amd-epyc-7763-64-core");
  EXPECT_EQ(identifier("L1 misses_2", "_", '_'), "l1_misses_2");
  EXPECT_EQ(identifier("  a -- b!", "", '-'), "a-b-");
  EXPECT_EQ(identifier("!?", "", '-'), "");
  EXPECT_EQ(identifier("", "", '-'), "");
}

TEST(Identifier, LettersOfAnyScriptStay) {
  EXPECT_EQ(identifier("Gr\u00f6\u00dfe 1", "", '-'), "gr\u00f6\u00dfe-1");
  EXPECT_EQ(identifier("\u65e5\u672c", "", '-'), "\u65e5\u672c");
  EXPECT_EQ(identifier("\u041c\u0430\u0448\u0438\u043d\u0430", "", '-'), "\u041c\u0430\u0448\u0438\u043d\u0430");
}

TEST(Identifier, SignsAndWhatIsNoTextDoNot) {
  EXPECT_EQ(identifier("Intel\u00ae Xeon\u2122 2\u00d74", "", '-'), "intel-xeon-2-4");
  EXPECT_EQ(identifier("a\u3000b\U0001f600c", "", '-'), "a-b-c");
  EXPECT_EQ(identifier("a\xff"
                       "b\xc3",
                       "", '-'),
            "a-b-");
  EXPECT_EQ(identifier("\xc0\xafz", "", '-'), "z");             // overlong
  EXPECT_EQ(identifier("a\xed\xa0\x80z", "", '-'), "a-z");      // half a surrogate
  EXPECT_EQ(identifier("a\xf4\x90\x80\x80z", "", '-'), "a-z");  // beyond Unicode
}

}  // namespace
}  // namespace perfcast
