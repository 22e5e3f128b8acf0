#pragma once
// One command, built from two revisions and compared; and the first revision between them that made it slower.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/compare/comparison.h"
#include "measure/compare/revisions.h"

namespace perfcast::measure {

struct RevisionRequest {
  Revision a, b;
  std::string build;          // a shell's command, run at the top of each revision's tree
  double build_limit_s = 0;   // 0: none
  std::string trees;          // folder for the trees, "a" and "b": an absolute path
  CompareRequest comparison;  // whose commands have {tree} where the tree's path goes
  bool by_counts = false;     // compare_counts() for compare_in_turns()
};

// Builds both and compares. Errors: those of check_out(), build_in() and the comparison, with the revision before.
Result<Comparison> compare_revisions(const Repository& repository, const RevisionRequest& request);

struct SearchStep {
  Revision revision;
  bool is_skipped = false, is_bad = false;
  std::string why_skipped;
  double ratio = 1, lower = 0, upper = 0;  // its time over that of A, where it isn't skipped
  bool is_clear = false;                   // the interval lies on one side of the half
};

struct RevisionSearch {
  Comparison ends;  // of A and B; without further steps where B isn't slower
  std::vector<SearchStep> steps;
  // The first slow one, or those of which it is one, oldest first. Empty where B isn't slower.
  std::vector<Revision> candidates;
};

// Looks between A and B, by first parents, for the first revision that is nearer to B's time than to A's: beyond the
// square root of their ratio. Each comparison with A has its own share of the errors allowed. What doesn't build or
// run is passed over. Errors: as above, and "not-an-ancestor".
Result<RevisionSearch> find_first_slow(const Repository& repository, const RevisionRequest& request);

}  // namespace perfcast::measure
