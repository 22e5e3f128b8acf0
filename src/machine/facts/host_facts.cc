#include "machine/facts/host_facts.h"

#include "base/json.h"
#include "machine/facts/processor_json.h"

namespace perfcast {

Json to_json(const HostFacts& host) {
  Json json = Json::object();
  put_known(json, "cpu_model", host.name);
  put_known(json, "cpu_vendor", host.vendor);
  put_known(json, "arch", host.arch);
  put_numbers(json, host);
  put_known(json, "logical_cpus", host.logical_cpus);
  put_known(json, "threads_per_core", host.threads_per_core);
  put_known(json, "memory_bytes", host.memory_bytes);
  for (const CacheField& field : kCacheFields) put_known(json, field.name, host.*field.bytes);
  if (!host.cpu_flags.empty()) json["cpu_flags"] = host.cpu_flags;
  put_known(json, "kernel", host.kernel);
  put_known(json, "os", host.os);
  put_known(json, "hypervisor", host.hypervisor);
  return json;
}

Result<HostFacts> host_facts_from_json(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  HostFacts host;
  host.name = in.string_or("cpu_model", "");
  host.vendor = in.string_or("cpu_vendor", "");
  host.arch = in.string_or("arch", "");
  read_numbers(in, host);
  host.logical_cpus = in.optional_integer("logical_cpus", 1, 1 << 20);
  host.threads_per_core = in.optional_integer("threads_per_core", 1, 1024);
  host.memory_bytes = in.optional_amount("memory_bytes");
  for (const CacheField& field : kCacheFields) host.*field.bytes = in.optional_amount(field.name);
  host.cpu_flags = in.strings("cpu_flags", kMostFlags);
  host.kernel = in.string_or("kernel", "");
  host.os = in.string_or("os", "");
  host.hypervisor = in.string_or("hypervisor", "");
  if (const Status status = in.finish(); !status) return status.error();
  return host;
}

}  // namespace perfcast
