#include "program/forecast/forecast_energy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "machine/facts/core_design.h"
#include "measure/power/testing/power_world.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"
#include "program/forecast/forecast.h"

namespace perfcast::program {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

Profile timed_example() {
  Profile profile = synthetic_profile({}, 11);
  profile.metrics["cpu_s"] = 2;
  profile.metrics["wall_s"] = 2;
  profile.host.name = "Example 200";
  return profile;
}

PlatformPowerTable example_powers() {
  auto table = PlatformPowerTable::parse(
      R"({"schema": "perfcast.platform-power/1", "cpus": [
          {"name": "Example 200", "tdp_w": 80, "cores_count": 8, "source": "a data sheet"},
          {"name": "Example 300", "tdp_w": 160, "cores_count": 8, "source": "a data sheet"},
          {"name": "Example 600", "tdp_w": 100, "cores_count": 20, "source": "a data sheet"}]})",
      "p.json");
  if (!table) throw std::runtime_error(to_text(table.error()));
  return std::move(*table);
}

ForecastRequest asking_energy() {
  ForecastRequest request;
  request.energy.emplace();
  request.energy->table = example_powers();
  return request;
}

ForecastReport energies_of(const ForecastRequest& request, const Profile& profile = timed_example()) {
  auto report = forecast_program(synthetic_forecaster(), profile, request);
  if (!report) throw std::runtime_error(to_text(report.error()));
  return std::move(*report);
}

std::string energy_error(const ForecastRequest& request, const Profile& profile = timed_example()) {
  const auto report = forecast_program(synthetic_forecaster(), profile, request);
  return report ? "" : report.error().code;
}

const PlatformRow& energy_row(const ForecastReport& report, const std::string& name) {
  for (const PlatformRow& row : report.rows) {
    if (row.platform.name == name) return row;
  }
  throw std::runtime_error("no row of " + name);
}

TEST(ForecastEnergy, SharesTheTdpForTheTimeThatCoresAreBusy) {
  const ForecastReport report = energies_of(asking_energy());
  ASSERT_TRUE(report.energy);
  EXPECT_EQ(report.energy->known, 3u);
  EXPECT_EQ(report.energy->platforms, 6u);
  EXPECT_EQ(report.energy->cores_busy, 1);
  const PlatformRow& row = energy_row(report, "Example 300");
  ASSERT_TRUE(row.energy);
  EXPECT_EQ(row.energy->basis, "TDP-based");
  EXPECT_DOUBLE_EQ(row.energy->core_w, 20);
  EXPECT_NEAR(row.energy->joules.value(), 20 * *row.time_s, 1e-9);
  EXPECT_NEAR(row.energy->energy_delay_js.value(), 20 * *row.time_s * *row.time_s, 1e-9);
  EXPECT_EQ(row.energy->cpu->source, "a data sheet");
  // The host's time is measured: the interval is the power's alone.
  const PlatformEnergy& host = *energy_row(report, "Example 200").energy;
  const double half = 1.6449 * std::hypot(kTdpProgramLogDeviation, kTdpPlatformLogDeviation);
  EXPECT_NEAR(host.joules.value(), 20, 1e-9);
  EXPECT_NEAR(host.lower_joules.value(), 20 * std::exp(kTdpLogBias - half), 1e-3);
  EXPECT_NEAR(host.upper_joules.value(), 20 * std::exp(kTdpLogBias + half), 1e-3);
  EXPECT_NEAR(host.lower, host.relative * std::exp(-1.6449 * kTdpPlatformLogDeviation), 1e-6);
  // A forecast time makes it wider.
  EXPECT_GT(*row.energy->upper_joules / *row.energy->joules, *host.upper_joules / *host.joules);
  EXPECT_FALSE(energy_row(report, "Example 400").energy);
  EXPECT_THAT(energy_row(report, "Example 400").energy_missing, HasSubstr("no data sheet"));
  EXPECT_THAT(report.notes, Contains(HasSubstr("3 of 6 platforms have a power")));
}

TEST(ForecastEnergy, IsRelativeToTheMeanOfThoseThatAreKnown) {
  const ForecastReport report = energies_of(asking_energy());
  double logs = 0;
  for (const char* name : {"Example 200", "Example 300", "Example 600"})
    logs += std::log(energy_row(report, name).energy->relative);
  EXPECT_NEAR(logs, 0, 1e-9);
  const PlatformEnergy &a = *energy_row(report, "Example 200").energy, &b = *energy_row(report, "Example 600").energy;
  EXPECT_NEAR(a.relative / b.relative, *a.joules / *b.joules, 1e-9);
  // Whatever filters leave of the table, and without seconds.
  ForecastRequest one = asking_energy();
  one.filters = {"name=Example 200"};
  EXPECT_NEAR(energies_of(one).rows.front().energy->relative, a.relative, 1e-9);
  Profile elsewhere = timed_example();
  elsewhere.host = {};
  const ForecastReport blind = energies_of(asking_energy(), elsewhere);
  EXPECT_FALSE(energy_row(blind, "Example 200").energy->joules);
  EXPECT_NEAR(energy_row(blind, "Example 200").energy->relative, a.relative, 1e-9);
  EXPECT_THAT(blind.notes, Contains(HasSubstr("joules need seconds")));
}

TEST(ForecastEnergy, CountsTheCoresThatAreBusy) {
  Profile parallel = timed_example();
  parallel.metrics["cpu_s"] = 8;  // of 2 s: four cores
  const ForecastReport report = energies_of(asking_energy(), parallel);
  EXPECT_EQ(report.energy->cores_busy, 4);
  EXPECT_NEAR(energy_row(report, "Example 200").energy->joules.value(), 4 * 20, 1e-9);
}

TEST(ForecastEnergy, SortsByEnergy) {
  ForecastRequest request = asking_energy();
  request.sort = ForecastRequest::Sort::kEnergy;
  const ForecastReport report = energies_of(request);
  EXPECT_EQ(report.rows[0].platform.name, "Example 600");
  EXPECT_LT(report.rows[1].energy->relative, report.rows[2].energy->relative);
  for (size_t i = 3; i < 6; ++i) EXPECT_FALSE(report.rows[i].energy);  // unknown: last
}

TEST(ForecastEnergy, CalibratesByWhatWasMeasured) {
  const ForecastReport plain = energies_of(asking_energy());
  ForecastRequest request = asking_energy();
  request.energy->measured_joules = {{"Example 200", 60}};  // three times its TDP's share
  const ForecastReport report = energies_of(request);
  const PlatformEnergy& measured = *energy_row(report, "Example 200").energy;
  EXPECT_EQ(measured.basis, "measured");
  EXPECT_EQ(measured.joules, 60);
  EXPECT_EQ(measured.lower_joules, measured.joules);
  EXPECT_DOUBLE_EQ(measured.core_w, 30);
  // A normal prior of mean .21 and deviation .27, an observation of log 3 with deviation .32; the time is exact.
  const double prior = 1 / std::pow(kTdpProgramLogDeviation, 2), seen = 1 / std::pow(kTdpPlatformLogDeviation, 2);
  const double factor = std::exp((kTdpLogBias * prior + std::log(3) * seen) / (prior + seen));
  EXPECT_NEAR(report.energy->calibration_ratio.value(), factor, 1e-9);
  const PlatformEnergy &other = *energy_row(report, "Example 600").energy,
                       &before = *energy_row(plain, "Example 600").energy;
  EXPECT_EQ(other.basis, "TDP-based");
  EXPECT_NEAR(*other.joules, factor * *before.joules, 1e-9);
  EXPECT_LT(*other.upper_joules / *other.lower_joules, *before.upper_joules / *before.lower_joules);
  EXPECT_THAT(report.notes, Contains(HasSubstr("by what was measured")));
  // A platform of unknown power has what was measured, and calibrates nothing.
  request.energy->measured_joules = {{"Example 400", 60}};
  const ForecastReport unknown = energies_of(request);
  EXPECT_EQ(energy_row(unknown, "Example 400").energy->basis, "measured");
  EXPECT_FALSE(unknown.energy->calibration_ratio);
}

TEST(ForecastEnergy, NamesJoulesThatCanNotBe) {
  ForecastRequest request = asking_energy();
  request.energy->measured_joules = {{"Example 200", 12000}};  // of 2 s on a core of 10 W
  const ForecastReport report = energies_of(request);
  EXPECT_THAT(report.notes, Contains(HasSubstr("the measured energy of Example 200 is 600x its share of the TDP")));
  EXPECT_EQ(energy_row(report, "Example 200").energy->joules, 12000);
  EXPECT_FALSE(report.energy->calibration_ratio);  // the others stay as they are
  request.strict = true;
  EXPECT_EQ(energy_error(request), "contradicting-energy");
  request.energy->measured_joules = {{"Example 200", 60}};
  EXPECT_EQ(energy_error(request), "");
}

measure::PowerModel power_model(const measure::PowerTable& table,
                                measure::ActivitySet set = measure::ActivitySet::kLoad) {
  measure::PowerModelOptions options;
  options.forms = {measure::PowerFormKind::kSharedLine};
  options.sets = {set};
  auto model = measure::PowerModel::fit(table, measure::all_rows(table), options);
  if (!model) throw std::runtime_error(to_text(model.error()));
  return std::move(*model);
}

TEST(ForecastEnergy, TakesAModelsPower) {
  ForecastRequest request = asking_energy();
  request.energy->models = {{"Example 200", "m.json", power_model(measure::PowerWorld().table()), "", {}, 8}};
  Profile profile = timed_example();
  profile.metrics["instructions_count"] = 1.2 * 4e10 / 8 * 2;  // of 2 s: 1.2 in each cycle of a machine that is full
  const ForecastReport report = energies_of(request, profile);
  const PlatformEnergy& energy = *energy_row(report, "Example 200").energy;
  EXPECT_EQ(energy.basis, "modelled");
  ASSERT_TRUE(energy.model);
  EXPECT_NEAR(energy.model->machine_w, 60 + 20 + 100 * (0.7 + 0.2 * 1.2), 10);
  EXPECT_EQ(energy.core_w, energy.model->machine_w / 8);
  EXPECT_NEAR(energy.joules.value(), energy.core_w * 2, 1e-9);
  EXPECT_FALSE(energy.cpu);
  // The host's time is measured: the interval is the model's.
  EXPECT_NEAR(*energy.upper_joules / *energy.joules, std::exp(request.energy->models[0].model.half_width()), 1e-9);
  EXPECT_THAT(report.notes, Contains(HasSubstr("Example 200 by m.json (machine 0, 8 CPUs): ")));
  EXPECT_EQ(energy_row(report, "Example 300").energy->basis, "TDP-based");
  const Json json = to_json(report);
  EXPECT_EQ(json.at("platforms").at(0).at("energy").contains("power_model"),
            json.at("platforms").at(0).at("name") == "Example 200");
}

TEST(ForecastEnergy, SaysWhichCountersAModelLacks) {
  ForecastRequest request = asking_energy();
  request.energy->models = {{"Example 200",
                             "m.json",
                             power_model(measure::PowerWorld().table(), measure::ActivitySet::kCounters),
                             "",
                             {},
                             8}};
  const ForecastReport report = energies_of(request);
  EXPECT_EQ(energy_row(report, "Example 200").energy->basis, "TDP-based");
  EXPECT_THAT(report.notes,
              Contains(HasSubstr("m.json can't tell the power on Example 200: the profile doesn't tell")));
  EXPECT_THAT(report.notes, Contains(HasSubstr("misses")));
  // Counts of other code tell nothing.
  Profile arm = timed_example();
  arm.host.arch = "aarch64";
  request.measured_s = {{"Example 300", 3}};
  request.energy->models[0].model = power_model(measure::PowerWorld().table());
  EXPECT_THAT(energies_of(request, arm).notes, Contains(HasSubstr("the profile counted aarch64 code")));
}

TEST(ForecastEnergy, RefusesModelsThatFitNowhere) {
  measure::PowerWorld world;
  world.machines = 2;
  const auto message = [&](const ProgramPowerModel& model) {
    ForecastRequest request = asking_energy();
    request.energy->models = {model};
    const auto report = forecast_program(synthetic_forecaster(), timed_example(), request);
    return report ? "" : report.error().message;
  };
  const measure::PowerModel one = power_model(measure::PowerWorld().table()), two = power_model(world.table());
  EXPECT_THAT(message({"Example 700", "m.json", one, "", {}, 8}), HasSubstr("no platform is called"));
  EXPECT_THAT(message({"Example 200", "m.json", one, "", {}, {}}), HasSubstr("how many CPUs"));
  EXPECT_THAT(message({"Example 200", "m.json", one, "", 2e9, 8}), HasSubstr("of no clock"));
  EXPECT_THAT(message({"Example 200", "m.json", two, "", {}, 8}), HasSubstr("samples of 2 machines"));
  EXPECT_THAT(message({"Example 200", "m.json", two, "machine 5", {}, 8}), HasSubstr("no machine 'machine 5'"));
  EXPECT_EQ(message({"Example 200", "m.json", two, "machine 1", {}, 8}), "");
}

TEST(ForecastEnergy, RefusesEnergiesThatAreNone) {
  const auto code = [](std::vector<std::pair<std::string, double>> measured) {
    ForecastRequest request = asking_energy();
    request.energy->measured_joules = std::move(measured);
    return energy_error(request);
  };
  EXPECT_EQ(code({{"Example 700", 5}}), "unknown-platform");
  EXPECT_EQ(code({{"Example 200", 0}}), "bad-usage");
  EXPECT_EQ(code({{"Example 200", 5}, {"example 200", 6}}), "bad-usage");
}

TEST(ForecastEnergy, IsInTheJson) {
  ForecastRequest request = asking_energy();
  request.energy->measured_joules = {{"Example 200", 60}};
  const Json json = to_json(energies_of(request));
  EXPECT_EQ(json.at("schema"), "perfcast.forecast/1");
  EXPECT_EQ(json.at("energy").at("platforms_known_count"), 3);
  int with = 0, without = 0;
  for (const Json& row : json.at("platforms")) {
    with += row.contains("energy");
    without += row.contains("energy_missing");
    if (row.at("name") == "Example 300") {
      EXPECT_EQ(row.at("energy").at("basis"), "TDP-based");
      EXPECT_EQ(row.at("energy").at("tdp_w"), 160);
      EXPECT_GT(row.at("energy").at("energy_upper_joules"), row.at("energy").at("energy_joules"));
    }
  }
  EXPECT_EQ(with, 3);
  EXPECT_EQ(without, 3);
  EXPECT_FALSE(to_json(energies_of({})).contains("energy"));
}

TEST(ForecastEnergy, GoesOverTheClock) {
  ForecastRequest request;
  request.frequencies.emplace();
  request.frequencies->table = {{1e9, 10, {}}, {2e9, 18, {}}, {4e9, 60, {}}};
  EXPECT_EQ(energy_error(request), "unknown-memory-share");
  request.frequencies->memory_ratio = 0.4;
  const ForecastReport report = energies_of(request);
  ASSERT_TRUE(report.frequencies);
  EXPECT_EQ(report.frequencies->platform, "Example 200");
  EXPECT_EQ(report.frequencies->time_at_hz, 4e9);
  ASSERT_THAT(report.frequencies->forecast.points, SizeIs(3));
  EXPECT_NEAR(report.frequencies->forecast.points[2].time_s, 2, 1e-9);
  EXPECT_NEAR(report.frequencies->forecast.points[1].time_s, 0.8 + 2.4, 1e-9);
  EXPECT_EQ(to_json(report).at("frequencies").at("best_energy_hz"), 1e9);
  request.frequencies->platform = "Example 600";
  EXPECT_EQ(energies_of(request).frequencies->platform, "Example 600");
  Profile elsewhere = timed_example();
  elsewhere.host = {};
  EXPECT_EQ(energy_error(request, elsewhere), "no-seconds");
  request.frequencies->platform = "Example 700";
  EXPECT_EQ(energy_error(request), "unknown-platform");
}

// A machine that was sampled at two clocks: at half the clock it has half the cycles, and draws less.
measure::PowerTable two_clocks() {
  measure::PowerTable table = measure::PowerWorld().table();
  const Eigen::Index rows = table.watts.size();
  table.frequency_hz.resize(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const bool is_slow = r % 80 >= 40;
    table.frequency_hz(r) = is_slow ? 2.5e9 : 5e9;
    if (!is_slow) continue;
    table.watts(r) = 60 + (table.watts(r) - 60) / 3;
    for (Eigen::Index k = 1; k < 4; ++k) table.values(r, k) /= 2;
  }
  return table;
}

TEST(ForecastEnergy, GoesOverTheClocksOfAModel) {
  ForecastRequest request;
  request.frequencies.emplace();
  request.frequencies->memory_ratio = 0.5;
  request.frequencies->model = ProgramPowerModel{"", "m.json", power_model(two_clocks()), "", {}, 8};
  Profile profile = timed_example();
  profile.metrics["instructions_count"] = 1.2 * 4e10 / 8 * 2;
  const ForecastReport report = energies_of(request, profile);
  ASSERT_TRUE(report.frequencies);
  const std::vector<FrequencyPoint>& points = report.frequencies->forecast.points;
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(report.frequencies->time_at_hz, 5e9);
  EXPECT_EQ(points[0].frequency_hz, 2.5e9);
  EXPECT_NEAR(points[0].time_s, 3, 1e-9);  // half of 2 s follows the clock
  EXPECT_NEAR(points[1].time_s, 2, 1e-9);
  const auto watts = [&](size_t i) { return 8 * points[i].joules / points[i].time_s; };  // of the full machine
  EXPECT_NEAR(watts(1), 60 + 20 + 100 * (0.7 + 0.2 * 1.2), 12);
  EXPECT_NEAR(watts(0), 60 + (20 + 100 * (0.7 + 0.2 * 1.2)) / 3, 12);
  EXPECT_EQ(to_json(report).at("frequencies").at("power_model").at("file"), "m.json");
  EXPECT_THAT(report.notes, Contains(HasSubstr("watts by m.json")));
  request.frequencies->model->model = power_model(measure::PowerWorld().table());
  EXPECT_EQ(energy_error(request, profile), "too-few-rows");
}

TEST(ForecastEnergy, TakesTheMemorysShareFromTheModelOfTheCore) {
  ForecastRequest request;
  request.frequencies.emplace();
  request.frequencies->table = {{1e9, 10, {}}, {2e9, 18, {}}};
  Profile profile = timed_example();
  for (const PlatformRow& row : energies_of({}).rows)
    profile.core_bounds[core_design(row.platform)] = {{"memory", 0.25}};
  const ForecastReport report = energies_of(request, profile);
  EXPECT_EQ(report.frequencies->memory_ratio, 0.25);
  EXPECT_THAT(report.frequencies->memory_source, HasSubstr("by the model of"));
}

}  // namespace
}  // namespace perfcast::program
