#include "fleet/policy/max_min_program.h"

#include <algorithm>
#include <map>

#include "fleet/policy/linear_program.h"

namespace perfcast::fleet {
namespace {

constexpr int kMostFillings =
    40;  // water-filling is exact up to so many levels; the sum spends what is left above them

// Jobs that the program can't tell apart.
struct Kind {
  size_t first = 0;  // one of its jobs
  double count = 0;
  double best = 0;  // its largest gain
  bool settled = false;
  int spare = -1;  // column that frees its rate from the common level, once settled
  int floor_row = -1;
  std::vector<int> columns;  // [groups] -1: can't run
};

class MaxMinProgram {
 public:
  MaxMinProgram(const ShareProblem& problem, const std::vector<double>& gain)
      : problem_(problem), gain_(gain), program_(LinearProgram::Sense::kMaximise) {
    find_kinds();
    least_best_ = kinds_.front().best;
    for (const Kind& kind : kinds_) least_best_ = std::min(least_best_, kind.best);
    build();
  }

  Result<std::vector<double>> solve(LeftOver left_over) {
    auto solved = program_.solve();
    if (!solved) return solved.error();
    int programs = 0;
    // Each program settles at least one more kind, so this ends.
    while (left_over == LeftOver::kWaterFill && programs < kMostFillings && settle_bottlenecks(*solved)) {
      if (!improve(*solved)) break;
      ++programs;
    }
    if (left_over == LeftOver::kSum || programs == kMostFillings) improve_sum(*solved);
    return shares(*solved);
  }

 private:
  using Entries = std::vector<LinearProgram::Entry>;

  void improve_sum(LinearSolution& solution) {
    for (Kind& kind : kinds_) {
      if (!kind.settled) settle(kind, solution.values[level_]);
      for (size_t g = 0; g < problem_.groups; ++g) {
        if (kind.columns[g] >= 0) program_.set_cost(kind.columns[g], kind.count * gain_of(kind, g));
      }
    }
    program_.set_cost(static_cast<int>(level_), 0);
    improve(solution);
  }

  // The floors are of a solution that there is; should rounding have shut it out all the same, it stands.
  bool improve(LinearSolution& solution) {
    auto next = program_.solve();
    if (!next) return false;
    solution = std::move(*next);
    return true;
  }

  // Each kind's rate counts in its own largest gain and the common level in the least of these: all of the program's
  // numbers lie in [0, 1], however far the jobs' times lie apart.
  double gain_of(const Kind& kind, size_t group) const {
    return gain_[kind.first * problem_.groups + group] / kind.best;
  }
  double level_weight(const Kind& kind) const { return least_best_ / kind.best; }

  void find_kinds() {
    std::map<std::vector<double>, size_t> known;
    std::vector<double> key;
    for (size_t m = 0; m < problem_.jobs.size(); ++m) {
      const ShareJob& job = problem_.jobs[m];
      key.assign(gain_.begin() + static_cast<std::ptrdiff_t>(m * problem_.groups),
                 gain_.begin() + static_cast<std::ptrdiff_t>((m + 1) * problem_.groups));
      key.push_back(job.units);
      key.push_back(job.resource == Resource::kGpus ? 1 : 0);
      const auto [at, is_new] = known.emplace(key, kinds_.size());
      if (is_new) {
        kinds_.emplace_back();
        kinds_.back().first = m;
        kinds_.back().best = *std::max_element(key.begin(), key.end() - 2);
      }
      kinds_[at->second].count += 1;
      kind_of_.push_back(at->second);
    }
  }

  void build() {
    const size_t groups = problem_.groups;
    level_ = static_cast<size_t>(program_.add_column(1));
    std::vector<Entries> used(2 * groups);
    Entries share, rate;
    for (Kind& kind : kinds_) {
      const ShareJob& job = problem_.jobs[kind.first];
      share.clear();
      rate.clear();
      kind.columns.assign(groups, -1);
      for (size_t g = 0; g < groups; ++g) {
        if (gain_of(kind, g) <= 0) continue;
        const int x = program_.add_column(0, 0, 1);
        kind.columns[g] = x;
        share.push_back({x, 1});
        rate.push_back({x, gain_of(kind, g)});
        used[(job.resource == Resource::kGpus ? groups : 0) + g].push_back({x, kind.count * job.units});
      }
      program_.add_row(-kNoBound, 1, share);
      kind.floor_row = program_.add_row(-kNoBound, kNoBound, rate);
      kind.spare = program_.add_column(0, 0, 0);
      rate.push_back({static_cast<int>(level_), -level_weight(kind)});
      rate.push_back({kind.spare, 1});
      level_rows_.push_back(static_cast<size_t>(program_.add_row(0, kNoBound, rate)));
    }
    for (size_t g = 0; g < groups; ++g) {
      program_.add_row(-kNoBound, problem_.cores[g], used[g]);
      program_.add_row(-kNoBound, problem_.gpus[g], used[groups + g]);
    }
  }

  // A hair below the level, so that rounding can't make the next program infeasible.
  void settle(Kind& kind, double level) {
    kind.settled = true;
    program_.set_column_bounds(kind.spare, 0, kNoBound);
    program_.set_row_bounds(kind.floor_row, level * level_weight(kind) * (1 - 1e-9), kNoBound);
  }

  // Kinds whose level row has a price can't gain without another's loss; prices times weights add up to 1. False: none
  // is left that could gain.
  bool settle_bottlenecks(const LinearSolution& solved) {
    const double level = solved.values[level_];
    bool open = false, moved = false;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].settled) continue;
      const bool bottleneck = std::abs(solved.duals[level_rows_[k]]) * level_weight(kinds_[k]) > 1e-6;
      if (bottleneck) settle(kinds_[k], level);
      open = open || !bottleneck;
      moved = moved || bottleneck;
    }
    return open && moved;
  }

  std::vector<double> shares(const LinearSolution& solved) const {
    std::vector<double> result(problem_.jobs.size() * problem_.groups, 0.0);
    for (size_t m = 0; m < problem_.jobs.size(); ++m) {
      const Kind& kind = kinds_[kind_of_[m]];
      const size_t row = m * problem_.groups;
      size_t best = 0;
      bool any = false;
      for (size_t g = 0; g < problem_.groups; ++g) {
        if (kind.columns[g] < 0) continue;
        result[row + g] = clean_share(solved.values[static_cast<size_t>(kind.columns[g])]);
        any = any || result[row + g] > 0;
        if (gain_[row + g] > gain_[row + best]) best = g;
      }
      // Jobs a billion times shorter than others need next to nothing to keep the level, but not nothing.
      if (!any) result[row + best] = kLeastShare;
    }
    return result;
  }

  const ShareProblem& problem_;
  const std::vector<double>& gain_;
  LinearProgram program_;
  double least_best_ = 0;
  size_t level_ = 0;
  std::vector<size_t> level_rows_;
  std::vector<Kind> kinds_;
  std::vector<size_t> kind_of_;
};

}  // namespace

double clean_share(double value) {
  if (value < kLeastShare) return 0;
  return value > 1 - kLeastShare ? 1 : value;
}

Result<std::vector<double>> max_min_shares(const ShareProblem& problem, const std::vector<double>& gain,
                                           LeftOver left_over) {
  if (problem.jobs.empty()) return std::vector<double>();
  return MaxMinProgram(problem, gain).solve(left_over);
}

}  // namespace perfcast::fleet
