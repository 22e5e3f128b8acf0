#pragma once
// One run of the command with one setting: prepared, run, checked, measured.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/process/process.h"
#include "base/process/temp_folder.h"
#include "base/result.h"
#include "measure/tune/run/command_template.h"
#include "measure/tune/space/space_file.h"

namespace perfcast::measure {

enum class TrialState { kDone, kFailed, kLimit, kWrongOutput, kTooMuchMemory };
std::string name_of(TrialState state);  // "done", "failed", "limit", "wrong-output", "too-much-memory"
std::optional<TrialState> parse_trial_state(const std::string& name);

struct TrialRun {
  TrialState state = TrialState::kDone;
  double value = 0;  // of the objective; above 0 where done
  double wall_s = 0, cpu_s = 0;
  std::optional<double> peak_resident_bytes;
  std::string why;  // where it isn't done
};

// What a run printed.
struct OutputFacts {
  double bytes = 0;
  std::string digest;
  bool operator==(const OutputFacts&) const = default;
};

// Time limit of a run where none is given, by what the default setting took.
double usual_limit_s(double default_wall_s);

class TrialRunner {
 public:
  static Result<TrialRunner> create(const TuneFile& file, std::vector<std::string> command);

  // Of the program, `prepare` and `check` each; 0: none.
  void set_limit(double limit_s) { limit_s_ = limit_s; }
  void set_around(const AroundRun& around) { around_ = around; }  // {name} in it stands for a knob's value
  double limit_s() const { return limit_s_; }

  // What a setting does wrong is a state; errors are an interrupt and what has nothing to do with the setting. The
  // first run that is done with the default setting becomes the reference of `same_output`.
  Result<TrialRun> run(const Setting& setting);

  // One run that is not timed. nullopt where it doesn't work, or prints more than can be kept.
  Result<std::optional<OutputFacts>> output_of(const Setting& setting);

  const CommandTemplate& command() const { return command_; }

 private:
  TrialRunner(const TuneFile& file, CommandTemplate command, TempFolder folder);
  Result<std::optional<std::string>> prepare(const Setting& setting);
  Result<std::optional<std::string>> shell(const std::string& line, const Setting& setting, const char* what);
  // Errors: those of inspect_program() and run_process().
  Result<ProcessOutcome> execute(const Setting& setting, bool keeps_output);
  Result<TrialRun> finish(TrialRun run, const Setting& setting);
  bool needs_output() const;

  const TuneFile* file_;
  CommandTemplate command_;
  TempFolder folder_;
  std::string output_path_;
  double limit_s_ = 0;
  AroundRun around_;
  std::map<Setting, std::optional<std::string>> prepared_;  // what went wrong, if anything
  std::optional<std::string> reference_output_;
};

// The number that an objective's pattern finds in a program's output: of its last line that matches; nullopt: none, or
// no number above 0. Lines are cut to 2000 characters.
std::optional<double> printed_number(std::string_view output, const std::string& pattern);

}  // namespace perfcast::measure
