#pragma once
// Which functions a phase's CPU time went to: samples of the native runs, laid over the phases by native_alignment.h,
// and the symbols of the files that they were in.

#include <cstddef>
#include <vector>

#include "measure/phases/native_alignment.h"
#include "profile/collect/native/code_course.h"
#include "profile/profile.h"

namespace perfcast::measure {

// `cluster` has the kind of each interval, below `kinds`. Each kind's functions, the longest first, those below 2% of
// its samples left out, at most eight; none where it has fewer than 20 samples. Samples in code of no file count in no
// function.
class PhaseFunctions {
 public:
  PhaseFunctions(const std::vector<size_t>& cluster, size_t kinds) : cluster_(cluster), tallies_(kinds) {}
  // Of one run.
  void add(const CodeCourse& course, const NativeAlignment& aligned);
  std::vector<std::vector<TimedFunction>> finish() const;

 private:
  struct Tally {
    std::vector<std::pair<CodePosition, size_t>> samples;
    size_t all = 0;
  };
  const std::vector<size_t>& cluster_;
  std::vector<Tally> tallies_;
};

}  // namespace perfcast::measure
