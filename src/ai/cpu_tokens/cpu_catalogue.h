#pragma once
// Known CPU models: typical facts and measured read bandwidth of each size of machine that carries one. What stands in
// where nothing was measured.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/cpu_tokens/cpu_facts.h"
#include "ai/cpu_tokens/token_rates.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct CpuShape {  // medians over the servers of one size
  double vcpus = 0, cores = 0, sockets = 1, numa_nodes = 1, l3_count = kUnknown;
  BandwidthCurve read_bytes_per_s = unknown_bandwidth();
  int64_t servers = 0;
};

struct CpuRecord {
  std::string key;               // cpu_model_key
  CpuFacts facts;                // what all sizes share; sizes and bandwidth unset
  std::vector<CpuShape> shapes;  // by vCPUs, then cores, sockets, NUMA nodes; one at least
  int64_t servers = 0;
};

class CpuCatalogue {
 public:
  // Of those servers for which `use` holds (empty: all), with bandwidth.
  static CpuCatalogue from_servers(const std::vector<TokenServer>& servers, const std::vector<bool>& use = {});

  const std::vector<CpuRecord>& records() const { return records_; }

  // A machine of `vcpus` with that CPU: facts of the nearest size, bandwidth between the sizes to both sides. NaN: the
  // largest known size. The name needs no trade marks, clock or core count; where several families share it, the one
  // of most servers. bandwidth_imputed unless a machine of that very size was measured. "unknown-cpu" lists near
  // names; "bad-vcpus".
  Result<CpuFacts> find(const std::string& name, double vcpus = kUnknown) const;

  // Fills in unknown bandwidth, and marks it: of the same CPU model, else the same core design, else the vendor's, else
  // the architecture's; per vCPU, of the machines nearest in size, median over CPU models. Where the data sheet
  // of the memory is known, memory is no faster than such machines read of theirs. "unknown-bandwidth" where nothing is
  // known. Facts with bandwidth come back as they are.
  Result<CpuFacts> impute(const CpuFacts& facts) const;

  Json to_json() const;
  // "bad-bundle".
  static Result<CpuCatalogue> from_json(const Json& json, const std::string& path);

 private:
  std::vector<CpuRecord> records_;  // by key
};

}  // namespace perfcast::ai
