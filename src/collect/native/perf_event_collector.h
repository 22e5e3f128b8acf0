#pragma once
// Hardware counters by perf_event_open(2), taken during a native run, of the program and all that it starts.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.h"

namespace perfcast {

class PerfEventCollector : public Collector {
 public:
  // Opens one event on one process; gives a descriptor or -1 with errno. Tests put their own here.
  using Open = std::function<int(perf_event_attr&, pid_t)>;

  explicit PerfEventCollector(std::optional<int64_t> paranoid, Open open = {});
  ~PerfEventCollector() override;
  PerfEventCollector(const PerfEventCollector&) = delete;
  PerfEventCollector& operator=(const PerfEventCollector&) = delete;

  std::string name() const override { return "perf_event"; }
  // Ok where cycles can be counted.
  Status available() const override;
  // A native run of its own.
  CollectResult collect(const CollectRequest& request) override;

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
  Open open_;
  std::vector<Counter> counters_;
};

}  // namespace perfcast
