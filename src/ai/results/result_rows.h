#pragma once
// Published results as what a forecast is learned from: one row for what a system did on a model in a scenario.

#include <array>
#include <string>
#include <vector>

#include "ai/results/accelerator_names.h"
#include "ai/results/published_result.h"

namespace perfcast::ai {

// Facts of an accelerator that forecasts use, as natural logarithms of a slice's share; kUnknown where not known.
enum class ResultFact {
  kPeak,       // dense operations per second in the narrowest type that it has: int8 or fp8, else half
  kHalfShare,  // its peak in half precision over that
  kBandwidth,  // bytes per second of its memory over that peak
  kMemory,     // bytes of its memory
  kCache,      // of the last cache that all units share, over the memory's bandwidth: how long that takes to fill it
  kPower,      // watts of the board over that peak
};
inline constexpr size_t kResultFacts = 6;
using ResultFacts = std::array<double, kResultFacts>;

struct ResultRow {
  std::string version, submitter, model, scenario;
  std::string family;                                  // the model without its quality target: "bert-99.9" -> "bert"
  std::string accelerator, whole, generation, vendor;  // as ResultAccelerator has them
  std::string system;  // "submitter, accelerator, count, nodes": all of it is left out together
  ResultFacts facts{};
  int64_t count = 1, nodes = 1;  // of the accelerators, in all nodes
  double log_rate = kUnknown;    // of the whole system: log(result_rate_per_s), the median over `results`
  size_t results = 1;            // of this system, version, model and scenario: submissions repeat themselves
  double tokens_per_sample = kUnknown;

  bool knows_facts() const { return !std::isnan(facts[0]); }
};

std::string model_family(const std::string& model);
ResultFacts result_facts(const ResultAccelerator& accelerator);

// A row without a rate, as a forecast is asked for.
ResultRow result_row(const PublishedResult& published, const std::vector<DeviceFacts>& devices);

// Of valid results that state a rate; whoever calls chooses the division. In order of first appearance.
std::vector<ResultRow> result_rows(const std::vector<PublishedResult>& results,
                                   const std::vector<DeviceFacts>& devices);

}  // namespace perfcast::ai
