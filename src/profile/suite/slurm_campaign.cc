#include "profile/suite/slurm_campaign.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/suite/suite_tools.h"

namespace perfcast {
namespace {

constexpr size_t kMostTasks = 1000;  // of an array: Slurm's MaxArraySize is 1001 by default
constexpr size_t kLargestResultBytes = size_t{1} << 20;
constexpr size_t kLargestHistoryBytes = size_t{64} << 20;
constexpr size_t kLogTailBytes = 300;
constexpr double kFirstPoll_s = 0.25, kLastPoll_s = 15;
constexpr int kFailuresBorne = 5;  // of squeue, in a row

bool is_done(const std::string& status) {
  return status == "timed" || status == "profiled" || status == "retimed" || status == "kept";
}

// One word for sh.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// A job's name that no other array has, so that one whose id was never written down is found in the queue.
std::string unique_job_name(const std::string& suite) {
  std::random_device random;
  return fmt::format("perfcast-{}-{:08x}{:08x}", suite, random(), random());
}

// The history of a partition; empty where none was written yet. A shared disk that doesn't answer is not that.
Result<std::string> read_history(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found) {
    return std::string();
  }
  return read_file(path, kLargestHistoryBytes);
}

// The end of what a task printed, on one line.
std::string log_tail(const std::string& path) {
  const auto text = read_file(path, kLargestResultBytes);
  if (!text) return "";
  std::string end(trim(*text));
  if (end.size() > kLogTailBytes) end.erase(0, end.size() - kLogTailBytes);
  std::replace(end.begin(), end.end(), '\n', ' ');
  return printable(end);
}

}  // namespace

Result<SuiteOutcome> parse_task_result(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  if (in.string("schema") != "perfcast.collection/1") in.complain("schema", "another", "perfcast.collection/1");
  const Json* programs = in.require_array("programs");
  if (programs != nullptr && programs->size() != 1) {
    in.complain("programs", std::to_string(programs->size()) + " programs", "one program");
  }
  if (const Status status = in.finish(); !status) return status.error();
  JsonReader row((*programs)[0], source + ": programs[0]");
  SuiteOutcome outcome;
  outcome.program = row.string("id");
  outcome.status = row.string("status");
  outcome.reason = row.string_or("reason", "");
  outcome.time_per_unit_s = row.optional_number("time_per_unit_s");
  outcome.spread_ratio = row.optional_number("spread_ratio");
  outcome.seconds_s = row.number_or("took_s", 0);
  if (outcome.time_per_unit_s && !(*outcome.time_per_unit_s > 0)) {
    row.complain("time_per_unit_s", "not above 0", "a time");
  }
  if (const Status status = row.finish(); !status) return status.error();
  return outcome;
}

SlurmCampaign::SlurmCampaign(const Suite& suite, CampaignOptions options, SlurmClient client, Sleep sleep)
    : suite_(suite), options_(std::move(options)), client_(std::move(client)), sleep_(std::move(sleep)) {}

std::string SlurmCampaign::path_of(const std::string& partition, const std::string& name) const {
  return options_.folder + (options_.profile ? "/profiles/" : "/times/") + partition + "/" + name;
}

std::string SlurmCampaign::result_path(size_t row, const char* ending) const {
  return path_of(rows_[row].partition, "results/" + rows_[row].outcome.program + ending);
}

Status SlurmCampaign::check() const {
  if (options_.folder.find_first_of("%\\\n") != std::string::npos) {
    return usage_error("bad-usage", "sbatch gives % and \\ a meaning of their own in a path", options_.folder,
                       "another --campaign FOLDER");
  }
  std::set<std::string> seen;
  for (const std::string& partition : options_.partitions) {
    if (!is_partition_name(partition) || !seen.insert(partition).second) {
      return usage_error("bad-usage", "'" + printable(partition) + "' is no partition, or is named twice", "--slurm",
                         "partitions by name, with commas: --slurm epyc,graviton");
    }
  }
  if (seen.empty()) return usage_error("bad-usage", "no partition", "--slurm", "--slurm PARTITION,...");
  return {};
}

std::string SlurmCampaign::task_script(const std::string& partition, const std::string& list) const {
  std::string command;
  for (const std::string& word : options_.task_command) command += quoted(word) + " ";
  const std::string results = quoted(path_of(partition, "results")) + "/\"$program\"";
  std::string script =
      "#!/bin/sh\n# Written by perfcast collect --slurm: each task is one program of a suite.\nprogram=$(sed -n "
      "\"${SLURM_ARRAY_TASK_ID}p\" " +
      quoted(path_of(partition, list)) + ")\n[ -n \"$program\" ] || exit 1\nexec " + command +
      "--only \"$program\" --corpus " + results + ".db --json -o " + results + ".json";
  if (options_.profile) script += " --profiles " + quoted(path_of(partition, "profiles"));
  return script + "\n";
}

bool SlurmCampaign::take_result(size_t row) {
  const std::string path = result_path(row, ".json");
  const auto text = read_file(path, kLargestResultBytes);
  if (!text) return false;
  auto outcome = parse_task_result(*text, path);
  if (!outcome || outcome->program != rows_[row].outcome.program) return false;
  rows_[row].outcome = std::move(*outcome);
  return true;
}

// The queue, else Slurm's accounting where the cluster keeps it; empty: neither knows such an array.
std::string SlurmCampaign::job_named(const std::string& name, const Queue& queued) const {
  for (const auto& [task, job_name] : queued) {
    if (job_name == name) return task.substr(0, task.find('_'));
  }
  if (!client_.accounted) return "";
  const auto job = client_.accounted(name);
  return job ? *job : "";
}

// An array that was about to be submitted when a call ended has no id on record: Slurm tells it by the job's name.
Result<SlurmCampaign::Submitted> SlurmCampaign::submitted_tasks(const std::string& partition,
                                                                const Queue& queued) const {
  const auto history = read_history(path_of(partition, "arrays.tsv"));
  if (!history) return history.error();
  struct Array {
    std::string id, list;
  };
  std::vector<Array> arrays;
  std::set<std::string> known_lists;
  for (const std::string& line : split(*history, '\n')) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || line.find('/') != std::string::npos) continue;
    arrays.push_back({line.substr(0, tab), line.substr(tab + 1)});
    if (!line.starts_with('?')) known_lists.insert(arrays.back().list);
  }
  Submitted submitted;
  for (Array& array : arrays) {
    const bool adopts = array.id.starts_with('?');
    if (adopts) {
      if (known_lists.contains(array.list)) continue;
      array.id = job_named(array.id.substr(1), queued);
      if (array.id.empty()) continue;  // never submitted
      if (Status status = record(partition, array.id + "\t" + array.list); !status) return status.error();
    }
    const auto list = read_file(path_of(partition, array.list), kLargestHistoryBytes);
    if (!list) return list.error();
    size_t index = 0;
    for (const std::string& program : split(*list, '\n')) {
      if (program.empty()) continue;
      submitted.tasks[program] = array.id + "_" + std::to_string(++index);
      if (adopts) {
        submitted.adopted.insert(program);
      } else {
        submitted.adopted.erase(program);
      }
    }
  }
  return submitted;
}

Status SlurmCampaign::record(const std::string& partition, const std::string& line) const {
  const std::string path = path_of(partition, "arrays.tsv");
  const auto before = read_history(path);
  if (!before) return before.error();
  return write_file_atomically(path, *before + line + "\n");
}

Status SlurmCampaign::submit(const std::string& partition, const std::vector<size_t>& rows) {
  for (size_t first = 0; first < rows.size(); first += kMostTasks) {
    const size_t count = std::min(kMostTasks, rows.size() - first);
    size_t number = 1;
    while (exists(path_of(partition, fmt::format("list-{}.txt", number)))) ++number;
    const std::string list = fmt::format("list-{}.txt", number), script = fmt::format("job-{}.sh", number);
    std::string programs;
    for (size_t i = first; i < first + count; ++i) {
      remove_file(result_path(rows[i], ".json"));  // an earlier try's must not be taken for this one's
      programs += rows_[rows[i]].outcome.program + "\n";
    }
    if (Status status = write_file_atomically(path_of(partition, list), programs); !status) return status;
    Status written = write_file_atomically(path_of(partition, script), task_script(partition, list));
    if (!written) return written;
    const std::string name = unique_job_name(suite_.name);
    if (Status status = record(partition, fmt::format("?{}\t{}", name, list)); !status) return status;
    const auto job = client_.submit({path_of(partition, script), partition, name, path_of(partition, "logs/%A_%a.txt"),
                                     count, options_.exclusive, options_.sbatch_options});
    if (!job) return job.error();  // what is written stays: sbatch may have submitted it before it failed
    if (Status status = record(partition, *job + "\t" + list); !status) return status;
    for (size_t i = 0; i < count; ++i) tasks_.push_back({rows[first + i], *job + "_" + std::to_string(i + 1), {}});
  }
  return {};
}

Status SlurmCampaign::plan(const std::string& partition, const Sink& sink, const Queue& queued) {
  for (const char* name : {"results", "logs", "profiles"}) {
    std::error_code problem;
    std::filesystem::create_directories(path_of(partition, name), problem);
    if (problem) {
      return Error{"file-error", "can't create the campaign's folder: " + problem.message(), path_of(partition, name),
                   "--campaign FOLDER that you may write and that all nodes share"};
    }
  }
  const auto submitted = submitted_tasks(partition, queued);
  if (!submitted) return submitted.error();
  std::vector<size_t> todo;
  for (const SuiteProgram& entry : suite_.programs) {
    const Program& program = entry.program;
    const bool chosen = options_.only.empty() ||
                        std::any_of(options_.only.begin(), options_.only.end(),
                                    [&](const std::string& pattern) { return matches_pattern(pattern, program.id); });
    if (!chosen) continue;
    const size_t row = rows_.size();
    rows_.push_back({partition, {}});
    SuiteOutcome& outcome = rows_[row].outcome;
    outcome.program = program.id;
    outcome.status = "waiting";
    if (!program.excluded.empty() && !options_.include_excluded) {
      outcome.status = "excluded";
      outcome.reason = program.excluded + ": " + entry.evidence;
      continue;
    }
    const auto known = submitted->tasks.find(program.id);
    const bool adopted = submitted->adopted.contains(program.id);
    if (known != submitted->tasks.end() && queued.contains(known->second)) {
      tasks_.push_back({row, known->second, {}});
    } else if (adopted && !take_result(row)) {
      tasks_.push_back({row, known->second, {}});  // it has ended: its result may still arrive
    } else if (adopted && !is_done(outcome.status)) {
      continue;  // it failed, as if this call had submitted it
    } else if ((adopted || !options_.again) && take_result(row) && is_done(outcome.status)) {
      outcome.status = "kept";
      if (Status status = sink(partition, result_path(row, ".db")); !status) return status;
    } else {
      outcome = SuiteOutcome();
      outcome.program = program.id;
      outcome.status = "waiting";
      todo.push_back(row);
    }
  }
  return submit(partition, todo);
}

Status SlurmCampaign::collect(const Sink& sink, const Queue& queued) {
  std::vector<Task> left;
  for (Task& task : tasks_) {
    if (take_result(task.row)) {
      if (!is_done(rows_[task.row].outcome.status)) continue;
      Status status = sink(rows_[task.row].partition, result_path(task.row, ".db"));
      if (!status) return status;
      continue;
    }
    if (queued.contains(task.job)) {
      task.missing_since_s.reset();  // also one that was requeued
    } else if (!task.missing_since_s) {
      task.missing_since_s = waited_s_;
    }
    if (!task.missing_since_s || waited_s_ - *task.missing_since_s < options_.lag_s) {
      left.push_back(std::move(task));
    } else {
      SuiteOutcome& outcome = rows_[task.row].outcome;
      const std::string said = log_tail(path_of(rows_[task.row].partition, "logs/" + task.job + ".txt"));
      outcome.status = "failed";
      outcome.reason = "task " + task.job + " ended without a result" + (said.empty() ? "" : ": " + said);
    }
  }
  tasks_ = std::move(left);
  return {};
}

std::string SlurmCampaign::summary() const {
  std::vector<std::string> parts;
  for (const std::string& partition : options_.partitions) {
    size_t all = 0, waiting = 0;
    for (const CampaignRow& row : rows_) {
      if (row.partition != partition) continue;
      ++all;
      if (row.outcome.status == "waiting") ++waiting;
    }
    parts.push_back(fmt::format("{}: {} of {} done", partition, all - waiting, all));
  }
  return join(parts, ", ");
}

Status SlurmCampaign::wait(const Sink& sink, const Progress& progress) {
  double poll_s = kFirstPoll_s;
  int failures = 0;
  while (!tasks_.empty()) {
    progress(summary());
    if (Status status = sleep_(poll_s); !status) return status;
    waited_s_ += poll_s;
    poll_s = std::min(poll_s * 1.5, kLastPoll_s);
    const auto queued = client_.queued();
    if (!queued) {
      if (queued.error().kind == ErrorKind::kInterrupted || ++failures > kFailuresBorne) return queued.error();
      continue;
    }
    failures = 0;
    if (Status status = collect(sink, *queued); !status) return status;
  }
  return {};
}

Result<std::vector<CampaignRow>> SlurmCampaign::run(const Sink& sink, const Progress& progress) {
  if (const Status status = check(); !status) return status.error();
  std::error_code problem;
  std::filesystem::create_directories(options_.folder, problem);
  const std::string lock_path = options_.folder + "/lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) {
    return Error{"file-error", "can't write the campaign's folder", options_.folder,
                 "--campaign FOLDER that you may write and that all nodes share"};
  }
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return Error{"campaign-running", "another perfcast collect works on this campaign", options_.folder,
                 "wait for it, or another --campaign FOLDER"};
  }
  const auto locked = [&]() -> Status {
    const auto queued = client_.queued();
    if (!queued) return queued.error();
    for (const std::string& partition : options_.partitions) {
      if (Status status = plan(partition, sink, *queued); !status) return status;
    }
    return options_.wait ? wait(sink, progress) : Status();
  };
  const Status status = locked();
  close(lock);
  if (!status) return status.error();
  return rows_;
}

}  // namespace perfcast
