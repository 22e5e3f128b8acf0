#pragma once
// Core designs by what a processor says of itself: the one table of them.

#include <functional>
#include <map>
#include <string>

#include "machine/facts/processor.h"

namespace perfcast {

// "zen3", "sapphire-rapids", ...: what vendor, family and model of CPUID tell, one name for designs that share them.
// Empty where they tell nothing, as for every Arm core.
std::string cpuid_core_design(const ProcessorIdentity& processor);

// Finer: Arm's cores by their names or their chips', "cascade-lake" by its stepping; "unknown" where it can't be told.
std::string core_design(const ProcessorIdentity& processor);

// Those of 64-bit Arm, by their names above; every other design is of x86-64.
inline constexpr const char* kArmCoreDesigns[] = {"cortex-a72",  "neoverse-n1", "neoverse-n2", "neoverse-n3",
                                                  "neoverse-v1", "neoverse-v2", "neoverse-v3"};

// Name of the metric that holds what a model of the design makes of a program: "core_zen3_cycles_count".
std::string core_cycles_metric(const std::string& design);

// What a model of a core puts a program's cycles down to: shares by name of the bound ("memory", "L1", ...).
using CoreBoundRatios = std::map<std::string, double, std::less<>>;
// "memory 31%, L1 12%": what cost most, at most four.
std::string core_bounds_in_words(const CoreBoundRatios& ratios);

}  // namespace perfcast
