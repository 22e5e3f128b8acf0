#include "place/workload/place_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "machine/facts/core_design.h"

namespace perfcast::place {
namespace {

// What most of a design's cycles go to: memory, caches (and address translation), or the core's own width, units and
// mistakes.
PlaceBound bound_of_cycles(const CoreBoundRatios& ratios) {
  static const std::set<std::string> caches = {"L1", "L2", "L3", "TLB"};
  double memory = 0, waits = 0, works = 0;
  for (const auto& [name, ratio] : ratios) (name == "memory" ? memory : caches.contains(name) ? waits : works) += ratio;
  if (memory > std::max(waits, works)) return PlaceBound::kMemory;
  return waits > works ? PlaceBound::kCache : PlaceBound::kCompute;
}

EnergyBasis basis_named(const std::string& name) {
  if (name == "measured") return EnergyBasis::kMeasured;
  return name == "modelled" ? EnergyBasis::kModelled : EnergyBasis::kTdp;
}

// As predict charges: a run pays for its share of a machine that is full of copies. A bundle that knows nothing of
// copies leaves the whole machine to one run.
void take_cheapest(const program::PlatformRow& platform, PlacementRow& row) {
  for (const program::InstanceRow& instance : platform.instances) {
    if (!instance.may_be_chosen) continue;
    const bool shares = instance.cost_per_1000.has_value();
    const std::optional<double> cost =
        shares ? std::optional(*instance.cost_per_1000 / program::kRunsOfCost) : instance.cost;
    if (!cost || (row.cost && *row.cost <= *cost)) continue;
    row.cost = cost;
    row.copies = shares ? instance.copies : 1;
    row.instance = instance.server.vendor + " " + instance.server.name;
  }
}

}  // namespace

Result<Placement> place_profile(const program::Forecaster& forecaster, const Profile& profile,
                                const program::ForecastRequest& request, const std::vector<DeviceFacts>& devices) {
  const auto report = program::forecast_program(forecaster, profile, request);
  if (!report) return report.error();
  Placement placement;
  placement.kind = PlacedWorkload::kProfile;
  placement.workload = report->program;
  placement.currency = report->currency;
  placement.notes = report->notes;
  if (!report->price_source.empty()) placement.notes.push_back("prices: " + report->price_source);
  if (!report->in_distribution) {
    placement.notes.emplace_back("out of distribution: the program is unlike those that the model was trained on");
  }
  for (const ProfileWarning& warning : report->warnings) placement.notes.push_back(warning.message);
  std::map<std::string, PlaceBound> bounds;  // by core design
  for (const program::CoreDesignRow& design : report->core_designs) {
    bounds.emplace(design.design, bound_of_cycles(design.cycles_ratio_by_bound));
  }
  placement.rows.reserve(report->rows.size() + devices.size());
  bool has_seconds = false, has_cost = false;
  for (const program::PlatformRow& platform : report->rows) {
    PlacementRow row;
    row.device = platform.platform.name;
    row.kind = PlaceKind::kCpu;
    // Where this host surely is that platform its time has no interval.
    const bool sure = platform.time_s && platform.time_lower_s == platform.time_upper_s;
    row.basis = platform.is_measured || sure ? PlaceBasis::kMeasured : PlaceBasis::kFitted;
    row.relative_time = platform.rpv;
    row.time_s = platform.time_s;
    if (platform.time_s && !sure) {
      row.lower_s = platform.time_lower_s;
      row.upper_s = platform.time_upper_s;
    }
    if (platform.energy && platform.energy->joules) {
      const program::PlatformEnergy& energy = *platform.energy;
      row.energy_basis = basis_named(energy.basis);
      row.energy_joules = energy.joules;
      if (row.energy_basis != EnergyBasis::kMeasured) {
        row.energy_lower_joules = energy.lower_joules;
        row.energy_upper_joules = energy.upper_joules;
      }
    }
    take_cheapest(platform, row);
    has_cost |= row.cost.has_value();
    const auto bound = bounds.find(core_design(platform.platform));
    if (bound != bounds.end()) row.bound = bound->second;
    has_seconds |= row.time_s.has_value();
    placement.rows.push_back(std::move(row));
  }
  placement.details = has_seconds ? fmt::format("one run, {} time", report->time_basis)
                                  : "relative times: no platform's seconds are known";
  if (has_cost) placement.details += "; its cost is its share of a machine that runs as many copies as `copies` says";
  for (const DeviceFacts& device : devices) {
    if (device.kind == DeviceKind::kCpu) continue;
    PlacementRow row;
    row.device = device.name;
    row.aliases = device.aliases;
    row.kind = kind_of(device);
    row.power_w = if_known(device.power_w);
    row.note = "no forecast: the profile is of a CPU program";
    placement.rows.push_back(std::move(row));
  }
  return placement;
}

}  // namespace perfcast::place
