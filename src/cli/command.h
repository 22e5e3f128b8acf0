#pragma once
// What every verb shares. A verb is one *_command.cc with one function add_*_command(), listed in main.cc.

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {
struct CoreDesign;
}  // namespace perfcast

namespace perfcast::cli {

// Exit codes, fixed: 0 done (also when out of distribution), 1 failure, 2 bad usage, 3 what a script waits for (a
// regression that `compare` found, a claim that `audit --fail-on` names), 128 + the signal's number where a signal
// ended it.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRegression = 3;
inline constexpr int kExitUnclear = 4;
inline constexpr int kExitBySignal = 128;

// Options that mean the same under every verb that has them; add_common_options() gives them to a verb.
struct CommonOptions {
  std::string corpus;        // default: perfcast.db in the user's data folder
  std::string bundle;        // default: the shipped bundle cpus
  std::string output = "-";  // where the result goes
  bool json = false;
  bool show_output = false;
  bool quiet = false;
  uint64_t seed = 1;
  bool corpus_given = false, bundle_given = false, seed_given = false;  // on the command line
  int threads = 1;
  const CLI::App* verb = nullptr;  // the one that was chosen: errors name its options
};

struct CommandContext {
  CommonOptions options;
  std::vector<std::string> command;  // what followed "--" on the command line
  std::function<int()> run;          // set by the verb that was chosen
};

// Which of the common options a verb uses, besides --output and --json, which all do.
enum CommonOption : unsigned {
  kNoFurtherOption = 0,
  kCorpusOption = 1,
  kBundleOption = 2,
  kShowOutputOption = 4,
  kQuietOption = 8,
  kSeedOption = 16,
  kThreadsOption = 32,
};
void add_common_options(CLI::App& verb, CommandContext& context, unsigned further);

// Path of what is the user's own by default; empty where the environment names no home.
std::string in_user_data(const std::string& name);

// Paths of what is shipped: beside the binary's install prefix, or in the source tree it was built from.
// $PERFCAST_SHARE overrides. `name` such as "bundles/cpus.pcb" or "suites/cloud.json".
std::string shipped_file(const std::string& name);
// The shipped core designs for a profile's windows; null where they can't be read: the profile says what is missing.
std::shared_ptr<const std::vector<CoreDesign>> shipped_core_designs();

// Prints the error for a person on stderr, or as perfcast.error/1 on stdout under --json, and gives the exit code that
// follows from its kind.
int report_error(const Error& error, const CommonOptions& options);

// Writes a verb's result to --output.
int write_result(const std::string& text, const CommonOptions& options, NewFile access = NewFile::kAsUsual);

// Whether standard output is a terminal that shows colours and nobody forbade them (NO_COLOR, https://no-color.org).
bool is_colour_wanted();

// Whether two paths, as given, name one file, which need not exist yet.
bool same_file(const std::string& a, const std::string& b);

// "bad-usage" where a file that will be written (empty, "-": none) is one of those that are read.
Status check_not_read(const std::string& option, const std::string& output, const std::vector<std::string>& read);

// What is being done, on stderr, and for how long: one line that changes where stderr is a terminal, else a line every
// ten seconds. Silent under --quiet.
class ProgressLine {
 public:
  explicit ProgressLine(const CommonOptions& options);
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);  // from any thread

 private:
  using Clock = std::chrono::steady_clock;
  void follow(const std::stop_token& stop);
  void draw();

  bool enabled_, terminal_;
  std::mutex lock_;
  std::condition_variable_any changed_;
  std::string text_;
  Clock::time_point since_, printed_ = Clock::now();
  bool shown_ = false;
  std::jthread clock_;  // the last: it uses all others
};

void add_profile_command(CLI::App& app, CommandContext& context);
void add_diagnose_command(CLI::App& app, CommandContext& context);
void add_compare_command(CLI::App& app, CommandContext& context);
void add_watch_command(CLI::App& app, CommandContext& context);
void add_power_command(CLI::App& app, CommandContext& context);
void add_tune_command(CLI::App& app, CommandContext& context);
void add_energy_command(CLI::App& app, CommandContext& context);
void add_phases_command(CLI::App& app, CommandContext& context);
void add_doctor_command(CLI::App& app, CommandContext& context);
void add_cores_command(CLI::App& app, CommandContext& context);
void add_collect_command(CLI::App& app, CommandContext& context);
void add_import_command(CLI::App& app, CommandContext& context);
void add_corpus_command(CLI::App& app, CommandContext& context);
void add_corpus_map_command(CLI::App& corpus, CommandContext& context);  // of the verb `corpus`
void add_train_command(CLI::App& app, CommandContext& context);
void add_adapt_command(CLI::App& app, CommandContext& context);
void add_evaluate_command(CLI::App& app, CommandContext& context);
void add_predict_command(CLI::App& app, CommandContext& context);
void add_place_command(CLI::App& app, CommandContext& context);
void add_audit_command(CLI::App& app, CommandContext& context);
void add_bench_command(CLI::App& app, CommandContext& context);
void add_export_command(CLI::App& app, CommandContext& context);
void add_schedule_command(CLI::App& app, CommandContext& context);
void add_metrics_command(CLI::App& app, CommandContext& context);
void add_capacity_command(CLI::App& app, CommandContext& context);
void add_slurm_command(CLI::App& app, CommandContext& context);
void add_llm_command(CLI::App& app, CommandContext& context);
void add_gemm_command(CLI::App& app, CommandContext& context);
void add_serve_command(CLI::App& app, CommandContext& context);
void add_help_commands(CLI::App& app, CommandContext& context);  // help, completion; the last: they describe all others

}  // namespace perfcast::cli
