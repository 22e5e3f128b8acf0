#include "profile/core/core_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/bytes.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/text.h"

namespace perfcast {
namespace {

// A model says no more.
double six_digits(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

CoreBoundRatios bound_ratios(const CoreResult& result) {
  CoreBoundRatios ratios;
  for (size_t bound = 0; bound < kCoreBounds; ++bound) {
    ratios[std::string(core_bound_name(static_cast<CoreBound>(bound)))] =
        result.cycles > 0 ? result.cycles_by_bound.at(bound) / result.cycles : 0;
  }
  return ratios;
}

// A design's result as it is told.
struct ToldResult {
  double cycles_per_instruction = 0;
  CoreBoundRatios ratios;
  bool memory_is_least = false;
};

ToldResult told_result(const CoreReport& report, size_t i) {
  const CoreResult& result = report.results[i];
  ToldResult told{result.cpi(), bound_ratios(result)};
  const auto instructions = report.counts.find("instructions_count");
  if (instructions == report.counts.end() || !(instructions->second > 0)) return told;
  double cycles = result.cpi() * instructions->second;
  told.memory_is_least = raise_memory(report.counts, report.designs[i], cycles, told.ratios);
  if (told.memory_is_least) told.cycles_per_instruction = cycles / instructions->second;
  return told;
}

// "+: ...", where a design of the program's own kind has it.
std::string memory_note(const CoreReport& report, const std::vector<ToldResult>& told) {
  for (size_t i = 0; i < told.size(); ++i) {
    const auto reads = random_reads_of_memory(report.counts, report.designs[i]);
    if (!told[i].memory_is_least || !reads) continue;
    return fmt::format("+: {} ({}; {:.3g} reads in 1000 instructions miss {}'s caches in no order)\n", kMemoryIsLeast,
                       report.pieces == 1 ? "one piece" : fmt::format("{} pieces", report.pieces), *reads,
                       printable(report.designs[i].name));
  }
  return "";
}

Error nothing_ran(const Trace& trace) {
  return Error{"empty-trace", "the trace has no piece that stands for an instruction: the program was too short",
               trace.program, "a program of some hundred thousand instructions or more"};
}

}  // namespace

Result<CoreReport> simulate_trace(const Trace& trace, const std::vector<CoreDesign>& designs, int threads) {
  CoreReport report;
  report.program = trace.program;
  report.designs = designs;
  report.counts = trace.counts;
  report.results.resize(designs.size());
  std::vector<DecodedProcess> processes;
  for (const ProcessTrace& process : trace.processes) {
    auto decoded = decode_for_cores(process);
    if (!decoded) return decoded.error();
    auto& sets = report.instruction_sets;
    if (std::find(sets.begin(), sets.end(), decoded->instruction_set) == sets.end())
      sets.push_back(decoded->instruction_set);
    report.pieces += decoded->pieces.size();
    if (!decoded->pieces.empty()) processes.push_back(std::move(*decoded));
  }
  if (processes.empty()) return nothing_ran(trace);
  const Status done = parallel_for(designs.size(), threads, [&](size_t design) -> Status {
    CoreResult& sum = report.results[design];
    for (const DecodedProcess& process : processes) {
      const CoreResult one = simulate_core(process, designs[design]);
      sum.instructions_count += one.instructions_count;
      sum.cycles += one.cycles;
      for (size_t i = 0; i < kCoreBounds; ++i) sum.cycles_by_bound.at(i) += one.cycles_by_bound.at(i);
    }
    return {};
  });
  if (!done) return done.error();
  for (const CoreResult& result : report.results) {
    if (!(result.instructions_count > 0 && result.cycles > 0)) return nothing_ran(trace);
  }
  return report;
}

Trace thinned_trace(const Trace& trace, uint64_t most_instructions) {
  uint64_t all = 0;
  for (const ProcessTrace& process : trace.processes) all += process.instructions_count();
  const size_t together =
      most_instructions == 0 ? 1 : std::max<uint64_t>(1, (all + most_instructions - 1) / most_instructions);
  Trace thinned;
  thinned.program = trace.program;
  thinned.command = trace.command;
  thinned.counts = trace.counts;
  for (const ProcessTrace& process : trace.processes) {
    ProcessTrace kept;
    kept.program = process.program;
    kept.instruction_set = process.instruction_set;
    kept.classes = process.classes;
    kept.blocks = process.blocks;
    for (size_t first = 0; first < process.pieces.size(); first += together) {
      const size_t end = std::min(first + together, process.pieces.size());
      kept.pieces.push_back(process.pieces[first + (end - first) / 2]);
      kept.pieces.back().stands_for_count = 0;
      for (size_t i = first; i < end; ++i) kept.pieces.back().stands_for_count += process.pieces[i].stands_for_count;
    }
    thinned.processes.push_back(std::move(kept));
  }
  return thinned;
}

std::string core_models_version(const std::vector<CoreDesign>& designs) {
  ByteWriter sums;
  for (const CoreDesign& design : designs) sums.put(design.checksum);
  return fmt::format("{}, {} designs {:08x}", kCoreModelVersion, designs.size(), crc32_of(sums.bytes()));
}

std::map<std::string, double> modelled_cycles(const CoreReport& report, double instructions_count) {
  std::map<std::string, double> metrics;
  for (size_t i = 0; i < report.designs.size(); ++i) {
    const double cpi = report.results[i].cpi();
    if (cpi > 0) metrics[core_cycles_metric(report.designs[i].name)] = six_digits(cpi * instructions_count);
  }
  return metrics;
}

std::map<std::string, CoreBoundRatios> modelled_bounds(const CoreReport& report) {
  constexpr double kThousandths = 1000;
  std::map<std::string, CoreBoundRatios> designs;
  for (size_t i = 0; i < report.designs.size(); ++i) {
    if (!(report.results[i].cpi() > 0)) continue;
    CoreBoundRatios& kept = designs[report.designs[i].name];
    for (const auto& [bound, ratio] : bound_ratios(report.results[i])) {
      if (const double rounded = std::round(kThousandths * ratio) / kThousandths; rounded > 0) kept[bound] = rounded;
    }
  }
  return designs;
}

Json cores_json(const CoreReport& report) {
  Json rows = Json::array();
  for (size_t i = 0; i < report.designs.size(); ++i) {
    const ToldResult told = told_result(report, i);
    const CoreDesign& design = report.designs[i];
    rows.push_back({{"design", design.name},
                    {"instruction_set", design.instruction_set},
                    {"cycles_per_instruction", told.cycles_per_instruction},
                    {"clock_hz", design.clock_hz},
                    {"instruction_s", told.cycles_per_instruction / design.clock_hz},
                    {"cycles_ratio_by_bound", told.ratios}});
    if (told.memory_is_least) rows.back()["memory_is_least"] = true;
  }
  return {{"schema", "perfcast.cores/1"},
          {"program", report.program},
          {"instruction_sets", report.instruction_sets},
          {"host_design", report.host_design},
          {"instructions_count", report.results.empty() ? 0 : report.results[0].instructions_count},
          {"designs", std::move(rows)}};
}

std::string cores_text(const CoreReport& report) {
  TextTable table;
  table.add_column("core design", TextTable::Align::kLeft);
  table.add_column("cycles/instruction", TextTable::Align::kRight);
  table.add_column("GHz", TextTable::Align::kRight);
  table.add_column("ns/instruction", TextTable::Align::kRight);
  table.add_column("where its cycles go", TextTable::Align::kLeft);
  std::vector<ToldResult> told;
  for (size_t i = 0; i < report.designs.size(); ++i) told.push_back(told_result(report, i));
  std::vector<size_t> order(report.designs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto time = [&](size_t i) { return told[i].cycles_per_instruction / report.designs[i].clock_hz; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return time(a) < time(b); });
  bool foreign = false;
  for (const size_t i : order) {
    const CoreDesign& design = report.designs[i];
    const bool own = std::find(report.instruction_sets.begin(), report.instruction_sets.end(),
                               design.instruction_set) != report.instruction_sets.end();
    foreign |= !own;
    table.add_row({printable(design.name) + (own ? "" : " *"), fmt::format("{:.3f}", told[i].cycles_per_instruction),
                   fmt::format("{:.1f}", 1e-9 * design.clock_hz), fmt::format("{:.3f}", 1e9 * time(i)),
                   core_bounds_in_words(told[i].ratios) + (told[i].memory_is_least ? " +" : "") +
                       (design.name == report.host_design ? "  this host" : "")});
  }
  std::string text = fmt::format(
      "{} ({}), {} instructions, estimated from the samples in the trace; the models are of one core and use no "
      "measured times\n\n{}",
      printable(report.program), join(report.instruction_sets, ", "),
      human_number(report.results.empty() ? 0 : report.results[0].instructions_count), table.to_text());
  text += "\nGHz is typical for servers with that core. docs/cores.md says what the models leave out.\n";
  text += memory_note(report, told);
  if (foreign)
    text += "*: this core has another instruction set; perfcast assumes that it runs the same instructions\n";
  return text;
}

}  // namespace perfcast
