#pragma once
// Which partition a job should go to, by forecasts that are given as plain numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fleet/slurm/forecast_cache.h"
#include "fleet/slurm/job_script.h"
#include "fleet/slurm/partitions.h"

namespace perfcast::fleet {

inline constexpr const char* kSlurmAdviceSchema = "perfcast.slurm-advice/1";

struct PlatformForecast {
  std::string platform;                     // as the bundle writes its name
  double rpv = 1, lower = 1, upper = 1;     // relative to one reference for all partitions; 90% interval
  std::optional<double> time_s;             // where seconds are known
  std::optional<double> time_upper_s = {};  // the upper end of their 90% interval
};

struct PartitionForecast {
  SlurmPartition partition;
  std::optional<PlatformForecast> forecast;
  std::string no_forecast;  // why there is none
};

struct AdviceSettings {
  enum class Goal { kTime, kCost };  // least time, or least price x time
  Goal goal = Goal::kTime;
  double tie_ratio = 0.02;  // partitions within this of the best are as good as it
};

struct AdviceRow {
  PartitionForecast of;
  double nodes_charged = 1;    // what the job asks for, as a share of nodes; whole nodes where its share is not known
  std::optional<double> cost;  // price per hour x time x nodes_charged, where price and time are known
  bool chosen = false;
  std::string note;  // why it can't be chosen
};

struct SlurmAdvice {
  std::string program;  // key of the cache
  std::string script;
  std::string command;  // for people
  std::string reference;
  bool in_distribution = true;
  AdviceSettings settings;
  std::vector<AdviceRow> rows;  // best first, those that can't be chosen behind
  std::vector<std::string> chosen;
  // For sbatch --time: the longest upper end among the chosen partitions, in whole minutes. Absent where seconds are
  // not known, and where the job is not one run of what was forecast.
  std::optional<int64_t> time_limit_s;
  std::vector<std::string> notes;
};

// The nodes that a job's cores and memory are of a partition's: the larger of both shares, as Slurm's accounting has
// it. Whole nodes with --exclusive, and where the partition's cores are not stated.
double nodes_charged(const JobScript& job, const SlurmPartition& partition);

// "25" s -> "00:01:00", 100000 s -> "1-03:47:00": in minutes rounded up, as sbatch --time takes it.
std::string slurm_time_text(int64_t seconds);

// The key that job_submit.lua will look for: NAME of --comment=perfcast:NAME, else the job's name, else the program's
// file name. Error "no-program-name" where there is none, or none that is_plain_name().
Result<std::string> program_key(const JobScript& job);

// Ranks and chooses; ties go to all best partitions. Partitions of unknown platform, and those whose nodes have fewer
// cores than a task asks for or less memory than the job or a task does, are listed and never chosen. `other_run`: why
// the script runs something else than was forecast; empty where it doesn't. Error "no-partition" where none is left,
// "missing-price" where the goal is cost and a partition that could be chosen has no price.
Result<SlurmAdvice> advise(const JobScript& job, const std::string& program, std::vector<PartitionForecast> partitions,
                           const AdviceSettings& settings, const std::string& other_run = {});

CacheEntry to_cache_entry(const SlurmAdvice& advice, int64_t now_unix_s);

Json to_json(const SlurmAdvice& advice);
std::string to_text(const SlurmAdvice& advice);

}  // namespace perfcast::fleet
