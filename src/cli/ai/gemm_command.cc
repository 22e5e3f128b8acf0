// perfcast gemm: one product, many ways to compute it, from the naive loop to the libraries.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ai/gemm/conv/conv_report.h"
#include "ai/gemm/conv/conv_rung.h"
#include "ai/gemm/report/report.h"
#include "ai/gemm/run/worker.h"
#include "ai/gemm/session.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "machine/ceiling/cpu_isa.h"

namespace perfcast::cli {
namespace {

constexpr int kDefaultSide = 1024;
constexpr const char* kDefaultLayer = "conv3_3x3";

struct GemmArguments {
  std::string op = "gemm";
  std::vector<std::string> sides, shapes, sets, layers, threads;
  int batch = 0;  // of named layers; 0: not given
  std::string rungs = "*", budget = "2s", slow_limit = "60s", svg;
  std::vector<std::string> precisions;
  int repeats = 7;
  bool list = false, keynote = false, no_advice = false, worker = false;
};

// Those that a rung has.
std::string gemm_precision_names() {
  std::vector<std::string> names;
  for (const ai::gemm::Precision each : ai::gemm::rung_precisions()) names.emplace_back(ai::gemm::name_of(each));
  return join(names, ", ");
}

Status add_shapes(const std::vector<std::string>& texts, const char* option, std::vector<ai::gemm::Shape>& shapes) {
  for (const std::string& text : texts) {
    const auto shape = ai::gemm::parse_shape(text, option);
    if (!shape) return shape.error();
    shapes.push_back(*shape);
  }
  return {};
}

Result<std::vector<ai::gemm::Shape>> chosen_shapes(const GemmArguments& arguments) {
  std::vector<ai::gemm::Shape> shapes;
  if (Status added = add_shapes(arguments.sides, "--n", shapes); !added) return added.error();
  if (Status added = add_shapes(arguments.shapes, "--shape", shapes); !added) return added.error();
  for (const std::string& name : arguments.sets) {
    const auto set = ai::gemm::shape_set(name);
    if (!set) return set.error();
    shapes.insert(shapes.end(), set->begin(), set->end());
  }
  if (shapes.empty()) shapes.push_back({kDefaultSide, kDefaultSide, kDefaultSide});
  std::vector<ai::gemm::Shape> unique;
  for (const ai::gemm::Shape& shape : shapes) {
    if (std::find(unique.begin(), unique.end(), shape) == unique.end()) unique.push_back(shape);
  }
  return unique;
}

Status only_for(const char* op, bool given, const char* option) {
  if (!given) return {};
  return usage_error("bad-usage", std::string(option) + " is for --op " + op, option, std::string("--op ") + op);
}

// One of the convolutions was asked for by name, set, or sizes.
Result<std::vector<ai::gemm::ConvLayer>> chosen_convolutions(const GemmArguments& arguments) {
  if (Status no = only_for("gemm", !arguments.sides.empty(), "--n"); !no) return no.error();
  std::vector<ai::gemm::ConvLayer> layers;
  for (const std::string& name : arguments.layers) {
    auto layer = ai::gemm::find_conv_layer(name);
    if (!layer) return layer.error();
    layers.push_back(*std::move(layer));
  }
  for (const std::string& name : arguments.sets) {
    if (name != "resnet") {
      return usage_error("bad-usage", "there is no set of convolutions '" + printable(name) + "'", "--shapes",
                         "resnet");
    }
    layers.insert(layers.end(), ai::gemm::resnet50_layers().begin(), ai::gemm::resnet50_layers().end());
  }
  if (layers.empty() && arguments.shapes.empty()) layers.push_back(*ai::gemm::find_conv_layer(kDefaultLayer));
  for (ai::gemm::ConvLayer& layer : layers) {
    if (arguments.batch == 0) continue;
    layer.shape.batch = arguments.batch;
    auto checked = ai::gemm::conv_shape_from(ai::gemm::sizes_of(layer.shape), "--batch");
    if (!checked) return checked.error();
  }
  if (layers.empty()) {
    if (Status no = only_for("conv with --layer or --shapes", arguments.batch > 0, "--batch"); !no) return no.error();
  }
  for (const std::string& text : arguments.shapes) {
    const auto shape = ai::gemm::parse_conv_shape(text, "--shape");
    if (!shape) return shape.error();
    layers.push_back({"", *shape});
  }
  std::vector<ai::gemm::ConvLayer> unique;
  for (const ai::gemm::ConvLayer& layer : layers) {
    if (std::find(unique.begin(), unique.end(), layer) == unique.end()) unique.push_back(layer);
  }
  return unique;
}

// What to compute, and the rungs that can.
Status choose_problems(const GemmArguments& arguments, ai::gemm::GemmRequest& request) {
  if (arguments.op == "conv") {
    auto layers = chosen_convolutions(arguments);
    if (!layers) return layers.error();
    request.convolutions = *std::move(layers);
  } else {
    if (Status no = only_for("conv", !arguments.layers.empty(), "--layer"); !no) return no;
    if (Status no = only_for("conv", arguments.batch > 0, "--batch"); !no) return no;
    auto shapes = chosen_shapes(arguments);
    if (!shapes) return shapes.error();
    request.shapes = *std::move(shapes);
  }
  auto rungs =
      arguments.op == "conv" ? ai::gemm::select_conv_rungs(arguments.rungs) : ai::gemm::select_rungs(arguments.rungs);
  if (!rungs) return rungs.error();
  request.rungs = *std::move(rungs);
  return {};
}

// One thread and all cores, where nothing was said.
Result<std::vector<int>> chosen_threads(const std::vector<std::string>& texts) {
  std::vector<int> threads;
  for (const std::string& text : texts) {
    const auto number = parse_number(trim(text));
    if (!number || *number < 1 || *number > 1024 || *number != static_cast<int>(*number)) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no number of threads", "--threads",
                         "whole numbers from 1 to 1024, separated by commas");
    }
    threads.push_back(static_cast<int>(*number));
  }
  if (threads.empty()) threads = {1, online_cores()};
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

Result<double> positive_duration(const std::string& text, const char* option) {
  auto seconds = parse_duration_s(text, option);
  if (seconds && !(*seconds > 0))
    return usage_error("bad-usage", "'" + printable(text) + "' is no time", option, "2s, 500ms");
  return seconds;
}

Result<ai::gemm::GemmRequest> request_of(const CommandContext& context, const GemmArguments& arguments) {
  ai::gemm::GemmRequest request;
  if (const Status chosen = choose_problems(arguments, request); !chosen) return chosen.error();
  for (const std::string& name : arguments.precisions) {
    const auto precision = ai::gemm::precision_named(name);
    const std::vector<ai::gemm::Precision> known = ai::gemm::rung_precisions();
    if (!precision || std::find(known.begin(), known.end(), *precision) == known.end()) {
      return usage_error(
          "bad-usage",
          precision ? "no rung has the precision '" + name + "'" : "there is no precision '" + printable(name) + "'",
          "--precision", "one of: " + gemm_precision_names());
    }
    request.precisions.push_back(*precision);
  }
  auto threads = chosen_threads(arguments.threads);
  if (!threads) return threads.error();
  request.threads = *std::move(threads);
  const auto budget_s = positive_duration(arguments.budget, "--time-per-rung");
  if (!budget_s) return budget_s.error();
  const auto slow_s = positive_duration(arguments.slow_limit, "--run-limit");
  if (!slow_s) return slow_s.error();
  request.ladder.budget_s = *budget_s;
  request.ladder.slow_limit_s = *slow_s;
  request.ladder.rounds = arguments.repeats;
  request.ladder.worker = {"/proc/self/exe", "gemm", "--worker"};
  request.seed = context.options.seed;
  request.advice = !arguments.no_advice;
  request.bandwidth = !arguments.svg.empty();
  return request;
}

// Before minutes of measuring: can the picture be stored?
Status check_svg(const std::string& path) {
  if (path == "-") return {};
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    return usage_error("bad-usage", "'" + printable(path) + "' is a folder", "--svg", "the name of a file");
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!std::filesystem::is_directory(folder, problem)) {
    return usage_error("bad-usage", "there is no folder '" + printable(folder) + "'", "--svg",
                       "a file in an existing folder");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return usage_error("bad-usage", "the folder '" + printable(folder) + "' may not be written", "--svg",
                       "a file in a folder that you may write");
  }
  return {};
}

int run_gemm_command(CommandContext& context, const GemmArguments& arguments) {
  const CommonOptions& options = context.options;
  if (arguments.worker) return ai::gemm::worker_main(STDIN_FILENO, STDOUT_FILENO);
  if (arguments.list && arguments.op == "conv") {
    return write_result(options.json ? to_text(ai::gemm::conv_list_json()) : ai::gemm::conv_list_text(), options);
  }
  if (arguments.list) {
    return write_result(options.json ? to_text(ai::gemm::rung_list_json()) : ai::gemm::rung_list_text(), options);
  }
  auto request = request_of(context, arguments);
  if (!request) return report_error(request.error(), options);
  if (!arguments.svg.empty() && options.output != "-" && same_file(arguments.svg, options.output)) {
    return report_error(
        usage_error("bad-usage", "the picture and the result would be one file", "--svg", "another name"), options);
  }
  if (!arguments.svg.empty()) {
    if (const Status able = check_svg(arguments.svg); !able) return report_error(able.error(), options);
  }
  Result<ai::gemm::GemmResult> result = Error{};
  {
    ProgressLine progress(options);
    request->ladder.progress = [&progress](const std::string& text) { progress.show("gemm: " + text); };
    result = ai::gemm::run_gemm(*request);
  }
  if (!result) return report_error(result.error(), options);
  if (!arguments.svg.empty()) {
    const auto picture = ai::gemm::roofline_svg(*result);
    if (!picture) return report_error(picture.error(), options);
    if (const Status written = write_file_atomically(arguments.svg, *picture); !written) {
      return report_error(written.error(), options);
    }
  }
  const bool wrong = std::any_of(result->rungs.begin(), result->rungs.end(),
                                 [](const ai::gemm::RungResult& row) { return !row.correct; });
  const int written = write_result(
      options.json ? to_text(ai::gemm::to_json(*result)) : ai::gemm::to_text(*result, arguments.keynote), options);
  if (written == kExitDone && result->interrupted) return kExitBySignal + interrupting_signal();
  return written == kExitDone && wrong ? kExitFailure : written;
}

}  // namespace

void add_gemm_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<GemmArguments>();
  CLI::App* verb = add_verb(app, {"gemm",
                                  "Measures many ways to multiply matrices, and shows how much speed each loses.",
                                  "",
                                  {"perfcast gemm --n 1024", "perfcast gemm --shapes llm --precision fp32,bf16"},
                                  "gemm"});
  add_basic(*verb, "--op", arguments->op, "gemm|conv", "Measures products of matrices, or convolutions.")
      ->check(CLI::IsMember({"gemm", "conv"}))
      ->capture_default_str();
  add_basic(*verb, "--n", arguments->sides, "N,...", "Multiplies square matrices of these sizes. Default: 1024.")
      ->delimiter(',');
  add_basic(*verb, "--shape", arguments->shapes, "M,N,K",
            "Measures this product: C (M x N) = A (M x K) B (K x N). With --op conv: B,C,H,W,O,R,S[,STRIDE[,PADDING]]. "
            "Repeatable.")
      ->allow_extra_args(false);
  add_advanced(*verb, "--layer", arguments->layers, "NAME,...",
               "With --op conv: measures this layer of ResNet-50. --list names all. Default: conv3_3x3.")
      ->delimiter(',');
  add_advanced(*verb, "--batch", arguments->batch, "N",
               "With --op conv: how many images a named layer takes at once. Default: 1.")
      ->check(CLI::Range(1, 65536));
  std::vector<std::string> sets, names;
  for (const ai::gemm::NamedShapes& set : ai::gemm::shape_sets())
    sets.push_back(set.name + ": " + set.title), names.push_back(set.name);
  sets.emplace_back("resnet: with --op conv, the convolutions of ResNet-50");
  names.emplace_back("resnet");
  verb->footer("Sets of shapes: " + join(sets, "; ") + ".");
  add_basic(*verb, "--shapes", arguments->sets, "SET,...",
            "Measures the products of this set of shapes: " + join(names, ", ") + ".")
      ->delimiter(',');
  add_advanced(*verb, "--rungs", arguments->rungs, "NAME,...",
               "Measures only these ways to multiply (rungs): names, or patterns with *. --list names all.")
      ->capture_default_str();
  add_basic(*verb, "--precision", arguments->precisions, "NAME,...",
            "Measures only these number formats: " + gemm_precision_names() + ".")
      ->delimiter(',');
  add_advanced(*verb, "--repeats", arguments->repeats, "N", "Measures each rung in this many rounds, once in each.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_advanced(*verb, "--time-per-rung,--budget", arguments->budget, "TIME",
               "How long each rung is measured. A slow rung runs less often, but at least once.")
      ->capture_default_str();
  add_advanced(*verb, "--run-limit,--slow-limit", arguments->slow_limit, "TIME",
               "Skips a rung if one run of it would take longer than this.")
      ->capture_default_str();
  add_advanced(*verb, "--keynote", arguments->keynote,
               "Also sets the GEMM table of a keynote (John, ICPE 2025) beside the measured times.");
  add_basic(*verb, "--svg", arguments->svg, "FILE", "Draws the roofline into this file.");
  add_advanced(*verb, "--no-advice", arguments->no_advice,
               "Prints only the measured rungs, without advice, and tries no further settings.");
  add_basic(*verb, "--list", arguments->list,
            "Lists the ways to multiply and says which can run here. Measures nothing.");
  add_advanced(*verb, "--worker", arguments->worker,
               "Serves one rung on standard input and output. perfcast starts itself so.")
      ->group("");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  add_basic(*verb, "--threads", arguments->threads, "N,...",
            "Measures with these numbers of threads. Default: 1 and all cores.")
      ->delimiter(',');
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_gemm_command(context, *arguments); }; });
}

}  // namespace perfcast::cli
