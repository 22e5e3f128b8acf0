// What a program waits for, and what it asks of the kernel.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kSmallCallBytes = 1024, kFewestLooks = 2.5;
constexpr double kMostlySyncing = 0.8, kShortWork_s = 5e-3;

// CPU seconds of all threads and processes, as a share of the wall time: what they take beside each other counts once.
double of_cpu(const Evidence& evidence, double taken_s) {
  const double cpu_s = evidence.seen.run.cpu_s();
  return cpu_s > 0 ? std::min(1.0, taken_s / cpu_s) * evidence.busy_ratio() : 0;
}

// Of one after the other.
double alone(const Evidence& evidence, double taken_s) {
  return evidence.seen.run.cpu_s() < 1.2 * evidence.wall_s() ? taken_s / std::max(1e-9, evidence.wall_s()) : 0;
}

double share_of_wait(const Evidence& evidence, ThreadState state) {
  const double all = evidence.seen.first_thread.total();
  return all > 0 ? evidence.seen.first_thread.of(state) / all : 0;
}

// Whether a call's buffer is stdio's, which stdbuf can enlarge: not that of a C++ stream, of a call that empties it, or
// none at all. "": nobody knows.
bool may_be_stdio(const std::string& entry) {
  constexpr std::string_view kStdio[] = {"_IO_", "put", "printf", "fwrite", "fread", "get", "scanf"};
  if (entry.empty()) return true;
  return entry.find("::") == std::string::npos &&
         std::any_of(std::begin(kStdio), std::end(kStdio),
                     [&](std::string_view name) { return entry.find(name) != std::string::npos; });
}

void add_small_io(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto& io = evidence.seen.run.io;
  if (!io) return;
  const double calls = io->read_calls + io->write_calls, bytes = io->read_bytes + io->written_bytes;
  if (calls < 1000 || bytes > kSmallCallBytes * calls) return;
  const double by_calls = of_cpu(evidence, calls * evidence.costs.system_call_s);
  const double share = std::max(by_calls, evidence.seen.share_of(CodeRole::kInputOutput) * evidence.busy_ratio());
  if (share < kLeastWaitShare) return;
  Finding finding;
  finding.cause = "small-io";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = std::min(0.95, 0.95 * share);
  finding.title = fmt::format("{} reads and writes of {:.0f} bytes each", human_number(calls), bytes / calls);
  finding.evidence.push_back(fmt::format("{} reads, {} writes; a call takes {:.0f} ns here at least: {} of the time",
                                         human_number(io->read_calls), human_number(io->write_calls),
                                         1e9 * evidence.costs.system_call_s, in_percent(by_calls)));
  finding.advice = "read and write in blocks of 64 KiB (a buffer, or stdio's), or map the file";
  bool has_stdio = evidence.seen.script.empty();
  for (const HotFunction& function : evidence.seen.functions) {
    if (function.role != CodeRole::kInputOutput || function.caller.empty() || !evidence.seen.script.empty()) continue;
    has_stdio = may_be_stdio(function.entry);
    finding.evidence.push_back("most by " + calls_in_words(function));
    // The buffer is there, but emptied each time.
    if (function.entry.find("endl") != std::string::npos) {
      finding.advice = "write '\\n' in place of std::endl, which hands each line to the kernel at once";
    } else if (function.entry.find("ostream") != std::string::npos &&
               function.entry.find("flush") != std::string::npos) {
      // Compilers put the rest of endl into its caller.
      finding.advice = "write '\\n' in place of std::endl or std::flush, which hand each line to the kernel at once";
    } else if (function.entry.find("flush") != std::string::npos) {
      finding.advice = "flush once at the end, or when somebody waits for it, not after each piece";
    }
    break;
  }
  finding.if_wrong = "what is in the buffer is seen, or lost, later";
  finding.proof = "strace -c, and the time with a buffer";
  if (has_stdio) {
    finding.experiments.push_back(
        {"buffers of 64 KiB (where the program uses stdio)", {}, {}, {"stdbuf", "-i64K", "-o64K"}});
    if (io->write_calls > io->read_calls)
      finding.experiments.push_back({"an output buffer of 1 MiB", {}, {}, {"stdbuf", "-o1M"}});
  }
  for (Experiment& experiment : finding.experiments) experiment.effect = TrialEffect::kCalls;
  findings.push_back(std::move(finding));
}

void add_faults(const Evidence& evidence, std::vector<Finding>& findings) {
  const ProcessOutcome& run = evidence.seen.run;
  if (evidence.seen.programs_started_count > 20) return;  // each process has its own: that is what starting costs
  const double by_faults = run.minor_faults * evidence.costs.page_fault_s;
  // The kernel's samples hold all that it did; a fault takes the more the more memory it clears.
  const double share = of_cpu(evidence, std::min(by_faults, run.system_s + by_faults / 2));
  const double pages = run.peak_resident_bytes.value_or(0) / static_cast<double>(sysconf(_SC_PAGESIZE));
  if (share < kLeastWaitShare || run.minor_faults < 2000 || run.cpu_s() < kShortestRun_s) return;
  Finding finding;
  finding.cause = "page-faults";
  finding.gain_ratio = std::min(0.9, 0.9 * share);
  // Each page of what is in use at the end had to come once: those are not to be had for nothing.
  const double again = pages > 0 ? std::max(0.0, 1 - pages / run.minor_faults) : 1;
  finding.gain_ratio *= std::max(again, 0.2);
  finding.basis = FindingBasis::kModelled;
  finding.title = fmt::format("{} page faults, {:.1f} for each page in use at its peak", human_number(run.minor_faults),
                              pages > 0 ? run.minor_faults / pages : 0);
  finding.evidence.push_back(
      fmt::format("a fault takes {:.0f} ns here: {} of the time; {} of the CPU time is the kernel's",
                  1e9 * evidence.costs.page_fault_s, in_percent(share), in_percent(kernel_of(evidence.seen))));
  finding.advice = "keep memory that is needed again (one buffer, an arena), or use large pages";
  finding.if_wrong = "memory that stays in use";
  finding.proof = "/usr/bin/time -v counts them";
  finding.experiments.push_back({"malloc that keeps freed memory",
                                 {{"MALLOC_TRIM_THRESHOLD_", "1073741824"}, {"MALLOC_MMAP_THRESHOLD_", "1073741824"}},
                                 {},
                                 {}});
  finding.experiments.push_back(
      {"large pages for malloc", {{"GLIBC_TUNABLES", evidence.tuned("glibc.malloc.hugetlb=1")}}, {}, {}});
  for (Experiment& experiment : finding.experiments) experiment.effect = TrialEffect::kPageFaults;
  findings.push_back(std::move(finding));
}

void add_starts(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  if (!seen.has_starts || seen.processes_started_count < 20) return;
  const double taken_s = seen.processes_started_count * evidence.costs.process_start_s;
  const double share = std::min(1.0, std::max(of_cpu(evidence, taken_s), alone(evidence, taken_s)));
  if (share < kLeastWaitShare) return;
  Finding finding;
  finding.cause = "process-starts";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.95 * share;
  finding.title = fmt::format("{:.0f} processes started, {:.0f} programs executed", seen.processes_started_count,
                              std::max(0.0, seen.programs_started_count - 1));
  finding.evidence.push_back(fmt::format("starting a small program takes {:.2f} ms here: {} of the time",
                                         1e3 * evidence.costs.process_start_s, in_percent(share)));
  finding.advice = "do the work in one process, or hand many items to one start (xargs -n, a server, a library)";
  if (!seen.shim.empty()) {
    finding.evidence.push_back(seen.shim + " starts programs to find the one that it runs");
    finding.advice = "run " + seen.started_by_shim + " directly";
  }
  finding.if_wrong = "faults of one item that take others along";
  finding.proof = "strace -f -c -e clone,fork,vfork,execve";
  findings.push_back(std::move(finding));
}

// Storage that answers at once still has the kernel work for each request.
double syncing(const Observation& seen) {
  double share = 0;
  for (const HotFunction& function : seen.functions) {
    for (const char* name : {"fsync", "fdatasync", "msync", "sync_file_range", "syncfs"}) {
      if (function.function == name || function.function == std::string("__") + name) share += function.cpu_share;
    }
  }
  return share;
}

// Who syncs after each small piece of work waits for the disk, and for a CPU after each wait: one sync at the end
// leaves the work alone.
double by_syncing(const Evidence& evidence, double share) {
  const Observation& seen = evidence.seen;
  double all_s = 0, syncing_s = 0;
  for (const WaitPlace& place : seen.waits) {
    if (place.state != ThreadState::kStorage) continue;
    all_s += place.s;
    syncing_s += place.call.find("sync") != std::string::npos ? place.s : 0;
  }
  const double each_s = own_work_s(seen) / std::max(1.0, seen.run.voluntary_switches);
  if (syncing_s < kMostlySyncing * all_s || all_s <= 0 || each_s > kShortWork_s) return share;
  return std::max(share, 1 - own_work_s(seen) * held_up_by_others(evidence) / std::max(1e-9, evidence.wall_s()));
}

struct Wait {
  ThreadState state;
  const char* cause;
  double avoidable;
  const char* what;
  const char* advice;
  const char* proof;
};
constexpr Wait kWaits[] = {
    {ThreadState::kStorage, "serial-io", 0.9, "files, one request after the other",
     "ask for many at once (threads, io_uring, posix_fadvise), sync once for many writes, write less",
     "iostat -x beside the run; strace -T -e trace=read,write,fsync,fdatasync"},
    {ThreadState::kPaging, "waiting-for-memory", 0.9, "memory that comes from storage",
     "use less memory than the machine has, read ahead (madvise, readahead)", "vmstat 1 beside the run"},
    {ThreadState::kSleep, "sleeping", 0.9, "a time to pass", "wait for what is to happen, not for a time",
     "strace -T -e nanosleep,clock_nanosleep"},
    {ThreadState::kNetwork, "waiting-for-network", 0.5, "a socket", "send many requests at once, keep connections",
     "ss -ti, strace -T -e network"},
    {ThreadState::kPipe, "waiting-for-a-pipe", 0, "another process, through a pipe",
     "look at that process: perfcast diagnose follows it where this program started it", "strace -T -e read,write"},
    {ThreadState::kTerminal, "waiting-for-a-terminal", 0, "a terminal", "give the input by a file",
     "strace -T -e read"},
};

}  // namespace

void find_in_waiting(const Evidence& evidence, std::vector<Finding>& findings) {
  add_small_io(evidence, findings);
  add_faults(evidence, findings);
  add_starts(evidence, findings);
  find_between_threads(evidence, findings);
  for (const Wait& wait : kWaits) {
    // Of the first thread, or of all at once: of what nobody ran for.
    const double idle = evidence.seen.idle.of(wait.state) / std::max(1e-9, evidence.wall_s());
    const double of_first = share_of_wait(evidence, wait.state);
    const bool is_handed =
        has_cause(findings, "hand-overs") && (wait.state == ThreadState::kPipe || wait.state == ThreadState::kNetwork);
    if (is_handed) continue;
    double share = std::max(of_first, idle);
    if (wait.state == ThreadState::kStorage) share += syncing(evidence.seen) * evidence.busy_ratio();
    if (share < kLeastWaitShare || evidence.seen.looks < 5 || !evidence.seen.no_system_calls.empty()) continue;
    // One look that fell on it, or two, are chance.
    if (share * static_cast<double>(evidence.seen.looks) < kFewestLooks) continue;
    Finding finding;
    finding.cause = wait.cause;
    finding.gain_ratio = wait.avoidable * (wait.state == ThreadState::kStorage ? by_syncing(evidence, share) : share);
    finding.title =
        idle > of_first
            ? fmt::format("nothing runs for {} of the wall time: it waits for {}", in_percent(idle), wait.what)
            : fmt::format("the first thread waits {} of the time for {}", in_percent(share), wait.what);
    add_places(evidence, wait.state, finding);
    finding.evidence.push_back(fmt::format("states and system calls in {} looks at /proc", evidence.seen.looks));
    if (const auto& io = evidence.seen.run.io; io && wait.state == ThreadState::kStorage) {
      finding.evidence.push_back(
          fmt::format("{} read from storage, {} written to it in {} calls", human_bytes(io->storage_read_bytes),
                      human_bytes(io->storage_written_bytes), human_number(io->read_calls + io->write_calls)));
    }
    finding.advice = wait.advice;
    finding.if_wrong = "more requests at once for those who answer them";
    finding.proof = wait.proof;
    // Who reads from a program that writes seldom waits for it.
    if (wait.state == ThreadState::kPipe)
      finding.experiments.push_back({"a buffer of one line", {}, {}, {"stdbuf", "-oL"}});
    findings.push_back(std::move(finding));
  }
}

}  // namespace perfcast::measure
