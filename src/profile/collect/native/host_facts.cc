#include "profile/collect/native/host_facts.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace perfcast {
namespace {

constexpr size_t kLimitBytes = size_t{64} << 20;

std::string text_of(const std::string& path) {
  const auto text = read_file(path, kLimitBytes);
  return text ? *text : "";
}

std::string line_of(const std::string& path) { return std::string(trim(text_of(path))); }

std::optional<int64_t> integer(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "48K", "2048K", "32M" of sysfs.
std::optional<double> cache_bytes(std::string text) {
  double unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M' || text.back() == 'G')) {
    unit = text.back() == 'K' ? 1024.0 : text.back() == 'M' ? 1048576.0 : 1073741824.0;
    text.pop_back();
  }
  const auto value = integer(text);
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value) * unit;
}

// "name : value" lines of the first processor; a later processor's are not looked at.
std::map<std::string, std::string> first_processor(const std::string& cpuinfo, int64_t& processors) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : split(cpuinfo, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name(trim(std::string_view(line).substr(0, colon)));
    if (name == "processor") ++processors;
    if (processors <= 1) fields.emplace(name, std::string(trim(std::string_view(line).substr(colon + 1))));
  }
  return fields;
}

void read_cpuinfo(const std::string& root, HostFacts& facts) {
  int64_t processors = 0;
  const auto fields = first_processor(text_of(root + "/proc/cpuinfo"), processors);
  if (processors > 0) facts.logical_cpus = processors;
  const auto field = [&](const char* name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  };
  std::string flags;
  if (fields.contains("CPU implementer")) {
    facts.arch = "aarch64";
    const int64_t implementer = integer(field("CPU implementer")).value_or(-1);
    facts.vendor = arm_vendor(implementer);
    facts.cpu_family = integer(field("CPU architecture"));
    facts.model = integer(field("CPU part"));
    facts.stepping = integer(field("CPU revision"));
    facts.name = field("model name");
    if (facts.name.empty() && facts.model) {
      facts.name = arm_core_name(implementer, *facts.model);
      const std::string chip = chip_name(facts.name, provider_of_board(line_of(root + "/sys/class/dmi/id/sys_vendor")));
      if (!chip.empty()) facts.name = chip;
    }
    flags = field("Features");
  } else if (fields.contains("vendor_id")) {
    facts.arch = "x86_64";
    facts.vendor = field("vendor_id");
    facts.name = field("model name");
    facts.cpu_family = integer(field("cpu family"));
    facts.model = integer(field("model"));
    facts.stepping = integer(field("stepping"));
    flags = field("flags");
  }
  for (const std::string& flag : split(flags, ' ')) {
    if (!flag.empty()) facts.cpu_flags.push_back(flag);
  }
}

void read_caches(const std::string& root, HostFacts& facts) {
  for (int index = 0; index < 16; ++index) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto level = integer(line_of(folder + "level"));
    if (!level) return;
    const auto bytes = cache_bytes(line_of(folder + "size"));
    const std::string type = line_of(folder + "type");
    if (*level == 1 && type == "Data") facts.l1d_bytes = bytes;
    if (*level == 1 && type == "Instruction") facts.l1i_bytes = bytes;
    if (*level == 2) facts.l2_bytes = bytes;
    if (*level == 3) facts.l3_bytes = bytes;
  }
}

// CPUs of a list as the kernel writes it, "0-1,64": how many. Nothing where it is not such a list.
std::optional<int64_t> cpus_in_list(const std::string& list) {
  int64_t count = 0;
  for (const std::string& part : split(list, ',')) {
    const size_t dash = part.find('-');
    const auto first = integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : integer(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::string cpuid_hypervisor() {
#if defined(__x86_64__)
  unsigned int eax = 0;
  std::array<unsigned int, 3> name{};
  __cpuid(0x40000000, eax, name[0], name[1], name[2]);
  const std::string text(reinterpret_cast<const char*>(name.data()), sizeof(name));
  if (text.starts_with("KVMKVMKVM")) return "kvm";
  if (text == "Microsoft Hv") return "microsoft";
  if (text == "VMwareVMware") return "vmware";
  if (text == "XenVMMXenVMM") return "xen";
  if (text.starts_with("TCGTCGTCG")) return "qemu";
  if (text.starts_with("bhyve")) return "bhyve";
#endif
  return "";
}

std::string hypervisor(const std::string& root, const HostFacts& facts) {
  bool virtual_machine = false;
  for (const std::string& flag : facts.cpu_flags) virtual_machine = virtual_machine || flag == "hypervisor";
  if (facts.arch == "x86_64" && !virtual_machine) return "none";
  if (std::string type = line_of(root + "/sys/hypervisor/type"); !type.empty()) return type;
  if (root.empty() && facts.arch == "x86_64") {
    if (std::string name = cpuid_hypervisor(); !name.empty()) return name;
  }
  const std::string board = lower_case(line_of(root + "/sys/class/dmi/id/sys_vendor") + " " +
                                       line_of(root + "/sys/class/dmi/id/product_name"));
  constexpr std::array<std::pair<const char*, const char*>, 9> kNames = {{{"amazon", "kvm"},
                                                                          {"google", "kvm"},
                                                                          {"kvm", "kvm"},
                                                                          {"qemu", "kvm"},
                                                                          {"alibaba", "kvm"},
                                                                          {"microsoft", "microsoft"},
                                                                          {"vmware", "vmware"},
                                                                          {"xen", "xen"},
                                                                          {"oracle", "kvm"}}};
  for (const auto& [part, name] : kNames) {
    if (board.find(part) != std::string::npos && board.find(".metal") == std::string::npos) return name;
  }
  return virtual_machine ? "unnamed" : "";
}

std::string os_name(const std::string& root) {
  for (const std::string& line : split(text_of(root + "/etc/os-release"), '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string name = line.substr(std::strlen("PRETTY_NAME="));
    if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front()) {
      name = name.substr(1, name.size() - 2);
    }
    return name;
  }
  return "";
}

}  // namespace

HostFacts read_host_facts(const std::string& root) {
  HostFacts facts;
  read_cpuinfo(root, facts);
  read_caches(root, facts);
  facts.threads_per_core = cpus_in_list(line_of(root + "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"));
  for (const std::string& line : split(text_of(root + "/proc/meminfo"), '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    const std::string_view rest = trim(std::string_view(line).substr(std::strlen("MemTotal:")));
    if (const auto kib = integer(rest.substr(0, rest.find(' ')))) {
      facts.memory_bytes = 1024.0 * static_cast<double>(*kib);
    }
  }
  facts.kernel = line_of(root + "/proc/sys/kernel/osrelease");
  facts.os = os_name(root);
  facts.hypervisor = hypervisor(root, facts);
  return facts;
}

std::optional<int64_t> page_table_levels(const HostFacts& host, const std::string& root) {
  if (host.arch == "x86_64") {
    for (const std::string& flag : host.cpu_flags) {
      if (flag == "la57") return 5;
    }
    return 4;
  }
  if (host.arch != "aarch64") return std::nullopt;
  // Nothing states it there: the stack lies at the top of the addresses, and each level resolves log2(page / 8) bits.
  std::optional<int64_t> page_bytes, top;
  for (const std::string& line : split(text_of(root + "/proc/self/smaps"), '\n')) {
    if (line.find("[stack]") != std::string::npos) {
      const size_t dash = line.find('-');
      top = integer("0x" + line.substr(dash + 1, line.find(' ') - dash - 1));
    }
    if (line.starts_with("KernelPageSize:")) {
      const std::string_view rest = trim(std::string_view(line).substr(std::strlen("KernelPageSize:")));
      if (const auto kib = integer(rest.substr(0, rest.find(' ')))) page_bytes = *kib * 1024;
    }
  }
  if (!page_bytes || *page_bytes < 4096 || !top || *top <= *page_bytes) return std::nullopt;
  const double page_bits = std::log2(static_cast<double>(*page_bytes));
  const double address_bits = std::ceil(std::log2(static_cast<double>(*top)));
  return static_cast<int64_t>(std::ceil((address_bits - page_bits) / (page_bits - 3)));
}

std::optional<int64_t> perf_event_paranoid(const std::string& root) {
  return integer(line_of(root + "/proc/sys/kernel/perf_event_paranoid"));
}

}  // namespace perfcast
