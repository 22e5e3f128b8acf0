// Models of power on public sets, beside other methods, baselines and floors:
//   perfcast_power_reproduction FOLDER [--sets A,B] [--seeds N] [--threads N] [--figures FOLDER] [--quick]
// FOLDER holds renewit_power/, armpm_xu3/, gpm_gpupower/, gpu_power_benchmark/. Error: |forecast / measured - 1|, its
// mean over the samples of a workload on a machine (at one setting), then over workloads and machines. docs/POWER.md
// has the figures and what they mean.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "studies/power/curve_figure.h"
#include "studies/power/dvfs_forecast.h"
#include "studies/power/left_out_workloads.h"
#include "studies/power/power_sets.h"
#include "studies/power/rival_methods.h"
#include "studies/power/transfer_curves.h"

namespace perfcast::measure::power_study {
namespace {

struct Options {
  std::string folder, figures;
  std::vector<std::string> sets = {"servers", "cortex-a15", "gpus"};
  int seeds = 10, threads = 1;
  bool quick = false;
};

std::string percent(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}%", 100 * value); }

std::string verdict(double error, double goal) {
  return error <= goal ? fmt::format("reached ({} <= {})", percent(error), percent(goal))
                       : fmt::format("short ({} > {})", percent(error), percent(goal));
}

void print_methods(const std::vector<MethodScores>& methods, const std::vector<std::string>& groups) {
  TextTable table;
  table.add_column("method", TextTable::Align::kLeft);
  table.add_column("error", TextTable::Align::kRight);
  table.add_column("of mean power", TextTable::Align::kRight);
  table.add_column("in 90% interval", TextTable::Align::kRight);
  for (const std::string& group : groups) table.add_column(group, TextTable::Align::kRight);
  for (const MethodScores& method : methods) {
    std::vector<std::string> cells = {
        method.method, percent(method.error()), percent(method.mean_error()),
        std::isnan(method.covered()) ? "-" : fmt::format("{:.0f}%", 100 * method.covered())};
    for (size_t g = 0; g < groups.size(); ++g) {
      const double error = method.error_of_group(static_cast<int>(g));
      cells.push_back(std::isnan(error) ? "-" : fmt::format("{:.1f}%", 100 * error));
    }
    table.add_row(cells);
  }
  fmt::print("{}\n", table.to_text());
  std::fflush(stdout);
}

struct NamedMethod {
  std::string name;
  PowerMethod method;
};

std::vector<NamedMethod> our_methods(bool quick) {
  std::vector<NamedMethod> methods;
  const auto single = [&](const char* name, PowerFormKind kind) {
    PowerModelOptions options;
    options.forms = {kind};
    options.blends = false;
    methods.push_back({name, model_method(options)});
  };
  single("non-negative lasso", PowerFormKind::kNonnegative);
  methods.push_back({"Gaussian process on all counters", form_method(PowerFormKind::kKernel, ActivitySet::kCounters)});
  methods.push_back({"boosted trees on all counters", form_method(PowerFormKind::kTrees, ActivitySet::kCounters)});
  methods.push_back({"random forest on all counters", random_forest_method()});
  if (!quick) {
    methods.push_back({"dense network on all counters", dense_network_method(false)});
    methods.push_back({"VAE and dense network on all counters", dense_network_method(true)});
  }
  single("shared line", PowerFormKind::kSharedLine);
  if (!quick) methods.push_back({"perfcast, chosen on inner folds", model_method({})});
  return methods;
}

Result<std::vector<MethodScores>> score_methods(const PowerTable& table, const LeftOutRequest& request,
                                                const std::vector<NamedMethod>& methods) {
  std::vector<MethodScores> scores;
  for (const NamedMethod& method : methods) {
    auto scored = leave_workloads_out(table, request, method.name, method.method);
    if (!scored) return scored.error();
    scores.push_back(std::move(*scored));
  }
  return scores;
}

void print_curves(const std::vector<TransferCurve>& curves, const std::vector<size_t>& counts,
                  const std::vector<std::string>& groups) {
  TextTable table;
  table.add_column("method", TextTable::Align::kLeft);
  for (const size_t count : counts) table.add_column(fmt::format("k={}", count), TextTable::Align::kRight);
  for (const TransferCurve& curve : curves) {
    std::vector<std::string> cells = {curve.method};
    for (const size_t count : counts) {
      const auto found = std::find_if(curve.points.begin(), curve.points.end(),
                                      [count](const CurvePoint& point) { return point.samples == count; });
      cells.push_back(found == curve.points.end() ? "-"
                                                  : fmt::format("{:.1f}% ({:.1f}-{:.1f})", 100 * found->error,
                                                                100 * found->lowest, 100 * found->highest));
    }
    table.add_row(cells);
  }
  fmt::print("{}", table.to_text());
  fmt::print(
      "(in parentheses: the range over seeds; -: needs samples, or over half of the draws leave no workload to "
      "score)\n\n");
  const TransferCurve& ours = curves.back();
  TextTable detail;
  detail.add_column(ours.method, TextTable::Align::kLeft);
  for (const std::string& group : groups) detail.add_column(group, TextTable::Align::kRight);
  detail.add_column("in 90% interval", TextTable::Align::kRight);
  for (const CurvePoint& point : ours.points) {
    std::vector<std::string> cells = {fmt::format("k={}", point.samples)};
    for (const double error : point.of_group)
      cells.push_back(std::isnan(error) ? "-" : fmt::format("{:.1f}%", 100 * error));
    cells.push_back(std::isnan(point.covered) ? "-" : fmt::format("{:.0f}%", 100 * point.covered));
    detail.add_row(cells);
  }
  fmt::print("{}\n", detail.to_text());
}

double error_at(const std::vector<TransferCurve>& curves, const std::string& method, size_t samples) {
  for (const TransferCurve& curve : curves) {
    if (curve.method != method) continue;
    for (const CurvePoint& point : curve.points) {
      if (point.samples == samples) return point.error;
    }
  }
  return std::nan("");
}

Status write_figure(const Options& options, const std::string& name, const std::string& svg) {
  if (options.figures.empty()) return {};
  std::filesystem::create_directories(options.figures);
  return write_file_atomically(options.figures + "/" + name + ".svg", svg);
}

Status reproduce_servers(const Options& options) {
  const auto table = read_renewit(options.folder + "/renewit_power");
  if (!table) return table.error();
  LeftOutRequest request;
  request.scored = [](const std::string& workload) { return !is_micro_benchmark(workload); };
  request.threads = options.threads;
  fmt::print("Servers (renewit_power, {} samples): a CloudSuite workload left out, on all servers at once\n\n",
             table->rows());
  std::vector<NamedMethod> methods = {{"mean power", mean_power()}, {"line in CPU utilisation", utilisation_line()}};
  for (NamedMethod& method : our_methods(options.quick)) methods.push_back(std::move(method));
  auto scores = score_methods(*table, request, methods);
  if (!scores) return scores.error();
  const double ours = scores->back().error();
  scores->push_back(known_workload_floor(*table, request, 60));
  scores->back().method = "floor: every other minute of the workload known";
  print_methods(*scores, table->machines);
  fmt::print("goal, a workload unseen on the same server: error <= 4%: {}\n\n", verdict(ours, 0.04));

  std::vector<size_t> all = all_rows(*table);
  // Scales of the known servers' counters; a new server's capacity comes from its own counters, which cost no watts.
  const PowerSamples samples =
      PowerSamples::of(ActivityFeatures::learn(*table, all, ActivitySet::kLoad).design(*table), all);
  CurveRequest curve;
  curve.seeds = options.seeds;
  curve.threads = options.threads;
  curve.apart = false;
  curve.utilisation = samples.design.rows.col(1);
  for (size_t r = 0; r < table->rows(); ++r) {
    curve.scored.push_back(!is_micro_benchmark(table->workloads[static_cast<size_t>(table->workload[r])]));
  }
  fmt::print(
      "A server left out; k samples of it, drawn over its eight workloads; scored on its other samples, {} seeds\n\n",
      options.seeds);
  const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
  print_curves(curves, curve.counts, samples.design.groups);
  fmt::print("goal, a server unseen, 20 samples: error <= 6%: {}\n\n",
             verdict(error_at(curves, to_text(TransferMethod::kUpdated), 20), 0.06));
  return write_figure(options, "power_servers",
                      curve_figure("Power of a server that was never seen", curves,
                                   {{0.06, "goal at 20"}, {scores->back().error(), "workload known"}}));
}

// One device has no other to learn from; what is new here is the setting: a frequency and number of cores.
Status reproduce_cortex_transfer(const Options& options, const PowerTable& table, const std::string& suite) {
  const std::vector<size_t> all = all_rows(table);
  const PowerSamples samples =
      PowerSamples::of(ActivityFeatures::learn(table, all, ActivitySet::kCounters).design(table), all);
  CurveRequest curve;
  curve.seeds = options.seeds;
  curve.threads = options.threads;
  curve.utilisation = samples.design.rows.col(1);
  fmt::print(
      "A frequency and number of cores left out ({}); k samples of it, scored on the programs that gave none, {} "
      "seeds. All programs ran at the other settings.\n\n",
      suite, options.seeds);
  const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
  print_curves(curves, curve.counts, samples.design.groups);
  return write_figure(options, "power_a15_" + suite,
                      curve_figure("Power of a Cortex-A15 at a frequency that was never seen: " + suite, curves, {}));
}

Status reproduce_cortex(const Options& options) {
  for (const char* suite : {"cBench", "PARSEC"}) {
    const auto table = read_armpm(options.folder + "/armpm_xu3", suite);
    if (!table) return table.error();
    LeftOutRequest request;
    request.scored = [](const std::string&) { return true; };
    request.threads = options.threads;
    fmt::print(
        "Cortex-A15 (armpm_xu3, {}, {} samples): a benchmark left out at all frequencies and numbers of cores\n\n",
        suite, table->rows());
    std::vector<NamedMethod> methods = {{"mean power", mean_power()},
                                        {"line in load", utilisation_line()},
                                        {"least squares on all events, per frequency", events_regression(0)},
                                        {"least squares on 6 searched events, per frequency", events_regression(6)}};
    for (NamedMethod& method : our_methods(options.quick)) methods.push_back(std::move(method));
    auto scores = score_methods(*table, request, methods);
    if (!scores) return scores.error();
    const size_t ours = scores->size() - 1;
    scores->push_back(other_run_floor(*table));
    scores->back().method = "floor: the other run, sample by sample";
    const PowerDesign groups = ActivityFeatures::learn(*table, all_rows(*table), ActivitySet::kLoad).design(*table);
    print_methods(*scores, groups.groups);
    fmt::print("goal, a benchmark unseen: error <= 3%: {}; of mean power: {}\n\n",
               verdict((*scores)[ours].error(), 0.03), percent((*scores)[ours].mean_error()));

    fmt::print("A frequency left out ({}): power, time and energy there; the best frequency of all, by them\n\n",
               suite);
    TextTable dvfs;
    dvfs.add_column("left out", TextTable::Align::kLeft);
    dvfs.add_column("method", TextTable::Align::kLeft);
    for (const char* title :
         {"power", "time", "energy", "best energy right", "regret", "best energy-delay right", "regret of it", "n"}) {
      dvfs.add_column(title, TextTable::Align::kRight);
    }
    for (const DvfsScore& score : dvfs_forecasts(*table)) {
      dvfs.add_row({score.left_out, score.method, percent(score.power_error), percent(score.time_error),
                    percent(score.energy_error), fmt::format("{:.0f}%", 100 * score.energy_right),
                    percent(score.energy_regret), fmt::format("{:.0f}%", 100 * score.delay_right),
                    percent(score.delay_regret), std::to_string(score.workloads)});
    }
    fmt::print("{}\n", dvfs.to_text());
    if (Status done = reproduce_cortex_transfer(options, *table, suite); !done) return done;
  }
  return {};
}

Status reproduce_gpus(const Options& options) {
  for (const bool tuning : {false, true}) {
    const auto set =
        tuning ? read_llm_power(options.folder + "/gpu_power_benchmark") : read_gpm(options.folder + "/gpm_gpupower");
    if (!set) return set.error();
    std::vector<size_t> all(set->design.size());
    for (size_t r = 0; r < all.size(); ++r) all[r] = r;
    const PowerSamples samples = PowerSamples::of(set->design, all);
    CurveRequest curve;
    curve.seeds = options.seeds;
    curve.threads = options.threads;
    curve.utilisation = set->utilisation;
    fmt::print(
        "GPUs ({}, {} rows): a device left out; k rows of it, scored on its other {}, {} seeds; utilisation: {}\n\n",
        tuning ? "gpu_power_benchmark" : "gpm_gpupower", all.size(), tuning ? "configurations" : "micro-benchmarks",
        options.seeds, set->utilisation_name);
    const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
    print_curves(curves, curve.counts, samples.design.groups);
    const double line = error_at(curves, curves.front().method, 10);
    fmt::print("goal, a device unseen, 10 samples: half of the error of the line in utilisation ({} / 2): {}\n\n",
               percent(line), verdict(error_at(curves, to_text(TransferMethod::kUpdated), 10), line / 2));
    if (Status done =
            write_figure(options, tuning ? "power_gpus_tuning" : "power_gpus",
                         curve_figure(tuning ? "Power of a GPU that was never seen: fine-tuning"
                                             : "Power of a GPU that was never seen: micro-benchmarks over frequencies",
                                      curves, {{line / 2, "half of the line's at 10"}}));
        !done) {
      return done;
    }
  }
  return {};
}

int run(const Options& options) {
  for (const std::string& set : options.sets) {
    const Status done = set == "servers"      ? reproduce_servers(options)
                        : set == "cortex-a15" ? reproduce_cortex(options)
                                              : reproduce_gpus(options);
    if (!done) {
      fmt::print(stderr, "{}\n", to_text(done.error()));
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::measure::power_study

int main(int argc, char** argv) {
  try {
    perfcast::measure::power_study::Options options;
    CLI::App app("Models of power on public sets");
    app.add_option("folder", options.folder)->required();
    app.add_option("--sets", options.sets)->delimiter(',')->check(CLI::IsMember({"servers", "cortex-a15", "gpus"}));
    app.add_option("--seeds", options.seeds, "Draws of samples")->check(CLI::Range(1, 1000));
    app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
    app.add_option("--figures", options.figures, "Folder for the transfer curves as SVG");
    app.add_flag("--quick", options.quick, "Without the choice among forms");
    CLI11_PARSE(app, argc, argv);
    return perfcast::measure::power_study::run(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
