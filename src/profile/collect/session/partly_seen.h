#pragma once
// Of a program that was counted for its beginning only: does the rest look alike? By the course of a native run, which
// is known whole.

#include <string>
#include <vector>

#include "profile/profile.h"

namespace perfcast {

struct CourseComparison {
  double unlike = 0;  // 0: the rest looks as the beginning does; 1: nothing of it does
  std::string text;   // what was compared, for people
};

// Before and after the first `seen_ratio` of the CPU time: the kernel's share of it, page faults a second of it,
// resident memory, threads running. The quantity that differs most decides: by .2 of the CPU time, ten times the page
// faults (of more than 200 a second), eight times the memory or four times the threads everything is unlike. Where the
// rest looks more like the later half of the beginning, that counts: a program that starts up and then goes on evenly
// is alike.
// A course of less than two intervals on either side tells nothing: unlike is 0.5 then.
CourseComparison compare_course(const std::vector<CourseInterval>& course, double seen_ratio);

}  // namespace perfcast
