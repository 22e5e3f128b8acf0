#include "measure/compare/revision_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "measure/compare/bisection.h"
#include "measure/compare/counts.h"
#include "measure/compare/turns.h"

namespace perfcast::measure {
namespace {

class Trees {
 public:
  Trees(const Repository& repository, const RevisionRequest& request) : repository_(repository), request_(request) {}

  Status make(size_t side, const Revision& revision) {
    const std::string name = revision.short_id + " " + printable(revision.subject);
    if (request_.comparison.progress) request_.comparison.progress("building " + name);
    Status done = repository_.check_out(revision, folder(side));
    if (done) done = build_in(folder(side), request_.build, request_.build_limit_s);
    if (done) return done;
    Error error = done.error();
    error.message.insert(0, name + ": ");
    return error;
  }

  // Of the two trees as they are. `threshold_ratio`, `error_ratio`: for this one.
  Result<Comparison> compare(double threshold_ratio, double error_ratio, bool with_counts, bool by_counts) const {
    CompareRequest comparison = request_.comparison;
    for (size_t side = 0; side < 2; ++side) {
      for (std::string& word : comparison.commands[side]) word = with_tree(word, folder(side));
    }
    comparison.threshold_ratio = threshold_ratio;
    comparison.error_ratio = error_ratio;
    if (by_counts) return compare_counts(comparison);
    if (!with_counts) comparison.counted_runs = 0;
    return compare_in_turns(comparison);
  }

 private:
  std::string folder(size_t side) const { return request_.trees + (side == 0 ? "/a" : "/b"); }

  const Repository& repository_;
  const RevisionRequest& request_;
};

bool ends_the_search(const Error& error) {
  return error.kind == ErrorKind::kInterrupted || error.kind == ErrorKind::kEnvironment;
}

class Search {
 public:
  Search(const Repository& repository, const RevisionRequest& request)
      : repository_(repository), request_(request), trees_(repository, request) {}

  Result<RevisionSearch> run() {
    const auto revisions = repository_.between(request_.a, request_.b);
    if (!revisions) return revisions.error();
    const CompareRequest& comparison = request_.comparison;
    const auto comparisons = static_cast<double>(1 + std::bit_width(revisions->size() - 1));
    error_ratio_ = comparison.error_ratio / comparisons;
    for (const auto& [side, revision] : {std::pair{size_t{0}, &request_.a}, {size_t{1}, &request_.b}}) {
      if (Status made = trees_.make(side, *revision); !made) return made.error();
    }
    auto ends = trees_.compare(comparison.threshold_ratio, error_ratio_, true, request_.by_counts);
    if (!ends) return ends.error();
    result_.ends = std::move(*ends);
    if (result_.ends.verdict != CompareVerdict::kSlower || result_.ends.interrupted) return std::move(result_);
    by_counts_ = request_.by_counts || result_.ends.by_counts;
    half_ratio_ = std::sqrt(by_counts_ ? result_.ends.counts.front().ratio : result_.ends.ratio) - 1;
    const auto found = bisect(revisions->size(), [&](size_t i) { return judge((*revisions)[i]); });
    if (!found) return found.error();
    for (size_t i = found->first; i <= found->last; ++i) result_.candidates.push_back((*revisions)[i]);
    return std::move(result_);
  }

 private:
  Result<BisectionVerdict> judge(const Revision& revision) {
    SearchStep step;
    step.revision = revision;
    Status made = trees_.make(1, revision);
    auto compared =
        made ? trees_.compare(half_ratio_, error_ratio_, false, by_counts_) : Result<Comparison>(made.error());
    if (!compared) {
      if (ends_the_search(compared.error())) return compared.error();
      step.is_skipped = true;
      step.why_skipped = compared.error().message;
      result_.steps.push_back(std::move(step));
      return BisectionVerdict::kSkipped;
    }
    if (compared->interrupted) return interrupted_error("interrupted while looking for the first slow revision");
    step.ratio = compared->ratio;
    step.lower = compared->lower;
    step.upper = compared->upper;
    step.is_clear = compared->verdict != CompareVerdict::kUnclear;
    step.is_bad = step.is_clear ? compared->verdict == CompareVerdict::kSlower : step.ratio > 1 + half_ratio_;
    result_.steps.push_back(step);
    return step.is_bad ? BisectionVerdict::kBad : BisectionVerdict::kGood;
  }

  const Repository& repository_;
  const RevisionRequest& request_;
  Trees trees_;
  double error_ratio_ = 0, half_ratio_ = 0;
  bool by_counts_ = false;
  RevisionSearch result_;
};

}  // namespace

Result<Comparison> compare_revisions(const Repository& repository, const RevisionRequest& request) {
  Trees trees(repository, request);
  for (const auto& [side, revision] : {std::pair{size_t{0}, &request.a}, {size_t{1}, &request.b}}) {
    if (Status made = trees.make(side, *revision); !made) return made.error();
  }
  return trees.compare(request.comparison.threshold_ratio, request.comparison.error_ratio, true, request.by_counts);
}

Result<RevisionSearch> find_first_slow(const Repository& repository, const RevisionRequest& request) {
  return Search(repository, request).run();
}

}  // namespace perfcast::measure
