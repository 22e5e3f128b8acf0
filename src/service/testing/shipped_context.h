#pragma once
// The shipped models, and a profile to ask about.

#include <string>

#include "base/file.h"
#include "service/context.h"

namespace perfcast::service {

inline std::string shipped(const std::string& name) { return std::string(PERFCAST_SOURCE_DIR) + "/data/" + name; }

inline ContextFiles shipped_files() {
  ContextFiles files;
  files.bundle = shipped("bundles/cpus.pcb");
  files.devices = {shipped("devices/devices.json"), shipped("bundles/gpu-latency.json"),
                   shipped("bundles/half-precision.json"), shipped("bundles/kernels.json")};
  files.engines = shipped("bundles/engines.json");
  files.audit_models = shipped("audit/models.json");
  files.core_designs = shipped("cores/designs.json");
  files.price_lists = {{"example", shipped("prices/example.csv")}};
  return files;
}

// As JSON.
inline std::string profile_text() {
  const auto text = read_file(shipped("profiles/cloud/compress.bzip2.1.c.json"));
  return text ? *text : "";
}

// {"profile": ..., MORE}
inline std::string request_with_profile(const std::string& more = "") {
  return "{\"profile\": " + profile_text() + (more.empty() ? "" : ", " + more) + "}";
}

}  // namespace perfcast::service
