#include "measure/diagnose/find/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "machine/facts/core_design.h"

namespace perfcast::measure {

std::string Evidence::preloaded(const std::string& library) const {
  const auto users = environment.find("LD_PRELOAD");
  return users == environment.end() || users->second.empty() ? library : library + ":" + users->second;
}

std::string Evidence::tuned(const std::string& tunable) const {
  const auto users = environment.find("GLIBC_TUNABLES");
  if (users == environment.end() || users->second.empty()) return tunable;
  const std::string name = tunable.substr(0, tunable.find('=') + 1);
  std::vector<std::string> kept;
  for (const std::string& of_user : split(users->second, ':')) {
    if (!of_user.empty() && !of_user.starts_with(name)) kept.push_back(of_user);
  }
  kept.push_back(tunable);
  return join(kept, ":");
}

// A program that waits for a CPU would be busy on a machine of its own.
double Evidence::busy_ratio() const {
  return wall_s() > 0 ? std::min(1.0, (seen.run.cpu_s() + seen.ready_s) / wall_s()) : 0;
}

bool Evidence::others_took_cpus() const {
  return static_cast<double>(seen.run.threads.value_or(1)) <= cpus_count && seen.ready_s > 0.25 * wall_s();
}

double Evidence::user_ratio() const {
  return seen.run.cpu_s() > 0 ? busy_ratio() * seen.run.user_s / seen.run.cpu_s() : 0;
}

double Evidence::counted_ratio() const {
  return profile != nullptr && profile->partly_seen ? profile->partly_seen->seen_ratio : 1;
}

bool Evidence::uses_library(const std::vector<std::string_view>& beginnings) const {
  if (seen.libraries.empty()) return true;
  return std::any_of(seen.libraries.begin(), seen.libraries.end(), [&](const std::string& library) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return library.starts_with(beginning); });
  });
}

// Programs that hold the library themselves show by its functions.
bool Evidence::uses_openmp() const {
  return uses_library({"libgomp", "libomp", "libiomp"}) ||
         std::any_of(seen.functions.begin(), seen.functions.end(), [](const HotFunction& function) {
           return function.function.starts_with("gomp_") || function.function.starts_with("GOMP_") ||
                  function.function.starts_with("__kmp");
         });
}

std::map<std::string, std::string> Evidence::thread_settings(const std::string& number) const {
  std::map<std::string, std::string> settings;
  if (uses_openmp()) settings["OMP_NUM_THREADS"] = number;
  if (uses_library({"libopenblas"})) settings["OPENBLAS_NUM_THREADS"] = number;
  if (uses_library({"libblis"})) settings["BLIS_NUM_THREADS"] = number;
  if (uses_library({"libmkl"})) settings["MKL_NUM_THREADS"] = number;
  return settings;
}

std::optional<double> Evidence::count(const std::string& metric) const {
  if (profile == nullptr || (!takes_rough_counts && !has_enough_counts())) return std::nullopt;
  const auto found = profile->metrics.find(metric);
  return found == profile->metrics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Evidence::measured(const std::string& metric) const {
  const auto found = seen.hardware.find(metric);
  return found == seen.hardware.end() ? std::nullopt : std::optional(found->second);
}

double Evidence::modelled_bound(const char* bound) const {
  if (profile == nullptr || design == nullptr || (!takes_rough_counts && !has_enough_counts())) return 0;
  const auto bounds = profile->core_bounds.find(design->name);
  if (bounds == profile->core_bounds.end()) return 0;
  const auto share = bounds->second.find(bound);
  return share == bounds->second.end() ? 0 : share->second;
}

double Evidence::held_up_by(const char* bound) const { return beyond_model(modelled_bound(bound)); }

double Evidence::beyond_model(double share) const {
  if (share <= 0) return 0;
  const auto modelled = count(core_cycles_metric(design->name)), cycles = user_cycles();
  if (!modelled || !cycles) return share;
  double all = 0;
  for (const char* const of : {"mispredicted", "divide", "L2", "L3", "memory", "TLB"}) all += modelled_bound(of);
  const double explained = std::min(1.0, *modelled / *cycles);
  return share * explained + (1 - explained) * share / std::max(share, all);
}

std::optional<double> Evidence::user_cycles() const {
  if (design == nullptr || !(design->clock_hz > 0) || !(seen.run.user_s > 0)) return std::nullopt;
  return seen.run.user_s * design->clock_hz;
}

std::string in_percent(double ratio) { return fmt::format("{:.0f}%", 100 * ratio); }

bool has_cause(const std::vector<Finding>& findings, std::string_view cause) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.cause == cause; });
}

double kernel_of(const Observation& seen) {
  return seen.kernel_share.value_or(seen.run.cpu_s() > 0 ? seen.run.system_s / seen.run.cpu_s() : 0);
}

double own_work_s(const Observation& seen) {
  double share = 0;
  for (const HotFunction& function : seen.functions)
    share += is_runtime_library(function.library) ? 0 : std::max(0.0, function.cpu_share - function.kernel_share);
  return std::min(1.0, share) * seen.run.cpu_s();
}

double held_up_by_others(const Evidence& evidence) {
  const double cpu_s = evidence.seen.run.cpu_s();
  return evidence.others_took_cpus() && cpu_s > 0 ? 1 + evidence.seen.ready_s / cpu_s : 1;
}

void add_places(const Evidence& evidence, ThreadState state, Finding& finding) {
  constexpr size_t kShown = 2;
  constexpr double kLeastOfWaits = 0.1;
  double all_s = 0;
  for (const WaitPlace& place : evidence.seen.waits) all_s += place.state == state ? place.s : 0;
  size_t shown = 0;
  for (const ScriptLine& line : evidence.seen.script) {
    if (line.waits.of(state) < kLeastOfWaits * all_s || line.waits.of(state) <= 0 || shown++ == kShown) continue;
    finding.evidence.push_back(fmt::format("{} waited in {}", human_seconds(line.waits.of(state)), line.in_words()));
  }
  if (shown > 0) return;
  for (const WaitPlace& place : evidence.seen.waits) {
    if (place.state != state || place.s < kLeastOfWaits * all_s || shown++ == kShown) continue;
    std::string text = fmt::format("{} waited in {}", human_seconds(place.s), place.in_words());
    if (place.threads_count > 1) text += fmt::format(", by {} threads", place.threads_count);
    if (state == ThreadState::kLock)
      text += place.objects_count == 1 ? ", for one lock" : fmt::format(", for {} locks", place.objects_count);
    finding.evidence.push_back(std::move(text));
  }
}

std::string calls_in_words(const HotFunction& function) {
  const std::string entry = short_function_name(function.entry);
  const bool is_through = !entry.empty() && entry != function.short_name();
  return function.own_words() + (is_through ? ", through " + entry : "");
}

std::vector<Finding> find_causes(const Evidence& evidence) {
  std::vector<Finding> findings;
  find_in_runtime(evidence, findings);
  find_in_waiting(evidence, findings);
  // Starts, hand-overs, locks and faults are calls of the kernel, too, and have a cause of their own.
  for (const char* const cause :
       {"thread-starts", "process-starts", "hand-overs", "lock-contention", "oversubscription", "page-faults"}) {
    if (!has_cause(findings, cause)) continue;
    std::erase_if(findings, [](const Finding& finding) { return finding.cause == "system-calls"; });
  }
  find_in_code(evidence, findings);
  find_in_counts(evidence, findings);
  find_in_roofline(evidence, findings);
  find_in_interpreters(evidence, findings);
  find_in_sharing(evidence, findings);
  find_in_settings(evidence, findings);
  find_in_curve(evidence, findings);
  name_script_lines(evidence, findings);
  // Rules estimate from samples and models: none may promise more than the run took.
  for (Finding& finding : findings) finding.gain_ratio = std::clamp(finding.gain_ratio, 0.0, 1.0);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ratio > b.gain_ratio; });
  return findings;
}

}  // namespace perfcast::measure
