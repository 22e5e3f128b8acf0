#pragma once
// What moving data between a host's memory and a device costs.

#include "machine/facts/device_facts.h"

namespace perfcast::place {

// Of the link's stated rate, by large copies from pinned memory; of each copy before its first byte. Both assumed: no
// transfers are among the data that models are fitted to.
inline constexpr double kHostLinkShare = 0.8;
inline constexpr double kHostCopyStart_s = 10e-6;
// A standard deviation of a transfer's log time, assumed.
inline constexpr double kHostCopyLogError = 0.25;
// Where a device's is not stated: 16 lanes of PCI Express 3.0, the slowest that any device of the catalogue states.
inline constexpr double kUsualHostLink_bytes_per_s = 15.75e9;

struct HostLink {
  double bytes_per_s = kUsualHostLink_bytes_per_s;
  bool assumed = true;

  double seconds(double bytes, double copies) const {
    return copies * kHostCopyStart_s + bytes / (bytes_per_s * kHostLinkShare);
  }
};

// `given`: what the user says, in the place of the device's; not-a-number: nothing.
inline HostLink host_link_of(const DeviceFacts& device, double given) {
  if (given > 0) return {given, false};
  if (device.host_link_bytes_per_s > 0) return {device.host_link_bytes_per_s, false};
  return {};
}

}  // namespace perfcast::place
