#pragma once
// What is known of each setting that was tried.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure/tune/run/trial_runner.h"
#include "measure/tune/run/tuning.h"

namespace perfcast::measure {

struct TrialRecord {
  size_t candidate = 0;
  std::vector<double> values;  // of the objective, one for each run that was done
  size_t runs = 0;
  TrialState state = TrialState::kDone;  // of the first run that wasn't done, whose setting can't be relied on
  std::string why;

  std::optional<double> value() const;  // the median; nullopt where a run wasn't done
};

class TrialRecords {
 public:
  explicit TrialRecords(const Objective& objective) : objective_(objective) {}

  const TrialRecord& add(size_t candidate, const TrialRun& run);
  const TrialRecord* find(size_t candidate) const;
  const std::vector<TrialRecord>& all() const { return records_; }
  size_t size() const { return records_.size(); }
  std::optional<double> cost(size_t candidate) const;
  // Candidates by cost, those that are not usable left out.
  std::vector<size_t> best_first() const;

 private:
  Objective objective_;
  std::vector<TrialRecord> records_;
  std::unordered_map<size_t, size_t> place_of_;
};

}  // namespace perfcast::measure
