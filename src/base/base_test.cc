#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Statistics, RobustDeviationIgnoresOneOutlier) { EXPECT_NEAR(robust_deviation({1, 2, 3, 4, 1000}), 1.4826, 1e-12); }

TEST(Statistics, BinomialIntervalMatchesClopperPearson) {
  const auto [lower, upper] = binomial_interval(9, 10, 0.95);
  EXPECT_NEAR(lower, 0.5549839, 1e-6);
  EXPECT_NEAR(upper, 0.9974714, 1e-6);
  EXPECT_EQ(binomial_interval(0, 5, 0.95).first, 0);
  EXPECT_EQ(binomial_interval(5, 5, 0.95).second, 1);
}

TEST(Statistics, StudentQuantileIsExactFromOneDegreeOfFreedomOn) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.3026527, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 30), 2.0422725, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 5), -2.5705818, 1e-6);
}

TEST(Statistics, KendallTau) {
  const std::vector<double> a = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(kendall_tau(a, std::vector<double>{1, 2, 3, 4}), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(a, std::vector<double>{4, 3, 2, 1}), -1);
  EXPECT_TRUE(std::isnan(kendall_tau(a, std::vector<double>{1, 1, 1, 1})));
}

TEST(Random, SameSeedSameStream) {
  Random a(7);
  Random b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += a.normal();
  EXPECT_NEAR(sum / 10000, 0, 0.05);
}

TEST(Csv, QuotesNewlinesAndLines) {
  const auto table = CsvTable::parse("a,b\r\n1,\"x,\"\"y\"\"\nz\"\n\n2,\n", "t.csv");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->cell(0, 1), "x,\"y\"\nz");
  EXPECT_EQ(table->line(1), 5u);
  EXPECT_EQ(**table->number(0, 0), 1);
  EXPECT_FALSE((*table->number(1, 1)).has_value());
}

TEST(Csv, WritesWhatItReads) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_line({"a", "b,c", ""}), "a,\"b,c\",\n");
  EXPECT_EQ(csv_number(1.0 / 3), "0.333333");
  EXPECT_EQ(csv_number(std::nan("")), "");
}

TEST(Csv, ErrorsNameFileAndLine) {
  EXPECT_EQ(CsvTable::parse("a,b\n1\n", "t.csv").error().where, "t.csv:2");
  EXPECT_EQ(CsvTable::parse("a,b\n1,\"2\n", "t.csv").error().code, "bad-csv");
  EXPECT_EQ(CsvTable::parse("a,a\n", "t.csv").error().message, "the column 'a' is named twice");
  EXPECT_EQ(CsvTable::parse("", "t.csv").error().message, "the file is empty");
  const auto table = CsvTable::parse("speed,b\nnan,2\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->number(0, 0).error().where, "t.csv:2");
  EXPECT_THAT(table->column("sped").error().message, HasSubstr("speed"));
}

TEST(JsonRead, ErrorsNameLineAndColumn) {
  EXPECT_EQ(parse_json("{\n  \"a\": }", "p.json").error().where, "p.json:2:8");
  EXPECT_EQ(parse_json(std::string(100, '['), "p.json").error().code, "bad-json");
}

TEST(JsonRead, LinesUntilOneIsWrong) {
  std::string taken;
  const auto take = [&](const Json& json, const std::string& where) -> Status {
    if (json.is_null()) return Error{"no-null", "null", where, ""};
    taken += json.dump() + "@" + where + " ";
    return {};
  };
  EXPECT_TRUE(for_each_json_line("", "l", take));
  EXPECT_TRUE(for_each_json_line("1\n\n  [2]\r\n\"x\"", "l", take));
  EXPECT_EQ(taken, "1@l:1 [2]@l:3 \"x\"@l:4 ");
  EXPECT_EQ(for_each_json_line("1\nnull\n3", "l", take).error().where, "l:2");
  EXPECT_EQ(for_each_json_line("1\n{\n3", "l", take).error().code, "bad-json");
  EXPECT_EQ(taken, "1@l:1 [2]@l:3 \"x\"@l:4 1@l:1 1@l:1 ");
}

TEST(JsonRead, AllMistakesAtOnce) {
  const auto json = parse_json(R"({"a": 1, "b": "x"})", "p.json");
  ASSERT_TRUE(json);
  JsonReader in(*json, "p.json");
  in.string("a");
  in.number("b");
  in.number("c");
  const std::string message = in.finish().error().message;
  EXPECT_THAT(message, HasSubstr("p.json.a: found number, expected a string"));
  EXPECT_THAT(message, HasSubstr("p.json.b: found string, expected a finite number"));
  EXPECT_THAT(message, HasSubstr("p.json.c: found nothing, expected a number"));
}

TEST(PutKnown, LeavesOutWhatIsNotKnown) {
  Json json = Json::object();
  put_known(json, "a", NAN);
  put_known(json, "b", std::optional<double>());
  put_known(json, "c", 0.5);
  put_known(json, "d", std::optional<int64_t>(3));
  put_known(json, "e", false);
  put_known(json, "f", std::string());
  put_known(json, "g", std::optional<double>(INFINITY));
  put_known(json, "h", std::string("x"));
  EXPECT_EQ(json.dump(), R"({"c":0.5,"d":3,"e":false,"h":"x"})");
}

TEST(Json, KeysThatNobodyAskedForAreRefused) {
  const Json json = {{"name", "a"}, {"nodse", 1}, {"note", ""}, {"prise", 2}};
  JsonReader in(json, "c.json");
  in.string("name");
  in.optional_integer("nodes", 1, 10);
  in.optional_amount("price");
  in.refuse_others({"note"});
  EXPECT_EQ(in.finish().error().message,
            "c.json.nodse: found an unknown key, expected one of nodes, note, name, price; "
            "c.json.prise: found an unknown key, expected one of price, name, note, ...");
}

TEST(Json, OptionalFieldsHaveLimits) {
  const Json json = {{"low", -1},
                     {"huge", UINT64_MAX},
                     {"text", "x"},
                     {"amount", -0.5},
                     {"two", {1, 2}},
                     {"names", {"a", "b"}},
                     {"long", std::string((1 << 20) + 1, 'x')}};
  JsonReader in(json, "p.json");
  EXPECT_EQ(in.optional_integer("absent", 0, 9), std::nullopt);
  EXPECT_EQ(in.optional_boolean("absent"), std::nullopt);
  EXPECT_EQ(in.optional_integer("low", 0, 9), std::nullopt);
  EXPECT_EQ(in.optional_integer("huge", 1, 9), std::nullopt);
  EXPECT_EQ(in.optional_integer("text", 1, 9), std::nullopt);
  EXPECT_EQ(in.optional_amount("amount"), std::nullopt);
  in.each("two", 1, [](const Json&, const std::string&) { FAIL(); });
  std::vector<std::string> paths;
  in.each("two", 2, [&](const Json&, const std::string& path) { paths.push_back(path); });
  EXPECT_EQ(paths, (std::vector<std::string>{"p.json.two[0]", "p.json.two[1]"}));
  EXPECT_EQ(in.strings("names", 1), std::vector<std::string>());
  EXPECT_EQ(in.string("long"), "");
  EXPECT_EQ(in.finish().error().message,
            "p.json.low: found -1, expected an integer from 0 to 9; "
            "p.json.huge: found a huge number, expected an integer of at most 9223372036854775807; "
            "p.json.text: found string, expected an integer; "
            "p.json.amount: found -0.500000, expected a number of at least 0; "
            "p.json.two: found 2 entries, expected at most 1; "
            "p.json.names: found 2 entries, expected at most 1; "
            "p.json.long: found a text of 1048577 bytes, expected at most 1048576");
}

TEST(File, RoundTripAndErrors) {
  const std::string path = testing::TempDir() + "/perfcast_file_test";
  ASSERT_TRUE(write_file_atomically(path, "hello"));
  EXPECT_EQ(*read_file(path), "hello");
  EXPECT_EQ(read_file(path, 3).error().code, "file-too-large");
  EXPECT_EQ(read_file(path + ".none").error().code, "file-not-found");
  EXPECT_EQ(read_file(testing::TempDir()).error().code, "file-error");
  ASSERT_TRUE(write_file_atomically(path, "\x1f\x8b broken"));
  EXPECT_EQ(read_file(path).error().code, "bad-gzip");
  EXPECT_FALSE(write_file_atomically("/nowhere/at/all", "x"));
  EXPECT_TRUE(write_file_atomically("/dev/null", "x"));
  struct stat facts {};
  ASSERT_EQ(stat("/dev/null", &facts), 0);
  EXPECT_TRUE(S_ISCHR(facts.st_mode));
  unlink(path.c_str());
}

// What stood there stays what it was, but for its content.
TEST(File, WritingKeepsLinksModesAndOwners) {
  std::string folder = testing::TempDir() + "perfcast-write-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto mode_of = [](const std::string& path) {
    struct stat facts {};
    return lstat(path.c_str(), &facts) == 0 ? facts.st_mode : 0;
  };
  const std::string file = folder + "/file", link = folder + "/link", second = folder + "/second";
  ASSERT_TRUE(write_file_atomically(file, "a"));
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(mode_of(file) & 07777, 0666 & ~mask);
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(symlink("file", link.c_str()), 0);
  ASSERT_EQ(symlink(link.c_str(), second.c_str()), 0);
  ASSERT_TRUE(write_file_atomically(second, "b"));
  EXPECT_TRUE(S_ISLNK(mode_of(second)));
  EXPECT_TRUE(S_ISLNK(mode_of(link)));
  EXPECT_EQ(*read_file(file), "b");
  EXPECT_EQ(mode_of(file) & 07777, 0600u);
  // A link to what is not there yet.
  ASSERT_EQ(unlink(file.c_str()), 0);
  ASSERT_TRUE(write_file_atomically(link, "c"));
  EXPECT_EQ(*read_file(file), "c");
  EXPECT_TRUE(S_ISLNK(mode_of(link)));
  // Two that name each other are none.
  const std::string one = folder + "/one", other = folder + "/other";
  ASSERT_EQ(symlink(other.c_str(), one.c_str()), 0);
  ASSERT_EQ(symlink(one.c_str(), other.c_str()), 0);
  EXPECT_FALSE(write_file_atomically(one, "d"));
  // As long a name as there may be; nothing else is left in the folder.
  const std::string longest = folder + "/" + std::string(255, 'x');
  EXPECT_TRUE(write_file_atomically(longest, "e"));
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  EXPECT_EQ(entries, 6u);
  std::filesystem::remove_all(folder);
}

TEST(File, WhatIsPrivateIsItsOwnersAlone) {
  std::string folder = testing::TempDir() + "perfcast-private-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto mode_of = [](const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  };
  ASSERT_TRUE(create_private_folders(folder + "/a/b"));
  ASSERT_TRUE(create_private_folders(folder + "/a/b"));  // that is there
  EXPECT_EQ(mode_of(folder + "/a"), 0700u);
  EXPECT_EQ(mode_of(folder + "/a/b"), 0700u);
  const std::string file = folder + "/a/b/profile.json";
  ASSERT_TRUE(write_file_atomically(file, "x", NewFile::kPrivate));
  EXPECT_EQ(mode_of(file), 0600u);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_TRUE(write_file_atomically(file, "y", NewFile::kPrivate));
  EXPECT_EQ(mode_of(file), 0644u);  // its owner meant it
  EXPECT_FALSE(create_private_folders(file + "/c"));
  std::filesystem::remove_all(folder);
}

TEST(File, AHomeThatIsNotThereIsNone) {
  const auto with = [](const char* name, const char* value, auto ask) {
    const char* const before = std::getenv(name);
    const std::string kept = before == nullptr ? "" : before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    std::string answer = ask();
    before == nullptr ? unsetenv(name) : setenv(name, kept.c_str(), 1);
    return answer;
  };
  const auto data_folder = [&](const char* home) {
    return with("XDG_DATA_HOME", nullptr, [&] { return with("HOME", home, user_data_folder); });
  };
  EXPECT_EQ(data_folder("/"), "//.local/share/perfcast");
  EXPECT_EQ(data_folder("/nowhere/at/all"), "");
  EXPECT_EQ(data_folder(nullptr), "");
}

TEST(File, FullDiskLeavesTheOldFile) { EXPECT_EQ(write_file_atomically("/dev/full", "x").error().code, "file-error"); }

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

TEST(File, ReadsAllMembersOfAGzipFile) {
  const std::string path = testing::TempDir() + "/perfcast_gzip_test" + std::to_string(getpid());
  const auto read = [&](const std::string& bytes, size_t limit = 1000) {
    EXPECT_TRUE(write_file_atomically(path, bytes));
    const auto text = read_file(path, limit);
    return text ? *text : text.error().code;
  };
  const std::string two = gzipped("hello ") + gzipped("world");
  EXPECT_EQ(read(two), "hello world");
  EXPECT_EQ(read(two + std::string(512, '\0')), "hello world");
  EXPECT_EQ(read(gzipped("") + gzipped("x")), "x");
  EXPECT_EQ(read(two.substr(0, two.size() - 1)), "bad-gzip");
  EXPECT_EQ(read(two + "text"), "bad-gzip");
  EXPECT_EQ(read(gzipped(std::string(60, 'a')) + gzipped(std::string(60, 'b')), 100), "file-too-large");
  unlink(path.c_str());
}

TEST(Text, TablesLineUp) {
  TextTable table;
  table.add_column("name", TextTable::Align::kLeft);
  table.add_column("time", TextTable::Align::kRight);
  table.add_row({"a", "1.25"});
  table.add_row({"m\xC3\xBC", "12.5"});
  EXPECT_EQ(table.to_text(), "name  time\na     1.25\nm\xC3\xBC    12.5\n");
  table.add_row({"a|b", ""});
  EXPECT_EQ(table.to_markdown(), "| name | time |\n|---|---:|\n| a | 1.25 |\n| m\xC3\xBC | 12.5 |\n| a\\|b |  |\n");
}

TEST(Text, HumanNumbers) {
  EXPECT_EQ(human_number(1234567), "1.23 M");
  EXPECT_EQ(human_number(999.9), "1 k");
  EXPECT_EQ(human_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(human_seconds(250), "250 s");
  EXPECT_EQ(human_seconds(250000), "250000 s");
  EXPECT_EQ(human_seconds(1761055), "20.4 d");
  EXPECT_EQ(human_seconds(1e9), "11574 d");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(printable("a\x1b[31m"), "a?[31m");
  EXPECT_EQ(signal_text(6), "6 (Aborted)");
  EXPECT_EQ(signal_text(1000), "1000");
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_EQ(nearest_names("impor", {"train", "import", "export"}, 2), "import, export, ...");
}

TEST(Text, NearestNamesGoByWords) {
  EXPECT_EQ(nearest_names("77630", {"ADM 1", "AMD EPYC 7763 64-Core Processor", "AMD EPYC 9V45"}, 1),
            "AMD EPYC 7763 64-Core Processor, ...");
  EXPECT_EQ(nearest_names("amd 9v54", {"AMD EPYC 7763 64-Core Processor", "AMD EPYC 9V45"}, 1), "AMD EPYC 9V45, ...");
  EXPECT_EQ(nearest_names("7763", {"AMD EPYC 7763 64-Core Processor", "7764"}, 1),
            "AMD EPYC 7763 64-Core Processor, ...");
  EXPECT_EQ(nearest_names("???", {"b", "a"}), "b, a");
  EXPECT_EQ(nearest_names("", {"b", "a"}), "b, a");
}

TEST(Text, PlainNames) {
  EXPECT_EQ(plain_name(" Llama2-70B_v1.5 x "), "llama270bv1.5x");
  EXPECT_EQ(plain_name("- _"), "");
  EXPECT_EQ(plain_name(std::string(300, 'A')), std::string(200, 'a'));
}

TEST(Text, WrapsAtAWidth) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 9, "- ", "  "), "- one two\n  three");
  EXPECT_EQ(wrapped("unbreakable it is", 4), "unbreakable\nit\nis");
  EXPECT_EQ(wrapped("a\nb c", 80, "", "  "), "a\n  b c");
  EXPECT_EQ(wrapped("", 10), "");
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> words(1 + random.next() % 20);
    for (std::string& word : words) word.assign(1 + random.next() % 12, static_cast<char>('a' + random.next() % 26));
    std::string text = wrapped(join(words, " "), 1 + random.next() % 30);
    std::replace(text.begin(), text.end(), '\n', ' ');
    EXPECT_EQ(text, join(words, " "));
  }
}

TEST(Text, TimesOfAColumnHaveOneUnitAndOneNumberOfDecimals) {
  using Cells = std::vector<std::string>;
  EXPECT_EQ(seconds_column({0.071, 0.0763, 0.1603}), (Cells{"71.0 ms", "76.3 ms", "160.3 ms"}));
  EXPECT_EQ(seconds_column({0.786, 1.8, 12.34}), (Cells{"0.786 s", "1.800 s", "12.340 s"}));
  EXPECT_EQ(seconds_column({0.99996, 1, 2}), (Cells{"1.00 s", "1.00 s", "2.00 s"}));
  EXPECT_EQ(seconds_column({1234, 1500, 20000}), (Cells{"1234 s", "1500 s", "20000 s"}));
  EXPECT_EQ(seconds_column({86400, 1761055}), (Cells{"1.00 d", "20.38 d"}));
  EXPECT_EQ(spread_seconds_column({12, 1761055}), (Cells{"12.0 s", "20.4 d"}));
  EXPECT_EQ(seconds_column({2e-6, kUnknown, 0}), (Cells{"2.00 us", "-", "-"}));
  EXPECT_EQ(seconds_column({0.438, 89.5e-6, 2e-6}), (Cells{"438.00 ms", "0.09 ms", "<0.01 ms"}));
  EXPECT_EQ(seconds_column({kUnknown}), Cells{"-"});
  EXPECT_EQ(seconds_column({}), Cells{});
  EXPECT_EQ(spread_seconds_column({0.071, 0.0763, 0, 0.1603}), (Cells{"71.0 ms", "76.3 ms", "0 ms", "160.3 ms"}));
  EXPECT_EQ(spread_seconds_column({0.0101, 1}), (Cells{"0.0101 s", "1.0000 s"}));
  EXPECT_EQ(spread_seconds_column({0.01, 1, 0.0007, kUnknown, 0}), (Cells{"10.0 ms", "1.00 s", "700 us", "-", "0 s"}));
  EXPECT_EQ(spread_seconds_column({0, kUnknown}), (Cells{"0 s", "-"}));
  EXPECT_EQ(duration_column({36.4 * 60, 16.83 * 3600, kUnknown, 0}), (Cells{"0.607 h", "16.830 h", "-", "0 h"}));
  EXPECT_EQ(duration_column({30, 150}), (Cells{"0.500 min", "2.500 min"}));
  EXPECT_EQ(duration_column({0.25, 119}), (Cells{"0.25 s", "119.00 s"}));
  EXPECT_EQ(duration_column({4 * 86400.}), Cells{"4.00 d"});
  EXPECT_EQ(duration_column({0.1, 20 * 3600.}), (Cells{"<0.001 h", "20.000 h"}));
  EXPECT_EQ(duration_column({0, kUnknown}), (Cells{"0 s", "-"}));
}

TEST(Text, EnergiesOfAColumnLikewise) {
  using Cells = std::vector<std::string>;
  EXPECT_EQ(energy_column({62e3, 61.4e3, 0, kUnknown}), (Cells{"62.0 kJ", "61.4 kJ", "0 kJ", "-"}));
  EXPECT_EQ(energy_column({12, 1.23e6}), (Cells{"<0.0001 MJ", "1.2300 MJ"}));
  EXPECT_EQ(energy_column({0}), Cells{"0 J"});
}

TEST(TableOfText, LongTextsAreBrokenWhereLinesWouldBeTooLong) {
  TextTable table;
  table.add_column("name", TextTable::Align::kLeft);
  table.add_column("count", TextTable::Align::kRight);
  table.add_row({"one two three four five", "7"});
  EXPECT_EQ(table.to_text(), "name                     count\none two three four five      7\n");
  EXPECT_EQ(table.to_text(20),
            "name           count\n"
            "one two three      7\n"
            "four five\n");
}

TEST(TableOfText, ColumnsAreLeftOutFromTheRightAndNamed) {
  TextTable table;
  table.add_column("a", TextTable::Align::kLeft);
  for (const char* title : {"first", "second"}) table.add_column(title, TextTable::Align::kRight);
  table.add_row({"x", "1234567890", "1234567890"});
  EXPECT_EQ(table.to_text(20),
            "a       first\n"
            "x  1234567890\n"
            "left out, as the\n"
            "  lines are too\n"
            "  short: second\n");
}

}  // namespace
}  // namespace perfcast
