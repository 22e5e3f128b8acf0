#include "profile/core/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/bytes.h"
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

class Designs {
 public:
  Designs(const Json& json, const std::string& source) : json_(json), source_(source) {}
  Result<std::vector<CoreDesign>> read();

 private:
  CoreDesign read_design(const Json& json);
  std::optional<Json> whole_of(const Json& json);
  template <typename Of, size_t kSize>
  void counts(const Count<Of> (&fields)[kSize], JsonReader& in, const Json& json, Of& to);
  void ops(const Json& json, const std::string& path, CoreDesign& design);
  void note(const JsonReader& in);

  struct Known {
    Json whole;
    std::set<std::string> mistakes;  // in it, without the path
  };
  const Json& json_;
  const std::string& source_;
  std::map<std::string, Known> known_;  // by name: for `like`
  std::set<std::string> lost_;          // names of designs that are like nothing known
  std::vector<std::string> mistakes_;
  // Of the design that is being read: where it stands, what is wrong, and what was wrong in the one that it is like.
  std::string path_;
  std::set<std::string> own_, inherited_;
};

// What a design has from another is that one's mistake.
void Designs::note(const JsonReader& in) {
  for (const std::string& complaint : in.complaints()) {
    std::string what = complaint.starts_with(path_) ? complaint.substr(path_.size()) : complaint;
    if (!inherited_.contains(what)) mistakes_.push_back(complaint);
    own_.insert(std::move(what));
  }
}

template <typename Of, size_t kSize>
void Designs::counts(const Count<Of> (&fields)[kSize], JsonReader& in, const Json& json, Of& to) {
  for (const auto& field : fields) {
    const auto found = json.find(field.key);
    const int64_t value = in.integer(field.key);
    if (found != json.end() && found->is_number_integer() && (*found < field.low || *found > field.high)) {
      in.complain(field.key, found->dump(),
                  "a whole number from " + std::to_string(field.low) + " to " + std::to_string(field.high));
      continue;
    }
    to.*field.to = static_cast<int>(value);
  }
}

void Designs::ops(const Json& json, const std::string& path, CoreDesign& design) {
  JsonReader in(json, path);
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
  in.refuse_others({std::string(kOpNames.front())});
  note(in);
}

// What can't be true of one core, though each number could.
void relations(const CoreDesign& design, JsonReader& in) {
  const auto less = [&](const char* key, double value, const char* than, double limit) {
    if (value > limit) in.complain(key, fmt::format("{}", value), fmt::format("at most {}, {}", than, limit));
  };
  less("scheduler", design.scheduler, "window", design.window);
  less("l1d_bytes", design.l1d_bytes, "l2_bytes", design.l2_bytes);
  less("l1d_cycles", design.l1d_cycles, "l2_cycles", design.l2_cycles);
  less("l2_cycles", design.l2_cycles, "l3_cycles", design.l3_cycles);
  less("l3_cycles", design.l3_cycles, "memory_ns x clock_hz", design.memory_cycles());
}

CoreDesign Designs::read_design(const Json& json) {
  const std::string& path = path_;
  JsonReader in(json, path);
  CoreDesign design;
  design.name = in.string("name");
  design.instruction_set = in.string("instruction_set");
  if (design.instruction_set != "x86_64" && design.instruction_set != "aarch64" && json.contains("instruction_set"))
    in.complain("instruction_set", json["instruction_set"].dump().substr(0, 100), "\"x86_64\" or \"aarch64\"");
  design.sources = in.strings("sources");
  if (design.sources.empty() && (!json.contains("sources") || json["sources"].is_array()))
    in.complain("sources", "none", "where the numbers are from");
  design.estimated = in.strings("estimated");
  design.eliminates_moves = in.boolean("eliminates_moves");
  counts(kCounts, in, json, design);
  for (const Amount& field : kAmounts) {
    const double value = in.number(field.key);
    if (json.contains(field.key) && json[field.key].is_number() && !(value >= field.low && value <= field.high))
      in.complain(field.key, fmt::format("{}", value), fmt::format("a number from {} to {}", field.low, field.high));
    design.*field.to = value;
  }
  if (const Json* ports = in.require_object("ports")) {
    JsonReader of(*ports, path + ".ports");
    counts(kPorts, of, *ports, design.ports);
    design.ports.vector_shares_alu = of.boolean("vector_shares_alu");
    of.refuse_others();
    note(of);
  }
  if (const Json* costs = in.require_object("ops")) ops(*costs, path + ".ops", design);
  in.refuse_others();
  if (in.complaints().empty() && own_.empty()) relations(design, in);
  note(in);
  return design;
}

// "ops.fma" of an object with {"ops": {"fma": ...}}.
bool gives(const Json& json, const std::string& field) {
  const size_t dot = field.find('.');
  if (dot == std::string::npos) return json.contains(field);
  const auto within = json.find(field.substr(0, dot));
  return within != json.end() && within->is_object() && within->contains(field.substr(dot + 1));
}

// A design with what it shares with another that stands before it; nothing where that can't be found.
std::optional<Json> Designs::whole_of(const Json& json) {
  inherited_.clear();
  if (!json.is_object()) {
    mistakes_.push_back(path_ + ": found " + std::string(json.type_name()) + ", expected an object");
    return {};
  }
  if (!json.contains("like")) return json;
  const auto base = json["like"].is_string() ? known_.find(json["like"].get<std::string>()) : known_.end();
  if (base == known_.end()) {
    if (json["like"].is_string() && lost_.contains(json["like"].get<std::string>())) return {};
    mistakes_.push_back(path_ + ".like: no design of that name before it");
    return {};
  }
  inherited_ = base->second.mistakes;
  Json whole = base->second.whole;
  // What is an estimate there is one here, but for what this design states itself.
  std::set<std::string> estimated;
  const auto add = [&](const Json& from, bool all) {
    const auto fields = from.find("estimated");
    if (fields == from.end() || !fields->is_array()) return;
    for (const Json& field : *fields)
      if (field.is_string() && (all || !gives(json, field.get<std::string>()))) estimated.insert(field);
  };
  add(whole, false);
  add(json, true);
  whole.erase("sources");
  whole.merge_patch(json);
  whole.erase("like");
  const auto own = json.find("estimated");
  if (own == json.end() || own->is_array()) whole["estimated"] = estimated;
  return whole;
}

Result<std::vector<CoreDesign>> Designs::read() {
  JsonReader in(json_, source_);
  if (const std::string schema = in.string("schema"); schema != kSchema) in.complain("schema", schema, kSchema);
  std::vector<CoreDesign> designs;
  const Json* all = in.require_array("designs");
  if (all != nullptr && (all->empty() || all->size() > kMaximumDesigns))
    in.complain("designs", std::to_string(all->size()), "1 to 1000 of them");
  note(in);
  const size_t count = all == nullptr ? 0 : std::min(all->size(), kMaximumDesigns);
  for (size_t i = 0; i < count; ++i) {
    path_ = "designs[" + std::to_string(i) + "]";
    own_.clear();
    std::optional<Json> whole = whole_of(all->at(i));
    if (!whole) {  // those like it are not to blame
      if (all->at(i).is_object() && all->at(i).contains("name") && all->at(i)["name"].is_string())
        lost_.insert(all->at(i)["name"]);
      continue;
    }
    CoreDesign design = read_design(*whole);
    Json numbers = *whole;
    numbers.erase("sources");
    numbers.erase("estimated");
    design.checksum = crc32_of(numbers.dump());
    if (known_.contains(design.name)) mistakes_.push_back(path_ + ".name: \"" + design.name + "\" twice");
    known_.emplace(design.name, Known{std::move(*whole), own_});
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
