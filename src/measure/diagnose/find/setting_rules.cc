// What a program is run with: CPUs, priorities, libraries, the flags that it was compiled with. Nothing here is more
// than a suspicion until an experiment helps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kBusyUnits = 0.3;  // of the CPU time in floating-point code: units that threads of a core share
constexpr double kInterruptionsPer_s = 200;  // of CPU time
constexpr double kReadyShare = 0.05;
constexpr double kOwnCodeShare = 0.2;  // of the CPU time in what the source tree was built to

// Threads that share a core share its arithmetic units and caches: where these are what limits, the second one only
// takes from the first.
void add_shared_cores(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto cores = static_cast<double>(evidence.cpu_of_each_core.size());
  const double threads = static_cast<double>(evidence.seen.run.threads.value_or(1));
  const double used = evidence.seen.run.cpu_s() / std::max(1e-9, evidence.wall_s());
  if (cores < 1 || cores >= evidence.cpus_count || threads <= cores || used <= 1.2 * cores) return;
  double floats = 0;
  for (const HotFunction& function : evidence.seen.functions) {
    // BLAS libraries are seldom looked into, and do nothing else.
    const double share = function.role == CodeRole::kBlas ? 1 : function.float_share;
    floats += function.cpu_share * share;
  }
  if (floats < kBusyUnits && !has_cause(findings, "cache-misses")) return;
  std::vector<std::string> cpus;
  for (const int cpu : evidence.cpu_of_each_core) cpus.push_back(std::to_string(cpu));
  Finding finding;
  finding.cause = "shared-cores";
  finding.basis = FindingBasis::kRule;
  finding.is_shown_by_trial = true;
  finding.title = fmt::format("threads share cores: {:.0f} CPUs are {:.0f} cores", evidence.cpus_count, cores);
  finding.evidence.push_back(
      fmt::format("{:.0f} threads used {:.1f} CPUs; {} of the CPU time is floating-point arithmetic", threads, used,
                  in_percent(floats)));
  finding.advice = "as many threads as cores, each on one of its own (OMP_PLACES=cores, taskset)";
  finding.if_wrong = "half of the CPUs idle";
  finding.proof = "the time with one CPU of each core";
  Experiment experiment;
  experiment.name = "one CPU of each core";
  experiment.prefix = {"taskset", "-c", join(cpus, ",")};
  const std::string count = std::to_string(evidence.cpu_of_each_core.size());
  experiment.environment = evidence.thread_settings(count);
  finding.experiments.push_back(std::move(experiment));
  findings.push_back(std::move(finding));
}

// A program that is taken its CPU from while it could run, though it has no more threads than there are.
void add_interruptions(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  const double cpu_s = std::max(1e-9, seen.run.cpu_s());
  const double per_s = seen.run.involuntary_switches / cpu_s;
  const double ready = seen.ready_s / (seen.ready_s + cpu_s);
  if (static_cast<double>(seen.run.threads.value_or(1)) > evidence.cpus_count || per_s < kInterruptionsPer_s ||
      ready < kReadyShare)
    return;
  Finding finding;
  finding.cause = "interruptions";
  finding.basis = FindingBasis::kMeasured;
  finding.is_shown_by_trial = true;
  finding.title = fmt::format("other work takes its CPU away {:.0f} times a second", per_s);
  finding.evidence.push_back(
      fmt::format("{:.0f} involuntary context switches; ready, it waits for a CPU {} of the time",
                  seen.run.involuntary_switches, in_percent(ready)));
  finding.advice = "keep other work off these CPUs (taskset, cgroups), or run it as a batch job (chrt --batch 0)";
  finding.if_wrong = "other programs that answer later";
  finding.proof = "the time on an idle machine";
  finding.experiments.push_back({"the scheduler's policy for batch jobs", {}, {}, {"chrt", "--batch", "0"}});
  if (evidence.may_raise_priority)
    finding.experiments.push_back({"a higher priority than others", {}, {}, {"nice", "-n", "-5"}});
  for (Experiment& experiment : finding.experiments) experiment.by_wall_time = true;
  findings.push_back(std::move(finding));
}

// Whether one of the compiler's recorded options is among these.
bool is_compiled_with(const std::string& compiler, std::string_view option) {
  const auto words = split(compiler, ' ');
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return word.starts_with(option); });
}

struct CodeOfTree {
  double cpu_share = 0;
  const HotFunction* hottest = nullptr;
};
CodeOfTree code_of_tree(const Evidence& evidence) {
  CodeOfTree code;
  for (const HotFunction& function : evidence.seen.functions) {
    if (!function.library.starts_with(evidence.source_tree + "/")) continue;
    code.cpu_share += function.cpu_share;
    if (code.hottest == nullptr) code.hottest = &function;
  }
  return code;
}

void add_flags(const Evidence& evidence, std::vector<Finding>& findings) {
  if (!evidence.can_rebuild || has_cause(findings, "unoptimised-code")) return;
  const auto [own, hottest] = code_of_tree(evidence);
  if (own < kOwnCodeShare || hottest == nullptr) return;
  Finding finding;
  finding.cause = "compiler-flags";
  finding.basis = FindingBasis::kRule;
  finding.is_shown_by_trial = true;
  finding.title = "what other flags of the compiler make of it";
  finding.evidence.push_back(
      fmt::format("{} of the CPU time is code of the source tree, most in {}", in_percent(own), hottest->own_words()));
  if (!hottest->compiler.empty()) finding.evidence.push_back("compiled by " + hottest->compiler);
  finding.advice = "compile with the flags that help";
  finding.if_wrong = "a program that runs on this kind of processor alone (-march=native), longer builds (-flto)";
  finding.proof = "perfcast compare of both programs, with several inputs";
  if (!is_compiled_with(hottest->compiler, "-O3")) finding.experiments.push_back(compiled_with("-O3"));
  finding.experiments.push_back(compiled_with("-O3 -march=native"));
  finding.experiments.push_back(compiled_with("-O3 -flto"));
  // Where it could matter: what it changes is arithmetic.
  if (hottest->float_share > kBusyUnits) finding.experiments.push_back(compiled_with("-O3 -march=native -ffast-math"));
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Experiment> other_blas_libraries(const Evidence& evidence, const std::string& used) {
  std::vector<Experiment> experiments;
  // Folders that hold the same library's name each, as Debian's alternatives do.
  constexpr std::array<std::pair<const char*, const char*>, 6> kLibraries = {
      {{"openblas-pthread", "OpenBLAS"},
       {"openblas-openmp", "OpenBLAS with OpenMP"},
       {"openblas-serial", "OpenBLAS without threads"},
       {"blis-pthread", "BLIS"},
       {"blis-openmp", "BLIS with OpenMP"},
       {"atlas", "ATLAS"}}};
  const std::string name = used.substr(used.rfind('/') + 1);
  // Libraries that a program names otherwise are not exchanged so.
  const std::string shared = name.starts_with("libopenblas") ? "libopenblas.so.0" : "libblas.so.3";
  for (const char* base : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"}) {
    for (const auto& [folder, library] : kLibraries) {
      const std::string path = std::string(base) + folder;
      std::error_code failed;
      if (used.starts_with(path + "/") || !std::filesystem::exists(fmt::format("{}/{}", path, shared), failed))
        continue;
      const auto users = evidence.environment.find("LD_LIBRARY_PATH");
      const bool has_users = users != evidence.environment.end() && !users->second.empty();
      experiments.push_back({std::string("the library ") + library,
                             {{"LD_LIBRARY_PATH", has_users ? fmt::format("{}:{}", path, users->second) : path}},
                             {},
                             {}});
    }
  }
  return experiments;
}

std::string why_no_flags(const Evidence& evidence, const std::vector<Finding>& findings) {
  const auto is_build = [](const Experiment& experiment) { return !experiment.flags.empty(); };
  if (!evidence.can_rebuild || std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        return std::any_of(finding.experiments.begin(), finding.experiments.end(), is_build);
      }))
    return "";
  if (evidence.seen.samples_count < kFewestSamples) {
    return fmt::format("the run is too short to see what flags could help: {:.0f} samples of it, and {:.0f} are needed",
                       evidence.seen.samples_count, kFewestSamples);
  }
  return fmt::format(
      "{} of the CPU time is code that this line builds, and flags help no other; {} is the least that is tried",
      in_percent(code_of_tree(evidence).cpu_share), in_percent(kOwnCodeShare));
}

void find_in_settings(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.seen.samples_count >= kFewestSamples) add_shared_cores(evidence, findings);
  add_interruptions(evidence, findings);
  if (evidence.seen.samples_count >= kFewestSamples) add_flags(evidence, findings);
}

}  // namespace perfcast::measure
