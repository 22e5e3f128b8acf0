#include "profile/collect/session/profile_session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "base/process/input_feed.h"
#include "base/process/interrupt.h"
#include "base/process/program_inspector.h"
#include "base/text.h"
#include "machine/facts/core_design.h"
#include "profile/collect/cachegrind/cachegrind_collector.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/native/native_collector.h"
#include "profile/collect/native/profile_energy.h"
#include "profile/collect/oclgrind/oclgrind_collector.h"
#include "profile/collect/qemu/qemu_collector.h"
#include "profile/collect/session/opencl_run.h"
#include "profile/collect/session/other_code.h"
#include "profile/collect/session/partly_seen.h"
#include "profile/collect/session/run_agreement.h"
#include "profile/core/core_report.h"
#include "profile/whole_metrics.h"

namespace perfcast {
namespace {

using Clock = std::chrono::steady_clock;

// Below, the emulator's own start and translation hide the difference.
constexpr double kLeastJudged_s = 0.03;
constexpr double kTranslation_s = 0.15;
constexpr double kLeastSlowdown = 1.6;
// Every start asks the processor what it is some ten times.
constexpr double kClockReadsOfAStart = 200;
// Less of the native CPU time than this in the counters makes a forecast partial, and is said as a warning.
constexpr double kEnoughAccounted = 0.95;
constexpr double kAlmostAll = 0.9;
// Run on every core design: a few seconds, whatever the number of windows and processes.
constexpr uint64_t kModelledInstructions = 5'000'000, kModelledQuickly = 1'500'000;
// Of what was not seen, however much alike the native run looks.
// Programs run half to twice as many instructions a second as is typical.
constexpr double kRatesDiffer = 2;
constexpr double kUnlikeAtLeast = 0.1;
constexpr size_t kReasonsShown = 3;
// Of a run that was cut, and is known whole natively: counts of less than this share are no numbers of all of it.
constexpr double kShareWithNumbers = 0.5;

double event_value(const Collection& collection, const char* collector, const char* event) {
  const std::string* metric = Catalogue::built_in().metric_of(collector, event);
  if (metric == nullptr) return 0;
  const auto found = collection.counters.find(*metric);
  return found == collection.counters.end() ? 0 : found->second;
}

bool warns_of(const Collection& collection, const char* code) {
  return std::any_of(collection.warnings.begin(), collection.warnings.end(),
                     [&](const ProfileWarning& warning) { return warning.code == code; });
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

ProfileWarning sanitizer_warning(const ProgramFacts& program) {
  return {"sanitizer",
          "the program was built with " + program.sanitizer +
              ", whose table of all memory would fill the machine under the emulator",
          "a build without -fsanitize, as it is used; or the native part alone: perfcast profile"};
}

class Session {
 public:
  Session(const CollectRequest& request, const SessionCollectors& collectors,
          const std::function<void(const std::string&)>& progress)
      : request_(request), collectors_(collectors), progress_(progress), started_(Clock::now()) {}

  Result<Profile> run();

 private:
  Status run_native();
  void harvest_hardware();
  Status run_kernels();
  Status run_instrumented();
  void fit_to_whole(Collection& cut);
  Status run_fallback(const Error& why);
  void take(const Collection& collection);
  void skip(const std::string& collector, const std::string& status, const std::string& why);
  void model_cores();
  void judge_beginning(double seen_ratio);
  void judge();
  void account();
  void derive_replicates();
  void explain_missing();
  CollectRequest remaining(const Collector& collector) const;

  const CollectRequest& request_;
  const SessionCollectors& collectors_;
  const std::function<void(const std::string&)>& progress_;
  Clock::time_point started_;
  ProgramFacts program_;
  Profile profile_;
  MetricValues counters_;
  std::map<std::string, std::string> skipped_;  // collector -> why it gave nothing
  std::optional<Collection> native_, instrumented_;
  bool knows_whole_ = false;  // of a run that was cut: how many instructions all of it has
};

// What is left of the time limit. The program's output goes out once: with the first run.
CollectRequest Session::remaining(const Collector& collector) const {
  CollectRequest rest = request_;
  if (rest.limit_s > 0) {
    const double used_s = std::chrono::duration<double>(Clock::now() - started_).count();
    rest.limit_s = std::max(0.01, rest.limit_s - used_s);
  }
  if (&collector != collectors_.native && native_) {
    rest.pass_output = false;
    rest.show_output = false;
  }
  return rest;
}

void Session::take(const Collection& collection) {
  for (const auto& [name, value] : collection.counters) counters_[name] = value;
  for (const auto& [name, why] : collection.missing) profile_.missing[name] = why;
  profile_.collectors.push_back(collection.record);
  profile_.warnings.insert(profile_.warnings.end(), collection.warnings.begin(), collection.warnings.end());
  if (!collection.course.empty()) profile_.course = collection.course;
  if (!collection.threads.empty()) profile_.threads = collection.threads;
  if (profile_.instruction_set.empty()) profile_.instruction_set = collection.instruction_set;
}

void Session::skip(const std::string& collector, const std::string& status, const std::string& why) {
  skipped_[collector] = why;
  profile_.collectors.push_back({collector, "", std::nullopt, status, why});
}

Status Session::run_native() {
  if (request_.mix_only) {
    skip(collectors_.native->name(), "skipped", "only the opcode mix was asked for");
    return {};
  }
  if (!program_.runs_here) {
    skip(collectors_.native->name(), "skipped",
         fmt::format("the program is built for {}, this machine is {}", program_.elf.instruction_set,
                     host_instruction_set()));
    return {};
  }
  // A program that has the terminal for itself shares it with nobody.
  if (!request_.pass_output) progress_("running " + profile_.program + " natively ...");
  auto native = collectors_.native->collect(remaining(*collectors_.native));
  if (!native) return native.error();
  profile_.exit_code = native->exit_code;
  profile_.signal = native->signal;
  take(*native);
  native_ = std::move(*native);
  harvest_hardware();
  return {};
}

void Session::harvest_hardware() {
  if (collectors_.hardware == nullptr) return;
  const Collection hardware = collectors_.hardware->harvest();
  take(hardware);
}

Status Session::run_fallback(const Error& why) {
  if (collectors_.fallback == nullptr || request_.mix_only || !program_.runs_here) return {};
  if (const Status status = collectors_.fallback->available(); !status) {
    skip(collectors_.fallback->name(), "skipped", status.error().message + ": " + status.error().expected);
    return {};
  }
  progress_("running " + profile_.program + " under " + collectors_.fallback->name() + " (" + why.message + ") ...");
  auto found = collectors_.fallback->collect(remaining(*collectors_.fallback));
  if (!found && ends_all(found.error())) return found.error();
  if (!found) {
    skip(collectors_.fallback->name(), "failed", found.error().message);
    return {};
  }
  take(*found);
  return {};
}

Status Session::run_kernels() {
  if (collectors_.kernels == nullptr || !uses_opencl(request_, program_, native_ ? &*native_ : nullptr)) return {};
  progress_("running " + profile_.program + " under Oclgrind ...");
  auto run = collect_kernels(*collectors_.kernels, remaining(*collectors_.kernels), request_.opencl, profile_,
                             native_ ? &*native_ : nullptr);
  if (!run) return run.error();
  profile_.warnings.insert(profile_.warnings.end(), run->warnings.begin(), run->warnings.end());
  if (!run->found) {
    skip(collectors_.kernels->name(), run->status, run->why);
    return {};
  }
  if (run->native_failed) {
    counters_.clear();
    profile_.course.clear();
    native_.reset();
    skipped_[collectors_.native->name()] = "the native run failed";
  }
  if (!native_) {
    profile_.exit_code = run->found->exit_code;
    profile_.signal = run->found->signal;
  }
  profile_.kernels = std::move(run->found->kernels);
  for (ProfileWarning& warning : profile_.warnings) {
    if (warning.code == "work-done-once") warning = kernels_compiled_note();
  }
  take(*run->found);
  skipped_.erase(collectors_.kernels->name());
  return {};
}

// How many instructions all of it has, the hardware has counted natively where it could.
void Session::fit_to_whole(Collection& cut) {
  const double whole = counters_.contains("hw_instructions_count") ? counters_.at("hw_instructions_count") : 0;
  const auto found = cut.counters.find("instructions_count");
  if (whole <= 0 || found == cut.counters.end() || found->second <= 0) return;
  const double seen_ratio = *cut.seen_ratio * found->second / whole;
  if (seen_ratio > 1) return;  // the hardware missed a part
  cut.stretch(whole / found->second);
  cut.seen_ratio = seen_ratio;
  knows_whole_ = true;
}

Status Session::run_instrumented() {
  Collector* instrumenter = collectors_.instrumenter;
  std::optional<Error> failed;
  if (instrumenter == nullptr) return {};
  if (const Status status = instrumenter->available(); !status) {
    failed = status.error();
    skip(instrumenter->name(), "skipped", failed->message + ": " + failed->expected);
    profile_.warnings.push_back({failed->code, failed->message + ": there is no instruction mix", failed->expected});
  } else if (request_.input != nullptr && !request_.input->repeatable()) {
    skip(instrumenter->name(), "skipped", "the piped input is too large to be kept for another run");
    return {};
  } else if (!profile_.kernels.empty()) {
    skip(instrumenter->name(), "skipped",
         "the program's work is in OpenCL kernels, which oclgrind counted; an emulated CPU would mostly compile them");
    return {};
  } else if (native_ && warns_of(*native_, "work-done-once")) {
    skip(instrumenter->name(), "skipped", "later runs find the program's work done");
    return {};
  } else if (!program_.sanitizer.empty()) {
    profile_.warnings.push_back(sanitizer_warning(program_));
    skip(instrumenter->name(), "skipped", profile_.warnings.back().message);
    return {};
  } else if (request_.must_succeed && native_ && !profile_.ok()) {
    skip(instrumenter->name(), "skipped", "the program failed");
    return {};
  } else if (request_.limit_s > 0 && remaining(*instrumenter).limit_s < kLeastLeft_s) {
    const std::string why = "the native run used up the time limit";
    skip(instrumenter->name(), "skipped", why);
    profile_.warnings.push_back({"limit-reached", why + ": there is no instruction mix", "a longer time limit"});
    return {};
  } else {
    progress_("running " + profile_.program + " instrumented ...");
    CollectRequest request = remaining(*instrumenter);
    if (native_) {
      request.census = native_->census;
      request.native_cpu_s = event_value(*native_, "native", "cpu_s");
      request.native_memory_bytes = native_->memory_bytes;
      request.native_address_bytes = native_->address_bytes;
      request.wants_output = repeated_output(*native_).has_value();
    }
    auto found = instrumenter->collect(request);
    if (found) {
      if (!native_) {
        profile_.exit_code = found->exit_code;
        profile_.signal = found->signal;
      } else if (auto differing = differing_run(*native_, *found)) {
        skip(instrumenter->name(), "failed", differing->message);
        profile_.warnings.push_back(*std::move(differing));
        return {};
      }
      if (found->seen_ratio) fit_to_whole(*found);
      take(*found);
      if (native_) {
        if (auto note = differing_output(*native_, *found)) profile_.warnings.push_back(*std::move(note));
      }
      instrumented_ = std::move(*found);
    } else {
      failed = found.error();
      // Without a native run this was the run that mattered.
      if (ends_all(*failed) || !native_) return *failed;
      skip(instrumenter->name(), "failed", failed->message);
      const bool same_end = found.end() == RunEnd::kProgramFailed && profile_.signal.has_value();
      const size_t at = profile_.warnings.size();
      if (!same_end) profile_.warnings.push_back({failed->code, failed->message, failed->expected});
      if (found.end() == RunEnd::kLimit || found.end() == RunEnd::kMemory) return {};
      const size_t collected = counters_.size();
      if (const Status ran = run_fallback(*failed); !ran) return ran.error();
      if (!same_end && counters_.size() > collected) {
        profile_.warnings[at].message +=
            "; " + collectors_.fallback->name() + " counted instead, without an opcode mix";
      }
      return {};
    }
  }
  if (failed) return run_fallback(*failed);
  if (request_.cross_check) return run_fallback({"", "cross-check", "", ""});
  return {};
}

// What was counted, the beginning, stands for all of the program.
void Session::judge_beginning(double seen_ratio) {
  const CourseComparison found = compare_course(native_->course, seen_ratio);
  const double unlike = (1 - seen_ratio) * std::max(kUnlikeAtLeast, found.unlike);
  profile_.partly_seen = {seen_ratio, unlike, knows_whole_ && seen_ratio >= kShareWithNumbers};
  const std::string share =
      knows_whole_ ? fmt::format("{:.0f}% of its instructions run", 100 * seen_ratio)
                   : fmt::format(
                         "about {:.0f}% of the work done ({:.0f} to {:.0f}%: how many instructions the whole has "
                         "is an estimate)",
                         std::max(1.0, 100 * seen_ratio), std::max(1.0, 100 * seen_ratio / kRatesDiffer),
                         std::clamp(100 * seen_ratio * kRatesDiffer, 1.0, 100.0));
  profile_.warnings.push_back(
      {"partly-seen",
       fmt::format(
           "the instrumented run was ended after {}, with {}: {}the rest is taken to be like it, so intervals of "
           "forecasts are wider; {}",
           human_seconds(*instrumented_->run_wall_s), share,
           profile_.partly_seen->knows_whole_counts ? ""
           : seen_ratio >= kShareWithRatios         ? "the profile has ratios of the whole, and no counts; "
                                                    : "the profile has no counts and ratios of the whole; ",
           found.text),
       "a shorter run of the same kind of work; or a time limit of more than that, to see more of it"});
}

void Session::judge() {
  if (profile_.signal) {
    profile_.warnings.push_back({"killed-by-signal",
                                 "the program was killed by signal " + signal_text(*profile_.signal),
                                 "a command that ends well: these counts are those of a failure"});
  } else if (profile_.exit_code.value_or(0) != 0) {
    profile_.warnings.push_back({"non-zero-exit",
                                 fmt::format("the program ended with exit code {}", *profile_.exit_code),
                                 "a command that ends well: these counts may be those of an error path"});
  }
  if (!native_ || !instrumented_) return;
  if (instrumented_->seen_ratio) {
    judge_beginning(*instrumented_->seen_ratio);
    return;
  }
  if (is_clock_bound(*native_, *instrumented_)) {
    profile_.warnings.push_back(
        {"clock-bound",
         fmt::format("the program is bound to a clock: natively it ran {}, instrumented only {}, so counts and time "
                     "don't belong together",
                     human_seconds(event_value(*native_, "native", "wall_s")),
                     human_seconds(*instrumented_->run_wall_s)),
         "a fixed amount of work: a number of operations in place of a duration"});
    return;
  }
  const double native_s = event_value(*native_, "native", "user_s");
  if (auto warning = other_code_warning(counters_, native_s, core_design(profile_.host))) {
    profile_.warnings.push_back(*std::move(warning));
  }
}

// Natively, all processes of one program.
struct NativePart {
  std::set<pid_t> processes;
  double cpu_s = 0, minor_faults_count = 0;
};

// Who did the work, and how much of it was counted.
void Session::account() {
  if (!instrumented_) return;
  const Collection& counted = *instrumented_;
  std::map<std::string, NativePart> native;
  double all_s = 0;
  if (native_) {
    for (const CensusEntry& entry : native_->census) {
      NativePart& part = native[entry.name()];
      part.processes.insert(entry.process);
      part.cpu_s += entry.cpu_s;
      part.minor_faults_count += entry.minor_faults_count;
      all_s += entry.cpu_s;
    }
  }
  if (counted.parts.size() > 1) {
    for (const CollectedPart& collected : counted.parts) {
      ProfilePart part;
      part.program = collected.program;
      part.command = collected.command;
      part.instrumented_count = static_cast<double>(collected.processes);
      part.processes_count = collected.represented;
      MetricValues counters = collected.counters;
      if (const auto found = native.find(collected.program); found != native.end()) {
        part.processes_count = static_cast<double>(found->second.processes.size());
        part.cpu_s = found->second.cpu_s;
        counters["cpu_s"] = found->second.cpu_s;
        counters["page_faults_minor_count"] = found->second.minor_faults_count;
      }
      part.metrics = Catalogue::built_in().derive(counters);
      profile_.parts.push_back(std::move(part));
    }
    std::stable_sort(profile_.parts.begin(), profile_.parts.end(),
                     [](const auto& a, const auto& b) { return a.cpu_s.value_or(0) > b.cpu_s.value_or(0); });
  }
  std::vector<std::string> lost;
  if (all_s > 0) {
    double accounted_s = 0;
    for (const auto& [name, part] : native) {
      const auto found = std::find_if(counted.parts.begin(), counted.parts.end(),
                                      [&name = name](const auto& other) { return other.program == name; });
      const double ran = static_cast<double>(part.processes.size());
      const double seen = found == counted.parts.end() ? 0 : std::min(1.0, found->represented / ran);
      // A process more or less from run to run is no loss.
      accounted_s += seen > kAlmostAll ? part.cpu_s : seen * part.cpu_s;
      if (seen <= kAlmostAll && part.cpu_s > 0.001 * all_s) {
        lost.push_back(fmt::format("{} ({:.1f}%)", name, 100 * (1 - seen) * part.cpu_s / all_s));
      }
    }
    profile_.accounted_cpu_ratio = accounted_s / all_s;
  } else if (counted.unseen.empty()) {
    profile_.accounted_cpu_ratio = 1;
  }
  std::vector<std::string> reasons;
  for (const UnseenProgram& unseen : counted.unseen) {
    reasons.push_back(fmt::format("{}: {}{}", unseen.path, unseen.why,
                                  unseen.times > 1 ? fmt::format(", {} times", unseen.times) : ""));
    if (reasons.size() == kReasonsShown) break;
  }
  const std::string why = reasons.empty() ? "" : "; not followed: " + join(reasons, ", ");
  if (profile_.accounted_cpu_ratio.value_or(0) < kEnoughAccounted) {
    const std::string share = profile_.accounted_cpu_ratio
                                  ? fmt::format("{:.0f}% of the CPU time", 100 * (1 - *profile_.accounted_cpu_ratio))
                                  : std::string("a part of the work, nobody knows how much,");
    const std::string whose = lost.empty() ? "" : " (" + join(lost, ", ") + ")";
    profile_.warnings.push_back({"exec-not-followed", share + " was not counted" + whose + why,
                                 "the command that does that work, directly after --"});
  } else if (!lost.empty() || !reasons.empty()) {
    for (CollectorRecord& record : profile_.collectors) {
      if (record.name != collectors_.instrumenter->name()) continue;
      record.note +=
          fmt::format("; {:.1f}% of the CPU time was not counted{}", 100 * (1 - *profile_.accounted_cpu_ratio), why);
    }
  }
}

void Session::derive_replicates() {
  for (const MetricValues& replicate : instrumented_->replicates) {
    MetricValues counters = counters_;
    for (const auto& [name, value] : replicate) counters[name] = value;
    MetricValues differing;
    for (const auto& [name, value] : Catalogue::built_in().derive(counters)) {
      const auto whole = profile_.metrics.find(name);
      if (whole == profile_.metrics.end() || whole->second != value) differing.emplace(name, value);
    }
    profile_.replicates.push_back(std::move(differing));
  }
}

// What each known core design makes of the windows. Without them nothing is said.
void Session::model_cores() {
  const auto instructions = counters_.find("instructions_count");
  if (!instrumented_ || !instrumented_->trace || !request_.core_designs || instructions == counters_.end()) return;
  progress_("running the windows of " + profile_.program + " on models of cores ...");
  const auto began = Clock::now();
  const auto report =
      simulate_trace(thinned_trace(*instrumented_->trace, request_.quick ? kModelledQuickly : kModelledInstructions),
                     *request_.core_designs, static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  const double took_s = std::chrono::duration<double>(Clock::now() - began).count();
  instrumented_->trace.reset();
  if (!report) {
    skip("cores", "failed", report.error().message);
    return;
  }
  for (const auto& [name, cycles] : modelled_cycles(*report, instructions->second)) {
    if (Catalogue::built_in().find(name) != nullptr) counters_[name] = cycles;
  }
  profile_.core_bounds = modelled_bounds(*report);
  profile_.collectors.push_back({"cores", core_models_version(*request_.core_designs), took_s, "ok",
                                 fmt::format("{} core designs on the windows", request_.core_designs->size())});
}

void Session::explain_missing() {
  std::map<std::string, std::string> missing;
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (profile_.metrics.contains(metric.name) || metric.imported || metric.of_kernel) continue;
    std::string why;
    if (metric.gpu_only) {
      why = "no GPU collector";
    } else if (const auto given = profile_.missing.find(metric.name); given != profile_.missing.end()) {
      why = given->second;
    } else if (metric.kind == "derived") {
      why = "a metric of its formula is missing or its divisor is zero";
    } else {
      std::vector<std::string> reasons;
      for (const auto& [collector, event] : metric.sources) {
        const auto skipped = skipped_.find(collector);
        reasons.push_back(skipped == skipped_.end() ? collector + " did not give it"
                                                    : collector + ": " + skipped->second);
      }
      why = reasons.empty() ? "no collector gives it" : join(reasons, "; ");
    }
    missing[metric.name] = why;
  }
  profile_.missing = std::move(missing);
}

Result<Profile> Session::run() {
  auto program = inspect_program(request_.command);
  if (!program) return program.error();
  program_ = std::move(*program);
  if (request_.needs_counts && program_.other_identity) {
    return Error{"setuid-program",
                 "the program runs with another identity (setuid or setgid): it can't be instrumented", program_.binary,
                 "the command that does the work, directly after --, as a user who may do it"};
  }
  if (request_.needs_counts && !program_.sanitizer.empty()) {
    const ProfileWarning warning = sanitizer_warning(program_);
    return Error{warning.code, warning.message, program_.binary, warning.advice};
  }
  profile_.program = std::filesystem::path(request_.command[0]).filename().string();
  profile_.command = request_.command;
  profile_.host = collectors_.host;
  profile_.started_utc = utc_now();
  profile_.instruction_set = program_.elf.instruction_set;
  for (const char* collector : {"cachegrind", "cores"}) skipped_[collector] = "not needed";
  skipped_["oclgrind"] = "the program launches no OpenCL kernels";
  if (const Status status = run_native(); !status) return status.error();
  if (const Status status = run_kernels(); !status) return status.error();
  if (const Status status = run_instrumented(); !status) return status.error();
  model_cores();
  judge();
  account();
  profile_.metrics = Catalogue::built_in().derive(counters_);
  if (instrumented_) derive_replicates();
  explain_missing();
  return profile_;
}

}  // namespace

bool is_clock_bound(const Collection& native, const Collection& instrumented) {
  if (!instrumented.run_wall_s || !instrumented.run_user_s) return false;
  const double wall_s = event_value(native, "native", "wall_s");
  const double cpu_s = event_value(native, "native", "cpu_s");
  const double user_s = event_value(native, "native", "user_s");
  const auto total = [&](std::initializer_list<const char*> events) {
    double sum = 0;
    for (const char* event : events) sum += event_value(instrumented, "qemu", event);
    return sum;
  };
  // Asleep most of the time, and no longer so under instrumentation.
  const bool idles = wall_s >= kLeastJudged_s && cpu_s < 0.5 * wall_s;
  const bool idles_as_long = idles && *instrumented.run_wall_s < 1.5 * wall_s + kTranslation_s;
  if (idles_as_long && total({"sys_sleep", "sys_timer", "sys_poll_timeout"}) > 0) return true;
  // Busy until a time has come: the slower code did less.
  const bool busy_as_long =
      user_s >= kLeastJudged_s && *instrumented.run_user_s < kLeastSlowdown * user_s + kTranslation_s;
  return busy_as_long &&
         (total({"sys_time", "sys_sleep", "sys_timer"}) > 0 || total({"op_rdtsc_like"}) > kClockReadsOfAStart);
}

Result<Profile> run_session(const CollectRequest& request, const SessionCollectors& collectors,
                            const std::function<void(const std::string&)>& progress) {
  return Session(request, collectors, progress).run();
}

Result<Profile> profile_command(const CollectRequest& request,
                                const std::function<void(const std::string&)>& progress) {
  const InterruptGuard guard;
  CollectRequest own = request;
  std::unique_ptr<InputFeed> feed;
  if (own.input == nullptr && own.input_descriptor >= 0) {
    feed = std::make_unique<InputFeed>(own.input_descriptor);
    own.input = feed.get();
  }
  SessionCollectors collectors;
  collectors.host = read_host_facts();
  PerfEventCollector hardware(perf_event_paranoid());
  ProfileEnergy energy(find_meters());
  NativeCollector native(collectors.host, &hardware, &energy);
  QemuCollector instrumenter;
  CachegrindCollector fallback;
  OclgrindCollector kernels;
  collectors.native = &native;
  collectors.hardware = &hardware;
  collectors.instrumenter = &instrumenter;
  collectors.fallback = &fallback;
  collectors.kernels = &kernels;
  return run_session(own, collectors, progress);
}

}  // namespace perfcast
