// perfcast export: a bundle's weightless model as source.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "learn/weightless/export/network_source.h"
#include "profile/profile.h"
#include "program/forecast/export_model.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::cli {
namespace {

constexpr const char* kSchema = "perfcast.export/1";
constexpr size_t kMostToChooseFrom = 16;  // platforms, of --task best
constexpr size_t kMarkWithin = 4096;      // bytes of a file that perfcast export wrote

struct ExportArguments {
  std::string format = "c", task = "times", name = "perfcast", folder = ".", report = "-";
  std::vector<std::string> platforms, profiles;
  size_t rows = 64;
};

// In the folder of the files.
std::string how_to_test(const program::ExportRequest& request) {
  switch (request.format) {
    case SourceFormat::kC:
      return fmt::format("cc -std=c99 -O2 {0}.c {0}_selftest.c -lm -o {0}_selftest && ./{0}_selftest", request.name);
    case SourceFormat::kCpp:
      return fmt::format("c++ -std=c++17 -O2 {0}_selftest.cpp -o {0}_selftest && ./{0}_selftest", request.name);
    case SourceFormat::kVerilog:
      break;
  }
  return fmt::format("iverilog -o {0}_test {0}.v {0}_test.v && vvp -n {0}_test | grep '^ok'", request.name);
}

// Inputs are printed so that they can be given to the exported source.
Json profile_json(const program::ExportedModel& model, const RecordedRow& row) {
  Json inputs = Json::object();
  for (size_t i = 0; i < row.inputs.size(); ++i)
    inputs[model.network.inputs[i]] = std::isnan(row.inputs[i]) ? Json(nullptr) : Json(row.inputs[i]);
  return {{"program", row.name}, {"inputs", inputs}, {"sums", row.sums}, {"best", model.platforms[row.best]}};
}

Json export_json(const program::ExportRequest& request, const program::ExportedModel& model,
                 const std::vector<std::string>& paths) {
  const NetworkSize& size = model.size;
  Json profiles = Json::array();
  for (const RecordedRow& row : model.profiles) profiles.push_back(profile_json(model, row));
  return {{"schema", kSchema},
          {"name", request.name},
          {"format", std::string(to_text(request.format))},
          {"task", to_text(request.task)},
          {"files", paths},
          {"self_test", how_to_test(request)},
          {"recorded_rows_count", model.recorded},
          {"inputs", model.network.inputs},
          {"platforms", model.platforms},
          {"sum_unit_log_rpv",
           request.task == program::IntegerTask::kTimes ? Json(model.network.network.head().scale) : Json()},
          {"thresholds_count", size.thresholds},
          {"tables_count", size.tables},
          {"data_bytes", size.data_bytes},
          {"encoder_luts", size.encoder_luts},
          {"table_luts", size.table_luts},
          {"sum_luts", size.sum_luts},
          {"best_luts", size.best_luts},
          {"luts", size.luts()},
          {"profiles", profiles}};
}

std::string export_text(const program::ExportRequest& request, const program::ExportedModel& model,
                        const std::vector<std::string>& paths) {
  const NetworkSize& size = model.size;
  const bool best = request.task == program::IntegerTask::kBestPlatform;
  std::string text =
      fmt::format("{}: {} of {} platforms from {} inputs\n", request.name, best ? "the best" : "relative times",
                  model.platforms.size(), model.network.inputs.size());
  if (!paths.empty()) {
    const std::string folder = std::filesystem::path(paths.front()).parent_path().string();
    text += fmt::format("written: {}\nself-test of {} rows: {}{}\n", join(paths, ", "), model.recorded,
                        folder.empty() ? "" : "cd '" + folder + "' && ", how_to_test(request));
  }
  if (!best && model.platforms.size() <= kMostToChooseFrom) {
    text += "next: --task best writes a smaller source, which only says which platform is the fastest\n";
  }
  text += "\n";
  text += fmt::format("  tables       {} of {} bits, on {} thresholds\n", size.tables,
                      model.network.network.layers().front().arity, size.thresholds);
  text += fmt::format("  constants    {}\n", human_bytes(static_cast<double>(size.data_bytes)));
  text +=
      fmt::format("  6-input LUTs {}: encoder {}, tables {}, sums {}, best {} (by rule; a synthesis may need fewer)\n",
                  size.luts(), size.encoder_luts, size.table_luts, size.sum_luts, size.best_luts);
  for (const RecordedRow& row : model.profiles)
    text += fmt::format("  {}: {}\n", printable(row.name), printable(model.network.outputs[row.best]));
  return text;
}

struct SourceEnding {
  std::string_view ending;
  const char* format;
};
constexpr SourceEnding kEndings[] = {{".c", "c"}, {".hpp", "cpp"}, {".v", "verilog"}};

// -o FOLDER, or the main file of the source: its folder, name and language. Files that belong to it go beside it.
Status take_output(const std::string& output, const CLI::App& verb, ExportArguments& arguments) {
  const auto conflict = [&output](const std::string& what, const std::string& expected) {
    return usage_error("bad-usage", "'" + printable(output) + "' " + what, "-o", expected);
  };
  std::error_code failed;
  const std::filesystem::path path(output);
  if (verb.count("--folder") > 0) return conflict("and --folder both say where the source goes", "one of both");
  if (output.ends_with('/') || std::filesystem::is_directory(path, failed)) {
    arguments.folder = output;
    return {};
  }
  const auto found = std::find_if(std::begin(kEndings), std::end(kEndings),
                                  [&path](const SourceEnding& known) { return path.extension() == known.ending; });
  if (found == std::end(kEndings)) {
    return conflict("does not say in which language the source is",
                    "NAME.c, NAME.hpp, NAME.v, or a folder; --report FILE takes the report");
  }
  if (verb.count("--format") > 0 && arguments.format != found->format) {
    return conflict("is no file of --format " + printable(arguments.format), "one of both");
  }
  if (verb.count("--name") > 0 && arguments.name != path.stem().string()) {
    return conflict("and --name " + printable(arguments.name) + " name the source differently", "one of both");
  }
  arguments.format = found->format;
  arguments.name = path.stem().string();
  arguments.folder = path.has_parent_path() ? path.parent_path().string() : ".";
  return {};
}

// A file that is there and that perfcast export did not write is someone's own.
Status check_overwrite(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, failed))) return {};
  if (std::filesystem::is_regular_file(path, failed)) {
    std::string begin(kMarkWithin, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<size_t>(in.gcount()));
    if (begin.find(kExportMark) != std::string::npos) return {};
  }
  return Error{"would-overwrite", "'" + printable(path) + "' is there, and perfcast export did not write it",
               printable(path), "another name, with -o; or remove the file"};
}

int run(ExportArguments arguments, const CLI::App& verb, const CommandContext& context) {
  CommonOptions common = context.options;
  if (common.output != "-") {
    if (const Status taken = take_output(common.output, verb, arguments); !taken) {
      return report_error(taken.error(), common);
    }
  }
  common.output = arguments.report;
  program::ExportRequest request;
  request.name = arguments.name;
  request.platforms = arguments.platforms;
  request.drawn_rows = arguments.rows;
  request.seed = common.seed;
  const auto format = parse_source_format(arguments.format);
  if (!format) return report_error(format.error(), common);
  const auto task = program::parse_integer_task(arguments.task);
  if (!task) return report_error(task.error(), common);
  request.format = *format;
  request.task = *task;
  if (const Status there = check_profiles(arguments.profiles); !there) return report_error(there.error(), common);
  std::error_code failed;
  if (!std::filesystem::is_directory(arguments.folder, failed)) {
    return report_error(usage_error("no-folder", "there is no folder '" + printable(arguments.folder) + "'",
                                    context.options.output == "-" ? "--folder" : "-o", "a folder that exists"),
                        common);
  }
  for (const std::string& path : arguments.profiles) {
    auto profile = read_given_profile(path, common.quiet);
    if (!profile) return report_error(profile.error(), common);
    request.profiles.push_back(std::move(*profile));
  }
  const auto forecaster = open_forecaster(common);
  if (!forecaster) return report_error(forecaster.error(), common);
  const auto model = program::export_model(forecaster->bundle(), request);
  if (!model) return report_error(model.error(), common);
  // --json with profiles prints their inputs; source is written where it is said where to.
  const bool only_prints = common.json && !arguments.profiles.empty() && context.options.output == "-" &&
                           verb.count("--folder") == 0 && verb.count("--name") == 0;
  std::vector<std::string> paths;
  for (const SourceFile& file : model->files) {
    if (only_prints) break;
    paths.push_back((std::filesystem::path(arguments.folder) / file.name).lexically_normal().string());
    if (const Status free = check_overwrite(paths.back()); !free) return report_error(free.error(), common);
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (const Status written = write_file_atomically(paths[i], model->files[i].text); !written)
      return report_error(written.error(), common);
  }
  return write_result(common.json ? to_text(export_json(request, *model, paths)) : export_text(request, *model, paths),
                      common);
}

}  // namespace

void add_export_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* verb = add_verb(app, {"export",
                                  "Writes a model of train --model dwn as C, C++ or Verilog source with a self-test.",
                                  "",
                                  {"perfcast export --bundle dwn.pcb -o best_cpu.c --task best",
                                   "perfcast export --bundle dwn.pcb --format verilog --task best"},
                                  "export"});
  verb->footer(
      "The bundle must come from perfcast train --model dwn. The source computes the forecasts alone, without the "
      "intervals and the forecasts for whole machines that the bundle also holds.");
  add_basic(*verb, "--task", arguments->task, "times|best",
            "What the source computes: times means the relative times of all platforms. best means only which of at "
            "most 16 platforms is the fastest; this source is smaller.")
      ->capture_default_str();
  add_basic(*verb, "--format", arguments->format, "c|cpp|verilog", "The language: C99, C++17 or Verilog 2001.")
      ->capture_default_str();
  add_basic(
      *verb, "--name", arguments->name, "NAME",
      "The name of the files, and the prefix of everything that they define. With -o the default is that file's name.")
      ->capture_default_str();
  add_basic(*verb, "--folder", arguments->folder, "FOLDER",
            "Writes the files into this folder. Default: the folder of -o, else the current folder.");
  add_basic(*verb, "--platforms", arguments->platforms, "NAME,...", "Exports only these platforms, by id or name.")
      ->delimiter(',');
  add_basic(*verb, "--profile", arguments->profiles, "FILE ...",
            "Also tests the source with these profiles. With --json you see their inputs, and source is written only "
            "with -o.");
  add_advanced(*verb, "--rows", arguments->rows, "N",
               "Draws this many rows for the self-test, beside up to 64 training programs.")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_basic(*verb, "--report", arguments->report, "FILE",
            "Writes the report about the export into this file. Default: standard output.");
  add_common_options(*verb, context, kBundleOption | kSeedOption);
  verb->get_option("--output")
      ->group(kBasicGroup)
      ->description("Writes the source into this file (NAME.c, NAME.hpp or NAME.v), and its further files beside it.");
  verb->callback([arguments, verb, &context] {
    context.run = [arguments, verb, &context] { return run(*arguments, *verb, context); };
  });
}

}  // namespace perfcast::cli
