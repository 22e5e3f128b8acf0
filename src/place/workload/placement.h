#pragma once
// Use case: where does this workload belong? One workload on CPUs, GPUs, TPUs and other ASICs side by side: what each
// row says, which rows nothing else beats, which one to take. place_llm.h, place_product.h and place_profile.h make the
// rows; finish_placement() is the same for all.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"
#include "machine/facts/device_facts.h"
#include "program/explain/prices.h"

namespace perfcast::place {

inline constexpr const char* kPlacementSchema = "perfcast.placement/1";

enum class PlaceKind : uint8_t { kCpu, kGpu, kTpu, kAsic };
inline constexpr size_t kPlaceKinds = 4;
// kMeasured: the user timed this workload there. kFitted: models that were fitted to measurements of this device.
// kDatasheet: its stated peaks and rates, at efficiencies that others reach.
enum class PlaceBasis : uint8_t { kMeasured, kFitted, kDatasheet };
// Where a row's joules are from. kDatasheet: the time at the power that its data sheet states, an upper end. kTdp: the
// share of the cores that are busy of their package's thermal design power, with the interval of
// machine/meter/platform_power.h. kModelled: of accelerators the share of the stated power of
// machine/meter/accelerator_power.h, with its interval; of profiles, and kMeasured: as
// program/forecast/forecast_energy.h has them. kGiven: at the user's watts.
enum class EnergyBasis : uint8_t { kDatasheet, kTdp, kModelled, kMeasured, kGiven };
// kCapacity: it doesn't fit. kLaunch: starting kernels. kLink: between devices that share a model. kTransfer: between
// host and device. kThreads: a CPU's threads wait for each other.
enum class PlaceBound : uint8_t {
  kCompute,
  kMemory,
  kCache,
  kCapacity,
  kLaunch,
  kLink,
  kTransfer,
  kThreads,
};
enum class PlaceMeasure : uint8_t { kTime, kEnergy, kCost };
inline constexpr PlaceMeasure kPlaceMeasures[] = {PlaceMeasure::kTime, PlaceMeasure::kEnergy, PlaceMeasure::kCost};
enum class PlacedWorkload : uint8_t { kProfile, kLlm, kProduct };

std::string_view name_of(PlaceKind kind);     // "cpu", "gpu", "tpu", "asic"
std::string_view name_of(PlaceBasis basis);   // "measured", "fitted", "datasheet"
std::string_view name_of(EnergyBasis basis);  // "datasheet", "TDP-based", "modelled", "measured", "given"
std::string_view name_of(PlaceBound bound);   // "compute", "memory", ...
// "memory bandwidth", "launch overhead", ...; of a profile what a core's cycles go to: "waiting for memory".
std::string_view words_of(PlaceBound bound, PlacedWorkload workload);
std::string_view name_of(PlaceMeasure measure);  // "time", "energy", "cost"
std::string_view name_of(PlacedWorkload workload);
std::optional<PlaceKind> place_kind_named(std::string_view name);
// TPUs are Google's; other accelerators that are no GPUs are ASICs.
PlaceKind kind_of(const DeviceFacts& device);

// A row's workload at another size.
struct SizedTime {
  double time_s = 0;
  std::optional<double> power_w;  // of one device, forecast for this size; absent: the row's holds at any
};

// What isn't known is absent. Times, energy and cost are of the whole workload on `count` devices.
struct PlacementRow {
  std::string device;  // unique among the rows; of a CPU on an instance type with that in parentheses
  std::vector<std::string> aliases;
  std::string instance;     // type of machine that the price is of: "aws c7i.xlarge"; empty: none in particular
  std::string precision;    // of a language model's weights; that products are computed in
  std::string engine;       // of a language model: what its times are made of
  std::string note;         // why there is no forecast, or what to know of it
  double count = 1;         // devices that share it
  double vcpus = kUnknown;  // of a CPU's machine
  std::optional<double> time_s, lower_s, upper_s;  // lower and upper: 90%
  std::optional<double> forecast_s;                // of a row that was measured
  std::optional<double> least_s;                   // no run is faster: operations and bytes at the stated rates
  std::optional<double> transfer_s;                // of time_s: between host and device
  std::optional<double> load_s;                    // a model's weights to the device, once
  std::optional<double> power_w;                   // of one device: see energy_basis
  std::optional<double> energy_joules;             // time_s at that power, or told by itself
  std::optional<double> energy_lower_joules, energy_upper_joules;  // 90%; absent where it has no interval
  std::optional<double> price_per_hour;                            // of one device or machine
  std::optional<double> cost;                                      // of time_s; with copies: of one of these
  std::optional<double> copies;                                    // of a profile's run, side by side on `instance`
  std::optional<double> needed_bytes, memory_bytes;                // on each device
  std::optional<int64_t> fits_on;                          // of what doesn't fit: the fewest devices that hold it
  std::optional<double> relative_time;                     // of profiles: against the mean of all platforms
  std::optional<double> prefill_s, token_s, tokens_per_s;  // of language models
  std::optional<PlaceBound> bound, prefill_bound, token_bound;
  std::optional<bool> fits;
  PlaceKind kind = PlaceKind::kCpu;
  PlaceBasis basis = PlaceBasis::kDatasheet;
  EnergyBasis energy_basis = EnergyBasis::kDatasheet;
  bool host_link_assumed = false;  // the device's catalogue doesn't state it

  // Set by finish_placement().
  bool meets = true;  // every limit of the wishes
  bool is_on_front = false;

  std::optional<double> value(PlaceMeasure measure) const;
  // It fits, as far as that is known, meets the limits, and has a time (of profiles, at the least a relative one).
  bool is_candidate() const;
  // Energy and cost from time, power and price, as far as these are known; without a power the energy stays.
  void price_time();
};

// Rows are named as find_row() has it.
struct PlacementWishes {
  std::vector<PlaceKind> kinds;      // empty: all
  std::vector<std::string> filters;  // parts of names, one of which must be in a row's; empty: all
  std::vector<std::pair<std::string, double>> measured_s;  // row, and the seconds that the workload took there
  // Row, and the power of one device or machine in place of its data sheet's; likewise the price of an hour. An empty
  // name: every row that has none of its own.
  std::vector<std::pair<std::string, double>> powers_w, prices_per_hour;
  enum class Sort { kTime, kEnergy, kCost, kName } sort = Sort::kTime;
  std::optional<double> most_s, most_joules, most_cost;
};

// From which size on another device is ahead. Sizes are batches of a language model, or the longest side of a product.
struct PlaceBreakEven {
  PlaceMeasure measure = PlaceMeasure::kTime;
  std::string first, second;    // `first` is ahead, or level, at the least size
  int64_t least = 1, most = 1;  // sizes that both can take, and that were looked at
  std::optional<int64_t> at;    // from here `second` is ahead; absent: never within the limits
  int64_t crossings_count = 0;  // more than one: it changes back later on
  std::string limited_by;       // the device that holds no more; empty: `most` is where looking ended
};

struct PlacementBest {
  PlaceMeasure measure = PlaceMeasure::kTime;
  size_t row = 0;
};

struct Placement {
  PlacedWorkload kind = PlacedWorkload::kLlm;
  std::string workload;  // "llama3-8b", "4096 x 4096 x 4096 fp16", a program's name
  std::string details;   // "batch 1, prompt 2048, 128 new tokens"; empty: none
  std::string currency;  // of prices and costs; empty: not told
  std::vector<PlacementRow> rows;
  std::vector<PlacementBest> best;   // the first by what was asked for; then the other measures that are known
  std::vector<std::string> reasons;  // of the first, one or two sentences; or why there is none
  std::vector<PlaceBreakEven> break_even;
  std::vector<std::string> notes;
};

// By name or alias; upper and lower case, and blank, "-" and "_", are the same; CPUs also without vendor, trade marks,
// clock and core count, and parts of a name, where one row alone is meant. "unknown-device" or "ambiguous-device" at
// `where`, with names.
Result<size_t> find_row(const Placement& placement, const std::string& name, const std::string& where);

// Prices of a list whose server is a device of the rows, by name: the least of them, to rows that have none yet. A note
// names those that are of no device and no instance type of the rows.
void take_prices(const program::PriceList& prices, Placement& placement);

// Keeps the rows that are wanted, takes prices, powers and measured times, sorts, finds the front and what is best,
// with reasons and the notes that follow from the rows. The front: rows that can be taken and that no other such row
// beats. A row beats another where it is no worse in any measure that the other knows, and better in one: a measure
// that isn't known beats nothing. "unknown-device" at "device", "measured", "price" or "power-w" with near names;
// "no-device" where kinds and filters leave none; "bad-usage" at "sort", "budget" or "max-energy" where no row has a
// cost or an energy, at "measured" for a time that isn't above 0, and at "power-w" above 20 kW.
Status finish_placement(const PlacementWishes& wishes, Placement& placement);

Json to_json(const Placement& placement);
// For people. `most_rows` of the table, 0: all; rows of the front, and measured ones, stay in any case.
std::string placement_text(const Placement& placement, size_t most_rows);
// How many runs costs are told of, so that none is a string of zeros: 1, or 1000 where a run costs less than 0.01.
double runs_of_cost(double least_cost);
// "0.0233 USD", "0.0368 USD per 1000 runs".
std::string cost_in_words(double cost, const std::string& currency);

}  // namespace perfcast::place
