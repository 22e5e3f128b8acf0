// Phases between platforms: time, power and energy of each phase on one platform from counters on another, program left
// out, on the sets armpm_xu3 (frequencies) and renewit_power (servers).
//
//   perfcast_phases_evaluation FOLDER      with armpm_xu3/ and renewit_power/, either of them

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "studies/phases/phase_transfer.h"

namespace perfcast::measure::phases_study {
namespace {

std::string accuracy(double error) { return std::isnan(error) ? "-" : fmt::format("{:.1f}%", 100 * (1 - error)); }

struct Mean {
  TransferScores::Errors sum;
  double count = 0;
  void add(const TransferScores::Errors& errors) {
    if (std::isnan(errors.phase)) return;
    sum.phase += errors.phase;
    sum.whole += errors.whole;
    count += 1;
  }
  TransferScores::Errors of() const { return {sum.phase / count, sum.whole / count}; }
};

void print_pairs(const RecordedSet& set, bool with_time) {
  std::set<std::string> platforms;
  for (const RecordedRun& run : set.runs) platforms.insert(run.platform);
  fmt::print("\n{}: accuracy (1 - mean absolute percentage error), program left out\n", set.name);
  fmt::print("{:<54}{:>9}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}\n", "from -> to", "programs", "phases", "time",
             "mean", "floor", "power", "mean", "floor", "energy", "mean");
  Mean time, time_mean, time_floor, power, power_mean, power_floor, energy, energy_mean;
  std::set<std::string> left_out;
  const auto row = [](const std::string& name, const std::string& programs, const std::string& phases,
                      const std::vector<TransferScores::Errors>& errors, double TransferScores::Errors::*which) {
    std::string line = fmt::format("{:<54}{:>9}{:>7}", name, programs, phases);
    for (const auto& each : errors) line += fmt::format("{:>8}", accuracy(each.*which));
    fmt::print("{}\n", line);
  };
  for (const std::string& from : platforms) {
    for (const std::string& to : platforms) {
      if (from == to) continue;
      const auto scores = score_transfer(set, from, to, with_time);
      if (!scores) {
        fmt::print("{} -> {}: {}\n", from, to, scores.error().message);
        continue;
      }
      left_out.insert(scores->other_work.begin(), scores->other_work.end());
      time.add(scores->time);
      time_mean.add(scores->time_mean);
      time_floor.add(scores->time_floor);
      power.add(scores->power);
      power_mean.add(scores->power_mean);
      power_floor.add(scores->power_floor);
      energy.add(scores->energy);
      energy_mean.add(scores->energy_mean);
      row(from + " -> " + to, std::to_string(scores->programs), std::to_string(scores->phases),
          {scores->time, scores->time_mean, scores->time_floor, scores->power, scores->power_mean, scores->power_floor,
           scores->energy, scores->energy_mean},
          &TransferScores::Errors::phase);
    }
  }
  const std::vector<TransferScores::Errors> all = {time.of(),   time_mean.of(),  time_floor.of(),
                                                   power.of(),  power_mean.of(), power_floor.of(),
                                                   energy.of(), energy_mean.of()};
  row("mean over pairs, by phase", "", "", all, &TransferScores::Errors::phase);
  row("mean over pairs, whole programs", "", "", all, &TransferScores::Errors::whole);
  for (const std::string& program : left_out)
    fmt::print("left out in some pairs, for its instructions differ by more than 15%: {}\n", program);
}

int run(const std::string& folder) {
  int failed = 0;
  for (const char* name :
       {"xu3_cset_perfcpu_cBench_eMMC_big_samples.csv.gz", "xu3_cset_perfcpu_PARSEC_eMMC_1core_big_samples.csv.gz"}) {
    const std::string path = folder + "/armpm_xu3/" + name;
    if (!std::filesystem::exists(path)) {
      fmt::print("skipped, not there: {}\n", path);
      continue;
    }
    const auto set = read_frequency_runs(path);
    if (!set) {
      std::fputs(to_text(set.error()).c_str(), stderr);
      failed = 1;
      continue;
    }
    print_pairs(*set, true);
  }
  if (!std::filesystem::exists(folder + "/renewit_power")) {
    fmt::print("skipped, not there: {}/renewit_power\n", folder);
    return failed;
  }
  const auto servers = read_server_runs(folder + "/renewit_power");
  if (!servers) {
    std::fputs(to_text(servers.error()).c_str(), stderr);
    return 1;
  }
  print_pairs(*servers, false);
  return failed;
}

}  // namespace
}  // namespace perfcast::measure::phases_study

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: perfcast_phases_evaluation FOLDER\n", stderr);
    return 2;
  }
  return perfcast::measure::phases_study::run(argv[1]);
}
