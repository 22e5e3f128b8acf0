#include "profile/collect/native/host_facts.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::ElementsAre;

// A machine's /proc, /sys and /etc in a folder.
class FakeMachine {
 public:
  FakeMachine() : folder_(*TempFolder::create()) {}
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root() + path).parent_path());
    ASSERT_TRUE(write_file_atomically(root() + path, text));
  }
  void put_cache(int index, const std::string& level, const std::string& type, const std::string& size) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    put(folder + "level", level + "\n");
    put(folder + "type", type + "\n");
    put(folder + "size", size + "\n");
  }
  const std::string& root() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

TEST(HostFacts, CountsTheThreadsOfACore) {
  FakeMachine machine;
  const std::string list = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
  EXPECT_EQ(read_host_facts(machine.root()).threads_per_core, std::nullopt);
  const std::pair<const char*, std::optional<int64_t>> cases[] = {
      {"0\n", 1},           {"0,64\n", 2},           {"0-3\n", 4},         {"0-1,64-65\n", 4},
      {"\n", std::nullopt}, {"3-1\n", std::nullopt}, {"a\n", std::nullopt}};
  for (const auto& [text, count] : cases) {
    machine.put(list, text);
    EXPECT_EQ(read_host_facts(machine.root()).threads_per_core, count) << text;
  }
}

TEST(HostFacts, ReadsAnX86Server) {
  FakeMachine machine;
  machine.put("/proc/cpuinfo",
              "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
              "model name\t: AMD EPYC 7763 64-Core Processor\nstepping\t: 1\nflags\t\t: fpu sse2 avx2 hypervisor\n\n"
              "processor\t: 1\nvendor_id\t: AuthenticAMD\nmodel name\t: another\n");
  machine.put("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:  1 kB\n");
  machine.put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  machine.put("/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  machine.put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  machine.put("/sys/class/dmi/id/product_name", "m6a.large\n");
  machine.put_cache(0, "1", "Data", "32K");
  machine.put_cache(1, "1", "Instruction", "32K");
  machine.put_cache(2, "2", "Unified", "512K");
  machine.put_cache(3, "3", "Unified", "32M");
  machine.put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");

  const HostFacts facts = read_host_facts(machine.root());
  EXPECT_EQ(facts.name, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(facts.vendor, "AuthenticAMD");
  EXPECT_EQ(facts.arch, "x86_64");
  EXPECT_EQ(facts.cpu_family, 25);
  EXPECT_EQ(facts.model, 1);
  EXPECT_EQ(facts.stepping, 1);
  EXPECT_EQ(facts.logical_cpus, 2);
  EXPECT_EQ(facts.threads_per_core, 2);
  EXPECT_EQ(facts.memory_bytes, 16384000.0 * 1024);
  EXPECT_EQ(facts.l1d_bytes, 32768);
  EXPECT_EQ(facts.l1i_bytes, 32768);
  EXPECT_EQ(facts.l2_bytes, 524288);
  EXPECT_EQ(facts.l3_bytes, 33554432);
  EXPECT_THAT(facts.cpu_flags, ElementsAre("fpu", "sse2", "avx2", "hypervisor"));
  EXPECT_EQ(facts.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(facts.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts.hypervisor, "kvm");
  EXPECT_EQ(page_table_levels(facts, machine.root()), 4);
}

TEST(HostFacts, CountsFivePageLevelsWhereTheKernelUsesThem) {
  FakeMachine machine;
  machine.put("/proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nflags : fpu la57\n");
  const HostFacts facts = read_host_facts(machine.root());
  EXPECT_EQ(facts.hypervisor, "none");
  EXPECT_EQ(page_table_levels(facts, machine.root()), 5);
}

TEST(HostFacts, ReadsAnArmServer) {
  FakeMachine machine;
  machine.put("/proc/cpuinfo",
              "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd atomics\nCPU implementer\t: 0x41\n"
              "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
              "processor\t: 1\nFeatures\t: fp\n");
  machine.put("/proc/self/smaps",
              "aaaae0000000-aaaae0001000 r-xp 00000000 fe:00 1 /bin/x\nKernelPageSize:        4 kB\n"
              "ffffd0000000-ffffd0021000 rw-p 00000000 00:00 0 [stack]\nKernelPageSize:        4 kB\n");
  const HostFacts facts = read_host_facts(machine.root());
  EXPECT_EQ(facts.name, "Neoverse-N1");
  EXPECT_EQ(facts.vendor, "ARM");
  EXPECT_EQ(facts.arch, "aarch64");
  EXPECT_EQ(facts.cpu_family, 8);
  EXPECT_EQ(facts.model, 0xd0c);
  EXPECT_EQ(facts.stepping, 1);
  EXPECT_EQ(facts.logical_cpus, 2);
  EXPECT_EQ(facts.hypervisor, "");
  EXPECT_EQ(page_table_levels(facts, machine.root()), 4);
  // Whose chip it is, the firmware tells.
  machine.put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  EXPECT_EQ(read_host_facts(machine.root()).name, "AWS Graviton2");
  machine.put("/sys/class/dmi/id/sys_vendor", "Google\n");
  EXPECT_EQ(read_host_facts(machine.root()).name, "Ampere Altra");
  // 64 KiB pages resolve 13 bits per level.
  machine.put("/proc/self/smaps", "ffffd0000000-ffffd0210000 rw-p 0 00:00 0 [stack]\nKernelPageSize:       64 kB\n");
  EXPECT_EQ(page_table_levels(facts, machine.root()), 3);
}

TEST(HostFacts, LeavesOutWhatIsNotThere) {
  FakeMachine machine;
  machine.put("/proc/cpuinfo", "garbage without a colon\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : many\n");
  machine.put_cache(0, "1", "Data", "lots");
  const HostFacts facts = read_host_facts(machine.root());
  EXPECT_EQ(facts.name, "");
  EXPECT_EQ(facts.cpu_family, std::nullopt);
  EXPECT_EQ(facts.l1d_bytes, std::nullopt);
  EXPECT_EQ(facts.memory_bytes, std::nullopt);
  EXPECT_EQ(facts.os, "");
  EXPECT_EQ(perf_event_paranoid(machine.root()), std::nullopt);
  machine.put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_EQ(perf_event_paranoid(machine.root()), -1);
  EXPECT_EQ(page_table_levels(HostFacts{}, machine.root()), std::nullopt);
}

TEST(HostFacts, KnowsThisMachine) {
  const HostFacts facts = read_host_facts();
  EXPECT_NE(facts.arch, "");
  EXPECT_GE(facts.logical_cpus, 1);
  EXPECT_GE(facts.memory_bytes, 1e8);
  EXPECT_NE(facts.kernel, "");
}

}  // namespace
}  // namespace perfcast
