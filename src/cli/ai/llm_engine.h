#pragma once
// The serving engine and the host of a language model, as people name them.

#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/named_devices.h"
#include "base/result.h"
#include "cli/command.h"

namespace perfcast::cli {

using ai::kNoEngine;

struct EngineArguments {
  std::string engine = ai::kDefaultEngine;
  std::vector<std::string> hosts;
};
void add_engine_option(CLI::App& verb, EngineArguments& arguments);
void add_host_option(CLI::App& verb, EngineArguments& arguments);

// As it is shipped.
Result<ai::EngineBundle> shipped_engines();

// The engine that was asked for; its host isn't known yet. Without a profile for "none". "unknown-engine" names all.
Result<ai::EngineTerms> engine_of(const EngineArguments& arguments);

// A host by its CPU's name, or by an instance type's: "EPYC 7R32", "g5.xlarge", "aws g5.xlarge". "unknown-cpu".
Result<ai::EngineHost> host_named(const std::string& name);

}  // namespace perfcast::cli
