#include "studies/phases/recorded_runs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/csv.h"
#include "base/file.h"
#include "base/unknown.h"

namespace perfcast::measure::phases_study {
namespace {

constexpr double kWrap = 4294967296.0;
constexpr double kHzOfMhz = 1e6;
constexpr double kSample_s = 2, kSlowSample_s = 10;
// Rows of a run from which there are phases to speak of.
constexpr size_t kLeastSamples = 4;

Result<CsvTable> read_table(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return CsvTable::parse(*text, path);
}

using RunKey = std::tuple<std::string, std::string, int>;

void add_runs(const std::map<RunKey, std::vector<Eigen::VectorXd>>& rows, RecordedSet& set) {
  for (const auto& [key, samples] : rows) {
    if (samples.size() < kLeastSamples) continue;
    RecordedRun& run = set.runs.emplace_back();
    std::tie(run.program, run.platform, run.repeat) = key;
    run.samples.resize(static_cast<Eigen::Index>(samples.size()), samples.front().size());
    for (size_t i = 0; i < samples.size(); ++i) run.samples.row(static_cast<Eigen::Index>(i)) = samples[i].transpose();
  }
}

}  // namespace

double unwrapped(double difference) { return difference < 0 ? difference + kWrap : difference; }

Result<RecordedSet> read_frequency_runs(const std::string& path) {
  const auto table = read_table(path);
  if (!table) return table.error();
  RecordedSet set;
  set.name = path.substr(path.rfind('/') + 1);
  size_t wanted[6];
  const char* const names[6] = {"Benchmark",    "Run(#)",     "CPU(4) Frequency(MHz)",
                                "A15 Power(W)", "CPU_CYCLES", "INST_RETIRED"};
  for (size_t i = 0; i < 6; ++i) {
    const auto column = table->column(names[i]);
    if (!column) return column.error();
    wanted[i] = *column;
  }
  std::vector<size_t> events;
  for (size_t c = wanted[4] + 1; c < table->columns().size(); ++c) {
    if (c == wanted[5] || table->columns()[c] == "SW_INCR") continue;
    events.push_back(c);
    set.events.push_back(table->columns()[c]);
  }
  std::map<RunKey, std::vector<Eigen::VectorXd>> rows;
  for (size_t r = 0; r < table->rows(); ++r) {
    double values[4] = {};
    for (size_t i = 0; i < 4; ++i) {
      const auto value = table->number(r, wanted[i + 2]);
      if (!value) return value.error();
      values[i] = value->value_or(0);
    }
    if (values[0] <= 0) continue;
    Eigen::VectorXd sample(kEventColumns + static_cast<Eigen::Index>(events.size()));
    sample(kBusyColumn) = unwrapped(values[2]) / (kHzOfMhz * values[0]);
    sample(kInstructionsColumn) = unwrapped(values[3]);
    sample(kJoulesColumn) = values[1] * sample(kBusyColumn);
    for (size_t e = 0; e < events.size(); ++e) {
      const auto value = table->number(r, events[e]);
      if (!value) return value.error();
      sample(kEventColumns + static_cast<Eigen::Index>(e)) = unwrapped(value->value_or(0));
    }
    const auto repeat = parse_number(table->cell(r, wanted[1]));
    rows[{std::string(table->cell(r, wanted[0])), std::string(table->cell(r, wanted[2])),
          static_cast<int>(repeat.value_or(1))}]
        .push_back(std::move(sample));
  }
  add_runs(rows, set);
  return set;
}

Result<RecordedSet> read_server_runs(const std::string& folder) {
  const std::string path = folder + "/server_power_counters.csv.gz";
  const auto table = read_table(path);
  if (!table) return table.error();
  RecordedSet set;
  set.name = "servers";
  const auto power = table->column("powerWatts"), instructions = table->column("instructions");
  if (!power) return power.error();
  if (!instructions) return instructions.error();
  std::vector<size_t> events;
  for (const char* name : {"cpu-cycles", "branches", "branch-misses", "L1-icache-load-misses", "L1-dcache-load-misses",
                           "LLC-loads", "LLC-load-misses", "bytes_in", "bytes_out", "bytes_read", "bytes_written"}) {
    const auto column = table->column(name);
    if (!column) return column.error();
    events.push_back(*column);
    set.events.emplace_back(name);
  }
  std::map<RunKey, std::vector<Eigen::VectorXd>> rows;
  for (size_t r = 0; r < table->rows(); ++r) {
    if (table->cell(r, 1) != "validation") continue;
    const std::string machine(table->cell(r, 0));
    const double length_s = machine.find("E5-2640") != std::string::npos ? kSlowSample_s : kSample_s;
    const auto watts = table->number(r, *power), rate = table->number(r, *instructions);
    if (!watts) return watts.error();
    if (!rate) return rate.error();
    if (!*watts || !*rate || **rate <= 0) continue;  // missing is never zero
    Eigen::VectorXd sample(kEventColumns + static_cast<Eigen::Index>(events.size()));
    sample(kBusyColumn) = length_s;
    sample(kInstructionsColumn) = **rate * length_s;
    sample(kJoulesColumn) = **watts * length_s;
    for (size_t e = 0; e < events.size(); ++e) {
      const auto value = table->number(r, events[e]);
      if (!value) return value.error();
      sample(kEventColumns + static_cast<Eigen::Index>(e)) = value->value_or(kUnknown) * length_s;
    }
    rows[{std::string(table->cell(r, 2)), machine, 1}].push_back(std::move(sample));
  }
  add_runs(rows, set);
  return set;
}

Eigen::MatrixXd cut_by_instructions(const RecordedRun& run, Eigen::Index pieces) {
  Eigen::MatrixXd cut = Eigen::MatrixXd::Zero(pieces, run.samples.cols());
  const double length = run.samples.col(kInstructionsColumn).sum() / static_cast<double>(pieces);
  double from = 0;
  for (Eigen::Index i = 0; i < run.samples.rows(); ++i) {
    const double instructions = run.samples(i, kInstructionsColumn), to = from + instructions;
    const auto first = std::min(pieces - 1, static_cast<Eigen::Index>(from / length));
    const auto last = std::min(pieces - 1, static_cast<Eigen::Index>(to / length));
    for (Eigen::Index piece = first; piece <= last; ++piece) {
      const double low = std::max(from, static_cast<double>(piece) * length);
      const double high = piece + 1 == pieces ? to : std::min(to, static_cast<double>(piece + 1) * length);
      if (instructions > 0 && high > low) {
        cut.row(piece) += run.samples.row(i) * ((high - low) / instructions);
      } else if (instructions <= 0 && piece == first) {
        cut.row(piece) += run.samples.row(i);
      }
    }
    from = to;
  }
  return cut;
}

}  // namespace perfcast::measure::phases_study
