#pragma once
// The instruction mix, cache, TLB and branch behaviour by our plugin inside of QEMU's user-mode emulator.

#include <map>
#include <string>

#include "profile/collect/collector.h"
#include "profile/collect/qemu/plugin_counts.h"

namespace perfcast {

class QemuCollector : public Collector {
 public:
  QemuCollector() = default;
  // `plugin`: path of libperfcast_qemu_plugin.so; empty: looked for, see find_plugin().
  explicit QemuCollector(std::string plugin) : plugin_(std::move(plugin)) {}

  std::string name() const override { return "qemu"; }
  Status available() const override;
  // Follows what the program starts; with a census of a native run, of many alike a subset (follow_plan.h).
  // Errors name what went wrong: "unsupported-instructions" (AVX-512), "limit-reached", "interrupted",
  // "instrumenter-failed".
  CollectResult collect(const CollectRequest& request) override;
  DoctorFinding examine() override;

  // $PERFCAST_QEMU_PLUGIN, or beside the binary, or in ../lib/perfcast; empty where it is nowhere.
  static std::string find_plugin();

 private:
  std::string plugin_;
};

// Maps a run's counts to catalogue names; what the catalogue doesn't know is left out.
MetricValues metrics_of(const std::map<std::string, double, std::less<>>& counts);

}  // namespace perfcast
