#include "measure/diagnose/diagnosis.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "base/process/program_inspector.h"
#include "base/process/shipped_file.h"
#include "base/process/temp_folder.h"
#include "base/text.h"
#include "machine/ceiling/machine_ceilings.h"
#include "machine/facts/caches.h"
#include "machine/facts/core_design.h"
#include "measure/diagnose/bloat/code_sizes.h"
#include "measure/diagnose/bloat/without_libraries.h"
#include "measure/diagnose/observe/node_profile.h"
#include "measure/diagnose/prove/output_check.h"
#include "measure/diagnose/prove/prove.h"
#include "measure/diagnose/prove/rebuild.h"
#include "measure/diagnose/prove/thread_curve.h"
#include "measure/diagnose/report/report_words.h"
#include "measure/diagnose/session.h"
#include "profile/collect/collector.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/qemu/executed_code.h"
#include "profile/collect/qemu/qemu_collector.h"
#include "profile/collect/qemu/shared_lines.h"

namespace perfcast::measure {
namespace {

constexpr const char* kLoaderReports = "loader";
constexpr const char* kFlushDenormals = "libperfcast_flush_denormals.so";

bool has_flag(const HostFacts& host, std::string_view flag) {
  return std::find(host.cpu_flags.begin(), host.cpu_flags.end(), flag) != host.cpu_flags.end();
}

constexpr double kLinesFor = 0.02;  // of the CPU time: functions whose source lines are worth a build
constexpr const char* kLineFlags = "-O2 -g";
constexpr double kCurveOfBudget = 0.5;
constexpr double kMuchWithoutCpu = 0.25, kAlwaysBusy = 0.9;  // of the wall time
constexpr double kMostSlowdown = 10, kLeastCounting_s = 10, kMostCounting_s = 120, kMostHeldUp = 5;

// CPUs that this process may use, by number.
std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

// The first of each core's.
std::vector<int> one_of_each_core(const std::vector<int>& cpus) {
  std::vector<int> first;
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const auto siblings =
        read_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu), 4096);
    if (!siblings || cores.insert(*siblings).second) first.push_back(cpu);
  }
  return first;
}

// To -5, of what setpriority(2) counts from 20 down.
bool may_raise_priority() {
  rlimit limit{};
  return geteuid() == 0 || (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= 25);
}

}  // namespace

DiagnosisSession::DiagnosisSession(const DiagnosisRequest& request) : request_(request), cpus_(allowed_cpus()) {}

// What was asked for wrongly is said before anything runs.
Status DiagnosisSession::prepare() {
  command_ = request_.command;
  result_.cpus_count = static_cast<double>(cpus_.size());
  if (!request_.threads.empty()) {
    const auto cpus = static_cast<int>(cpus_.size());
    const auto threads = parse_thread_counts(request_.threads, cpus);
    if (!threads) return threads.error();
    threads_ = *threads;
    if (has_threads_placeholder(command_)) {
      command_of_threads_ = without_assignments();
      command_ = with_threads(command_, cpus);
    }
  }
  if (request_.rebuild.empty()) return {};
  RebuildRequest rebuild;
  rebuild.build = request_.rebuild;
  rebuild.source = request_.source.empty() ? "." : request_.source;
  rebuild.command = without_assignments();
  rebuild.environment = environment_before_;
  auto rebuilder = Rebuilder::create(std::move(rebuild));
  if (!rebuilder) return rebuilder.error();
  rebuilder_ = std::move(*rebuilder);
  source_tree_ = rebuilder_->source_tree();
  if (rebuilder_->is_older_than_sources())
    result_.notes.emplace_back("the program is older than its sources: what a build gains need not be its flags'");
  return {};
}

Status DiagnosisSession::look() {
  say("running it once, as it is");
  PerfEventCollector hardware(perf_event_paranoid());
  ObserveRequest observe_request;
  observe_request.command = command_;
  observe_request.around = request_.around;
  observe_request.hardware = &hardware;
  observe_request.cpus_count = result_.cpus_count;
  observe_request.pass_output = request_.pass_output;
  observe_request.limit_s = request_.limit_s;
  observe_request.watch_mappings = request_.with_bloat;
  std::optional<TempFolder> reports;
  // Who asks the dynamic linker for something gets that.
  if (request_.with_bloat && std::getenv("LD_DEBUG") == nullptr) {
    auto folder = TempFolder::create();
    if (!folder) return folder.error();
    reports.emplace(std::move(*folder));
    observe_request.environment["LD_DEBUG"] = "statistics";
    observe_request.environment["LD_DEBUG_OUTPUT"] = reports->path() + "/" + kLoaderReports;
  }
  auto seen = observe(observe_request);
  if (!seen) return seen.error();
  result_.seen = std::move(*seen);
  if (reports) {
    const LoaderStart start = read_loader_reports(reports->path(), kLoaderReports);
    if (start.starts_count > 0) loader_ = start;
  }
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
  for (std::string& note : notes_on_interpreters(result_.seen)) result_.notes.push_back(std::move(note));
  if (request_.with_counts && !result_.seen.no_hardware.empty())
    result_.notes.push_back("no hardware counters here, so that what caches and branches cost is modelled: " +
                            result_.seen.no_hardware);
  result_.costs = measure_machine_costs();
  return {};
}

// Whose code writes the lines.
void DiagnosisSession::name_shared_lines(const SharedLines& lines) {
  has_shared_lines_ = true;
  shared_accesses_count_ = lines.accesses_count;
  result_.shared_lines.clear();
  CodeMap code;
  for (const SharedCacheLine& line : lines.lines) {
    SharedPlace place;
    place.line = line;
    for (const LineUser& user : line.users) {
      HotFunction function;
      const CodePlace* const at = user.file.empty() ? nullptr : code.place(user.file, user.file_offset_bytes);
      if (at != nullptr) {
        function.function = at->function;
        function.library = user.file;
        function.source = at->source;
        function.line = at->line;
      }
      place.functions.push_back(at != nullptr ? function.in_words() : "");
      place.roles.push_back(code_role_of(function.function, user.file));
    }
    result_.shared_lines.push_back(std::move(place));
  }
}

// Of functions of the source tree whose lines nobody knows: those of a build that has them, by the functions' names.
Status DiagnosisSession::take_lines() {
  if (!rebuilder_ || result_.seen.run.limit_reached) return {};
  const auto lacks_lines = [&](const HotFunction& function) {
    return function.source.empty() && !function.function.empty() && function.library.starts_with(source_tree_ + "/");
  };
  auto& functions = result_.seen.functions;
  if (std::none_of(functions.begin(), functions.end(),
                   [&](const HotFunction& of) { return lacks_lines(of) && of.cpu_share >= kLinesFor; }))
    return {};
  say(std::string("building with ") + kLineFlags);
  const auto built = rebuilder_->rebuild(kLineFlags);
  if (!built) {
    if (built.error().kind == ErrorKind::kInterrupted) return built.error();
    result_.notes.push_back("no source lines: " + built.error().message);
    return {};
  }
  say("running it once with source lines");
  ObserveRequest observe_request;
  observe_request.command = built->command;
  observe_request.around = request_.around;
  observe_request.limit_s = request_.limit_s;
  const auto seen = observe(observe_request);
  if (!seen) {
    if (seen.error().kind == ErrorKind::kInterrupted) return seen.error();
    result_.notes.push_back("no source lines: " + seen.error().message);
    return {};
  }
  bool taken = false;
  for (HotFunction& function : functions) {
    if (!lacks_lines(function)) continue;
    const auto same = std::find_if(seen->functions.begin(), seen->functions.end(), [&](const HotFunction& of) {
      return of.function == function.function && !of.source.empty();
    });
    if (same == seen->functions.end()) continue;
    function.source = same->source;
    function.line = same->line;
    taken = true;
  }
  if (taken) result_.notes.push_back(fmt::format("source lines are those of a build with {}", kLineFlags));
  return {};
}

// Frames of machine code that node makes have no names: its own profiler knows them, in a run of its own.
Status DiagnosisSession::take_script_lines() {
  const auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const std::vector<std::string> command = with_node_profiler(command_, folder->path());
  if (command.empty() || result_.seen.run.limit_reached) return {};
  say("running it once with node's own profiler");
  ObserveRequest observe_request;
  observe_request.command = command;
  observe_request.around = request_.around;
  observe_request.limit_s = request_.limit_s;
  const auto seen = observe(observe_request);
  if (!seen && seen.error().kind == ErrorKind::kInterrupted) return seen.error();
  auto lines = seen ? read_node_profiles(folder->path()) : Result<std::vector<ScriptLine>>(seen.error());
  if (lines) {
    result_.seen.script = std::move(*lines);
  } else {
    result_.notes.push_back("no lines of the script: " + lines.error().message);
  }
  return {};
}

Status DiagnosisSession::run_curve() {
  if (threads_.empty() || result_.seen.run.limit_reached || request_.proof_budget_s <= 0) return {};
  ThreadCurveRequest curve;
  curve.command = command_of_threads_.empty() ? without_assignments() : command_of_threads_;
  curve.around = request_.around;
  curve.threads = threads_;
  curve.cpus_count = static_cast<int>(cpus_.size());
  curve.budget_s = kCurveOfBudget * request_.proof_budget_s;
  curve.run_s = result_.seen.run.wall_s;
  if (curve.run_s > 0) curve.cpus_used = result_.seen.run.cpu_s() / curve.run_s;
  curve.limit_s =
      request_.limit_s > 0 ? request_.limit_s : 10 * result_.seen.run.wall_s * std::max(1.0, result_.cpus_count) + 10;
  curve.seed = request_.seed;
  curve.progress = request_.progress;
  const double began_s = since_start_s();
  auto measured = measure_thread_curve(curve);
  curve_s_ = since_start_s() - began_s;
  if (measured) {
    result_.curve = std::move(*measured);
  } else if (measured.error().kind == ErrorKind::kInterrupted) {
    return measured.error();
  } else {
    result_.notes.push_back("no curve over numbers of threads: " + measured.error().message);
  }
  return {};
}

// What caches and branches do takes an instrumented run.
Status DiagnosisSession::count() {
  if (!request_.with_counts) return {};
  if (result_.seen.run.limit_reached) return trace_until_limit();
  say("counting under an instrumenter");
  CollectRequest collect;
  collect.command = command_;
  collect.around = request_.around;
  collect.native_repeats = 1;
  collect.pass_output = false;
  // The beginning alone would not show what runs later, nor how much there is of it.
  // Most programs take three to ten times as long under it; those that start thousands of threads far longer.
  const ProcessOutcome& run = result_.seen.run;
  // What runs beside it slows that run as it slowed this one.
  const double held_up = run.cpu_s() > 0 ? std::min(kMostHeldUp, 1 + result_.seen.ready_s / run.cpu_s()) : 1;
  const double most_s = std::clamp(kMostSlowdown * held_up * run.cpu_s(), kLeastCounting_s, kMostCounting_s);
  collect.limit_s = request_.limit_s > 0  ? request_.limit_s
                    : request_.with_bloat ? 0
                                          : result_.seen.run.wall_s + most_s;
  collect.input_descriptor = -1;
  if (design_) collect.core_designs = std::make_shared<const std::vector<CoreDesign>>(1, *design_);
  if (request_.for_forecast) collect.core_designs = request_.core_designs;
  if (result_.seen.run.threads.value_or(1) > 1) collect.shared_lines = std::make_shared<SharedLines>();
  collect.executed_code = executed_;
  auto profile = profile_command(collect, [this](const std::string& text) { say(text); });
  if (!profile) {
    if (profile.error().kind == ErrorKind::kInterrupted) return profile.error();
    result_.notes.push_back("no counts of caches and branches: " + profile.error().message);
    return {};
  }
  result_.profile = std::move(*profile);
  if (collect.shared_lines) name_shared_lines(*collect.shared_lines);
  if (!design_) return {};
  const auto& of_designs = result_.profile->core_bounds;
  if (const auto bounds = of_designs.find(design_->name); bounds != of_designs.end())
    result_.bounds.insert(bounds->second.begin(), bounds->second.end());
  return {};
}

// Nothing else of ours runs: what the machine can do is measured between two runs of the program.
void DiagnosisSession::look_at_ceilings() {
  say("measuring what this machine can do");
  MachineCeilings ceilings = measure_machine_ceilings();
  const SeenWork seen = seen_work(*result_.profile, result_.seen, design_ ? &*design_ : nullptr, ceilings.clock_hz);
  const MemoryTraffic traffic = memory_traffic(*result_.profile, caches_of_this_processor(), seen.ratio);
  result_.roofline = make_roofline(result_.seen, {*executed_, seen, traffic, std::move(ceilings)});
}

// "env A=1 prog" as "prog", its variables set for all runs, so that experiments can take them away; but for those that
// {threads} stands in.
std::vector<std::string> DiagnosisSession::without_assignments() {
  const auto& command = command_;
  if (command.empty() || (command[0] != "env" && !command[0].ends_with("/env"))) return command;
  size_t first = 1;
  while (first < command.size() && command[first].find('=') != std::string::npos && !command[first].starts_with('-'))
    ++first;
  // Options of env are more than this understands.
  if (first >= command.size() || command[first].starts_with('-')) return command;
  std::vector<std::string> of_threads = {"env"};
  for (size_t i = 1; i < first; ++i) {
    if (has_threads_placeholder({command[i]})) {
      of_threads.push_back(command[i]);
      continue;
    }
    const size_t equals = command[i].find('=');
    const std::string name = command[i].substr(0, equals);
    const char* const before = std::getenv(name.c_str());
    environment_before_.try_emplace(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
    setenv(name.c_str(), command[i].substr(equals + 1).c_str(), 1);
  }
  const auto program = command.begin() + static_cast<std::ptrdiff_t>(first);
  if (of_threads.size() == 1) return {program, command.end()};
  of_threads.insert(of_threads.end(), program, command.end());
  return of_threads;
}

void DiagnosisSession::find() {
  Evidence evidence(result_.seen);
  evidence.costs = result_.costs;
  evidence.cpus_count = result_.cpus_count;
  evidence.first_cpu = cpus_.empty() ? 0 : cpus_.front();
  evidence.cpu_of_each_core = one_of_each_core(cpus_);
  evidence.may_raise_priority = may_raise_priority();
  evidence.can_rebuild = rebuilder_ != nullptr;
  evidence.source_tree = source_tree_;
  evidence.curve = result_.curve ? &*result_.curve : nullptr;
  evidence.command_of_threads = command_of_threads_;
  evidence.has_shared_lines = has_shared_lines_;
  evidence.shared_accesses_count = shared_accesses_count_;
  evidence.shared_lines = result_.shared_lines;
  evidence.has_avx2 = has_flag(host_, "avx2");
  evidence.has_avx512 = has_flag(host_, "avx512f") && has_flag(host_, "avx512bw") && has_flag(host_, "avx512vl");
  evidence.profile = result_.profile ? &*result_.profile : nullptr;
  evidence.design = design_ ? &*design_ : nullptr;
  evidence.roofline = result_.roofline ? &*result_.roofline : nullptr;
  evidence.flush_denormals = find_shipped_file(kFlushDenormals, "src/measure/diagnose");
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* const value = std::getenv(name)) evidence.environment[name] = value;
  }
  // What the experiments would take away, or add to.
  for (const char* name :
       {"LD_PRELOAD", "LD_BIND_NOW", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LANG"}) {
    if (const char* const value = std::getenv(name)) evidence.environment[name] = value;
  }
  // A command that begins with env says more.
  for (const std::string& word : request_.command) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos && word != "env" && !word.ends_with("/env")) break;
    if (equals != std::string::npos) evidence.environment[word.substr(0, equals)] = word.substr(equals + 1);
  }
  const std::string busy = "other programs took CPUs while it ran: times, and what more threads gain, are theirs, too";
  if (evidence.others_took_cpus() && std::find(result_.notes.begin(), result_.notes.end(), busy) == result_.notes.end())
    result_.notes.push_back(busy);
  result_.findings = find_causes(evidence);
  why_no_flags_ = why_no_flags(evidence, result_.findings);
  if (!result_.bloat) return;
  find_in_bloat(*result_.bloat, result_.findings);
  offer_copy();
}

Result<Diagnosis> DiagnosisSession::run() {
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
  if (Status prepared = prepare(); !prepared) return prepared.error();
  if (Status looked = look(); !looked) return looked.error();
  if (Status taken = take_script_lines(); !taken) return taken.error();
  find();
  result_.first_finding_s = since_start_s();
  if (request_.first_findings) request_.first_findings(result_.findings);
  if (Status taken = take_lines(); !taken) return taken.error();
  if (Status counted = count(); !counted) return counted.error();
  if (Status ran = run_curve(); !ran) return ran.error();
  if (result_.profile) look_at_ceilings();
  if (request_.with_bloat) look_at_code();
  if (Status built = build_for_size(); !built) return built.error();
  find();
  if (Status proven = prove(); !proven) return proven.error();
  result_.took_s = since_start_s();
  return std::move(result_);
}

Status DiagnosisSession::prove() {
  if (request_.proof_budget_s <= 0 || result_.seen.run.limit_reached) {
    if (request_.proof_budget_s > 0)
      result_.notes.emplace_back("nothing was tried: no run ends by itself within the limit");
    if (rebuilder_ && request_.proof_budget_s <= 0)
      result_.notes.emplace_back("--rebuild: no other flags were tried, as --proofs or --quick leave no time for it");
    std::erase_if(result_.findings, [](const Finding& finding) { return finding.is_shown_by_trial; });
    return {};
  }
  if (!why_no_flags_.empty()) result_.notes.push_back("--rebuild: no other flags were tried: " + why_no_flags_);
  ProofRequest proofs;
  proofs.command = without_assignments();
  proofs.around = request_.around;
  proofs.budget_s = request_.proof_budget_s - curve_s_;
  proofs.run_s = result_.seen.run.wall_s;
  if (proofs.run_s > 0) proofs.cpus_used = result_.seen.run.cpu_s() / proofs.run_s;
  proofs.limit_s = request_.limit_s;
  const ProcessOutcome& run = result_.seen.run;
  proofs.by_cpu_time = run.threads.value_or(1) == 1 && run.processes.value_or(1) == 1 &&
                       result_.seen.ready_s > kMuchWithoutCpu * run.wall_s &&
                       run.cpu_s() + result_.seen.ready_s > kAlwaysBusy * run.wall_s;
  if (proofs.by_cpu_time)
    result_.notes.emplace_back("trials compare CPU times, as other programs took CPUs and this one never waits");
  proofs.seed = request_.seed;
  proofs.rebuilder = rebuilder_.get();
  proofs.progress = request_.progress;
  if (Status proven = prove_findings(proofs, result_.findings); !proven) return proven;
  std::erase_if(result_.findings, [&](const Finding& finding) {
    const ExperimentResult* const against = finding.contradiction();
    if (against == nullptr) return false;
    result_.notes.push_back(fmt::format("struck: {} ({}), as a trial contradicts it: {}", finding.cause, finding.title,
                                        experiment_in_words(*against)));
    return true;
  });
  return {};
}

std::optional<double> Diagnosis::parallel_efficiency_ratio() const {
  if (seen.run.threads.value_or(1) < 2 || !(seen.run.wall_s > 0)) return std::nullopt;
  return seen.run.cpu_s() / (cpus_count * seen.run.wall_s);
}

Result<Diagnosis> diagnose(const DiagnosisRequest& request) { return DiagnosisSession(request).run(); }

}  // namespace perfcast::measure
