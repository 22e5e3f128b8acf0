// PowerModel::fit_new_machine(): the transfer of power_transfer.h as a model that can be kept.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "measure/power/model/power_model.h"
#include "measure/power/model/power_transfer.h"
#include "measure/power/table/table_settings.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFewestMachines = 2, kFewestOfMachine = 10;
constexpr size_t kMostGiven = 400;  // a system of that size is solved; so many make a model of their own
constexpr double kModelBelow = 0.05, kModelAbove = 0.1;  // what PowerModel::forecast() adds to its range

struct NewMachineRows {
  std::vector<size_t> known;       // of other machines, with power
  std::vector<size_t> own, given;  // of the new one: all; those with power
};

NewMachineRows rows_of(const PowerTable& table, const std::string& machine) {
  NewMachineRows rows;
  for (size_t r = 0; r < table.rows(); ++r) {
    const bool has_watts = !std::isnan(table.watts(static_cast<Eigen::Index>(r)));
    if (table.machines[static_cast<size_t>(table.machine[r])] != machine) {
      if (has_watts) rows.known.push_back(r);
      continue;
    }
    rows.own.push_back(r);
    if (has_watts) rows.given.push_back(r);
  }
  return rows;
}

std::string shown(const std::string& machine) { return machine.empty() ? "(no name)" : printable(machine); }

Status check_known(const PowerTable& table, const NewMachineRows& rows, const std::string& machine) {
  std::map<int, size_t> count;
  for (size_t r = 0; r < table.rows(); ++r) count.try_emplace(table.machine[r], 0);
  for (const size_t r : rows.known) ++count[table.machine[r]];
  std::vector<std::string> few;
  size_t machines = 0;
  for (const auto& [index, samples] : count) {
    const std::string& name = table.machines[static_cast<size_t>(index)];
    if (name == machine) continue;
    ++machines;
    if (samples < kFewestOfMachine) few.push_back(fmt::format("{} ({})", shown(name), samples));
  }
  if (machines < kFewestMachines) {
    return Error{"too-few-machines",
                 fmt::format("samples of {} {} beside '{}': what machines share can't be told", machines,
                             machines == 1 ? "machine" : "machines", printable(machine)),
                 "", fmt::format("a column machine with samples of {} other machines at least", kFewestMachines)};
  }
  if (!few.empty()) {
    return Error{"too-few-samples", "few samples with power of machines to learn from: " + join(few, ", "), "",
                 fmt::format("at least {} of each, of idle and of load, or none of its rows", kFewestOfMachine)};
  }
  return {};
}

// Counters are told of a machine where any of its rows has them.
Status check_counters(const PowerTable& table, const NewMachineRows& rows, const std::vector<std::string>& needed) {
  const auto told = [&table](Eigen::Index counter, const std::vector<size_t>& which) {
    return std::any_of(which.begin(), which.end(),
                       [&](size_t r) { return !std::isnan(table.values(static_cast<Eigen::Index>(r), counter)); });
  };
  std::vector<std::string> of_new, of_known;
  for (size_t c = 0; c < table.counters.size() && !rows.own.empty(); ++c) {
    const auto at = static_cast<Eigen::Index>(c);
    const bool is_needed = std::find(needed.begin(), needed.end(), table.counters[c]) != needed.end();
    const bool of_own = told(at, rows.own), of_others = told(at, rows.known);
    if (of_own && !of_others) of_new.push_back(printable(table.counters[c]));
    if (!of_own && of_others && is_needed) of_known.push_back(printable(table.counters[c]));
  }
  if (!of_new.empty()) {
    return Error{"missing-counters", "the known machines lack " + join(of_new, ", ") + ", which the new one has", "",
                 "counters that all machines have; --ignore " + join(of_new, ",") + " leaves these out"};
  }
  if (!of_known.empty()) {
    return Error{"missing-counters", "the new machine lacks " + join(of_known, ", ") + ", which the known ones have",
                 "", "counters that all machines have; --ignore " + join(of_known, ",") + " leaves these out"};
  }
  return {};
}

PowerTable with_counters(PowerTable table, const std::vector<std::string>& names) {
  std::vector<Eigen::Index> columns;
  columns.reserve(names.size());
  for (const std::string& name : names) columns.push_back(table.counter(name));
  const Eigen::MatrixXd values = table.values(Eigen::all, columns);
  table.values = values;
  table.counters = names;
  return table;
}

// What saying the mean power of so many samples would have cost, or of the other machines where there are none.
double error_of_mean_power(const PowerDesign& design, const std::vector<size_t>& known, size_t samples, uint64_t seed) {
  std::map<int, std::vector<size_t>> of;
  for (const size_t r : known) of[design.group[r]].push_back(r);
  const auto mean_watts = [&design](const std::vector<size_t>& rows) {
    double sum = 0;
    for (const size_t r : rows) sum += design.watts(static_cast<Eigen::Index>(r));
    return sum / static_cast<double>(rows.size());
  };
  std::vector<double> errors;
  for (const auto& [group, rows] : of) {
    double said = 0;
    if (samples > 0) {
      said = mean_watts(drawn_samples(design, rows, samples, seed));
    } else {
      std::vector<double> logs;
      for (const auto& [other, theirs] : of) {
        if (other != group) logs.push_back(std::log(mean_watts(theirs)));
      }
      said = std::exp(mean(logs));
    }
    errors.push_back(cell_error(design, rows, Eigen::VectorXd::Constant(static_cast<Eigen::Index>(rows.size()), said)));
  }
  return mean(errors);
}

}  // namespace

Result<PowerModel> PowerModel::fit_new_machine(const PowerTable& table, const NewMachineOptions& options) {
  if (Status placed = check_settings(table); !placed) return placed.error();
  const NewMachineRows rows = rows_of(table, options.machine);
  if (Status checked = check_known(table, rows, options.machine); !checked) return checked.error();
  // A new machine's counters cost no meter: all of its rows tell its capacity.
  std::vector<size_t> counted = rows.known;
  counted.insert(counted.end(), rows.own.begin(), rows.own.end());
  const std::vector<std::string> needed = ActivityFeatures::learn(table, counted, ActivitySet::kLoad).needed_counters();
  if (Status checked = check_counters(table, rows, needed); !checked) return checked.error();
  const PowerTable used = with_counters(table, needed);
  PowerModel model;
  model.features_ = ActivityFeatures::learn(used, counted, ActivitySet::kLoad);
  PowerDesign design = model.features_.design(used);
  for (const size_t r : rows.own) {
    const std::string& name = design.groups[static_cast<size_t>(design.group[r])];
    if (std::find(model.groups_.begin(), model.groups_.end(), name) == model.groups_.end())
      model.groups_.push_back(name);
  }
  if (rows.own.empty()) {
    model.groups_ = {options.machine};
    model.settings_ = {PowerSetting{options.machine, {}, {}, {}, {}}};
  } else {
    const std::vector<PowerSetting> settings = settings_of(used, rows.own, design);
    for (const std::string& name : model.groups_) {
      const auto at = std::find(design.groups.begin(), design.groups.end(), name) - design.groups.begin();
      model.settings_.push_back(settings[static_cast<size_t>(at)]);
    }
  }
  // A machine is one group: at which settings the new one was seen is luck.
  design.group = used.machine;
  design.groups = used.machines;
  const PowerSamples samples = PowerSamples::of(std::move(design), rows.known);
  model.scale_ = samples.scale;
  if (Status fits = check_line_size(samples.inputs.cols(), samples.design.group, samples.design.workload, rows.known);
      !fits) {
    return fits.error();
  }
  const std::vector<size_t> given = rows.given.size() <= kMostGiven
                                        ? rows.given
                                        : drawn_samples(samples.design, rows.given, kMostGiven, options.seed);
  std::map<int, size_t> of_machine;
  for (const size_t r : rows.known) ++of_machine[samples.design.group[r]];
  size_t fewest = rows.known.size();
  for (const auto& [machine, count] : of_machine) fewest = std::min(fewest, count);
  PowerTransfer::Request request;
  request.known = rows.known;
  // What a known machine can't give isn't drawn from it: half of its rows are left to be scored.
  request.samples = std::min(given.size(), fewest / 2);
  request.coverage = options.coverage;
  request.seed = options.seed;
  PowerModelCard& card = model.card_;
  for (const TransferMethod method : {TransferMethod::kShifted, TransferMethod::kAlone}) {
    if (method == TransferMethod::kAlone && given.empty()) continue;
    request.method = method;
    card.tried.emplace_back(to_text(method), PowerTransfer::learn(samples, request).inner_error());
  }
  request.method = TransferMethod::kUpdated;
  const PowerTransfer transfer = PowerTransfer::learn(samples, request);
  card.tried.emplace_back(to_text(request.method), transfer.inner_error());
  model.forms_.push_back(make_updated_line(transfer.update(given)));
  model.lowest_ = transfer.lowest() + kModelBelow;
  model.highest_ = transfer.highest() - kModelAbove;
  model.coverage_ = options.coverage;
  model.half_width_ = transfer.half_width();
  card.rows = rows.known.size() + given.size();
  card.groups = model.groups_;
  card.chosen = given.empty() ? "line that the known machines share" : "line that the known machines share, updated";
  card.left_out = "machine";
  card.error = transfer.inner_error();
  card.mean_power_error = error_of_mean_power(samples.design, rows.known, request.samples, options.seed);
  for (const auto& [machine, error] : transfer.group_errors())
    card.error_by_workload.emplace_back(used.machines[static_cast<size_t>(machine)], error);
  std::sort(card.error_by_workload.begin(), card.error_by_workload.end());
  card.new_machine = NewMachineCard{options.machine, given.size(), of_machine.size()};
  return model;
}

}  // namespace perfcast::measure
