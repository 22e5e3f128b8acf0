#pragma once
// Counts what an importer leaves out or corrects, by subject and reason.

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

class ExclusionCounter {
 public:
  void add(const std::string& subject, const std::string& reason, int64_t count = 1) {
    for (Exclusion& exclusion : exclusions_) {
      if (exclusion.subject == subject && exclusion.reason == reason) {
        exclusion.count += count;
        return;
      }
    }
    exclusions_.push_back({"", subject, reason, count});
  }

  // By subject, the largest counts first.
  std::vector<Exclusion> take(const std::string& source) {
    for (Exclusion& exclusion : exclusions_) exclusion.source = source;
    std::sort(exclusions_.begin(), exclusions_.end(), [](const Exclusion& a, const Exclusion& b) {
      return std::tie(a.subject, b.count, a.reason) < std::tie(b.subject, a.count, b.reason);
    });
    return std::move(exclusions_);
  }

 private:
  std::vector<Exclusion> exclusions_;
};

}  // namespace perfcast::program
