#include "fleet/capacity/capacity_sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace perfcast::fleet {
namespace {

constexpr int kFinestShare = 8;    // parts of a node that bin packing is looked at for
constexpr double kSolve_s = 20;    // of processor time for one integer program
constexpr double kMostRate = 1e9;  // times the load: keeps programs bounded
constexpr double kSlight = 1e-9;   // weight of what costs nothing, so that it isn't bought for nothing

// u(parts): x where (parts + 1) x is whole, otherwise floor((parts + 1) x) / parts.
double rounded_size(double size, int parts) {
  const double scaled = size * (parts + 1);
  if (std::abs(scaled - std::round(scaled)) < kSlight) return size;
  return std::floor(scaled) / parts;
}

}  // namespace

CapacitySizing::CapacitySizing(SizingInput input) : input_(std::move(input)) {
  for (size_t g = 0; g < input_.candidates.size(); ++g) add_rows(g);
  load_program_ = std::make_unique<LinearProgram>(LinearProgram::Sense::kMaximise);
  const Flow flow = add_flows(*load_program_, load_program_->add_column(1, 0, kMostRate), 0);
  first_load_row_ = static_cast<int>(load_program_->rows());
  for (const Row& row : rows_) load_program_->add_row(-kNoBound, 0, used(row, flow, 1));
}

void CapacitySizing::add_rows(size_t group) {
  const NodeGroup& node = input_.candidates[group];
  const std::pair<double SizingKind::*, double> resources[] = {
      {&SizingKind::cores, static_cast<double>(node.cores_per_node)},
      {&SizingKind::gpus, static_cast<double>(node.gpus_per_node)},
      {&SizingKind::memory_bytes, node.memory_bytes_per_node},
  };
  for (const auto& [amount, there] : resources) {
    if (!(there > 0)) continue;  // none of it, or not known
    Row plain{group, std::vector<double>(input_.kinds.size(), 0.0)};
    bool any = false;
    for (size_t k = 0; k < input_.kinds.size(); ++k) {
      const SizingKind& kind = input_.kinds[k];
      if (std::isnan(kind.ratio[group]) || kind.*amount <= 0) continue;
      plain.nodes_needed[k] = kind.task_seconds * kind.ratio[group] * kind.*amount / there;
      any = true;
    }
    if (any) rows_.push_back(std::move(plain));
    for (int parts = 1; parts <= kFinestShare; ++parts) {
      Row packed{group, std::vector<double>(input_.kinds.size(), 0.0)};
      bool wasteful = false;  // otherwise the plain row says as much
      for (size_t k = 0; k < input_.kinds.size(); ++k) {
        const SizingKind& kind = input_.kinds[k];
        if (std::isnan(kind.ratio[group])) continue;
        const double size = kind.*amount / there;
        const double rounded = rounded_size(size, parts);
        packed.nodes_needed[k] = kind.task_seconds * kind.ratio[group] * rounded;
        wasteful = wasteful || rounded > size;
      }
      if (wasteful) rows_.push_back(std::move(packed));
    }
  }
}

CapacitySizing::Flow CapacitySizing::add_flows(LinearProgram& program, int rate_column, double power_factor) const {
  const size_t groups = input_.candidates.size();
  Flow flow;
  flow.column.assign(input_.kinds.size() * groups, -1);
  for (size_t k = 0; k < input_.kinds.size(); ++k) {
    const SizingKind& kind = input_.kinds[k];
    std::vector<LinearProgram::Entry> shares;
    for (size_t g = 0; g < groups; ++g) {
      if (std::isnan(kind.ratio[g]) || input_.candidates[g].nodes == 0) continue;
      const double joules = power_factor > 0 && !kind.joules.empty() ? kind.joules[g] : 0;
      flow.column[k * groups + g] =
          program.add_column(std::isnan(joules) ? 0 : joules * kind.task_seconds * power_factor);
      shares.push_back({flow.column[k * groups + g], 1});
    }
    if (rate_column >= 0) shares.push_back({rate_column, -1});
    const double total = rate_column >= 0 ? 0 : 1;
    program.add_row(total, total, shares);
  }
  return flow;
}

std::vector<LinearProgram::Entry> CapacitySizing::used(const Row& row, const Flow& flow, double factor) const {
  std::vector<LinearProgram::Entry> entries;
  for (size_t k = 0; k < row.nodes_needed.size(); ++k) {
    const int column = flow.column[k * input_.candidates.size() + row.group];
    if (column >= 0 && row.nodes_needed[k] > 0) entries.push_back({column, row.nodes_needed[k] * factor});
  }
  return entries;
}

std::vector<int> CapacitySizing::add_node_columns(LinearProgram& program, const std::vector<double>& costs,
                                                  bool integer) const {
  std::vector<int> columns;
  std::vector<LinearProgram::Entry> prices;
  for (size_t g = 0; g < input_.candidates.size(); ++g) {
    const NodeGroup& node = input_.candidates[g];
    columns.push_back(program.add_column(
        costs[g], 0, node.nodes == kAnyNumber ? kNoBound : static_cast<double>(node.nodes), integer));
    if (node.price_per_node_hour > 0) prices.push_back({columns.back(), node.price_per_node_hour});
  }
  if (!std::isnan(input_.budget_per_hour)) program.add_row(-kNoBound, input_.budget_per_hour, prices);
  return columns;
}

void CapacitySizing::add_least_nodes(LinearProgram& program, const std::vector<int>& node_columns, bool integer) const {
  for (const std::vector<int64_t>& need : input_.least_nodes) {
    std::vector<LinearProgram::Entry> one_of;
    for (size_t g = 0; g < need.size(); ++g) {
      if (need[g] <= 0) continue;
      const int chosen = program.add_column(0, 0, 1, integer);
      one_of.push_back({chosen, 1});
      const LinearProgram::Entry enough[] = {{node_columns[g], 1}, {chosen, -static_cast<double>(need[g])}};
      program.add_row(0, kNoBound, enough);
    }
    program.add_row(1, kNoBound, one_of);
  }
}

Result<SizedPlan> CapacitySizing::solve_cheapest(double rho, double rate_factor, bool integer) const {
  const double heaviest = *std::max_element(input_.weight.begin(), input_.weight.end());
  std::vector<double> costs = input_.weight;
  for (double& cost : costs) cost = cost > 0 ? cost : kSlight * (heaviest > 0 ? heaviest : 1);
  LinearProgram program(LinearProgram::Sense::kMinimise);
  const std::vector<int> nodes = add_node_columns(program, costs, integer);
  const Flow flow = add_flows(program, -1, input_.weigh_energy ? rate_factor : 0);
  for (const Row& row : rows_) {
    auto entries = used(row, flow, rate_factor / rho);
    entries.push_back({nodes[row.group], -1});
    program.add_row(-kNoBound, 0, entries);
  }
  add_least_nodes(program, nodes, integer);
  const auto solved = program.solve(kSolve_s);
  if (!solved) return solved.error();
  SizedPlan plan;
  plan.value = solved->objective;
  plan.proven = integer;
  for (size_t g = 0; g < nodes.size(); ++g) {
    const double count = solved->values[static_cast<size_t>(nodes[g])];
    plan.nodes.push_back(integer ? std::llround(count) : std::llround(std::ceil(count - kSlight)));
    if (!(input_.weight[g] > 0)) plan.value -= costs[g] * count;
  }
  return plan;
}

Result<SizedPlan> CapacitySizing::cheapest(double rho, double rate_factor) const {
  auto plan = solve_cheapest(rho, rate_factor, true);
  // The integer program ran out of time.
  if (!plan && plan.error().kind == ErrorKind::kEnvironment) return solve_cheapest(rho, rate_factor, false);
  return plan;
}

Result<SizedPlan> CapacitySizing::strongest() const {
  for (const bool integer : {true, false}) {
    LinearProgram program(LinearProgram::Sense::kMaximise);
    const std::vector<int> nodes =
        add_node_columns(program, std::vector<double>(input_.candidates.size(), 0.0), integer);
    const Flow flow = add_flows(program, program.add_column(1), 0);
    for (const Row& row : rows_) {
      auto entries = used(row, flow, 1);
      entries.push_back({nodes[row.group], -1});
      program.add_row(-kNoBound, 0, entries);
    }
    add_least_nodes(program, nodes, integer);
    const auto solved = program.solve(kSolve_s);
    if (!solved && solved.error().kind == ErrorKind::kEnvironment && integer) continue;
    if (!solved) return solved.error();
    SizedPlan plan;
    plan.value = solved->objective;
    plan.proven = integer;
    for (const int column : nodes) {  // rounded down: the limits hold
      plan.nodes.push_back(std::llround(std::floor(solved->values[static_cast<size_t>(column)] + kSlight)));
    }
    return plan;
  }
  return environment_error("solver-gave-up", "the strongest plan could not be found in time", "", "fewer candidates");
}

double CapacitySizing::load(const NodePlan& plan) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    load_program_->set_row_bounds(first_load_row_ + static_cast<int>(i), -kNoBound,
                                  static_cast<double>(plan[rows_[i].group]));
  }
  const auto solved = load_program_->solve();
  if (!solved || !(solved->objective > kSlight)) return std::numeric_limits<double>::infinity();
  return 1 / solved->objective;
}

}  // namespace perfcast::fleet
