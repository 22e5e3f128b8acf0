// Whole deployments of three engines, simulated, beside measured ones: `perfcast_end_to_end_reproduction FOLDER
// [--json] [--write FILE]`. FOLDER holds aiconfigurator/. vLLM's constants are of single streams on other devices;
// those of the other engines are fitted with each model on a device left out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "ai/engine/engine_bundle.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"
#include "studies/output.h"
#include "studies/serving/end_to_end_evaluation.h"
#include "studies/serving/end_to_end_points.h"

namespace perfcast::ai::serving_study {
namespace {

struct Arguments {
  std::string folder, bundle;
  int threads = 2;
  bool json = false;
};

ReportTable scores_table(const std::vector<EndToEndScore>& scores) {
  using Row = EndToEndScore;
  using enum Quantity;
  return table_of<Row>("", scores,
                       {{"engine", "engine", kText, [](const Row& row) { return row.engine; }},
                        {"split", "split", kText, [](const Row& row) { return row.split; }},
                        {"predictor", "forecast by", kText, [](const Row& row) { return row.predictor; }},
                        {"part", "part", kText, [](const Row& row) { return row.part; }},
                        {"figure", "figure", kText, [](const Row& row) { return row.figure; }},
                        {"n", "n", kCount, [](const Row& row) { return row.n; }},
                        {"mean_error", "mean error", kShare, [](const Row& row) { return row.mean_error; }, 1},
                        {"median_error", "median error", kShare, [](const Row& row) { return row.median_error; }, 1},
                        {"bias", "bias", kShare, [](const Row& row) { return row.bias; }, 1},
                        {"coverage_90", "90% interval holds", kShare, [](const Row& row) { return row.coverage; }, 1}});
}

Status reproduce(const Arguments& arguments) {
  auto read = read_end_to_end(arguments.folder + "/aiconfigurator/end_to_end.csv.gz");
  if (!read) return read.error();
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!devices) return devices.error();
  auto bundle = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  if (!bundle) return bundle.error();
  const auto evaluation = evaluate_end_to_end(read->points, *devices, *bundle, arguments.threads);
  if (!evaluation) return evaluation.error();
  StudyOutput output("end-to-end", arguments.json);
  output.note(fmt::format("{} settings simulated", read->points.size()));
  for (const auto& [reason, rows] : read->left_out) output.note(fmt::format("left out: {} rows: {}", rows, reason));
  output.add("scores", scores_table(evaluation->scores));
  output.finish();
  if (arguments.bundle.empty()) return {};
  set_profiles(*evaluation, *bundle);
  return write_file_atomically(arguments.bundle, engine_bundle_text(*bundle));
}

}  // namespace
}  // namespace perfcast::ai::serving_study

int main(int argc, char** argv) try {
  perfcast::ai::serving_study::Arguments arguments;
  CLI::App app("Simulates deployments of serving engines that were measured end to end");
  app.add_option("folder", arguments.folder, "holds aiconfigurator/")->required();
  app.add_option("--write", arguments.bundle, "writes the bundle of engines here, with the fitted profiles in it");
  app.add_option("--threads", arguments.threads, "of this program")->capture_default_str();
  app.add_flag("--json", arguments.json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::serving_study::reproduce(arguments);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
