#pragma once
// What came out of an evaluation: scores by model and group, comparisons, the forecasts behind them.

#include <cstdint>
#include <string>
#include <vector>

#include "program/corpus/splits.h"
#include "program/evaluate/order_roc.h"
#include "program/evaluate/paired_comparison.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

struct EvaluationRow {
  std::string model, group;  // group "all": every program
  Scores scores;
  std::string note;
  Scores spread;  // standard deviations over the repetitions; none with one seed
  OrderScores order = {};
};

struct FamilyRow {
  std::string model, family, group;
  Scores scores;
};

struct ProgramRow {
  std::string model, program, family, group;
  int64_t n = 0;
  double mape = 0;
  // The entry with the largest error: relative times.
  std::string worst_platform;
  double worst_measured_ratio = 0, worst_predicted_ratio = 0;
};

struct MeasuredPlatform {
  std::string platform;    // id
  double folds_share = 0;  // of the folds that chose it
};

// One seed's forecasts, entry by entry: what figures are drawn from. Rows and columns are those of the table.
struct SeedForecasts {
  struct Row {
    std::string program, family, group;
  };
  struct Model {
    std::string name;
    ScoreInput entries;  // an entry that was not tested lacks truth or forecast
  };
  std::vector<Row> rows;
  std::vector<std::string> platform_names;  // verbatim
  std::vector<Model> models;                // the mean first
  MajorityVotes votes;                      // by row
};

struct Evaluation {
  Split split = Split::kProgramFamily;
  int64_t folds = 0, seeds = 1, programs = 0, families = 0;
  std::vector<std::string> platforms;      // ids
  std::string reference;                   // id; empty: geometric mean
  std::vector<MeasuredPlatform> measured;  // most often chosen first
  std::vector<EvaluationRow> rows;     // mean, majority, models, noise-floor; groups in order of the table, then `all`
  std::vector<FamilyRow> by_family;    // of the first seed, worst first within a model
  std::vector<ProgramRow> by_program;  // likewise
  std::vector<PairedComparison> comparisons;  // of the rows that forecast times, but the noise floor
  std::vector<std::string> notes;
  SeedForecasts first_seed;
};

// Of its rows, in order of first appearance: "all" is the last.
std::vector<std::string> groups_of(const Evaluation& evaluation);

}  // namespace perfcast::program
