#include "cli/output_width.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace perfcast::cli {
namespace {

TEST(OutputWidth, BreaksLinesBelowTheirText) {
  const std::string text =
      "1. copying: a title that is longer than thirty columns\n"
      "   gain      about 50% of the time, by samples\n"
      "   evidence  /a/path/without/any/space/that/is/longer\n"
      "short\n";
  EXPECT_EQ(fitted(text, 30),
            "1. copying: a title that is\n"
            "  longer than thirty columns\n"
            "   gain      about 50% of the\n"
            "             time, by samples\n"
            "   evidence  /a/path/without/a\n"
            "             ny/space/that/is/\n"
            "             longer\n"
            "short\n");
  for (const std::string& line : split(fitted(text, 30), '\n')) EXPECT_LE(line.size(), 30U) << line;
  EXPECT_EQ(fitted(text, 0), text);
}

}  // namespace
}  // namespace perfcast::cli
