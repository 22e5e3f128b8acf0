// Profiles as a whole: read from a file, and what follows from them: parts, means, verdicts.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/profile.h"

namespace perfcast {
namespace {

constexpr size_t kMostProfileBytes = size_t{64} << 20;

}  // namespace

Parallelism parallelism_of(const std::vector<CourseInterval>& course) {
  constexpr double kMoreThanOne = 1.2;
  Parallelism sum;
  double length_s = 0;
  for (const CourseInterval& interval : course) {
    length_s += interval.length_s;
    sum.running_count += interval.running_count * interval.length_s;
    sum.ready_count += interval.ready_count * interval.length_s;
    sum.most_running_count = std::max(sum.most_running_count, interval.running_count);
    if (interval.running_count > kMoreThanOne) sum.parallel_time_ratio += interval.length_s;
  }
  if (length_s <= 0) return {};
  sum.running_count /= length_s;
  sum.ready_count /= length_s;
  sum.parallel_time_ratio /= length_s;
  return sum;
}

MetricValues mean_metrics(const std::vector<KernelLaunch>& launches) {
  MetricValues sums;
  std::map<std::string, size_t> known;
  double all = 0;
  for (const KernelLaunch& launch : launches) {
    all += launch.stands_for_count;
    for (const auto& [name, value] : launch.metrics) {
      sums[name] += launch.stands_for_count * value;
      ++known[name];
    }
  }
  std::erase_if(sums, [&](const auto& sum) { return known[sum.first] < launches.size() || !(all > 0); });
  for (auto& [name, sum] : sums) sum /= all;
  return sums;
}

Result<Profile> profile_of_part(const Profile& profile, const std::string& program) {
  std::vector<std::pair<std::string, const MetricValues*>> parts;
  for (const ProfilePart& part : profile.parts) parts.emplace_back(part.program, &part.metrics);
  for (const ProfileKernel& kernel : profile.kernels) parts.emplace_back(kernel.name, &kernel.metrics);
  std::vector<std::string> names;
  for (const auto& [name, metrics] : parts) {
    if (name == program) {
      Profile result = profile;
      result.program = name;
      result.metrics = *metrics;
      result.missing.clear();
      result.phases.clear();
      result.phase_kinds.reset();
      result.parts.clear();
      result.replicates.clear();
      result.course.clear();
      result.core_bounds.clear();
      result.kernels.clear();
      std::erase_if(result.threads, [&](const ThreadCounts& thread) { return thread.program != program; });
      // What other programs of the run did is nothing to this one.
      std::erase_if(result.warnings, [](const ProfileWarning& each) { return each.code == "exec-not-followed"; });
      result.accounted_cpu_ratio.reset();
      result.work_units.reset();
      result.work_unit.clear();
      return result;
    }
    names.push_back(name);
  }
  return Error{"unknown-process", "no process of the profile runs '" + printable(program.substr(0, 80)) + "'",
               profile.program,
               names.empty() ? "a profile of more than one program, or of one with OpenCL kernels"
                             : "one of " + join(names, ", ")};
}

bool is_serious(const ProfileWarning& warning) {
  constexpr std::array<const char*, 6> kNotes = {"too-short",   "noisy-host",    "left-behind",
                                                 "multiplexed", "wider-vectors", "kernels-compiled"};
  return std::none_of(kNotes.begin(), kNotes.end(), [&](const char* code) { return warning.code == code; });
}

Result<Profile> read_profile(const std::string& path) {
  const auto text = read_file(path, kMostProfileBytes);
  if (!text) return text.error();
  const auto json = parse_json(*text, path);
  if (!json) return json.error();
  return profile_from_json(*json, path);
}

}  // namespace perfcast
