#include "machine/meter/meter_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "machine/meter/ipmi_text.h"
#include "machine/meter/meter_csv.h"
#include "machine/meter/redfish_power.h"

namespace perfcast {
namespace {

// A file last written longer ago than this when the measurement begins says nothing about its beginning.
constexpr double kStale_s = 10;

struct FileStamp {
  int64_t seconds = -1, nanoseconds = -1, bytes = -1;
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return {};
  return {static_cast<int64_t>(facts.st_mtim.tv_sec), static_cast<int64_t>(facts.st_mtim.tv_nsec),
          static_cast<int64_t>(facts.st_size)};
}

double age_of(const FileStamp& stamp) {
  const double now_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return now_s - static_cast<double>(stamp.seconds) - static_cast<double>(stamp.nanoseconds) * 1e-9;
}

// What a tool prints once, written anew again and again: one reading for each time that the file changes.
class SnapshotMeter : public Meter {
 public:
  SnapshotMeter(std::string path, MeterFileKind kind, MeterFileOptions options)
      : path_(std::move(path)), kind_(kind), options_(std::move(options)) {}

  // What the file says of itself; its first reading is not taken for one of a measurement.
  Status open() {
    facts_.name = path_;
    facts_.kind = kind_ == MeterFileKind::kIpmi ? "ipmi" : "redfish";
    facts_.scope = EnergyScope::kServer;
    facts_.interval_s = kUnknown;
    facts_.unit = "W";
    facts_.accuracy = "not stated; boards' controllers are not made for measurements";
    const auto text = read_bytes(path_, kLargestMeterFileBytes);
    if (!text) return text.error();
    if (kind_ == MeterFileKind::kIpmi) {
      const auto power = parse_ipmi_power(*text, path_, options_.sensor);
      if (!power) return power.error();
      facts_.covers = "the server, by IPMI: " + printable(power->sensor);
      facts_.resolution = 1;
      if (!options_.sensor.empty()) facts_.scope = EnergyScope::kOther;
      return {};
    }
    const auto power = parse_redfish_power(*text, path_);
    if (!power) return power.error();
    facts_.covers = "by Redfish: " + (power->of.empty() ? "the server" : power->of);
    facts_.reading = power->energy_joules ? MeterReading::kEnergy : MeterReading::kPower;
    facts_.unit = power->energy_joules ? "J" : "W";
    facts_.resolution = power->energy_joules ? power->energy_resolution_joules.value_or(kUnknown) : kUnknown;
    facts_.accuracy_ratio = power->accuracy_ratio;
    if (power->accuracy_ratio) facts_.accuracy = "as the sensor itself states it";
    return {};
  }

  Result<std::optional<double>> read() override {
    const FileStamp stamp = stamp_of(path_);
    if (stamp == last_) return std::optional<double>();
    const bool first = last_ == FileStamp();
    last_ = stamp;
    if (first && age_of(stamp) > kStale_s) return std::optional<double>();
    const auto text = read_bytes(path_, kLargestMeterFileBytes);
    if (!text) return text.error();
    if (trim(*text).empty()) {  // between the writer's emptying and filling it
      last_ = {};
      last_.bytes = 0;
      return std::optional<double>();
    }
    if (kind_ == MeterFileKind::kIpmi) {
      const auto power = parse_ipmi_power(*text, path_, options_.sensor);
      if (!power) return power.error();
      return std::optional(power->power_w);
    }
    const auto power = parse_redfish_power(*text, path_);
    if (!power) return power.error();
    return facts_.reading == MeterReading::kEnergy ? power->energy_joules : power->power_w;
  }

 private:
  std::string path_;
  MeterFileKind kind_;
  MeterFileOptions options_;
  FileStamp last_;
};

class LogMeter : public Meter {
 public:
  LogMeter(std::string path, double clock_offset_s) : path_(std::move(path)), clock_offset_s_(clock_offset_s) {
    facts_.name = path_;
    facts_.kind = "csv";
    facts_.scope = EnergyScope::kOther;
    facts_.covers = "the machine that the external meter measures";
    facts_.unit = "W";
    facts_.reading = MeterReading::kLog;
    facts_.interval_s = kUnknown;
    facts_.accuracy = "that of the meter; the file does not state it";
  }

  Result<std::optional<double>> read() override { return std::optional<double>(); }

  Result<PowerLog> logged(double from_unix_s, double to_unix_s) override {
    const auto text = read_file(path_, kLargestMeterFileBytes);
    if (!text) return text.error();
    auto log = parse_power_csv(*text, path_);
    if (!log) return log.error();
    for (PowerSample& sample : log->samples) sample.unix_s += clock_offset_s_;
    log->last_unix_s += clock_offset_s_;
    // One beyond either end, so that the ends are read between two samples.
    const auto before = [](const PowerSample& sample, double time_s) { return sample.unix_s < time_s; };
    auto first = std::lower_bound(log->samples.begin(), log->samples.end(), from_unix_s, before);
    if (first != log->samples.begin()) --first;
    auto last = std::lower_bound(first, log->samples.end(), to_unix_s, before);
    if (last != log->samples.end()) ++last;
    log->samples = {first, last};
    return log;
  }

 private:
  std::string path_;
  double clock_offset_s_;
};

}  // namespace

bool names_a_file(const std::string& name) {
  MeterFileOptions options;
  return stamp_of(path_in_meter_name(name, options)) != FileStamp();
}

std::string path_in_meter_name(const std::string& name, MeterFileOptions& options) {
  const size_t hash = name.rfind('#');
  if (hash == std::string::npos || stamp_of(name) != FileStamp()) return name;
  options.sensor = name.substr(hash + 1);
  return name.substr(0, hash);
}

Result<MeterFileKind> meter_file_kind(std::string_view text, const std::string& source) {
  const std::string_view content = trim(text);
  if (content.starts_with("{")) return MeterFileKind::kRedfish;
  const std::string header = lower_case(content.substr(0, content.find('\n')));
  const bool table = header.find(',') != std::string::npos || header.find(';') != std::string::npos;
  if (table && (header.find("time") != std::string::npos || header.find("date") != std::string::npos))
    return MeterFileKind::kCsv;
  if (looks_like_ipmi(content)) return MeterFileKind::kIpmi;
  return Error{"bad-meter-file", "the file is none that a meter's reader writes", source,
               "CSV with the columns timestamp and power_w, what ipmitool or ipmi-dcmi prints, or JSON of Redfish"};
}

Result<std::unique_ptr<Meter>> open_meter_file(const std::string& path, const MeterFileOptions& options) {
  const auto text = read_file(path, kLargestMeterFileBytes);
  if (!text) return text.error();
  const auto kind = meter_file_kind(*text, path);
  if (!kind) return kind.error();
  if (*kind != MeterFileKind::kIpmi && !options.sensor.empty()) {
    return usage_error("bad-usage", "the file has no sensor '" + printable(options.sensor) + "' to choose", path,
                       "FILE#SENSOR for what ipmitool prints; else FILE");
  }
  if (*kind == MeterFileKind::kCsv) {
    if (const auto log = parse_power_csv(*text, path); !log) return log.error();
    return std::unique_ptr<Meter>(std::make_unique<LogMeter>(path, options.clock_offset_s));
  }
  auto meter = std::make_unique<SnapshotMeter>(path, *kind, options);
  if (Status status = meter->open(); !status) return status.error();
  return std::unique_ptr<Meter>(std::move(meter));
}

}  // namespace perfcast
