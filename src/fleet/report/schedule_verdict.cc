#include "fleet/report/schedule_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/significant.h"
#include "base/text.h"
#include "fleet/policy/policy.h"
#include "fleet/report/schedule_report.h"

namespace perfcast::fleet {
namespace {

constexpr double kSame = 0.005;  // ratios this near to 1 are no difference
constexpr double kBeatsOracle = 1e-3;
constexpr double kClose = 0.05;      // mean completions this near to the best one: the longest waits decide
constexpr double kLongerTail = 1.2;  // waits of the unluckiest this much longer are no tie

const PolicyInfo* info_of(const PolicyRow& row) {
  const auto& all = policies();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const PolicyInfo& one) { return row.policy == one.name; });
  return found == all.end() ? nullptr : &*found;
}

// Jobs that ran to their end in all seeds: means over fewer of them can't be compared.
int64_t jobs_done(const PolicyRow& row) {
  int64_t done = 0;
  for (const PolicyRun* run : row.runs) done += run->summary.done;
  return done;
}

std::vector<const PolicyRow*> by_completion(const std::vector<PolicyRow>& rows) {
  std::vector<const PolicyRow*> able;
  int64_t most = 0;
  for (const PolicyRow& row : rows) {
    if (is_reference(row.policy) || !std::isfinite(row.middle.mean_completion_s)) continue;
    able.push_back(&row);
    most = std::max(most, jobs_done(row));
  }
  std::erase_if(able, [most](const PolicyRow* row) { return jobs_done(*row) < most; });
  // By the ratio to the oracle where there is one: compared seed by seed, it is the surer number.
  std::ranges::stable_sort(able, {}, [](const PolicyRow* row) {
    return std::isfinite(row->completion_to_oracle) ? row->completion_to_oracle : row->middle.mean_completion_s;
  });
  return able;
}

// Whether one job in a hundred waits much longer under `row`; where too few jobs tell, it doesn't.
bool has_longer_tail(const PolicyRow& row, const PolicyRow& than) {
  return row.middle.p99_wait_s > kLongerTail * than.middle.p99_wait_s;
}

// The first of the order, or of those that are nearly as good the one under which the unluckiest wait least.
const PolicyRow* pick(const std::vector<const PolicyRow*>& order) {
  const PolicyRow* best = order.front();
  const double close_s = order.front()->middle.mean_completion_s * (1 + kClose);
  for (const PolicyRow* row : order) {
    if (row->middle.mean_completion_s <= close_s && has_longer_tail(*best, *row)) best = row;
  }
  return best;
}

std::string tail_text(const PolicyRow& row) {
  return fmt::format("{} under {}", duration_text(row.middle.p99_wait_s), row.policy);
}

// Where means and the unluckiest disagree.
std::string tails(const ScheduleVerdict& verdict, const PolicyRow& soonest) {
  if (verdict.best != &soonest) {
    return fmt::format("{} is {:.0f}% sooner on average, but 1% of the jobs wait more than {}, {}", soonest.policy,
                       100 * (1 - soonest.middle.mean_completion_s / verdict.best->middle.mean_completion_s),
                       tail_text(soonest), tail_text(*verdict.best));
  }
  if (!has_longer_tail(*verdict.best, *verdict.against)) return "";
  return fmt::format("but 1% of the jobs wait more than {}, {}", tail_text(*verdict.best), tail_text(*verdict.against));
}

// "16% less than", "as long as", "1.8 times as long as".
std::string compared(double ratio) {
  if (std::abs(ratio - 1) <= kSame) return "as long as";
  if (ratio < 1) return fmt::format("{:.0f}% less than", 100 * (1 - ratio));
  return ratio < 1.5 ? fmt::format("{:.0f}% more than", 100 * (ratio - 1))
                     : fmt::format("{} times as long as", significant(ratio, 2));
}

std::string change(const char* what, double value_s, double other_s) {
  const double by_s = value_s - other_s;
  if (std::abs(by_s) <= kSame * std::max(value_s, other_s)) return fmt::format("{} as long", what);
  return fmt::format("{} {} {}", what, duration_text(std::abs(by_s)), by_s < 0 ? "less" : "longer");
}

// Where the difference comes from: jobs that wait less, or that run on platforms where they are faster.
std::string reason(const ScheduleVerdict& verdict) {
  const ScheduleSummary &best = verdict.best->middle, &other = verdict.against->middle;
  std::string text = fmt::format("why: jobs wait {} under {}, {} under {}", duration_text(best.mean_wait_s),
                                 verdict.best->policy, duration_text(other.mean_wait_s), verdict.against->policy);
  if (best.preemptions == 0 && other.preemptions == 0) {
    text += "; " +
            change("they run", best.mean_completion_s - best.mean_wait_s, other.mean_completion_s - other.mean_wait_s);
  }
  if (const PolicyInfo* info = info_of(*verdict.best)) text += fmt::format(". {}: {}", info->name, info->text);
  return text;
}

// The oracle knows the times and not the best order: others may come before it.
std::vector<std::string> before_oracle(const std::vector<PolicyRow>& rows) {
  const auto count = [&rows](double PolicyRow::*ratio) {
    return std::ranges::count_if(
        rows, [ratio](const PolicyRow& row) { return !is_reference(row.policy) && row.*ratio < 1 - kBeatsOracle; });
  };
  std::vector<std::string> ahead;
  for (const auto& [policies, what] : {std::pair{count(&PolicyRow::completion_to_oracle), "mean completion"},
                                       std::pair{count(&PolicyRow::makespan_to_oracle), "makespan"}}) {
    if (policies == 0) continue;
    const char* const noun = !ahead.empty() ? "" : policies == 1 ? " policy" : " policies";
    ahead.push_back(fmt::format("{}{} in {}", policies, noun, what));
  }
  if (ahead.empty()) return {};
  return {"the oracle comes behind " + join(ahead, ", ") +
          ": it knows the true times, but takes jobs in the order in which they come"};
}

}  // namespace

ScheduleVerdict verdict_of(const std::vector<PolicyRow>& rows) {
  ScheduleVerdict verdict;
  auto order = by_completion(rows);
  const auto random = std::ranges::find(rows, "random", &PolicyRow::policy);
  if (order.size() == 1 && random != rows.end()) order.push_back(&*random);
  if (order.size() >= 2) {
    verdict.best = pick(order);
    verdict.against = verdict.best == order[0] ? order[1] : order[0];
    for (const char* const used : {"fcfs", "easy"}) {
      const auto rival = std::ranges::find(order, used, [](const PolicyRow* row) { return row->policy; });
      if (rival != order.end() && *rival != verdict.best) verdict.against = *rival;
    }
    verdict.seeds = std::min(verdict.best->runs.size(), verdict.against->runs.size());
    for (size_t i = 0; i < verdict.seeds; ++i) {
      verdict.ahead +=
          verdict.best->runs[i]->summary.mean_completion_s < verdict.against->runs[i]->summary.mean_completion_s ? 1
                                                                                                                 : 0;
    }
    const double time_s = verdict.best->middle.mean_completion_s;
    const double ratio = time_s / verdict.against->middle.mean_completion_s;
    std::vector<std::string> equals;
    for (const PolicyRow* row : order) {
      const bool same = std::abs(row->middle.mean_completion_s - time_s) <= time_s * kSame;
      if (row == verdict.best || (same && !has_longer_tail(*row, *verdict.best))) equals.push_back(row->policy);
    }
    const bool none = equals.size() == order.size();
    std::string first =
        none ? "no policy is better than another: under " : fmt::format("best: {}. Under ", join(equals, ", "));
    first += fmt::format("{} a job takes {} from its arrival to its end on average", verdict.best->policy,
                         duration_text(time_s));
    if (!none) {
      first += fmt::format(", {} under {} ({})", compared(ratio), verdict.against->policy,
                           duration_text(verdict.against->middle.mean_completion_s));
    }
    if (std::isfinite(verdict.best->completion_to_oracle)) {
      first += fmt::format("; {} under the oracle, which knows the true times",
                           compared(verdict.best->completion_to_oracle));
    }
    verdict.lines.push_back(first);
    if (const std::string text = none ? "" : tails(verdict, *order.front()); !text.empty())
      verdict.lines.push_back(text);
    if (!none) verdict.lines.push_back(reason(verdict));
    if (verdict.seeds > 1 && !none) {
      verdict.lines.push_back(fmt::format("it is ahead of {} in {} of {} seeds{}", verdict.against->policy,
                                          verdict.ahead, verdict.seeds,
                                          verdict.ahead == verdict.seeds ? "" : ": the difference is not clear"));
    }
    const auto soonest = std::ranges::min_element(order, {}, [](const PolicyRow* row) {
      return std::isfinite(row->middle.makespan_s) ? row->middle.makespan_s : INFINITY;
    });
    if ((*soonest)->middle.makespan_s < verdict.best->middle.makespan_s * (1 - kSame)) {
      verdict.lines.push_back(fmt::format("all work ends soonest under {}: after {}, under {} after {}",
                                          (*soonest)->policy, duration_text((*soonest)->middle.makespan_s),
                                          verdict.best->policy, duration_text(verdict.best->middle.makespan_s)));
    }
  }
  for (std::string& line : before_oracle(rows)) verdict.lines.push_back(std::move(line));
  return verdict;
}

}  // namespace perfcast::fleet
