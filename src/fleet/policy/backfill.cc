#include "fleet/policy/backfill.h"

#include <algorithm>
#include <limits>

namespace perfcast::fleet {
namespace {

double start_by_probe(const TaskShape& shape, const GroupState& group, const SimulationState& state) {
  PoolProbe probe(group.pool, shape);
  if (probe.fits()) return state.now_s;
  for (const BelievedEnd& end : group.ends) {
    const RunningJob& running = state.running[static_cast<size_t>(end.slot)];
    probe.give_back(running.shape, running.parts);
    if (probe.fits()) return std::max(state.now_s, end.at_s);
  }
  return std::numeric_limits<double>::infinity();
}

int64_t cores_of(const RunningJob& running) { return int64_t{running.shape.tasks} * running.shape.cores; }

}  // namespace

void Backfill::clear() {
  for (auto& reservation : reservations_) reservation.reset();
  mask_ = 0;
}

void Backfill::reserve(const TaskShape& shape, uint64_t groups, const SimulationState& state) {
  Reservation best;
  best.at_s = std::numeric_limits<double>::infinity();
  size_t best_group = 0;
  for (uint64_t left = groups; left != 0; left &= left - 1) {
    const auto index = static_cast<size_t>(__builtin_ctzll(left));
    const GroupState& group = state.groups[index];
    Reservation here;
    here.shape = shape;
    here.counted = group.pool.counts_cores(shape);
    if (here.counted) {
      int64_t free = group.pool.free_cores();
      size_t next = 0;
      while (next < group.ends.size() && free < shape.tasks) {
        here.at_s = std::max(state.now_s, group.ends[next].at_s);
        free += cores_of(state.running[static_cast<size_t>(group.ends[next++].slot)]);
      }
      if (free < shape.tasks) continue;  // never here: the group is too small
      while (next < group.ends.size() && group.ends[next].at_s <= here.at_s) {
        free += cores_of(state.running[static_cast<size_t>(group.ends[next++].slot)]);
      }
      here.extra_cores = free - shape.tasks;
    } else {
      here.at_s = start_by_probe(shape, group, state);
    }
    if (here.at_s < best.at_s) {
      best = here;
      best_group = index;
    }
  }
  if (best.at_s == std::numeric_limits<double>::infinity()) return;
  reservations_[best_group] = best;
  mask_ |= uint64_t{1} << best_group;
}

bool Backfill::take(const TaskShape& shape, double believed_s, size_t group, SimulationState& state,
                    std::vector<NodePart>& parts) {
  GroupState& here = state.groups[group];
  auto& reservation = reservations_[group];
  if (!reservation || state.now_s + believed_s <= reservation->at_s) return here.pool.take(shape, parts);
  const int64_t cores = int64_t{shape.tasks} * shape.cores;
  if (reservation->counted) {
    if (cores > reservation->extra_cores || !here.pool.take(shape, parts)) return false;
    reservation->extra_cores -= cores;
    return true;
  }
  if (!here.pool.take(shape, parts)) return false;
  // It would still run at the reserved time: what it holds is not there then, all else that ends by then is.
  PoolProbe probe(here.pool, reservation->shape);
  bool fits = probe.fits();
  for (const BelievedEnd& end : here.ends) {
    if (fits || end.at_s > reservation->at_s) break;
    const RunningJob& running = state.running[static_cast<size_t>(end.slot)];
    probe.give_back(running.shape, running.parts);
    fits = probe.fits();
  }
  if (fits) return true;
  here.pool.give_back(shape, parts);
  parts.clear();
  return false;
}

}  // namespace perfcast::fleet
