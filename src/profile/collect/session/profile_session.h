#pragma once
// One profile: who measures, in which order, and what is said about the result.

#include <functional>
#include <string>

#include "profile/collect/collector.h"
#include "profile/collect/native/perf_event_collector.h"

namespace perfcast {

// profile_command() uses the real ones; tests put stand-ins here.
struct SessionCollectors {
  HostFacts host;
  Collector* native = nullptr;
  PerfEventCollector* hardware = nullptr;  // attached to the native run by `native`; may be null
  Collector* instrumenter = nullptr;       // may be null
  Collector* fallback = nullptr;           // may be null
  Collector* kernels = nullptr;            // of programs that use OpenCL; may be null
};

Result<Profile> run_session(const CollectRequest& request, const SessionCollectors& collectors,
                            const std::function<void(const std::string&)>& progress);

// A native and an instrumented run of one program that ended well. Whether its work is bound to a clock: instrumented,
// it took hardly longer, and it asked for the time or slept. Then counts and native time don't belong together.
bool is_clock_bound(const Collection& native, const Collection& instrumented);

}  // namespace perfcast
