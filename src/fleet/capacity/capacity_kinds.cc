#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "fleet/capacity/capacity_sizing.h"
#include "fleet/jobs/job_power.h"
#include "fleet/policy/node_pool.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kMostKinds = 150;
constexpr size_t kMostDemanding = 30;  // rows of least_nodes
constexpr int kMostWidenings = 12;

// A job as the programs see it.
struct Piece {
  double seconds = 0;  // s: geometric mean of its times
  double weight = 0;   // s x tasks
  double cores = 0, gpus = 0, memory_bytes = 0;
  std::vector<double> ratio;  // NaN: fits no node
  std::vector<double> joules;
};

int64_t bin(double value, double width) {
  if (std::isnan(value)) return -1000000;
  return value > 0 ? static_cast<int64_t>(std::floor(std::log(value) / width + 0.5)) : -999999;
}

std::vector<int64_t> key_of(const Piece& piece, double width) {
  std::vector<int64_t> key;
  for (const double amount : {piece.cores, piece.gpus, piece.memory_bytes}) key.push_back(bin(amount, width));
  for (const double ratio : piece.ratio) key.push_back(bin(ratio, width));
  return key;
}

SizingKind merged(const std::vector<const Piece*>& pieces, double rate_per_sample_job) {
  SizingKind kind;
  const Piece& first = *pieces.front();
  kind.cores = first.cores;
  kind.gpus = first.gpus;
  kind.memory_bytes = first.memory_bytes;
  kind.ratio = first.ratio;
  kind.joules = first.joules;
  for (const Piece* piece : pieces) {
    kind.task_seconds += piece->weight * rate_per_sample_job;
    kind.cores = std::min(kind.cores, piece->cores);
    kind.gpus = std::min(kind.gpus, piece->gpus);
    kind.memory_bytes = std::min(kind.memory_bytes, piece->memory_bytes);
    for (size_t g = 0; g < kind.ratio.size(); ++g) {
      kind.ratio[g] = std::min(kind.ratio[g], piece->ratio[g]);
      kind.joules[g] = std::min(kind.joules[g], piece->joules[g]);  // NaN stays where the first has one
    }
  }
  return kind;
}

// For each task-second, as the flows count them.
double joules_of(const NodeGroup& node, const Workload& workload, size_t job, double time_s, double weight) {
  const auto found = std::find(workload.platforms.begin(), workload.platforms.end(), node.platform);
  const auto column = static_cast<int32_t>(found - workload.platforms.begin());
  return power_above_idle_w(workload, job, node, column) * time_s / weight;
}

Piece piece_of(const SizingInput& input, const Workload& workload, size_t job, std::span<const double> times) {
  Piece piece;
  double logs = 0;
  int fits = 0;
  for (const double time_s : times) {
    if (std::isnan(time_s)) continue;
    if (time_s <= 0) return piece;  // takes nothing somewhere: no load at all
    logs += std::log(time_s);
    ++fits;
  }
  if (fits == 0) return piece;
  const TaskShape shape(workload.jobs[job]);
  piece.seconds = std::exp(logs / fits);
  piece.weight = piece.seconds * shape.tasks;
  piece.cores = shape.cores;
  piece.gpus = shape.gpus;
  piece.memory_bytes = shape.memory_bytes;
  for (size_t g = 0; g < times.size(); ++g) {
    const bool runs = !std::isnan(times[g]);
    piece.ratio.push_back(runs ? times[g] / piece.seconds : kUnknown);
    piece.joules.push_back(runs ? joules_of(input.candidates[g], workload, job, times[g], piece.weight) : kUnknown);
  }
  return piece;
}

// Nodes of each candidate that a job needs, 0 where it can't run; jobs of like requests are looked at once.
class JobNeeds {
 public:
  explicit JobNeeds(std::span<const NodeGroup> candidates) : candidates_(candidates) {}
  const std::vector<int64_t>& of(const JobRequest& job) {
    const double memory_bytes = std::isnan(job.memory_bytes) ? -1 : job.memory_bytes;
    auto [at, is_new] = known_.try_emplace({job.cores, job.gpus, job.spread, memory_bytes});
    if (is_new) {
      for (const NodeGroup& candidate : candidates_) at->second.push_back(nodes_for_job(candidate, job));
    }
    return at->second;
  }

 private:
  std::span<const NodeGroup> candidates_;
  std::map<std::tuple<int32_t, int32_t, bool, double>, std::vector<int64_t>> known_;
};

bool asks_no_more(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t g = 0; g < a.size(); ++g) {
    if (b[g] != 0 && (a[g] == 0 || a[g] > b[g])) return false;
  }
  return true;
}

void keep_demanding(std::vector<std::vector<int64_t>>& kept, const std::vector<int64_t>& need) {
  const auto covers = [&](const std::vector<int64_t>& other) { return asks_no_more(need, other); };
  if (std::any_of(kept.begin(), kept.end(), covers)) return;
  std::erase_if(kept, [&](const std::vector<int64_t>& other) { return asks_no_more(other, need); });
  if (kept.size() < kMostDemanding) kept.push_back(need);
}

}  // namespace

int64_t nodes_for_job(const NodeGroup& candidate, const JobRequest& job) {
  const TaskShape shape(job);
  NodeGroup one = candidate;
  one.nodes = 1;
  // The most tasks that an empty node holds.
  TaskShape part = shape;
  int32_t low = 0, high = shape.tasks;
  while (low < high) {
    part.tasks = low + (high - low + 1) / 2;
    if (NodePool(one).fits_when_empty(part)) {
      low = part.tasks;
    } else {
      high = part.tasks - 1;
    }
  }
  return low == 0 ? 0 : (shape.tasks + low - 1) / low;
}

std::vector<double> candidate_times(const Workload& workload, std::span<const NodeGroup> candidates) {
  std::vector<size_t> columns;
  for (const NodeGroup& candidate : candidates) {
    const auto found = std::find(workload.platforms.begin(), workload.platforms.end(), candidate.platform);
    columns.push_back(static_cast<size_t>(found - workload.platforms.begin()));
  }
  JobNeeds needs(candidates);
  std::vector<double> times;
  times.reserve(workload.size() * candidates.size());
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& job = workload.jobs[i];
    const std::vector<int64_t>& need = needs.of(job);
    for (size_t g = 0; g < candidates.size(); ++g) {
      const bool fits = need[g] > 0 && (candidates[g].nodes == kAnyNumber || need[g] <= candidates[g].nodes);
      const double time_s = fits ? workload.times(i)[columns[g]] : kUnknown;
      times.push_back(job.limit_s < time_s ? job.limit_s : time_s);
    }
  }
  return times;
}

void add_kinds(std::span<const Workload* const> samples, std::span<const std::vector<double>> times,
               SizingInput& input) {
  const size_t groups = input.candidates.size();
  JobNeeds needs(input.candidates);
  std::vector<Piece> pieces;
  size_t jobs = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    jobs += samples[s]->size();
    for (size_t i = 0; i < samples[s]->size(); ++i) {
      const auto row = std::span(times[s]).subspan(i * groups, groups);
      const JobRequest& job = samples[s]->jobs[i];
      std::vector<int64_t> need = needs.of(job);
      for (size_t g = 0; g < groups; ++g) need[g] = std::isnan(row[g]) ? 0 : need[g];
      keep_demanding(input.least_nodes, need);
      if (!std::isnan(job.cancelled_s)) continue;
      Piece piece = piece_of(input, *samples[s], i, row);
      if (piece.weight > 0) pieces.push_back(std::move(piece));
    }
  }
  const double rate_per_sample_job = input.arrivals_per_s / static_cast<double>(jobs);
  double width = 0.02;
  std::map<std::vector<int64_t>, std::vector<const Piece*>> bins;
  for (int i = 0; i <= kMostWidenings; ++i, width *= 1.6) {
    bins.clear();
    for (const Piece& piece : pieces) bins[key_of(piece, width)].push_back(&piece);
    if (bins.size() <= kMostKinds) break;
  }
  for (const auto& [key, members] : bins) input.kinds.push_back(merged(members, rate_per_sample_job));
}

}  // namespace perfcast::fleet
