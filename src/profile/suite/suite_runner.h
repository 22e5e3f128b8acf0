#pragma once
// Runs a suite: times every program natively, profiles it, keeps what is done already.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/collect/collector.h"
#include "profile/suite/suite.h"
#include "profile/suite/suite_tools.h"

namespace perfcast {

struct SuiteOptions {
  std::string folder;             // of the profiles: FOLDER/<program-id>.json
  std::vector<std::string> only;  // patterns of program ids; empty: all
  bool again = false;             // also where a valid profile is there
  bool any_version = false;       // stress-ng of another version than the suite's
  bool include_excluded = false;  // also programs that are no comparison
  bool sampled = false;           // caches and branches in windows, as for a user's profile
  std::string trace_folder;       // where windows go as traces, FOLDER/<program-id>.trace; empty: none
  std::shared_ptr<const std::vector<CoreDesign>> core_designs;  // as CollectRequest's
  bool times_only = false;                                      // no profiles: native times of this host
  bool retime = false;         // valid profiles are timed again and keep the faster time
  int64_t native_repeats = 2;  // timed runs
  double limit_s = 900;        // over one program's profile
};

// What a suite's programs run with. Where a tool is missing, its programs are skipped and `why_not` says why.
struct SuiteTools {
  std::optional<StressNg> stress_ng;
  std::optional<Harness> harness;
  std::map<std::string, std::string> why_not;  // "stress-ng", "harness" -> reason
  std::string work_folder;                     // for inputs, archives and reports; exists
};

struct SuiteOutcome {
  std::string program;  // id
  // "profiled", "timed", "retimed" (again, and faster), "kept" (done before), "excluded", "skipped" (a tool or feature
  // is missing), "failed"
  std::string status;
  std::string reason;                     // of the last three
  std::optional<double> time_per_unit_s;  // native CPU time of the fastest run
  std::optional<double> spread_ratio;     // (slowest - fastest) / median over the timed runs
  double seconds_s = 0;                   // what it took
};

// Called with each profile as it is complete, and with those that were complete before.
using ProfileSink = std::function<Status(const SuiteProgram&, const Profile&)>;
using Progress = std::function<void(const std::string&)>;

class SuiteRunner {
 public:
  // How a program is profiled and run natively; tests put stand-ins here.
  struct Actions {
    std::function<Result<Profile>(const CollectRequest&, const Progress&)> profile;
    // A native run; its times are those of the process. An exit code other than 0 is an error.
    std::function<Result<WorkReport>(const std::vector<std::string>& command, double limit_s)> run;
  };
  static Actions real_actions();

  SuiteRunner(const Suite& suite, SuiteOptions options, SuiteTools tools, Actions actions);

  // Why `program` can't or must not be run here; absent: it can. `status` is "excluded" or "skipped".
  struct Obstacle {
    std::string status, reason;
  };
  std::optional<Obstacle> obstacle(const SuiteProgram& program) const;
  bool chosen(const SuiteProgram& program) const;

  // Errors end the whole run ("interrupted", a folder that can't be written); a program that fails is an outcome.
  Result<std::vector<SuiteOutcome>> run(const ProfileSink& sink, const Progress& progress);

 private:
  struct Invocation {
    std::vector<std::string> command;
    std::string report;     // file; empty: the process' own times count
    double work_units = 0;  // where there is no report
  };

  Result<SuiteOutcome> run_one(const SuiteProgram& program, const ProfileSink& sink, const Progress& progress);
  Status prepare(const SuiteProgram& program);
  Invocation invocation(const SuiteProgram& program, bool native) const;
  Result<WorkReport> read_report(const SuiteProgram& program, const Invocation& invocation,
                                 const WorkReport& process_times) const;
  Result<std::vector<WorkReport>> time(const SuiteProgram& program, const Progress& progress) const;
  Status retime(const SuiteProgram& program, Profile& profile, const std::vector<WorkReport>& timed,
                SuiteOutcome& outcome) const;
  void make_portable(Profile& profile, const SuiteProgram& program) const;
  std::string profile_path(const SuiteProgram& program) const;
  std::string program_folder(const SuiteProgram& program) const;
  std::vector<std::string> filled(const SuiteProgram& program, const std::vector<std::string>& command) const;

  const Suite& suite_;
  SuiteOptions options_;
  SuiteTools tools_;
  Actions actions_;
};

// Puts the times of the fastest timed run, scaled to the work of the instrumented run, in the place of the profile's
// own, sets the work done, computes derived metrics anew and notes both in a collector record "suite".
void settle_times(Profile& profile, const SuiteProgram& program, const WorkReport& instrumented,
                  const std::vector<WorkReport>& timed);

// A profile file of a suite: counters alone, with six digits. Readers derive the rest.
Status write_suite_profile(const Profile& profile, const std::string& path);
// Reads and derives. Error "invalid-profile" where the program failed, warnings forbid its use, or counts are missing.
Result<Profile> read_suite_profile(const std::string& path);

}  // namespace perfcast
