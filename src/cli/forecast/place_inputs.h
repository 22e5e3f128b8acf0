#pragma once
// What `perfcast place` looks at: the workload that the command line names, and the hardware that is known.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/llm/model_config.h"
#include "base/result.h"
#include "base/unknown.h"
#include "cli/command.h"
#include "place/workload/place_product.h"
#include "profile/profile.h"
#include "program/explain/prices.h"

namespace perfcast::cli {

using PlacedInput = std::variant<Profile, ai::LlmConfig, place::ProductWorkload>;

// "M,N,K[,PRECISION]"; a file or "last" that holds a profile; else a language model. Errors are those of the kind that
// the word looks like; of one that is neither, they name what each would be.
Result<PlacedInput> read_workload(const std::string& given, bool quiet);

// Every device of the catalogue, and of `device_file` (empty: none) before it. A device of whose model nothing can be
// made is an error, as everywhere.
Result<std::vector<place::PlaceDevice>> place_devices(const std::string& device_file);

// Those of the parts of names that no device and no CPU of the catalogue has.
std::vector<std::string> unclaimed_names(std::vector<std::string> parts, const std::vector<place::PlaceDevice>& devices,
                                         const ai::CpuCatalogue& cpus);

struct CpuChoice {
  double vcpus = kUnknown;   // of each machine; not known: of the sizes that are rented the one nearest to 32
  bool with_clocks = false;  // from the bundle of CPU models
  const PlatformPowerTable* powers = nullptr;
  const program::PriceList* prices =
      nullptr;                      // an instance type with a price is a row of its own in the place of the CPU's
  std::vector<std::string> wanted;  // parts of names; CPU models of the bundle that have one are rows, too
};
// The CPU models of `tokens`, and those of the bundle that are wanted and not among them: their bandwidth is that of
// their kin. Clocks and instance types are of the bundle of CPU models.
Result<std::vector<place::PlaceCpu>> place_cpus(const ai::TokenBundle& tokens, const CpuChoice& choice,
                                                const CommonOptions& options);

}  // namespace perfcast::cli
