#pragma once
// What the names of server processors tell: how the processor itself writes its name, and which silicon it is.

#include <string>
#include <string_view>
#include <vector>

#include "machine/facts/processor.h"

namespace perfcast {

// As CPUID has it, from a name that lost trade marks, clock and the word "Processor": "AMD EPYC 7763 64-Core" -> "AMD
// EPYC 7763 64-Core Processor", "Intel Xeon Platinum 8124M" -> "Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz". Clocks
// of those Xeons that clouds rent out are known; any other name stays as it is.
std::string cpuid_name(std::string_view plain_name);

// Vendor, architecture, family, model and stepping, as far as the makers' numbering of EPYC, Xeon and desktops' Core
// tells them: "Xeon E5-2680 v3" is family 6 model 63, the second digit of "Gold 6226R" is its generation. `name` is
// kept; what isn't told is empty or absent.
ProcessorIdentity identity_of_name(const std::string& name);

// "cloud" is for whoever rents it out to say. "server": EPYC, Opteron, Altra, and Xeon but for E3, E-2xxx and W, which
// are desktops' silicon; "desktop" otherwise.
std::string segment_of_name(std::string_view name);

// The flags among those that platforms list that every processor of a core design has; empty where it isn't known.
std::vector<std::string> flags_of_design(const std::string& core_design);

}  // namespace perfcast
