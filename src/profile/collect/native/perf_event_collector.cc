#include "profile/collect/native/perf_event_collector.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/text.h"

namespace perfcast {
namespace {

struct Event {
  const char* name;
  uint32_t type;
  uint64_t config;
  bool kernel_only = false;  // happens in the kernel: user mode alone would count nothing
  bool of_slots = false;     // in the group that "slots" leads
};

constexpr uint64_t cache_event(uint64_t cache, uint64_t result) {
  return cache | (uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8) | (result << 16);
}
constexpr uint64_t kAccess = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
constexpr uint64_t kMiss = PERF_COUNT_HW_CACHE_RESULT_MISS;

constexpr std::array<Event, 30> kEvents = {{
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"L1-dcache-loads", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, kAccess)},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, kMiss)},
    {"L1-icache-load-misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1I, kMiss)},
    {"LLC-loads", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_LL, kAccess)},
    {"LLC-load-misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_LL, kMiss)},
    {"dTLB-loads", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_DTLB, kAccess)},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_DTLB, kMiss)},
    {"iTLB-load-misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_ITLB, kMiss)},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"slots", PERF_TYPE_RAW, 0x400, false, true},
    {"topdown-retiring", PERF_TYPE_RAW, 0x8000, false, true},
    {"topdown-bad-spec", PERF_TYPE_RAW, 0x8100, false, true},
    {"topdown-fe-bound", PERF_TYPE_RAW, 0x8200, false, true},
    {"topdown-be-bound", PERF_TYPE_RAW, 0x8300, false, true},
}};

int open_event(perf_event_attr& attributes, pid_t process, int group) {
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, -1, group, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr attributes_of(const Event& event, bool user_only) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = user_only ? 1 : 0;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

}  // namespace

bool offers_topdown_slots() { return access("/sys/bus/event_source/devices/cpu/events/slots", R_OK) == 0; }

PerfEventCollector::PerfEventCollector(std::optional<int64_t> paranoid, Open open, bool has_slots)
    : paranoid_(paranoid), has_slots_(has_slots), open_(open ? std::move(open) : Open(open_event)) {}

PerfEventCollector::~PerfEventCollector() { close_all(); }

void PerfEventCollector::close_all() {
  for (const Counter& counter : counters_) {
    if (counter.descriptor >= 0) close(counter.descriptor);
  }
  counters_.clear();
}

std::string PerfEventCollector::reason(int number) const {
  switch (number) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case EINVAL:
      return "this processor or virtual machine does not offer the event";
    case EACCES:
    case EPERM:
      return fmt::format(
          "not permitted: kernel.perf_event_paranoid is {}; sysctl kernel.perf_event_paranoid=1 opens it",
          paranoid_ ? std::to_string(*paranoid_) : "unknown");
    case EMFILE:
      return "too many open descriptors";
    case ENOSYS:
      return "the kernel has no perf_event_open";
    default:
      return std::string("perf_event_open: ") + std::strerror(number);
  }
}

Status PerfEventCollector::available() const {
  for (const bool user_only : {false, true}) {
    perf_event_attr attributes = attributes_of(kEvents[0], user_only);
    const int descriptor = open_(attributes, 0, -1);
    if (descriptor >= 0) {
      close(descriptor);
      return {};
    }
    if (errno != EACCES && errno != EPERM) break;
  }
  return Error{"not-available", reason(errno), "perf_event", "a machine that offers its hardware counters"};
}

void PerfEventCollector::attach(pid_t process) {
  close_all();
  int slots = -1;  // the group's leader; without it none of the others counts
  for (const Event& event : kEvents) {
    Counter counter;
    counter.event = event.name;
    const bool leads = event.of_slots && std::strcmp(event.name, "slots") == 0;
    if (event.of_slots && (!has_slots_ || (!leads && slots < 0))) {
      counter.missing = reason(ENOENT);
      counters_.push_back(std::move(counter));
      continue;
    }
    for (const bool user_only : {false, true}) {
      perf_event_attr attributes = attributes_of(event, user_only);
      counter.descriptor = open_(attributes, process, event.of_slots && !leads ? slots : -1);
      counter.user_only = user_only;
      if (counter.descriptor >= 0) break;
      counter.missing = reason(errno);
      if ((errno != EACCES && errno != EPERM) || event.kernel_only) break;
    }
    if (leads) slots = counter.descriptor;
    counters_.push_back(std::move(counter));
  }
}

Collection PerfEventCollector::harvest() {
  Collection result;
  result.record.name = name();
  const Catalogue& catalogue = Catalogue::built_in();
  double least_share = 1;
  std::vector<std::string> multiplexed;
  bool user_only = false;
  std::string first_reason;
  for (Counter& counter : counters_) {
    const std::string* metric = catalogue.metric_of(name(), counter.event);
    if (metric == nullptr) continue;
    struct {
      uint64_t value = 0, enabled_ns = 0, running_ns = 0;
    } reading;
    if (counter.descriptor >= 0 && read(counter.descriptor, &reading, sizeof(reading)) != sizeof(reading)) {
      counter.missing = "the counter could not be read";
    } else if (counter.descriptor >= 0 && (reading.running_ns == 0 || reading.enabled_ns == 0)) {
      counter.missing = "the event never got a hardware counter";
    } else if (counter.descriptor >= 0) {
      const double share = static_cast<double>(reading.running_ns) / static_cast<double>(reading.enabled_ns);
      double value = static_cast<double>(reading.value) / std::min(1.0, share);
      if (std::strcmp(counter.event, "task-clock") == 0) value *= 1e-9;
      result.counters[*metric] = value;
      user_only = user_only || counter.user_only;
      if (share < 0.995) multiplexed.emplace_back(counter.event);
      least_share = std::min(least_share, share);
      continue;
    }
    result.missing[*metric] = counter.missing;
    if (first_reason.empty()) first_reason = counter.missing;
  }
  close_all();
  result.record.status = result.counters.empty() ? "skipped" : "ok";
  result.record.note = result.counters.empty() ? first_reason : user_only ? "user mode only" : "";
  if (!multiplexed.empty()) {
    result.warnings.push_back(
        {"multiplexed",
         fmt::format(
             "{} hardware events shared counters; the least watched was counted {:.0f}% of the time and scaled up",
             multiplexed.size(), 100 * least_share),
         "treat scaled counts as estimates; longer runs estimate better"});
  }
  return result;
}

CollectResult PerfEventCollector::collect(const CollectRequest& request) {
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  ProcessRequest run;
  run.executable = program->path;
  run.arguments = request.command;
  run.input = request.input;
  run.limit_s = request.limit_s;
  run.before_exec = [this](pid_t child) { attach(child); };
  const auto outcome = run_process(run);
  if (!outcome) return outcome.error();
  Collection result = harvest();
  result.exit_code = outcome->exit_code;
  result.signal = outcome->signal;
  result.record.seconds_s = outcome->wall_s;
  return result;
}

DoctorFinding PerfEventCollector::examine() {
  const auto found = collect(trial_request());
  if (!found) return missing(found.error());
  const size_t all = found->counters.size() + found->missing.size();
  if (const Status status = available(); !status) {
    const bool denied = status.error().message.find("perf_event_paranoid") != std::string::npos;
    return {name(), found->counters.empty() ? "missing" : "limited",
            fmt::format("{} of {} events, none of the processor's: {}", found->counters.size(), all,
                        status.error().message),
            denied ? "sysctl kernel.perf_event_paranoid=1"
                   : "use a bare-metal machine, or a virtual machine with a virtual PMU; only this collector needs it"};
  }
  const std::string level = paranoid_ ? fmt::format("kernel.perf_event_paranoid={}", *paranoid_) : "";
  return {name(), found->missing.empty() ? "ok" : "limited",
          fmt::format("{} of {} events; {}", found->counters.size(), all, level), ""};
}

}  // namespace perfcast
