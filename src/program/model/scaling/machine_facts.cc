#include "program/model/scaling/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/statistics.h"
#include "base/unknown.h"
#include "machine/facts/core_design.h"
#include "machine/facts/processor.h"

namespace perfcast::program {
namespace {

// By the rates of a 16-bit division loop on one and on all vCPUs of the public set's servers, a loop that two threads
// of a core can't share: Vultr's and Alibaba's shared types show siblings that are cores; OVH's, UpCloud's and
// Hetzner's shared ones the reverse.
constexpr const char* kSharedTypes[] = {"ecs.t5-", "ecs.t6-",  "ecs.e3.",  "ecs.e4.", "ecs.n1.",  "ecs.n2.",
                                        "ecs.n4.", "ecs.mn4.", "ecs.xn4.", "ecs.s6-", "ecs.sgn7i"};

bool vcpus_float(const std::string& provider, const std::string& name) {
  const auto begins = [&name](const char* with) { return name.starts_with(with); };
  if (provider == "vultr") return !begins("vbm") && !begins("vx1");
  if (provider == "hcloud") return !begins("ccx");
  if (provider == "ovh" || provider == "upcloud") return true;
  return provider == "alicloud" && std::any_of(std::begin(kSharedTypes), std::end(kSharedTypes), begins);
}

MachineFacts::Make make_of(const Platform& platform) {
  if (is_arm(platform.arch)) return MachineFacts::Make::kArm;
  const std::string vendor = vendor_key(platform.vendor);
  if (vendor == "intel") return MachineFacts::Make::kIntel;
  return vendor == "amd" ? MachineFacts::Make::kAmd : MachineFacts::Make::kOther;
}

struct Filled {
  const char* name;
  double MachineFacts::*value;
  bool per_vcpu;
};
constexpr Filled kFilled[] = {{"l1d_bytes", &MachineFacts::l1d_bytes, false},
                              {"l2_bytes", &MachineFacts::l2_bytes, false},
                              {"l3_bytes", &MachineFacts::l3_bytes, false},
                              {"memory_read_bytes_per_s", &MachineFacts::memory_read_bytes_per_s, true}};

double stated(const Server& server, const char* fact) {
  const auto found = server.facts.find(fact);
  return found == server.facts.end() || !(found->second > 0) ? kUnknown : found->second;
}

// What servers don't say of themselves, by those of their core design that do.
void fill(const Filled& fact, const std::vector<Server>& servers, MachineList& list) {
  std::map<std::string, std::vector<double>> by_design;
  std::vector<double> all;
  for (size_t i = 0; i < list.machines.size(); ++i) {
    const MachineFacts& machine = list.machines[i];
    const double value = stated(servers[list.servers_index[i]], fact.name) / (fact.per_vcpu ? machine.vcpus : 1);
    if (std::isnan(value)) continue;
    by_design[machine.design].push_back(value);
    all.push_back(value);
  }
  std::map<std::string, double> usual;
  for (auto& [design, values] : by_design) usual[design] = median(std::move(values));
  const double usual_of_all = all.empty() ? kUnknown : median(std::move(all));
  for (size_t i = 0; i < list.machines.size(); ++i) {
    MachineFacts& machine = list.machines[i];
    const double scale = fact.per_vcpu ? machine.vcpus : 1;
    double value = stated(servers[list.servers_index[i]], fact.name);
    if (fact.per_vcpu) machine.memory_read_known = !std::isnan(value);
    if (std::isnan(value)) {
      const auto known = usual.find(machine.design);
      value = scale * (known == usual.end() ? usual_of_all : known->second);
    }
    machine.*fact.value = std::isnan(value) ? scale * (machine.*fact.value) : value;
  }
}

}  // namespace

MachineList machines_of(const std::vector<Server>& servers, const std::vector<Platform>& platforms) {
  std::unordered_map<std::string, const Platform*> by_id;
  for (const Platform& platform : platforms) by_id.emplace(platform.id, &platform);
  MachineList list;
  for (size_t i = 0; i < servers.size(); ++i) {
    const Server& server = servers[i];
    const auto platform = by_id.find(server.platform);
    if (platform == by_id.end() || !server.vcpus || !(*server.vcpus >= 1)) continue;
    MachineFacts machine;
    machine.platform = server.platform;
    machine.provider = server.vendor;
    machine.name = server.name;
    machine.design = core_design(*platform->second);
    machine.make = make_of(*platform->second);
    machine.vcpus = *server.vcpus;
    const double threads = server.threads_per_core.value_or(1);
    machine.cores = std::clamp(server.cores.value_or(machine.vcpus / std::max(threads, 1.0)), 1.0, machine.vcpus);
    machine.floats = vcpus_float(server.vendor, server.name);
    machine.siblings = threads == 2 && !machine.floats;
    if (const double instances = stated(server, "l3_instances_count"); !std::isnan(instances))
      machine.l3_instances_count = instances;
    list.machines.push_back(std::move(machine));
    list.servers_index.push_back(i);
  }
  for (const Filled& fact : kFilled) fill(fact, servers, list);
  return list;
}

std::string server_key(const std::string& provider, const std::string& name, const std::string& platform) {
  std::string key = provider;
  for (const std::string* part : {&name, &platform}) {
    key += '\t';
    key += *part;
  }
  return key;
}

std::string machine_class(const MachineFacts& machine) {
  return fmt::format("{}\t{}\t{:.0f}\t{}{}", machine.platform, machine.provider, std::round(std::log2(machine.vcpus)),
                     machine.siblings ? "s" : "", machine.floats ? "f" : "");
}

}  // namespace perfcast::program
