#pragma once
// Memory facts that were measured on a machine, before anything is learned from them: what can't be is left out.

#include <string>
#include <vector>

#include "machine/ceiling/memory_facts.h"
#include "machine/facts/platform.h"

namespace perfcast::program {

// Puts `measured.facts` into the platform. Not those that are implausible: half of the least that any known platform
// states or less, twice the most or more; of a core's own caches also a third or thrice of what platforms of the same
// core design state. They move to `measured.left_out`. What is left out is taken from those kin, their median, where
// there are any. Notes say both.
void take_memory_facts(const std::vector<Platform>& known, MemoryFacts& measured, Platform& platform,
                       std::vector<std::string>& notes);

}  // namespace perfcast::program
