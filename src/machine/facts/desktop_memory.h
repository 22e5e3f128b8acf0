#pragma once
// What the memory of a desktop or laptop processor can deliver.

#include <optional>

#include "machine/facts/processor.h"

namespace perfcast {

// Bytes/s of the fastest memory that the data sheets of these processors name: two channels of 64 bits (so do all
// processors of these sockets have). By CPUID; the fastest where several models share one. None for processors with
// more channels (Threadripper, Core X, servers), and where no data sheet was looked up. Faster memory than the data
// sheet's may be run at its owner's risk.
std::optional<double> desktop_memory_bytes_per_s(const ProcessorIdentity& processor);

}  // namespace perfcast
