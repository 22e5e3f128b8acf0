#pragma once
// Devices and what is publicly known of them as JSON, schema perfcast.devices/1; the shipped data/devices/devices.json
// and a user's --device-file have the same form:
//   {"schema": "perfcast.devices/1",
//    "devices": [{"name": "NVIDIA L4", "aliases": ["l4"], "vendor": "NVIDIA", "kind": "gpu", "generation": "ada",
//                 "process_nm": 4, "memory_bytes": 25769803776, "memory_bytes_per_s": 3e11, "l2_bytes": 50331648,
//                 "units": 58, "clock_hz": 2.04e9, "power_w": 72, "link_bytes_per_s": 3.15e10,
//                 "host_link_bytes_per_s": 3.15e10,
//                 "peak_flops": {"fp32": 3.03e13, "tf32": 6e13, "half": 1.21e14, "fp8": 2.42e14, "int8": 2.42e14},
//                 "sources": ["units, clock_hz: NVIDIA Ada GPU architecture whitepaper", ...]}]}
// linked_devices: 2 where the link is a bridge of two cards; without it the link joins all devices of a node.
// Needed: name, memory_bytes, memory_bytes_per_s, units and one peak. What isn't known is left out; nothing is zero.
// Peaks are dense ones of products with fp32 sums (int32 for int8); a device without units for a mode lacks its peak.
// A capacity is what is sold, its GB taken as 2^30 bytes, as drivers report it; error correction may take some of it.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

struct DeviceCatalogue {
  std::vector<DeviceFacts> devices;  // one or more; names and aliases are unique
};

// "bad-json", "bad-json-field" (all mistakes of a device at once: unknown keys with near names, needed facts that are
// missing, values that no device has), "bad-device" for a name that two devices bear.
Result<DeviceCatalogue> parse_device_catalogue(std::string_view text, const std::string& source);
Result<DeviceCatalogue> read_device_catalogue(const std::string& path);
Json to_json(const DeviceCatalogue& catalogue);

// By name or alias; upper and lower case, and blank, "-" and "_", are the same. "unknown-device" with the nearest
// names. The pointer is into the catalogue.
Result<const DeviceFacts*> find_device(const DeviceCatalogue& catalogue, std::string_view name);

std::string_view name_of(MathMode mode);  // "fp32", "tf32", "half", "fp8", "int8"
std::string_view name_of(DeviceKind kind);

}  // namespace perfcast::ai
