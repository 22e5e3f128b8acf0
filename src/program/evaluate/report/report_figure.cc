#include "program/evaluate/report/report_figure.h"

#include <algorithm>
#include <cmath>

namespace perfcast::program {

const SeedForecasts::Model* shown_model(const Evaluation& evaluation) {
  const auto& models = evaluation.first_seed.models;
  for (const SeedForecasts::Model& model : models) {
    if (model.name != "mean") return &model;
  }
  return models.empty() ? nullptr : &models.front();
}

std::vector<Entry> entries_of(const ScoreInput& input) {
  std::vector<Entry> entries;
  for (int64_t row = 0; row < input.truth.rows(); ++row) {
    for (int64_t column = 0; column < input.truth.cols(); ++column) {
      if (!std::isfinite(input.truth(row, column)) || !std::isfinite(input.predicted(row, column))) continue;
      Entry entry{row, column, std::exp(input.truth(row, column)), std::exp(input.predicted(row, column)), {}, {}};
      if (input.lower.size() > 0 && input.upper.size() > 0) {
        const double lower = input.lower(row, column), upper = input.upper(row, column);
        if (!std::isnan(lower) && !std::isnan(upper)) {
          entry.lower = std::exp(lower);
          entry.upper = std::exp(upper);
        }
      }
      entries.push_back(entry);
    }
  }
  return entries;
}

double error_of(const Entry& entry) { return std::abs(entry.forecast / entry.measured - 1); }

bool has_intervals(const ScoreInput& input) {
  const std::vector<Entry> entries = entries_of(input);
  return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.lower.has_value(); });
}

bool covers(const Entry& entry) {
  return entry.lower && *entry.lower <= entry.measured && entry.measured <= *entry.upper;
}

std::string reference_text(const Evaluation& evaluation) {
  if (evaluation.reference.empty()) return "the geometric mean of the platforms";
  for (size_t j = 0; j < evaluation.platforms.size(); ++j) {
    if (evaluation.platforms[j] == evaluation.reference) return evaluation.first_seed.platform_names[j];
  }
  return evaluation.reference;
}

std::string label_of(std::string_view platform_name) {
  std::string label(platform_name);
  for (const std::string_view mark : {"(R)", "(TM)", "(r)", "(tm)"}) {
    for (size_t at = label.find(mark); at != std::string::npos; at = label.find(mark)) label.erase(at, mark.size());
  }
  return label;
}

}  // namespace perfcast::program
