#pragma once
// One interface for everything that measures a program.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/profile.h"

namespace perfcast {

class InputFeed;

struct CollectRequest {
  std::vector<std::string> command;  // argv; command[0] resolved by PATH
  double limit_s = 0;                // 0: none; over the whole profile
  int native_repeats = 3;
  int phases = 0;
  bool pass_output = true;  // false: the program's stdout is discarded (or goes to stderr, see show_output)
  bool show_output = false;
  bool mix_only = false;       // opcode mix only: one instrumented run, no native one
  bool cross_check = false;    // cachegrind besides the plugin
  InputFeed* input = nullptr;  // the program's standard input, shared by all runs; null: it reads nothing
  // profile_command(): the descriptor that `input` is made of where that is null; -1: the program reads nothing.
  int input_descriptor = 0;
};

// What one collector found. Metrics by catalogue name; missing ones with the reason.
struct Collection {
  MetricValues counters;
  std::map<std::string, std::string> missing;
  CollectorRecord record;
  std::vector<ProfileWarning> warnings;
  std::optional<int> exit_code, signal;
  std::string instruction_set;
  // An instrumented run's own time, for comparison with the native one.
  std::optional<double> run_wall_s, run_user_s;
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string name() const = 0;
  // Why it can't be used here, or ok: for `perfcast doctor` and for fallbacks.
  virtual Status available() const = 0;
  virtual Result<Collection> collect(const CollectRequest& request) = 0;
};

// Runs native first, then the best available instrumenter, merges, derives and judges. progress(text) is called with a
// short line; it is only shown on a terminal.
Result<Profile> profile_command(const CollectRequest& request, const std::function<void(const std::string&)>& progress);

}  // namespace perfcast
