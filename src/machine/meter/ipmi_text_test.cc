#include "machine/meter/ipmi_text.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;

IpmiPower power_of(const std::string& text, const std::string& sensor = "") {
  auto power = parse_ipmi_power(text, "ipmi.txt", sensor);
  if (!power) throw std::runtime_error(to_text(power.error()));
  return std::move(*power);
}

std::string error_in(const std::string& text, const std::string& sensor = "") {
  const auto power = parse_ipmi_power(text, "ipmi.txt", sensor);
  return power ? "" : power.error().code;
}

constexpr const char* kDcmi =
    "\n    Instantaneous power reading:                   214 Watts\n"
    "    Minimum during sampling period:                 96 Watts\n"
    "    Average power reading over sample period:      207 Watts\n"
    "    IPMI timestamp:                           11/25/26 20:11:35 UTC\n"
    "    Sampling period:                          00000005 Seconds.\n"
    "    Power reading state is:                   activated\n\n";

TEST(IpmiText, ReadsDcmi) {
  EXPECT_TRUE(looks_like_ipmi(kDcmi));
  const IpmiPower power = power_of(kDcmi);
  EXPECT_EQ(power.power_w, 214);
  EXPECT_EQ(power.sensor, "DCMI");
  EXPECT_EQ(power.sampling_period_s, 5);
}

TEST(IpmiText, ReadsFreeIpmi) {
  const IpmiPower power = power_of(
      "Current Power                        : 164 Watts\nMinimum Power over sampling duration : 51 watts\n"
      "Statistics reporting time period     : 1000 milliseconds\nPower Measurement                    : Active\n");
  EXPECT_EQ(power.power_w, 164);
}

TEST(IpmiText, SaysWhereTheReadingIsOff) {
  EXPECT_EQ(error_in("Instantaneous power reading: 0 Watts\nPower reading state is: deactivated\n"), "no-power");
  EXPECT_EQ(error_in("Instantaneous power reading: much\n"), "bad-number");
  EXPECT_EQ(error_in("Power reading state is: activated\n"), "no-power");
}

TEST(IpmiText, SumsThePowerSuppliesInputs) {
  const std::string list =
      "CPU1 Temp        | 41.000     | degrees C  | ok    | na        | na\n"
      "PS1 Input Power  | 120.000    | Watts      | ok    | na        | na\n"
      "PS1 Output Power | 110.000    | Watts      | ok    | na        | na\n"
      "PS2 Input Power  | 96.000     | Watts      | ok    | na        | na\n"
      "FAN1             | 4200.000   | RPM        | ok    | na        | na\n";
  EXPECT_TRUE(looks_like_ipmi(list));
  const IpmiPower power = power_of(list);
  EXPECT_EQ(power.power_w, 216);
  EXPECT_EQ(power.sensor, "PS1 Input Power + PS2 Input Power");
  EXPECT_EQ(power_of(list, "ps2 input power").power_w, 96);
  EXPECT_EQ(error_in(list, "FAN1"), "no-power");
}

TEST(IpmiText, PrefersTheWholeSystem) {
  EXPECT_EQ(power_of("PS1 Input | 120 Watts | ok\nPwr Consumption | 112 Watts | ok\n").power_w, 112);
  EXPECT_EQ(power_of("Pwr Consumption  | 77h | ok  |  7.1 | 112 Watts\n").power_w, 112);
  EXPECT_EQ(power_of("System Level,118,Watts,ok\nTemp,24,degrees C,ok\n").power_w, 118);  // ipmitool -c
}

TEST(IpmiText, AsksWhichOfSeveral) {
  const std::string list = "GPU1 | 70.000 | Watts | ok\nGPU2 | 90.000 | Watts | ok\n";
  const auto power = parse_ipmi_power(list, "ipmi.txt");
  ASSERT_FALSE(power);
  EXPECT_EQ(power.error().code, "ambiguous-sensor");
  EXPECT_THAT(power.error().message, HasSubstr("GPU1, GPU2"));
  EXPECT_THAT(power.error().expected, HasSubstr("FILE#GPU1"));
  EXPECT_EQ(error_in("GPU1 | na | Watts | na\n"), "no-power");
  EXPECT_EQ(error_in("GPU1 | -5 | Watts | ok\n"), "bad-number");
  EXPECT_FALSE(looks_like_ipmi("GPU1 | 70 | RPM | ok\n"));
}

}  // namespace
}  // namespace perfcast
