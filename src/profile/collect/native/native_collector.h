#pragma once
// The program run as it is, several times: time, resources, input and output, as the kernel accounts them.

#include <functional>
#include <string>

#include "profile/collect/collector.h"
#include "profile/collect/native/perf_event_collector.h"

namespace perfcast {

class ProfileEnergy;

class NativeCollector : public Collector {
 public:
  // `counters`, where given, are attached to the first run; the caller harvests them. `energy`, where given, measures
  // every run.
  explicit NativeCollector(HostFacts host, PerfEventCollector* counters = nullptr, ProfileEnergy* energy = nullptr)
      : host_(std::move(host)), counters_(counters), energy_(energy) {}

  std::string name() const override { return "native"; }
  Status available() const override { return {}; }
  // Only the first run's output is passed on. Fewer repeats than asked for where a run takes 5 s, all take 10 s, a run
  // fails, or the input can't be given twice. Error "limit-reached" when the first run does not end in time.
  CollectResult collect(const CollectRequest& request) override;
  DoctorFinding examine() override;

 private:
  HostFacts host_;
  PerfEventCollector* counters_;
  ProfileEnergy* energy_;
};

}  // namespace perfcast
