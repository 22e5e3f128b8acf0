#pragma once
// Whether the code that was counted can be the code that ran: the emulated processor lacks extensions that a library
// may use natively (SHA, VAES, AVX-512), and then it counts the path for processors without them.

#include <optional>
#include <string>

#include "profile/profile.h"

namespace perfcast {

// `counters`: instructions_count and, where models of cores ran, what they make of it; `native_s`: CPU seconds of the
// native run in user mode; `design`: core_design() of the host. A warning "other-code-path" where no core could run so
// much in that time. Runs of less than 30 ms are not judged.
std::optional<ProfileWarning> other_code_warning(const MetricValues& counters, double native_s,
                                                 const std::string& design);

}  // namespace perfcast
