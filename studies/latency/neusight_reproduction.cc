// The accuracy of GPU operators and whole models on NeuSight's published measurements:
//   perfcast_neusight_reproduction FOLDER [--settings] [--details] [--bundle FILE] [--write-bundle FILE] [--devices
//   FILE]
//     [--seed N] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "base/file.h"
#include "studies/latency/left_out_devices.h"
#include "studies/latency/neusight_fit.h"
#include "studies/latency/neusight_tables.h"

namespace perfcast::ai::latency_study {
namespace {

struct Options {
  std::string folder, fitted, bundle, devices = PERFCAST_SOURCE_DIR "/data/devices/devices.json";
  bool settings = false, details = false, json = false;
  StudyOptions study;
};

int fail(const Error& error) {
  fmt::print(stderr, "{}\n", to_text(error));
  return 1;
}

Result<GpuBundle> read_bundle(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_gpu_bundle(*text, path);
}

int run(const Options& options) {
  const auto catalogue = read_device_catalogue(options.devices);
  if (!catalogue) return fail(catalogue.error());
  const auto data = read_neusight(options.folder);
  if (!data) return fail(data.error());
  StudyOutput output("neusight", options.json);
  if (options.settings) {
    const auto table = settings_table(*data, *catalogue);
    if (!table) return fail(table.error());
    output.add("settings", *table);
  }
  auto bundle = options.fitted.empty() ? fit_neusight(*data, *catalogue) : read_bundle(options.fitted);
  if (!bundle) return fail(bundle.error());
  const auto carried = study_carried_errors(*data, *bundle);
  if (!carried) return fail(carried.error());
  set_carried_errors(*carried, *bundle);
  if (!options.bundle.empty()) {
    const Status written = write_file_atomically(options.bundle, gpu_bundle_text(*bundle));
    if (!written) return fail(written.error());
  }
  if (const Status done = score_tables(*data, *catalogue, *bundle, options.study, output); !done)
    return fail(done.error());
  output.add("left_out", carried->table);
  if (options.details) {
    if (const Status done = detail_tables(*data, *catalogue, *bundle, output); !done) return fail(done.error());
  }
  output.finish();
  return 0;
}

}  // namespace
}  // namespace perfcast::ai::latency_study

int main(int argc, char** argv) {
  try {
    perfcast::ai::latency_study::Options options;
    CLI::App app("GPU operators and whole models on NeuSight's measurements");
    app.add_option("folder", options.folder, "folder with ops_train.csv(.gz) and the rest")->required();
    app.add_flag("--settings", options.settings, "also the table that the settings were chosen by");
    app.add_flag("--details", options.details, "also every configuration, and how far the data agree with themselves");
    app.add_flag("--json", options.json, "for programs");
    app.add_option("--bundle", options.fitted, "models of this bundle, in the place of a new fit");
    app.add_option("--write-bundle", options.bundle, "write the fitted models here");
    app.add_option("--devices", options.devices, "facts of the devices")->capture_default_str();
    app.add_option("--seed", options.study.seed, "of the shapes that calibration measures")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return perfcast::ai::latency_study::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
