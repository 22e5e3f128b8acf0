#include "machine/ceiling/cpu_isa.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace perfcast {
namespace {

#if defined(__x86_64__)
// What the operating system saves on a switch: without it the registers may not be used.
uint64_t saved_state() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & (1u << 27)) == 0) return 0;  // OSXSAVE
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

std::vector<std::string> found_isas() {
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
  std::vector<std::string> isas = {"sse2"};
  const uint64_t saved = saved_state();
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  const bool fma = (c & (1u << 12)) != 0, avx = (c & (1u << 28)) != 0;
  unsigned b7 = 0, c7 = 0, d7 = 0, a71 = 0;
  if (__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) == 0) return isas;
  if (a >= 1) __get_cpuid_count(7, 1, &a71, &b, &c, &d);
  const auto bit = [](unsigned word, int at) { return ((word >> at) & 1u) != 0; };
  if (fma && avx && bit(b7, 5) && (saved & kYmm) == kYmm) {
    isas.emplace_back("avx2");
    if (bit(a71, 4)) isas.emplace_back("avx-vnni");
  }
  // F, DQ, CD, BW, VL: what x86-64-v4 asks for.
  if (isas.size() > 1 && bit(b7, 16) && bit(b7, 17) && bit(b7, 28) && bit(b7, 30) && bit(b7, 31) &&
      (saved & kZmm) == kZmm) {
    isas.emplace_back("avx512");
    if (bit(a71, 5)) isas.emplace_back("avx512-bf16");
    if (bit(c7, 11)) isas.emplace_back("avx512-vnni");
  }
  if (bit(d7, 24) && (saved & kTiles) == kTiles) {
    if (bit(d7, 22)) isas.emplace_back("amx-bf16");
    if (bit(d7, 25)) isas.emplace_back("amx-int8");
  }
  return isas;
}
#elif defined(__aarch64__)
std::vector<std::string> found_isas() { return {"neon"}; }  // part of every AArch64
#else
std::vector<std::string> found_isas() { return {}; }
#endif

std::string cpuinfo_value(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && trim(std::string_view(line).substr(0, colon)) == key) {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return "";
}

}  // namespace

const std::vector<std::string>& cpu_isas() {
  static const std::vector<std::string> kIsas = found_isas();
  return kIsas;
}

bool cpu_has(std::string_view isa) {
  return std::any_of(cpu_isas().begin(), cpu_isas().end(), [isa](const std::string& each) { return each == isa; });
}

bool request_amx() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

std::string cpu_title() {
  const auto text = read_file("/proc/cpuinfo");
  std::string title = text ? cpuinfo_value(*text, "model name") : "";
  if (title.empty()) title = "unnamed CPU";
  for (const char* mark : {"(R)", "(TM)", "(tm)"}) {
    for (size_t at; (at = title.find(mark)) != std::string::npos;) title.erase(at, std::string_view(mark).size());
  }
  if (text) {
    const std::string family = cpuinfo_value(*text, "cpu family"), model = cpuinfo_value(*text, "model");
    if (!family.empty() && !model.empty()) title += " (family " + family + ", model " + model + ")";
    if ((" " + cpuinfo_value(*text, "flags") + " ").find(" hypervisor ") != std::string::npos) {
      title += ", virtual machine";
    }
  }
  return printable(title);
}

int online_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace perfcast
