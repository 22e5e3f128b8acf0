#pragma once
// Hardware counters by perf_event_open(2), taken during a native run, of the program and all that it starts.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profile/collect/collector.h"

namespace perfcast {

// Whether the processor counts by what the slots of its pipeline went to: Intel's, from Ice Lake on. The numbers of
// those events mean something else on others.
bool offers_topdown_slots();

class PerfEventCollector : public Collector {
 public:
  // Opens one event on one process, in the group of another event's descriptor or -1; gives a descriptor or -1 with
  // errno. Tests put their own here.
  using Open = std::function<int(perf_event_attr&, pid_t, int)>;

  // `has_slots`: see offers_topdown_slots().
  explicit PerfEventCollector(std::optional<int64_t> paranoid, Open open = {}, bool has_slots = offers_topdown_slots());
  ~PerfEventCollector() override;
  PerfEventCollector(const PerfEventCollector&) = delete;
  PerfEventCollector& operator=(const PerfEventCollector&) = delete;

  std::string name() const override { return "perf_event"; }
  // Ok where cycles can be counted.
  Status available() const override;
  // A native run of its own.
  CollectResult collect(const CollectRequest& request) override;
  DoctorFinding examine() override;

  // Within another collector's run: attach to the stopped child, which counts from its exec on; harvest after its end.
  void attach(pid_t process);
  Collection harvest();

 private:
  struct Counter {
    const char* event = "";
    int descriptor = -1;
    bool user_only = false;
    std::string missing;
  };

  std::string reason(int number) const;
  void close_all();

  std::optional<int64_t> paranoid_;
  bool has_slots_;
  Open open_;
  std::vector<Counter> counters_;
};

}  // namespace perfcast
