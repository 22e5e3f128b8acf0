#pragma once
// The run that counts a program's OpenCL kernels, and what it says of the native one.

#include <optional>
#include <string>
#include <vector>

#include "base/process/program_inspector.h"
#include "profile/collect/collector.h"

namespace perfcast {

// No instrumented run is begun with less time than this.
inline constexpr double kLeastLeft_s = 0.1;

// An error that ends the whole session, not only one collector's part.
bool ends_all(const Error& error);

// Whether it is worth a run: the program's file, or that of a process that it started natively (null: did not run),
// names OpenCL's library; or the request says so.
bool uses_opencl(const CollectRequest& request, const ProgramFacts& program, const Collection* native);

struct OpenclRun {
  std::optional<Collection> found;       // with at least one kernel
  std::string status, why;               // of a record: where nothing was found
  std::vector<ProfileWarning> warnings;  // beside those of `found`
  bool native_failed = false;            // natively the program failed, and here not: its native counters are no use
};

// `request`: with what is left of the time limit. `is_asked_for`: then it is worth a warning if there are no kernels.
// `native`: null where there was no native run. Errors are those that end the session.
Result<OpenclRun> collect_kernels(Collector& collector, CollectRequest request, bool is_asked_for,
                                  const Profile& so_far, const Collection* native);

// In the place of "work-done-once": what made the first native run slower than the next.
ProfileWarning kernels_compiled_note();

}  // namespace perfcast
