#include "measure/power/table/power_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/csv.h"
#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "measure/power/table/counter_role.h"
#include "measure/power/table/table_settings.h"

namespace perfcast::measure {
namespace {

constexpr double kGapIntervals = 5;  // a step this many times the usual one is a gap
constexpr double kMostWatts = 2e4, kLeastWatts = 1e-3;
constexpr double kUnitStep = 300;   // between two halves of one machine's samples: no load does that
constexpr double kMostRate = 1e18;  // events a second: no machine has more
constexpr double kConstant = 1e-4;
constexpr size_t kFewSamples = 9;
constexpr double kSmallWatts = 1;  // a median below: a small device, or kilowatts
// Events of a machine: so many CPUs at such a clock, an instruction after the other at such a width.
constexpr double kMostCycles = 1024 * 6e9, kMostInstructionsPerCycle = 10, kOverClock = 1.1;
constexpr double kMostWhole = 1e15;       // beyond, numbers have no room for fractions
constexpr double kMostFractions = 0.5;    // of a counter's values
constexpr double kFullLoad = 1.02;        // samplers' clocks differ a little
constexpr double kMostOverloaded = 0.02;  // of the rows

const std::vector<std::string>& time_names() {
  static const std::vector<std::string> names = {"time_s", "timestamp", "time"};
  return names;
}
const std::vector<std::string>& power_names() {
  static const std::vector<std::string> names = {"watts", "power_w", "power_watts", "powerWatts"};
  return names;
}

// The first of the names that the file has and that isn't to be left out.
std::optional<size_t> first_of(const CsvTable& csv, const std::vector<std::string>& names,
                               const PowerTableOptions& options) {
  for (const std::string& name : names) {
    if (std::find(options.ignored.begin(), options.ignored.end(), name) != options.ignored.end()) continue;
    if (const auto found = csv.find_column(name)) return found;
  }
  return std::nullopt;
}

class NameList {
 public:
  explicit NameList(std::vector<std::string>& names) : names_(names) {}
  int index(const std::string& name) {
    const auto [at, added] = known_.try_emplace(name, static_cast<int>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, int> known_;
};

// Seconds since 1970 are below 1e11 for the next 3,000 years.
double to_seconds(double time) {
  const double size = std::abs(time);
  if (size < 1e11) return time;
  if (size < 1e14) return time * 1e-3;
  return size < 1e17 ? time * 1e-6 : time * 1e-9;
}

Result<Eigen::VectorXd> numbers(const CsvTable& csv, size_t column, double factor) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(csv.rows()));
  for (size_t r = 0; r < csv.rows(); ++r) {
    const auto value = csv.number(r, column);
    if (!value) return value.error();
    result(static_cast<Eigen::Index>(r)) = *value ? **value * factor : kUnknown;
  }
  return result;
}

struct KnownColumns {
  std::optional<size_t> time, power, machine, workload, run, frequency, voltage, temperature, cores;
  double frequency_factor = 1;
  std::vector<size_t> counters;
};

KnownColumns known_columns(const CsvTable& csv, const PowerTableOptions& options) {
  KnownColumns known;
  known.time = first_of(csv, time_names(), options);
  known.power = first_of(csv, power_names(), options);
  known.machine = first_of(csv, {"machine"}, options);
  known.workload = first_of(csv, {"workload"}, options);
  known.run = first_of(csv, {"run"}, options);
  known.frequency = first_of(csv, {"frequency_hz"}, options);
  if (!known.frequency) {
    known.frequency = first_of(csv, {"frequency_mhz"}, options);
    known.frequency_factor = 1e6;
  }
  known.voltage = first_of(csv, {"voltage_v"}, options);
  known.temperature = first_of(csv, {"temperature_c"}, options);
  known.cores = first_of(csv, {"cores"}, options);
  std::vector<std::string> taken = options.ignored;
  for (const auto& names : {time_names(), power_names()}) taken.insert(taken.end(), names.begin(), names.end());
  for (const char* name :
       {"machine", "workload", "run", "frequency_hz", "frequency_mhz", "voltage_v", "temperature_c", "cores"}) {
    taken.emplace_back(name);
  }
  for (size_t c = 0; c < csv.columns().size(); ++c) {
    if (std::find(taken.begin(), taken.end(), csv.columns()[c]) == taken.end()) known.counters.push_back(c);
  }
  return known;
}

// Counts are whole numbers; shares are none, and rates seldom are.
Status check_counts(const PowerTable& table, const std::string& source) {
  for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
    const std::string& name = table.counters[static_cast<size_t>(c)];
    if (is_share(counter_role(name))) continue;
    double counted = 0, fractions = 0;
    for (const double value : table.values.col(c)) {
      if (std::isnan(value) || value == 0 || std::abs(value) > kMostWhole) continue;
      ++counted;
      if (value != std::floor(value)) ++fractions;
    }
    if (fractions <= kMostFractions * counted) continue;
    return Error{
        "bad-samples",
        fmt::format("{} of {} values of {} have fractions: they are no counts", fractions, counted, printable(name)),
        source, "no --counts where columns are events a second; --ignore leaves a column out"};
  }
  return {};
}

// Counts since the row before become rates, the first row of a run has none; shares stay.
void divide_by_time(PowerTable& table, PowerTableNotes& notes) {
  std::vector<Eigen::Index> counts;
  std::vector<std::string> shares;
  for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
    const std::string& name = table.counters[static_cast<size_t>(c)];
    if (is_share(counter_role(name))) {
      shares.push_back(printable(name));
    } else {
      counts.push_back(c);
    }
  }
  if (!shares.empty()) notes.lines.push_back(join(shares, ", ") + ": shares of time, no counts: taken as they are");
  for (Eigen::Index r = table.values.rows(); r-- > 0;) {
    const bool follows = r > 0 && table.run[static_cast<size_t>(r)] == table.run[static_cast<size_t>(r - 1)];
    const double interval_s = follows ? table.time_s(r) - table.time_s(r - 1) : kUnknown;
    for (const Eigen::Index c : counts) table.values(r, c) /= interval_s > 0 ? interval_s : kUnknown;
  }
}

// Load is of the whole machine: 100% at most. One of eight busy CPUs is 12.5%, not 100%.
Status check_load(const PowerTable& table, const std::string& source, PowerTableNotes& notes) {
  Eigen::VectorXd load;
  std::vector<std::string> names;
  bool is_percent = false;
  for (const CounterRole role : {CounterRole::kLoad, CounterRole::kUser, CounterRole::kSystem}) {
    for (size_t c = 0; c < table.counters.size(); ++c) {
      if (counter_role(table.counters[c]) != role) continue;
      const Eigen::VectorXd values = table.values.col(static_cast<Eigen::Index>(c));
      load = load.size() == 0 ? values : Eigen::VectorXd(load + values);
      names.push_back(printable(table.counters[c]));
      is_percent = is_percent || says_percent(table.counters[c]);
      break;
    }
    if (role == CounterRole::kLoad && load.size() > 0) break;
  }
  if (load.size() == 0) return {};
  const double divisor = is_percent ? kPercent : share_divisor(load);
  double known = 0, above = 0, highest = 0, most = 0;
  for (const double value : load) {
    if (std::isnan(value)) continue;
    ++known;
    most = std::max(most, value);
    if (value / divisor <= kFullLoad) continue;
    ++above;
    highest = std::max(highest, value / divisor);
  }
  if (is_percent && most > 0 && most <= 1) {
    notes.lines.push_back(fmt::format("{} {} {} at the most, which is taken for percent: a share of 1 is cpu_share",
                                      join(names, " + "), names.size() == 1 ? "is" : "are", significant(most, 3)));
  }
  if (above == 0) return {};
  const std::string found = fmt::format("{} {} above 100% in {:.0f} of {:.0f} rows, up to {:.0f}%", join(names, " + "),
                                        names.size() == 1 ? "is" : "are", above, known, 100 * highest);
  if (above > kMostOverloaded * known) {
    return Error{
        "bad-samples", found, source,
        "the load of the whole machine, 100% when all of its CPUs are busy: divide percent of one CPU by their number"};
  }
  notes.lines.push_back(found + fmt::format("; above {:.0f}% it is taken as absent", 100 * kMostShare));
  return {};
}

// In how many rows a number is above what can be, and by how much at the most.
struct Beyond {
  double known = 0, above = 0, highest = 0;
  void see(double value, double most) {
    if (std::isnan(value) || !(most > 0)) return;
    ++known;
    if (value <= most) return;
    ++above;
    highest = std::max(highest, value / most);
  }
  bool is_many() const { return above > kMostOverloaded * known; }
};

// Cycles that no such machine has, and instructions that no core does in so many cycles.
void note_impossible_rates(const PowerTable& table, PowerTableNotes& notes) {
  Eigen::Index cycles = -1, instructions = -1;
  for (size_t c = 0; c < table.counters.size(); ++c) {
    const CounterRole role = counter_role(table.counters[c]);
    if (role == CounterRole::kCycles) cycles = static_cast<Eigen::Index>(c);
    if (role == CounterRole::kInstructions) instructions = static_cast<Eigen::Index>(c);
  }
  const bool has_capacity = table.frequency_hz.size() > 0 && table.cores.size() > 0;
  Beyond clock, width;
  for (Eigen::Index r = 0; r < table.values.rows(); ++r) {
    const double most = has_capacity ? kOverClock * table.frequency_hz(r) * table.cores(r) : kMostCycles;
    if (cycles >= 0) clock.see(table.values(r, cycles), most);
    if (instructions < 0) continue;
    const double in_cycles = cycles >= 0 ? table.values(r, cycles) : most;
    width.see(table.values(r, instructions), kMostInstructionsPerCycle * in_cycles);
  }
  const char* const mend = "were they counts since the row before (--counts), or of another interval?";
  if (clock.is_many()) {
    notes.lines.push_back(fmt::format("{} a second are above what {} in {:.0f} of {:.0f} rows, up to {} times: {}",
                                      printable(table.counters[static_cast<size_t>(cycles)]),
                                      has_capacity ? "so many cores at that frequency have" : "1024 CPUs at 6 GHz have",
                                      clock.above, clock.known, significant(clock.highest, 3), mend));
  }
  if (width.is_many()) {
    notes.lines.push_back(
        fmt::format("{} are over {:.0f} in each cycle in {:.0f} of {:.0f} rows, more than any core does",
                    printable(table.counters[static_cast<size_t>(instructions)]), kMostInstructionsPerCycle,
                    width.above, width.known));
  }
}

// A server in kilowatts looks like a small board in watts.
void note_small_power(const PowerTable& table, PowerTableNotes& notes) {
  std::vector<double> watts;
  std::vector<std::vector<double>> of(table.machines.size());
  watts.reserve(table.rows());
  for (size_t r = 0; r < table.rows(); ++r) {
    const double value = table.watts(static_cast<Eigen::Index>(r));
    if (std::isnan(value)) continue;
    watts.push_back(value);
    of[static_cast<size_t>(table.machine[r])].push_back(value);
  }
  if (watts.empty()) return;
  const double typical = median(std::move(watts));
  if (typical < kSmallWatts) {
    notes.lines.push_back(
        fmt::format("the median power is {} W, that of a small board: were it kilowatts, multiply the column by 1000",
                    significant(typical, 3)));
    return;
  }
  for (size_t m = 0; m < of.size(); ++m) {
    const double own = of[m].empty() ? typical : median(std::move(of[m]));
    if (own >= kSmallWatts) continue;
    notes.lines.push_back(
        fmt::format("the median power of {} is {} W, that of a small board, where all samples have {} W: were "
                    "it kilowatts, "
                    "multiply by 1000",
                    printable(table.machines[m]), significant(own, 3), significant(typical, 3)));
  }
}

void note_absent(const PowerTable& table, PowerTableNotes& notes) {
  const auto rows = static_cast<double>(table.values.rows());
  for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
    const double absent = static_cast<double>(table.values.col(c).array().isNaN().count());
    if (absent > 0.5 * rows) {
      notes.lines.push_back(fmt::format("{} is absent in {:.0f}% of the rows",
                                        printable(table.counters[static_cast<size_t>(c)]), 100 * absent / rows));
    }
  }
}

}  // namespace

Eigen::Index PowerTable::counter(std::string_view name) const {
  const auto found = std::find(counters.begin(), counters.end(), name);
  return found == counters.end() ? -1 : static_cast<Eigen::Index>(found - counters.begin());
}

PowerGaps number_runs(PowerTable& table, const std::vector<int>& given_run) {
  const size_t rows = table.rows();
  const double step_hz = clock_step_hz(table);
  const auto same_place = [&](size_t r) {
    const auto i = static_cast<Eigen::Index>(r);
    const auto same = [i](const Eigen::VectorXd& values, double step) {
      return values.size() == 0 || std::round(values(i) / step) == std::round(values(i - 1) / step) ||
             (std::isnan(values(i)) && std::isnan(values(i - 1)));
    };
    return table.machine[r] == table.machine[r - 1] && table.workload[r] == table.workload[r - 1] &&
           same(table.frequency_hz, step_hz) && same(table.cores, 1) &&
           (given_run.empty() || given_run[r] == given_run[r - 1]);
  };
  // The usual step hangs on the machine: meters differ.
  std::map<int, std::vector<double>> steps_of;
  for (size_t r = 1; r < rows; ++r) {
    const double step = table.time_s(static_cast<Eigen::Index>(r)) - table.time_s(static_cast<Eigen::Index>(r - 1));
    if (same_place(r) && step > 0) steps_of[table.machine[r]].push_back(step);
  }
  std::map<int, double> usual_s;
  for (auto& [machine, of] : steps_of) usual_s[machine] = median(std::move(of));
  PowerGaps gaps;
  table.run.assign(rows, 0);
  int run = 0;
  for (size_t r = 1; r < rows; ++r) {
    bool follows = same_place(r);
    const double step = table.time_s(static_cast<Eigen::Index>(r)) - table.time_s(static_cast<Eigen::Index>(r - 1));
    if (follows && step < 0) {
      follows = false;
      ++gaps.back;
    }
    if (follows && step > kGapIntervals * usual_s[table.machine[r]]) {
      follows = false;
      ++gaps.count;
      gaps.longest_s = std::max(gaps.longest_s, step);
    }
    if (!follows) ++run;
    table.run[r] = run;
  }
  return gaps;
}

PowerTable table_part(const PowerTable& table, const std::vector<size_t>& which) {
  PowerTable part;
  part.machines = table.machines;
  part.workloads = table.workloads;
  part.counters = table.counters;
  std::vector<Eigen::Index> rows;
  rows.reserve(which.size());
  for (const size_t r : which) {
    rows.push_back(static_cast<Eigen::Index>(r));
    part.machine.push_back(table.machine[r]);
    part.workload.push_back(table.workload[r]);
    part.run.push_back(table.run[r]);
  }
  part.time_s = table.time_s(rows);
  part.watts = table.watts(rows);
  part.values = table.values(rows, Eigen::all);
  for (const auto& [from, into] : {std::pair{&table.frequency_hz, &part.frequency_hz},
                                   {&table.voltage_v, &part.voltage_v},
                                   {&table.temperature_c, &part.temperature_c},
                                   {&table.cores, &part.cores}}) {
    if (from->size() > 0) *into = (*from)(rows);
  }
  return part;
}

Status check_watts(const PowerTable& table, const std::string& source) {
  std::vector<std::vector<double>> of(table.machines.size());
  std::vector<std::vector<size_t>> rows(table.machines.size());
  for (size_t r = 0; r < table.rows(); ++r) {
    const double watts = table.watts(static_cast<Eigen::Index>(r));
    if (std::isnan(watts)) continue;
    of[static_cast<size_t>(table.machine[r])].push_back(watts);
    rows[static_cast<size_t>(table.machine[r])].push_back(r);
  }
  for (size_t m = 0; m < of.size(); ++m) {
    if (of[m].empty()) continue;
    const std::string name = printable(table.machines[m]);
    const std::string who = name.empty() ? "the samples" : "the samples of " + name;
    const double typical = median(of[m]);
    if (typical > kMostWatts || typical < kLeastWatts) {
      return Error{"bad-samples", fmt::format("{} have a median power of {} W", who, significant(typical, 3)), source,
                   typical > kMostWatts ? "watts: divide milliwatts by 1000" : "watts: multiply kilowatts by 1000"};
    }
    const double low = quantile(of[m], 0.02), high = quantile(of[m], 0.98);
    // Rows in one unit and rows in another are told as such below.
    for (size_t i = 0; high <= kUnitStep * typical && i < of[m].size(); ++i) {
      if (of[m][i] <= kUnitStep * typical) continue;
      return Error{"bad-samples",
                   fmt::format("a power of {} W, where {} have {} W at the median", significant(of[m][i], 3), who,
                               significant(typical, 3)),
                   fmt::format("{}, sample {}", source, rows[m][i] + 1),
                   "no spikes of the meter: nothing where it was wrong"};
    }
    if (high > kUnitStep * low) {
      return Error{"bad-samples",
                   fmt::format("{} range from {} to {} W", who, significant(low, 3), significant(high, 3)), source,
                   "one unit in the whole column: parts of it look like milliwatts"};
    }
    const auto [least, most] = std::minmax_element(of[m].begin(), of[m].end());
    // A few samples of a machine beside others may well be of idle alone.
    const size_t few = of.size() == 1 ? 1 : kFewSamples;
    if (of[m].size() > few && *most - *least <= kConstant * typical) {
      return Error{
          "bad-samples",
          fmt::format("{} have a constant power of {} W: there is nothing to learn", who, significant(typical, 4)),
          source, "samples under idle and load, from a meter that follows them"};
    }
  }
  return {};
}

Result<PowerTable> read_power_table(std::string_view text, const std::string& source, const PowerTableOptions& options,
                                    PowerTableNotes& notes) {
  const auto csv = CsvTable::parse_any_form(text, source);
  if (!csv) return csv.error();
  if (!csv->form().empty()) notes.lines.push_back(source + " was read as having " + csv->form());
  if (csv->rows() > options.most_rows || csv->columns().size() > options.most_columns) {
    return Error{"too-large", fmt::format("{} rows of {} columns", csv->rows(), csv->columns().size()), source,
                 fmt::format("at most {} rows and {} columns", options.most_rows, options.most_columns)};
  }
  for (const std::string& name : options.ignored) {
    if (const auto there = csv->column(name); !there) {
      return usage_error("missing-column", there.error().message, "--ignore", "columns of the samples");
    }
  }
  const KnownColumns known = known_columns(*csv, options);
  for (const std::string& name : options.ignored) {
    if (!options.needs_watts || known.power ||
        std::find(power_names().begin(), power_names().end(), name) == power_names().end()) {
      continue;
    }
    return usage_error("bad-usage", printable(name) + " is what is to be learnt: it can't be left out", "--ignore",
                       "counters, and columns that are none");
  }
  if (options.needs_watts && !known.power) {
    return Error{"missing-column", "there is no column of power", source + ":1",
                 "one of: " + join(power_names(), ", ") + "; there is: " + join(csv->columns(), ", ")};
  }
  if (known.counters.empty()) {
    return Error{"missing-column", "there is no column of a counter", source + ":1",
                 "columns of events a second or of shares beside the time and the power"};
  }
  if (options.counts && !known.time) {
    return Error{"missing-column", "counts need the time between rows", source + ":1",
                 "one of: " + join(time_names(), ", ")};
  }
  if (csv->rows() == 0) return Error{"bad-samples", "there is no row", source, "a sample a line"};
  PowerTable table;
  const auto rows = static_cast<Eigen::Index>(csv->rows());
  NameList machines(table.machines), workloads(table.workloads);
  std::vector<int> given_run;
  std::vector<std::string> run_names;
  NameList runs(run_names);
  for (size_t r = 0; r < csv->rows(); ++r) {
    table.machine.push_back(machines.index(known.machine ? std::string(csv->cell(r, *known.machine)) : ""));
    table.workload.push_back(workloads.index(known.workload ? std::string(csv->cell(r, *known.workload)) : ""));
    if (known.run) given_run.push_back(runs.index(std::string(csv->cell(r, *known.run))));
  }
  const auto fill = [&](const std::optional<size_t>& column, double factor, Eigen::VectorXd& into) -> Status {
    if (!column) return {};
    auto values = numbers(*csv, *column, factor);
    if (!values) return values.error();
    into = std::move(*values);
    return {};
  };
  table.time_s = table.watts = Eigen::VectorXd::Constant(rows, kUnknown);
  for (const Status& done :
       {fill(known.time, 1, table.time_s), fill(known.power, 1, table.watts),
        fill(known.frequency, known.frequency_factor, table.frequency_hz), fill(known.voltage, 1, table.voltage_v),
        fill(known.temperature, 1, table.temperature_c), fill(known.cores, 1, table.cores)}) {
    if (!done) return done.error();
  }
  const std::vector<SettingColumn> settings = setting_columns(table);
  for (Eigen::Index r = 0; r < rows; ++r) {
    table.time_s(r) = to_seconds(table.time_s(r));
    if (table.watts(r) <= 0) {
      return Error{"bad-samples", fmt::format("a power of {} W", significant(table.watts(r), 4)),
                   csv->where(static_cast<size_t>(r)), "watts above 0, or nothing where the meter was silent"};
    }
    for (const SettingColumn& column : settings) {
      const double value = (*column.values)(r);
      if (std::isnan(value) || (value > 0 && value <= column.most)) continue;
      return Error{"bad-samples", fmt::format("a {} of {} {}", column.name, significant(value, 4), column.unit),
                   csv->where(static_cast<size_t>(r)),
                   fmt::format("above 0, and at most {:g} {}", column.most, column.unit)};
    }
  }
  table.values.resize(rows, static_cast<Eigen::Index>(known.counters.size()));
  for (size_t c = 0; c < known.counters.size(); ++c) {
    auto values = numbers(*csv, known.counters[c], 1);
    if (!values) {
      Error error = values.error();
      error.expected += "; --ignore leaves a column out";
      return error;
    }
    for (Eigen::Index r = 0; r < rows; ++r) {
      if (std::abs((*values)(r)) <= kMostRate || std::isnan((*values)(r))) continue;
      return Error{"bad-samples",
                   fmt::format("{} of {}", printable(csv->columns()[known.counters[c]]), significant((*values)(r), 3)),
                   csv->where(static_cast<size_t>(r)), "what a machine can count, or nothing where it was not counted"};
    }
    table.values.col(static_cast<Eigen::Index>(c)) = *values;
    table.counters.push_back(csv->columns()[known.counters[c]]);
  }
  const PowerGaps gaps = number_runs(table, given_run);
  if (gaps.count > 0) {
    notes.lines.push_back(fmt::format("{} {} in the samples, the longest of {}: nothing is carried over {}", gaps.count,
                                      gaps.count == 1 ? "gap" : "gaps", human_seconds(gaps.longest_s),
                                      gaps.count == 1 ? "it" : "them"));
  }
  if (gaps.back > 0) {
    notes.lines.push_back(fmt::format("time steps back {} {}: a run ends there, and nothing is carried over", gaps.back,
                                      gaps.back == 1 ? "time" : "times"));
  }
  if (options.counts) {
    if (Status checked = check_counts(table, source); !checked) return checked.error();
    divide_by_time(table, notes);
  }
  const Eigen::Index negative = (table.values.array() < 0).count();
  if (negative > 0) {
    notes.lines.push_back(fmt::format("{} {} below 0 (a counter that wrapped or was set back): taken as absent",
                                      negative, negative == 1 ? "value is" : "values are"));
    table.values = (table.values.array() < 0).select(kUnknown, table.values);
  }
  note_absent(table, notes);
  if (Status checked = check_load(table, source, notes); !checked) return checked.error();
  note_impossible_rates(table, notes);
  if (options.needs_watts) {
    const Eigen::Index silent = table.watts.array().isNaN().count();
    if (silent == rows) return Error{"bad-samples", "no row has a power", source, "watts beside the counters"};
    if (silent > 0) {
      notes.lines.push_back(fmt::format("{} row{} without power {} not learnt from", silent, silent == 1 ? "" : "s",
                                        silent == 1 ? "is" : "are"));
    }
    if (Status checked = check_watts(table, source); !checked) return checked.error();
    note_small_power(table, notes);
  }
  // The last: counts are since the row before, whatever its setting, and errors tell rows by number.
  if (Status placed = leave_out_unplaced(table, given_run, source, notes); !placed) return placed.error();
  if (options.needs_watts && table.watts.array().isNaN().all()) {
    return Error{"bad-samples", "no row has a power and its setting", source,
                 "watts beside frequency, voltage and cores"};
  }
  return table;
}

}  // namespace perfcast::measure
