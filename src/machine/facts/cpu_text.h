#pragma once
// What a machine says of its CPU, as text: the output of lscpu, or /proc/cpuinfo.

#include <optional>
#include <string_view>

#include "machine/facts/host_facts.h"

namespace perfcast {

// The first CPU of such a text; absent where no line of it names a CPU model. What isn't understood stays absent.
std::optional<HostFacts> cpu_facts_from_text(std::string_view text);

}  // namespace perfcast
