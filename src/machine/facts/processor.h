#pragma once
// Names of processors: one rule for vendors, instruction sets, model names and flags, whatever source they come from.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perfcast {

// Which processor a machine has, as the machine itself or a data set names it; empty or absent where it does not say.
struct ProcessorIdentity {
  std::string name;    // of the model, verbatim
  std::string vendor;  // "GenuineIntel" of a kernel, "Intel" of a data set, "ARM", "NVIDIA", ...
  std::string arch;    // "x86_64", "aarch64"
  std::optional<int64_t> cpu_family, model, stepping;
  bool operator==(const ProcessorIdentity&) const = default;
};

// "GenuineIntel" and "AuthenticAMD" of CPUID as people write them: "Intel", "AMD". Others as they are.
std::string vendor_name(std::string_view vendor);
// For comparisons: "intel", "amd", or what it is in lower case.
std::string vendor_key(std::string_view vendor);
// "arm64" -> "aarch64", "amd64" -> "x86_64"; others as they are.
std::string arch_key(std::string_view arch);
bool is_arm(std::string_view arch);

// "AMD EPYC 7763 64-Core Processor" -> "AMD EPYC 7763": without trade marks, clock, core count and words that say
// nothing.
std::string plain_cpu_name(std::string_view name);
// The same in lower case, for comparisons.
std::string cpu_name_key(std::string_view name);
// The same, and the clock behind it where no number is left: clouds hide models behind "Intel(R) Xeon(R) CPU
// @ 2.20GHz".
std::string cpu_name_key_or_clock(std::string_view name);

// What a kernel's flag amounts to among those that platforms list: "amx_tile" -> "amx", "sha_ni" -> "sha"; empty where
// they don't list it.
std::string platform_flag(const std::string& cpu_flag);

// By Arm's main ID register: who designed the core ("" where unknown), and its name ("").
std::string arm_vendor(int64_t implementer);
std::string arm_core_name(int64_t implementer, int64_t part);

}  // namespace perfcast
