#include "measure/power/model/activity_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "measure/power/model/neighbours.h"
#include "measure/power/table/table_settings.h"

namespace perfcast::measure {
namespace {

constexpr double kWake = 30;
constexpr double kBusy = 0.3;  // a machine this busy shows its capacity
constexpr Eigen::Index kLoadReach = 1, kRatioReach = 4, kClockReach = 200;
constexpr double kLeastClock = 0.4, kMostClock = 1.6, kMostRatio = 3;
constexpr double kSmall = 1e-3;  // keeps ratios of nearly nothing near 1

Eigen::Index find_counter(const PowerTable& table, CounterRole role) {
  for (size_t c = 0; c < table.counters.size(); ++c) {
    if (counter_role(table.counters[c]) == role) return static_cast<Eigen::Index>(c);
  }
  return -1;
}

Eigen::VectorXd as_share(const Eigen::VectorXd& values, double whole) {
  return values.unaryExpr([whole](double value) {
    const double share = value / whole;
    return share > kMostShare ? kUnknown : share;
  });
}

// Of those that a table has; -1 where there is none. User, system and wait come from one tool, in one unit.
struct ShareColumns {
  Eigen::Index load, user, system, wait;
  explicit ShareColumns(const PowerTable& table)
      : load(find_counter(table, CounterRole::kLoad)),
        user(find_counter(table, CounterRole::kUser)),
        system(find_counter(table, CounterRole::kSystem)),
        wait(find_counter(table, CounterRole::kWait)) {}
  std::vector<Eigen::Index> parts() const {
    std::vector<Eigen::Index> known;
    for (const Eigen::Index at : {user, system, wait}) {
      if (at >= 0) known.push_back(at);
    }
    return known;
  }
};

const std::string& name_of(const PowerTable& table, Eigen::Index column) {
  return table.counters[static_cast<size_t>(column)];
}

struct Inputs {
  std::vector<std::string> names;
  std::vector<Eigen::VectorXd> columns;
  void add(std::string name, Eigen::VectorXd column) {
    names.push_back(std::move(name));
    columns.push_back(std::move(column));
  }
};

}  // namespace

const char* to_text(ActivitySet set) {
  switch (set) {
    case ActivitySet::kLoad:
      return "load";
    case ActivitySet::kCounters:
      return "counters";
    case ActivitySet::kHistory:
      return "history";
    case ActivitySet::kPlain:
      return "plain";
  }
  return "";
}

Result<ActivitySet> parse_activity_set(const std::string& text) {
  for (const ActivitySet set :
       {ActivitySet::kLoad, ActivitySet::kCounters, ActivitySet::kHistory, ActivitySet::kPlain}) {
    if (text == to_text(set)) return set;
  }
  return Error{"bad-json-field", "'" + printable(text) + "' is no set of inputs", "",
               "load, counters, history or plain"};
}

std::vector<std::string> ActivityFeatures::needed_counters() const {
  std::vector<std::string> needed;
  for (const std::string& name : counters_) {
    if (counter_role(name) != CounterRole::kOther || std::find(others_.begin(), others_.end(), name) != others_.end())
      needed.push_back(name);
  }
  return needed;
}

std::optional<double> ActivityFeatures::capacity(const std::string& machine) const {
  const auto known = std::find(machines_.begin(), machines_.end(), machine);
  if (known == machines_.end()) return std::nullopt;
  return capacity_(known - machines_.begin());
}

bool ActivityFeatures::is_percent(const std::string& counter) const {
  if (wholes_) {
    if (const auto share = wholes_->find(counter); share != wholes_->end()) return share->second == kPercent;
  }
  const auto found = std::find(others_.begin(), others_.end(), counter);
  return found != others_.end() && other_scale_(found - others_.begin()) > kMostShare;
}

// Columns by what they mean, in units that inputs are made of.
struct ActivityFeatures::Columns {
  Eigen::VectorXd load, cycles, instructions, wait;  // shares; events a second; empty where there are none
  bool has_load_column = false;
  std::vector<Eigen::Index> used;  // columns of the table that stand in the above

  Columns(const PowerTable& table, const Wholes& wholes) {
    const ShareColumns shares(table);
    const auto take = [&](Eigen::Index at) {
      used.push_back(at);
      return Eigen::VectorXd(table.values.col(at));
    };
    const auto whole = [&](Eigen::Index at) { return wholes.at(name_of(table, at)); };
    if (shares.load >= 0) {
      load = as_share(take(shares.load), whole(shares.load));
    } else if (shares.user >= 0) {
      Eigen::VectorXd sum = take(shares.user);
      if (shares.system >= 0) sum += table.values.col(shares.system);
      load = as_share(sum, whole(shares.user));
    }
    has_load_column = load.size() > 0;
    if (const Eigen::Index at = find_counter(table, CounterRole::kCycles); at >= 0) cycles = take(at);
    if (!has_load_column && cycles.size() == 0) return;  // nothing to hold them against: inputs by themselves
    if (const Eigen::Index at = find_counter(table, CounterRole::kInstructions); at >= 0) instructions = take(at);
    if (shares.wait >= 0) wait = as_share(take(shares.wait), whole(shares.wait));
  }
  bool knows_clock(const PowerTable& table) const { return table.frequency_hz.size() > 0; }
};

// Names first; then the values, of user, system and wait together. Waiting alone is too little to tell: as the load.
ActivityFeatures::Wholes ActivityFeatures::wholes_of(const PowerTable& table) {
  const ShareColumns shares(table);
  Wholes wholes;
  double of_load = 1;
  if (shares.load >= 0) {
    const std::string& name = name_of(table, shares.load);
    of_load = says_percent(name) ? kPercent : share_divisor(table.values.col(shares.load));
    wholes[name] = of_load;
  }
  const std::vector<Eigen::Index> parts = shares.parts();
  if (parts.empty()) return wholes;
  Eigen::VectorXd sum = Eigen::VectorXd::Constant(table.values.rows(), kUnknown);
  bool is_percent = shares.user < 0 && shares.system < 0 && of_load == kPercent;
  for (const Eigen::Index at : parts) {
    is_percent = is_percent || says_percent(name_of(table, at));
    for (Eigen::Index r = 0; r < sum.size(); ++r) {
      if (const double value = table.values(r, at); !std::isnan(value))
        sum(r) = std::isnan(sum(r)) ? value : sum(r) + value;
    }
  }
  const double whole = is_percent ? kPercent : share_divisor(sum);
  for (const Eigen::Index at : parts) wholes[name_of(table, at)] = whole;
  return wholes;
}

ActivityFeatures::Wholes ActivityFeatures::wholes_by_values(const PowerTable& table) {
  const ShareColumns shares(table);
  Wholes wholes;
  const auto add = [&](Eigen::Index at, const Eigen::VectorXd& values) {
    wholes[name_of(table, at)] = share_divisor(values);
  };
  if (shares.load >= 0) add(shares.load, table.values.col(shares.load));
  if (shares.wait >= 0) add(shares.wait, table.values.col(shares.wait));
  if (shares.user < 0) return wholes;
  Eigen::VectorXd sum = table.values.col(shares.user);
  if (shares.system >= 0) sum += table.values.col(shares.system);
  add(shares.user, sum);
  return wholes;
}

// A model's percent stays percent: samples of a machine that idles look like shares. What was learnt as shares of 1 is
// percent where names or values can be nothing else.
ActivityFeatures::Wholes ActivityFeatures::wholes_for(const PowerTable& table) const {
  if (!wholes_) return wholes_by_values(table);
  Wholes wholes = wholes_of(table);
  for (auto& [name, whole] : wholes) {
    if (const auto learnt = wholes_->find(name); learnt != wholes_->end()) whole = std::max(whole, learnt->second);
  }
  return wholes;
}

std::vector<std::string> ActivityFeatures::percent_by_model(const PowerTable& table) const {
  std::vector<std::string> names;
  if (!wholes_) return names;
  const Wholes by_table = wholes_of(table);
  for (const auto& [name, whole] : wholes_for(table)) {
    if (whole != by_table.at(name)) names.push_back(name);
  }
  return names;
}

std::string ActivityFeatures::group_of(const PowerTable& table, size_t row) const {
  const auto r = static_cast<Eigen::Index>(row);
  // Callers that check settings have numbers here.
  const auto whole = [](double value) { return std::isfinite(value) ? fmt::format("{:.0f}", std::round(value)) : "?"; };
  std::string name = table.machines[static_cast<size_t>(table.machine[row])];
  if (table.frequency_hz.size() > 0) {
    const double steps = std::round(table.frequency_hz(r) / clock_step_hz_);
    name += (name.empty() ? "" : " ") + whole(steps * clock_step_hz_ / 1e6) + " MHz";
  }
  if (table.cores.size() > 0) name += " " + whole(table.cores(r)) + " cores";
  return name;
}

double ActivityFeatures::capacity_of(const PowerTable& table, const Columns& columns, int machine) const {
  const auto known = std::find(machines_.begin(), machines_.end(), table.machines[static_cast<size_t>(machine)]);
  if (known != machines_.end()) return capacity_(known - machines_.begin());
  std::vector<size_t> own;
  for (size_t r = 0; r < table.rows(); ++r) {
    if (table.machine[r] == machine) own.push_back(r);
  }
  const ActivityFeatures learnt = learn(table, own, ActivitySet::kLoad, columns);
  return learnt.capacity_.size() > 0 ? learnt.capacity_(0) : 0;
}

ActivityFeatures ActivityFeatures::learn(const PowerTable& table, const std::vector<size_t>& which, ActivitySet set) {
  Wholes wholes = wholes_of(table);
  ActivityFeatures result = learn(table, which, set, Columns(table, wholes));
  result.wholes_ = std::move(wholes);
  result.clock_step_hz_ = perfcast::measure::clock_step_hz(table);
  result.step_s_ = usual_step_s(table, which);
  return result;
}

ActivityFeatures ActivityFeatures::learn(const PowerTable& table, const std::vector<size_t>& which, ActivitySet set,
                                         const Columns& columns) {
  ActivityFeatures result;
  result.set_ = set;
  result.counters_ = table.counters;
  std::vector<std::vector<double>> busy(table.machines.size()), plain(table.machines.size());
  for (const size_t r : which) {
    const auto i = static_cast<Eigen::Index>(r);
    if (columns.cycles.size() == 0 || std::isnan(columns.cycles(i))) continue;
    plain[static_cast<size_t>(table.machine[r])].push_back(columns.cycles(i));
    if (columns.has_load_column && columns.load(i) > kBusy) {
      busy[static_cast<size_t>(table.machine[r])].push_back(columns.cycles(i) / columns.load(i));
    }
  }
  std::vector<double> capacities;
  for (size_t m = 0; m < table.machines.size(); ++m) {
    if (plain[m].empty()) continue;
    // A machine that was never busy: its fastest moments.
    const double capacity = busy[m].size() > 10 ? median(busy[m]) : quantile(plain[m], 0.99);
    if (!(capacity > 0)) continue;
    result.machines_.push_back(table.machines[m]);
    capacities.push_back(capacity);
  }
  result.capacity_ = Eigen::Map<const Eigen::VectorXd>(capacities.data(), static_cast<Eigen::Index>(capacities.size()));
  if (set == ActivitySet::kLoad && (columns.has_load_column || columns.cycles.size() > 0)) return result;
  const bool plain_ones = set == ActivitySet::kPlain;
  std::vector<double> scales;
  for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
    if (!plain_ones && std::find(columns.used.begin(), columns.used.end(), c) != columns.used.end()) continue;
    std::vector<double> known;
    for (const size_t r : which) {
      const auto i = static_cast<Eigen::Index>(r);
      const double value = table.values(i, c);
      if (std::isnan(value)) continue;
      const double clock =
          columns.knows_clock(table) ? table.frequency_hz(i) * (table.cores.size() > 0 ? table.cores(i) : 1) : 1;
      known.push_back(plain_ones ? std::abs(value) : value / clock);
    }
    const double high = known.size() * 2 > which.size() ? quantile(std::move(known), 0.99) : 0;
    if (!(high > 0)) continue;  // silent, or absent mostly
    const std::string& name = table.counters[static_cast<size_t>(c)];
    result.others_.push_back(name);
    scales.push_back(plain_ones && is_share(counter_role(name)) ? 1 : high);
  }
  result.other_scale_ = Eigen::Map<const Eigen::VectorXd>(scales.data(), static_cast<Eigen::Index>(scales.size()));
  return result;
}

PowerDesign ActivityFeatures::design(const PowerTable& table) const {
  const auto n = static_cast<Eigen::Index>(table.rows());
  const Wholes wholes = wholes_for(table);
  const Columns columns(table, wholes);
  const bool clocked = columns.knows_clock(table);
  Eigen::VectorXd capacity = Eigen::VectorXd::Zero(n);
  std::map<int, double> of_machine;
  for (Eigen::Index r = 0; r < n; ++r) {
    if (clocked) {
      capacity(r) = table.frequency_hz(r) * (table.cores.size() > 0 ? table.cores(r) : 1);
    } else if (columns.cycles.size() > 0) {
      const int machine = table.machine[static_cast<size_t>(r)];
      const auto [at, fresh] = of_machine.try_emplace(machine, 0);
      if (fresh) at->second = capacity_of(table, columns, machine);
      capacity(r) = at->second;
    }
  }
  const auto per_capacity = [&capacity](const Eigen::VectorXd& values) -> Eigen::VectorXd {
    return (capacity.array() > 0).select(values.array() / capacity.array(), kUnknown);
  };
  const std::vector<int> near = runs_of_step(table, step_s_);
  Inputs inputs;
  const bool plain = set_ == ActivitySet::kPlain;
  Eigen::VectorXd load, clock = Eigen::VectorXd::Ones(n);
  if (columns.has_load_column && !plain) {
    const Eigen::VectorXd& raw = columns.load;
    load = smoothed(raw, near, kLoadReach);
    if (columns.cycles.size() > 0 && !clocked) {
      const Eigen::VectorXd cycles = smoothed(per_capacity(columns.cycles), near, kClockReach);
      const Eigen::VectorXd busy = smoothed(raw, near, kClockReach);
      clock = ((cycles.array() + kSmall) / (busy.array() + kSmall)).max(kLeastClock).min(kMostClock);
    }
  } else if (columns.cycles.size() > 0 && !plain) {
    load = per_capacity(columns.cycles);
  }
  if (load.size() > 0) {
    const Eigen::ArrayXd u = load.array().max(0);
    const Eigen::ArrayXd k = clock.array();
    inputs.add("awake", 1 - (-kWake * u).exp());
    inputs.add("load", u);
    inputs.add("load_clock_sqrt", (u * k).sqrt());
    if (columns.has_load_column && columns.cycles.size() > 0) {
      inputs.add("load_clock", u * k);
      inputs.add("load_clock2", u * k * k);
    }
    if (columns.cycles.size() > 0 && columns.instructions.size() > 0) {
      const Eigen::Index reach = columns.has_load_column ? kRatioReach : 0;
      const Eigen::ArrayXd cycles = smoothed(per_capacity(columns.cycles), near, reach).array();
      const Eigen::ArrayXd work = smoothed(per_capacity(columns.instructions), near, reach).array();
      inputs.add("load_ipc", u * ((work + kSmall * 0.1) / (cycles + kSmall * 0.1)).min(kMostRatio));
    } else if (columns.instructions.size() > 0) {
      inputs.add("instructions", columns.instructions);
    }
    if (columns.wait.size() > 0) inputs.add("wait", smoothed(columns.wait, near, kLoadReach));
  }
  for (size_t j = 0; j < others_.size(); ++j) {
    const Eigen::Index at = table.counter(others_[j]);
    Eigen::VectorXd values = at >= 0 ? Eigen::VectorXd(table.values.col(at)) : Eigen::VectorXd::Constant(n, kUnknown);
    if (plain && is_share(counter_role(others_[j]))) values = as_share(values, wholes.at(others_[j]));
    if (plain) {
      inputs.add(others_[j], values / other_scale_(static_cast<Eigen::Index>(j)));
      continue;
    }
    if (clocked) values = per_capacity(values);
    values = (values.array() / other_scale_(static_cast<Eigen::Index>(j))).max(0);
    inputs.add(others_[j], values);
    inputs.add(others_[j] + "_sqrt", values.array().sqrt());
  }
  const size_t of_now = inputs.columns.size();
  PowerDesign design;
  if (set_ == ActivitySet::kHistory) {
    for (size_t j = 0; j < of_now; ++j)
      inputs.add(inputs.names[j] + "_before", row_before(inputs.columns[j], table.run, near));
  }
  Eigen::VectorXd begins = Eigen::VectorXd::Zero(n);
  for (Eigen::Index r = 0; r < n; ++r) {
    begins(r) = r == 0 || table.run[static_cast<size_t>(r)] != table.run[static_cast<size_t>(r - 1)] ? 1 : 0;
  }
  if (set_ == ActivitySet::kHistory) inputs.add("run_begins", begins);
  design.log_scale = Eigen::VectorXd::Zero(n);
  if (plain) {
    if (clocked) inputs.add("frequency", table.frequency_hz * 1e-9);
    if (table.voltage_v.size() > 0) inputs.add("voltage", table.voltage_v);
    if (table.cores.size() > 0) inputs.add("cores", table.cores);
  } else if (clocked && table.voltage_v.size() > 0) {
    inputs.add("voltage", table.voltage_v);
    design.log_scale = (table.voltage_v.array().square() * capacity.array() * 1e-9).log();
  } else if (clocked) {
    inputs.add("frequency", table.frequency_hz * 1e-9);
    design.log_scale = (capacity.array() * 1e-9).log();
  }
  if (table.temperature_c.size() > 0) inputs.add("temperature", table.temperature_c);
  design.names = inputs.names;
  design.rows.resize(n, static_cast<Eigen::Index>(inputs.columns.size()));
  for (size_t j = 0; j < inputs.columns.size(); ++j) design.rows.col(static_cast<Eigen::Index>(j)) = inputs.columns[j];
  design.watts = table.watts;
  design.workloads = table.workloads;
  design.workload = table.workload;
  std::map<std::string, int> numbers;
  for (Eigen::Index r = 0; r < n; ++r) {
    const std::string name = group_of(table, static_cast<size_t>(r));
    const auto [at, fresh] = numbers.try_emplace(name, static_cast<int>(design.groups.size()));
    if (fresh) design.groups.push_back(name);
    design.group.push_back(at->second);
  }
  return design;
}

Json ActivityFeatures::to_json() const {
  Json json = {{"set", to_text(set_)}, {"counters", counters_}};
  Json others = Json::array(), capacities = Json::array();
  for (size_t j = 0; j < others_.size(); ++j) {
    others.push_back({{"name", others_[j]}, {"scale", other_scale_(static_cast<Eigen::Index>(j))}});
  }
  for (size_t m = 0; m < machines_.size(); ++m) {
    capacities.push_back({{"machine", machines_[m]}, {"cycles_per_s", capacity_(static_cast<Eigen::Index>(m))}});
  }
  json["others"] = others;
  json["capacities"] = capacities;
  json["clock_step_hz"] = clock_step_hz_;
  if (!std::isnan(step_s_)) json["step_s"] = step_s_;
  if (wholes_) {
    json["shares"] = Json::array();
    for (const auto& [name, whole] : *wholes_) json["shares"].push_back({{"name", name}, {"whole", whole}});
  }
  return json;
}

Result<ActivityFeatures> ActivityFeatures::from_json(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  const auto set = parse_activity_set(in.string("set"));
  ActivityFeatures result;
  result.counters_ = in.strings("counters");
  const Json* others = in.require_array("others");
  const Json* capacities = in.require_array("capacities");
  const Json* shares = in.array("shares");
  result.clock_step_hz_ = in.number_or("clock_step_hz", result.clock_step_hz_);
  result.step_s_ = in.number_or("step_s", kUnknown);
  if (result.step_s_ <= 0) in.complain("step_s", "a step that is none", "a number above 0");
  if (!(result.clock_step_hz_ >= 1)) in.complain("clock_step_hz", "a step that is none", "a number of at least 1");
  if (Status done = in.finish(); !done) return done.error();
  if (!set) return set.error();
  result.set_ = *set;
  const auto read = [&](const Json& list, const char* what, const char* name_key, const char* number_key,
                        std::vector<std::string>& names, Eigen::VectorXd& numbers) -> Status {
    std::vector<double> values;
    for (size_t i = 0; i < list.size(); ++i) {
      JsonReader entry(list[i], path + "." + what + "[" + std::to_string(i) + "]");
      names.push_back(entry.string(name_key));
      values.push_back(entry.number(number_key));
      if (Status done = entry.finish(); !done) return done;
      if (!(values.back() > 0)) entry.complain(number_key, "a number that is not above 0", "a scale above 0");
      if (Status done = entry.finish(); !done) return done;
    }
    numbers = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    return {};
  };
  if (Status done = read(*others, "others", "name", "scale", result.others_, result.other_scale_); !done) {
    return done.error();
  }
  if (Status done = read(*capacities, "capacities", "machine", "cycles_per_s", result.machines_, result.capacity_);
      !done) {
    return done.error();
  }
  if (shares != nullptr) {
    std::vector<std::string> names;
    Eigen::VectorXd wholes;
    if (Status done = read(*shares, "shares", "name", "whole", names, wholes); !done) return done.error();
    result.wholes_.emplace();
    for (size_t i = 0; i < names.size(); ++i) {
      const double whole = wholes(static_cast<Eigen::Index>(i));
      if (whole != 1 && whole != kPercent) {
        in.complain("shares[" + std::to_string(i) + "].whole", "neither shares of 1 nor percent", "1 or 100");
      }
      (*result.wholes_)[names[i]] = whole;
    }
    if (Status done = in.finish(); !done) return done.error();
  }
  return result;
}

}  // namespace perfcast::measure
