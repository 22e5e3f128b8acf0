#include "measure/diagnose/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/significant.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr double kFloatShare = 0.05;       // of the instructions
constexpr double kLeastPointShare = 0.01;  // of the CPU time: functions that get a point
constexpr size_t kMostPoints = 16;
constexpr double kLeastLoopShare = 0.05;
constexpr double kLeastTimePoint_s = 0.005;
constexpr double kParallelCpus = 1.5;
constexpr double kManyOperations = 1000;

class RooflineBuilder {
 public:
  RooflineBuilder(const Observation& seen, const ExecutedCounts& counts, const MemoryTraffic& traffic, CodeMap& code,
                  Roofline& result)
      : seen_(seen), counts_(counts), traffic_(traffic), code_(code), result_(result) {}
  void add(size_t number);
  void say_what_is_left_out();

 private:
  const HotFunction& function(size_t number) const { return seen_.functions[number]; }
  double cpu_s(double share) const { return share * seen_.run.cpu_s(); }
  double per_cpu(double one, double all) const {
    const double cpus = std::max(1, result_.ceilings.cpus_count);
    return result_.runs_in_parallel && all > 0 ? all / cpus : one;
  }
  double bandwidth(const BandwidthCeiling& of) const {
    return per_cpu(of.one_cpu_bytes_per_s, of.all_cpus_bytes_per_s);
  }
  void add_point(size_t number, const FunctionWork& work);
  void add_narrow_loop(size_t number);
  void add_product(size_t number);
  double trips_of(const HotFunction& function) const;
  void limit_by_memory(NarrowLoop& loop) const;

  const Observation& seen_;
  const ExecutedCounts& counts_;
  const MemoryTraffic& traffic_;
  CodeMap& code_;
  Roofline& result_;
  std::vector<std::string> left_out_;
};

void RooflineBuilder::add_point(size_t number, const FunctionWork& work) {
  const HotFunction& of = function(number);
  RooflinePoint point;
  point.function = number;
  point.time_s = cpu_s(of.cpu_share - of.kernel_share);
  if (point.time_s < kLeastTimePoint_s || !work.is_known()) return;
  point.work = work;
  const double flops = work.flops_count();
  point.is_float = flops >= kFloatShare * work.instructions_count;
  if (point.is_float) point.format = work.fp32_flops_count > work.fp64_flops_count ? "fp32" : "fp64";
  const double operations = point.is_float ? flops : work.instructions_count;
  point.operations_per_s = operations / point.time_s;
  if (work.bytes() > 0) point.operations_per_byte = operations / work.bytes();
  const MachineCeilings& ceilings = result_.ceilings;
  if (point.is_float) {
    if (const ComputeCeiling* const widest = ceilings.widest(point.format))
      point.ceiling_per_s = per_cpu(widest->one_cpu_flops_per_s, widest->all_cpus_flops_per_s);
  } else {
    point.ceiling_per_s = per_cpu(ceilings.one_cpu_additions_per_s, ceilings.all_cpus_additions_per_s);
  }
  if (point.operations_per_byte && point.ceiling_per_s > 0) {
    for (const BandwidthCeiling& level : ceilings.bandwidth) {
      point.roofs.push_back(
          {level.level, std::min(point.ceiling_per_s, *point.operations_per_byte * bandwidth(level))});
    }
  }
  if (point.exceeds_a_limit()) {
    left_out_.push_back(of.name());
    return;
  }
  result_.points.push_back(std::move(point));
}

void RooflineBuilder::say_what_is_left_out() {
  if (left_out_.empty()) return;
  result_.notes.push_back(
      fmt::format("not beside the machine's limits: {}{}, whose counts or times can't be right, as they "
                  "come out above a limit that was measured here",
                  left_out_.front(), left_out_.size() > 1 ? fmt::format(" and {} more", left_out_.size() - 1) : ""));
}

// By what follows the loop: it runs each time that the loop is left.
double RooflineBuilder::trips_of(const HotFunction& of) const {
  const double iterations = counts_.executions(of.library, of.loop->address);
  const CodeInstruction& last = of.loop->instructions.back();
  const double left = counts_.executions(of.library, last.address + last.bytes);
  return left > 0 ? iterations / left : 0;
}

void RooflineBuilder::limit_by_memory(NarrowLoop& loop) const {
  const auto limit = [&](double time_s, const std::string& by) {
    if (time_s <= loop.limit_s) return;
    loop.limit_s = time_s;
    loop.limited_by = by;
  };
  const std::vector<BandwidthCeiling>& levels = result_.ceilings.bandwidth;
  if (levels.empty()) return;
  limit(loop.bytes / bandwidth(levels.front()), levels.front().level);
  if (!traffic_.is_known) {
    // From the farthest memory that is as fast as it reads now.
    for (const BandwidthCeiling& level : levels) {
      if (bandwidth(level) * loop.time_s >= loop.bytes) limit(loop.bytes / bandwidth(level), level.level);
    }
    return;
  }
  // As if all that the program took from farther away were for this loop. What was not measured is as slow as memory.
  const BandwidthCeiling& farthest = levels.back();
  double far_s = 0, most_s = 0;
  std::string by;
  for (const auto& [name, bytes] : {std::pair{"L2", traffic_.l2_bytes}, std::pair{"L3", traffic_.l3_bytes},
                                    std::pair{"memory", traffic_.memory_bytes}}) {
    const BandwidthCeiling* const level = result_.ceilings.level(name);
    const double time_s = bytes / bandwidth(level != nullptr ? *level : farthest);
    far_s += time_s;
    if (time_s < most_s) continue;
    most_s = time_s;
    by = name;
  }
  limit(far_s, by);
}

void RooflineBuilder::add_narrow_loop(size_t number) {
  const HotFunction& of = function(number);
  if (of.role != CodeRole::kOwn || !of.loop || of.loop->cpu_share < kLeastLoopShare) return;
  NarrowLoop loop;
  loop.function = number;
  loop.shape = loop_shape(of.loop->instructions);
  loop.time_s = cpu_s(of.loop->cpu_share);
  const char* const format = loop.shape.element_bits == 64 ? "fp64" : "fp32";
  const ComputeCeiling* const widest = result_.ceilings.widest(format);
  if (!loop.shape.could_be_wider() || widest == nullptr || loop.shape.element_bits < 8) return;
  loop.isa = widest->isa;
  loop.possible_bits = static_cast<uint32_t>(widest->lanes) * (loop.shape.element_bits == 64 ? 64 : 32);
  if (2 * std::max(loop.shape.register_bits, loop.shape.element_bits) > loop.possible_bits) return;
  FunctionWork work = work_of(of.loop->instructions, of.library, counts_);
  if (work.is_known()) {
    work.scale(1 / result_.seen.ratio);
    loop.is_counted = true;
    loop.trips_count = trips_of(of);
    loop.bytes = work.bytes();
    const double passes = counts_.executions(of.library, of.loop->address) / result_.seen.ratio;
    const bool is_float = loop.shape.flops_count > 0;
    loop.operations_count = passes * (is_float ? loop.shape.flops_count : loop.shape.operations_count);
    // A multiply-add is two operations, an addition of whole numbers one; units for either are as many, or more.
    const double flops_per_s = per_cpu(widest->one_cpu_flops_per_s, widest->all_cpus_flops_per_s);
    const double elements = static_cast<double>(loop.possible_bits) / loop.shape.element_bits / widest->lanes;
    loop.limit_s = loop.operations_count / (is_float ? flops_per_s / 2 : flops_per_s / 2 * elements);
    loop.limited_by = "arithmetic";
    limit_by_memory(loop);
  }
  result_.narrow_loops.push_back(std::move(loop));
}

void RooflineBuilder::add_product(size_t number) {
  const HotFunction& of = function(number);
  if (of.role != CodeRole::kOwn) return;
  const auto nest = product_nest(of, counts_, code_, result_.seen.ratio < 1);
  if (!nest) return;
  RecognisedProduct product;
  product.function = number;
  product.time_s = cpu_s(of.cpu_share - of.kernel_share);
  product.nest = *nest;
  product.nest.flops_count /= result_.seen.ratio;
  product.nest.times_count /= result_.seen.ratio;
  if (!(product.time_s > 0)) return;
  product.flops_per_s = product.nest.flops_count / product.time_s;
  const MachineCeilings& ceilings = result_.ceilings;
  product.machine_flops_per_s = ceilings.one_cpu_product_flops_per_s;
  const ComputeCeiling *const fp32 = ceilings.widest("fp32"), *const fp64 = ceilings.widest("fp64");
  // Our own product is of float: of double it reaches the same share of what the arithmetic can.
  if (product.nest.element_bits == 64) {
    product.machine_flops_per_s =
        fp32 != nullptr && fp64 != nullptr
            ? ceilings.one_cpu_product_flops_per_s * fp64->one_cpu_flops_per_s / fp32->one_cpu_flops_per_s
            : 0;
  }
  result_.products.push_back(product);
}

void RooflineBuilder::add(size_t number) {
  const HotFunction& of = function(number);
  if (of.cpu_share - of.kernel_share < kLeastPointShare) return;
  FunctionWork work = function_work(of, counts_, code_);
  work.scale(1 / result_.seen.ratio);
  if (result_.points.size() < kMostPoints) add_point(number, work);
  add_narrow_loop(number);
  add_product(number);
}

}  // namespace

bool RooflinePoint::exceeds_a_limit() const {
  const bool by_memory =
      !roofs.empty() && roofs.front().level == "L1" && operations_per_s > roofs.front().allowed_per_s;
  return (ceiling_per_s > 0 && operations_per_s > ceiling_per_s) || by_memory;
}

const RooflineRoof* RooflinePoint::roof_above() const {
  const RooflineRoof* above = nullptr;
  for (const RooflineRoof& roof : roofs) {
    if (roof.allowed_per_s >= operations_per_s) above = &roof;
  }
  return above;
}

Roofline make_roofline(const Observation& seen, RooflineInputs inputs) {
  Roofline result;
  result.ceilings = std::move(inputs.ceilings);
  result.seen = inputs.seen_work;
  result.runs_in_parallel = seen.run.wall_s > 0 && seen.run.cpu_s() > kParallelCpus * seen.run.wall_s;
  result.notes = result.ceilings.notes;
  const std::vector<ExecutedCode>& executed = inputs.executed;
  const bool is_known = result.seen.basis != SeenWork::Basis::kNotKnown && result.seen.ratio >= kLeastSeenWork;
  CodeMap code;
  // Of other files nobody asks.
  std::set<std::string> paths;
  for (const HotFunction& function : seen.functions) paths.insert(function.library);
  const ExecutedCounts counts(is_known ? executed : std::vector<ExecutedCode>(), code, paths);
  RooflineBuilder builder(seen, counts, inputs.traffic, code, result);
  for (size_t number = 0; number < seen.functions.size(); ++number) builder.add(number);
  builder.say_what_is_left_out();
  if (executed.empty()) return result;
  if (!is_known) {
    result.notes.emplace_back(
        "no roofline: the instrumented run was ended early, and saw too little of the work, or nobody knows how much "
        "(a "
        "shorter run of the same kind of work, or a longer --run-limit)");
  } else if (result.points.empty()) {
    result.notes.emplace_back("no hot function is on the roofline: none of their code ran under the instrumenter");
  } else if (result.seen.ratio < 1) {
    result.notes.push_back(fmt::format(
        "what hot functions compute was counted in the first {} of the work, {}; the rest is taken to be like it",
        result.seen.ratio < 0.995 ? fmt::format("{}%", significant(100 * result.seen.ratio, 2)) : "99% and more",
        result.seen.basis == SeenWork::Basis::kCounted ? "by hardware counters of all of it"
                                                       : "by what a model of this core takes for it"));
  }
  return result;
}

std::string roofline_in_words(const RooflinePoint& point) {
  const char* const unit = point.is_float ? "FLOP/s" : "instructions/s";
  const double giga = 1e-9;
  const auto number = [&](double per_s) { return significant(giga * per_s, 3); };
  std::string text = point.ceiling_per_s > 0 ? fmt::format("reaches {} of {} G{}", number(point.operations_per_s),
                                                           number(point.ceiling_per_s), unit)
                                             : fmt::format("reaches {} G{}", number(point.operations_per_s), unit);
  if (!point.format.empty()) text += fmt::format(" ({})", point.format);
  if (!point.operations_per_byte) return text + "; it moves no bytes";
  const char* const operations = point.is_float ? "flops" : "instructions";
  text += *point.operations_per_byte < kManyOperations
              ? fmt::format("; {} {} a byte", significant(*point.operations_per_byte, 2), operations)
              : fmt::format("; over a thousand {} a byte", operations);
  if (const RooflineRoof* const roof = point.roof_above())
    text += fmt::format(": reading from {} would allow {}", roof->level, number(roof->allowed_per_s));
  return text;
}

}  // namespace perfcast::measure
