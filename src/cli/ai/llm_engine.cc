#include "cli/ai/llm_engine.h"

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
  if (arguments.engine == kNoEngine) return ai::EngineTerms();
  const auto bundle = shipped_engines();
  if (!bundle) return bundle.error();
  return ai::engine_named(*bundle, arguments.engine);
}

Result<ai::EngineHost> host_named(const std::string& name) {
  const auto bundle = shipped_engines();
  if (!bundle) return bundle.error();
  return ai::host_named(*bundle, name);
}

}  // namespace perfcast::cli
