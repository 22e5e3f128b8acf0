#include "machine/facts/host_facts.h"

#include "base/json.h"
#include "machine/facts/checked_fields.h"

namespace perfcast {

Json to_json(const HostFacts& host) {
  Json json = Json::object();
  put(json, "cpu_model", host.name);
  put(json, "cpu_vendor", host.vendor);
  put(json, "arch", host.arch);
  put_numbers(json, host);
  put(json, "logical_cpus", host.logical_cpus);
  put(json, "threads_per_core", host.threads_per_core);
  put(json, "memory_bytes", host.memory_bytes);
  for (const CacheField& field : kCacheFields) put(json, field.name, host.*field.bytes);
  if (!host.cpu_flags.empty()) json["cpu_flags"] = host.cpu_flags;
  put(json, "kernel", host.kernel);
  put(json, "os", host.os);
  put(json, "hypervisor", host.hypervisor);
  return json;
}

Result<HostFacts> host_facts_from_json(const Json& json, const std::string& path) {
  CheckedFields in(json, path);
  HostFacts host;
  host.name = in.text_or_empty("cpu_model");
  host.vendor = in.text_or_empty("cpu_vendor");
  host.arch = in.text_or_empty("arch");
  in.read_numbers(host);
  host.logical_cpus = in.integer("logical_cpus", 1, 1 << 20);
  host.threads_per_core = in.integer("threads_per_core", 1, 1024);
  host.memory_bytes = in.amount("memory_bytes");
  for (const CacheField& field : kCacheFields) host.*field.bytes = in.amount(field.name);
  host.cpu_flags = in.texts("cpu_flags", CheckedFields::kMaximumNames);
  host.kernel = in.text_or_empty("kernel");
  host.os = in.text_or_empty("os");
  host.hypervisor = in.text_or_empty("hypervisor");
  if (const Status status = in.finish(); !status) return status.error();
  return host;
}

}  // namespace perfcast
