#include "measure/power/table/power_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

Result<PowerTable> read(const std::string& text, PowerTableNotes& notes, const PowerTableOptions& options = {}) {
  return read_power_table(text, "s.csv", options, notes);
}

Error error_of(const std::string& text, const PowerTableOptions& options = {}) {
  PowerTableNotes notes;
  const auto table = read(text, notes, options);
  return table ? Error{} : table.error();
}

TEST(PowerTable, ReadsWhatItKnowsAndTakesTheRestForCounters) {
  PowerTableNotes notes;
  const auto table = read(
      "timestamp,powerWatts,machine,workload,frequency_mhz,voltage_v,misses\n"
      "1700000000000,10,a,x,1000,0.9,5\n1700000001000,12,a,x,1000,0.9,\n1700000002000,14,a,y,1000,0.9,7\n",
      notes);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->counters, std::vector<std::string>{"misses"});
  EXPECT_DOUBLE_EQ(table->time_s(1) - table->time_s(0), 1);
  EXPECT_DOUBLE_EQ(table->frequency_hz(0), 1e9);
  EXPECT_TRUE(std::isnan(table->values(1, 0)));
  EXPECT_EQ(table->run, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(table->workloads, (std::vector<std::string>{"x", "y"}));
}

TEST(PowerTable, RefusesWhatNoMachineDoes) {
  std::string text = "watts,cycles\n";
  for (int row = 0; row < 60; ++row) text += std::to_string(50 + row) + ",1e9\n";
  const Error spike = error_of(text + "1000000,1e9\n");
  EXPECT_EQ(spike.code, "bad-samples");
  EXPECT_EQ(spike.where, "s.csv, sample 61");
  EXPECT_EQ(error_of(text + "70,1e300\n").message, "cycles of 1e+300");
  EXPECT_EQ(error_of(text + "70,1e9\n").code, "");
}

TEST(PowerTable, CountsBecomeRatesWithinARun) {
  PowerTableNotes notes;
  PowerTableOptions options;
  options.counts = true;
  const auto table = read("time_s,watts,misses\n0,10,100\n2,11,100\n4,12,300\n100,13,50\n102,14,40\n", notes, options);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_TRUE(std::isnan(table->values(0, 0)));
  EXPECT_DOUBLE_EQ(table->values(1, 0), 50);
  EXPECT_DOUBLE_EQ(table->values(2, 0), 150);
  EXPECT_TRUE(std::isnan(table->values(3, 0)));  // behind the gap
  EXPECT_DOUBLE_EQ(table->values(4, 0), 20);
  ASSERT_FALSE(notes.lines.empty());
  EXPECT_THAT(notes.lines.front(), HasSubstr("1 gap in the samples, the longest of 96"));
}

TEST(PowerTable, CountersThatWrapAreAbsent) {
  PowerTableNotes notes;
  const auto table = read("time_s,watts,misses\n0,10,100\n1,11,-4000000000\n2,12,300\n", notes);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_TRUE(std::isnan(table->values(1, 0)));
  ASSERT_EQ(notes.lines.size(), 1U);
  EXPECT_THAT(notes.lines[0], HasSubstr("below 0"));
}

TEST(PowerTable, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("time_s,misses\n0,1\n").message, HasSubstr("no column of power"));
  EXPECT_THAT(error_of("time_s,watts\n0,1\n").message, HasSubstr("no column of a counter"));
  EXPECT_THAT(error_of("watts,misses\n1,x\n").expected, HasSubstr("--ignore"));
  EXPECT_EQ(error_of("watts,misses\n0,1\n").where, "s.csv:2");
  EXPECT_THAT(error_of("watts,misses\n50,1\n50,2\n50,3\n").message, HasSubstr("constant power"));
  EXPECT_THAT(error_of("watts,misses\n150000,1\n160000,2\n155000,3\n").expected, HasSubstr("milliwatts"));
  EXPECT_THAT(error_of("watts,misses\n0.0001,1\n0.0002,2\n").expected, HasSubstr("kilowatts"));
  EXPECT_THAT(error_of("watts,misses\n").message, HasSubstr("no row"));
  EXPECT_THAT(error_of("watts,misses\n,1\n,2\n").message, HasSubstr("no row has a power"));
  EXPECT_THAT(error_of("watts,frequency_mhz,misses\n1,0,1\n2,1,1\n").message, HasSubstr("frequency"));
  PowerTableOptions counts;
  counts.counts = true;
  EXPECT_THAT(error_of("watts,misses\n1,1\n", counts).message, HasSubstr("time between rows"));
  PowerTableOptions few;
  few.most_rows = 1;
  EXPECT_EQ(error_of("watts,misses\n1,1\n2,2\n", few).code, "too-large");
}

TEST(PowerTable, LeavesOutRowsWhoseSettingIsNotKnown) {
  PowerTableNotes notes;
  const auto table = read(
      "time_s,watts,frequency_mhz,voltage_v,cores,misses\n0,10,1000,1,2,5\n1,11,,1,2,6\n2,12,1000,1,2,7\n"
      "3,13,1000,,2,8\n4,14,1000,1,2,9\n",
      notes);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->rows(), 3U);
  EXPECT_EQ(table->watts, Eigen::Vector3d(10, 12, 14));
  EXPECT_EQ(table->run, (std::vector<int>{0, 0, 0}));
  EXPECT_FALSE(table->frequency_hz.array().isNaN().any());
  ASSERT_EQ(notes.lines.size(), 1U);
  EXPECT_EQ(notes.lines[0],
            "2 of 5 rows are left out, since their setting is not known: no frequency in 1, no voltage in 1");
  EXPECT_EQ(error_of("watts,cores,misses\n10,,1\n11,,2\n").message,
            "all 2 rows lack a setting: no number of cores in 2");
  EXPECT_THAT(error_of("watts,cores,misses\n10,,1\n11,,2\n,4,3\n").message, HasSubstr("no row has a power and"));
  // Hz in a column of MHz.
  const Error unit = error_of("watts,frequency_mhz,misses\n10,2400000000,1\n11,2400000000,2\n");
  EXPECT_EQ(unit.where, "s.csv:2");
  EXPECT_THAT(unit.message, HasSubstr("a frequency of 2.4e+15 Hz"));
}

TEST(PowerTable, CountsOfARowWithoutASettingAreItsOwn) {
  PowerTableOptions options;
  options.counts = true;
  options.needs_watts = false;
  PowerTableNotes notes;
  const auto table =
      read("time_s,frequency_mhz,misses\n0,1000,0\n1,1000,10\n2,,70\n3,1000,10\n4,1000,10\n", notes, options);
  ASSERT_TRUE(table) << to_text(table.error());
  ASSERT_EQ(table->rows(), 4U);
  EXPECT_EQ(table->values(1, 0), 10);
  EXPECT_TRUE(std::isnan(table->values(2, 0)));  // never 10 in two seconds
  EXPECT_EQ(table->values(3, 0), 10);
}

TEST(PowerTable, RefusesManySpikesAsFastAsOne) {
  // In so many rows that their 98% quantile is one, too: looked for once, not for each.
  std::string text = "watts,misses\n";
  for (int i = 0; i < 100000; ++i) text += i % 10 < 7 ? "50,1\n" : "90000,1\n";
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(text).message, HasSubstr("range from 50 to 90000 W"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(PowerTable, PercentIsWhatTheNameSays) {
  PowerTableNotes notes;
  std::string text = "watts,cpu_percent\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{},{}\n", 50 + i, 0.04 * i);
  ASSERT_TRUE(read(text, notes));
  ASSERT_EQ(notes.lines.size(), 1U);
  EXPECT_THAT(notes.lines[0], HasSubstr("cpu_percent is 0.76 at the most, which is taken for percent"));
}

TEST(PowerTable, NoticesAUnitThatChanges) {
  std::string text = "watts,misses\n";
  for (int i = 0; i < 100; ++i) text += std::to_string((50 + i) * (i < 90 ? 1.0 : 1000.0)) + ",1\n";
  EXPECT_THAT(error_of(text).expected, HasSubstr("milliwatts"));
}

TEST(PowerTable, AWrittenTableIsReadBack) {
  PowerWorld world;
  world.machines = 2;
  PowerTableNotes notes;
  const auto table = read(world.csv(), notes);
  ASSERT_TRUE(table) << to_text(table.error());
  const PowerTable made = world.table();
  EXPECT_EQ(table->rows(), made.rows());
  EXPECT_EQ(table->run, made.run);
  EXPECT_LT((table->watts - made.watts).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_TRUE(notes.lines.empty());
}

TEST(PowerTable, NotesWhatIsDoubtful) {
  const auto notes_of = [](const std::string& text) {
    PowerTableNotes notes;
    const auto table = read(text, notes);
    EXPECT_TRUE(table) << (table ? "" : to_text(table.error()));
    return notes.lines;
  };
  // A server's kilowatts.
  const auto small = notes_of("watts,misses\n0.11,1\n0.12,2\n0.13,3\n");
  ASSERT_EQ(small.size(), 1U);
  EXPECT_THAT(small[0], HasSubstr("the median power is 0.12 W"));
  // One machine's alone; a few samples of idle are no error beside another machine's.
  const auto one = notes_of("machine,watts,misses\na,110,1\na,120,2\na,130,3\nb,0.1,1\nb,0.1,2\n");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_THAT(one[0], HasSubstr("the median power of b is 0.1 W"));
  // Of 8 cores at 2 GHz; and 40 instructions in each cycle.
  const std::string setting = "watts,frequency_mhz,cores,cycles,instructions\n";
  EXPECT_TRUE(notes_of(setting + "50,2000,8,1.5e10,2e10\n60,2000,8,1.6e10,2e10\n").empty());
  const auto beyond = notes_of(setting + "50,2000,8,8e11,1e12\n60,2000,8,1.6e10,2e10\n");
  ASSERT_EQ(beyond.size(), 1U);
  EXPECT_THAT(beyond[0],
              HasSubstr("cycles a second are above what so many cores at that frequency have in 1 of 2 rows, "
                        "up to 45.5 times"));
  const auto wide = notes_of("watts,cycles,instructions\n50,1e10,4e11\n60,1e10,5e11\n");
  ASSERT_EQ(wide.size(), 1U);
  EXPECT_THAT(wide[0], HasSubstr("instructions are over 10 in each cycle in 2 of 2 rows"));
  // Time that stands for nothing, and that goes back.
  const auto times = notes_of("time_s,watts,misses\n0,10,1\n1,11,1\n2,12,1\n60,13,1\n61,14,1\n30,15,1\n31,16,1\n");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_THAT(times[0], HasSubstr("1 gap in the samples, the longest of 58"));
  EXPECT_THAT(times[1], HasSubstr("time steps back 1 time"));
}

TEST(PowerTable, NoticesLoadAboveTheWholeMachine) {
  const auto rows = [](double load) {
    std::string text = "watts,cpu_percent\n";
    for (int i = 0; i < 100; ++i) text += std::to_string(50 + i) + "," + std::to_string(i < 99 ? i : load) + "\n";
    return text;
  };
  PowerTableNotes notes;
  EXPECT_TRUE(read_power_table(rows(99), "s.csv", {}, notes));
  EXPECT_TRUE(notes.lines.empty());
  EXPECT_TRUE(read_power_table(rows(180), "s.csv", {}, notes));
  EXPECT_EQ(notes.lines.front(),
            "cpu_percent is above 100% in 1 of 100 rows, up to 180%; above 150% it is taken as absent");
  std::string eight = "watts,cpu_percent\n";
  for (int i = 0; i < 100; ++i) eight += std::to_string(50 + i) + "," + std::to_string(8 * i) + "\n";
  EXPECT_EQ(read_power_table(eight, "s.csv", {}, notes).error().code, "bad-samples");
}

TEST(PowerTable, NoticesCountsThatAreNone) {
  PowerTableOptions options;
  options.counts = true;
  PowerTableNotes notes;
  std::string counts = "time_s,watts,cpu_share,misses\n", rates = counts;
  for (int i = 0; i < 40; ++i) {
    const std::string row = std::to_string(2 * i) + "," + std::to_string(50 + i) + ",0." + std::to_string(10 + i) + ",";
    counts += row + std::to_string(1000 * i) + "\n";
    rates += row + std::to_string(1000.25 * i + 0.5) + "\n";
  }
  const auto table = read_power_table(counts, "s.csv", options, notes);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->values(3, 1), 1500);  // of two seconds
  EXPECT_EQ(table->values(3, 0), 0.13);  // a share
  EXPECT_EQ(notes.lines.front(), "cpu_share: shares of time, no counts: taken as they are");
  EXPECT_EQ(read_power_table(rates, "s.csv", options, notes).error().code, "bad-samples");
}

TEST(PowerTable, LeavesAnyColumnOutButThePowerToLearn) {
  PowerTableOptions options;
  options.ignored = {"watts"};
  PowerTableNotes notes;
  const char* const text = "watts,cpu_share\n50,0.5\n60,0.6\n";
  EXPECT_EQ(read_power_table(text, "s.csv", options, notes).error().where, "--ignore");
  options.needs_watts = false;
  const auto unmeasured = read_power_table(text, "s.csv", options, notes);
  ASSERT_TRUE(unmeasured);
  EXPECT_TRUE(unmeasured->watts.array().isNaN().all());
}

}  // namespace
}  // namespace perfcast::measure
