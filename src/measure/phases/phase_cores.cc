#include "measure/phases/phase_cores.h"

#include <algorithm>

#include "machine/facts/core_design.h"
#include "profile/core/simulate.h"
#include "profile/trace/trace.h"

namespace perfcast::measure {
namespace {

// Of each kind: a tenth of a second of modelling.
constexpr size_t kMostPieces = 10;

}  // namespace

std::vector<size_t> intervals_of_pieces(const PhaseSeries& series) {
  std::vector<size_t> found;
  if (!series.trace || series.intervals.empty()) return found;
  std::vector<double> ends;
  ends.reserve(series.intervals.size());
  double sum = 0;
  for (size_t i = 0; i < series.intervals.size(); ++i) ends.push_back(sum += series.instructions(i));
  double passed = 0;
  found.reserve(series.trace->pieces.size());
  for (const TracePiece& piece : series.trace->pieces) {
    passed += static_cast<double>(piece.stands_for_count);
    const double at =
        piece.window ? passed - static_cast<double>(piece.instructions_count) / 2
                     : static_cast<double>(piece.position_count) + static_cast<double>(piece.instructions_count) / 2;
    const auto interval = std::upper_bound(ends.begin(), ends.end(), at) - ends.begin();
    found.push_back(std::min(ends.size() - 1, static_cast<size_t>(interval)));
  }
  return found;
}

void add_core_cycles(const PhaseSeries& series, const std::vector<size_t>& kind_of, const CoreDesign& design,
                     std::vector<PhaseKind>& kinds) {
  if (!series.trace || series.trace->instruction_set != design.instruction_set) return;
  const std::vector<size_t> intervals = intervals_of_pieces(series);
  for (size_t k = 0; k < kinds.size(); ++k) {
    std::vector<const TracePiece*> pieces;
    for (size_t p = 0; p < intervals.size(); ++p) {
      if (kind_of[intervals[p]] == k) pieces.push_back(&series.trace->pieces[p]);
    }
    if (pieces.empty()) continue;
    ProcessTrace part;
    part.program = series.trace->program;
    part.instruction_set = series.trace->instruction_set;
    part.classes = series.trace->classes;
    part.blocks = series.trace->blocks;
    const size_t step = (pieces.size() + kMostPieces - 1) / kMostPieces;
    part.pieces.reserve(kMostPieces);
    for (size_t i = step / 2; i < pieces.size(); i += step) part.pieces.push_back(*pieces[i]);
    const auto decoded = decode_for_cores(part);
    if (!decoded) continue;
    const CoreResult result = simulate_core(*decoded, design);
    if (result.cpi() > 0)
      kinds[k].metrics[core_cycles_metric(design.name)] = result.cpi() * kinds[k].instructions_count;
  }
}

}  // namespace perfcast::measure
