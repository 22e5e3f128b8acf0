// How well a new platform's times are forecast from a few runs there:
//   perfcast_adapt_evaluation CORPUS --groups A,B [--counts 0,1,2,5,10,20,40] [--seeds N] [--own-group]
//   [--design D | --each-platform N] [--networks N] [--suite FILE] [--also CORPUS2 --also-groups C]
//   [--figure F.html] [--threads N]
//   [--predict [--model M] [--designs N] [--family-folds N] [--minimum-programs N]]
// CORPUS: a file that `perfcast import` made. Each core design, or GPU generation, or D alone, is left out with all its
// platforms; or each N-th platform alone, so that others of its design stay.
// --networks: fine-tuned and meta-learnt ones too, of so many seeds, which the draws take in turns.
// --also: a second set, in the same figure. --suite: how much work a run of each program does there, so that running
// times are told. --predict: instead, what `perfcast predict` says of other programs with the adapted bundle, N designs
// left out. docs/ADAPT.md explains.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "profile/suite/suite.h"
#include "program/corpus/store/store.h"
#include "studies/adapt/predict_coverage.h"
#include "studies/adapt/transfer_curve.h"
#include "studies/adapt/transfer_figure.h"

namespace perfcast::program::adapt_study {
namespace {

struct CurveSet {
  std::string corpus, suite;
  std::vector<std::string> groups;
  double coverage = 0.5;
};

struct Arguments {
  CurveSet first, also;
  std::string figure;
  CurveOptions curve;
  bool predicts = false, counts_given = false;
  PredictCoverageOptions predict;
  int64_t minimum_programs = 0;  // with --predict, of a platform, instead of the coverage
};

// NaN where the suite doesn't run the program.
Eigen::VectorXd run_units(const Suite& suite, const std::vector<Program>& programs) {
  Eigen::VectorXd units(static_cast<Eigen::Index>(programs.size()));
  for (Eigen::Index p = 0; p < units.size(); ++p) {
    const SuiteProgram* entry = suite.find(programs[static_cast<size_t>(p)].id);
    units(p) = entry == nullptr ? kUnknown : native_work_units(entry->run);
  }
  return units;
}

// Each program's profiles, where they were taken on the platforms themselves.
std::vector<std::vector<const Profile*>> profiles_on_platforms(const Corpus& corpus, const TrainingTable& table) {
  std::map<std::string, std::vector<const Profile*>> by_program;
  for (const StoredProfile& stored : corpus.profiles) by_program[stored.program].push_back(&stored.profile);
  std::vector<std::vector<const Profile*>> profiles;
  profiles.reserve(table.programs.size());
  for (const Program& program : table.programs) profiles.push_back(by_program[program.id]);
  return profiles;
}

std::string number(double value, int digits) { return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits); }

// What no forecast can be better than: half of a platform's servers against the other half.
void print_noise_floor(const TrainingTable& table) {
  std::map<std::string, std::vector<double>> apart;
  for (size_t p = 0; p < table.programs.size(); ++p) {
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const auto& time = table.at(p, j);
      if (!time || std::isnan(time->half_a) || std::isnan(time->half_b)) continue;
      apart[table.programs[p].group].push_back(std::abs(std::exp(time->half_a - time->half_b) - 1));
    }
  }
  for (auto& [group, errors] : apart) {
    const double typical = median(errors);
    fmt::print("noise floor, half of a platform's servers against the other half: {} {:.4f} ({} entries)\n", group,
               typical, errors.size());
  }
}

void print(const TransferCurve& curve, bool own_group) {
  fmt::print(
      "{} platforms of {} designs, each design left out in turn; {} programs; measured programs drawn among {}\n",
      curve.platforms, curve.designs, curve.programs, own_group ? "those of the group" : "all");
  fmt::print("{:<20} {:<12} {:>4} {:>8} {:>8} {:>8} {:>8} {:>9} {:>6} {:>10} {:>8}\n", "method", "group", "k", "median",
             "spread", "mean", "R2 log", "least R2", "cover", "run time s", "entries");
  for (const CurvePoint& point : curve.points) {
    fmt::print("{:<20} {:<12} {:>4} {:>8.4f} {:>8} {:>8.4f} {:>8.4f} {:>9.4f} {:>6} {:>10} {:>8}\n", point.method,
               point.group.empty() ? "all" : point.group, point.count, point.median_error, number(point.spread, 4),
               point.mean_error, point.r2_log, point.least_r2_log, number(point.coverage_90, 2),
               number(point.seconds, 1), point.entries);
  }
  for (const std::string& choice : curve.network_choices) fmt::print("networks without {}\n", choice);
}

// Each method's errors in a row: what a person compares.
void print_rows(const TransferCurve& curve, const std::vector<size_t>& counts) {
  std::map<std::pair<std::string, std::string>, std::map<size_t, const CurvePoint*>> rows;
  for (const CurvePoint& point : curve.points) rows[{point.group, point.method}][point.count] = &point;
  fmt::print("median error, +- standard deviation over draws and seeds; programs run there:\n{:<12} {:<24}", "group",
             "method");
  for (const size_t count : counts) fmt::print(" {:>13}", count);
  fmt::print("\n");
  for (const auto& [key, points] : rows) {
    fmt::print("{:<12} {:<24}", key.first.empty() ? "all" : key.first, key.second);
    for (const size_t count : counts) {
      const auto found = points.find(count);
      std::string cell = "-";
      if (found != points.end()) {
        cell = number(found->second->median_error, 4);
        if (!std::isnan(found->second->spread)) cell += "+-" + number(found->second->spread, 4);
      }
      fmt::print(" {:>13}", cell);
    }
    fmt::print("\n");
  }
}

Result<TransferCurve> evaluate(const CurveSet& set, CurveOptions options) {
  auto store = CorpusStore::open_read_only(set.corpus);
  if (!store) return store.error();
  const auto corpus = (*store)->load();
  if (!corpus) return corpus.error();
  TableOptions table_options;
  table_options.groups = set.groups;
  table_options.include_unprofiled = true;
  table_options.minimum_coverage = set.coverage;
  const auto table = make_training_table(*corpus, table_options);
  if (!table) return table.error();
  if (!set.suite.empty()) {
    const auto suite = read_suite(set.suite);
    if (!suite) return suite.error();
    options.run_units = run_units(*suite, table->programs);
  } else if (!table->platforms.empty() && table->platforms.front().kind == "gpu") {
    options.run_units = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(table->programs.size()));
  }
  if (!table->platforms.empty() && table->platforms.front().kind == "gpu") {
    options.profiles = profiles_on_platforms(*corpus, *table);
  }
  auto curve = transfer_curve(*table, options);
  if (!curve) return curve.error();
  print(*curve, options.own_group);
  print_rows(*curve, options.counts);
  print_noise_floor(*table);
  return curve;
}

Status evaluate_predict(const Arguments& arguments) {
  auto store = CorpusStore::open_read_only(arguments.first.corpus);
  if (!store) return store.error();
  const auto corpus = (*store)->load();
  if (!corpus) return corpus.error();
  TableOptions table_options;
  table_options.groups = arguments.first.groups;
  table_options.minimum_coverage = arguments.first.coverage;
  table_options.minimum_programs = arguments.minimum_programs;
  const auto table = make_training_table(*corpus, table_options);
  if (!table) return table.error();
  PredictCoverageOptions options = arguments.predict;
  options.threads = arguments.curve.threads;
  options.only_design = arguments.curve.only_design;
  options.transfer = arguments.curve.transfer;
  if (arguments.counts_given) options.counts = arguments.curve.counts;
  const auto found = predict_coverage(*table, options);
  if (!found) return found.error();
  fmt::print(
      "predict with an adapted bundle, seed {}: {} on {} programs; left out: {} of {} folds of families, and the "
      "designs {}, of each up to {} platforms\n",
      options.seed, options.model, table->programs.size(), options.folds_run, options.folds, join(found->designs, ", "),
      options.platforms);
  fmt::print("{:<12} {:>4} {:>8} {:>6} {:>7} {:>9} {:>10} {:>8}   known platforms: {:>8} {:>6} {:>10}\n", "group", "k",
             "median", "cover", "agreed", "disagreed", "half width", "entries", "median", "cover", "half width");
  for (const PredictPoint& point : found->points) {
    fmt::print("{:<12} {:>4} {:>8.4f} {:>6.3f} {:>7.3f} {:>9.3f} {:>10.3f} {:>8}   {:>25.4f} {:>6.3f} {:>10.3f}\n",
               point.group.empty() ? "all" : point.group, point.count, point.median_error, point.coverage_90,
               point.coverage_agreed, point.coverage_disagreed, point.half_width, point.entries, point.known_error,
               point.known_coverage_90, point.known_half_width);
  }
  return {};
}

Status evaluate(const Arguments& arguments) {
  if (arguments.predicts) return evaluate_predict(arguments);
  std::vector<TransferCurve> curves;
  for (const CurveSet* set : {&arguments.first, &arguments.also}) {
    if (set->corpus.empty()) continue;
    auto curve = evaluate(*set, arguments.curve);
    if (!curve) return curve.error();
    curves.push_back(std::move(*curve));
  }
  return arguments.figure.empty() ? Status() : write_file_atomically(arguments.figure, transfer_page(curves));
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("How well a new platform's times are forecast from a few runs there");
  app.add_option("corpus", arguments.first.corpus)->required();
  app.add_option("--groups", arguments.first.groups)->delimiter(',');
  const CLI::Option* const counts = app.add_option("--counts", arguments.curve.counts)->delimiter(',');
  app.add_option("--seeds", arguments.curve.seeds);
  app.add_option("--threads", arguments.curve.threads);
  app.add_option("--suite", arguments.first.suite);
  app.add_option("--figure", arguments.figure);
  app.add_option("--networks", arguments.curve.networks);
  app.add_option("--rounds", arguments.curve.transfer.rounds);
  app.add_option("--draws", arguments.curve.transfer.draws);
  app.add_option("--minimum-coverage", arguments.first.coverage);
  app.add_option("--minimum-programs", arguments.minimum_programs);
  app.add_option("--design", arguments.curve.only_design);
  app.add_option("--also", arguments.also.corpus);
  app.add_option("--also-groups", arguments.also.groups)->delimiter(',');
  app.add_option("--also-minimum-coverage", arguments.also.coverage);
  app.add_flag("--own-group", arguments.curve.own_group);
  app.add_option("--each-platform", arguments.curve.each_platform);
  app.add_flag("--predict", arguments.predicts);
  app.add_option("--model", arguments.predict.model);
  app.add_option("--designs", arguments.predict.designs);
  app.add_option("--family-folds", arguments.predict.folds_run);
  app.add_option("--seed", arguments.predict.seed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  arguments.counts_given = counts->count() > 0;
  const Status status = evaluate(arguments);
  if (status) return 0;
  fmt::print(stderr, "{}\n", to_text(status.error()));
  return 1;
}

}  // namespace
}  // namespace perfcast::program::adapt_study

int main(int argc, char** argv) {
  try {
    return perfcast::program::adapt_study::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
