#pragma once
// Whether an instrumented run did the work of the native one. A program may fail, or take another way, only under the
// emulator: io_uring and programs that are started from memory are not there.

#include <optional>

#include "profile/collect/collector.h"

namespace perfcast {

// A warning "runs-differ" where the two ended differently, or the instrumented one ran less than any program does in
// the CPU seconds of the native one (judged from 50 ms in user mode on, where every program was followed), or wrote
// less than half or more than twice what native runs repeated. Nothing where a limit ended the instrumented run.
std::optional<ProfileWarning> differing_run(const Collection& native, const Collection& instrumented);

// The output that native runs repeated exactly; nothing where there were not two to compare, or they differ.
std::optional<OutputDigest> repeated_output(const Collection& native);

// A warning "output-differs" where the instrumented run wrote something else than what native runs repeated: about as
// much of it. Where it wrote less than half or more than twice as much, differing_run() tells.
std::optional<ProfileWarning> differing_output(const Collection& native, const Collection& instrumented);

}  // namespace perfcast
