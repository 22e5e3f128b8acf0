#pragma once
// The corpus in memory: platforms + servers + programs + profiles + runs, each row with where it came from.
// program/corpus/store/store.h keeps it in SQLite; importers fill it; models see it as a TrainingTable only.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"
#include "machine/facts/platform.h"
#include "profile/profile.h"
#include "profile/program.h"

namespace perfcast::program {

struct Source {    // provenance; every row names one
  std::string id;  // "sparecores@804d3c7", "perfcast-cloud-suite"
  std::string url, licence, retrieved_utc, note;
};

struct Server {  // a cloud instance type that carries a platform
  std::string vendor, name;
  std::string platform;  // id
  std::optional<double> vcpus, memory_gib, threads_per_core, cores;
  std::string source;
  // What it says of itself, which may differ from its platform's usual: l1d_bytes, l2_bytes, l3_bytes (of one instance
  // each), l3_instances_count, memory_read_bytes_per_s (all vCPUs together).
  std::map<std::string, double> facts = {};
};

struct Run {  // one measured time
  std::string program, platform;
  std::string server;   // "vendor/name"; empty where unknown
  int64_t threads = 1;  // 0: all cores
  double time_s = 0;    // per unit of work, > 0
  std::optional<double> energy_joules;
  std::string source;
  // Where the source publishes a mean of several results instead of each: how many, and their standard deviation over
  // their mean. Absent where the run is one measurement; the deviation also where the source doesn't state it.
  std::optional<int64_t> results_count = std::nullopt;
  std::optional<double> spread_ratio = std::nullopt;
};

// A measured time of many copies of a program at once that fill a server: one on each vCPU, or on each core.
struct MachineRun {
  std::string program, platform;
  std::string server;  // "vendor/name"
  double copies = 1;   // that ran at once
  double time_s = 0;   // per unit of work, of each copy, > 0: copies / rate of all
  std::string source;
};

struct StoredProfile {
  std::string program;
  Profile profile;
  std::string source;
};

struct Exclusion {  // what an importer left out of a source, so that the quality card can say so
  std::string source;
  std::string subject;  // "value", "server", "column", ...: what `count` counts
  std::string reason;
  int64_t count = 0;
};

struct Corpus {
  std::vector<Source> sources;
  std::vector<Platform> platforms;
  std::vector<Server> servers;
  std::vector<Program> programs;
  std::vector<StoredProfile> profiles;
  std::vector<Run> runs;
  std::vector<MachineRun> machine_runs;
  std::vector<Exclusion> exclusions;

  // Null where there is none. For look-ups in bulk build an index.
  const Platform* find_platform(const std::string& id) const;
  const Program* find_program(const std::string& id) const;
};

// Runs folded to one robust time per program and platform. "Results" are the servers; of runs that state a number of
// results, those.
struct PlatformTime {
  double log_time = 0;    // median over servers of log seconds per unit of work; of published means, weighted by count
  double log_spread = 0;  // (robust) deviation of log time over the results; NaN with one, or where none is stated
  int64_t servers = 0;
  int64_t results = 0;
  // Standard error of log_time: from the deviation and the number of results, the deviation shrunk towards what the
  // program shows elsewhere, which is all there is for one result. See corpus.cc. NaN where the table has none.
  double log_error = kUnknown;
  // Servers sorted by name, taken in turns.
  double half_a = 0, half_b = 0;  // medians of two fixed halves of the servers (noise floor); NaN below two results
  // The single results aren't known: the halves were drawn, seeded by the ids, log_error about log_time.
  bool drawn_halves = false;
  // What gave most of the results, as an index into TrainingTable::sources.
  std::optional<size_t> source = std::nullopt;
};

// What models may see of a profile. program/model/features/model_inputs.h makes numbers of it.
struct InputChoice {
  enum class Counters { kAll, kTable1 };  // kTable1: those of the paper's Table I alone (Metric::table1)
  // How the platform that a profile was taken on enters: a column for each; its facts; not at all. kUsual: a column
  // for each where the counters are not those that features of work need.
  enum class Source { kUsual, kOneHot, kFacts, kNone };
  Counters counters = Counters::kAll;
  Source source = Source::kUsual;
  // The facts of the corpus' platforms that profiles were taken on, by name; filled in under kFacts only.
  std::map<std::string, std::map<std::string, double>> facts;
};

// What models are fitted on: programs that have a profile and are valid, and platforms, as a dense table.
struct TrainingTable {
  std::vector<Program> programs;  // the same program in several rows where it has several profiles
  std::vector<Profile> profiles;  // one per row
  std::vector<Platform> platforms;
  // [program * platforms.size() + platform]; absent: not measured
  std::vector<std::optional<PlatformTime>> times;
  // Programs that were timed and have no profile: they still say how platforms relate. As programs and times.
  std::vector<Program> companions;
  std::vector<std::optional<PlatformTime>> companion_times;
  // Kinds of sources whose times these are, sorted: "geekbench6", "openbenchmarking", "sparecores".
  std::vector<std::string> sources;
  InputChoice inputs;
  const std::optional<PlatformTime>& at(size_t program, size_t platform) const {
    return times[program * platforms.size() + platform];
  }
  // The table's rows (or columns) named by index, in that order. Companions of a family that is left out go, too.
  TrainingTable with_programs(const std::vector<size_t>& indices) const;
  TrainingTable with_platforms(const std::vector<size_t>& indices) const;
};

struct TableOptions {
  int64_t threads = 1;
  bool include_excluded = false;       // programs that are no comparison, and profiles whose counts and times don't fit
  std::vector<std::string> groups;     // empty: all
  std::vector<std::string> platforms;  // ids or verbatim names; empty: all with enough programs
  std::vector<std::string> segments;   // of platforms: "cloud", "server", "desktop"; empty: all
  double minimum_coverage = 0.7;       // platforms measured on a smaller share of the programs are left out
  // Instead of the coverage: platforms measured on fewer programs are left out; 0: by coverage. For corpora of several
  // sources, where no platform has most of the programs.
  int64_t minimum_programs = 0;
  // Each good profile of a program is a row of its own, with the program's times: what a forecast from any one of the
  // platforms it was profiled on would see. Profiles of platforms that are not the table's are left out. Else one row
  // per program, with its first good profile.
  bool every_profile = false;
  // Only programs that were measured on every one of the platforms.
  bool complete_rows = false;
  InputChoice inputs;  // its facts are filled in
  // Programs without a profile too, theirs being empty: to judge the times, never to fit a model.
  bool include_unprofiled = false;
};

// Programs: those that have a profile of a run that succeeded, are not excluded and were measured on one of the
// platforms at least. Profiles that warn of clock-bound, runs-differ or other-code-path don't count. Fails with
// "unknown-platform" or "unknown-group" (near names listed) or "empty-corpus".
Result<TrainingTable> make_training_table(const Corpus& corpus, const TableOptions& options);

}  // namespace perfcast::program
