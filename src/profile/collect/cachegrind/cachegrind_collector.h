#pragma once
// Instructions, caches and branches by valgrind's cachegrind: slower and coarser than the QEMU plugin, but it follows
// programs that execute others.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "profile/collect/collector.h"

namespace perfcast {

// Event -> total of one cachegrind.out file: its "events:" and "summary:" lines.
Result<std::map<std::string, uint64_t>> parse_cachegrind(std::string_view text, const std::string& source);

class CachegrindCollector : public Collector {
 public:
  std::string name() const override { return "cachegrind"; }
  Status available() const override;
  CollectResult collect(const CollectRequest& request) override;
  DoctorFinding examine() override;

  static std::string version();
};

}  // namespace perfcast
