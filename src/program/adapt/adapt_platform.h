#pragma once
// A new platform from a few runs: what they are held against, what they tell, which to do next.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/model/adapt/platform_adaptation.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::program {

// One row of a runs file.
struct AdaptRun {
  std::string program;  // id
  double seconds = 0;   // CPU time of `work_units`
  double work_units = 1;
  std::string where;  // file:line
};

// A CSV with the columns program, seconds and, if not 1, work_units. "bad-runs" with file and line where a time or an
// amount of work is not above 0, or where no program takes so long or so short; "too-few-runs" without any row;
// "missing-column", "bad-number" as CsvTable has them.
// `form`: how it was read where that isn't plain (CsvTable::form()).
Result<std::vector<AdaptRun>> parse_adapt_runs(std::string_view text, const std::string& source,
                                               std::string* form = nullptr);

// A platform by its facts: the object that platforms have in JSON files (name, vendor, arch, ...), and "facts" {name:
// number}, "flags". "bad-facts": mistakes, or no name.
Result<Platform> parse_platform_facts(std::string_view json, const std::string& source);

// What a platform states beside what those of the bundle state: a note names the facts that none of them has, from
// which nothing is learned. "bad-facts": a number a hundred times beyond all of theirs.
Result<std::vector<std::string>> check_known_facts(const Platform& platform, const std::vector<Platform>& known,
                                                   const std::string& source);

// How much a program does, by its profile and its suite.
struct ProgramWork {
  std::optional<double> instructions_per_unit;
  std::optional<double> run_units;  // units of work of a timed run; absent: no suite runs it
};

// What is wrong with runs before anything is learned, which takes longer: "unknown-program" (all of them named),
// "no-work" (no profile says how much work the program does), "contradictory-runs" (the same program, over 20% apart),
// "too-few-runs".
Status check_adapt_runs(const Bundle& bundle, const std::map<std::string, ProgramWork>& work,
                        const std::vector<AdaptRun>& runs);

struct AdaptedProgram {
  std::string program;
  std::optional<double> measured_s;                // per unit of work
  double relative_time = 1, lower = 1, upper = 1;  // 90%, over the geometric mean of the platforms
  std::optional<double> forecast_s;                // per unit of work; absent without a profile of the program
  std::optional<double> facts_s;                   // the same from facts alone
};

struct SuggestedProgram {
  std::string program;
  double run_s = 0;             // that a run is expected to take there
  double half_width_ratio = 0;  // of a typical 90% interval once it is measured, times over the one now
};

// Of a group's programs that were not measured: half widths of typical 90% intervals, log.
struct AdaptedGroup {
  std::string group;
  size_t programs = 0, measured = 0;
  double half_width_facts = 0;  // from facts alone
  double half_width = 0;        // with the runs
};

struct AdaptReport {
  Platform platform;
  std::string nearest;  // name of the known platform with the nearest facts
  size_t runs = 0;      // programs that were measured
  std::vector<AdaptedGroup> groups;
  std::vector<AdaptedProgram> programs;  // all of the bundle
  std::vector<SuggestedProgram> suggested;
  std::vector<std::string> notes;
  TransferCheck check;  // the runs against each other
};

inline constexpr size_t kFewestRuns = 3;  // so that one of them can be told wrong

class AdaptScenario {
 public:
  // As PlatformAdaptation::start().
  static Result<AdaptScenario> start(std::shared_ptr<const Bundle> bundle, const Platform& platform,
                                     std::map<std::string, ProgramWork> work);

  // Takes runs in the place of those before. Errors: as check_adapt_runs(), and "bad-unit" (all runs, or one beside the
  // others, off by what another unit of time makes).
  Status measure(const std::vector<AdaptRun>& runs);
  // One more, of a program of the bundle, without those checks; once all are added, check_added().
  Status add(const std::string& program, double seconds_per_unit);
  // "bad-unit" where those that were added can't be times of the work that they are taken for.
  Status check_added() const { return check_units(adaptation_.runs(), {}); }

  AdaptReport report(size_t suggest) const;
  Bundle finish() const { return adaptation_.finish(); }
  const PlatformAdaptation& adaptation() const { return adaptation_; }
  // Median half width of the 90% intervals, log, of the programs that `which` and that were not measured; absent where
  // there are none.
  std::optional<double> typical_half_width(const std::function<bool(const std::string&)>& which) const;
  // What may be run next, of the programs that `may_run`; empty: none is left.
  std::vector<ChosenProgram> suggest(size_t count, const std::function<bool(const std::string&)>& may_run) const;
  const std::string& program_id(Eigen::Index program) const {
    return bundle_->programs[static_cast<size_t>(program)].id;
  }

 private:
  AdaptScenario(std::shared_ptr<const Bundle> bundle, std::map<std::string, ProgramWork> work,
                PlatformAdaptation adaptation);
  // Log seconds per unit of work at relative time 1; absent: nothing tells.
  std::optional<double> level(Eigen::Index program) const;
  // where: file and line of each run; empty: they were timed here.
  Status check_units(const std::vector<ProgramRun>& runs, const std::vector<std::string>& where) const;
  std::string why_few_suggested(size_t asked, size_t suggested) const;

  std::shared_ptr<const Bundle> bundle_;
  std::map<std::string, ProgramWork> work_;
  std::map<std::string, Eigen::Index> index_;
  PlatformAdaptation adaptation_;
};

}  // namespace perfcast::program
