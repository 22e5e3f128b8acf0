#include "diagnose/diagnosis.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "ceiling/machine_ceilings.h"
#include "collect/collector.h"
#include "collect/native/host_facts.h"
#include "collect/qemu/executed_code.h"
#include "corpus/machine/caches.h"
#include "corpus/machine/core_design.h"
#include "diagnose/find/rules.h"
#include "diagnose/prove/prove.h"

namespace perfcast {
namespace {

constexpr const char* kFlushDenormals = "libperfcast_flush_denormals.so";

// Beside the binary, as it is built, or where it is installed; empty where it is nowhere.
std::string find_flush_denormals() {
  std::error_code problem;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return "";
  const std::filesystem::path folder = binary.parent_path(), above = folder.parent_path();
  for (const auto& candidate :
       {folder / kFlushDenormals, above / "lib" / "perfcast" / kFlushDenormals,
        folder / "src" / "diagnose" / kFlushDenormals, above / "src" / "diagnose" / kFlushDenormals}) {
    if (std::filesystem::is_regular_file(candidate, problem)) return candidate.string();
  }
  return "";
}

bool has_flag(const HostFacts& host, std::string_view flag) {
  return std::find(host.cpu_flags.begin(), host.cpu_flags.end(), flag) != host.cpu_flags.end();
}

class Session {
 public:
  explicit Session(const DiagnosisRequest& request) : request_(request) {}
  Result<Diagnosis> run();

 private:
  using Clock = std::chrono::steady_clock;
  Status look();
  Status count();
  void look_at_ceilings();
  void find();
  std::vector<std::string> without_assignments() const;
  double since_start_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  void say(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }

  const DiagnosisRequest& request_;
  Clock::time_point began_ = Clock::now();
  Diagnosis result_;
  std::optional<CoreDesign> design_;
  HostFacts host_;
  std::shared_ptr<std::vector<ExecutedCode>> executed_ = std::make_shared<std::vector<ExecutedCode>>();
};

Status Session::look() {
  say("running it once, as it is");
  ObserveRequest observe_request;
  observe_request.command = request_.command;
  observe_request.pass_output = request_.pass_output;
  observe_request.limit_s = request_.limit_s;
  auto seen = observe(observe_request);
  if (!seen) return seen.error();
  result_.seen = std::move(*seen);
  const ProcessOutcome& run = result_.seen.run;
  if (run.limit_reached)
    result_.notes.push_back(
        fmt::format("the run was ended after {:g} s: what follows is of that part", request_.limit_s));
  if (!run.ok() && !run.limit_reached) {
    std::string message = run.signal ? "the program was killed by signal " + std::to_string(*run.signal)
                                     : fmt::format("the program exits with status {}", run.exit_code.value_or(0));
    const std::string words = printable(trim(run.error_tail));
    if (!words.empty()) message += ": " + words.substr(words.size() > 200 ? words.size() - 200 : 0);
    return Error{"program-failed", message, "", "a command that succeeds"};
  }
  if (!result_.seen.no_samples.empty()) result_.notes.push_back("no hot functions: " + result_.seen.no_samples);
  if (!result_.seen.no_system_calls.empty())
    result_.notes.push_back("what threads wait for is not known: " + result_.seen.no_system_calls);
  result_.notes.insert(result_.notes.end(), result_.seen.notes.begin(), result_.seen.notes.end());
  result_.costs = measure_machine_costs();
  return {};
}

// What caches and branches do takes an instrumented run.
Status Session::count() {
  if (!request_.with_counts || result_.seen.run.limit_reached) return {};
  say("counting under an instrumenter");
  CollectRequest collect;
  collect.command = request_.command;
  collect.native_repeats = 1;
  collect.pass_output = false;
  collect.quick = true;
  collect.limit_s = request_.limit_s;
  collect.input_descriptor = -1;
  if (design_) collect.core_designs = std::make_shared<const std::vector<CoreDesign>>(1, *design_);
  if (request_.for_forecast) collect.core_designs = request_.core_designs;
  collect.executed_code = executed_;
  auto profile = profile_command(collect, [this](const std::string& text) { say(text); });
  if (!profile) {
    if (profile.error().kind == ErrorKind::kInterrupted) return profile.error();
    result_.notes.push_back("no counts of caches and branches: " + profile.error().message);
    return {};
  }
  result_.profile = std::move(*profile);
  if (!design_) return {};
  const auto& of_designs = result_.profile->core_bounds;
  if (const auto bounds = of_designs.find(design_->name); bounds != of_designs.end())
    result_.bounds.insert(bounds->second.begin(), bounds->second.end());
  return {};
}

// Nothing else of ours runs: what the machine can do is measured between two runs of the program.
void Session::look_at_ceilings() {
  say("measuring what this machine can do");
  MachineCeilings ceilings = measure_machine_ceilings();
  const SeenWork seen = seen_work(*result_.profile, result_.seen, design_ ? &*design_ : nullptr, ceilings.clock_hz);
  const MemoryTraffic traffic = memory_traffic(*result_.profile, caches_of_this_processor(), seen.ratio);
  result_.roofline = make_roofline(result_.seen, {*executed_, seen, traffic, std::move(ceilings)});
}

// "env A=1 prog" as "prog", its variables set for all runs, so that experiments can take them away.
std::vector<std::string> Session::without_assignments() const {
  const auto& command = request_.command;
  if (command.empty() || (command[0] != "env" && !command[0].ends_with("/env"))) return command;
  size_t first = 1;
  while (first < command.size() && command[first].find('=') != std::string::npos && !command[first].starts_with('-'))
    ++first;
  // Options of env are more than this understands.
  if (first >= command.size() || command[first].starts_with('-')) return command;
  for (size_t i = 1; i < first; ++i) {
    const size_t equals = command[i].find('=');
    setenv(command[i].substr(0, equals).c_str(), command[i].substr(equals + 1).c_str(), 1);
  }
  return {command.begin() + static_cast<std::ptrdiff_t>(first), command.end()};
}

void Session::find() {
  Evidence evidence(result_.seen);
  evidence.costs = result_.costs;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    evidence.cpus_count = CPU_COUNT(&allowed);
    while (evidence.first_cpu < CPU_SETSIZE - 1 && !CPU_ISSET(evidence.first_cpu, &allowed)) ++evidence.first_cpu;
  }
  evidence.has_avx2 = has_flag(host_, "avx2");
  evidence.has_avx512 = has_flag(host_, "avx512f") && has_flag(host_, "avx512bw") && has_flag(host_, "avx512vl");
  evidence.profile = result_.profile ? &*result_.profile : nullptr;
  evidence.design = design_ ? &*design_ : nullptr;
  evidence.roofline = result_.roofline ? &*result_.roofline : nullptr;
  evidence.flush_denormals = find_flush_denormals();
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* const value = std::getenv(name)) evidence.environment[name] = value;
  }
  // What the experiments would take away, or add to.
  for (const char* name : {"LD_PRELOAD", "LD_BIND_NOW"}) {
    if (const char* const value = std::getenv(name)) evidence.environment[name] = value;
  }
  // A command that begins with env says more.
  for (const std::string& word : request_.command) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos && word != "env" && !word.ends_with("/env")) break;
    if (equals != std::string::npos) evidence.environment[word.substr(0, equals)] = word.substr(equals + 1);
  }
  result_.findings = find_causes(evidence);
}

Result<Diagnosis> Session::run() {
  result_.command = request_.command;
  host_ = read_host_facts();
  if (request_.core_designs) {
    const std::string name = core_design(host_);
    for (const CoreDesign& design : *request_.core_designs) {
      if (design.name == name) design_ = design;
    }
    if (design_) result_.design = design_->name;
    if (!design_)
      result_.notes.push_back(
          "this machine's core is none of the designs that are modelled: caches and "
          "branches are not judged");
  }
  if (Status looked = look(); !looked) return looked.error();
  find();
  result_.first_finding_s = since_start_s();
  if (request_.first_findings) request_.first_findings(result_.findings);
  if (Status counted = count(); !counted) return counted.error();
  if (result_.profile) {
    look_at_ceilings();
    find();
  }
  if (result_.seen.run.limit_reached && request_.proof_budget_s > 0)
    result_.notes.emplace_back("nothing was tried: no run ends by itself within the limit");
  if (request_.proof_budget_s > 0 && !result_.seen.run.limit_reached) {
    ProofRequest proofs;
    proofs.command = without_assignments();
    proofs.budget_s = request_.proof_budget_s;
    proofs.run_s = result_.seen.run.wall_s;
    proofs.limit_s = request_.limit_s;
    proofs.seed = request_.seed;
    proofs.progress = request_.progress;
    if (Status proven = prove_findings(proofs, result_.findings); !proven) return proven.error();
  } else {
    std::erase_if(result_.findings, [](const Finding& finding) { return finding.is_shown_by_trial; });
  }
  result_.took_s = since_start_s();
  return std::move(result_);
}

}  // namespace

Result<Diagnosis> diagnose(const DiagnosisRequest& request) { return Session(request).run(); }

}  // namespace perfcast
