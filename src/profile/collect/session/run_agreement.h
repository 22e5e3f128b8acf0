#pragma once
// Whether an instrumented run did the work of the native one. A program may fail, or take another way, only under the
// emulator: io_uring and programs that are started from memory are not there.

#include <optional>

#include "profile/collect/collector.h"

namespace perfcast {

// A warning "runs-differ" where the two ended differently, or the instrumented one ran less than any program does in
// the CPU seconds of the native one (judged from 50 ms in user mode on, where every program was followed). Nothing
// where a limit ended the instrumented run.
std::optional<ProfileWarning> differing_run(const Collection& native, const Collection& instrumented);

}  // namespace perfcast
