#pragma once
// The figures of a report and what several of them read from an evaluation.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/figure/page.h"
#include "program/evaluate/evaluation.h"

namespace perfcast::program {

// The model that single-model figures show: the first that was asked for, else the mean RPV. Null: no forecast at all.
const SeedForecasts::Model* shown_model(const Evaluation& evaluation);

// Rows of (measured, forecast) where both are there; relative times, not logs.
struct Entry {
  int64_t row = 0, column = 0;
  double measured = 0, forecast = 0;
  std::optional<double> lower, upper;  // 90% interval; may be infinite
};
std::vector<Entry> entries_of(const ScoreInput& input);

double error_of(const Entry& entry);            // |forecast / measured - 1|
bool has_intervals(const ScoreInput& input);    // of any entry
bool covers(const Entry& entry);                // measured inside [lower, upper]; false without
std::string reference_text(const Evaluation&);  // "the geometric mean of the platforms" or a platform's name
// "Intel(R) Xeon(R) Gold" -> "Intel Xeon Gold": for labels; CSV files have ids.
std::string label_of(std::string_view platform_name);

// Figures, in the order of a report. Those of one model show shown_model().
Figure distribution_figure(const Evaluation& evaluation);
// `program`: id of the program to show; empty: the one of median error.
Figure program_figure(const Evaluation& evaluation, const std::string& program);
Figure order_share_figure(const Evaluation& evaluation);
Figure roc_figure(const Evaluation& evaluation);
Figure calibration_figure(const Evaluation& evaluation);
Figure family_error_figure(const Evaluation& evaluation);

}  // namespace perfcast::program
