#pragma once
// What a sample of pieces says of memory, held against the counts of the whole run. Pieces are some dozen of 100,000
// instructions: a phase that waits for memory may lie between them. Misses are counted in all windows of the run.

#include <optional>
#include <string>

#include "machine/facts/core_design.h"
#include "profile/core/design.h"
#include "profile/metrics/catalogue.h"

namespace perfcast {

// "48k", "2m": the simulated size that is nearest to a cache's, as metrics have it in their names.
std::string nearest_simulated_cache(double bytes);

// Of a profile's counters those that this file needs: for traces.
MetricValues memory_counts(const MetricValues& counters);

// Reads a thousand instructions that no prefetcher foresees and that miss the design's last cache. Absent where they
// were not counted.
std::optional<double> random_reads_of_memory(const MetricValues& counts, const CoreDesign& design);

// Cycles that they take at the least: as many of them under way at once as the design can have.
std::optional<double> least_memory_cycles(const MetricValues& counts, const CoreDesign& design);

inline constexpr const char* kMemoryIsLeast =
    "the pieces of the run missed waits for memory; its counts say so much at the least";

// Raises the share of memory to the least that the counts allow, and with it the cycles (of all that was counted).
// False, and nothing changes, where pieces and counts agree: up to a factor of 1.5, or to 5% of the cycles.
bool raise_memory(const MetricValues& counts, const CoreDesign& design, double& cycles, CoreBoundRatios& ratios);

}  // namespace perfcast
