#include "machine/meter/meter_csv.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

PowerLog log_of(const std::string& text) {
  auto log = parse_power_csv(text, "m.csv");
  if (!log) throw std::runtime_error(to_text(log.error()));
  return std::move(*log);
}

std::string code_of(const std::string& text) {
  const auto log = parse_power_csv(text, "m.csv");
  return log ? "" : log.error().code + " " + log.error().where;
}

TEST(MeterCsv, ReadsTimesInEveryForm) {
  const PowerLog log = log_of(
      "timestamp,power_w\n1764101495.25,100\n1764101496250,101.5\n1764101497250000,102\n1764101498250000000,103\n"
      "2025-11-25T20:11:39.25Z,104\n2025-11-25 21:11:40.25+01:00,105\n2025-11-25T15:11:41.25-0500,106\n");
  ASSERT_THAT(log.samples, SizeIs(7));
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(log.samples[i].unix_s, 1764101495.25 + static_cast<double>(i), 1e-3) << i;
  EXPECT_EQ(log.samples[1].power_w, 101.5);
  EXPECT_EQ(log_of("time,w\n2024-02-29T00:00:00Z,1\n").samples[0].unix_s, 1709164800);
  EXPECT_EQ(log_of("time,w\n1970-01-01T00:00:00Z,1\n").samples[0].unix_s, 0);
}

TEST(MeterCsv, KnowsUnitsAndSeparators) {
  EXPECT_EQ(log_of("Time;Volt;Power (mW)\n1700000000;230;2500\n").samples[0].power_w, 2.5);
  EXPECT_EQ(log_of("unix_s,active_power_kw\n1700000000,0.25\n").samples[0].power_w, 250);
  EXPECT_EQ(log_of("date,Watts\n1700000000,7\n").samples[0].power_w, 7);
}

TEST(MeterCsv, TakesTheUnitThatTheNameSays) {
  const auto watts_of = [](const std::string& column) {
    return log_of("time," + column + "\n1700000000,1000\n").samples.at(0).power_w;
  };
  for (const char* watts : {"w", "power", "power_w", "active_power", "powerWatts", "Power (W)", "power.draw [W]",
                            "Power (avg)", "hp_power_w", "power_w_host1", "power_phase_a", "watts_total"}) {
    EXPECT_EQ(watts_of(watts), 1000) << watts;
  }
  for (const char* milli : {"power_mw", "power mW", "Power (mW)", "power[mW]", "milliwatts", "powermW", "power_mW_avg"})
    EXPECT_EQ(watts_of(milli), 1) << milli;
  for (const char* micro : {"power_uw", "microwatts", "power (uW)", "Power (\xc2\xb5W)", "power \xce\xbcW", "load_uw"})
    EXPECT_NEAR(watts_of(micro), 1e-3, 1e-12) << micro;
  for (const char* kilo : {"power kW", "power_kw", "Power [kW]", "kilowatts"}) EXPECT_EQ(watts_of(kilo), 1e6) << kilo;
  for (const char* other : {"power_kwh", "power kWh", "watt_hours", "watthours", "Power (kW h)", "power_joules",
                            "power_va", "Power (dBm)", "power [hp]", "Power (%)", "power_factor", "power_w_kw"}) {
    EXPECT_EQ(code_of(std::string("time,") + other + "\n1700000000,1000\n"), "bad-unit m.csv:1") << other;
  }
  EXPECT_EQ(log_of("time,power_kw,power_factor,total_kwh\n1700000000,2,0.9,1\n").samples.at(0).power_w, 2000);
}

TEST(MeterCsv, NoticesBlanksClocksThatWereSetAndRowsThatAreBeingWritten) {
  const PowerLog log =
      log_of("time,watts\n1700000000,7\n1700000001,\n1700000002,N/A\n1700000004,8\n1700000003,9\n170000");
  ASSERT_THAT(log.samples, SizeIs(3));
  EXPECT_EQ(log.blank_rows, 2);
  EXPECT_EQ(log.out_of_order_rows, 1);
  EXPECT_EQ(log.samples[1].power_w, 9);  // in the order of their times
}

TEST(MeterCsv, LeavesOutARowInWhichTheMeterStumbled) {
  for (const char* bad : {"1700000050,ERR", "1700000050,-5", "1700000050,1e9", "never,5"}) {
    std::string text = "time,watts\n";
    for (int i = 0; i < 49; ++i) text += std::to_string(1700000000 + i) + ",7\n";
    const PowerLog log = log_of(text + bad + "\n");
    EXPECT_THAT(log.samples, SizeIs(49)) << bad;
    EXPECT_EQ(log.bad_rows, 1) << bad;
    EXPECT_THAT(log.first_bad, HasSubstr("m.csv:51: '")) << bad;
    EXPECT_EQ(log.last_unix_s, 1700000048) << bad;
  }
  // A log that is mostly so is another file.
  EXPECT_EQ(code_of("time,watts\n1,7\n2,ERR\n3,ERR\n4,7\n"), "bad-number m.csv:3");
}

TEST(MeterCsv, NamesWhatItCanNotRead) {
  EXPECT_EQ(code_of("time,amps\n1,2\n"), "missing-column m.csv:1");
  EXPECT_EQ(code_of("seconds,watts\n1,2\n"), "missing-column m.csv:1");
  EXPECT_EQ(code_of("time,power_w,power_max_w\n1,2,3\n"), "ambiguous-column m.csv:1");
  EXPECT_THAT(code_of("time,watts\nnoon,2\n"), HasSubstr("bad-time m.csv:2"));
  EXPECT_THAT(code_of("time,watts\n2025-11-25T20:11:39,2\n"), HasSubstr("bad-time"));  // whose noon?
  EXPECT_THAT(code_of("time,watts\n2025-13-25T20:11:39Z,2\n"), HasSubstr("bad-time"));
  EXPECT_THAT(code_of("time,watts\n-5,2\n"), HasSubstr("bad-time"));
  EXPECT_THAT(code_of("time,watts\n1,-2\n"), HasSubstr("bad-number m.csv:2"));
  EXPECT_THAT(code_of("time,watts\n1,1e9\n"), HasSubstr("bad-number"));
  EXPECT_THAT(code_of("time,watts\n1,a lot\n"), HasSubstr("bad-number"));
}

}  // namespace
}  // namespace perfcast
