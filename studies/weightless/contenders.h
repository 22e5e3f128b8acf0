#pragma once
// Ways to learn a TabularSet, each with a few settings to choose from.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "studies/weightless/tabular_set.h"

namespace perfcast::program::weightless_study {

class FittedContender {
 public:
  virtual ~FittedContender() = default;
  // A class, or a number.
  virtual double answer(std::span<const float> row) const = 0;
  virtual size_t bytes() const = 0;
  virtual size_t saved_bytes() const { return bytes(); }  // as its own library writes it
};

struct ContenderSetting {
  std::string name;
  std::function<Result<std::unique_ptr<FittedContender>>(const TabularSet& training, uint64_t seed)> fit;
};

struct Contender {
  std::string name;
  std::vector<ContenderSetting> settings;
  size_t most_bytes = 0;  // settings that take more are no choice; 0: any
};

std::vector<Contender> weightless_classifiers(const TabularSet& set);
std::vector<Contender> weightless_regressions();
std::vector<Contender> majority_contenders(const TabularSet& set);
// `most_bytes`: those of like size, too. Bytes as an own store would have them: a node of a tree takes 8.
Contender xgboost_contender(const TabularSet& set, size_t most_bytes);
Contender mlp_contender(const TabularSet& set, size_t most_bytes);

}  // namespace perfcast::program::weightless_study
