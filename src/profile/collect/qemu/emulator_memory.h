#pragma once
// How much memory the emulator may take. It keeps what the program keeps, records of its own, and the plugin's caches.

#include <string>

#include "base/result.h"
#include "profile/collect/collector.h"

namespace perfcast {

// A quarter of the free memory, and twice what the program took natively.
double emulator_memory_bytes(const CollectRequest& request, double free_bytes);

// Of the emulator's records of the program's address space: 24 bytes for each page of 4 KiB, also of those that are
// only reserved, before QEMU 8.
double address_records_bytes(double address_bytes);
bool keeps_address_records(const std::string& emulator_version);

// Error "emulator-memory": `why` it is too much.
Error too_much_memory(const std::string& why, double limit_bytes, const std::string& program);

}  // namespace perfcast
