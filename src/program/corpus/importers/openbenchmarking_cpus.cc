#include "program/corpus/importers/openbenchmarking_cpus.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/statistics.h"
#include "base/table_row.h"
#include "base/text.h"
#include "machine/facts/core_design.h"
#include "machine/facts/cpu_names.h"

namespace perfcast::program {
namespace {

constexpr double kSlowest = 0.4e9;
// Hz. Nothing in the table boosts further than 5.3 GHz; some kernels said 6.6 of a Threadripper.
constexpr double kFastest = 5.5e9;
constexpr double kMebibyteListed = 1000;
constexpr double kKib = 1024;
// What one core's first and second cache may hold, in KiB.
constexpr double kL1dSizes[] = {16, 24, 32, 48, 64, 128, 192};
constexpr double kL2Sizes[] = {256, 512, 1024, 1280, 2048};
constexpr double kSumRounding = 0.03;        // sums have two digits: "1.9 MiB"
constexpr double kMadeUpL2Kib = 4096;        // of an emulator
constexpr double kBoostless = 1.03;          // a maximal clock below this many base clocks is the base clock
constexpr int64_t kFirstFamilyOf32Kib = 21;  // of AMD: those before have 64 KiB
constexpr int64_t kFirstModelWithL3 = 26;    // of Intel's family 6: Nehalem

std::optional<double> plausible(std::optional<double> hz) {
  return hz && *hz >= kSlowest && *hz <= kFastest ? hz : std::nullopt;
}

// The table's number of a sum as KiB: "768 KiB" stands as 768, "12 MiB" as 12000, "1.5 MiB" as 1.5.
double kib_of_sum(double listed) {
  if (listed < 8) return listed * kKib;
  return listed >= kMebibyteListed ? listed / kMebibyteListed * kKib : listed;
}

// "12 MiB" stands as 12000; no cache has a whole number of thousands of KiB.
bool is_sum(std::optional<double> listed) {
  return listed && *listed >= kMebibyteListed && std::fmod(*listed, kMebibyteListed) == 0;
}

// The size among `sizes` that `kib` is, but for rounding.
template <size_t N>
std::optional<double> nearest(double kib, const double (&sizes)[N]) {
  for (const double size : sizes) {
    if (std::abs(kib / size - 1) <= kSumRounding) return size;
  }
  return std::nullopt;
}

std::optional<double> bytes(std::optional<double> kib) { return kib ? std::optional(*kib * kKib) : std::nullopt; }

// "EPYC 7742 64-Core" -> 64
std::optional<double> cores_in_name(const std::string& cpu) {
  for (const std::string& word : split(cpu, ' ')) {
    if (!word.ends_with("-Core")) continue;
    const auto cores = parse_number(std::string_view(word).substr(0, word.size() - 5));
    if (cores && *cores >= 1) return cores;
  }
  return std::nullopt;
}

template <typename T>
std::optional<T> most_common(const std::vector<T>& values) {
  std::map<T, int64_t> counts;
  for (const T& value : values) ++counts[value];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

}  // namespace

HostName parse_host_name(std::string_view text) {
  text = trim(text);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  constexpr std::string_view kTimes = " x ";
  if (digits > 0 && digits <= 3 && text.substr(digits).starts_with(kTimes)) {
    const auto sockets = parse_number(text.substr(0, digits));
    if (sockets && *sockets >= 1) {
      return {std::string(trim(text.substr(digits + kTimes.size()))), static_cast<int64_t>(*sockets)};
    }
  }
  return {std::string(text), 1};
}

CacheSizes caches_of_one(const ListedCaches& listed) {
  CacheSizes sizes;
  // 24 cores of 32 KiB are 768, no size of one; four of them are 128, which might be but for Arm's cores.
  const bool of_many =
      listed.l1d_kib && (*listed.l1d_kib > listed.largest_l1d_kib || !nearest(*listed.l1d_kib, kL1dSizes));
  if (!of_many && !is_sum(listed.l2_kib) && !is_sum(listed.l3_kib)) {
    sizes.l1d_bytes = bytes(listed.l1d_kib);
    sizes.l2_bytes = bytes(listed.l2_kib);
    sizes.l3_bytes = bytes(listed.l3_kib);
    return sizes;
  }
  if (listed.cores > 0) {
    const auto l1d = listed.l1d_kib ? nearest(kib_of_sum(*listed.l1d_kib) / listed.cores, kL1dSizes) : std::nullopt;
    if (l1d && *l1d <= listed.largest_l1d_kib) sizes.l1d_bytes = bytes(l1d);
    if (listed.l2_kib) sizes.l2_bytes = bytes(nearest(kib_of_sum(*listed.l2_kib) / listed.cores, kL2Sizes));
  }
  // AMD's last caches serve a few cores each, and how many there are the table does not tell.
  if (listed.l3_kib && listed.sockets > 0 && !listed.is_amd) {
    sizes.l3_bytes = kib_of_sum(*listed.l3_kib) / listed.sockets * kKib;
  }
  return sizes;
}

Result<OpenbenchmarkingCpus> OpenbenchmarkingCpus::read(const CsvTable& table, ExclusionCounter& exclusions) {
  const auto column = table.column("cpu");
  if (!column) return column.error();
  OpenbenchmarkingCpus cpus;
  for (size_t i = 0; i < table.rows(); ++i) {
    const TableRow row(table, i);
    const std::string host_name = row.text("cpu");
    const HostName name = parse_host_name(host_name);
    if (name.cpu.empty() || !cpus.known_.insert(host_name).second) {
      exclusions.add("host", name.cpu.empty() ? "without a name" : "named twice: the first row stays");
      continue;
    }
    Host host;
    host.identity = identity_of_name(name.cpu);
    const ProcessorIdentity by_name = host.identity;
    const auto family = row.integer("cpu_family"), model = row.integer("model");
    // A virtual machine that shows another processor than its host's, or a name that was typed in.
    if (by_name.model && model && (by_name.cpu_family != family || by_name.model != model)) {
      exclusions.add("host", "its facts are those of another processor than its name says");
      continue;
    }
    if (family) host.identity.cpu_family = family;
    if (model) host.identity.model = model;
    if (const auto stepping = row.integer("stepping")) host.identity.stepping = stepping;
    if (const std::string vendor = row.text("vendor_id"); host.identity.vendor.empty()) {
      host.identity.vendor = vendor_name(vendor);
    }
    const auto sockets = row.positive("sockets"), cores = row.positive("cores_per_socket");
    const bool is_whole = !sockets || static_cast<int64_t>(*sockets) == name.sockets;  // no virtual machine's topology
    if (const auto named = cores_in_name(name.cpu)) {
      host.facts["core_count"] = *named;
    } else if (cores && is_whole && sockets) {
      host.facts["core_count"] = *cores;
    }
    if (const auto threads = row.positive("threads_per_core")) host.facts["threads_per_core_count"] = *threads;

    ListedCaches listed{row.positive("l1d"), row.positive("l2"), row.positive("l3")};
    listed.cores = cores.value_or(0) * sockets.value_or(0);
    listed.sockets = sockets.value_or(0);
    listed.is_amd = vendor_key(host.identity.vendor) == "amd";
    if (host.identity.arch == "x86_64") {
      const bool is_bulldozer_or_later = listed.is_amd && host.identity.cpu_family.value_or(0) >= kFirstFamilyOf32Kib;
      listed.largest_l1d_kib = is_bulldozer_or_later ? 32 : listed.is_amd ? 64 : 48;
    }
    const bool has_l3 =
        vendor_key(host.identity.vendor) == "intel" && host.identity.model.value_or(0) >= kFirstModelWithL3;
    if (has_l3 && !listed.l3_kib && listed.l2_kib == kMadeUpL2Kib) {
      listed.l2_kib.reset();
      exclusions.add("fact of a host", "a second cache that a virtual machine made up");
    }
    const CacheSizes caches = caches_of_one(listed);
    for (const CacheField& field : kCacheFields) {
      if (const auto& size = caches.*field.bytes) host.facts[field.name] = *size;
    }
    if (caches.l1d_bytes != bytes(listed.l1d_kib) || caches.l2_bytes != bytes(listed.l2_kib)) {
      exclusions.add("fact of a host", "caches listed as sums of all instances");
    }

    // BogoMIPS are twice the time stamp counter's clock, which is the base clock, on x86.
    const auto bogomips = host.identity.arch == "x86_64" ? row.positive("bogomips") : std::nullopt;
    const auto base_hz = bogomips ? plausible(*bogomips * 1e6 / 2) : std::nullopt;
    if (base_hz) host.facts["tsc_hz"] = *base_hz;
    const auto megahertz = row.positive("max_mhz");
    const auto max_hz = megahertz ? plausible(*megahertz * 1e6) : std::nullopt;
    if (megahertz && !max_hz) exclusions.add("fact of a host", "a maximal clock that no such processor has");
    if (max_hz && base_hz && *max_hz < kBoostless * *base_hz) {
      exclusions.add("fact of a host", "a maximal clock that is the base clock: its driver does not tell the boost");
    } else if (max_hz) {
      host.facts["max_hz"] = *max_hz;
    }
    // A 0 may as well be a line of flags that is missing, as it is for many Haswells: it tells nothing.
    for (const char* flag : {"avx2", "avx512f"}) {
      if (row.number(flag) == 1.0) host.flags.emplace_back(flag);
    }
    cpus.hosts_[slug(cpuid_name(name.cpu))].push_back(std::move(host));
  }
  return cpus;
}

Platform OpenbenchmarkingCpus::platform_of(const std::string& cpu, const std::string& source) const {
  Platform platform;
  static_cast<ProcessorIdentity&>(platform) = identity_of_name(cpu);
  platform.name = cpuid_name(cpu);
  platform.id = slug(platform.name);
  platform.segment = segment_of_name(cpu);
  platform.source = source;
  const auto found = hosts_.find(platform.id);
  if (found != hosts_.end()) {
    std::vector<std::pair<int64_t, int64_t>> models;
    std::vector<int64_t> steppings;
    std::map<std::string, std::vector<double>> facts;
    for (const Host& host : found->second) {
      if (platform.vendor.empty()) platform.vendor = host.identity.vendor;
      if (host.identity.cpu_family && host.identity.model) {
        models.emplace_back(*host.identity.cpu_family, *host.identity.model);
      }
      if (host.identity.stepping) steppings.push_back(*host.identity.stepping);
      for (const auto& [name, value] : host.facts) facts[name].push_back(value);
      for (const std::string& flag : host.flags) {
        if (std::find(platform.flags.begin(), platform.flags.end(), flag) == platform.flags.end()) {
          platform.flags.push_back(flag);
        }
      }
    }
    if (const auto model = most_common(models)) {
      platform.cpu_family = model->first;
      platform.model = model->second;
    }
    if (const auto stepping = most_common(steppings)) platform.stepping = *stepping;
    for (auto& [name, values] : facts) platform.facts[name] = median(std::move(values));
  }
  for (const std::string& flag : flags_of_design(core_design(platform))) {
    if (std::find(platform.flags.begin(), platform.flags.end(), flag) == platform.flags.end()) {
      platform.flags.push_back(flag);
    }
  }
  std::sort(platform.flags.begin(), platform.flags.end());
  return platform;
}

}  // namespace perfcast::program
