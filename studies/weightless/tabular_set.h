#pragma once
// Rows with answers, in parts that are left out in turn.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::program::weightless_study {

struct TabularSet {
  std::string name;
  size_t inputs = 0;
  std::vector<float> rows;       // row-major
  std::vector<uint32_t> labels;  // of classes; empty: a regression
  std::vector<float> targets;    // of a regression
  std::vector<uint32_t> part;    // of each row
  size_t classes = 0, parts = 0;
  size_t count() const { return inputs == 0 ? 0 : rows.size() / inputs; }
  TabularSet rows_of(const std::vector<size_t>& which) const;  // with their parts, numbered anew
};

// "digits", "breast_cancer", "wine" or "diabetes", from the files of Debian's package python3-sklearn; five parts,
// drawn with `seed`, each class shared out evenly.
Result<TabularSet> read_public_set(const std::string& folder, const std::string& name, uint64_t seed);

// Numbers of each row, less the mean of those of `training`, in units of their deviation: for rivals that need it.
void standardise(TabularSet& training, TabularSet& test);

}  // namespace perfcast::program::weightless_study
