#include "machine/meter/platform_power.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/csv.h"
#include "base/file.h"
#include "base/statistics.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

std::string table_of(const std::string& cpus) {
  return R"({"schema": "perfcast.platform-power/1", "cpus": [)" + cpus + "]}";
}

std::string error_of(const std::string& text) {
  const auto table = PlatformPowerTable::parse(text, "p.json");
  return table ? "" : table.error().code;
}

constexpr const char* kOne = R"({"name": "AMD EPYC 7763", "tdp_w": 280, "cores_count": 64, "source": "AMD"})";

TEST(PlatformPower, FindsACpuByWhateverItsKernelCallsIt) {
  const auto table = PlatformPowerTable::parse(table_of(kOne), "p.json");
  ASSERT_TRUE(table) << to_text(table.error());
  const CpuPower* cpu = table->find("AMD EPYC 7763 64-Core Processor");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tdp_w, 280);
  EXPECT_DOUBLE_EQ(tdp_joules(*cpu, 16), 70);
  EXPECT_EQ(table->find("AMD EPYC 7773X"), nullptr);
  EXPECT_EQ(table->find(""), nullptr);
}

TEST(PlatformPower, RefusesWhatIsNoTable) {
  EXPECT_EQ(error_of("{}"), "bad-json-field");
  EXPECT_EQ(error_of(R"({"schema": "other/1", "cpus": []})"), "bad-json-field");
  EXPECT_EQ(error_of(table_of(R"({"name": "A 1", "tdp_w": 0, "cores_count": 64, "source": "s"})")), "bad-json-field");
  EXPECT_EQ(error_of(table_of(R"({"name": "A 1", "tdp_w": 9, "cores_count": 0, "source": "s"})")), "bad-json-field");
  EXPECT_EQ(error_of(table_of(R"({"name": "A 1", "tdp_w": 9, "cores_count": 1, "source": ""})")), "bad-json-field");
  EXPECT_EQ(error_of(table_of(std::string(kOne) + "," + kOne)), "duplicate-name");
}

TEST(PlatformPower, KnowsManyCpusBySureNames) {
  const auto table = PlatformPowerTable::read(PERFCAST_SOURCE_DIR "/data/platform-power/cpus.json");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_GT(table->size(), 150u);
  const std::map<std::string, std::pair<double, double>> known = {
      {"AMD EPYC 7763 64-Core Processor", {280, 64}},
      {"AMD EPYC 7742 64-Core Processor", {225, 64}},
      {"AMD EPYC 9354 32-Core Processor", {280, 32}},
      {"Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz", {205, 24}},
      {"Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz", {115, 10}},
      {"Intel Xeon E5-2680 0", {130, 8}},
      {"Intel Core i9-9900K", {95, 8}},
      {"AMD Ryzen 9 5950X 16-Core", {105, 16}}};
  for (const auto& [name, facts] : known) {
    const CpuPower* cpu = table->find(name);
    ASSERT_NE(cpu, nullptr) << name;
    EXPECT_EQ(cpu->tdp_w, facts.first) << name;
    EXPECT_EQ(cpu->cores, facts.second) << name;
  }
  // What clouds hide, and what only one of them has.
  for (const char* hidden : {"Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon Processor (Skylake, IBRS)", "AMD EPYC 9R14",
                             "Neoverse-N1", "AMD EPYC-Milan Processor"})
    EXPECT_EQ(table->find(hidden), nullptr) << hidden;
}

// The width of TDP-based forecasts, from power measured on five servers.
TEST(PlatformPower, ErrsAsFiveServersDid) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/renewit_power/server_power_counters.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table);
  const std::map<std::string, double> tdp_w = {{"AMD Opteron 6140", 115},
                                               {"AMD Opteron 6234", 115},
                                               {"INTEL Xeon E5-2640 RenewIT", 95},
                                               {"INTEL Xeon E5-2650", 95},
                                               {"INTEL Xeon X5650", 95}};
  constexpr double kPackages = 2, kLeastUse = 0.05;
  struct Sample {
    double power_w, use;
  };
  std::map<std::string, std::map<std::string, std::vector<Sample>>> machines;
  std::map<std::string, std::vector<double>> powers;
  const auto column = [&](const char* name) { return *table->column(name); };
  const size_t machine = column("machine"), workload = column("workload"), power = column("powerWatts"),
               user = column("cpu_user"), system = column("cpu_system");
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto watts = table->number(row, power), user_percent = table->number(row, user),
               system_percent = table->number(row, system);
    ASSERT_TRUE(watts && user_percent && system_percent);
    if (!*watts || !*user_percent || !*system_percent) continue;
    const std::string name(table->cell(row, machine));
    powers[name].push_back(**watts);
    machines[name][std::string(table->cell(row, workload))].push_back(
        {**watts, (**user_percent + **system_percent) / 100});
  }
  std::vector<double> logs, machine_means;
  std::map<std::string, std::vector<double>> by_workload;
  for (auto& [name, workloads] : machines) {
    const double idle_w = quantile(powers[name], 0.005);
    std::vector<double> own;
    for (const auto& [what, samples] : workloads) {
      double above_idle_j = 0, shares_j = 0;
      int64_t count = 0;
      for (const Sample& sample : samples) {
        if (sample.use < kLeastUse) continue;
        ++count;
        above_idle_j += sample.power_w - idle_w;
        shares_j += sample.use * kPackages * tdp_w.at(name);
      }
      if (count < 50) continue;
      own.push_back(std::log(above_idle_j / shares_j));
      by_workload[what].push_back(own.back());
    }
    logs.insert(logs.end(), own.begin(), own.end());
    machine_means.push_back(mean(own));
  }
  std::vector<double> workload_means;
  workload_means.reserve(by_workload.size());
  for (const auto& [what, values] : by_workload) workload_means.push_back(mean(values));
  EXPECT_EQ(logs.size(), 41u);
  EXPECT_NEAR(mean(logs), kTdpLogBias, 0.01);
  EXPECT_NEAR(standard_deviation(workload_means), kTdpProgramLogDeviation, 0.01);
  EXPECT_NEAR(standard_deviation(machine_means), kTdpPlatformLogDeviation, 0.01);
  // The interval that is made of them holds nine of ten.
  const double half = 1.645 * std::hypot(kTdpProgramLogDeviation, kTdpPlatformLogDeviation);
  const auto inside =
      std::count_if(logs.begin(), logs.end(), [&](double log) { return std::abs(log - kTdpLogBias) <= half; });
  EXPECT_GE(inside, 36);
}

}  // namespace
}  // namespace perfcast
