#include "ai/latency/model/device_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kSchema = "perfcast.devices/1";
constexpr size_t kMostDevices = 10000;
constexpr size_t kLongestName = 120;

// One number of a device, and the range that any device, past or to come, is believed to lie in.
struct NumberFact {
  const char* key;
  double DeviceFacts::*member;
  double least, most;
  bool needed;
};

constexpr std::array kNumbers = {
    NumberFact{"process_nm", &DeviceFacts::process_nm, 0.5, 500, false},
    NumberFact{"memory_bytes", &DeviceFacts::memory_bytes, 0x1p26, 0x1p46, true},
    NumberFact{"memory_bytes_per_s", &DeviceFacts::memory_bytes_per_s, 1e8, 1e15, true},
    NumberFact{"l2_bytes", &DeviceFacts::l2_bytes, 0x1p12, 0x1p38, false},
    NumberFact{"units", &DeviceFacts::units, 1, 1e6, true},
    NumberFact{"clock_hz", &DeviceFacts::clock_hz, 1e7, 2e10, false},
    NumberFact{"power_w", &DeviceFacts::power_w, 0.1, 1e5, false},
    NumberFact{"link_bytes_per_s", &DeviceFacts::link_bytes_per_s, 1e6, 1e14, false},
    NumberFact{"linked_devices", &DeviceFacts::linked_devices, 2, 1e6, false},
    NumberFact{"host_link_bytes_per_s", &DeviceFacts::host_link_bytes_per_s, 1e6, 1e14, false},
};
constexpr std::array<const char*, kMathModes> kModes = {"fp32", "tf32", "half", "fp8", "int8"};
constexpr double kLeastPeak = 1e8, kMostPeak = 1e18;
constexpr std::array kKinds = {"gpu", "tpu", "cpu"};

double checked(JsonReader& in, const std::string& key, double value, double least, double most) {
  if (value >= least && value <= most) return value;
  in.complain(key, fmt::format("{:g}, which no device has", value),
              fmt::format("a number in [{:g}, {:g}]", least, most));
  return kUnknown;
}

void read_numbers(JsonReader& in, DeviceFacts& device) {
  for (const NumberFact& fact : kNumbers) {
    const auto value = in.optional_number(fact.key);
    if (value) {
      device.*fact.member = checked(in, fact.key, *value, fact.least, fact.most);
    } else if (fact.needed) {
      in.complain(fact.key, "missing, and needed of every device",
                  fmt::format("a number in [{:g}, {:g}]", fact.least, fact.most));
    }
  }
  for (const auto& [key, value] :
       {std::pair("units", device.units), std::pair("linked_devices", device.linked_devices)}) {
    if (value != std::floor(value) && !std::isnan(value))
      in.complain(key, fmt::format("{:g}", value), "a whole number");
  }
}

void read_peaks(JsonReader& in, DeviceFacts& device) {
  const Json* peaks = in.object("peak_flops");
  if (peaks == nullptr || peaks->empty()) {
    in.complain("peak_flops", "no peak of any mode", "one of fp32, tf32, half, fp8, int8, in FLOP/s");
    return;
  }
  for (const auto& [key, value] : peaks->items()) {
    // fp16 and bf16 run on the same units.
    const bool is_half = key == "fp16" || key == "bf16";
    const auto* const mode = std::find(kModes.begin(), kModes.end(), is_half ? std::string("half") : key);
    const std::string path = "peak_flops." + printable(key.substr(0, 60));
    if (mode == kModes.end()) {
      in.complain(path, "an unknown mode", "one of fp32, tf32, half (or fp16, bf16), fp8, int8");
    } else if (!value.is_number()) {
      in.complain(path, "no number", "FLOP/s");
    } else {
      device.peak_flops[mode - kModes.begin()] = checked(in, path, value.get<double>(), kLeastPeak, kMostPeak);
    }
  }
}

// "units, clock_hz: a document", the facts being those that a device has: what was asked for.
void check_sources(JsonReader& in, const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    const size_t colon = source.find(": ");
    const bool shaped = colon != std::string::npos && colon + 2 < source.size() && source.size() <= 500;
    if (!shaped) {
      in.complain("sources", "'" + printable(source.substr(0, 60)) + "'", "'FACT, FACT: DOCUMENT'");
      continue;
    }
    for (const std::string& part : split(source.substr(0, colon), ',')) {
      const std::string fact(trim(part));
      const std::vector<std::string>& keys = in.asked();
      if (std::find(keys.begin(), keys.end(), fact) == keys.end()) {
        in.complain("sources", "'" + printable(fact.substr(0, 60)) + "' is no fact",
                    "one of " + nearest_names(fact, keys, 3));
      }
    }
  }
}

void check_name(JsonReader& in, const char* key, const std::string& name) {
  if (name.empty() || trim(name) != name || name.size() > kLongestName || printable(name) != name) {
    in.complain(key, "'" + printable(name.substr(0, 60)) + "'",
                fmt::format("a name of at most {} characters", kLongestName));
  }
}

DeviceFacts device_from(JsonReader& in) {
  DeviceFacts device;
  device.name = in.string("name");
  device.aliases = in.strings("aliases");
  device.vendor = in.string_or("vendor", "");
  device.generation = in.string_or("generation", "");
  const std::string kind = in.string_or("kind", "gpu");
  const auto* const known = std::find(kKinds.begin(), kKinds.end(), kind);
  if (known == kKinds.end()) in.complain("kind", "'" + printable(kind.substr(0, 60)) + "'", "gpu, tpu or cpu");
  device.kind = static_cast<DeviceKind>(known == kKinds.end() ? 0 : known - kKinds.begin());
  if (!device.name.empty()) check_name(in, "name", device.name);
  for (const std::string& alias : device.aliases) check_name(in, "aliases", alias);
  read_numbers(in, device);
  read_peaks(in, device);
  if (device.l2_bytes > device.memory_bytes) in.complain("l2_bytes", "more than memory_bytes", "the shared cache");
  device.sources = in.strings("sources");
  check_sources(in, device.sources);
  return device;
}

// One spelling of a name, for comparisons.
std::string folded(std::string_view name) {
  std::string out = lower_case(trim(name));
  std::replace(out.begin(), out.end(), '_', '-');
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

// A device's names, and each only once.
std::vector<std::string> names_of(const DeviceFacts& device) {
  std::vector<std::string> names = {folded(device.name)};
  for (const std::string& alias : device.aliases) names.push_back(folded(alias));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Status check_unique(const DeviceCatalogue& catalogue, const std::string& source) {
  std::map<std::string, const DeviceFacts*> owners;
  for (const DeviceFacts& device : catalogue.devices) {
    for (const std::string& name : names_of(device)) {
      const auto [owner, fresh] = owners.emplace(name, &device);
      if (fresh) continue;
      return Error{"bad-device", fmt::format("'{}' names both '{}' and '{}'", name, owner->second->name, device.name),
                   source, "names and aliases that belong to one device"};
    }
  }
  return {};
}

Json to_json(const DeviceFacts& device) {
  Json json = {{"name", device.name}};
  if (!device.aliases.empty()) json["aliases"] = device.aliases;
  if (!device.vendor.empty()) json["vendor"] = device.vendor;
  json["kind"] = std::string(name_of(device.kind));
  if (!device.generation.empty()) json["generation"] = device.generation;
  for (const NumberFact& fact : kNumbers) {
    if (!std::isnan(device.*fact.member)) json[fact.key] = device.*fact.member;
  }
  Json peaks = Json::object();
  for (size_t i = 0; i < kMathModes; ++i) {
    if (!std::isnan(device.peak_flops[i])) peaks[kModes[i]] = device.peak_flops[i];
  }
  json["peak_flops"] = std::move(peaks);
  if (!device.sources.empty()) json["sources"] = device.sources;
  return json;
}

}  // namespace

Result<DeviceCatalogue> parse_device_catalogue(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kSchema) in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kSchema);
  const Json* devices = in.require_array("devices");
  in.refuse_others({"note"});
  if (devices != nullptr && (devices->empty() || devices->size() > kMostDevices)) {
    in.complain("devices", fmt::format("{} devices", devices->size()), fmt::format("1 to {}", kMostDevices));
  }
  if (Status finished = in.finish(); !finished) return finished.error();
  DeviceCatalogue catalogue;
  for (size_t i = 0; i < devices->size(); ++i) {
    JsonReader device_in((*devices)[i], fmt::format("{}.devices[{}]", source, i));
    catalogue.devices.push_back(device_from(device_in));
    device_in.refuse_others();
    if (Status finished = device_in.finish(); !finished) return finished.error();
  }
  if (Status unique = check_unique(catalogue, source); !unique) return unique.error();
  return catalogue;
}

Result<DeviceCatalogue> read_device_catalogue(const std::string& path) {
  const auto text = read_file(path, size_t{1} << 24);
  if (!text) return text.error();
  return parse_device_catalogue(*text, path);
}

Json to_json(const DeviceCatalogue& catalogue) {
  Json devices = Json::array();
  for (const DeviceFacts& device : catalogue.devices) devices.push_back(to_json(device));
  return {{"schema", kSchema}, {"devices", std::move(devices)}};
}

Result<const DeviceFacts*> find_device(const DeviceCatalogue& catalogue, std::string_view name) {
  const std::string wanted = folded(name.substr(0, 2 * kLongestName));
  std::vector<std::string> names;
  for (const DeviceFacts& device : catalogue.devices) {
    for (const std::string& own : names_of(device)) {
      if (own == wanted) return &device;
      names.push_back(own);
    }
  }
  return usage_error("unknown-device", "no device is named '" + printable(name.substr(0, 60)) + "'", "",
                     "one of the catalogue, such as " + nearest_names(wanted, names) +
                         "; or a file of facts (schema perfcast.devices/1)");
}

std::string_view name_of(MathMode mode) { return kModes[static_cast<size_t>(mode)]; }
std::string_view name_of(DeviceKind kind) { return kKinds[static_cast<size_t>(kind)]; }

}  // namespace perfcast::ai
