#pragma once
// RAPL: the energy counters of Intel's and AMD's processors, as Linux shows them under powercap
// (Documentation/power/powercap/powercap.rst): intel-rapl:N for packages and the platform, intel-rapl:N:M for what is
// in a package. energy_uj counts microjoules up to max_energy_range_uj and begins anew. The hardware counts on about
// once a millisecond (Intel, Software Developer's Manual, volume 3, chapter "Power and Thermal Management").

#include <string>

#include "machine/meter/meter.h"

namespace perfcast {

// Adds a meter for every domain that can be read; where there is none, or some may not be read, what is missing.
void find_rapl_meters(const std::string& powercap, MeterSet& set);

}  // namespace perfcast
