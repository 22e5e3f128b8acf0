// Scores of times of kernels on devices and shapes that were left out, beside baselines:
// `perfcast_kernels_reproduction FOLDER [--json] [--write FILE]`. FOLDER holds aiconfigurator/.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/kernels/kernel_database.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"
#include "studies/kernels/kernel_evaluation.h"
#include "studies/output.h"

namespace perfcast::ai::kernels_study {
namespace {

struct Arguments {
  std::string folder, bundle;
  bool json = false;
};

Status reproduce(const Arguments& arguments) {
  const auto database = read_kernel_database(arguments.folder + "/aiconfigurator");
  if (!database) return database.error();
  const auto catalogue = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!catalogue) return catalogue.error();
  StudyOutput output("kernels", arguments.json);
  output.note(fmt::format("{} measured kernels of {} systems", database->kernels.size(), database->systems.size()));
  for (const std::string& note : database->notes) output.note(note);
  for (const KernelDatabase::Left& left : database->left_out) {
    output.note(fmt::format("left out: {} rows: {}", left.count, left.reason));
  }
  std::vector<std::string> notes;
  const auto all = kernel_rows(*database, *catalogue, notes);
  for (const std::string& note : notes) output.note(note);
  std::vector<KernelScore> scores;
  KernelBundle bundle;
  bundle.source = "AIConfigurator's measured kernels, https://github.com/ai-dynamo/aiconfigurator (NVIDIA)";
  bundle.licence = "Apache-2.0";
  bundle.trained = "on all devices and shapes; the tables of scores leave devices and shapes out";
  for (const KernelRows& rows : all) {
    const auto evaluation = evaluate_kernels(rows);
    if (!evaluation) return evaluation.error();
    scores.insert(scores.end(), evaluation->scores.begin(), evaluation->scores.end());
    add_to_bundle(rows, evaluation->entry, bundle);
    if (!arguments.json) std::fputs(rows_text(kernel_scores_table(evaluation->scores)).c_str(), stderr);
  }
  output.add("scores", kernel_scores_table(scores));
  output.finish();
  if (arguments.bundle.empty()) return {};
  return write_file_atomically(arguments.bundle, kernel_bundle_text(bundle));
}

}  // namespace
}  // namespace perfcast::ai::kernels_study

int main(int argc, char** argv) try {
  perfcast::ai::kernels_study::Arguments arguments;
  CLI::App app("Leaves devices and shapes out and forecasts the times of kernels on them");
  app.add_option("folder", arguments.folder, "holds aiconfigurator/")->required();
  app.add_option("--write", arguments.bundle, "fits on all rows and writes the bundle of kernels here");
  app.add_flag("--json", arguments.json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::kernels_study::reproduce(arguments);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
