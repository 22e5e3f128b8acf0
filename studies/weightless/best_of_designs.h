#pragma once
// Which of a few CPU models runs a program fastest, as classes.

#include <string>
#include <vector>

#include "base/result.h"
#include "studies/weightless/tabular_set.h"

namespace perfcast::program::weightless_study {

struct BestOfDesigns {
  TabularSet set;                      // parts: families
  std::vector<std::string> platforms;  // names, by class
};

// Of each core design the CPU model that was measured on most programs (of equal ones the first id); of the designs
// those whose CPU models were measured on most; programs of `groups` measured on all of them. The choice and scale of
// inputs see the profiles of all programs, never a time.
Result<BestOfDesigns> best_of_designs(const std::string& corpus, const std::vector<std::string>& groups,
                                      size_t designs);

}  // namespace perfcast::program::weightless_study
