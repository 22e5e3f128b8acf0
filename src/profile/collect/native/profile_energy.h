#pragma once
// Joules of a profile's native runs, as metrics.

#include <functional>
#include <string>
#include <vector>

#include "machine/meter/energy_session.h"
#include "machine/meter/meter.h"

namespace perfcast {

// The machine's own meters, as long as a profile is taken.
class ProfileEnergy {
 public:
  explicit ProfileEnergy(MeterSet set) : set_(std::move(set)), session_(set_.all()) {}
  bool has_meters() const { return !set_.meters.empty(); }
  void start() { session_.start(); }
  EnergyReport stop() { return session_.stop(); }
  // Why a scope has no joules: what each kind of meter said.
  std::string why_none() const;

 private:
  MeterSet set_;
  EnergySession session_;
};

// By scope the event's name ("energy_package"), and the median joules of the runs, meters of a scope added over
// packages or GPUs; of several kinds of meters that cover the same the first in the order of find_meters(). `lack`
// where there is none. Idle power is not subtracted.
void record_energy(const std::vector<EnergyReport>& runs, const std::string& why_none,
                   const std::function<void(const char* event, double joules)>& put,
                   const std::function<void(const char* event, const std::string& reason)>& lack);

}  // namespace perfcast
