#include "machine/meter/energy_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

void rest_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

double unix_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Draws as many watts as it is told to, by a clock of its own.
class FakeMeter : public Meter {
 public:
  explicit FakeMeter(MeterReading reading, double watts) : watts_(watts), began_(std::chrono::steady_clock::now()) {
    facts_.name = "fake";
    facts_.reading = reading;
    facts_.interval_s = reading == MeterReading::kEnergy ? 0.001 : 0.05;
    facts_.range_joules = 1000;
  }
  Result<std::optional<double>> read() override {
    ++reads;
    if (broken) return environment_error("file-error", "it is gone", "fake", "");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    return std::optional(facts_.reading == MeterReading::kEnergy ? watts_ * seconds : watts_);
  }
  std::vector<std::string> limited_by() override { return {"its power limit"}; }

  std::atomic<int> reads = 0;
  std::atomic<bool> broken = false;

 private:
  double watts_;
  std::chrono::steady_clock::time_point began_;
};

TEST(EnergySession, MeasuresWhileSomethingRuns) {
  const FolderOfFiles folder;
  FakeMeter counter(MeterReading::kEnergy, 40), sampler(MeterReading::kPower, 25);
  EnergySessionOptions options;
  options.cpu_root = folder.path();
  EnergySession session({&counter, &sampler}, options);
  session.start();
  rest_s(0.4);
  const EnergyReport report = session.stop();
  EXPECT_GE(report.seconds_s, 0.4);
  ASSERT_THAT(report.meters, SizeIs(2));
  EXPECT_NEAR(report.meters[0].joules.value(), 40 * report.seconds_s, 40 * 0.05 * report.seconds_s);
  EXPECT_NEAR(report.meters[1].joules.value(), 25 * report.seconds_s, 1e-6);
  EXPECT_EQ(counter.reads, 2);  // a second apart, to see it begin anew
  EXPECT_GE(sampler.reads, 4);
  EXPECT_EQ(report.meters[1].warnings.front().code, "device-limited");
  // And again, from the beginning.
  session.start();
  rest_s(0.15);
  EXPECT_LT(session.stop().meters[0].joules.value(), report.meters[0].joules.value());
}

TEST(EnergySession, KeepsWhatFailedApart) {
  FakeMeter broken(MeterReading::kPower, 25);
  broken.broken = true;
  EnergySession session({&broken});
  session.start();
  rest_s(0.12);
  const EnergyReport report = session.stop();
  EXPECT_FALSE(report.meters[0].joules);
  EXPECT_THAT(report.meters[0].why_missing, HasSubstr("it is gone"));
}

TEST(EnergySession, ReadsALogOnceItReachesTheEnd) {
  const FolderOfFiles folder{{"m.csv", "time,watts\n1,1\n"}};
  auto meter = open_meter_file(folder.of("m.csv"));
  ASSERT_TRUE(meter);
  EnergySession session({meter->get()});
  const double began = unix_s();
  session.start();
  rest_s(0.3);
  std::string text = "time,watts\n";
  // Written late, and until a second behind the end.
  std::thread writer([&] {
    for (int i = -2; i < 14; ++i) text += fmt::format("{:.6f},50\n", began + 0.1 * i);
    rest_s(0.15);
    folder.write("m.csv", text);
  });
  const EnergyReport report = session.stop();
  writer.join();
  ASSERT_TRUE(report.meters[0].joules) << report.meters[0].why_missing;
  EXPECT_NEAR(*report.meters[0].joules, 50 * report.seconds_s, 1e-3);
}

TEST(EnergySession, SaysThatALogHasNothingOfTheStretch) {
  const FolderOfFiles folder{{"m.csv", "time,watts\n1,1\n2,1\n3,1\n"}};
  auto meter = open_meter_file(folder.of("m.csv"));
  ASSERT_TRUE(meter);
  EnergySessionOptions options;
  options.settle_s = 0;
  EnergySession session({meter->get()}, options);
  session.start();
  rest_s(0.05);
  const EnergyReport report = session.stop();
  EXPECT_FALSE(report.meters[0].joules);
  EXPECT_THAT(report.meters[0].why_missing, HasSubstr("days before the command began: nobody writes it"));
  folder.write("m.csv", fmt::format("time,watts\n{:.3f},1\n{:.3f},1\n", unix_s() + 3600, unix_s() + 3601));
  session.start();
  EXPECT_THAT(session.stop().meters[0].why_missing, HasSubstr("after the command's end: its clock is ahead"));
  folder.write("m.csv", "time,watts\n");
  session.start();
  EXPECT_EQ(session.stop().meters[0].why_missing, "the log has no row with a power");
}

// What a session of `seconds` says of a log that is written meanwhile; `rows`: of when it began.
MeterEnergy of_log(double seconds, const std::function<std::string(double)>& rows) {
  const FolderOfFiles folder{{"m.csv", "time,watts\n1,1\n"}};
  auto meter = open_meter_file(folder.of("m.csv"));
  EXPECT_TRUE(meter);
  EnergySessionOptions options;
  options.settle_s = 0;
  EnergySession session({meter->get()}, options);
  const double began = unix_s();
  session.start();
  rest_s(seconds);
  folder.write("m.csv", "time,watts\n" + rows(began));
  return session.stop().meters.front();
}

// Rows each 20 ms that end so many seconds around the command's end.
MeterEnergy with_clock_off(double off_s) {
  return of_log(1.2, [off_s](double began) {
    std::string text;
    const double last = unix_s() + off_s;
    for (int i = 0; began - 1 + 0.02 * i < last; ++i) text += fmt::format("{:.6f},50\n", began - 1 + 0.02 * i);
    return text + fmt::format("{:.6f},ERR\n", last);
  });
}

TEST(EnergySession, SaysThatALogsClockIsOff) {
  const MeterEnergy behind = with_clock_off(-1.1);
  EXPECT_FALSE(behind.joules);
  EXPECT_THAT(behind.why_missing, HasSubstr("its clock is behind (clock_offset_s)"));
  const MeterEnergy ahead = with_clock_off(1.5);
  EXPECT_TRUE(ahead.joules);
  ASSERT_THAT(ahead.warnings, SizeIs(2));
  EXPECT_EQ(ahead.warnings[0].code, "clock-ahead");
  EXPECT_EQ(ahead.warnings[1].code, "bad-rows");
  const MeterEnergy right = with_clock_off(0);
  EXPECT_TRUE(right.joules);
  EXPECT_THAT(right.warnings, SizeIs(1));
}

TEST(EnergySession, DoubtsPowersOfAMachineHall) {
  const auto codes_of = [](const std::string& watts) {
    const MeterEnergy energy = of_log(0.1, [&watts](double began) {
      std::string text;
      for (int i = 0; i <= 20; ++i) text += fmt::format("{:.6f},{}\n", began - 1 + 0.1 * i, watts);
      return text;
    });
    std::vector<std::string> codes;
    for (const EnergyWarning& warning : energy.warnings) codes.push_back(warning.code);
    return codes;
  };
  EXPECT_THAT(codes_of("85000"), testing::Contains("power-high"));
  EXPECT_THAT(codes_of("850"), testing::Not(testing::Contains("power-high")));
}

TEST(EnergySession, WaitsOnceForALogThatNobodyWrites) {
  const FolderOfFiles folder{{"m.csv", "time,watts\n1,1\n2,1\n3,1\n"}};
  auto meter = open_meter_file(folder.of("m.csv"));
  ASSERT_TRUE(meter);
  EnergySessionOptions options;
  options.settle_s = 0.4;
  EnergySession session({meter->get()}, options);
  const double began = unix_s();
  for (int i = 0; i < 5; ++i) {
    session.start();
    session.stop();
  }
  EXPECT_LT(unix_s() - began, 1.2);
}

TEST(EnergySession, EndsByItself) {
  FakeMeter meter(MeterReading::kPower, 1);
  EnergySession session({&meter});
  session.start();
  rest_s(0.06);
}

TEST(EnergySession, JoulesAreThoseOfTheWidestScopeThatHasAll) {
  EXPECT_FALSE(widest_joules({}));
  EnergyReport report;
  const auto add = [&](EnergyScope scope, std::optional<double> joules) {
    MeterEnergy meter;
    meter.meter.scope = scope;
    meter.joules = joules;
    report.meters.push_back(meter);
  };
  add(EnergyScope::kCores, 5);
  EXPECT_FALSE(widest_joules(report));
  add(EnergyScope::kPackage, 10);
  add(EnergyScope::kPackage, 20);
  add(EnergyScope::kGpu, 300);
  EXPECT_EQ(widest_joules(report)->joules, 30);
  EXPECT_EQ(widest_joules(report)->scope, EnergyScope::kPackage);
  add(EnergyScope::kPackage, std::nullopt);
  EXPECT_EQ(widest_joules(report)->joules, 300);
}

// What measures the same is never added: one counts, and a warning says which.
TEST(EnergySession, SourcesOfOneScopeAreNotAdded) {
  EnergyReport report;
  const auto add = [&](const char* kind, const char* name, EnergyScope scope, std::optional<double> joules) {
    MeterEnergy meter;
    meter.meter.kind = kind;
    meter.meter.name = name;
    meter.meter.scope = scope;
    meter.joules = joules;
    report.meters.push_back(meter);
  };
  add("hwmon", "hwmon:amd_energy/energy17", EnergyScope::kPackage, 101);
  add("hwmon", "hwmon:amd_energy/energy18", EnergyScope::kPackage, 203);
  EXPECT_EQ(joules_of_scope(report, EnergyScope::kPackage), 304);
  add("rapl", "rapl:package-0", EnergyScope::kPackage, 100);
  add("rapl", "rapl:package-1", EnergyScope::kPackage, 200);
  EXPECT_EQ(joules_of_scope(report, EnergyScope::kPackage), 300);
  report.meters.back().joules.reset();  // RAPL lacks one of its packages
  EXPECT_EQ(joules_of_scope(report, EnergyScope::kPackage), 304);
  add("hwmon", "hwmon:power_meter/power1", EnergyScope::kServer, 900);
  add("redfish", "power.json", EnergyScope::kServer, 880);
  EXPECT_EQ(widest_joules(report)->joules, 880);
  add("nvml", "nvml:0", EnergyScope::kGpu, 1);
  add("hwmon", "hwmon:amdgpu/power1", EnergyScope::kGpu, 2);
  EXPECT_EQ(joules_of_scope(report, EnergyScope::kGpu), 3);
}

TEST(EnergySession, WorkOfCpusHasAScopeWithCpusThatEveryRoundHas) {
  EXPECT_FALSE(scope_of_cpu_work({}));
  const auto report_of = [](std::optional<double> server_joules, std::optional<double> package_joules) {
    EnergyReport report;
    for (const auto& [scope, joules] : {std::pair(EnergyScope::kServer, server_joules),
                                        {EnergyScope::kPackage, package_joules},
                                        {EnergyScope::kGpu, std::optional(300.0)}}) {
      MeterEnergy meter;
      meter.meter.scope = scope;
      meter.joules = joules;
      report.meters.push_back(meter);
    }
    return report;
  };
  std::vector<EnergyReport> rounds = {report_of(100, 10), report_of(110, 11)};
  EXPECT_EQ(scope_of_cpu_work(rounds), EnergyScope::kServer);
  rounds.push_back(report_of(std::nullopt, 12));
  EXPECT_EQ(scope_of_cpu_work(rounds), EnergyScope::kPackage);
  EXPECT_EQ(joules_of_scope(rounds[1], EnergyScope::kPackage), 11);
  EXPECT_EQ(joules_of_scope(rounds[2], EnergyScope::kServer), std::nullopt);
  rounds.push_back(report_of(120, std::nullopt));
  EXPECT_FALSE(scope_of_cpu_work(rounds));  // never the GPU's
}

}  // namespace
}  // namespace perfcast
