#pragma once
// Issues the queries of a scenario to a system from the calling thread and measures what comes back.
//
// Latency counts from when a query was due, not from when it was handed over: a system that stalls pays for every
// query that should have come meanwhile. The calling thread spins shortly before a query is due; nothing on its way
// allocates, locks or calls the kernel. A second thread takes up the answers (load_collector.h).

#include "ai/load/load_collector.h"
#include "ai/load/load_result.h"
#include "ai/load/load_settings.h"
#include "ai/load/system_under_test.h"
#include "base/result.h"

namespace perfcast::ai {

// A run to its end, or until it can't go on: what was measured comes back with its faults. Errors: those of check();
// the system's start() failed before anything was measured. In accuracy mode the data set comes in sets of
// `loaded_samples`, with a start() and a finish() for each.
Result<LoadResult> run_load(const LoadSettings& settings, SystemUnderTest& system, const LoadHooks& hooks = {});

// So many queries, one after the other, whose times nobody keeps; the faults that they met.
Result<std::vector<LoadFault>> warm_up(const LoadSettings& settings, int64_t queries, SystemUnderTest& system,
                                       const LoadHooks& hooks = {});

}  // namespace perfcast::ai
