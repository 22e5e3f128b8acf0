#include "machine/meter/redfish_power.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

RedfishPower resource_of(const std::string& text) {
  auto power = parse_redfish_power(text, "r.json");
  if (!power) throw std::runtime_error(to_text(power.error()));
  return std::move(*power);
}

std::string redfish_error(const std::string& text) {
  const auto power = parse_redfish_power(text, "r.json");
  return power ? "" : power.error().code;
}

TEST(RedfishPower, ReadsEnvironmentMetrics) {
  const RedfishPower power = resource_of(
      R"({"@odata.id": "/redfish/v1/Chassis/1/EnvironmentMetrics", "Name": "Chassis 1",
          "PowerWatts": {"Reading": 374.5, "DataSourceUri": "/x"}, "EnergyJoules": {"Reading": 129004},
          "EnergykWh": {"Reading": 325675.4}})");
  EXPECT_EQ(power.resource, "EnvironmentMetrics");
  EXPECT_EQ(power.of, "Chassis 1, /redfish/v1/Chassis/1/EnvironmentMetrics");
  EXPECT_EQ(power.power_w, 374.5);
  EXPECT_EQ(power.energy_joules, 129004);
  EXPECT_EQ(power.energy_resolution_joules, 1);
}

TEST(RedfishPower, TakesKilowattHoursWhereThereIsNothingFiner) {
  const RedfishPower power = resource_of(R"({"EnergykWh": {"Reading": 2}})");
  EXPECT_EQ(power.energy_joules, 7.2e6);
  EXPECT_EQ(power.energy_resolution_joules, 3600);
  EXPECT_FALSE(resource_of(R"({"EnergykWh": {"Reading": 2}, "PowerWatts": {"Reading": 5}})").energy_joules);
}

TEST(RedfishPower, ReadsPowerAndSensors) {
  EXPECT_EQ(resource_of(R"({"PowerControl": [{"PowerConsumedWatts": 344}, {"PowerConsumedWatts": 120}]})").power_w,
            344);
  EXPECT_EQ(resource_of(R"({"PowerControl": [{}], "PowerSupplies": [{"PowerInputWatts": 100}, {"PowerInputWatts": null},
                         {"PowerInputWatts": 90.5}]})")
                .power_w,
            190.5);
  const RedfishPower sensor = resource_of(R"({"Reading": 94.6, "ReadingUnits": "W", "Accuracy": 2})");
  EXPECT_EQ(sensor.power_w, 94.6);
  EXPECT_EQ(sensor.accuracy_ratio, 0.02);
  EXPECT_EQ(resource_of(R"({"Reading": 12, "ReadingUnits": "J"})").energy_joules, 12);
  EXPECT_EQ(resource_of(R"({"Reading": 1, "ReadingUnits": "kW.h"})").energy_joules, 3.6e6);
}

TEST(RedfishPower, SaysWhatIsNone) {
  EXPECT_EQ(redfish_error("{"), "bad-json");
  EXPECT_EQ(redfish_error("[1]"), "no-power");
  EXPECT_EQ(redfish_error(R"({"PowerWatts": {"Reading": "lots"}})"), "no-power");
  EXPECT_EQ(redfish_error(R"({"PowerWatts": {"Reading": -1}})"), "no-power");
  EXPECT_EQ(redfish_error(R"({"Reading": 21, "ReadingUnits": "Cel"})"), "no-power");
}

}  // namespace
}  // namespace perfcast
