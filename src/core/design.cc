#include "core/design.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr const char* kSchema = "perfcast.core_designs/1";
constexpr size_t kLimitBytes = size_t{1} << 20;
constexpr size_t kMaximumDesigns = 1000;

constexpr std::array<std::string_view, kCoreOps> kOpNames = {
    "none",           "alu",       "shift",           "multiply",
    "divide_32",      "divide_64", "branch",          "float_add",
    "float_multiply", "fma",       "float_divide_32", "float_divide_64",
    "float_root",     "convert",   "vector_integer",  "vector_multiply",
    "shuffle",        "x87",       "x87_divide",      "transcendental",
    "crypto",         "atomic",    "fence",           "counter",
    "random",         "pause"};

// A field that is a whole number, and what is possible.
template <typename Of>
struct Count {
  const char* key;
  int Of::*to;
  int64_t low, high;
};
constexpr Count<CoreDesign> kCounts[] = {
    {"width", &CoreDesign::width, 1, 32},
    {"taken_branches_cycles", &CoreDesign::taken_branches_cycles, 0, 16},
    {"op_cache_instructions", &CoreDesign::op_cache_instructions, 0, 1 << 20},
    {"decode_width", &CoreDesign::decode_width, 1, 64},
    {"fetch_bytes", &CoreDesign::fetch_bytes, 1, 1024},
    {"btb_entries", &CoreDesign::btb_entries, 1, 1 << 20},
    {"btb_miss_cycles", &CoreDesign::btb_miss_cycles, 0, 100},
    {"window", &CoreDesign::window, 1, 4096},
    {"scheduler", &CoreDesign::scheduler, 1, 4096},
    {"load_queue", &CoreDesign::load_queue, 1, 4096},
    {"store_queue", &CoreDesign::store_queue, 1, 4096},
    {"mispredict_cycles", &CoreDesign::mispredict_cycles, 1, 100},
    {"vector_bytes", &CoreDesign::vector_bytes, 4, 256},
    {"l1d_cycles", &CoreDesign::l1d_cycles, 1, 100},
    {"l1d_vector_cycles", &CoreDesign::l1d_vector_cycles, 1, 100},
    {"l2_cycles", &CoreDesign::l2_cycles, 2, 1000},
    {"l3_cycles", &CoreDesign::l3_cycles, 2, 1000},
    {"forward_cycles", &CoreDesign::forward_cycles, 0, 100},
    {"mirror_cycles", &CoreDesign::mirror_cycles, 0, 100},
    {"transfer_cycles", &CoreDesign::transfer_cycles, 0, 100},
    {"misses", &CoreDesign::misses, 1, 1024},
    {"tlb_entries", &CoreDesign::tlb_entries, 1, 1 << 20},
    {"tlb_miss_cycles", &CoreDesign::tlb_miss_cycles, 0, 1000},
    {"page_walk_cycles", &CoreDesign::page_walk_cycles, 0, 10000},
};
constexpr Count<CorePorts> kPorts[] = {
    {"alu", &CorePorts::alu, 1, 32},
    {"shift", &CorePorts::shift, 1, 32},
    {"multiply", &CorePorts::multiply, 1, 32},
    {"branch", &CorePorts::branch, 1, 32},
    {"vector", &CorePorts::vector, 1, 32},
    {"float_add", &CorePorts::float_add, 1, 32},
    {"float_multiply", &CorePorts::float_multiply, 1, 32},
    {"shuffle", &CorePorts::shuffle, 1, 32},
    {"load", &CorePorts::load, 1, 32},
    {"store", &CorePorts::store, 1, 32},
    {"memory", &CorePorts::memory, 1, 64},
};
struct Amount {
  const char* key;
  double CoreDesign::*to;
  double low, high;
};
constexpr Amount kAmounts[] = {
    {"l1i_bytes", &CoreDesign::l1i_bytes, 1024, 1e9}, {"l1d_bytes", &CoreDesign::l1d_bytes, 1024, 1e9},
    {"l2_bytes", &CoreDesign::l2_bytes, 1024, 1e9},   {"l3_bytes", &CoreDesign::l3_bytes, 0, 1e10},
    {"memory_ns", &CoreDesign::memory_ns, 1, 10000},  {"line_ns", &CoreDesign::line_ns, 0.01, 1000},
    {"clock_hz", &CoreDesign::clock_hz, 1e8, 1e11},
};

bool is_field(std::string_view key) {
  constexpr std::array<std::string_view, 7> kOthers = {"name",  "instruction_set",  "sources", "estimated",
                                                       "ports", "eliminates_moves", "ops"};
  const auto named = [&](const auto& field) { return key == field.key; };
  return std::find(kOthers.begin(), kOthers.end(), key) != kOthers.end() ||
         std::any_of(std::begin(kCounts), std::end(kCounts), named) ||
         std::any_of(std::begin(kAmounts), std::end(kAmounts), named);
}

class Designs {
 public:
  Designs(const Json& json, const std::string& source) : json_(json), source_(source) {}
  Result<std::vector<CoreDesign>> read();

 private:
  CoreDesign read_design(const Json& json, const std::string& path);
  template <typename Of, size_t kSize>
  void counts(const Count<Of> (&fields)[kSize], JsonReader& in, const Json& json, Of& to);
  void ops(const Json& json, const std::string& path, CoreDesign& design);
  void note(const JsonReader& in);

  const Json& json_;
  const std::string& source_;
  std::map<std::string, Json> known_;  // whole, by name: for `like`
  std::vector<std::string> mistakes_;
};

void Designs::note(const JsonReader& in) {
  if (const Status status = in.finish(); !status)
    mistakes_.push_back(status.error().where + ": " + status.error().message);
}

template <typename Of, size_t kSize>
void Designs::counts(const Count<Of> (&fields)[kSize], JsonReader& in, const Json& json, Of& to) {
  for (const auto& field : fields) {
    const auto found = json.find(field.key);
    if (found != json.end() && found->is_number_integer() && (*found < field.low || *found > field.high)) {
      in.complain(field.key, found->dump(),
                  "a whole number from " + std::to_string(field.low) + " to " + std::to_string(field.high));
      continue;
    }
    to.*field.to = static_cast<int>(in.integer(field.key));
  }
}

void Designs::ops(const Json& json, const std::string& path, CoreDesign& design) {
  JsonReader in(json, path);
  for (const auto& [key, value] : json.items()) {
    if (std::find(kOpNames.begin(), kOpNames.end(), key) == kOpNames.end())
      in.complain(key, "no kind of operation",
                  "one of " + join(std::vector<std::string>(kOpNames.begin(), kOpNames.end()), ", "));
  }
  for (size_t op = static_cast<size_t>(CoreOp::kAlu); op < kCoreOps; ++op) {
    const std::string key(kOpNames.at(op));
    const Json* pair = in.require_array(key);
    if (pair == nullptr) continue;
    const auto good = [](const Json& number) {
      return number.is_number() && number.get<double>() >= 0 && number.get<double>() <= 10000;
    };
    if (pair->size() != 2 || !good(pair->at(0)) || !good(pair->at(1))) {
      in.complain(key, pair->dump().substr(0, 100), "[latency, cycles from one to the next], of 0 to 10000");
      continue;
    }
    design.ops.at(op) = {pair->at(0).get<double>(), pair->at(1).get<double>()};
  }
  note(in);
}

CoreDesign Designs::read_design(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  CoreDesign design;
  design.name = in.string("name");
  design.instruction_set = in.string("instruction_set");
  design.sources = in.strings("sources");
  if (design.sources.empty()) in.complain("sources", "none", "where the numbers are from");
  design.estimated = in.strings("estimated");
  design.eliminates_moves = in.boolean("eliminates_moves");
  counts(kCounts, in, json, design);
  for (const Amount& field : kAmounts) {
    const double value = in.number(field.key);
    if (json.contains(field.key) && !(value >= field.low && value <= field.high))
      in.complain(field.key, std::to_string(value),
                  "a number from " + std::to_string(field.low) + " to " + std::to_string(field.high));
    design.*field.to = value;
  }
  if (const Json* ports = in.require_object("ports")) {
    JsonReader of(*ports, path + ".ports");
    counts(kPorts, of, *ports, design.ports);
    design.ports.vector_shares_alu = of.boolean("vector_shares_alu");
    for (const auto& item : ports->items()) {
      const std::string& key = item.key();
      const bool known = key == "vector_shares_alu" || std::any_of(std::begin(kPorts), std::end(kPorts),
                                                                   [&](const auto& port) { return key == port.key; });
      if (!known) of.complain(key, "no group of ports", "a group as in data/cores/designs.json");
    }
    note(of);
  }
  if (const Json* costs = in.require_object("ops")) ops(*costs, path + ".ops", design);
  for (const auto& [key, value] : json.items()) {
    if (!is_field(key)) in.complain(key, "no field of a design", "a field as in data/cores/designs.json");
  }
  note(in);
  return design;
}

Result<std::vector<CoreDesign>> Designs::read() {
  JsonReader in(json_, source_);
  if (const std::string schema = in.string("schema"); schema != kSchema) in.complain("schema", schema, kSchema);
  std::vector<CoreDesign> designs;
  const Json* all = in.require_array("designs");
  if (all != nullptr && all->size() > kMaximumDesigns)
    in.complain("designs", std::to_string(all->size()), "at most 1000");
  note(in);
  const size_t count = all == nullptr ? 0 : std::min(all->size(), kMaximumDesigns);
  for (size_t i = 0; i < count; ++i) {
    const std::string path = source_ + ".designs[" + std::to_string(i) + "]";
    Json whole = all->at(i);
    // What a design shares with another that stands before it.
    if (whole.is_object() && whole.contains("like")) {
      const auto base = whole["like"].is_string() ? known_.find(whole["like"].get<std::string>()) : known_.end();
      if (base == known_.end()) {
        mistakes_.push_back(path + ".like: no design of that name before it");
        continue;
      }
      Json merged = base->second;
      merged.erase("estimated");
      merged.erase("sources");
      merged.merge_patch(whole);
      merged.erase("like");
      whole = std::move(merged);
    }
    CoreDesign design = read_design(whole, path);
    if (!known_.emplace(design.name, whole).second) mistakes_.push_back(path + ".name: \"" + design.name + "\" twice");
    designs.push_back(std::move(design));
  }
  if (!mistakes_.empty()) {
    return Error{"bad-core-design", join(mistakes_, "; "), source_, "designs as in data/cores/designs.json"};
  }
  return designs;
}

}  // namespace

Result<std::vector<CoreDesign>> parse_core_designs(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  return Designs(*json, source).read();
}

Result<std::vector<CoreDesign>> read_core_designs(const std::string& path) {
  const auto text = read_file(path, kLimitBytes);
  if (!text) return text.error();
  return parse_core_designs(*text, path);
}

}  // namespace perfcast
