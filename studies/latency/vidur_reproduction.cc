// Trains the half-precision models on Vidur's profiles and prints how they do on what was held out, beside the
// roofline: `perfcast_vidur_reproduction FOLDER [--devices FILE] [--write FILE] [--every N]`. FOLDER holds mlp.csv.gz
// and collectives.csv.gz; --write leaves the bundle that perfcast ships as data/bundles/half-precision.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "ai/latency/model/half_precision_file.h"
#include "base/text.h"
#include "studies/latency/vidur_score.h"

namespace perfcast::ai::latency_study {
namespace {

struct Options {
  std::string folder, devices = PERFCAST_SOURCE_DIR "/data/devices/devices.json", write;
  VidurScoreOptions score;
};

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f}", 100 * share); }

std::string table_of(const std::vector<VidurScore>& scores) {
  TextTable table;
  for (const char* title : {"work", "held out", "device"}) table.add_column(title, TextTable::Align::kLeft);
  for (const char* title :
       {"n", "mean %", "median %", "90th %", "roofline mean %", "with 0.7, 0.75 of it", "in 90% interval"}) {
    table.add_column(title, TextTable::Align::kRight);
  }
  for (const VidurScore& score : scores) {
    table.add_row({score.work, score.split, score.device, fmt::format("{}", score.rows), percent(score.mean_error),
                   percent(score.median_error), percent(score.error_of_90), percent(score.roofline_mean_error),
                   percent(score.fixed_shares_error), percent(score.coverage_90)});
  }
  return table.to_text();
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
  fmt::print(
      "Half precision, by what was held out and by device. The form of the models was chosen on the folds that are "
      "scored "
      "here.\nBeside it the roofline of the data sheet, and with two constants: 0.7 of the peak, 0.75 of the "
      "bandwidth, no "
      "kernel\nbelow 2 us.\n{}",
      table_of(reproduction->scores));
  fmt::print("log error carried over to other devices: {:.3f}\n", reproduction->bundle.transfer_log_error);
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
