// Phases between platforms: time, power and energy of each phase on one platform from counters on another, program left
// out, on the sets armpm_xu3 (frequencies) and renewit_power (servers).
//
//   perfcast_phases_evaluation FOLDER [--json]      with armpm_xu3/ and renewit_power/

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "base/unknown.h"
#include "studies/output.h"
#include "studies/phases/phase_transfer.h"

namespace perfcast::measure::phases_study {
namespace {

// Of one pair of platforms, or the mean over pairs.
struct PairRow {
  std::string from, to;
  size_t programs = 0, phases = 0;
  TransferScores scores;
};

using Errors = TransferScores::Errors;
constexpr std::pair<const char*, Errors TransferScores::*> kMeasures[] = {
    {"time", &TransferScores::time},
    {"time_mean", &TransferScores::time_mean},
    {"time_floor", &TransferScores::time_floor},
    {"power", &TransferScores::power},
    {"power_mean", &TransferScores::power_mean},
    {"power_floor", &TransferScores::power_floor},
    {"energy", &TransferScores::energy},
    {"energy_mean", &TransferScores::energy_mean}};

ReportTable table_of(const std::string& caption, const std::vector<PairRow>& rows, double Errors::*which) {
  std::vector<ColumnOf<PairRow>> columns = {
      {"from", "from", Quantity::kText, [](const PairRow& row) { return row.from; }},
      {"to", "to", Quantity::kText, [](const PairRow& row) { return row.to; }},
      {"programs", "programs", Quantity::kCount, [](const PairRow& row) { return row.programs; }},
      {"phases", "phases", Quantity::kCount, [](const PairRow& row) { return row.phases; }}};
  for (const auto& [name, measure] : kMeasures) {
    columns.push_back({name, name, Quantity::kShare,
                       [measure = measure, which](const PairRow& row) { return 1 - row.scores.*measure.*which; }, 1});
  }
  return perfcast::table_of<PairRow>(caption, rows, columns);
}

// The mean of each measure over the pairs that have it.
PairRow mean_of(const std::vector<PairRow>& pairs) {
  PairRow all{"mean over", "pairs", 0, 0, {}};
  for (const auto& [name, measure] : kMeasures) {
    for (double Errors::*which : {&Errors::phase, &Errors::whole}) {
      std::vector<double> known;
      for (const PairRow& pair : pairs) {
        if (!std::isnan(pair.scores.*measure.*which)) known.push_back(pair.scores.*measure.*which);
      }
      all.scores.*measure.*which = known.empty() ? kUnknown : mean(known);
    }
  }
  return all;
}

void write_pairs(const std::string& name, const RecordedSet& set, bool with_time, StudyOutput& output) {
  std::set<std::string> platforms, left_out;
  for (const RecordedRun& run : set.runs) platforms.insert(run.platform);
  std::vector<PairRow> pairs;
  for (const std::string& from : platforms) {
    for (const std::string& to : platforms) {
      if (from == to) continue;
      const auto scores = score_transfer(set, from, to, with_time);
      if (!scores) {
        output.note(fmt::format("{} -> {}: {}", from, to, scores.error().message));
        continue;
      }
      left_out.insert(scores->other_work.begin(), scores->other_work.end());
      pairs.push_back({from, to, scores->programs, scores->phases, *scores});
    }
  }
  const std::string caption = set.name + ": accuracy (1 - mean absolute percentage error), program left out; ";
  output.add(name, table_of(caption + "by phase", pairs, &Errors::phase));
  const std::vector<PairRow> means = {mean_of(pairs)};
  output.add(name + "_mean", table_of(caption + "by phase, mean over pairs", means, &Errors::phase));
  output.add(name + "_programs", table_of(caption + "whole programs, mean over pairs", means, &Errors::whole));
  for (const std::string& program : left_out)
    output.note("left out in some pairs, for its instructions differ by more than 15%: " + program);
}

int run(const std::string& folder, bool json) {
  StudyOutput output("phases", json);
  int failed = 0;
  const auto write = [&](const char* name, const Result<RecordedSet>& set, bool with_time) {
    if (set) {
      write_pairs(name, *set, with_time, output);
    } else {
      fmt::print(stderr, "{}\n", to_text(set.error()));
      failed = 1;
    }
  };
  const std::string events = folder + "/armpm_xu3/xu3_cset_perfcpu_";
  write("cbench", read_frequency_runs(events + "cBench_eMMC_big_samples.csv.gz"), true);
  write("parsec", read_frequency_runs(events + "PARSEC_eMMC_1core_big_samples.csv.gz"), true);
  write("servers", read_server_runs(folder + "/renewit_power"), false);
  output.finish();
  return failed;
}

}  // namespace
}  // namespace perfcast::measure::phases_study

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::string_view(argv[2]) == "--json";
  if (argc != 2 && !json) {
    std::fputs("usage: perfcast_phases_evaluation FOLDER [--json]\n", stderr);
    return 2;
  }
  return perfcast::measure::phases_study::run(argv[1], json);
}
