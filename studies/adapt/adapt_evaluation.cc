// How well a new platform's times are forecast from a few runs there:
//   perfcast_adapt_evaluation CORPUS --groups A,B [--counts 0,1,2,5,10,20,40] [--seeds N] [--own-group]
//   [--design D | --each-platform N] [--networks N] [--suite FILE] [--also CORPUS2 --also-groups C]
//   [--figure F.html] [--threads N] [--json]
//   [--predict [--model M] [--designs N] [--family-folds N] [--minimum-programs N]]
// CORPUS: a file that `perfcast import` made. Each core design, or GPU generation, or D alone, is left out with all its
// platforms; or each N-th platform alone, so that others of its design stay.
// --networks: fine-tuned and meta-learnt ones too, of so many seeds, which the draws take in turns.
// --also: a second set, in the same figure. --suite: how much work a run of each program does there, so that running
// times are told. --predict: instead, what `perfcast predict` says of other programs with the adapted bundle, N designs
// left out. docs/adapt.md explains.
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
#include "studies/output.h"

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
  bool predicts = false, counts_given = false, json = false;
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

struct GroupFloor {
  std::string group;
  double error = 0;
  size_t entries = 0;
};

// What no forecast can be better than: half of a platform's servers against the other half.
std::vector<GroupFloor> noise_floor(const TrainingTable& table) {
  std::map<std::string, std::vector<double>> apart;
  for (size_t p = 0; p < table.programs.size(); ++p) {
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const auto& time = table.at(p, j);
      if (!time || std::isnan(time->half_a) || std::isnan(time->half_b)) continue;
      apart[table.programs[p].group].push_back(std::abs(std::exp(time->half_a - time->half_b) - 1));
    }
  }
  std::vector<GroupFloor> floors;
  for (auto& [group, errors] : apart) floors.push_back({group, median(errors), errors.size()});
  return floors;
}

std::string group_name(const std::string& group) { return group.empty() ? "all" : group; }

void write(const TransferCurve& curve, const std::vector<GroupFloor>& floors, bool own_group, const std::string& name,
           StudyOutput& output) {
  using Row = CurvePoint;
  output.add(name,
             table_of<Row>(
                 fmt::format("{} platforms of {} designs, each design left out in turn; {} programs; measured programs "
                             "drawn among {}",
                             curve.platforms, curve.designs, curve.programs, own_group ? "those of the group" : "all"),
                 curve.points,
                 {{"method", "method", Quantity::kText, [](const Row& row) { return row.method; }},
                  {"group", "group", Quantity::kText, [](const Row& row) { return group_name(row.group); }},
                  {"k", "k", Quantity::kCount, [](const Row& row) { return row.count; }},
                  {"median_error", "median", Quantity::kNumber, [](const Row& row) { return row.median_error; }, 4},
                  {"spread", "spread", Quantity::kNumber, [](const Row& row) { return row.spread; }, 4},
                  {"mean_error", "mean", Quantity::kNumber, [](const Row& row) { return row.mean_error; }, 4},
                  {"r2_log", "R2 log", Quantity::kNumber, [](const Row& row) { return row.r2_log; }, 4},
                  {"least_r2_log", "least R2", Quantity::kNumber, [](const Row& row) { return row.least_r2_log; }, 4},
                  {"coverage_90", "cover", Quantity::kNumber, [](const Row& row) { return row.coverage_90; }},
                  {"run_time_s", "run time s", Quantity::kNumber, [](const Row& row) { return row.seconds; }, 1},
                  {"entries", "entries", Quantity::kCount, [](const Row& row) { return row.entries; }}}));
  output.add(name + "_floor",
             table_of<GroupFloor>(
                 "noise floor, half of a platform's servers against the other half", floors,
                 {{"group", "group", Quantity::kText, [](const GroupFloor& row) { return row.group; }},
                  {"median_error", "median", Quantity::kNumber, [](const GroupFloor& row) { return row.error; }, 4},
                  {"entries", "entries", Quantity::kCount, [](const GroupFloor& row) { return row.entries; }}}));
  for (const std::string& choice : curve.network_choices) output.note("networks without " + choice);
}

Result<TransferCurve> evaluate(const CurveSet& set, CurveOptions options, const std::string& name,
                               StudyOutput& output) {
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
  write(*curve, noise_floor(*table), options.own_group, name, output);
  return curve;
}

Status evaluate_predict(const Arguments& arguments, StudyOutput& output) {
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
  using Row = PredictPoint;
  const auto number = [](const char* name, const char* title, double Row::*member, int digits) {
    return ColumnOf<Row>{name, title, Quantity::kNumber, [=](const Row& row) { return row.*member; }, digits};
  };
  output.add("predict",
             table_of<Row>(
                 fmt::format("predict with an adapted bundle, seed {}: {} on {} programs; left out: {} of {} folds of "
                             "families, and the designs {}, of each up to {} platforms",
                             options.seed, options.model, table->programs.size(), options.folds_run, options.folds,
                             join(found->designs, ", "), options.platforms),
                 found->points,
                 {{"group", "group", Quantity::kText, [](const Row& row) { return group_name(row.group); }},
                  {"k", "k", Quantity::kCount, [](const Row& row) { return row.count; }},
                  number("median_error", "median", &Row::median_error, 4),
                  number("coverage_90", "cover", &Row::coverage_90, 3),
                  number("coverage_agreed", "agreed", &Row::coverage_agreed, 3),
                  number("coverage_disagreed", "disagreed", &Row::coverage_disagreed, 3),
                  number("half_width_log", "half width", &Row::half_width, 3),
                  {"entries", "entries", Quantity::kCount, [](const Row& row) { return row.entries; }},
                  number("known_median_error", "known platforms: median", &Row::known_error, 4),
                  number("known_coverage_90", "cover", &Row::known_coverage_90, 3),
                  number("known_half_width_log", "half width", &Row::known_half_width, 3)}));
  return {};
}

Status evaluate(const Arguments& arguments) {
  StudyOutput output("adapt", arguments.json);
  if (arguments.predicts) {
    const Status done = evaluate_predict(arguments, output);
    if (done) output.finish();
    return done;
  }
  std::vector<TransferCurve> curves;
  for (const CurveSet* set : {&arguments.first, &arguments.also}) {
    if (set->corpus.empty()) continue;
    auto curve = evaluate(*set, arguments.curve, set == &arguments.also ? "also" : "curve", output);
    if (!curve) return curve.error();
    curves.push_back(std::move(*curve));
  }
  output.finish();
  return arguments.figure.empty() ? Status() : write_file_atomically(arguments.figure, transfer_page(curves));
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("How well a new platform's times are forecast from a few runs there");
  app.add_option("corpus", arguments.first.corpus)->required();
  app.add_option("--groups", arguments.first.groups)->delimiter(',');
  const CLI::Option* const counts = app.add_option("--counts", arguments.curve.counts)->delimiter(',');
  app.add_flag("--json", arguments.json);
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
