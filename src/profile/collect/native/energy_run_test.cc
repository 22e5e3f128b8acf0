#include "profile/collect/native/energy_run.h"

#include <gmock/gmock.h>

#include <chrono>

#include "base/json.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// A counter that draws as many watts as it is told to.
class SteadyMeter : public Meter {
 public:
  explicit SteadyMeter(double watts) : watts_(watts) {
    facts_.name = "steady";
    facts_.kind = "test";
    facts_.scope = EnergyScope::kPackage;
    facts_.covers = "a package";
    facts_.reading = MeterReading::kEnergy;
    facts_.interval_s = 0.001;
  }
  Result<std::optional<double>> read() override {
    return std::optional(watts_ * std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
  }

 private:
  double watts_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

MeterSet steady(double watts) {
  MeterSet set;
  set.meters.push_back(std::make_unique<SteadyMeter>(watts));
  set.missing.push_back({"rapl", "there is no powercap", "a machine"});
  return set;
}

Result<EnergyRun> measured(const EnergyRunRequest& request, const MeterSet& set) {
  return measure_energy(request, set, [](const std::string&) {});
}

TEST(EnergyRun, MeasuresACommandAgainstIdle) {
  EnergyRunRequest request;
  request.command = {"sleep", "0.2"};
  request.idle_s = 0.15;
  request.repeats = 3;
  const auto run = measured(request, steady(50));
  ASSERT_TRUE(run) << to_text(run.error());
  EXPECT_THAT(run->wall_s, SizeIs(3));
  EXPECT_GE(run->idle_s, 0.15);
  ASSERT_THAT(run->meters, SizeIs(1));
  const MeterSummary& meter = run->meters.front();
  EXPECT_TRUE(run->has_joules());
  EXPECT_THAT(meter.run_joules, SizeIs(3));
  EXPECT_NEAR(meter.mean_w.value(), 50, 1.5);
  EXPECT_NEAR(meter.idle_w.value(), 50, 1.5);
  EXPECT_NEAR(meter.above_idle_joules.value(), 0, 1);
  EXPECT_NEAR(meter.joules.value(), 10, 3);
  EXPECT_NEAR(meter.energy_delay_js.value(), meter.joules.value() * 0.2, 1);
  EXPECT_THAT(run->missing, SizeIs(1));
  const Json json = to_json(*run);
  EXPECT_EQ(json.at("schema"), "perfcast.energy/1");
  EXPECT_EQ(json.at("idle_subtracted"), false);
  EXPECT_EQ(json.at("meters").at(0).at("scope"), "package");
  EXPECT_EQ(json.at("meters").at(0).at("run_energy_joules").size(), 3u);
  EXPECT_EQ(json.at("unavailable").at(0).at("kind"), "rapl");
}

TEST(EnergyRun, HasTimeAloneWithoutMeters) {
  EnergyRunRequest request;
  request.command = {"true"};
  MeterSet none;
  none.missing.push_back({"rapl", "there is no powercap", ""});
  const auto run = measured(request, none);  // nothing waits for idle that nobody measures
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->has_joules());
  EXPECT_THAT(run->wall_s, SizeIs(1));
  EXPECT_EQ(run->idle_s, 0);
  EXPECT_EQ(to_json(*run).at("meters").size(), 0u);
  EXPECT_FALSE(to_json(*run).contains("idle_s"));
}

TEST(EnergyRun, RefusesRunsThatFail) {
  EnergyRunRequest request;
  request.idle_s = 0;
  const auto code = [&](std::vector<std::string> command) {
    request.command = std::move(command);
    const auto run = measured(request, steady(5));
    return run ? "" : run.error().code;
  };
  EXPECT_EQ(code({}), "bad-usage");
  EXPECT_EQ(code({"false"}), "program-failed");
  EXPECT_EQ(code({"/nowhere/at/all"}), "program-not-found");
  request.limit_s = 0.05;
  EXPECT_EQ(code({"sleep", "5"}), "limit-reached");
  request.limit_s = 0;
  request.accept_failure = true;
  EXPECT_EQ(code({"false"}), "");
}

TEST(EnergyRun, ListsMeters) {
  const Json json = to_json(listed_meters(steady(5)));
  EXPECT_EQ(json.at("meters").at(0).at("name"), "steady");
  EXPECT_FALSE(json.contains("command"));
  EXPECT_FALSE(json.at("meters").at(0).contains("energy_joules"));
}

}  // namespace
}  // namespace perfcast
