#include "base/number_style.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

#include "base/csv.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

Result<NumberStyle> style_of(const std::vector<std::string>& texts, ThreeDigits three = ThreeDigits::kAmbiguous) {
  NumberEvidence evidence(three);
  for (const std::string& text : texts) evidence.see(text);
  return evidence.decide("f.csv");
}
std::string described(const std::vector<std::string>& texts, ThreeDigits three = ThreeDigits::kAmbiguous) {
  const auto style = style_of(texts, three);
  return style ? describe(*style) : style.error().code;
}

TEST(NumberStyleTest, OneNumberThatLeavesNoChoiceDecidesForAll) {
  EXPECT_EQ(described({"1", "20"}), "decimal points");
  EXPECT_EQ(described({"1.234"}), "decimal points");
  EXPECT_EQ(described({"1,234.5"}), "decimal points, commas between thousands");
  EXPECT_EQ(described({"1.234,5"}), "decimal commas, points between thousands");
  EXPECT_EQ(described({"1 234,5"}), "decimal commas, blanks between thousands");
  EXPECT_EQ(described({"1\u202f234,5"}), "decimal commas, blanks between thousands");
  EXPECT_EQ(described({"1'234.5"}), "decimal points, apostrophes between thousands");
  EXPECT_EQ(described({"1\u2019234.5"}), "decimal points, apostrophes between thousands");
  EXPECT_EQ(described({"12,34,567"}), "decimal points, commas between thousands");
  EXPECT_EQ(described({"1,234", "0,5"}), "decimal commas");
  EXPECT_EQ(described({"1,234", "0.5"}), "decimal points, commas between thousands");
  EXPECT_EQ(described({"1.234", "0,5"}), "decimal commas, points between thousands");
  EXPECT_EQ(described({"1,234e-3"}), "decimal commas");
  EXPECT_EQ(described({"1,234", "1,234,567"}), "decimal points, commas between thousands");
  EXPECT_EQ(described({"text, more", "1.2.3", "10.0.0.1"}), "decimal points");
  EXPECT_EQ(described({"1,234"}), "ambiguous-numbers");
  EXPECT_EQ(described({"1,234"}, ThreeDigits::kGrouped), "decimal points, commas between thousands");
  EXPECT_EQ(described({"1.234"}, ThreeDigits::kGrouped), "decimal points");
  EXPECT_EQ(described({"1,234", "0,5"}, ThreeDigits::kGrouped), "decimal commas");
  EXPECT_EQ(described({"0,5", "0.5"}), "mixed-numbers");
  EXPECT_EQ(described({"1,234.5", "1 234"}), "mixed-numbers");
}

TEST(NumberStyleTest, ReadsNumbersOfItsStyleAlone) {
  const NumberStyle german{',', '.'}, swiss{'.', '\''}, french{',', ' '}, english{'.', ','};
  EXPECT_EQ(parse_number("1.234.567,25", german), 1234567.25);
  EXPECT_EQ(parse_number("-1,5e3", german), -1500);
  EXPECT_EQ(parse_number("\u22121.000", german), -1000);
  EXPECT_EQ(parse_number("12,34,567.5", english), 1234567.5);
  EXPECT_EQ(parse_number("1'000", swiss), 1000);
  EXPECT_EQ(parse_number("1\u00a0234,5", french), 1234.5);
  EXPECT_EQ(parse_number("1\xA0"
                         "234,5",
                         french),
            1234.5);
  EXPECT_EQ(parse_number("7", french), 7);
  EXPECT_EQ(plain_number("+1 234,50", french), "1234.50");
  for (const char* other :
       {"", "-", ",", "1,2,3", "1.23,4", "12.34", "1.234.56,0", "1e", "1 234", "0x10", "nan", "1,5%"}) {
    EXPECT_EQ(parse_number(other, german), std::nullopt) << other;
  }
}

// Whatever style a file is written in, its numbers are read as they were.
TEST(NumberStyleTest, ReadsTablesOfEveryStyleAlike) {
  std::mt19937 random(1);
  for (const NumberStyle style :
       {NumberStyle{'.', 0}, NumberStyle{',', 0}, NumberStyle{'.', ','}, NumberStyle{',', '.'}, NumberStyle{',', ' '},
        NumberStyle{'.', '\''}, NumberStyle{'.', ' '}}) {
    for (const char separator : {',', ';', '\t', '|'}) {
      for (const char* end : {"\n", "\r\n"}) {
        std::string text = std::string(random() % 2 == 0 ? "\xEF\xBB\xBF" : "") + "name" + separator + "time_s" +
                           separator + "count" + end;
        std::vector<double> times;
        for (int row = 0; row < 30; ++row) {
          const auto whole = std::to_string(random() % (row % 2 == 0 ? 1000 : 100000000));
          std::string grouped;
          for (size_t i = 0; i < whole.size(); ++i) {
            if (style.grouping != 0 && i > 0 && (whole.size() - i) % 3 == 0) grouped += style.grouping;
            grouped += whole[i];
          }
          const std::string cents = std::to_string(random() % 90 + 10);
          times.push_back(std::stod(whole + "." + cents));
          text += "case " + std::to_string(row) + separator + "\"" + grouped + style.decimal + cents + "\"" +
                  separator + std::to_string(row) + end;
        }
        const auto table = CsvTable::parse_any_form(text, "t.csv");
        ASSERT_TRUE(table.ok()) << to_text(table.error()) << text;
        ASSERT_EQ(table->rows(), times.size());
        for (size_t row = 0; row < times.size(); ++row) {
          EXPECT_EQ(parse_number(table->cell(row, 1)), times[row]) << text;
          EXPECT_EQ(parse_number(table->cell(row, 2)), static_cast<double>(row));
        }
        EXPECT_EQ(table->form().empty(), separator == ',' && style.is_plain()) << table->form();
      }
    }
  }
}

TEST(NumberStyleTest, ATableSaysWhatItDecidedAndLeavesTextAlone) {
  const auto table = CsvTable::parse_any_form("cpus;address;time\n0,1;10.100.100.100;1,5\n2;host;2.000,25\n", "t.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->form(), "columns separated by semicolons; decimal commas, points between thousands");
  EXPECT_EQ(table->cell(1, 2), "2000.25");
  EXPECT_EQ(table->cell(1, 1), "host");
  const auto mixed = CsvTable::parse_any_form("a,b\n\"1,5\",2.5\n", "t.csv");
  EXPECT_EQ(**mixed->number(0, 1), 2.5);
  EXPECT_THAT(mixed->number(0, 0).error().message, HasSubstr("'1,5' has a decimal comma, '2.5' a decimal point"));
  const auto unclear = CsvTable::parse_any_form("a,b\n\"1,500\",2\n", "t.csv");
  EXPECT_THAT(unclear->number(0, 0).error().message, HasSubstr("may have a decimal comma or thousands"));
}

}  // namespace
}  // namespace perfcast
