#include "measure/tune/run/trial_records.h"

#include <algorithm>

#include "base/statistics.h"

namespace perfcast::measure {

std::optional<double> TrialRecord::value() const {
  if (state != TrialState::kDone || values.empty()) return std::nullopt;
  return median(values);
}

const TrialRecord& TrialRecords::add(size_t candidate, const TrialRun& run) {
  const auto [place, is_new] = place_of_.try_emplace(candidate, records_.size());
  if (is_new) {
    records_.emplace_back();
    records_.back().candidate = candidate;
  }
  TrialRecord& record = records_[place->second];
  ++record.runs;
  if (run.state == TrialState::kDone) {
    record.values.push_back(run.value);
  } else if (record.state == TrialState::kDone) {
    record.state = run.state;
    record.why = run.why;
  }
  return record;
}

const TrialRecord* TrialRecords::find(size_t candidate) const {
  const auto found = place_of_.find(candidate);
  return found == place_of_.end() ? nullptr : &records_[found->second];
}

std::optional<double> TrialRecords::cost(size_t candidate) const {
  const TrialRecord* record = find(candidate);
  const auto value = record == nullptr ? std::nullopt : record->value();
  return value ? std::optional(cost_of(*value, objective_)) : std::nullopt;
}

std::vector<size_t> TrialRecords::best_first() const {
  std::vector<std::pair<double, size_t>> order;
  for (const TrialRecord& record : records_) {
    if (const auto value = record.value()) order.emplace_back(cost_of(*value, objective_), record.candidate);
  }
  std::sort(order.begin(), order.end());
  std::vector<size_t> candidates;
  candidates.reserve(order.size());
  for (const auto& [cost, candidate] : order) candidates.push_back(candidate);
  return candidates;
}

}  // namespace perfcast::measure
