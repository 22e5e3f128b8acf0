#pragma once
// A suite on the partitions of a cluster: one job array per partition, one task per program. Everything about it lies
// in one folder that the nodes share, so that a second call goes on where the first one was:
//
//   FOLDER/times/PARTITION/        and FOLDER/profiles/PARTITION/, for either kind of campaign:
//     list-N.txt, job-N.sh         programs of an array, its script
//     arrays.tsv                   job id, list: what was submitted; before that ?JOB-NAME, list: what was about to be
//     results/PROGRAM.json         what became of it (perfcast.collection/1), written last
//     results/PROGRAM.db           its rows, a corpus
//     logs/, profiles/

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/suite/slurm_client.h"
#include "profile/suite/suite.h"
#include "profile/suite/suite_runner.h"

namespace perfcast {

struct CampaignOptions {
  std::string folder;                   // absolute, the same on all nodes
  std::vector<std::string> partitions;  // letters, digits and . _ + -
  std::vector<std::string> only;        // patterns of program ids; empty: all
  bool include_excluded = false;        // also programs that are no comparison
  bool profile = false;                 // profiles, not times
  bool again = false;                   // also what has a result
  bool wait = true;                     // until no task is left
  bool exclusive = true;                // a node to itself
  // How long a task may be gone from the queue without its result before it counts as failed. A shared folder may lag
  // behind: NFS clients believe for up to 60 s (acdirmax) that a file is absent.
  double lag_s = 60;
  // "perfcast collect --suite FILE ..." without what belongs to a task: --only, --corpus, --profiles, -o.
  std::vector<std::string> task_command;
  std::vector<std::string> sbatch_options;
};

struct CampaignRow {
  std::string partition;
  // As SuiteRunner's, and "waiting": its task is queued or runs.
  SuiteOutcome outcome;
};

class SlurmCampaign {
 public:
  // Takes a finished task's corpus file: as it arrives, and those that were there before.
  using Sink = std::function<Status(const std::string& partition, const std::string& corpus_path)>;
  // Waits so many seconds; "interrupted" ends the campaign's call, not its tasks.
  using Sleep = std::function<Status(double seconds)>;

  SlurmCampaign(const Suite& suite, CampaignOptions options, SlurmClient client, Sleep sleep);

  // Errors: "bad-usage" (a partition's name, a folder that sbatch can't take), "file-error" (also a history that
  // can't be read), "campaign-running"
  // (another process works on the folder), "interrupted", and the client's. A task without a result a minute after it
  // left the queue is "failed".
  Result<std::vector<CampaignRow>> run(const Sink& sink, const Progress& progress);

 private:
  using Queue = std::map<std::string, std::string>;  // of SlurmClient::queued
  struct Task {
    size_t row = 0;                         // in rows_
    std::string job;                        // "123_4"
    std::optional<double> missing_since_s;  // of waited_s_: neither queued nor with a result
  };

  Status check() const;
  Status plan(const std::string& partition, const Sink& sink, const Queue& queued);
  Status submit(const std::string& partition, const std::vector<size_t>& rows);
  Status record(const std::string& partition, const std::string& line) const;
  struct Submitted {
    std::map<std::string, std::string> tasks;  // program -> "123_4", of the latest array that has it
    std::set<std::string> adopted;             // of these, what an earlier call submitted and could not write down
  };
  Result<Submitted> submitted_tasks(const std::string& partition, const Queue& queued) const;
  std::string job_named(const std::string& name, const Queue& queued) const;
  Status collect(const Sink& sink, const Queue& queued);
  Status wait(const Sink& sink, const Progress& progress);
  bool take_result(size_t row);
  std::string task_script(const std::string& partition, const std::string& list) const;
  std::string path_of(const std::string& partition, const std::string& name) const;
  std::string result_path(size_t row, const char* ending) const;
  std::string summary() const;

  const Suite& suite_;
  CampaignOptions options_;
  SlurmClient client_;
  Sleep sleep_;
  std::vector<CampaignRow> rows_;
  std::vector<Task> tasks_;  // that a result is awaited of
  double waited_s_ = 0;      // slept in all; no more than the time that has passed
};

// What a task says about itself: the one program of its perfcast.collection/1. Error "bad-json-field".
Result<SuiteOutcome> parse_task_result(std::string_view json_text, const std::string& source);

}  // namespace perfcast
