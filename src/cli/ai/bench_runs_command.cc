// perfcast bench compare-runs: results of load tests, of bench run and of other tools, in one table.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ai/results/load_run_report.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/ai/bench_command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestResultBytes = size_t{256} << 20;

Result<std::vector<ai::LoadRun>> runs_of(const std::string& path, std::vector<std::string>& notes) {
  const auto text = read_file(path, kLargestResultBytes);
  if (!text) return as_named_file(text.error(), true);
  return ai::read_load_runs(*text, path, &notes);
}

int run_compare(const std::vector<std::string>& files, const CommonOptions& options) {
  if (Status fits = check_output_file("-o", options.output); !fits) return report_error(fits.error(), options);
  ai::LoadRunsReport report;
  std::optional<Error> first;
  for (const std::string& path : files) {
    auto runs = runs_of(path, report.notes);
    if (!runs) {
      if (!first) first = runs.error();
      report.unread.push_back({path, runs.error().message});
      continue;
    }
    report.runs.insert(report.runs.end(), std::make_move_iterator(runs->begin()), std::make_move_iterator(runs->end()));
  }
  if (report.runs.empty()) return report_error(*first, options);
  const int written =
      write_result(options.json ? to_text(ai::load_runs_json(report)) : ai::load_runs_text(report), options);
  if (written != kExitDone) return written;
  return report.unread.empty() ? kExitDone : kExitFailure;
}

}  // namespace

void add_bench_runs_command(CLI::App& bench, CommandContext& context) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = add_verb(bench, {"compare-runs",
                                    "Shows results of load tests side by side: of bench run and of other tools.",
                                    "",
                                    {"perfcast bench compare-runs ours.json vllm.json",
                                     "perfcast bench compare-runs guidellm.json profile_export_aiperf.json"},
                                    "bench-compare-runs"});
  add_basic(*verb, "FILE", *files, "FILE ...",
            "Results of perfcast bench run --json, guidellm, vLLM's or SGLang's benchmark scripts, AIPerf, genai-perf "
            "or inference-perf.")
      ->required();
  verb->footer(
      "The second table says what these tools define differently.\nExit status: 0, or 1 if a file is no such result. "
      "The last lines name such files.");
  add_common_options(*verb, context, 0);
  verb->callback(
      [files, &context] { context.run = [files, &context] { return run_compare(*files, context.options); }; });
}

}  // namespace perfcast::cli
