// Samples to functions: whose code, on whose behalf, in which loop, behind which instructions.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/observe/stack_walk.h"
#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastShare = 0.002;
constexpr double kLoopShare = 0.5;       // of a function's samples, that a loop must hold to be its hot one
constexpr double kLookedAtShare = 0.02;  // of all samples: functions whose instructions are looked at
constexpr uint64_t kMostLoopBytes = 4096;
constexpr size_t kMostStreams = 32;
constexpr size_t kFramesLookedAt = 16;
// Of a sample's registers.
#if defined(__x86_64__)
constexpr size_t kStackPointer = 4;
constexpr std::optional<size_t> kFramePointer = 5;
#else
constexpr size_t kStackPointer = 31;
constexpr std::optional<size_t> kFramePointer;
#endif

struct Spot {
  std::string path;  // empty: no file
  const CodePlace* place = nullptr;
};

struct Key {
  std::string path, function;
  uint64_t address = 0;
  bool operator<(const Key& other) const {
    return std::tie(path, function, address) < std::tie(other.path, other.function, other.address);
  }
};

struct Sum {
  CodePlace place;
  CodeRole role = CodeRole::kOwn;
  double samples = 0, kernel_samples = 0;
  int32_t index = kNoFunction;                              // of the list of functions
  std::map<uint64_t, double> addresses;                     // user code
  std::vector<std::pair<uint32_t, uint64_t>> user_samples;  // number of the sample, address as the file numbers it
  std::map<std::pair<std::string, int>, double> lines;
  std::map<std::tuple<std::string, std::string, std::string>, double> callers;  // function, "file:line", entry
  std::map<std::string, double> compilers;
};

class Summary {
 public:
  Summary(const CpuSamples& samples, CodeMap& code) : samples_(samples), code_(code) {}
  void add_all();
  void finish(Observation& observation);
  std::vector<int32_t> function_of_sample() const;

 private:
  Spot spot_of(const CodeMappings& mappings, uint64_t address);
  // Return addresses on the stack, innermost first.
  std::vector<Spot> returns_of(const CodeMappings& mappings, const CpuSample& sample);
  void look_at_instructions(const Sum& sum, HotFunction& function);
  HotLoop loop_of(const std::vector<CodeInstruction>& instructions, const Sum& sum) const;
  // Where the loop's instructions found their operands, as far as registers tell it at any place in the loop.
  void look_at_streams(const Sum& sum, HotLoop& loop) const;

  const CpuSamples& samples_;
  CodeMap& code_;
  std::map<Key, Sum> sums_;
  std::vector<Sum*> of_sample_;
  std::array<double, kCodeRoles> roles_{};
  double kernel_ = 0, all_ = 0;
};

Spot Summary::spot_of(const CodeMappings& mappings, uint64_t address) {
  for (auto mapping = mappings.rbegin(); mapping != mappings.rend(); ++mapping) {
    if (address < mapping->start || address >= mapping->end) continue;
    Spot spot{mapping->path, nullptr};
    if (spot.path.starts_with('/') && !spot.path.starts_with("//"))
      spot.place = code_.place(spot.path, address - mapping->start + mapping->file_offset_bytes);
    return spot;
  }
  return {};
}

std::vector<Spot> Summary::returns_of(const CodeMappings& mappings, const CpuSample& sample) {
  std::vector<Spot> returns;
  const StackTop top{sample.address, sample.registers[kStackPointer],
                     kFramePointer ? std::optional(sample.registers[*kFramePointer]) : std::nullopt, sample.stack};
  for (const uint64_t address : return_addresses(mappings, top, code_, kFramesLookedAt)) {
    // The call itself, not what follows it: its line is the one that calls.
    if (Spot spot = spot_of(mappings, address - 1); spot.place != nullptr) returns.push_back(std::move(spot));
  }
  return returns;
}

std::string short_place(const CodePlace& place) {
  if (place.source.empty()) return "";
  return place.source.substr(place.source.rfind('/') + 1) + ":" + std::to_string(place.line);
}

void Summary::add_all() {
  of_sample_.reserve(samples_.samples.size());
  for (size_t i = 0; i < samples_.samples.size(); ++i) {
    const CpuSample& sample = samples_.samples[i];
    const CodeMappings& mappings = samples_.mappings[samples_.mappings_of[i]];
    all_ += 1;
    kernel_ += sample.in_kernel ? 1 : 0;
    Spot spot = spot_of(mappings, sample.address);
    if (spot.path.empty() && sample.in_kernel) spot.path = "[kernel]";
    const bool runtime = is_runtime_library(spot.path);
    CodePlace place = spot.place != nullptr ? *spot.place : CodePlace{};
    std::vector<Spot> returns;
    const bool nameless = place.function.empty();
    CodeRole role = code_role_of(place.function, spot.path);
    if (runtime || role != CodeRole::kOwn || is_system_source(place.source)) returns = returns_of(mappings, sample);
    // A library's inner functions often have no name: the first one that has called them does.
    if (nameless && runtime) {
      for (const Spot& of : returns) {
        if (of.path != spot.path || of.place->function.empty()) continue;
        place.function = of.place->function;
        role = code_role_of(place.function, spot.path);
        break;
      }
    }
    Sum& sum = sums_[{spot.path, place.function, nameless ? 0 : place.function_address}];
    if (sum.samples == 0) {
      sum.place = place;
      sum.role = role;
    }
    sum.samples += 1;
    sum.kernel_samples += sample.in_kernel ? 1 : 0;
    of_sample_.push_back(&sum);
    if (!sample.in_kernel && !nameless) {
      sum.addresses[place.address] += 1;
      sum.user_samples.emplace_back(static_cast<uint32_t>(i), place.address);
    }
    if (!place.source.empty()) sum.lines[{place.source, place.line}] += 1;
    if (!place.compiler.empty()) sum.compilers[place.compiler] += 1;
    roles_.at(static_cast<size_t>(role)) += 1;
    // The nearest that is the user's; else the nearest that is no runtime's.
    const Spot* caller = nullptr;
    std::string entry = place.function, entry_of_caller;
    for (const Spot& of : returns) {
      if (of.place->function.empty()) continue;
      if (!is_runtime_library(of.path)) {
        const bool is_own = !is_system_source(of.place->source);
        if (caller == nullptr || is_own) {
          caller = &of;
          entry_of_caller = entry;
        }
        if (is_own) break;
      }
      entry = of.place->function;
    }
    if (caller != nullptr) sum.callers[{caller->place->function, short_place(*caller->place), entry_of_caller}] += 1;
  }
}

HotLoop Summary::loop_of(const std::vector<CodeInstruction>& instructions, const Sum& sum) const {
  HotLoop best;
  double samples_in_best = 0;
  for (const CodeInstruction& last : instructions) {
    if (last.target == 0 || last.target > last.address || last.address - last.target > kMostLoopBytes) continue;
    if (!has_trait(last.traits, CodeTrait::kBranch) && !has_trait(last.traits, CodeTrait::kJump)) continue;
    double within = 0;
    for (const auto& [address, count] : sum.addresses)
      within += address >= last.target && address <= last.address ? count : 0;
    if (within < kLoopShare * sum.samples) continue;
    const bool is_shorter = best.end == 0 || last.address - last.target < best.end - best.address;
    if (!is_shorter) continue;
    best.address = last.target;
    best.end = last.address;
    samples_in_best = within;
  }
  best.cpu_share = samples_in_best / all_;
  for (const CodeInstruction& of : instructions) {
    if (best.end > 0 && of.address >= best.address && of.address <= best.end) best.instructions.push_back(of);
  }
  return best;
}

bool is_written(const HotLoop& loop, int8_t number) {
  return std::any_of(loop.instructions.begin(), loop.instructions.end(), [&](const CodeInstruction& of) {
    return (of.general_writes & 1U << static_cast<unsigned>(number)) != 0;
  });
}

// Whether a register is the same all over an iteration, but for steps.
bool is_stepped(const HotLoop& loop, int8_t number) {
  if (number == kNoRegister) return true;
  const uint32_t bit = 1U << static_cast<unsigned>(number);
  return std::all_of(loop.instructions.begin(), loop.instructions.end(), [&](const CodeInstruction& of) {
    const RegisterChange& change = of.change;
    const bool is_step = change.is_linear && change.target == number && change.first == number &&
                         change.first_factor == 1 && (change.second == kNoRegister || !is_written(loop, change.second));
    return (of.general_writes & bit) == 0 || is_step;
  });
}

void Summary::look_at_streams(const Sum& sum, HotLoop& loop) const {
  pid_t process = 0;  // addresses of one are none of another
  for (const CodeInstruction& of : loop.instructions) {
    const MemoryOperand& memory = of.memory;
    const bool has_address = memory.base != kNoRegister || memory.index != kNoRegister;
    if (!memory.is_there || !has_address || loop.streams.size() == kMostStreams) continue;
    if (!is_stepped(loop, memory.base) || !is_stepped(loop, memory.index)) continue;
    LoopStream stream{of.address, of.loaded_bytes, of.stored_bytes, ~uint64_t{0}, 0, 0};
    const uint64_t bytes = std::max(of.loaded_bytes, of.stored_bytes);
    for (const auto& [number, place] : sum.user_samples) {
      if (place < loop.address || place > loop.end) continue;
      const CpuSample& sample = samples_.samples[number];
      if (process == 0) process = sample.process;
      if (sample.process != process) continue;
      const auto value = [&](int8_t name) {
        return name == kNoRegister ? 0 : sample.registers.at(static_cast<size_t>(name));
      };
      const uint64_t at = value(memory.base) + static_cast<uint64_t>(memory.factor) * value(memory.index) +
                          static_cast<uint64_t>(memory.constant);
      stream.lowest = std::min(stream.lowest, at);
      stream.highest = std::max(stream.highest, at + bytes);
      stream.samples_count += 1;
    }
    if (stream.samples_count > 0 && stream.highest > stream.lowest) loop.streams.push_back(stream);
  }
}

void Summary::look_at_instructions(const Sum& sum, HotFunction& function) {
  const auto instructions = code_.instructions(function.library, sum.place.function_address, sum.place.function_bytes);
  if (instructions.empty()) return;
  for (const auto& [address, count] : sum.addresses) {
    const auto at = std::lower_bound(instructions.begin(), instructions.end(), address,
                                     [](const CodeInstruction& of, uint64_t value) { return of.address < value; });
    if (at == instructions.end() || at->address != address) continue;
    // What is waited for is the instruction at hand or the one before it, whose result it takes.
    const auto& before = at == instructions.begin() ? *at : *(at - 1);
    const double share = count / sum.samples;
    const auto add = [&](double& to, CodeTrait trait, bool with_before) {
      if (has_trait(at->traits, trait) || (with_before && has_trait(before.traits, trait))) to += share;
    };
    add(function.divide_share, CodeTrait::kIntegerDivide, true);
    add(function.float_divide_share, CodeTrait::kFloatDivide, true);
    add(function.atomic_share, CodeTrait::kAtomic, true);
    add(function.pause_share, CodeTrait::kPause, true);
    add(function.indirect_call_share, CodeTrait::kIndirectCall, true);
    add(function.stack_operand_share, CodeTrait::kStackOperand, false);
    add(function.float_share, CodeTrait::kFloat, true);
    add(function.vector_share, CodeTrait::kVector, false);
    add(function.load_share, CodeTrait::kLoad, true);
  }
  HotLoop loop = loop_of(instructions, sum);
  if (loop.end == 0) return;
  // Which instructions of a loop samples fall on is up to the processor: how many of them there are counts as much.
  const auto on_stack =
      std::count_if(loop.instructions.begin(), loop.instructions.end(),
                    [](const CodeInstruction& of) { return has_trait(of.traits, CodeTrait::kStackOperand); });
  const double of_loop = static_cast<double>(on_stack) / static_cast<double>(loop.instructions.size());
  function.stack_operand_share = (function.stack_operand_share + of_loop) / 2;
  look_at_streams(sum, loop);
  function.loop = std::move(loop);
}

void Summary::finish(Observation& observation) {
  observation.samples_count = all_;
  if (all_ == 0) return;
  observation.kernel_share = kernel_ / all_;
  for (size_t role = 0; role < kCodeRoles; ++role) observation.role_share[role] = roles_[role] / all_;
  std::vector<std::pair<HotFunction, Sum*>> found;
  for (auto& [key, sum] : sums_) {
    if (sum.samples < kLeastShare * all_) continue;
    HotFunction function;
    function.function = key.function;
    function.library = key.path;
    function.address = key.address;
    function.bytes = key.address != 0 ? sum.place.function_bytes : 0;
    function.role = sum.role;
    function.cpu_share = sum.samples / all_;
    function.kernel_share = sum.kernel_samples / all_;
    const auto most = [](const auto& map) {
      return std::max_element(map.begin(), map.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    if (!sum.lines.empty()) std::tie(function.source, function.line) = most(sum.lines)->first;
    if (!sum.compilers.empty()) function.compiler = most(sum.compilers)->first;
    if (!sum.callers.empty()) {
      const auto& [caller, count] = *most(sum.callers);
      std::tie(function.caller, function.caller_place, function.entry) = caller;
      function.caller_share = count / sum.samples;
    }
    if (function.cpu_share >= kLookedAtShare && !sum.addresses.empty()) look_at_instructions(sum, function);
    found.emplace_back(std::move(function), &sum);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first.cpu_share > b.first.cpu_share; });
  for (auto& [function, sum] : found) {
    sum->index = static_cast<int32_t>(observation.functions.size());
    observation.functions.push_back(std::move(function));
  }
}

std::vector<int32_t> Summary::function_of_sample() const {
  std::vector<int32_t> indices;
  indices.reserve(of_sample_.size());
  for (const Sum* const sum : of_sample_) indices.push_back(sum->index);
  return indices;
}

}  // namespace

std::vector<int32_t> summarise_samples(const CpuSamples& samples, CodeMap& code, Observation& observation) {
  Summary summary(samples, code);
  summary.add_all();
  summary.finish(observation);
  return summary.function_of_sample();
}

}  // namespace perfcast::measure
