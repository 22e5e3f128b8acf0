#include "ai/cpu_tokens/cpu_catalogue.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/core_design.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {
namespace {

// What reads reach of their data sheet's rate where memory has two channels: median of E3-1270 v6 .83, E-2286G .78,
// E-2388G .74, E-2288G .71, EPYC 4245P .62, EPYC 4345P .60.
constexpr double kReadShare = 0.725;
constexpr double kBeyondCachesBytes = 256e6;  // of all vCPUs: twice the largest cache of such processors
constexpr double kOtherLayout = 0.5;          // as far as a factor e^0.5 in size: other threads per core, other sockets

template <typename Value>
Value most_common(const std::map<Value, int64_t>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

CpuShape median_shape(const std::vector<const CpuFacts*>& members) {
  CpuShape shape;
  const CpuFacts& first = *members.front();
  shape.vcpus = first.vcpus;
  shape.cores = first.cores;
  shape.sockets = first.sockets;
  shape.numa_nodes = first.numa_nodes;
  shape.servers = static_cast<int64_t>(members.size());
  const auto median_fact = [&](auto&& fact) {
    std::vector<double> values;
    values.reserve(members.size());
    for (const CpuFacts* member : members) values.push_back(fact(*member));
    return median_of_known(std::move(values));
  };
  shape.l3_count = median_fact([](const CpuFacts& facts) { return facts.l3_count; });
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    shape.read_bytes_per_s[i] = median_fact([i](const CpuFacts& facts) { return facts.read_bytes_per_s[i]; });
  }
  return shape;
}

CpuRecord make_record(const std::string& key, const std::vector<const CpuFacts*>& members) {
  CpuRecord record;
  record.key = key;
  record.servers = static_cast<int64_t>(members.size());
  std::map<std::string, int64_t> names, flags;
  std::map<int64_t, int64_t> steppings;
  std::vector<double> l2, l3;
  std::map<std::tuple<double, double, double, double>, std::vector<const CpuFacts*>> by_size;
  for (const CpuFacts* member : members) {
    ++names[member->name];
    for (const std::string& flag : member->flags) ++flags[flag];
    if (member->stepping) ++steppings[*member->stepping];
    l2.push_back(member->l2_bytes.value_or(kUnknown));
    l3.push_back(member->l3_bytes.value_or(kUnknown));
    by_size[{member->vcpus, member->cores, member->sockets, member->numa_nodes}].push_back(member);
  }
  const CpuFacts& first = *members.front();
  record.facts.name = most_common(names);
  record.facts.arch = first.arch;
  record.facts.vendor = first.vendor;
  record.facts.cpu_family = first.cpu_family;
  record.facts.model = first.model;
  if (!steppings.empty()) record.facts.stepping = most_common(steppings);
  for (const auto& [flag, count] : flags) {
    if (count * 2 > record.servers) record.facts.flags.insert(flag);
  }
  record.facts.l2_bytes = if_known(median_of_known(l2));
  record.facts.l3_bytes = if_known(median_of_known(l3));
  for (const auto& [size, same] : by_size) record.shapes.push_back(median_shape(same));
  return record;
}

CpuFacts with_shape(const CpuRecord& record, const CpuShape& shape) {
  CpuFacts facts = record.facts;
  facts.vcpus = shape.vcpus;
  facts.cores = shape.cores;
  facts.sockets = shape.sockets;
  facts.numa_nodes = shape.numa_nodes;
  facts.l3_count = shape.l3_count;
  facts.read_bytes_per_s = shape.read_bytes_per_s;
  return facts;
}

double distance(const CpuShape& shape, const CpuFacts& facts) {
  double sum = std::abs(std::log(shape.vcpus / facts.vcpus));
  if ((shape.vcpus > shape.cores) != (facts.vcpus > facts.cores)) sum += kOtherLayout;
  if (shape.sockets != facts.sockets) sum += kOtherLayout;
  return sum;
}

const CpuShape& nearest_shape(const CpuRecord& record, const CpuFacts& facts) {
  return *std::min_element(record.shapes.begin(), record.shapes.end(), [&](const CpuShape& a, const CpuShape& b) {
    return distance(a, facts) < distance(b, facts);
  });
}

// Bandwidth at `vcpus` on a line through the logarithms of the nearest sizes to both sides with as many threads per
// core; of the nearest alone where there is none to one side.
BandwidthCurve between(const CpuRecord& record, const CpuShape& nearest, double vcpus) {
  const CpuShape* below = nullptr;
  const CpuShape* above = nullptr;
  for (const CpuShape& shape : record.shapes) {
    if ((shape.vcpus > shape.cores) != (nearest.vcpus > nearest.cores)) continue;
    if (shape.vcpus <= vcpus && (below == nullptr || shape.vcpus > below->vcpus)) below = &shape;
    if (shape.vcpus >= vcpus && (above == nullptr || shape.vcpus < above->vcpus)) above = &shape;
  }
  BandwidthCurve curve = nearest.read_bytes_per_s;
  if (below == nullptr || above == nullptr || below->vcpus == above->vcpus) {
    // Fewer vCPUs than any known machine: their share. More: what the largest reads, for memory is shared.
    if (below == nullptr) {
      for (double& value : curve) value *= vcpus / nearest.vcpus;
    }
    return curve;
  }
  const double share = std::log(vcpus / below->vcpus) / std::log(above->vcpus / below->vcpus);
  for (size_t i = 0; i < curve.size(); ++i) {
    curve[i] = below->read_bytes_per_s[i] * std::pow(above->read_bytes_per_s[i] / below->read_bytes_per_s[i], share);
  }
  return curve;
}

}  // namespace

CpuCatalogue CpuCatalogue::from_servers(const std::vector<TokenServer>& servers, const std::vector<bool>& use) {
  std::map<std::string, std::vector<const CpuFacts*>> members;
  for (size_t i = 0; i < servers.size(); ++i) {
    if (!use.empty() && !use[i]) continue;
    if (has_bandwidth(servers[i].facts)) members[servers[i].cpu].push_back(&servers[i].facts);
  }
  CpuCatalogue catalogue;
  for (const auto& [key, facts] : members) catalogue.records_.push_back(make_record(key, facts));
  return catalogue;
}

Result<CpuFacts> CpuCatalogue::find(const std::string& name, double vcpus) const {
  const std::string plain = cpu_name_key_or_clock(name), exact = lower_case(std::string(trim(name)));
  const CpuRecord* found = nullptr;
  std::vector<std::string> names;
  for (const CpuRecord& record : records_) {
    names.push_back(record.facts.name);
    const bool same = record.key == exact || (!plain.empty() && cpu_name_key_or_clock(record.facts.name) == plain) ||
                      may_be_one_cpu(record.facts.name, name);
    if (same && (found == nullptr || record.servers > found->servers)) found = &record;
  }
  // Else a part of one model's name.
  std::vector<std::string> parts;
  for (const CpuRecord& record : records_) {
    if (found != nullptr || exact.empty()) break;
    if (lower_case(record.facts.name).find(exact) != std::string::npos) parts.push_back(record.facts.name);
  }
  if (parts.size() > 1) {
    return usage_error("unknown-cpu",
                       printable(name) + " is part of the names of " + std::to_string(parts.size()) + " CPU models", "",
                       "one of " + nearest_names(name, parts));
  }
  for (const CpuRecord& record : records_) {
    if (parts.size() == 1 && record.facts.name == parts.front()) found = &record;
  }
  if (found == nullptr) {
    return usage_error("unknown-cpu", "no CPU model is called " + printable(name), "",
                       "near: " + nearest_names(name, names));
  }
  if (std::isnan(vcpus)) {
    const auto largest = std::max_element(found->shapes.begin(), found->shapes.end(),
                                          [](const CpuShape& a, const CpuShape& b) { return a.vcpus < b.vcpus; });
    return with_shape(*found, *largest);
  }
  if (!(vcpus >= 1 && vcpus <= 1e6)) return Error{"bad-vcpus", "the number of vCPUs can't be used", "", "1 to 1000000"};
  const auto nearest =
      std::min_element(found->shapes.begin(), found->shapes.end(), [&](const CpuShape& a, const CpuShape& b) {
        const double to_a = std::abs(std::log(a.vcpus / vcpus)), to_b = std::abs(std::log(b.vcpus / vcpus));
        return to_a != to_b ? to_a < to_b : a.servers > b.servers;
      });
  CpuFacts facts = with_shape(*found, *nearest);
  if (nearest->vcpus == vcpus) return facts;
  facts.bandwidth_imputed = true;
  facts.read_bytes_per_s = between(*found, *nearest, vcpus);
  facts.vcpus = vcpus;
  facts.cores = std::max(1.0, std::round(vcpus * nearest->cores / nearest->vcpus));
  return facts;
}

Result<CpuFacts> CpuCatalogue::impute(const CpuFacts& facts) const {
  if (has_bandwidth(facts)) return facts;
  if (const Status status = check_cpu_facts(facts); !status) return status.error();
  const std::string key = cpu_model_key(facts), design = core_design(facts);
  const auto donors_where = [&](auto&& like) {
    std::vector<const CpuRecord*> donors;
    for (const CpuRecord& record : records_) {
      if (like(record)) donors.push_back(&record);
    }
    return donors;
  };
  const auto arch = [&](const CpuRecord& record) { return record.facts.arch == facts.arch; };
  auto donors = donors_where([&](const CpuRecord& record) { return record.key == key; });
  if (donors.empty() && design != "unknown") {
    donors = donors_where([&](const CpuRecord& record) { return core_design(record.facts) == design; });
  }
  if (donors.empty()) {
    donors = donors_where([&](const CpuRecord& r) { return arch(r) && r.facts.vendor == facts.vendor; });
  }
  if (donors.empty()) donors = donors_where(arch);
  if (donors.empty()) {
    return Error{"unknown-bandwidth", "no bandwidth was measured, and no CPU like this one is known",
                 printable(facts.name), "measured read bandwidth"};
  }
  CpuFacts result = facts;
  result.bandwidth_imputed = true;
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    std::vector<double> per_vcpu;
    for (const CpuRecord* donor : donors) {
      const CpuShape& shape = nearest_shape(*donor, facts);
      per_vcpu.push_back(shape.read_bytes_per_s[i] / shape.vcpus);
    }
    double& bandwidth = result.read_bytes_per_s[i];
    bandwidth = median_of_known(std::move(per_vcpu)) * facts.vcpus;
    const double most = kReadShare * facts.most_memory_bytes_per_s;
    if (kBandwidthBytes[i] * facts.vcpus >= kBeyondCachesBytes && bandwidth > most) bandwidth = most;
  }
  return result;
}

}  // namespace perfcast::ai
