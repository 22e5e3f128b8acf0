#include "machine/meter/log_devices.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kMostBroken = 0.25;  // of the instants, of the rows
constexpr size_t kMostDevices = 4096;
constexpr std::string_view kDeviceNames[] = {"device", "gpu",         "index",  "id",      "uuid",    "serial", "name",
                                             "bus",    "outlet",      "socket", "channel", "phase",   "host",   "node",
                                             "server", "machine",     "sensor", "pdu",     "package", "domain", "psu",
                                             "card",   "accelerator", "module", "rail",    "port"};

// "pci.bus_id", "gpu_uuid", "Device ID": words of it.
bool names_a_device(const std::string& column) {
  std::string word;
  bool found = false;
  const auto end_word = [&] {
    found = found || std::find(std::begin(kDeviceNames), std::end(kDeviceNames), word) != std::end(kDeviceNames);
    word.clear();
  };
  for (const char c : lower_case(trim(column))) {
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return found;
}

Error several(const std::string& source, const std::string& message) {
  return {"several-devices", message, source,
          "rows of one device, or of all devices at each time, with a column 'device' that says which"};
}

}  // namespace

std::optional<size_t> device_column(const CsvTable& table) {
  std::optional<size_t> best;
  size_t most = 1;
  for (size_t column = 0; column < table.columns().size(); ++column) {
    if (!names_a_device(table.columns()[column])) continue;
    std::set<std::string_view> devices;
    for (size_t row = 0; row < table.rows() && devices.size() <= kMostDevices; ++row) {
      if (const std::string_view device = trim(table.cell(row, column)); !device.empty()) devices.insert(device);
    }
    // What differs from row to row counts rows, not devices.
    if (devices.size() <= most || 2 * devices.size() > table.rows() + 1) continue;
    most = devices.size();
    best = column;
  }
  return best;
}

Status sum_devices(std::vector<DeviceSample> samples, size_t devices, const std::string& source, PowerLog& log) {
  std::vector<bool> seen(devices);
  size_t begin = 0, whole = 0, broken = 0;
  const auto end_instant = [&](size_t end) {
    if (static_cast<size_t>(std::count(seen.begin(), seen.end(), true)) == devices) {
      PowerSample sum;
      for (size_t i = begin; i < end; ++i) {
        sum.unix_s += samples[i].sample.unix_s / static_cast<double>(devices);
        sum.power_w += samples[i].sample.power_w;
      }
      log.samples.push_back(sum);
      ++whole;
    } else if (end > begin) {
      ++broken;
    }
    begin = end;
    std::fill(seen.begin(), seen.end(), false);
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    if (seen[samples[i].device]) end_instant(i);
    seen[samples[i].device] = true;
  }
  end_instant(samples.size());
  log.blank_rows += static_cast<int64_t>(broken);
  // The first and the last instant may be cut.
  if (whole == 0 || static_cast<double>(broken) > kMostBroken * static_cast<double>(whole + broken) + 2) {
    return several(source, "the rows are of " + std::to_string(devices) + " devices, and " + std::to_string(broken) +
                               " of " + std::to_string(whole + broken) + " instants lack one of them");
  }
  return {};
}

Status merge_equal_times(const std::string& source, PowerLog& log) {
  std::vector<PowerSample> merged;
  size_t shared = 0;
  for (size_t i = 0; i < log.samples.size();) {
    PowerSample mean{log.samples[i].unix_s, 0};
    size_t end = i;
    while (end < log.samples.size() && log.samples[end].unix_s == mean.unix_s)
      mean.power_w += log.samples[end++].power_w;
    if (end - i > 1) shared += end - i;
    mean.power_w /= static_cast<double>(end - i);
    merged.push_back(mean);
    i = end;
  }
  if (static_cast<double>(shared) > kMostBroken * static_cast<double>(log.samples.size())) {
    return several(source,
                   std::to_string(shared) + " of " + std::to_string(log.samples.size()) +
                       " rows have the time of another row: they may be of several devices, or of a clock that is "
                       "too coarse");
  }
  log.samples = std::move(merged);
  return {};
}

}  // namespace perfcast
