#include "cli/ai/bench_run_sweep.h"

#include <optional>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "cli/ai/bench_text.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {

Error with_option(Error error) {
  static const std::pair<const char*, const char*> options[] = {{"total_samples", "--total-samples"},
                                                                {"loaded_samples", "--samples"},
                                                                {"target_qps", "--target-qps"},
                                                                {"min_duration_s", "--duration"},
                                                                {"max_duration_s", "--max-duration"},
                                                                {"answer_limit_s", "--answer-limit"},
                                                                {"min_queries", "--min-queries"},
                                                                {"max_queries", "--max-queries"},
                                                                {"samples_per_query", "--samples-per-query"},
                                                                {"max_outstanding", "--max-outstanding"},
                                                                {"concurrency", "--concurrency"},
                                                                {"plan", "--trace"}};
  for (const auto& [field, option] : options) {
    if (error.where == field) error.where = option;
  }
  return error;
}

int report_behind_result(const Error& error, const CommonOptions& options) {
  CommonOptions how = options;
  how.json = false;
  return report_error(error, how);
}

int run_sweep_of(ai::SweepRequest sweep, const BenchArguments& arguments, const CommonOptions& options) {
  auto system = ai::make_system(arguments.system);
  if (!system) return report_error(as_named_file(system.error(), true), options);
  const InterruptGuard guard;
  std::optional<ProgressLine> line(std::in_place, options);
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    ai::BenchRequest& point = sweep.points[i];
    point.is_interrupted = [] { return interrupting_signal() != 0; };
    const std::string load = csv_number(sweep.loads[i]) + (sweep.by_rate ? "/s" : " at once");
    point.progress = [&line, load](const std::string& what, const ai::LoadProgress& progress) {
      line->show(bench_progress(load + ", " + what, progress));
    };
  }
  const auto result = ai::run_bench_sweep(sweep, **system);
  system->reset();
  line.reset();
  if (!result) return report_error(with_option(result.error()), options);
  if (!arguments.report.empty()) {
    if (Status written = write_file_atomically(arguments.report, ai::sweep_page(*result)); !written) {
      return report_error(written.error(), options);
    }
  }
  const int written = write_result(options.json ? to_text(to_json(*result)) : bench_sweep_text(*result), options);
  if (written != kExitDone) return written;
  if (result->is_interrupted) return kExitBySignal + interrupting_signal();
  if (result->error) return report_behind_result(with_option(*result->error), options);
  return result->is_sound() ? kExitDone : kExitFailure;
}

}  // namespace perfcast::cli
