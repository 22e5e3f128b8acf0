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

enum class Lone : uint8_t {
  kSerial,  // the first thread alone, before, between or after what several do
  kUneven,  // others, while those that were through waited for them
  kSingle,  // one thread that does all the work, which the first and all others wait for
};

// Spans of the looks in which fewer threads ran than could, of that kind. Spells of less than five looks of one runner
// are chance.
std::vector<ThreadsLook> lone_spans(const std::vector<ThreadsLook>& course, double cpus_count, Lone kind);

}  // namespace perfcast::measure
