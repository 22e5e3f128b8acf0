#include "program/forecast/instance_forecast.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "program/corpus/all_cores.h"

namespace perfcast::program {
namespace {

constexpr double kSeveralThreads = 1.2;  // on average at a time, from which a program counts as one of several threads
constexpr double kOtherLayout = 100;     // further apart than any two sizes
constexpr double kFullRatio = 0.9;       // of the most threads at a time, from which nothing of an interval is serial
constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

// Threads that ran, and those that wanted to: what a machine with more CPUs would run at a time.
double demand_of(const CourseInterval& interval) { return interval.running_count + interval.ready_count; }

double mean_demand(const std::vector<CourseInterval>& course) {
  double work = 0, demand = 0;
  for (const CourseInterval& interval : course) {
    const double of_interval = interval.length_s * interval.running_count;
    work += of_interval;
    demand += of_interval * demand_of(interval);
  }
  return work > 0 ? demand / work : 1;
}

// Of the work, what ran with one thread alone: it takes as long whatever the cores (Amdahl, AFIPS 1967). An interval
// with demand between one thread and the most is a mixture of both. 0 where no second thread was ever seen.
double serial_ratio_of(const std::vector<CourseInterval>& course) {
  double most = 1;
  for (const CourseInterval& interval : course) most = std::max(most, demand_of(interval));
  if (most < kSeveralThreads) return 0;
  double work = 0, serial = 0;
  for (const CourseInterval& interval : course) {
    work += interval.length_s * interval.running_count;
    if (demand_of(interval) >= kFullRatio * most) continue;
    const double alone = std::min(1.0, (most - demand_of(interval)) / (most - 1));
    serial += interval.length_s * alone * std::min(interval.running_count, 1.0);
  }
  return work > 0 ? serial / work : 0;
}

}  // namespace

InstanceForecaster::InstanceForecaster(const Bundle& bundle, const Profile& profile, std::vector<double> time_s,
                                       bool is_wall, std::optional<size_t> host)
    : bundle_(bundle),
      profile_(profile),
      work_s_(std::move(time_s)),
      machines_(machines_of(bundle.servers, bundle.platforms)) {
  for (size_t i = 0; i < bundle.platforms.size(); ++i) platform_index_.emplace(bundle.platforms[i].id, i);
  for (size_t m = 0; m < machines_.machines.size(); ++m) {
    const MachineFacts& machine = machines_.machines[m];
    machine_index_.emplace(server_key(machine.provider, machine.name, machine.platform), m);
  }
  const Parallelism seen = parallelism_of(profile.course);
  // By what ran or wanted to: on a busy machine two threads may have had one CPU between them.
  if (const double demand = mean_demand(profile.course); demand > kSeveralThreads) {
    threads_ = demand;
    for (double& work : work_s_) work *= is_wall ? seen.running_count : 1;
    serial_ratio_ = serial_ratio_of(profile.course);
  }
  load_ = load_of(profile, 1);
  has_load_ = is_known(load_);
  if (!knows_scaling()) return;
  key_ = bundle.scaling->key_of(load_, machines_.machines,
                                [this](const std::string& platform) { return work_on(platform); });
  if (threads_ <= 1 || !host) return;
  const double sharing = sharing_here(*host);
  for (double& work : work_s_) work /= sharing;
}

double InstanceForecaster::sharing_here(size_t host) const {
  const std::string& platform = bundle_.platforms[host].id;
  const auto here_vcpus = static_cast<double>(profile_.host.logical_cpus.value_or(1));
  const std::optional<int64_t> threads_per_core = profile_.host.threads_per_core;
  const MachineFacts* like =
      nullptr;  // of the platform's with the host's layout, where it says that, the one of the nearest size
  for (const MachineFacts& machine : machines_.machines) {
    if (machine.platform != platform) continue;
    const auto apart = [&](const MachineFacts& of) {
      const bool as_here = !threads_per_core || of.siblings == (*threads_per_core > 1);
      return std::abs(std::log2(of.vcpus / here_vcpus)) + (as_here ? 0 : kOtherLayout);
    };
    if (like == nullptr || apart(machine) < apart(*like)) like = &machine;
  }
  if (like == nullptr || std::isnan(work_s_[host])) return 1;
  MachineFacts here = *like;
  here.vcpus = here_vcpus;
  if (threads_per_core) here.siblings = *threads_per_core > 1;
  here.cores = here.siblings ? std::max(1.0, here_vcpus / 2) : here_vcpus;
  double work = 0, alone = 0;
  for (const CourseInterval& interval : profile_.course) {
    const double of_interval = interval.length_s * interval.running_count;
    work += of_interval;
    alone += of_interval / std::exp(log_slowdown(here, work_s_[host], interval.running_count));
  }
  return alone > 0 ? work / alone : 1;
}

double InstanceForecaster::work_on(const std::string& platform) const {
  const auto found = platform_index_.find(platform);
  return found == platform_index_.end() ? kUnknown : work_s_[found->second];
}

const MachineFacts* InstanceForecaster::machine_of(const Server& server) const {
  const auto found = machine_index_.find(server_key(server.vendor, server.name, server.platform));
  return found == machine_index_.end() ? nullptr : &machines_.machines[found->second];
}

double InstanceForecaster::log_slowdown(const MachineFacts& machine, double work_s, double threads,
                                        double* half_width) const {
  const CopiesForecast forecast =
      bundle_.scaling->forecast(key_, {&load_, &machine, work_s, std::clamp(threads, 1.0, machine.vcpus)});
  if (half_width != nullptr) *half_width = forecast.half_width;
  return forecast.log_slowdown;
}

// Wall time of a run over its core seconds, by how many of its threads ran or wanted to over the time: where a machine
// has fewer vCPUs than they want, the rest waits; where it has more, those that waited here run.
double InstanceForecaster::wall_of_work_ratio(const MachineFacts& machine, double work_s) const {
  double work = 0, wall = 0;
  for (const CourseInterval& interval : profile_.course) {
    const double threads = std::clamp(demand_of(interval), 1.0, machine.vcpus);
    const double of_interval = interval.length_s * interval.running_count;
    work += of_interval;
    wall += of_interval * std::exp(log_slowdown(machine, work_s, threads)) / threads;
  }
  return work > 0 ? wall / work : 1;
}

// By what applications made of this instance; what the profile shows to be serial stays so.
void InstanceForecaster::fill_all_cores(InstanceRow& row, double work_s, double vcpus, double half_width) const {
  row.copies = 1;
  row.core_s = work_s;
  const std::optional<AllCoresLevel> level = all_cores_level_of(row.server);
  if (!level) return;
  const double divided = std::exp(level->log_slowdown) / vcpus;
  row.wall_s = work_s * (serial_ratio_ + (1 - serial_ratio_) * divided);
  row.sharing_half_width = all_cores_half_width(*level);
  const double half = std::hypot(half_width, row.sharing_half_width);
  row.runs_per_hour = kSecondsPerHour / *row.wall_s;
  row.runs_per_hour_lower = *row.runs_per_hour * std::exp(-half);
  row.runs_per_hour_upper = *row.runs_per_hour * std::exp(half);
  if (row.price_per_hour) row.cost_per_1000 = kRunsOfCost * *row.price_per_hour / *row.runs_per_hour;
}

void InstanceForecaster::fill(InstanceRow& row, double half_width, const InstanceUse& use) const {
  const double work_s = work_on(row.server.platform);
  const MachineFacts* machine = machine_of(row.server);
  if (std::isnan(work_s) || machine == nullptr) return;
  if (use.all_cores) {
    fill_all_cores(row, work_s, machine->vcpus, half_width);
    return;
  }
  double many = use.copies.value_or(std::max(1.0, std::floor(machine->vcpus / std::round(threads_))));
  const auto resident = profile_.metrics.find("max_rss_bytes");
  if (resident != profile_.metrics.end() && resident->second > 0 && row.server.memory_gib) {
    const double held = std::floor(*row.server.memory_gib * kBytesPerGib / resident->second);
    row.memory_limits = held < many;
    many = std::min(many, held);
  }
  row.copies = many;
  if (many < 1) return;  // not even one fits
  row.core_s = work_s;
  if (threads_ <= 1) {
    row.wall_s = knows_scaling() ? work_s * std::exp(log_slowdown(*machine, work_s, 1)) : work_s;
  } else if (knows_scaling()) {
    row.wall_s = work_s * wall_of_work_ratio(*machine, work_s);
  }
  if (!knows_scaling()) return;
  // More threads than vCPUs take turns.
  const double busy = std::min(many * threads_, machine->vcpus);
  const double log_work = std::log(work_s) + log_slowdown(*machine, work_s, busy, &row.sharing_half_width);
  const double half = std::hypot(half_width, row.sharing_half_width);
  row.runs_per_hour = busy * kSecondsPerHour / std::exp(log_work);
  row.runs_per_hour_lower = *row.runs_per_hour * std::exp(-half);
  row.runs_per_hour_upper = *row.runs_per_hour * std::exp(half);
  if (row.price_per_hour) row.cost_per_1000 = kRunsOfCost * *row.price_per_hour / *row.runs_per_hour;
}

InstanceChoice choose_instances(const std::vector<InstanceCandidate>& candidates, const Eigen::MatrixXd& covariance,
                                const Eigen::VectorXd& half_width, double within_ratio) {
  constexpr int kDraws = 1000;
  constexpr double kNinetyPercent = 1.6449;  // standard deviations
  InstanceChoice choice;
  choice.within_ratio = within_ratio;
  std::vector<const InstanceCandidate*> usable;
  for (const InstanceCandidate& candidate : candidates) {
    if (candidate.row->may_be_chosen && candidate.row->wall_s && candidate.row->cost_per_1000)
      usable.push_back(&candidate);
  }
  if (usable.empty()) return choice;
  const auto n = static_cast<Eigen::Index>(usable.size());
  Eigen::VectorXd log_wall(n), log_cost(n), sharing(n);
  std::vector<Eigen::Index> platform;  // of each, among those in use
  std::vector<Eigen::Index> used;
  for (Eigen::Index i = 0; i < n; ++i) {
    const InstanceCandidate& candidate = *usable[static_cast<size_t>(i)];
    log_wall(i) = std::log(*candidate.row->wall_s);
    log_cost(i) = std::log(*candidate.row->cost_per_1000);
    sharing(i) = candidate.row->sharing_half_width / kNinetyPercent;
    const auto index = static_cast<Eigen::Index>(candidate.platform);
    const auto known = std::find(used.begin(), used.end(), index);
    platform.push_back(known - used.begin());
    if (known == used.end()) used.push_back(index);
  }
  const auto least = [&](const Eigen::VectorXd& values, auto&& allowed) {
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (allowed(i) && (best < 0 || values(i) < values(best))) best = i;
    }
    return best;
  };
  const auto any = [](Eigen::Index) { return true; };
  const double log_within = std::log(within_ratio), log_close = std::log(InstanceChoice::kCloseRatio);
  const Eigen::Index fastest = least(log_wall, any), cheapest = least(log_cost, any);
  const auto near_fastest = [&](const Eigen::VectorXd& walls, double fastest_wall) {
    return [&walls, fastest_wall, log_within](Eigen::Index i) { return walls(i) <= fastest_wall + log_within; };
  };
  const Eigen::Index compromise = least(log_cost, near_fastest(log_wall, log_wall(fastest)));

  const Eigen::MatrixXd block = covariance(used, used);
  const Eigen::VectorXd deviations = block.diagonal().cwiseMax(1e-12).cwiseSqrt();
  const Eigen::MatrixXd correlation =
      (deviations.cwiseInverse().asDiagonal() * block * deviations.cwiseInverse().asDiagonal());
  const Eigen::MatrixXd root =
      cholesky_root(correlation + 1e-6 * Eigen::MatrixXd::Identity(correlation.rows(), correlation.cols()));
  const Eigen::VectorXd spread = half_width(used) / kNinetyPercent;
  Random random(1);
  double fastest_close = 0, cheapest_close = 0, compromise_close = 0;
  Eigen::VectorXd normal(root.cols()), wall(n), cost(n);
  for (int draw = 0; draw < kDraws; ++draw) {
    for (double& value : normal) value = random.normal();
    const Eigen::VectorXd errors = (root * normal).cwiseProduct(spread);
    for (Eigen::Index i = 0; i < n; ++i) {
      wall(i) = log_wall(i) + errors(platform[static_cast<size_t>(i)]);
      cost(i) = log_cost(i) + errors(platform[static_cast<size_t>(i)]) + sharing(i) * random.normal();
    }
    const double fastest_wall = wall(least(wall, any));
    fastest_close += wall(fastest) <= fastest_wall + log_close ? 1 : 0;
    cheapest_close += cost(cheapest) <= cost(least(cost, any)) + log_close ? 1 : 0;
    const auto allowed = near_fastest(wall, fastest_wall);
    compromise_close += allowed(compromise) && cost(compromise) <= cost(least(cost, allowed)) + log_close ? 1 : 0;
  }
  const auto pick = [&](Eigen::Index i, double close) {
    const InstanceCandidate& candidate = *usable[static_cast<size_t>(i)];
    const InstanceRow& row = *candidate.row;
    return InstanceChoice::Pick{row.server.vendor,  row.server.name,        candidate.platform_name, *row.wall_s,
                                *row.cost_per_1000, row.copies.value_or(1), close / kDraws};
  };
  choice.fastest = pick(fastest, fastest_close);
  choice.cheapest = pick(cheapest, cheapest_close);
  choice.compromise = pick(compromise, compromise_close);
  return choice;
}

}  // namespace perfcast::program
