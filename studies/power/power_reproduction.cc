// Models of power on public sets, beside other methods, baselines and floors:
//   perfcast_power_reproduction FOLDER [--sets A,B] [--seeds N] [--threads N] [--figures FOLDER] [--quick] [--json]
// FOLDER holds renewit_power/, armpm_xu3/, gpm_gpupower/, gpu_power_benchmark/. Error: |forecast / measured - 1|, its
// mean over the samples of a workload on a machine (at one setting), then over workloads and machines. docs/power.md
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
#include "base/unknown.h"
#include "studies/output.h"
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
  bool quick = false, json = false;
};

void write_methods(const std::string& name, const std::string& caption, const std::vector<MethodScores>& methods,
                   const std::vector<std::string>& groups, StudyOutput& output) {
  using Row = MethodScores;
  std::vector<ColumnOf<Row>> columns = {
      {"method", "method", Quantity::kText, [](const Row& row) { return row.method; }},
      {"error", "error", Quantity::kShare, [](const Row& row) { return row.error(); }},
      {"mean_power_error", "of mean power", Quantity::kShare, [](const Row& row) { return row.mean_error(); }},
      {"coverage_90", "in 90% interval", Quantity::kShare, [](const Row& row) { return row.covered(); }, 0}};
  for (size_t g = 0; g < groups.size(); ++g) {
    columns.push_back({"error_on." + groups[g], groups[g], Quantity::kShare,
                       [g](const Row& row) { return row.error_of_group(static_cast<int>(g)); }, 1});
  }
  output.add(name, table_of<Row>(caption, methods, columns));
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

struct CurveRow {
  std::string method;
  CurvePoint point;
};

void write_curves(const std::string& name, const std::string& caption, const std::vector<TransferCurve>& curves,
                  const std::vector<std::string>& groups, StudyOutput& output) {
  std::vector<CurveRow> rows;
  for (const TransferCurve& curve : curves) {
    for (const CurvePoint& point : curve.points) rows.push_back({curve.method, point});
  }
  using Row = CurveRow;
  std::vector<ColumnOf<Row>> columns = {
      {"method", "method", Quantity::kText, [](const Row& row) { return row.method; }},
      {"k", "k", Quantity::kCount, [](const Row& row) { return row.point.samples; }},
      {"error", "error", Quantity::kShare, [](const Row& row) { return row.point.error; }, 1},
      {"error_range", "over seeds", Quantity::kShare,
       [](const Row& row) {
         return ValueRange{row.point.lowest, row.point.highest};
       },
       1},
      {"coverage_90", "in 90% interval", Quantity::kShare, [](const Row& row) { return row.point.covered; }, 0}};
  for (size_t g = 0; g < groups.size(); ++g) {
    columns.push_back({"error_on." + groups[g], groups[g], Quantity::kShare,
                       [g](const Row& row) { return g < row.point.of_group.size() ? row.point.of_group[g] : kUnknown; },
                       1});
  }
  output.add(name,
             table_of<Row>(caption + "\n(a method that needs samples has none at k=0; where over half of the draws "
                                     "leave no workload to score there is no row)",
                           rows, columns));
}

double error_at(const std::vector<TransferCurve>& curves, const std::string& method, size_t samples) {
  for (const TransferCurve& curve : curves) {
    if (curve.method != method) continue;
    for (const CurvePoint& point : curve.points) {
      if (point.samples == samples) return point.error;
    }
  }
  return kUnknown;
}

Status write_figure(const Options& options, const std::string& name, const std::string& svg) {
  if (options.figures.empty()) return {};
  std::filesystem::create_directories(options.figures);
  return write_file_atomically(options.figures + "/" + name + ".svg", svg);
}

Status reproduce_servers(const Options& options, StudyOutput& output) {
  const auto table = read_renewit(options.folder + "/renewit_power");
  if (!table) return table.error();
  LeftOutRequest request;
  request.scored = [](const std::string& workload) { return !is_micro_benchmark(workload); };
  request.threads = options.threads;
  std::vector<NamedMethod> methods = {{"mean power", mean_power()}, {"line in CPU utilisation", utilisation_line()}};
  for (NamedMethod& method : our_methods(options.quick)) methods.push_back(std::move(method));
  auto scores = score_methods(*table, request, methods);
  if (!scores) return scores.error();
  scores->push_back(known_workload_floor(*table, request, 60));
  scores->back().method = "floor: every other minute of the workload known";
  write_methods(
      "servers",
      fmt::format("Servers (renewit_power, {} samples): a CloudSuite workload left out, on all servers at once",
                  table->rows()),
      *scores, table->machines, output);

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
  const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
  write_curves("new_server",
               fmt::format("A server left out; k samples of it, drawn over its eight workloads; scored on its other "
                           "samples, {} seeds",
                           options.seeds),
               curves, samples.design.groups, output);
  return write_figure(options, "power_servers",
                      curve_figure("Power of a server that was never seen", curves,
                                   {{0.06, "goal at 20"}, {scores->back().error(), "workload known"}}));
}

// One device has no other to learn from; what is new here is the setting: a frequency and number of cores.
Status reproduce_cortex_transfer(const Options& options, const PowerTable& table, const std::string& suite,
                                 StudyOutput& output) {
  const std::vector<size_t> all = all_rows(table);
  const PowerSamples samples =
      PowerSamples::of(ActivityFeatures::learn(table, all, ActivitySet::kCounters).design(table), all);
  CurveRequest curve;
  curve.seeds = options.seeds;
  curve.threads = options.threads;
  curve.utilisation = samples.design.rows.col(1);
  const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
  write_curves(
      "new_setting_" + suite,
      fmt::format("A frequency and number of cores left out ({}); k samples of it, scored on the programs that "
                  "gave none, {} seeds. All programs ran at the other settings.",
                  suite, options.seeds),
      curves, samples.design.groups, output);
  return write_figure(options, "power_a15_" + suite,
                      curve_figure("Power of a Cortex-A15 at a frequency that was never seen: " + suite, curves, {}));
}

ReportTable frequencies_table(const std::string& suite, const std::vector<DvfsScore>& scores) {
  using Row = DvfsScore;
  const auto share = [](const char* name, const char* title, double Row::*member, int digits = 2) {
    return ColumnOf<Row>{name, title, Quantity::kShare, [=](const Row& row) { return row.*member; }, digits};
  };
  return table_of<Row>(
      fmt::format("A frequency left out ({}): power, time and energy there; the best frequency of all, by them", suite),
      scores,
      {{"left_out", "left out", Quantity::kText, [](const Row& row) { return row.left_out; }},
       {"method", "method", Quantity::kText, [](const Row& row) { return row.method; }},
       share("power_error", "power", &Row::power_error),
       share("time_error", "time", &Row::time_error),
       share("energy_error", "energy", &Row::energy_error),
       share("energy_right", "best energy right", &Row::energy_right, 0),
       share("energy_regret", "regret", &Row::energy_regret),
       share("delay_right", "best energy-delay right", &Row::delay_right, 0),
       share("delay_regret", "regret of it", &Row::delay_regret),
       {"n", "n", Quantity::kCount, [](const Row& row) { return row.workloads; }}});
}

Status reproduce_cortex(const Options& options, StudyOutput& output) {
  for (const char* suite : {"cBench", "PARSEC"}) {
    const auto table = read_armpm(options.folder + "/armpm_xu3", suite);
    if (!table) return table.error();
    LeftOutRequest request;
    request.scored = [](const std::string&) { return true; };
    request.threads = options.threads;
    std::vector<NamedMethod> methods = {{"mean power", mean_power()},
                                        {"line in load", utilisation_line()},
                                        {"least squares on all events, per frequency", events_regression(0)},
                                        {"least squares on 6 searched events, per frequency", events_regression(6)}};
    for (NamedMethod& method : our_methods(options.quick)) methods.push_back(std::move(method));
    auto scores = score_methods(*table, request, methods);
    if (!scores) return scores.error();
    scores->push_back(other_run_floor(*table));
    scores->back().method = "floor: the other run, sample by sample";
    const PowerDesign groups = ActivityFeatures::learn(*table, all_rows(*table), ActivitySet::kLoad).design(*table);
    write_methods(fmt::format("cortex_a15_{}", suite),
                  fmt::format("Cortex-A15 (armpm_xu3, {}, {} samples): a benchmark left out at all frequencies and "
                              "numbers of cores",
                              suite, table->rows()),
                  *scores, groups.groups, output);
    output.add(fmt::format("frequency_{}", suite), frequencies_table(suite, dvfs_forecasts(*table)));
    if (Status done = reproduce_cortex_transfer(options, *table, suite, output); !done) return done;
  }
  return {};
}

Status reproduce_gpus(const Options& options, StudyOutput& output) {
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
    const std::vector<TransferCurve> curves = transfer_curves(samples, curve);
    write_curves(tuning ? "new_gpu_tuning" : "new_gpu",
                 fmt::format("GPUs ({}, {} rows): a device left out; k rows of it, scored on its other {}, {} seeds; "
                             "utilisation: {}",
                             tuning ? "gpu_power_benchmark" : "gpm_gpupower", all.size(),
                             tuning ? "configurations" : "micro-benchmarks", options.seeds, set->utilisation_name),
                 curves, samples.design.groups, output);
    const double line = error_at(curves, curves.front().method, 10);
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
  StudyOutput output("power", options.json);
  for (const std::string& set : options.sets) {
    const Status done = set == "servers"      ? reproduce_servers(options, output)
                        : set == "cortex-a15" ? reproduce_cortex(options, output)
                                              : reproduce_gpus(options, output);
    if (!done) {
      fmt::print(stderr, "{}\n", to_text(done.error()));
      return 1;
    }
  }
  output.finish();
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
    app.add_flag("--json", options.json, "For programs");
    app.add_flag("--quick", options.quick, "Without the choice among forms");
    CLI11_PARSE(app, argc, argv);
    return perfcast::measure::power_study::run(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
