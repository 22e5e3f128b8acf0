#pragma once
// A platform: a CPU or GPU model that programs were timed on, with what is known of it.

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/processor.h"

namespace perfcast {

// `name` is as the source writes the CPU or GPU model, made unique where the source hides it; `vendor` as people write
// it: "AMD", "Intel", "ARM", ...
struct Platform : ProcessorIdentity {
  std::string id;  // stable slug, unique: "amd-epyc-7763"
  std::string kind = "cpu";
  // Who has it: "cloud" (rented out), "server", "desktop" (workstations, laptops and boards too); empty: unknown.
  std::string segment;
  std::map<std::string, double>
      facts;                       // names end in their unit: l1d_bytes, l2_bytes, max_hz, bwmem_rd_16mb_bytes_per_s
  std::vector<std::string> flags;  // avx2, avx512f, amx, sve, asimd, aes, sha
  std::string source;
};

// Platform facts "provider_NAME_ratio": share of the platform's servers that this cloud provider runs. Whoever runs the
// hypervisor and sets the clocks leaves a mark on the times.
inline constexpr const char* kProviderFact = "provider_";

// "AMD EPYC 7763 64-Core Processor" -> "amd-epyc-7763-64-core-processor"; "(R)" and "(TM)" are left out.
std::string slug(const std::string& name);

// Platforms that share a verbatim name, which hides different hardware, get " (family 6 model 143)" behind it; the
// stepping, then the id, where that is not enough. Unique names stay as they are.
void make_platform_names_unique(std::vector<Platform>& platforms);

// Without `facts`, which bundles keep as a matrix and reports beside it.
Json to_json(const Platform& platform);
// The error names every field that is missing or of another kind; `path` stands before their names in it.
Result<Platform> platform_from_json(const Json& json, const std::string& path);

}  // namespace perfcast
