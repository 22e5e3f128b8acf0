#pragma once
// What is slow about a program, why that is thought, and what would help.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfcast::measure {

enum class FindingBasis {
  kMeasured,  // of a native run: what it is and how much of the time it takes
  kModelled,  // of counts, times what a model of this core says each costs
  kRule,      // it looks like what is known to be slow; how slow isn't known
};
std::string_view to_text(FindingBasis basis);

// What an experiment must take away of a run to say anything: a remedy that the program ignores is no test.
enum class TrialEffect : uint8_t { kNone, kPageFaults, kCalls, kThreads };

// A way to run the command otherwise, which changes nothing that the user wrote.
struct Experiment {
  std::string name;  // "allocator jemalloc"
  std::map<std::string, std::string> environment;
  std::vector<std::string> unset;           // variables that are taken away
  std::vector<std::string> prefix;          // "taskset", "-c", "0"
  bool by_cpu_time = false;                 // what counts is the CPU time, as the wall time changes for another reason
  std::string flags = {};                   // that the program is compiled anew with; empty: it stays as it is
  bool changes_results = false;             // what the program computes may differ: no gain is claimed
  bool bounds_gain = false;                 // the finding can't be worth more than this saves
  std::vector<std::string> instead = {};    // all of the command, by env(1), where it is another one than the user's
  std::string program = {};                 // in the place of the command's own; empty: that
  TrialEffect effect = TrialEffect::kNone;  // what it takes away; kNone: nothing that could be counted
  bool is_remedy = false;                   // it is the advice: what it does not gain is not to be had
  bool by_wall_time = false;                // what it changes is when the program runs, not what it does
  std::string in_words() const;             // "OMP_NUM_THREADS=2", as a shell would have it; or the flags
  std::vector<std::string> command(const std::vector<std::string>& as_it_is) const;
};

// What an experiment gave, in turns with the command as it is.
struct ExperimentResult {
  Experiment experiment;
  double ratio = 1, lower = 0, upper = 0;  // its time over that of the command as it is; 95% over all looks
  double pairs_count = 0;
  bool is_screened = false;     // two pairs alone: there is no interval
  bool is_promising = false;    // those pairs showed a gain, and there was no time to make sure
  bool output_differs = false;  // a program that was built anew prints something else
  // Of the events that the experiment is to take away, those that were gone; absent where there is nothing to count.
  std::optional<double> removed_ratio = {};
  // What the cause can be worth at most, by a trial that took it away; absent where this was no such trial.
  std::optional<double> most_gain() const;
  bool is_ignored() const;                           // the program went on as before: it says nothing
  bool is_timed() const { return pairs_count > 0; }  // not where it failed, or where a build prints something else
  bool is_gain() const { return !is_screened && upper < 1 && !output_differs && !experiment.changes_results; }
  std::string failed;  // why it could not be tried
};

// The program compiled anew with these flags.
Experiment compiled_with(const std::string& flags);

struct Finding {
  std::string cause;  // "allocation": a name of docs/diagnose.md
  std::string title;  // one line
  FindingBasis basis = FindingBasis::kMeasured;
  double gain_ratio = 0;  // of the wall time that is thought to go where the cause goes, 0 to 1
  std::string no_gain;    // why nobody can say how much that is: gain_ratio only ranks then; empty: it is known
  std::vector<std::string> evidence;
  std::string advice;
  std::string if_wrong;            // what following the advice costs where the finding is wrong
  std::string proof;               // how to prove it, where the tool can't
  bool is_shown_by_trial = false;  // no evidence but an experiment that helps: its gain is that of the experiment
  std::vector<Experiment> experiments;
  std::vector<ExperimentResult> results;
  // The experiment that shows that the cause costs nothing here; null: none does.
  const ExperimentResult* contradiction() const;
  // The experiment that helped most, where one did.
  const ExperimentResult* proven() const;
  // A user who gives a build's command is told of every build.
  bool has_builds() const;
};

}  // namespace perfcast::measure
