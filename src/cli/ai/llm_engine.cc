#include "cli/ai/llm_engine.h"

#include <memory>

#include "base/text.h"
#include "cli/option_table.h"

namespace perfcast::cli {
namespace {

constexpr const char* kEngines = "bundles/engines.json";

}  // namespace

void add_engine_option(CLI::App& verb, EngineArguments& arguments) {
  add_basic(verb, "--engine", arguments.engine, "NAME",
            "The serving engine: vllm, sglang, tensorrt-llm, llama.cpp. With none, kernels alone are forecast.")
      ->capture_default_str();
}

void add_host_option(CLI::App& verb, EngineArguments& arguments) {
  add_basic(verb, "--host", arguments.hosts, "HOST",
            "The CPU or the instance type that the devices are in, such as \"EPYC 9V84\" or g5.xlarge; DEVICE=HOST for "
            "one device. Not given: intervals are wider.");
}

Result<ai::EngineBundle> shipped_engines() { return ai::read_engine_bundle(shipped_file(kEngines)); }

Result<ai::EngineTerms> engine_of(const EngineArguments& arguments) {
  ai::EngineTerms terms;
  if (arguments.engine == kNoEngine) return terms;
  auto bundle = shipped_engines();
  if (!bundle) return bundle.error();
  const auto profile = bundle->find(arguments.engine);
  if (!profile) {
    Error error = profile.error();
    error.kind = ErrorKind::kUsage;
    error.where = "--engine";
    std::vector<std::string> names = bundle->names();
    std::erase(names, kNoEngine);
    error.expected = "one of: " + join(names, ", ") + ", " + kNoEngine;
    return error;
  }
  terms.profile = std::make_shared<const ai::EngineProfile>(**profile);
  return terms;
}

Result<ai::EngineHost> host_named(const std::string& name) {
  const auto bundle = shipped_engines();
  if (!bundle) return bundle.error();
  auto host = bundle->hosts.find(name);
  if (host) return host;
  Error error = host.error();
  error.kind = ErrorKind::kUsage;
  error.where = "--host";
  error.message = "'" + printable(name) + "' is neither a CPU nor a machine with GPUs that is known";
  error.expected = "a CPU or an instance type, such as \"EPYC 7R32\" or g5.xlarge; " + error.expected;
  return error;
}

}  // namespace perfcast::cli
