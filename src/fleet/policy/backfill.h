#pragma once
// EASY backfilling (Lifka 1995; Mu'alem & Feitelson 2001): the first job that can't start holds a reservation; a later
// one may start now where that does not put the reservation off.

#include <cstdint>
#include <optional>
#include <vector>

#include "fleet/policy/simulation_state.h"

namespace perfcast::fleet {

class Backfill {
 public:
  explicit Backfill(size_t groups) : reservations_(groups) {}

  void clear();
  bool reserved(size_t group) const { return reservations_[group].has_value(); }
  bool any(uint64_t groups) const { return (groups & mask_) != 0; }
  // A reservation for a job that doesn't fit now, on the group of `groups` where it is believed to fit first.
  void reserve(const TaskShape& shape, uint64_t groups, const SimulationState& state);
  // Takes the nodes for a job believed to run so long, unless that puts the group's reservation off.
  bool take(const TaskShape& shape, double believed_s, size_t group, SimulationState& state,
            std::vector<NodePart>& parts);

 private:
  struct Reservation {
    TaskShape shape{JobRequest{}};
    double at_s = 0;
    bool counted = false;     // cores alone decide
    int64_t extra_cores = 0;  // then: free at that time beyond the reservation
  };
  std::vector<std::optional<Reservation>> reservations_;
  uint64_t mask_ = 0;
};

}  // namespace perfcast::fleet
