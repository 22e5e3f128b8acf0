#pragma once
// An evaluation as one HTML file for a browser and for print: no network, no script; every figure with its data.

#include <string>

#include "program/evaluate/evaluation.h"

namespace perfcast::program {

struct ReportOptions {
  std::string corpus;   // as a reader knows it
  std::string program;  // id of the program whose forecast is shown; empty: the one of median error
};

// Deterministic. All text of the evaluation is escaped. docs/evaluate.md says how to read the figures.
std::string html_report(const Evaluation& evaluation, const ReportOptions& options);

}  // namespace perfcast::program
