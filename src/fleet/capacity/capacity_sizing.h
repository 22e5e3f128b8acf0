#pragma once
// The static part of capacity planning: how many nodes carry the load when work flows like water, without queues. A
// mixed-integer program, and a bound that no schedule beats.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/linear_program.h"

namespace perfcast::fleet {

inline constexpr int64_t kAnyNumber = -1;  // NodeGroup::nodes of a candidate: as many as wanted

using NodePlan = std::vector<int64_t>;  // [candidates] nodes of each

// Jobs of one shape whose times are alike but for a factor: a job is `tasks` like tasks (TaskShape), its time on
// platform g is s ratio_g. Jobs are put together where sizes and ratios differ by a few percent, and stand there with
// the least of them, so that what the program says is never more than what the jobs need.
struct SizingKind {
  double task_seconds = 0;                       // offered in a second: rate x mean of s x tasks over all jobs
  double cores = 0, gpus = 0, memory_bytes = 0;  // of each task
  std::vector<double> ratio;                     // [candidates] NaN: fits no node there
  std::vector<double> joules;                    // [candidates] above idle, for each task-second; empty: not known
};

struct SizingInput {
  std::vector<NodeGroup> candidates;  // `nodes`: most that can be had, or kAnyNumber
  std::vector<double> weight;         // [candidates] of a node in what is minimised, from 0
  bool weigh_energy = false;          // the jobs' own power too, in W
  double budget_per_hour = kUnknown;  // NaN: none
  double arrivals_per_s = 0;
  // Each job must find nodes enough of one platform: a row for each demanding job, [candidates] nodes that it needs,
  // 0 where it can't run.
  std::vector<std::vector<int64_t>> least_nodes;
  std::vector<SizingKind> kinds;
};

// Kinds and least_nodes from samples of the demand. `times`: candidate_times() of each sample. Jobs that may give up,
// and jobs of no length, load nothing.
void add_kinds(std::span<const Workload* const> samples, std::span<const std::vector<double>> times,
               SizingInput& input);

// Nodes of a candidate that one such job needs, if it had them for itself; 0: it fits no number of them.
int64_t nodes_for_job(const NodeGroup& candidate, const JobRequest& job);

// [n x candidates] How long each job runs: to its end or its limit; NaN where it can't run or fits no number of nodes
// that can be had. The workload has a column for each candidate.
std::vector<double> candidate_times(const Workload& workload, std::span<const NodeGroup> candidates);

struct SizedPlan {
  NodePlan nodes;
  double value = 0;  // what is minimised
  // False: the integer program was given up, `nodes` are those of its relaxation, rounded, and `value` is still a
  // bound.
  bool proven = true;
};

class CapacitySizing {
 public:
  explicit CapacitySizing(SizingInput input);

  // Least weight of nodes that carry `rate_factor` times the load at a fluid load of `rho` at most. With rho = 1 no
  // stable plan weighs less. "infeasible": not within the candidates' numbers and the most cost per hour.
  Result<SizedPlan> cheapest(double rho, double rate_factor) const;
  // The plan within the candidates' numbers and the most cost per hour that carries most. "unbounded" without limits.
  Result<SizedPlan> strongest() const;
  // Fluid load at a rate factor of 1: from 1 on queues grow without end; infinite where a kind can run nowhere.
  double load(const NodePlan& plan);

  const SizingInput& input() const { return input_; }

 private:
  // One resource of one group: sum of nodes_needed x flow <= nodes. Cores, GPUs, memory; and each of them with the
  // sizes of tasks rounded by the functions u(k) of Fekete and Schepers (Math. Program. 91, 2001), under which whatever
  // fits a node together still does: they count what no packing can use.
  struct Row {
    size_t group;
    std::vector<double> nodes_needed;  // [kinds] if all of the kind ran there; 0: none
  };
  struct Flow {
    std::vector<int> column;  // [kinds x candidates] -1: none
  };
  void add_rows(size_t group);
  // Flows as shares of the load, or of as much of it as the rate column says.
  Flow add_flows(LinearProgram& program, int rate_column, double power_factor) const;
  void add_least_nodes(LinearProgram& program, const std::vector<int>& node_columns, bool integer) const;
  std::vector<int> add_node_columns(LinearProgram& program, const std::vector<double>& costs, bool integer) const;
  Result<SizedPlan> solve_cheapest(double rho, double rate_factor, bool integer) const;
  std::vector<LinearProgram::Entry> used(const Row& row, const Flow& flow, double factor) const;

  SizingInput input_;
  std::vector<Row> rows_;
  std::unique_ptr<LinearProgram> load_program_;  // keeps its basis from plan to plan
  int first_load_row_ = 0;
};

}  // namespace perfcast::fleet
