#include "profile/trace/trace_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr uint64_t kFirstLevel_bytes = 32 << 10, kSecondLevel_bytes = 1 << 20;

void count_access(const TraceAccess& access, TraceSummary& sum) {
  ++(access.store ? sum.stores_count : sum.loads_count);
  const auto bytes = trace_cache_bytes(access.found);
  if (!bytes) {
    ++sum.found_unknown_count;
  } else if (*bytes == kFirstLevel_bytes) {
    ++sum.found_32k_count;
  } else if (*bytes != 0 && *bytes <= kSecondLevel_bytes) {
    ++sum.found_1m_count;
  } else {
    ++sum.found_farther_count;
  }
}

double percent(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

TraceSummary summarise(const ProcessTrace& process) {
  TraceSummary sum;
  sum.program = process.program;
  sum.instruction_set = process.instruction_set;
  sum.blocks_count = process.blocks.size();
  for (const TracePiece& piece : process.pieces) {
    ++sum.pieces_count;
    sum.windows_count += piece.window ? 1 : 0;
    sum.instructions_count += piece.instructions_count;
    sum.stands_for_count += piece.stands_for_count;
    sum.event_bytes += piece.events.size();
    TraceReader reader(process, piece);
    TraceStep step;
    while (reader.next(step)) {
      for (const TraceAccess& access : step.accesses) count_access(access, sum);
      if (step.again || !step.next_address) continue;
      sum.mispredicted_count += step.mispredicted ? 1 : 0;
      const TraceBlock& block = process.blocks[step.block];
      if (block.branch != TraceBranch::kConditional) continue;
      ++sum.conditional_count;
      sum.taken_count += *step.next_address != block.fall_through ? 1 : 0;
    }
  }
  return sum;
}

Json trace_json(const Trace& trace) {
  Json processes = Json::array();
  for (const ProcessTrace& process : trace.processes) {
    const TraceSummary sum = summarise(process);
    processes.push_back({{"program", sum.program},
                         {"instruction_set", sum.instruction_set},
                         {"pieces_count", sum.pieces_count},
                         {"windows_count", sum.windows_count},
                         {"blocks_count", sum.blocks_count},
                         {"instructions_count", sum.instructions_count},
                         {"stands_for_count", sum.stands_for_count},
                         {"loads_count", sum.loads_count},
                         {"stores_count", sum.stores_count},
                         {"found_32k_count", sum.found_32k_count},
                         {"found_1m_count", sum.found_1m_count},
                         {"found_farther_count", sum.found_farther_count},
                         {"found_unknown_count", sum.found_unknown_count},
                         {"conditional_count", sum.conditional_count},
                         {"taken_count", sum.taken_count},
                         {"mispredicted_count", sum.mispredicted_count}});
  }
  return {{"schema", "perfcast.trace.summary/1"},
          {"program", trace.program},
          {"command", trace.command},
          {"processes", std::move(processes)}};
}

std::string trace_text(const Trace& trace) {
  std::string text = "trace of " + printable(join(trace.command, " ")) + "\n";
  if (trace.processes.empty()) return text + "  no piece: the program was too short\n";
  text += fmt::format("  {:<20} {:>6} {:>12} {:>14} {:>7} {:>7} {:>7} {:>7} {:>9}\n", "program", "pieces",
                      "instructions", "they stand for", "32 KiB", "1 MiB", "farther", "unknown", "mispred.");
  for (const ProcessTrace& process : trace.processes) {
    const TraceSummary sum = summarise(process);
    const uint64_t accesses = sum.loads_count + sum.stores_count;
    text += fmt::format("  {:<20} {:>6} {:>12} {:>14} {:>6.1f}% {:>6.1f}% {:>6.1f}% {:>6.1f}% {:>8.2f}%\n",
                        printable(sum.program), sum.pieces_count, sum.instructions_count, sum.stands_for_count,
                        percent(sum.found_32k_count, accesses), percent(sum.found_1m_count, accesses),
                        percent(sum.found_farther_count, accesses), percent(sum.found_unknown_count, accesses),
                        percent(sum.mispredicted_count, sum.conditional_count));
  }
  return text + "  32 KiB .. unknown: where accesses were found, of all; mispred.: branches, of conditional ones\n";
}

}  // namespace perfcast
