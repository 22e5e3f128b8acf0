#include "program/adapt/adapt_here.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/meter/throttle.h"

namespace perfcast::program {
namespace {

constexpr double kSteadySpread = 0.1;   // of runs in a row on a machine at rest
constexpr double kSteadyDrift = 1.05;   // from the first to the last program
constexpr double kManyUnsteady = 0.25;  // share of the programs

// 1: of the programs that may run, all were measured.
double interval_ratio(const AdaptScenario& scenario, const std::function<bool(const std::string&)>& may_run) {
  return std::exp(scenario.typical_half_width(may_run).value_or(0));
}

void note_unsteadiness(const HereOutcome& outcome, std::vector<std::string>& notes) {
  size_t unsteady = 0;
  for (const HereStep& step : outcome.steps) unsteady += step.spread_ratio > kSteadySpread ? 1 : 0;
  if (outcome.drift_ratio > kSteadyDrift || outcome.drift_ratio < 1 / kSteadyDrift) {
    notes.push_back(
        fmt::format("the first program took {:.2f} times as long in the end as in the beginning: the clock was "
                    "throttled, or others "
                    "used the machine; run it again when it is at rest",
                    outcome.drift_ratio));
  }
  if (static_cast<double>(unsteady) > kManyUnsteady * static_cast<double>(outcome.steps.size())) {
    notes.push_back(fmt::format(
        "{} of {} programs took over {:.0f}% longer in one run than in another: the intervals don't allow for that",
        unsteady, outcome.steps.size(), 100 * kSteadySpread));
  }
}

// Why what was done isn't enough to learn from; needed_s: that enough of it would take.
Error too_few(const HereOutcome& outcome, const HereOptions& options, double needed_s) {
  const size_t done = outcome.steps.size();
  const std::string passed_over = outcome.passed_over.empty() ? "" : "; left out: " + outcome.passed_over.front();
  if (outcome.stopped == "budget") {
    return usage_error(
        "short-budget",
        done == 0 ? fmt::format("no program that would help finishes within {:.1f} s", options.budget_s)
                  : fmt::format("{} program{} done within {:.1f} s, and {} are needed to notice a wrong one", done,
                                done == 1 ? " was" : "s were", options.budget_s, kFewestRuns),
        "budget_s",
        fmt::format("a longer time limit: about {:.0f} s, besides measuring caches and memory, which is in it, too; or "
                    "fewer repeats",
                    std::ceil(needed_s)));
  }
  if (done == 0) {
    return environment_error("nothing-to-run",
                             outcome.passed_over.empty() ? "no program that tells of this machine can be run here"
                                                         : "no program ran: " + outcome.passed_over.front(),
                             "", "perfcast doctor; docs/collect.md says what the programs need");
  }
  return environment_error("too-few-runs",
                           fmt::format("{} program{} of this machine could be run here, and {} are needed to notice a "
                                       "wrong one{}",
                                       done, done == 1 ? " that tells" : "s that tell", kFewestRuns, passed_over),
                           "", "perfcast doctor; docs/collect.md says what the programs need");
}

}  // namespace

Result<HereOutcome> adapt_here(AdaptScenario& scenario, const HereOptions& options,
                               const std::function<bool(const std::string&)>& may_run, const TimeHere& time,
                               const std::function<double()>& clock,
                               const std::function<void(const std::string&)>& progress) {
  HereOutcome outcome;
  std::set<std::string> done;
  const auto is_left = [&](const std::string& program) { return !done.contains(program) && may_run(program); };
  std::optional<ThrottleWatch> throttle;
  if (!options.cpu_root.empty()) throttle.emplace(options.cpu_root).begin();
  const double begin = clock();
  // Of the next program: its runs, and no less than one took so far (preparing, starting, settling).
  const auto expected_s = [&](double run_s) {
    double mean_s = 0;
    for (const HereStep& step : outcome.steps) mean_s += step.cost_s / static_cast<double>(outcome.steps.size());
    return std::max(run_s * options.repeats, mean_s);
  };
  // The first program is timed again in the end.
  const auto kept_s = [&] { return outcome.steps.empty() ? 0 : outcome.steps.front().cost_s; };
  double needed_s = 0;
  outcome.stopped = "programs";
  while (outcome.steps.size() < options.most) {
    // Enough runs to tell a wrong one from the others, and an interval that is good enough.
    const double ratio = interval_ratio(scenario, may_run);
    if (scenario.adaptation().runs().size() >= kFewestRuns && ratio > 1 && ratio <= options.target_ratio) {
      outcome.stopped = "interval";
      break;
    }
    const auto next = scenario.suggest(1, is_left);
    if (next.empty()) break;
    const std::string program = scenario.program_id(next.front().program);
    const double spent_s = clock() - begin, next_s = expected_s(next.front().seconds);
    if (spent_s + next_s + kept_s() > options.budget_s) {
      const size_t done_count = outcome.steps.size();
      const auto left = static_cast<double>(kFewestRuns - std::min(kFewestRuns, done_count));
      needed_s = spent_s + left * next_s + (done_count == 0 ? next_s : kept_s());
      outcome.stopped = "budget";
      break;
    }
    done.insert(program);
    progress(fmt::format("timing {}; a typical interval is x/{:.2f} so far, {:.0f} s", program,
                         interval_ratio(scenario, may_run), clock() - begin));
    const double before = clock();
    const auto timed = time(program);
    if (!timed) {
      if (timed.error().kind == ErrorKind::kInterrupted) return timed.error();
      outcome.passed_over.push_back(program + ": " + timed.error().message);
      continue;
    }
    if (Status status = scenario.add(program, timed->seconds_per_unit); !status) return status.error();
    outcome.steps.push_back(
        {program, timed->seconds_per_unit, timed->spread_ratio, clock() - before, interval_ratio(scenario, may_run)});
    if (!options.keep) continue;
    if (Status kept = options.keep(outcome.steps); !kept) return kept.error();
  }
  if (outcome.steps.empty() || scenario.adaptation().runs().size() < kFewestRuns) {
    return too_few(outcome, options, needed_s);
  }
  if (Status status = scenario.check_added(); !status) return status.error();
  progress("timing the first program again");
  if (const auto again = time(outcome.steps.front().program)) {
    outcome.drift_ratio = again->seconds_per_unit / outcome.steps.front().seconds_per_unit;
  } else if (again.error().kind == ErrorKind::kInterrupted) {
    return again.error();
  }
  outcome.cost_s = clock() - begin;
  note_unsteadiness(outcome, outcome.notes);
  if (throttle) {
    for (EnergyWarning& warning : throttle->end()) outcome.notes.push_back(std::move(warning.message));
  }
  return outcome;
}

std::vector<std::string> left_out_in_words(const std::vector<LeftOutHere>& programs) {
  std::map<std::string, std::map<std::string, size_t>> counts;  // by reason, then group
  for (const LeftOutHere& program : programs) ++counts[program.why][program.group];
  std::vector<std::string> texts;
  texts.reserve(counts.size());
  for (const auto& [why, groups] : counts) {
    size_t all = 0;
    std::vector<std::string> named;
    named.reserve(groups.size());
    for (const auto& [group, count] : groups) {
      all += count;
      named.push_back(fmt::format("{} of {}", count, group.empty() ? "no group" : group));
    }
    texts.push_back(fmt::format("{} of the bundle's programs ({}) can't be timed here: {}", all, join(named, ", "),
                                why.empty() ? "no shipped suite does the work that their times are of" : why));
  }
  return texts;
}

std::string runs_as_csv(const std::vector<HereStep>& steps) {
  std::string text = "program,seconds\n";
  for (const HereStep& step : steps) text += fmt::format("{},{}\n", csv_cell(step.program), step.seconds_per_unit);
  return text;
}

Json here_as_json(const HereOutcome& outcome) {
  Json steps = Json::array();
  for (const HereStep& step : outcome.steps) {
    steps.push_back({{"program", step.program},
                     {"time_per_unit_s", step.seconds_per_unit},
                     {"spread_ratio", step.spread_ratio},
                     {"cost_s", step.cost_s},
                     {"interval_ratio", step.interval_ratio}});
  }
  return {{"steps", std::move(steps)},
          {"passed_over", outcome.passed_over},
          {"cost_s", outcome.cost_s},
          {"stopped", outcome.stopped},
          {"drift_ratio", outcome.drift_ratio}};
}

}  // namespace perfcast::program
