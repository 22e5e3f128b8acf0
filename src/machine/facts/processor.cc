#include "machine/facts/processor.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"

namespace perfcast {
namespace {

struct ArmCore {
  int64_t implementer, part;
  const char* name;
};

// Main ID register values as their makers publish them.
constexpr std::array<ArmCore, 22> kArmCores = {
    {{0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd04, "Cortex-A35"},   {0x41, 0xd05, "Cortex-A55"},
     {0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},   {0x41, 0xd09, "Cortex-A73"},
     {0x41, 0xd0a, "Cortex-A75"},  {0x41, 0xd0b, "Cortex-A76"},   {0x41, 0xd0c, "Neoverse-N1"},
     {0x41, 0xd0d, "Cortex-A77"},  {0x41, 0xd40, "Neoverse-V1"},  {0x41, 0xd41, "Cortex-A78"},
     {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd49, "Neoverse-N2"},  {0x41, 0xd4a, "Neoverse-E1"},
     {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd84, "Neoverse-V3"},  {0x41, 0xd8e, "Neoverse-N3"},
     {0x46, 0x001, "A64FX"},       {0x48, 0xd01, "TaiShan-v110"}, {0xc0, 0xac3, "Ampere-1"},
     {0xc0, 0xac4, "Ampere-1a"}}};

constexpr std::array<std::pair<int64_t, const char*>, 8> kArmVendors = {{{0x41, "ARM"},
                                                                         {0x43, "Cavium"},
                                                                         {0x46, "Fujitsu"},
                                                                         {0x48, "HiSilicon"},
                                                                         {0x4e, "NVIDIA"},
                                                                         {0x51, "Qualcomm"},
                                                                         {0x61, "Apple"},
                                                                         {0xc0, "Ampere"}}};

bool tells_a_number(std::string_view name) { return name.find_first_of("0123456789") != std::string_view::npos; }

// A model's name taken apart: what tells the model, and its clock, "2.20ghz", where it states one.
std::pair<std::string, std::string> plain_and_clock(std::string_view name) {
  std::string text(name);
  for (const std::string mark : {"(r)", "(tm)", "®", "™"}) {
    for (size_t at = lower_case(text).find(mark); at != std::string::npos; at = lower_case(text).find(mark)) {
      text.replace(at, mark.size(), " ");
    }
  }
  std::vector<std::string> kept;
  std::string clock;
  bool behind_at = false;
  for (const std::string& original : split(text, ' ')) {
    const std::string word = lower_case(original);
    const bool begins_clock = word.starts_with("@");
    behind_at = behind_at || begins_clock;
    if (word.ends_with("ghz")) {
      clock = begins_clock ? word.substr(1) : word;
    } else if (!behind_at && !word.empty() && word != "cpu" && word != "processor" && word != "genuine" &&
               word != "t" && !word.ends_with("-core")) {
      kept.push_back(original);
    }
  }
  return {join(kept, " "), clock};
}

}  // namespace

std::string vendor_name(std::string_view vendor) {
  if (vendor == "GenuineIntel") return "Intel";
  if (vendor == "AuthenticAMD") return "AMD";
  return std::string(vendor);
}

std::string vendor_key(std::string_view vendor) {
  std::string text = lower_case(vendor);
  if (text.find("intel") != std::string::npos) return "intel";
  if (text.find("amd") != std::string::npos) return "amd";
  return text;
}

std::string arch_key(std::string_view arch) {
  if (arch == "arm64") return "aarch64";
  if (arch == "amd64") return "x86_64";
  return std::string(arch);
}

bool is_arm(std::string_view arch) { return arch_key(arch) == "aarch64"; }

std::string plain_cpu_name(std::string_view name) { return plain_and_clock(name).first; }

std::string cpu_name_key(std::string_view name) { return lower_case(plain_cpu_name(name)); }

std::string cpu_name_key_or_clock(std::string_view name) {
  const auto [plain, clock] = plain_and_clock(name);
  std::string key = lower_case(plain);
  return tells_a_number(key) || clock.empty() ? key : key + " " + clock;
}

std::string platform_flag(const std::string& cpu_flag) {
  constexpr std::string_view kListed[] = {"aes", "asimd", "avx2", "avx512f", "sve"};
  if (std::find(std::begin(kListed), std::end(kListed), cpu_flag) != std::end(kListed)) return cpu_flag;
  if (cpu_flag.starts_with("amx_")) return "amx";
  if (cpu_flag == "sha_ni" || cpu_flag == "sha1" || cpu_flag == "sha2") return "sha";
  return "";
}

std::string arm_vendor(int64_t implementer) {
  for (const auto& [number, name] : kArmVendors) {
    if (number == implementer) return name;
  }
  return "";
}

std::string arm_core_name(int64_t implementer, int64_t part) {
  for (const ArmCore& core : kArmCores) {
    if (core.implementer == implementer && core.part == part) return core.name;
  }
  return "";
}

}  // namespace perfcast
