#pragma once
// Which vector instructions this CPU has and this system lets us use.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

// Names used throughout: "sse2", "avx2" (with FMA), "avx512" (F, BW, DQ, VL, CD), "avx512-bf16", "avx512-vnni",
// "avx-vnni", "amx-bf16", "amx-int8", "neon". What a CPU does not have is absent; so is all of another architecture.
const std::vector<std::string>& cpu_isas();
bool cpu_has(std::string_view isa);

// AMX tiles must be asked for once per process (Linux: arch_prctl ARCH_REQ_XCOMP_PERM). False where they are refused.
bool request_amx();

// "Intel Xeon (family 6, model 167), 2 cores" as the kernel tells; parts that it does not tell are left out.
std::string cpu_title();
int online_cores();  // that this process may run on

}  // namespace perfcast
