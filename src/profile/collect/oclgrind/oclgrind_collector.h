#pragma once
// OpenCL kernels, by our plugin inside of Oclgrind: a device that is simulated, so no GPU is needed.

#include <string>

#include "profile/collect/collector.h"

namespace perfcast {

class OclgrindCollector : public Collector {
 public:
  OclgrindCollector() = default;
  // `plugin`: path of libperfcast_oclgrind_plugin.so; empty: looked for, see find_plugin().
  explicit OclgrindCollector(std::string plugin) : plugin_(std::move(plugin)) {}

  std::string name() const override { return "oclgrind"; }
  Status available() const override;
  // Runs the program with Oclgrind's device in the place of all others. A collection without kernels is of a program
  // that launched none. Errors: those of run_process(), "kernels-cut" where the time limit came before any kernel was
  // counted, "bad-kernel-counts".
  CollectResult collect(const CollectRequest& request) override;
  DoctorFinding examine() override;

  // $PERFCAST_OCLGRIND_PLUGIN, or beside the binary, or in ../lib/perfcast; empty where it is nowhere.
  static std::string find_plugin();

 private:
  std::string plugin_;
};

}  // namespace perfcast
