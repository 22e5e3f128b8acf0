#include "machine/meter/accelerator_power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast {
namespace {

struct LoadedSample {
  AcceleratorLoad load;
  double power_ratio = 0;  // measured, of the stated power
};
struct Shares {
  double awake = 0, memory = 0, compute = 0;
  double power_ratio(const AcceleratorLoad& load) const {
    return std::min(1.0, awake + memory * load.memory_ratio + compute * load.compute_ratio);
  }
};
constexpr Shares kShipped = {kAwakeShare, kMemoryShare, kComputeShare};

double mean_log_error(const std::vector<LoadedSample>& samples, const Shares& shares) {
  double sum = 0;
  for (const LoadedSample& sample : samples) {
    // Boards overshoot their limit by a few per cent: no share of units says that.
    sum += std::abs(std::log(std::min(sample.power_ratio, 1.0) / shares.power_ratio(sample.load)));
  }
  return sum / static_cast<double>(samples.size());
}

double squared_log_error(const std::vector<LoadedSample>& samples, const Shares& shares) {
  double sum = 0;
  for (const LoadedSample& sample : samples) {
    sum += std::pow(std::log(sample.power_ratio / shares.power_ratio(sample.load)), 2);
  }
  return sum / static_cast<double>(samples.size());
}

// Each share in turn by a factor that shrinks.
Shares fitted(const std::vector<LoadedSample>& samples) {
  Shares best = {0.2, 0.6, 1};
  double least = mean_log_error(samples, best);
  double step = 1.3;
  for (int round = 0; round < 200; ++round) {
    const double before = least;
    for (double Shares::*share : {&Shares::awake, &Shares::memory, &Shares::compute}) {
      for (const double factor : {step, 1 / step}) {
        Shares tried = best;
        tried.*share *= factor;
        const double error = mean_log_error(samples, tried);
        if (!(error < least)) continue;
        best = tried;
        least = error;
      }
    }
    if (!(least < before)) step = std::sqrt(step);
  }
  return best;
}

CsvTable table_at(const std::string& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  auto table = CsvTable::parse(text ? *text : "", path);
  EXPECT_TRUE(table) << path;
  return *std::move(table);
}
double number_at(const CsvTable& table, size_t row, const char* column) {
  const auto index = table.column(column);
  return index ? parse_number(table.cell(row, *index)).value_or(0) : 0;
}

// Loads of a GPU that stay in memory: what a cache answers says nothing of the memory.
std::vector<LoadedSample> own_loads(const char* file, double bandwidth) {
  const std::map<std::string, double> peak = {{"fp16", 989.4e12}, {"tf32", 494.7e12}, {"fp32", 66.9e12}};
  constexpr double kBoard_w = 700;
  std::vector<LoadedSample> samples;
  const CsvTable table = table_at(std::string(PERFCAST_SOURCE_DIR "/data/transformers/") + file);
  for (size_t row = 0; row < table.rows(); ++row) {
    const double seconds = number_at(table, row, "latency_s");
    if (!(seconds > 0)) continue;  // idle
    const std::string precision(table.cell(row, *table.column("precision")));
    LoadedSample sample;
    sample.load = {number_at(table, row, "flop") / seconds / peak.at(precision),
                   number_at(table, row, "bytes") / seconds / bandwidth};
    sample.power_ratio = number_at(table, row, "power_w") / kBoard_w;
    if (sample.load.memory_ratio <= 1) samples.push_back(sample);
  }
  return samples;
}
constexpr double kH100Bandwidth = 3.352e12, kH200Bandwidth = 4.8e12;

TEST(AcceleratorPower, GrowsWithWhatIsBusyUpToTheLimit) {
  EXPECT_DOUBLE_EQ(accelerator_power_ratio({}), kAwakeShare);
  EXPECT_DOUBLE_EQ(accelerator_power_ratio({0, 0.5}), kAwakeShare + 0.5 * kMemoryShare);
  EXPECT_DOUBLE_EQ(accelerator_power_ratio({0.1, 0}), kAwakeShare + 0.1 * kComputeShare);
  EXPECT_DOUBLE_EQ(accelerator_power_ratio({1, 1}), 1);
  // Of what a cache serves, more than the memory's bandwidth.
  EXPECT_DOUBLE_EQ(accelerator_power_ratio({0, 3}), kAwakeShare + kMemoryShare);
}

TEST(AcceleratorPower, IsSurerOfWhatItWasFittedTo) {
  EXPECT_EQ(accelerator_power_log_deviation("NVIDIA H200"), kFittedPowerLogDeviation);
  EXPECT_EQ(accelerator_power_log_deviation("NVIDIA H100 PCIe"), kOtherPowerLogDeviation);
}

TEST(AcceleratorPower, SharesAreThoseThatTwoGpusGive) {
  std::vector<LoadedSample> all = own_loads("h100-powers.csv", kH100Bandwidth);
  const std::vector<LoadedSample> other = own_loads("h200-powers.csv", kH200Bandwidth);
  ASSERT_GE(all.size(), 38u);
  ASSERT_GE(other.size(), 38u);
  // Either of them, forecast by the other alone.
  const double apart = (squared_log_error(all, fitted(other)) + squared_log_error(other, fitted(all))) / 2;
  EXPECT_NEAR(std::sqrt(apart), kFittedPowerLogDeviation, 0.005);
  EXPECT_NEAR((mean_log_error(all, fitted(other)) + mean_log_error(other, fitted(all))) / 2, 0.114, 0.005);
  // The stated power itself.
  EXPECT_NEAR((mean_log_error(all, {1, 0, 0}) + mean_log_error(other, {1, 0, 0})) / 2, 0.252, 0.005);
  all.insert(all.end(), other.begin(), other.end());
  const Shares best = fitted(all);
  EXPECT_NEAR(best.awake, kAwakeShare, 0.02);
  EXPECT_NEAR(best.memory, kMemoryShare, 0.05);
  EXPECT_NEAR(best.compute, kComputeShare, 0.08);
  EXPECT_LT(mean_log_error(all, kShipped), 1.03 * mean_log_error(all, best));
}

struct DeviceErrors {
  double squared = 0, stated = 0, within = 0;
  double count = 0;
  void add(const LoadedSample& sample) {
    const double error = std::log(sample.power_ratio / kShipped.power_ratio(sample.load));
    constexpr double kZ90 = 1.6449;
    squared += error * error;
    stated += std::log(sample.power_ratio) * std::log(sample.power_ratio);
    within += std::abs(error) <= kZ90 * kOtherPowerLogDeviation ? 1 : 0;
    count += 1;
  }
};

// Micro-benchmarks at the highest clocks; shares of time that units were busy, by the devices' counters.
void add_micro_benchmarks(const std::string& path, std::map<std::string, DeviceErrors>& devices) {
  const std::map<std::string, double> stated_w = {{"GTX Titan X", 250}, {"Titan Xp", 250}, {"Tesla K40c", 235},
                                                  {"Titan V", 250},     {"GTX 980", 165},  {"AMD RX 580X", 185}};
  const CsvTable table = table_at(path);
  const size_t gpu_column = *table.column("gpu");
  std::map<std::string, std::pair<double, double>> highest;  // memory first
  const auto clocks_of = [&](size_t row) {
    return std::pair(number_at(table, row, "f_mem_mhz"), number_at(table, row, "f_core_mhz"));
  };
  const auto counts = [&](size_t row) {
    return number_at(table, row, "power_w") > 0 && table.cell(row, *table.column("kind")) != "real_utils_only";
  };
  for (size_t row = 0; row < table.rows(); ++row) {
    auto& top = highest[std::string(table.cell(row, gpu_column))];
    if (counts(row)) top = std::max(top, clocks_of(row));
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string gpu(table.cell(row, gpu_column));
    if (!counts(row) || clocks_of(row) != highest[gpu]) continue;
    const auto sum = [&](const std::vector<const char*>& columns) {
      double total = 0;
      for (const char* column : columns) total += number_at(table, row, column);
      return total;
    };
    const double single =
        sum({"u_FP32_ADD", "u_FP32_MUL", "u_FP32_FMA", "u_SP_ADD", "u_SP_MUL", "u_SP_FMA", "u_SP", "u_INT"});
    const double twice = sum({"u_FP64_ADD", "u_FP64_MUL", "u_FP64_FMA", "u_DP_ADD", "u_DP_MUL", "u_DP_FMA", "u_DP"});
    const double compute = std::max({single, twice, sum({"u_SFU"}), sum({"u_cVALUBusy"})});
    devices[gpu].add({{std::min(compute, 1.0), sum({"u_DRAM"})}, number_at(table, row, "power_w") / stated_w.at(gpu)});
  }
}

// Fine-tuning of language models: the driver's memory utilisation, and operations over the peak.
void add_fine_tuning(const std::string& path, std::map<std::string, DeviceErrors>& devices) {
  const std::map<std::string, double> stated_w = {{"4070", 285}, {"A100", 400}, {"GPU06", 230},
                                                  {"L4", 72},    {"L40", 300},  {"MI210", 300}};
  const CsvTable table = table_at(path);
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string gpu(table.cell(row, *table.column("gpu")));
    const double watts = number_at(table, row, "power_draw_watts_mean");
    if (!(watts > 0)) continue;
    devices[gpu].add(
        {{number_at(table, row, "mfu_percentage_mean") / 100, number_at(table, row, "memory_utilization_mean") / 100},
         watts / stated_w.at(gpu)});
  }
}

// The width of its interval, from devices that nothing was fitted to.
TEST(AcceleratorPower, ErrsAsTwelveOtherDevicesDid) {
  const std::string shared = PERFCAST_SHARED_DATA;
  const std::string micro = shared + "/gpm_gpupower/gpu_utilization_power.csv.gz",
                    tuning = shared + "/gpu_power_benchmark/llm_finetune_power_6gpus.csv.gz";
  for (const std::string& path : {micro, tuning}) {
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  }
  std::map<std::string, DeviceErrors> devices;
  add_micro_benchmarks(micro, devices);
  add_fine_tuning(tuning, devices);
  ASSERT_EQ(devices.size(), 12u);
  double squared = 0, stated = 0, within = 0;
  for (const auto& [gpu, errors] : devices) {
    ASSERT_GT(errors.count, 0) << gpu;
    squared += errors.squared / errors.count / 12;
    stated += errors.stated / errors.count / 12;
    within += errors.within / errors.count / 12;
  }
  EXPECT_NEAR(std::sqrt(squared), kOtherPowerLogDeviation, 0.005);
  EXPECT_NEAR(std::sqrt(stated), 0.62, 0.005);
  EXPECT_NEAR(within, 0.9, 0.03);
}

}  // namespace
}  // namespace perfcast
