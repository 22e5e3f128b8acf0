// What threads and processes wait for each other for, and what that leaves idle.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

// Of a start or a wake-up: a thread that has less to do lives for these.
constexpr double kShortThread = 4;
constexpr double kLeastLoneShare = 0.06, kMostlySingle = 0.6;

// Without its locks the work itself still takes the CPUs that there are.
double most_by_cpus(const Evidence& evidence) {
  const double threads = static_cast<double>(evidence.seen.run.threads.value_or(1));
  const double could = std::max(1.0, std::min(evidence.cpus_count, threads));
  const double work_s = evidence.seen.run.cpu_s() * (1 - evidence.seen.share_of(CodeRole::kLock));
  return evidence.wall_s() > 0 ? std::max(0.0, 1 - work_s / could / evidence.wall_s()) : 0;
}

// Of a program that does little work at a time and hands on in between: all but that work, and what else is waited for.
double beyond_own_work(const Evidence& evidence) {
  const ThreadTimes& idle = evidence.seen.idle;
  const double elsewhere_s = idle.of(ThreadState::kStorage) + idle.of(ThreadState::kSleep) +
                             idle.of(ThreadState::kNetwork) + idle.of(ThreadState::kTerminal);
  return std::max(0.0, 1 - (own_work_s(evidence.seen) * held_up_by_others(evidence) + elsewhere_s) /
                               std::max(1e-9, evidence.wall_s()));
}

// A thread takes the kernel a stack, an entry in its tables, a CPU to wait for, and an end: more than the work of a
// thread that is soon through.
void add_thread_starts(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  if (!seen.has_starts || seen.threads_started_count < 200) return;
  const double taken_s = seen.threads_started_count * evidence.costs.thread_start_s;
  // Of the wall time, or of the CPU time: where others take CPUs, the wall time is theirs, too.
  const double of_cpu = seen.run.cpu_s() > 0 ? taken_s / seen.run.cpu_s() * evidence.busy_ratio() : 0;
  const double share = std::min(1.0, std::max(taken_s / std::max(1e-9, evidence.wall_s()), of_cpu));
  const double each_s = own_work_s(seen) / seen.threads_started_count;
  // The least of what starting takes here; with a thread's own work so short, the rest of the time is for it, too.
  if (share < kLeastWaitShare) return;
  const bool is_short = each_s < kShortThread * evidence.costs.thread_start_s && seen.samples_count > 0;
  Finding finding;
  finding.cause = "thread-starts";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.95 * std::min(1.0, is_short ? std::max(share, beyond_own_work(evidence)) : share);
  finding.title = fmt::format("{} threads started, {:.0f} a second", human_number(seen.threads_started_count),
                              seen.threads_started_count / std::max(1e-9, evidence.wall_s()));
  if (seen.samples_count > 0)
    finding.evidence.push_back(
        fmt::format("each has {} of work of its own; starting and ending one takes {} here at least",
                    human_seconds(each_s), human_seconds(evidence.costs.thread_start_s)));
  add_places(evidence, ThreadState::kJoin, finding);
  finding.advice = "keep a few threads and give them the work (a pool, OpenMP, ranges of items), or compute in place";
  finding.if_wrong = "work that waits for a free thread";
  finding.proof = "strace -f -c -e clone,clone3";
  findings.push_back(std::move(finding));
}

// Each time that one thread waits for another's item, the kernel puts one to sleep and wakes the other up.
void add_hand_overs(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  if (has_cause(findings, "thread-starts") || has_cause(findings, "oversubscription")) return;
  const double starts = seen.has_starts ? seen.threads_started_count + 4 * seen.processes_started_count : 0;
  const double switches = seen.run.voluntary_switches - starts;
  const double threads = static_cast<double>(std::max(seen.run.threads.value_or(1), seen.run.processes.value_or(1)));
  const double share = switches * evidence.costs.wake_up_s / std::max(1e-9, evidence.wall_s());
  double signals_s = 0;
  for (const ThreadState of : {ThreadState::kSignal, ThreadState::kPipe, ThreadState::kNetwork, ThreadState::kPoll})
    signals_s += seen.threads.of(of);
  // Waits for files and times switch, too.
  const double elsewhere_s = seen.threads.of(ThreadState::kStorage) + seen.threads.of(ThreadState::kSleep);
  const double locks_s = seen.threads.of(ThreadState::kLock);
  if (threads < 2 || switches < 1000 || share < kLeastWaitShare || elsewhere_s > signals_s || locks_s > signals_s)
    return;
  const double each_s = own_work_s(seen) / switches;
  const bool is_short = each_s < kShortThread * evidence.costs.wake_up_s && seen.samples_count > 0;
  Finding finding;
  finding.cause = "hand-overs";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.9 * std::min(1.0, is_short ? std::max(share, beyond_own_work(evidence)) : share);
  finding.title = fmt::format("threads or processes wait for each other {:.0f} times a second, {} of work at a time",
                              switches / std::max(1e-9, evidence.wall_s()), human_seconds(each_s));
  finding.evidence.push_back(fmt::format("{} voluntary context switches; to be woken up takes {} here at least",
                                         human_number(switches), human_seconds(evidence.costs.wake_up_s)));
  for (const ThreadState of : {ThreadState::kSignal, ThreadState::kPipe, ThreadState::kNetwork, ThreadState::kPoll}) {
    if (seen.threads.of(of) > 0.2 * signals_s) add_places(evidence, of, finding);
  }
  // Small reads and writes that the other side waits for are these, and larger ones the same remedy.
  for (Finding& other : findings) {
    if (other.cause == "small-io") other.gain_ratio = std::min(other.gain_ratio, 0.9 * finding.gain_ratio);
  }
  finding.advice =
      "hand on many items at a time (batches, longer queues, blocks of rows between barriers), or do both "
      "steps in one thread";
  finding.if_wrong = "an item is seen later by who waits for it";
  finding.proof = "perf stat -e context-switches, or the voluntary switches of /usr/bin/time -v, with larger batches";
  findings.push_back(std::move(finding));
}

// CPUs that idle while some of the threads still work: what is divided unevenly, or not at all.
void add_lone_times(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  if (seen.looks < 10 || has_cause(findings, "hand-overs") || has_cause(findings, "thread-starts")) return;
  const double wall_s = std::max(1e-9, evidence.wall_s());
  if (seen.uneven.lost_ratio >= kLeastLoneShare) {
    Finding finding;
    finding.cause = "uneven-threads";
    finding.gain_ratio = seen.uneven.lost_ratio;
    finding.title = fmt::format("for {} of the wall time threads that are through wait for others that are not",
                                in_percent(seen.uneven.s / wall_s));
    if (!seen.uneven.where.empty()) finding.evidence.push_back("those still work in " + seen.uneven.where);
    add_places(evidence, ThreadState::kJoin, finding);
    add_places(evidence, ThreadState::kSignal, finding);
    finding.evidence.push_back(fmt::format("{} looks at all threads: meanwhile CPUs idle", seen.looks));
    finding.advice =
        "deal work out in small pieces, to whoever is free (a shared counter, schedule(dynamic)), large ones "
        "first";
    finding.if_wrong = "pieces that are too small cost more than they gain";
    finding.proof = "the CPU time of each thread: top -H, or --trace";
    findings.push_back(std::move(finding));
  }
  if (seen.serial.lost_ratio >= kLeastLoneShare) {
    Finding finding;
    finding.cause = "serial-part";
    finding.gain_ratio = 0.9 * seen.serial.lost_ratio;
    finding.title = fmt::format("for {} of the wall time the first thread works alone, and other CPUs idle",
                                in_percent(seen.serial.s / wall_s));
    if (!seen.serial.where.empty()) finding.evidence.push_back("in " + seen.serial.where);
    finding.evidence.push_back(fmt::format("{} looks at all threads", seen.looks));
    finding.advice =
        "divide what runs before, between and after the parallel parts: reading, merging, allocating, writing";
    finding.if_wrong = "work whose steps need each other stays serial";
    finding.proof = "--threads 1,2,4 shows the serial share by Amdahl's law";
    findings.push_back(std::move(finding));
  }
}

// A queue that one thread serves: who waits for it gains as many times as there are CPUs, if its pieces of work don't
// need each other. Python's threads would only take turns.
void add_single_worker(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  const double share = seen.single.s / std::max(1e-9, evidence.wall_s());
  if (seen.looks < 10 || share < kMostlySingle || !seen.script.empty() || has_cause(findings, "hand-overs") ||
      has_cause(findings, "thread-starts"))
    return;
  Finding finding;
  finding.cause = "single-worker";
  finding.basis = FindingBasis::kRule;
  finding.gain_ratio = 0.9 * seen.single.lost_ratio;
  finding.title =
      fmt::format("for {} of the wall time one thread works, and all others wait for it", in_percent(share));
  if (!seen.single.where.empty()) finding.evidence.push_back("it works in " + seen.single.where);
  add_places(evidence, ThreadState::kJoin, finding);
  add_places(evidence, ThreadState::kSignal, finding);
  finding.evidence.push_back(
      fmt::format("{} looks at all threads: {:.0f} CPUs idle meanwhile", seen.looks, evidence.cpus_count - 1));
  finding.advice = fmt::format("as many workers as CPUs ({:.0f}) for the same queue", evidence.cpus_count);
  finding.if_wrong = "work whose steps need each other stays serial; data that workers share needs locks";
  finding.proof = "the time with two workers";
  findings.push_back(std::move(finding));
}

bool hands_on(const std::string& function) {
  return function.find("cond_") != std::string::npos || function.find("barrier") != std::string::npos ||
         function.find("sem_") != std::string::npos || function.find("condition_variable") != std::string::npos;
}

void add_locks(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  // Of threads that have something to do: who waits for another's end has not.
  const double all = seen.threads.total() - seen.threads.of(ThreadState::kJoin);
  const double waiting = all > 0 ? seen.threads.of(ThreadState::kLock) / all : 0;
  // What a condition or a barrier takes is handing on, its lock included.
  double handing = 0;
  for (const HotFunction& function : seen.functions) {
    if (function.role == CodeRole::kLock && (hands_on(function.function) || hands_on(function.entry)))
      handing += function.cpu_share;
  }
  const double in_locks = std::max(0.0, seen.share_of(CodeRole::kLock) - handing);
  const double calling = in_locks * evidence.busy_ratio();
  if (seen.run.threads.value_or(1) < 2 || waiting + calling < 0.1) return;
  Finding finding;
  finding.cause = "lock-contention";
  finding.gain_ratio = std::min({0.9, 0.9 * (waiting + calling), most_by_cpus(evidence)});
  finding.title =
      fmt::format("threads spend {} of their time waiting for mutexes, and {} of the CPU time in lock functions",
                  in_percent(waiting), in_percent(in_locks));
  add_places(evidence, ThreadState::kLock, finding);
  for (const HotFunction& function : seen.functions) {
    if (function.role != CodeRole::kLock || function.caller.empty() || function.cpu_share < 0.01) continue;
    finding.evidence.push_back(fmt::format("{} of the CPU time in {}, called by {}", in_percent(function.cpu_share),
                                           function.short_name(), function.own_words()));
    break;
  }
  finding.evidence.push_back(fmt::format("{:.0f} voluntary context switches, {:.0f} threads at once",
                                         seen.run.voluntary_switches,
                                         static_cast<double>(seen.run.threads.value_or(1))));
  finding.advice = "hold locks for less, give each thread its own data and merge at the end, or split the lock";
  finding.if_wrong = "data that is seen later by other threads";
  finding.proof = "run with one thread: what takes no longer in all was waiting";
  finding.experiments.push_back(
      {"all threads on one CPU", {}, {}, {"taskset", "-c", std::to_string(evidence.first_cpu)}});
  findings.push_back(std::move(finding));
}

Experiment sleeping_threads() {
  return {"threads that sleep while they wait (OpenMP)", {{"OMP_WAIT_POLICY", "passive"}}, {}, {}};
}

void add_spinning(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  double spinning = seen.share_of(CodeRole::kYield), in_loops = 0;
  std::string where;
  for (const HotFunction& function : seen.functions) {
    double share = function.cpu_share * function.pause_share;
    // A loop that only reads and tests waits for somebody else.
    if (function.loop && function.loop->instructions.size() <= 8 && seen.run.threads.value_or(1) > 1) {
      const HotLoop& loop = *function.loop;
      if (loop.count(CodeTrait::kLoad) >= 1 && loop.count(CodeTrait::kStore) == 0 &&
          loop.count(CodeTrait::kAdvance) == 0 && loop.count(CodeTrait::kFloat) == 0 &&
          loop.count(CodeTrait::kCall) == 0)
        share = std::max(share, loop.cpu_share);
      in_loops += loop.cpu_share == share ? share : 0;
    }
    if (share > 0.02 && where.empty()) where = function.own_words();
    spinning = std::min(1.0, spinning + share);
  }
  const double threads = static_cast<double>(seen.run.threads.value_or(1));
  const double waiting = seen.ready_s / std::max(1e-9, seen.ready_s + seen.run.cpu_s());
  // Threads that only read and test never give way: that is what is slow, however many they are.
  // How many want a CPU at a time; the others sleep.
  const double runnable = evidence.wall_s() > 0 ? (seen.run.cpu_s() + seen.ready_s) / evidence.wall_s() : 0;
  const bool spins_in_loops = in_loops > 0.3 && in_loops > seen.share_of(CodeRole::kYield);
  // Threads that only compute in turns lose what a switch takes, each time that one is taken its CPU.
  const double switching =
      std::min(1.0, seen.run.involuntary_switches * evidence.costs.wake_up_s / std::max(1e-9, seen.run.cpu_s()));
  const double taken_by_threads = 0.7 * std::max(spinning, kernel_of(seen)) + std::min(0.1, switching) * waiting;
  if (!spins_in_loops && threads >= 2 * evidence.cpus_count && runnable > 1.2 * evidence.cpus_count &&
      taken_by_threads >= kLeastWaitShare && (waiting > 0.25 || spinning > 0.2)) {
    Finding finding;
    finding.cause = "oversubscription";
    finding.gain_ratio = std::min(0.9, taken_by_threads);
    finding.title = fmt::format("{:.0f} threads on {:.0f} CPUs: ready threads wait for a CPU {} of the time", threads,
                                evidence.cpus_count, in_percent(waiting));
    finding.evidence.push_back(fmt::format("{:.0f} involuntary and {:.0f} voluntary context switches",
                                           seen.run.involuntary_switches, seen.run.voluntary_switches));
    if (spinning > 0.02) finding.evidence.push_back(in_percent(spinning) + " of the CPU time spins or yields");
    finding.advice = fmt::format("as many threads as CPUs ({:.0f})", evidence.cpus_count);
    finding.if_wrong = "CPUs that idle while threads wait for files or each other";
    finding.proof = "time the program with fewer threads";
    const auto settings = evidence.thread_settings(fmt::format("{:.0f}", evidence.cpus_count));
    if (!settings.empty()) {
      finding.experiments.push_back({"as many threads as CPUs", settings, {}, {}});
      finding.experiments.back().effect = TrialEffect::kThreads;
    }
    if (evidence.uses_openmp()) finding.experiments.push_back(sleeping_threads());
    findings.push_back(std::move(finding));
    return;
  }
  if (spinning < 0.1) return;
  Finding finding;
  finding.cause = "busy-waiting";
  finding.basis = FindingBasis::kRule;
  // A thread that spins on a CPU that nobody else wants costs power, no time: what threads that are ready wait for is
  // all that it can take from them, and that only where more want a CPU than there are: else they wait for what others
  // run on this machine, or for the scheduler. Only a trial tells what else it does (CPUs of one core, clocks).
  const double crowded = runnable > evidence.cpus_count ? 1 - evidence.cpus_count / runnable : 0;
  const double taken = std::min(waiting, crowded);
  finding.gain_ratio = std::min(0.9 * spinning * evidence.busy_ratio(), taken);
  finding.is_shown_by_trial = taken < kLeastWaitShare;
  if (finding.is_shown_by_trial) finding.gain_ratio = 0;
  finding.title =
      in_percent(spinning) + " of the CPU time spins: it reads, tests and yields until another thread is done";
  if (!where.empty()) finding.evidence.push_back("most in " + where);
  finding.evidence.push_back(fmt::format("{:.0f} threads on {:.0f} CPUs; ready, they wait for a CPU {} of the time",
                                         threads, evidence.cpus_count, in_percent(waiting)));
  finding.advice = "wait on a condition variable, a semaphore or std::atomic::wait; spin only for microseconds";
  finding.if_wrong = "some microseconds to wake up";
  finding.proof = "strace -f -c -e sched_yield, or the CPU time that is left when the waiting threads sleep";
  if (evidence.uses_openmp()) finding.experiments.push_back(sleeping_threads());
  findings.push_back(std::move(finding));
}

}  // namespace

void find_between_threads(const Evidence& evidence, std::vector<Finding>& findings) {
  add_locks(evidence, findings);
  add_spinning(evidence, findings);
  add_thread_starts(evidence, findings);
  add_hand_overs(evidence, findings);
  add_lone_times(evidence, findings);
  add_single_worker(evidence, findings);
}

}  // namespace perfcast::measure
