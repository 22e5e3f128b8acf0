// The scores by name, and their mean and spread over repetitions.

#include <functional>

#include "base/statistics.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {
namespace {

constexpr ScoreField kFields[] = {
    {"r2_log", &Scores::r2_log},
    {"r2_log_platform", &Scores::r2_log_platform},
    {"r2", &Scores::r2},
    {"mape", &Scores::mape},
    {"median_error", &Scores::median_error},
    {"mse", &Scores::mse},
    {"mae", &Scores::mae},
    {"mse_log", &Scores::mse_log},
    {"mae_log", &Scores::mae_log},
    {"pair_order", &Scores::pair_order},
    {"kendall_tau", &Scores::kendall_tau},
    {"sos", &Scores::sos},
    {"best_share", &Scores::best_share},
    {"regret", &Scores::regret},
    {"coverage_90", &Scores::coverage_90},
    {"coverage_90_lower", &Scores::coverage_90_lower},
    {"coverage_90_upper", &Scores::coverage_90_upper},
    {"interval_90_factor", &Scores::interval_90_factor},
};

using Summary = std::function<double(std::span<const double>)>;

// Each score's summary over the repetitions that have it; absent below `at_least` of them.
void summarise(const std::vector<Scores>& repetitions, size_t at_least, const Summary& summary, Scores& into) {
  for (const ScoreField& field : kFields) {
    std::vector<double> values;
    for (const Scores& scores : repetitions) {
      if (scores.*field.value) values.push_back(*(scores.*field.value));
    }
    into.*field.value = values.size() < at_least ? std::nullopt : std::optional(summary(values));
  }
}

}  // namespace

std::span<const ScoreField> score_fields() { return kFields; }

Scores average(const std::vector<Scores>& repetitions) {
  Scores result;
  if (repetitions.empty()) return result;
  result = repetitions.front();
  summarise(repetitions, 1, mean, result);
  return result;
}

Scores spread(const std::vector<Scores>& repetitions) {
  Scores result;
  summarise(repetitions, 2, standard_deviation, result);
  return result;
}

}  // namespace perfcast::program
