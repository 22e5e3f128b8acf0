#pragma once
// Native time of the intervals of an instrumented run, without hardware counters: both runs say which code ran when, so
// that one can be laid over the other.
//
// A piece of code takes as long per instruction as all of its samples over all of its instructions: with that each
// interval has a time, were all code as fast everywhere. Where the same code is faster in one phase than in another,
// the order helps: a monotone path (dynamic time warping, Sakoe and Chiba, IEEE TASSP 1978) lays the samples over the
// intervals so that the code agrees, and so do the bytes read and written by then, where the program does so: they are
// the same in both runs.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/collect/native/code_course.h"
#include "profile/collect/qemu/phase_series.h"

namespace perfcast::measure {

struct NativeAlignment {
  std::vector<double> interval_s;  // CPU time of each interval
  std::vector<double> ends;        // of each interval, in samples from the start; never falling
  double same_code_ratio = 0;      // of the samples, those in code that the instrumented run saw
  double agreement = 0;            // of the code of both, along the path: 1 the same, 0 nothing in common
  double io_ratio = 0;    // bytes that the instrumented run read and wrote, over those of the native one; 0: too few
  bool by_order = false;  // false: too few samples or intervals to look at their order
};

// Errors: "no-native-samples" (fewer than 20), "other-code" where most samples are in code that the instrumented run
// never saw: another program ran.
Result<NativeAlignment> align_native(const PhaseSeries& series, const CodeCourse& course);

}  // namespace perfcast::measure
