#include "fleet/capacity/fluid_capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fleet/policy/linear_program.h"

namespace perfcast::fleet {
namespace {

bool usable(double value) { return value >= 0 && std::isfinite(value); }

Status check(std::span<const FluidKind> kinds, std::span<const double> capacity) {
  const auto bad = [](std::string message, std::string where, std::string expected) {
    return Error{"bad-mix", std::move(message), std::move(where), std::move(expected)};
  };
  double sum = 0;
  for (size_t k = 0; k < kinds.size(); ++k) {
    const std::string where = fmt::format("kind {}", k);
    if (!usable(kinds[k].share)) return bad(fmt::format("its share is {}", kinds[k].share), where, "a number from 0");
    sum += kinds[k].share;
    if (kinds[k].unit_seconds.size() != capacity.size()) {
      return bad(fmt::format("{} times", kinds[k].unit_seconds.size()), where,
                 fmt::format("one for each of the {} groups", capacity.size()));
    }
    for (const double seconds : kinds[k].unit_seconds) {
      if (!std::isnan(seconds) && !usable(seconds)) {
        return bad(fmt::format("a time is {}", seconds), where, "a number from 0, or none where it can't run");
      }
    }
  }
  if (!(sum > 0)) return bad("no kind of job has a share", "", "at least one kind with a share above 0");
  for (size_t g = 0; g < capacity.size(); ++g) {
    if (!usable(capacity[g])) {
      return bad(fmt::format("its capacity is {}", capacity[g]), fmt::format("group {}", g), "a number from 0");
    }
  }
  return {};
}

}  // namespace

Result<FluidCapacity> fluid_capacity(std::span<const FluidKind> kinds, std::span<const double> capacity) {
  if (Status checked = check(kinds, capacity); !checked) return checked.error();
  double shares = 0, longest = 0, units = 0;
  for (const FluidKind& kind : kinds) {
    shares += kind.share;
    for (const double seconds : kind.unit_seconds) longest = std::isnan(seconds) ? longest : std::max(longest, seconds);
  }
  for (const double value : capacity) units += value;
  // In units of (all of the cluster / the longest job), so that the program's numbers are near 1 whatever the scale.
  const double scale = longest > 0 && units > 0 ? units / longest : 1;

  const size_t groups = capacity.size();
  LinearProgram program(LinearProgram::Sense::kMaximise);
  const int rate = program.add_column(1);
  std::vector<std::vector<LinearProgram::Entry>> used(groups);
  std::vector<int> column(kinds.size() * groups, -1);
  for (size_t k = 0; k < kinds.size(); ++k) {
    const double share = kinds[k].share / shares;
    if (share == 0) continue;
    bool runs = false;
    std::vector<LinearProgram::Entry> flow = {{rate, -share}};
    for (size_t g = 0; g < groups; ++g) {
      const double seconds = kinds[k].unit_seconds[g];
      if (std::isnan(seconds) || capacity[g] == 0) continue;
      runs = true;
      const int x = program.add_column(0);
      column[k * groups + g] = x;
      flow.push_back({x, 1});
      used[g].push_back({x, seconds * scale / capacity[g]});
    }
    if (!runs) {
      return infeasible_error("infeasible", "jobs of this kind can run on no group that has capacity",
                              fmt::format("kind {}", k), "a group for each kind of job");
    }
    program.add_row(0, 0, flow);
  }
  for (size_t g = 0; g < groups; ++g) program.add_row(-kNoBound, 1, used[g]);
  const auto solved = program.solve();
  if (!solved) return solved.error();

  FluidCapacity result;
  result.jobs_per_s = solved->objective * scale;
  result.routed.assign(column.size(), 0.0);
  result.load.assign(groups, 0.0);
  for (size_t i = 0; i < column.size(); ++i) {
    if (column[i] < 0) continue;
    const FluidKind& kind = kinds[i / groups];
    const double flow = solved->values[static_cast<size_t>(column[i])];
    result.routed[i] = flow / (solved->objective * kind.share / shares);
    result.load[i % groups] += flow * scale * kind.unit_seconds[i % groups] / capacity[i % groups];
  }
  return result;
}

}  // namespace perfcast::fleet
