#include "machine/facts/instance_facts.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace perfcast {
namespace {

struct SharedName {
  std::string_view vendor, prefix;  // of the name
  CpuShare share = CpuShare::kShared;
};

// A digit or the end of the prefix follows, so that "cx2" is no "cx2x".
constexpr SharedName kSharedNames[] = {
    {"aws", "t1.", CpuShare::kBurstable},
    {"aws", "t2.", CpuShare::kBurstable},
    {"aws", "t3.", CpuShare::kBurstable},
    {"aws", "t3a.", CpuShare::kBurstable},
    {"aws", "t4g.", CpuShare::kBurstable},
    {"azure", "Standard_B", CpuShare::kBurstable},
    {"gcp", "e2-micro", CpuShare::kBurstable},
    {"gcp", "e2-small", CpuShare::kBurstable},
    {"gcp", "e2-medium", CpuShare::kBurstable},
    {"gcp", "f1-micro", CpuShare::kShared},
    {"gcp", "g1-small", CpuShare::kShared},
    {"alicloud", "ecs.t5-", CpuShare::kBurstable},
    {"alicloud", "ecs.t6-", CpuShare::kBurstable},
    {"alicloud", "ecs.s6-", CpuShare::kShared},
    {"alicloud", "ecs.e-", CpuShare::kShared},
    {"alicloud", "ecs.e3.", CpuShare::kShared},
    {"alicloud", "ecs.e4.", CpuShare::kShared},
    {"alicloud", "ecs.n1.", CpuShare::kShared},
    {"alicloud", "ecs.n2.", CpuShare::kShared},
    {"alicloud", "ecs.n4.", CpuShare::kShared},
    {"alicloud", "ecs.mn4.", CpuShare::kShared},
    {"alicloud", "ecs.xn4.", CpuShare::kShared},
    {"hcloud", "cx", CpuShare::kShared},
    {"hcloud", "cpx", CpuShare::kShared},
    {"hcloud", "cax", CpuShare::kShared},
    {"upcloud", "DEV-", CpuShare::kShared},
    {"vultr", "vc2-", CpuShare::kShared},
    {"vultr", "vhf-", CpuShare::kShared},
    {"vultr", "vhp-", CpuShare::kShared},
    {"ovh", "d2-", CpuShare::kShared},
    {"ovh", "s1-", CpuShare::kShared},
};

struct FamilyMemory {
  std::string_view vendor, family;   // of AWS what stands before the dot
  double gib_per_vcpu = 0, gib = 0;  // one of both
};

constexpr FamilyMemory kFamilies[] = {
    {"aws", "a1", 2, 0},   {"aws", "c6g", 2, 0},  {"aws", "c6gd", 2, 0},  {"aws", "c6gn", 2, 0},
    {"aws", "c7g", 2, 0},  {"aws", "c7gd", 2, 0}, {"aws", "c7gn", 2, 0},  {"aws", "c8g", 2, 0},
    {"aws", "c8gd", 2, 0}, {"aws", "c8gn", 2, 0}, {"aws", "g5g", 2, 0},   {"aws", "hpc7g", 0, 128},
    {"aws", "i4g", 8, 0},  {"aws", "i8g", 8, 0},  {"aws", "im4gn", 4, 0}, {"aws", "is4gen", 6, 0},
    {"aws", "m6g", 4, 0},  {"aws", "m6gd", 4, 0}, {"aws", "m7g", 4, 0},   {"aws", "m7gd", 4, 0},
    {"aws", "m8g", 4, 0},  {"aws", "m8gd", 4, 0}, {"aws", "m9g", 4, 0},   {"aws", "m9gd", 4, 0},
    {"aws", "r6g", 8, 0},  {"aws", "r6gd", 8, 0}, {"aws", "r7g", 8, 0},   {"aws", "r7gd", 8, 0},
    {"aws", "r8g", 8, 0},  {"aws", "r8gd", 8, 0}, {"aws", "x2gd", 16, 0}, {"aws", "x8g", 16, 0},
};

struct TypeMemory {
  std::string_view vendor, name;
  double gib = 0;
};

constexpr TypeMemory kTypes[] = {
    {"aws", "t4g.nano", 0.5},
    {"aws", "t4g.micro", 1},
    {"aws", "t4g.small", 2},
    {"aws", "t4g.medium", 4},
    {"aws", "t4g.large", 8},
    {"aws", "t4g.xlarge", 16},
    {"aws", "t4g.2xlarge", 32},
    {"azure", "Standard_E128ds_v7", 1024},
    {"azure", "Standard_F32ams_v7", 256},
    {"hetzner", "PX62-NVMe", 64},
};

bool is_unlike_others(std::string_view vendor) {
  return vendor == "aws" || vendor == "azure" || vendor == "gcp" || vendor == "alicloud";
}

bool is_of(const SharedName& one, std::string_view vendor, std::string_view name) {
  if (vendor.empty() ? !is_unlike_others(one.vendor) : vendor != one.vendor) return false;
  if (!name.starts_with(one.prefix)) return false;
  const char last = one.prefix.back(), next = name.size() > one.prefix.size() ? name[one.prefix.size()] : '\0';
  const bool is_whole = last == '-' || last == '.';
  return is_whole || next == '\0' || (next >= '0' && next <= '9');
}

}  // namespace

const char* name_of(CpuShare share) {
  return share == CpuShare::kOwn ? "own" : share == CpuShare::kShared ? "shared" : "burstable";
}

CpuShare cpu_share_of(std::string_view vendor, std::string_view name) {
  for (const SharedName& one : kSharedNames) {
    if (is_of(one, vendor, name)) return one.share;
  }
  return CpuShare::kOwn;
}

std::optional<double> published_memory_gib(std::string_view vendor, std::string_view name, double vcpus) {
  for (const TypeMemory& type : kTypes) {
    if (type.vendor == vendor && type.name == name) return type.gib;
  }
  const std::string_view family = name.substr(0, std::min(name.find('.'), name.size()));
  for (const FamilyMemory& of : kFamilies) {
    if (of.vendor != vendor || of.family != family) continue;
    if (of.gib > 0) return of.gib;
    if (vcpus > 0) return of.gib_per_vcpu * vcpus;
  }
  return std::nullopt;
}

}  // namespace perfcast
