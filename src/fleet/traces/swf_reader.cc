#include "fleet/traces/swf_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kFields = 18;
constexpr double kMostSeconds = 1e15;  // beyond it seconds are no longer exact, nor is any log that long

// In the format's own order.
enum Field : uint8_t {
  kJob,
  kSubmit,
  kWait,
  kRun,
  kAllocated,
  kCpuTime,
  kUsedMemory,
  kRequestedProcs,
  kRequestedTime,
  kRequestedMemory,
  kStatus,
  kUser,
  kGroup,
  kExecutable,
  kQueue,
  kPartition,
  kPreceding,
  kThink,
};

constexpr std::array<const char*, kFields> kFieldNames = {
    "job number", "submit time",   "wait time",       "run time",       "allocated processors",
    "CPU time",   "used memory",   "requested procs", "requested time", "requested memory",
    "status",     "user",          "group",           "executable",     "queue",
    "partition",  "preceding job", "think time"};

using Fields = std::array<double, kFields>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Most numbers are short integers: these take no general conversion.
bool parse_field(const char* begin, const char* end, double& value) {
  const bool negative = begin != end && *begin == '-';
  const char* digit = begin + (negative ? 1 : 0);
  if (end - digit >= 1 && end - digit <= 15) {
    int64_t whole = 0;
    const char* at = digit;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) whole = whole * 10 + (*at - '0');
    if (at == end) {
      value = static_cast<double>(negative ? -whole : whole);
      return true;
    }
  }
  const auto [stop, problem] = std::from_chars(begin, end, value);
  return problem == std::errc() && stop == end && std::isfinite(value);
}

// How often each oddity was met.
struct SwfCounts {
  size_t no_submit = 0, no_run = 0, zero_run = 0, from_requested = 0, no_requested = 0, no_procs = 0, no_limit = 0,
         raised = 0, killed = 0, failed = 0, failed_out = 0, cancelled_running = 0, cancelled_out = 0,
         cancelled_kept = 0, parts_out = 0, parts_kept = 0, sums_out = 0, too_large = 0, too_large_out = 0,
         extra_fields = 0, negative_wait = 0, renumbered = 0, no_preceding = 0, unsorted = 0;
};

class SwfParser {
 public:
  SwfParser(const std::string& source, const SwfOptions& options) : source_(source), options_(options) {}

  Result<SwfTrace> parse(std::string_view text) {
    trace_.workload.platforms = {options_.platform};
    trace_.workload.source = source_;
    const size_t guess = text.size() / 64;  // lines of real logs have 70 to 100 bytes
    trace_.workload.jobs.reserve(guess);
    trace_.workload.time_s.reserve(guess);
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      if (Status read = read_line(text.substr(at, end - at)); !read) return read.error();
      at = end + 1;
    }
    drop_sums();
    drop_too_large();
    join_predecessors();
    renumber();
    counts_.unsorted = sort_by_arrival(trace_.workload);
    write_notes();
    if (Status checked = check_workload(trace_.workload); !checked) {
      Error error = checked.error();
      if (error.where != source_) error.where = source_ + ": " + error.where;
      return error;
    }
    return std::move(trace_);
  }

 private:
  Error bad(std::string message, std::string expected) const {
    return {"bad-swf", std::move(message), fmt::format("{}:{}", source_, line_), std::move(expected)};
  }

  Status read_line(std::string_view line) {
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at != end && is_blank(*at)) ++at;
    if (at == end) return {};
    if (*at == ';') {
      read_comment({at + 1, static_cast<size_t>(end - at - 1)});
      return {};
    }
    Fields fields;
    size_t count = 0;
    while (at != end) {
      const char* const begin = at;
      while (at != end && !is_blank(*at)) ++at;
      if (count < kFields && !parse_field(begin, at, fields[count])) {
        return bad(fmt::format("field {} ({}) is '{}'", count + 1, kFieldNames[count],
                               printable({begin, std::min<size_t>(static_cast<size_t>(at - begin), 40)})),
                   "a finite number, -1 where it isn't known");
      }
      ++count;
      while (at != end && is_blank(*at)) ++at;
    }
    if (count < kFields) {
      return bad(fmt::format("found {} fields", count), "the 18 fields of the Standard Workload Format");
    }
    if (count > kFields) ++counts_.extra_fields;
    return read_job(fields);
  }

  void read_comment(std::string_view comment) {
    const size_t colon = comment.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = trim(comment.substr(0, colon));
    const std::string_view value = trim(comment.substr(colon + 1));
    SwfHeader& header = trace_.header;
    const auto number = [&](std::optional<int64_t>& to, int64_t least) {
      int64_t found = 0;
      // Text may follow the number: "MaxProcs: 100 (in the batch pool)".
      const auto [stop, problem] = std::from_chars(value.data(), value.data() + value.size(), found);
      if (!to && problem == std::errc() && found >= least) to = found;
    };
    if (key == "MaxProcs") number(header.max_procs, 1);
    if (key == "MaxNodes") number(header.max_nodes, 1);
    if (key == "UnixStartTime") number(header.unix_start_time_s, 0);
    if (key == "MaxRuntime") number(header.max_runtime_s, 1);
    if (key == "Computer" && header.computer.empty()) header.computer = value;
    if (key == "TimeZoneString" && header.time_zone.empty()) header.time_zone = value;
  }

  Status check_ranges(const Fields& fields) const {
    for (const Field field : {kSubmit, kWait, kRun, kRequestedTime, kThink}) {
      const double value = fields[field];
      // Clocks of two machines make waits below 0: not known.
      if ((value < 0 && value != -1 && field != kWait) || value > kMostSeconds) {
        return bad(fmt::format("the {} is {} s", kFieldNames[field], value), "seconds from 0, or -1 where not known");
      }
    }
    for (const Field field : {kJob, kAllocated, kRequestedProcs, kStatus, kUser, kExecutable, kPreceding}) {
      const double value = fields[field];
      const double most = field == kAllocated || field == kRequestedProcs ? INT32_MAX : 1e15;
      if (value != std::floor(value) || value < -1 || value > most) {
        return bad(fmt::format("the {} is {}", kFieldNames[field], value),
                   fmt::format("a whole number up to {:.0f}, or -1 where not known", most));
      }
    }
    if (fields[kRequestedMemory] > 1e15) return bad("the requested memory is too large", "KiB for each processor");
    return {};
  }

  Status read_job(const Fields& fields) {
    if (Status checked = check_ranges(fields); !checked) return checked;
    const auto status = static_cast<int64_t>(fields[kStatus]);
    const bool part = status >= 2 && status <= 4;
    if (part && !options_.keep_parts) return ++counts_.parts_out, Status();
    if (fields[kSubmit] < 0) return ++counts_.no_submit, Status();
    counts_.negative_wait += fields[kWait] < 0 && fields[kWait] != -1 ? 1 : 0;

    JobRequest job;
    job.id = static_cast<int64_t>(fields[kJob]);
    job.arrival_s = fields[kSubmit];
    double run_s = fields[kRun];
    if (status == 5 && run_s <= 0) {
      if (!options_.keep_cancelled || fields[kWait] < 0) return ++counts_.cancelled_out, Status();
      ++counts_.cancelled_kept;
      job.cancelled_s = fields[kSubmit] + fields[kWait];
      run_s = 0;
    } else if (run_s < 0) {
      return ++counts_.no_run, Status();
    } else if (status == 0 || status == 5) {
      if (!options_.keep_failed) return ++counts_.failed_out, Status();
      ++(status == 5 ? counts_.cancelled_running : counts_.failed);
    }
    const double cores = fields[kAllocated] > 0 ? fields[kAllocated] : fields[kRequestedProcs];
    if (cores <= 0) return ++counts_.no_procs, Status();
    counts_.from_requested += fields[kAllocated] <= 0 ? 1 : 0;
    counts_.no_requested += fields[kRequestedProcs] <= 0 ? 1 : 0;
    counts_.zero_run += run_s == 0 && std::isnan(job.cancelled_s) ? 1 : 0;

    job.cores = static_cast<int32_t>(cores);
    job.spread = true;
    if (fields[kRequestedMemory] > 0) job.memory_bytes = fields[kRequestedMemory] * 1024 * cores;
    read_limit(fields[kRequestedTime], run_s, job);
    job.owner = name(users_, fields[kUser], "user", trace_.workload.owners);
    job.program = name(executables_, fields[kExecutable], "executable", trace_.workload.programs);
    job.think_s = std::max(0.0, fields[kThink]);
    const size_t index = trace_.workload.size();
    if (fields[kPreceding] > 0) preceding_.push_back({index, static_cast<int64_t>(fields[kPreceding])});
    if (part) {
      ++counts_.parts_kept;
      const auto [before, first] = last_part_.try_emplace(job.id, index);
      if (!first) job.after = static_cast<int32_t>(std::exchange(before->second, index));
    }
    is_part_.push_back(part);
    trace_.workload.jobs.push_back(job);
    trace_.workload.time_s.push_back(run_s);
    return {};
  }

  void read_limit(double requested_s, double run_s, JobRequest& job) {
    job.limit_s = requested_s;
    if (requested_s <= 0) {
      ++counts_.no_limit;
      job.limit_s = options_.default_limit_s;
    }
    if (!(job.limit_s < run_s)) return;
    if (options_.kill_at_limit) {
      ++counts_.killed;
    } else {
      ++counts_.raised;
      job.limit_s = run_s;
    }
  }

  static int32_t name(std::unordered_map<int64_t, int32_t>& known, double number, const char* kind,
                      std::vector<std::string>& names) {
    if (number < 0) return kNoIndex;
    const auto key = static_cast<int64_t>(number);
    const auto [at, is_new] = known.try_emplace(key, static_cast<int32_t>(names.size()));
    if (is_new) names.push_back(fmt::format("{} {}", kind, key));
    return at->second;
  }

  // Keeps the jobs that `keep` holds for; indices move with them.
  template <typename Keep>
  size_t filter(Keep keep) {
    Workload& workload = trace_.workload;
    std::vector<int32_t> now_at(workload.size(), kNoIndex);
    size_t kept = 0;
    for (size_t i = 0; i < workload.size(); ++i) {
      if (!keep(i)) continue;
      now_at[i] = static_cast<int32_t>(kept);
      workload.jobs[kept] = workload.jobs[i];
      workload.time_s[kept] = workload.time_s[i];
      is_part_[kept] = is_part_[i];
      ++kept;
    }
    const size_t dropped = workload.size() - kept;
    if (dropped == 0) return 0;
    workload.jobs.resize(kept);
    workload.time_s.resize(kept);
    is_part_.resize(kept);
    for (JobRequest& job : workload.jobs) {
      if (job.after != kNoIndex) job.after = now_at[static_cast<size_t>(job.after)];
    }
    std::erase_if(preceding_, [&](const Preceding& entry) { return now_at[entry.job] == kNoIndex; });
    for (Preceding& entry : preceding_) entry.job = static_cast<size_t>(now_at[entry.job]);
    return dropped;
  }

  void drop_sums() {
    if (last_part_.empty()) return;
    counts_.sums_out =
        filter([&](size_t i) { return is_part_[i] || !last_part_.contains(trace_.workload.jobs[i].id); });
  }

  void drop_too_large() {
    const auto most = trace_.header.max_procs ? trace_.header.max_procs : trace_.header.max_nodes;
    if (!most) return;
    const auto fits = [&](size_t i) { return trace_.workload.jobs[i].cores <= *most; };
    if (options_.drop_too_large) {
      counts_.too_large_out = filter(fits);
    } else {
      for (size_t i = 0; i < trace_.workload.size(); ++i) counts_.too_large += fits(i) ? 0 : 1;
    }
  }

  void join_predecessors() {
    if (preceding_.empty()) return;
    std::vector<JobRequest>& jobs = trace_.workload.jobs;
    std::unordered_map<int64_t, int32_t> by_number;
    by_number.reserve(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) by_number[jobs[i].id] = static_cast<int32_t>(i);  // of parts the last
    for (const Preceding& entry : preceding_) {
      JobRequest& job = jobs[entry.job];
      if (job.after != kNoIndex) continue;  // a part follows the part before it
      const auto found = by_number.find(entry.number);
      if (found == by_number.end() || static_cast<size_t>(found->second) == entry.job) {
        ++counts_.no_preceding;
        job.think_s = 0;
      } else {
        job.after = found->second;
      }
    }
  }

  void renumber() {
    std::vector<JobRequest>& jobs = trace_.workload.jobs;
    const auto not_rising = [](const JobRequest& a, const JobRequest& b) { return a.id >= b.id; };
    if (std::adjacent_find(jobs.begin(), jobs.end(), not_rising) == jobs.end()) return;
    int64_t largest = 0;
    for (const JobRequest& job : jobs) largest = std::max(largest, job.id);
    std::unordered_set<int64_t> seen;
    seen.reserve(jobs.size());
    for (JobRequest& job : jobs) {
      if (seen.insert(job.id).second) continue;
      job.id = ++largest;
      ++counts_.renumbered;
    }
  }

  void write_notes() {
    const auto note = [&](size_t count, const char* what) {
      if (count > 0) trace_.workload.notes.push_back(fmt::format("{} {} {}", count, count == 1 ? "job" : "jobs", what));
    };
    const SwfCounts& c = counts_;
    note(c.no_submit, "without a submit time: left out");
    note(c.no_run, "without a run time: left out");
    note(c.no_procs, "without a number of processors: left out");
    note(c.cancelled_out, "cancelled before the start: left out");
    note(c.cancelled_kept, "cancelled before the start: waiting until then");
    note(c.cancelled_running, "cancelled while running: kept, as long as it ran");
    note(c.failed, "that failed: kept, as long as it ran");
    note(c.failed_out, "failed or cancelled while running: left out");
    note(c.parts_out, "given as parts of another (status 2 to 4): left out");
    note(c.parts_kept, "given as parts (status 2 to 4): kept, one after the other");
    note(c.sums_out, "given in parts too: their sum left out");
    note(c.zero_run, "with a run time of 0 s: kept");
    note(c.from_requested, "without allocated processors: the requested ones taken");
    note(c.no_requested, "without requested processors: the allocated ones taken");
    note(c.no_limit, std::isnan(options_.default_limit_s) ? "without a requested time: no limit, no estimate"
                                                          : "without a requested time: the default limit taken");
    note(c.raised, "running beyond the requested time: limit raised to the run time");
    note(c.killed, "running beyond the requested time: will be killed at the limit");
    note(c.too_large, "asking for more processors than the machine has: kept");
    note(c.too_large_out, "asking for more processors than the machine has: left out");
    note(c.no_preceding, "following a job that isn't there: not waited for");
    note(c.renumbered, "with a number used before: numbered on from the largest");
    note(c.unsorted, "submitted before the line ahead of it: sorted");
    note(c.extra_fields, "with more than 18 fields: the first 18 taken");
    note(c.negative_wait, "with a wait below 0: its wait is not known");
  }

  struct Preceding {
    size_t job;
    int64_t number;
  };

  const std::string& source_;
  const SwfOptions& options_;
  SwfTrace trace_;
  SwfCounts counts_;
  size_t line_ = 0;
  std::vector<Preceding> preceding_;
  std::vector<bool> is_part_;
  std::unordered_map<int64_t, size_t> last_part_;
  std::unordered_map<int64_t, int32_t> users_, executables_;
};

}  // namespace

Result<SwfTrace> parse_swf(std::string_view text, const std::string& source, const SwfOptions& options) {
  return SwfParser(source, options).parse(text);
}

Result<SwfTrace> read_swf(const std::string& path, const SwfOptions& options) {
  const auto text = read_file(path, size_t{1} << 32);
  if (!text) return text.error();
  return parse_swf(*text, path, options);
}

Cluster swf_cluster(const SwfTrace& trace) {
  int64_t nodes = 0;
  for (const JobRequest& job : trace.workload.jobs) nodes = std::max<int64_t>(nodes, job.cores);
  if (trace.header.max_nodes) nodes = *trace.header.max_nodes;
  if (trace.header.max_procs) nodes = *trace.header.max_procs;
  Cluster cluster;
  cluster.groups.emplace_back();
  cluster.groups[0].platform = trace.workload.platforms[0];
  cluster.groups[0].nodes = nodes;
  return cluster;
}

}  // namespace perfcast::fleet
