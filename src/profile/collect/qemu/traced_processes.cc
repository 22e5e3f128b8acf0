#include "profile/collect/qemu/traced_processes.h"

#include <algorithm>
#include <cmath>

namespace perfcast {
namespace {

// About what it takes in a file.
size_t bytes_of(const ProcessTrace& trace) {
  constexpr size_t kBlock = 24, kInstruction = 20;
  size_t sum = 0;
  for (const TracePiece& piece : trace.pieces) sum += piece.events.size();
  for (const TraceBlock& block : trace.blocks) sum += kBlock + kInstruction * block.instructions.size();
  return sum;
}

// Scales what the pieces stand for, so that they add up to `instructions_count`.
void let_stand_for(ProcessTrace& trace, double instructions_count) {
  double sum = 0;
  for (const TracePiece& piece : trace.pieces) sum += static_cast<double>(piece.stands_for_count);
  for (TracePiece& piece : trace.pieces) {
    const double share =
        sum > 0 ? static_cast<double>(piece.stands_for_count) / sum : 1 / static_cast<double>(trace.pieces.size());
    piece.stands_for_count = static_cast<uint64_t>(std::llround(share * instructions_count));
  }
}

}  // namespace

std::vector<ProcessTrace> kept_processes(std::vector<TracedProcess> processes,
                                         const std::map<std::string, double>& instructions_by_program, size_t most,
                                         size_t most_bytes) {
  std::erase_if(processes, [](const TracedProcess& process) { return process.trace.pieces.empty(); });
  std::stable_sort(processes.begin(), processes.end(), [](const TracedProcess& a, const TracedProcess& b) {
    return std::pair(b.instructions_count, a.trace.program) < std::pair(a.instructions_count, b.trace.program);
  });
  if (processes.size() > most) processes.resize(most);
  size_t bytes = 0, kept = 0;
  while (kept < processes.size() && (bytes += bytes_of(processes[kept].trace)) <= most_bytes) ++kept;
  processes.resize(kept);
  std::map<std::string, double> of_kept;
  for (const TracedProcess& process : processes) of_kept[process.trace.program] += process.instructions_count;
  std::vector<ProcessTrace> result;
  for (TracedProcess& process : processes) {
    const std::string& program = process.trace.program;
    const auto whole = instructions_by_program.find(program);
    const double scale =
        whole == instructions_by_program.end() || of_kept[program] <= 0 ? 1 : whole->second / of_kept[program];
    let_stand_for(process.trace, scale * process.instructions_count);
    result.push_back(std::move(process.trace));
  }
  return result;
}

}  // namespace perfcast
