#include <memory>
#include <vector>

#include "profile/collect/cachegrind/cachegrind_collector.h"
#include "profile/collect/collector.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/native/native_collector.h"
#include "profile/collect/native/perf_event_collector.h"
#include "profile/collect/oclgrind/oclgrind_collector.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {

std::vector<std::unique_ptr<Collector>> all_collectors(const HostFacts& host) {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(std::make_unique<NativeCollector>(host));
  collectors.push_back(std::make_unique<QemuCollector>());
  collectors.push_back(std::make_unique<OclgrindCollector>());
  collectors.push_back(std::make_unique<CachegrindCollector>());
  collectors.push_back(std::make_unique<PerfEventCollector>(perf_event_paranoid()));
  return collectors;
}

}  // namespace perfcast
