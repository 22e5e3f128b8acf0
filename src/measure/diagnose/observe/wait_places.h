#pragma once
// Where threads waited: the nearest function of the user's own on the stack of each wait, and the library's that it
// called.

#include <vector>

#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {

// Longest first. Locks that their functions tell (read-write locks) are told from other waits in futex(2): `threads`
// and `first_thread` follow.
std::vector<WaitPlace> wait_places(const ThreadStates& states, CodeMap& code, ThreadTimes& threads,
                                   ThreadTimes& first_thread);

// Spans of the looks in which fewer threads ran than at other times, though there are CPUs: by the first thread alone
// (`is_serial`), or by others while those that were through waited for them. Spells of less than five looks of one
// runner are chance.
std::vector<ThreadsLook> lone_spans(const std::vector<ThreadsLook>& course, double cpus_count, bool is_serial);

}  // namespace perfcast::measure
