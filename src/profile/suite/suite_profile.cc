// Profiles of a suite: whose times they hold, and their files.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "machine/facts/core_design.h"
#include "profile/collect/session/other_code.h"
#include "profile/suite/suite_runner.h"

namespace perfcast {
namespace {

constexpr const char* kOtherCode = "other-code-path";
constexpr const char* kRecord = "suite";

double six_digits(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

MetricValues counters_of(const MetricValues& metrics) {
  MetricValues counters;
  for (const auto& [name, value] : metrics) {
    const Metric* metric = Catalogue::built_in().find(name);
    if (metric == nullptr || metric->kind == "counter") counters[name] = six_digits(value);
  }
  return counters;
}

// Of counters as a file has them, so that who reads it can compute the same.
MetricValues with_derived(const MetricValues& counters) {
  MetricValues metrics = Catalogue::built_in().derive(counters);
  for (auto& [name, value] : metrics) value = six_digits(value);
  return metrics;
}

template <typename Field>
double spread_per_unit(const std::vector<WorkReport>& runs, Field field) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const WorkReport& run : runs) values.push_back(field(run) / run.work_units);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return middle > 0 ? (*high - *low) / middle : 0;
}

Error invalid(const std::string& path, const std::string& what) {
  return {"invalid-profile", what, path, "perfcast collect --again"};
}

}  // namespace

void settle_times(Profile& profile, const SuiteProgram& program, const WorkReport& instrumented,
                  const std::vector<WorkReport>& timed) {
  const auto cpu = [](const WorkReport& run) { return run.cpu_s(); };
  const auto wall = [](const WorkReport& run) { return run.wall_s; };
  // Neighbours on the machine only ever slow a run down: the fastest is the least disturbed.
  const WorkReport& best = *std::min_element(timed.begin(), timed.end(), [](const WorkReport& a, const WorkReport& b) {
    return a.cpu_s() / a.work_units < b.cpu_s() / b.work_units;
  });
  const double scale = instrumented.work_units / best.work_units;
  MetricValues& metrics = profile.metrics;
  metrics["cpu_s"] = best.cpu_s() * scale;
  metrics["user_s"] = best.user_s * scale;
  metrics["system_s"] = best.system_s * scale;
  metrics["wall_s"] = best.wall_s * scale;
  metrics["native_runs_count"] = static_cast<double>(timed.size());
  if (timed.size() > 1) {
    metrics["cpu_spread_ratio"] = spread_per_unit(timed, cpu);
    metrics["wall_spread_ratio"] = spread_per_unit(timed, wall);
    profile.missing.erase("cpu_spread_ratio");
    profile.missing.erase("wall_spread_ratio");
  }
  profile.work_units = instrumented.work_units;
  metrics = Catalogue::built_in().derive(metrics);
  std::erase_if(profile.warnings, [](const ProfileWarning& warning) { return warning.code == kOtherCode; });
  if (auto warning = other_code_warning(metrics, metrics["cpu_s"], core_design(profile.host))) {
    profile.warnings.push_back(*std::move(warning));
  }
  std::erase_if(profile.collectors, [](const CollectorRecord& record) { return record.name == kRecord; });
  CollectorRecord record{kRecord, "", std::nullopt, "ok", ""};
  record.note = fmt::format(
      "times are those of the fastest of {} native runs of {:.6g} {}s, start-up excluded, scaled to the {:.6g} of the "
      "counted run",
      timed.size(), best.work_units, program.program.work_unit, instrumented.work_units);
  profile.collectors.push_back(std::move(record));
}

Status write_suite_profile(const Profile& profile, const std::string& path) {
  const Catalogue& catalogue = Catalogue::built_in();
  Profile compact = profile;
  compact.course.clear();
  compact.threads.clear();
  compact.metrics = with_derived(counters_of(profile.metrics));
  for (ProfilePart& part : compact.parts) part.metrics = counters_of(part.metrics);
  for (MetricValues& replicate : compact.replicates) replicate = counters_of(replicate);
  compact.missing.clear();
  for (const auto& [name, why] : profile.missing) {
    const Metric* metric = catalogue.find(name);
    if (metric == nullptr || (metric->kind == "counter" && !metric->gpu_only)) compact.missing[name] = why;
  }
  return write_file_atomically(path, to_json(compact).dump(0) + "\n");
}

Result<Profile> read_suite_profile(const std::string& path) {
  auto profile = read_profile(path);
  if (!profile) return profile.error();
  const Catalogue& catalogue = Catalogue::built_in();
  profile->metrics = catalogue.derive(profile->metrics);
  for (ProfilePart& part : profile->parts) part.metrics = catalogue.derive(part.metrics);
  for (MetricValues& replicate : profile->replicates) replicate = catalogue.derive(replicate);
  if (!profile->ok()) return invalid(path, "the program did not end well");
  for (const ProfileWarning& warning : profile->warnings) {
    if (warning.code == "runs-differ") return invalid(path, warning.message);
  }
  if (!profile->work_units || *profile->work_units <= 0) return invalid(path, "the work done is not stated");
  for (const char* needed : {"instructions_count", "cpu_s"}) {
    const auto found = profile->metrics.find(needed);
    if (found == profile->metrics.end() || found->second <= 0) {
      std::string what = std::string(needed) + " is missing";
      for (const CollectorRecord& record : profile->collectors) {
        if (record.status != "ok" && record.name == "qemu") what += ": " + record.note;
      }
      return invalid(path, what);
    }
  }
  return profile;
}

}  // namespace perfcast
