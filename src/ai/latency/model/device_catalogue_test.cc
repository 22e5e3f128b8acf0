#include "ai/latency/model/device_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

constexpr const char* kSmall = R"({"schema": "perfcast.devices/1", "devices": [
  {"name": "Invented 1", "aliases": ["inv1"], "vendor": "None", "kind": "tpu", "generation": "first", "process_nm": 5,
   "memory_bytes": 17179869184, "memory_bytes_per_s": 1e12, "l2_bytes": 4194304, "units": 10, "clock_hz": 1.5e9,
   "power_w": 200, "link_bytes_per_s": 5e10, "peak_flops": {"half": 1e14, "int8": 2e14},
   "sources": ["units, peak_flops: a made-up data sheet"]},
  {"name": "Invented 2", "memory_bytes": 17179869184, "memory_bytes_per_s": 1e12, "units": 3,
   "peak_flops": {"fp32": 1e13}}]})";

std::string code_of(const std::string& text) {
  const auto catalogue = parse_device_catalogue(text, "d.json");
  return catalogue ? "ok" : catalogue.error().code;
}

// The small catalogue with one piece of its text replaced.
std::string with(const std::string& what, const std::string& by) {
  std::string text = kSmall;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

DeviceCatalogue shipped_devices() {
  const auto catalogue = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  EXPECT_TRUE(catalogue) << to_text(catalogue.error());
  return catalogue ? *catalogue : DeviceCatalogue{};
}

TEST(DeviceCatalogue, ReadsEveryFactAndLeavesOutTheRest) {
  const auto catalogue = parse_device_catalogue(kSmall, "d.json");
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  ASSERT_EQ(catalogue->devices.size(), 2u);
  const DeviceFacts& one = catalogue->devices[0];
  EXPECT_EQ(one.kind, DeviceKind::kTpu);
  EXPECT_EQ(one.process_nm, 5);
  EXPECT_EQ(one.memory_bytes, 0x1p34);
  EXPECT_EQ(one.memory_bytes_per_s, 1e12);
  EXPECT_EQ(one.l2_bytes, 0x1p22);
  EXPECT_EQ(one.units, 10);
  EXPECT_EQ(one.clock_hz, 1.5e9);
  EXPECT_EQ(one.power_w, 200);
  EXPECT_EQ(one.link_bytes_per_s, 5e10);
  EXPECT_EQ(one.peak(MathMode::kHalf), 1e14);
  EXPECT_EQ(one.peak(MathMode::kInt8), 2e14);
  EXPECT_TRUE(std::isnan(one.peak(MathMode::kFp32)));
  const DeviceFacts& two = catalogue->devices[1];
  EXPECT_EQ(two.kind, DeviceKind::kGpu);
  EXPECT_TRUE(std::isnan(two.l2_bytes));
  EXPECT_TRUE(std::isnan(two.power_w));

  const std::string text = to_text(to_json(*catalogue));
  const auto back = parse_device_catalogue(text, "again");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_text(to_json(*back)), text);
}

TEST(DeviceCatalogue, FindsByNameOrAliasInAnySpelling) {
  const DeviceCatalogue catalogue = shipped_devices();
  const auto name = [&](std::string_view wanted) {
    const auto device = find_device(catalogue, wanted);
    return device ? (*device)->name : device.error().code;
  };
  EXPECT_EQ(name("a100"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(name("nvidia l4"), "NVIDIA L4");
  EXPECT_EQ(name("NVIDIA_A100-PCIE-40GB"), "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(name(" H100-sxm "), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(name("TPU_v5e"), "Google TPU v5e");
  const auto nothing = find_device(catalogue, "h1000");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "unknown-device");
  EXPECT_THAT(nothing.error().expected, HasSubstr("h100"));
  EXPECT_FALSE(find_device(catalogue, ""));
}

TEST(DeviceCatalogue, NamesWhatIsMissingOrAbsurd) {
  const auto complaint = [](const std::string& text) {
    const auto catalogue = parse_device_catalogue(text, "d.json");
    return catalogue ? std::string("ok") : catalogue.error().message;
  };
  EXPECT_THAT(complaint(with(R"("memory_bytes_per_s": 1e12, "l2_bytes")", R"("l2_bytes")")),
              HasSubstr("d.json.devices[0].memory_bytes_per_s"));
  EXPECT_THAT(complaint(with(R"("units": 3,)", "")), HasSubstr("d.json.devices[1].units"));
  EXPECT_THAT(complaint(with(R"({"fp32": 1e13})", "{}")), HasSubstr("peak_flops"));
  EXPECT_THAT(complaint(with("1e14", "1e25")), HasSubstr("peak_flops.half"));
  EXPECT_THAT(complaint(with("1e14", "0")), HasSubstr("peak_flops.half"));
  EXPECT_THAT(complaint(with(R"("power_w": 200)", R"("power_w": -1)")), HasSubstr("power_w"));
  EXPECT_THAT(complaint(with(R"("units": 10)", R"("units": 10.5)")), HasSubstr("units"));
  EXPECT_THAT(complaint(with(R"("power_w": 200)", R"("linked_devices": 2.5)")), HasSubstr("linked_devices"));
  EXPECT_THAT(complaint(with("power_w", "power_watt")), HasSubstr("power_watt"));
  EXPECT_EQ(complaint(with(R"("half")", R"("fp16")")), "ok");  // the same units
  EXPECT_THAT(complaint(with(R"("half")", R"("fp12")")), HasSubstr("peak_flops.fp12"));
  EXPECT_THAT(complaint(with("4194304", "17179869185")), HasSubstr("l2_bytes"));
  EXPECT_THAT(complaint(with("units, peak_flops: a", "unit: a")), HasSubstr("'unit' is no fact"));
}

TEST(DeviceCatalogue, RefusesWhatIsNoCatalogue) {
  EXPECT_EQ(code_of("{"), "bad-json");
  EXPECT_EQ(code_of("[]"), "bad-json-field");
  EXPECT_EQ(code_of(R"({"schema": "perfcast.devices/1", "devices": []})"), "bad-json-field");
  EXPECT_EQ(code_of(R"({"schema": "perfcast.devices/1", "devices": [7]})"), "bad-json-field");
  EXPECT_EQ(code_of(with("devices/1", "devices/2")), "bad-json-field");
  EXPECT_EQ(code_of(with(R"("tpu")", R"("npu")")), "bad-json-field");
  EXPECT_EQ(code_of(with(R"("Invented 2")", R"("INV1")")), "bad-device");
}

// Facts that are often told wrong, and relations that hold on every device.
TEST(ShippedDevices, AreRight) {
  const DeviceCatalogue catalogue = shipped_devices();
  const auto device = [&](std::string_view name) {
    const auto found = find_device(catalogue, name);
    EXPECT_TRUE(found) << name;
    return found ? **found : DeviceFacts{};
  };
  EXPECT_EQ(device("l4").units, 58);
  EXPECT_EQ(device("p4").units, 20);
  EXPECT_EQ(device("a10g").peak(MathMode::kHalf), 70e12);
  EXPECT_EQ(device("mi250").peak(MathMode::kHalf), 362.1e12);
  EXPECT_EQ(device("mi250").units, 2 * device("mi250-die").units);
  EXPECT_EQ(device("h100").peak(MathMode::kHalf), 989.4e12);      // without sparsity
  EXPECT_EQ(device("rtx-4090").peak(MathMode::kHalf), 165.2e12);  // with fp32 sums
  EXPECT_TRUE(std::isnan(device("p100").peak(MathMode::kHalf)));
  EXPECT_EQ(device("h100-nvl").linked_devices, 2);  // a bridge
  EXPECT_TRUE(std::isnan(device("h100").linked_devices));
  for (const DeviceFacts& each : catalogue.devices) {
    EXPECT_FALSE(each.sources.empty()) << each.name;
    EXPECT_FALSE(each.generation.empty()) << each.name;
    if (each.vendor != "NVIDIA") continue;
    // fp32 units: 64 or 128 in each multiprocessor, two operations a cycle.
    const double width = each.peak(MathMode::kFp32) / (2 * each.units * each.clock_hz);
    EXPECT_LT(std::min(std::abs(width / 64 - 1), std::abs(width / 128 - 1)), 0.03) << each.name << " " << width;
    const double half = each.peak(MathMode::kHalf);
    if (std::isnan(half)) continue;
    // Tensor cores: a power of two from 512 operations per multiprocessor and cycle, at a clock near the boost clock.
    const double exponent = std::log2(half / (each.units * each.clock_hz));
    // The sheet of H100 NVL states them at a clock that its power allows, 0.87 of the boost clock.
    const double nearest = each.name == "NVIDIA H100 NVL" ? 0.21 : 0.13;
    EXPECT_LT(std::abs(exponent - std::round(exponent)), nearest) << each.name << " " << exponent;
  }
}

// Every fact of every shipped device is named by one of its sources.
TEST(ShippedDevices, StateASourceForEachFact) {
  for (const Json& device : to_json(shipped_devices())["devices"]) {
    std::string stated;
    for (const Json& source : device["sources"]) {
      stated += " " + source.get<std::string>().substr(0, source.get<std::string>().find(": ")) + ",";
    }
    for (const auto& [key, value] : device.items()) {
      if (key == "name" || key == "aliases" || key == "vendor" || key == "kind" || key == "sources") continue;
      EXPECT_THAT(stated, HasSubstr(" " + key + ",")) << device["name"];
    }
  }
}

TEST(ShippedDevices, HaveTheNamesOfTheOperatorMeasurements) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/neusight/devices.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no public data set at " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table);
  const DeviceCatalogue catalogue = shipped_devices();
  for (const char* column : {"device", "device_dir"}) {
    const auto names = table->column(column);
    ASSERT_TRUE(names);
    for (size_t row = 0; row < table->rows(); ++row) {
      EXPECT_TRUE(find_device(catalogue, table->cell(row, *names))) << table->cell(row, *names);
    }
  }
}

}  // namespace
}  // namespace perfcast::ai
