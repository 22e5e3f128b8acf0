// Trains the half-precision models on Vidur's profiles and prints how they do on what was held out, beside the
// roofline: `perfcast_vidur_reproduction FOLDER [--devices FILE] [--write FILE] [--every N]`. FOLDER holds mlp.csv.gz
// and collectives.csv.gz; --write leaves the bundle that perfcast ships as data/bundles/half-precision.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "ai/latency/model/half_precision_file.h"
#include "studies/latency/vidur_score.h"
#include "studies/output.h"

namespace perfcast::ai::latency_study {
namespace {

struct Options {
  std::string folder, devices = PERFCAST_SOURCE_DIR "/data/devices/devices.json", write;
  VidurScoreOptions score;
  bool json = false;
};

ReportTable scores_table(const std::vector<VidurScore>& scores) {
  using Row = VidurScore;
  return table_of<Row>(
      "Half precision, by what was held out and by device. The form of the models was chosen on the folds that are "
      "scored here.\nBeside it the roofline of the data sheet, and with two constants: 0.7 of the peak, 0.75 of the "
      "bandwidth, no kernel\nbelow 2 us.",
      scores,
      {{"work", "work", Quantity::kText, [](const Row& row) { return row.work; }},
       {"split", "held out", Quantity::kText, [](const Row& row) { return row.split; }},
       {"device", "device", Quantity::kText, [](const Row& row) { return row.device; }},
       {"n", "n", Quantity::kCount, [](const Row& row) { return row.rows; }},
       {"mean_error", "mean", Quantity::kShare, [](const Row& row) { return row.mean_error; }, 1},
       {"median_error", "median", Quantity::kShare, [](const Row& row) { return row.median_error; }, 1},
       {"p90_error", "90th", Quantity::kShare, [](const Row& row) { return row.error_of_90; }, 1},
       {"roofline_error", "roofline mean", Quantity::kShare, [](const Row& row) { return row.roofline_mean_error; }, 1},
       {"two_constants_error", "with 0.7, 0.75 of it", Quantity::kShare,
        [](const Row& row) { return row.fixed_shares_error; }, 1},
       {"coverage_90", "in 90% interval", Quantity::kShare, [](const Row& row) { return row.coverage_90; }, 1}});
}

Status run(const Options& options) {
  const auto catalogue = read_device_catalogue(options.devices);
  if (!catalogue) return catalogue.error();
  const auto layers = read_vidur_layers(options.folder);
  if (!layers) return layers.error();
  const auto all_reduces = read_vidur_all_reduces(options.folder);
  if (!all_reduces) return all_reduces.error();
  const auto reproduction = reproduce_vidur(*layers, *all_reduces, *catalogue, options.score);
  if (!reproduction) return reproduction.error();
  StudyOutput output("vidur", options.json);
  output.add("operators", scores_table(reproduction->scores));
  output.note(fmt::format("log error carried over to other devices: {:.3f}", reproduction->bundle.transfer_log_error));
  output.finish();
  if (options.write.empty()) return {};
  return write_half_precision(reproduction->bundle, options.write);
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Half-precision operators from Vidur's profiles: scores of what was held out");
  app.add_option("folder", options.folder, "Folder of mlp.csv.gz and collectives.csv.gz")->required();
  app.add_option("--devices", options.devices, "Catalogue of devices");
  app.add_option("--write", options.write, "Leave the bundle here");
  app.add_option("--every", options.score.every, "Take about one row in so many");
  app.add_flag("--json", options.json, "For programs");
  CLI11_PARSE(app, argc, argv);
  if (const Status status = run(options); !status) {
    fmt::print(stderr, "{}\n", to_text(status.error()));
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::ai::latency_study

int main(int argc, char** argv) {
  try {
    return perfcast::ai::latency_study::main_of(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
