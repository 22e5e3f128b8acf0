#pragma once
// One diagnosis on its way: its steps, and what they found. diagnosis.cc has the order.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/temp_folder.h"
#include "measure/diagnose/bloat/loader_start.h"
#include "measure/diagnose/diagnosis.h"
#include "measure/diagnose/prove/rebuild.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/qemu/executed_code.h"
#include "profile/collect/qemu/shared_lines.h"

namespace perfcast::measure {

class DiagnosisSession {
 public:
  explicit DiagnosisSession(const DiagnosisRequest& request);
  Result<Diagnosis> run();

 private:
  using Clock = std::chrono::steady_clock;
  Status prepare();
  Status look();
  Status count();
  Status take_lines();
  Status take_script_lines();
  Status run_curve();
  Status prove();
  Status trace_until_limit();
  void look_at_code();
  Status build_for_size();
  void offer_copy();
  void look_at_ceilings();
  void find();
  void name_shared_lines(const SharedLines& lines);
  std::vector<std::string> without_assignments();
  double since_start_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  void say(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }

  const DiagnosisRequest& request_;
  Clock::time_point began_ = Clock::now();
  Diagnosis result_;
  std::optional<CoreDesign> design_;
  HostFacts host_;
  std::vector<int> cpus_;                        // that this process may use
  std::vector<std::string> command_;             // as it runs
  std::vector<std::string> command_of_threads_;  // with {threads} in it, and no variables before; empty: none
  std::vector<int> threads_;
  std::map<std::string, std::optional<std::string>> environment_before_;  // of variables that the command sets
  std::unique_ptr<Rebuilder> rebuilder_;
  std::string source_tree_;
  std::string why_no_flags_;  // after all rules: none builds with other flags, though --rebuild is given
  bool has_shared_lines_ = false;
  double shared_accesses_count_ = 0;
  double curve_s_ = 0;
  std::optional<LoaderStart> loader_;
  std::shared_ptr<std::vector<ExecutedCode>> executed_ = std::make_shared<std::vector<ExecutedCode>>();
  std::optional<TempFolder> copies_;  // of the program, for experiments
};

}  // namespace perfcast::measure
