#pragma once
// Use case: which machine, how long on the wall, at what cost. From the forecast of one copy on a CPU model to whole
// instances of it: copies side by side, programs of several threads, prices.

#include <optional>
#include <string>
#include <vector>

#include "machine/facts/instance_facts.h"
#include "profile/profile.h"
#include "program/explain/prices.h"
#include "program/model/bundle/bundle.h"
#include "program/model/scaling/scaling_model.h"

namespace perfcast::program {

inline constexpr double kSecondsPerHour = 3600;
inline constexpr double kRunsOfCost = 1000;  // that cost_per_1000 is of

struct InstanceRow {
  Server server;
  // Of one run, the machine otherwise idle: a program of one thread as on its CPU model, and as this type departs from
  // it for other programs; one of several by its threads and the machine's vCPUs. core_s: as if one vCPU ran all its
  // threads in turn.
  std::optional<double> wall_s, core_s;
  std::optional<double> copies;  // side by side: as asked for, or as many as vCPUs, fewer where memory holds no more
  bool memory_limits = false;
  // Of all copies together, with a 90% interval; absent where the bundle knows nothing of how copies share machines.
  std::optional<double> runs_per_hour, runs_per_hour_lower, runs_per_hour_upper;
  double sharing_half_width = 0;  // what of that interval comes from copies sharing the machine, log
  std::optional<double> price_per_hour;
  CpuShare cpu_share = CpuShare::kOwn;
  bool may_be_chosen = true;            // as the fastest or the cheapest
  std::optional<double> cost;           // of one run alone
  std::optional<double> cost_per_1000;  // of a thousand runs, `copies` at a time
};

// How a program is to use an instance.
struct InstanceUse {
  std::optional<double> copies;  // side by side; absent: as many as vCPUs, or as fill them with the program's threads
  bool all_cores = false;        // one run alone, with a thread on each vCPU, as applications do
};

// A program on machines of any size, by its profile.
class InstanceForecaster {
 public:
  // `time_s` of one run alone on each of the bundle's platforms, NaN where unknown: CPU seconds, or with `is_wall` wall
  // seconds of as many cores as it kept busy where the profile was taken. `host`: the platform that was on, an index:
  // of a program of several threads part of its CPU time there was their sharing that machine. Bundle and profile must
  // outlive it.
  InstanceForecaster(const Bundle& bundle, const Profile& profile, std::vector<double> time_s, bool is_wall,
                     std::optional<size_t> host = std::nullopt);

  // Wall time, copies and their throughput on one of the bundle's instance types; `half_width`: of the log of time_s on
  // its platform, 90%. Of all cores nothing on instances that no application was timed on both ways.
  void fill(InstanceRow& row, double half_width, const InstanceUse& use) const;

  // Threads that ran or wanted to, on average over the time and at most; 1 for programs of one.
  double threads() const { return threads_; }
  // Of the work of a program of several threads, the share that ran while no second thread did; 0 for programs of one.
  double serial_ratio() const { return serial_ratio_; }
  // Of a run on a platform, by index: as if one core ran all its threads in turn. NaN where unknown.
  double core_seconds(size_t platform) const { return work_s_[platform]; }
  bool knows_scaling() const { return bundle_.scaling != nullptr && has_load_; }

 private:
  void fill_all_cores(InstanceRow& row, double work_s, double vcpus, double half_width) const;
  const MachineFacts* machine_of(const Server& server) const;
  double work_on(const std::string& platform) const;  // core seconds of a run; NaN where unknown
  // How much longer the threads took than each alone, where the profile was taken; 1 where that machine is unknown.
  double sharing_here(size_t host) const;
  // How much longer each of `threads` runs than one alone.
  double log_slowdown(const MachineFacts& machine, double work_s, double threads, double* half_width = nullptr) const;
  double wall_of_work_ratio(const MachineFacts& machine, double work_s) const;

  const Bundle& bundle_;
  const Profile& profile_;
  std::vector<double> work_s_;
  MachineList machines_;
  std::map<std::string, size_t> machine_index_;  // by vendor, name and platform
  std::map<std::string, size_t> platform_index_;
  ProgramLoad load_;
  bool has_load_ = false;
  ProgramKey key_;
  double threads_ = 1;
  double serial_ratio_ = 0;
};

// What to take, of the instances with a price and a throughput.
struct InstanceChoice {
  struct Pick {
    std::string vendor, server, platform;
    double wall_s = 0, cost_per_1000 = 0;
    double copies = 1;        // side by side
    double chance_ratio = 0;  // of being within kCloseRatio of the truly best, by the forecasts' errors
  };
  static constexpr double kCloseRatio = 1.05;
  std::optional<Pick> fastest, cheapest, compromise;
  double within_ratio = 1.2;  // the compromise: cheapest of those at most so much slower than the fastest
};

// An instance to choose from. `platform` is its index in the forecast.
struct InstanceCandidate {
  const InstanceRow* row = nullptr;
  size_t platform = 0;
  std::string platform_name;
};

// Of those that may be chosen, with a wall time and a cost per thousand runs; nothing where there is none. Chances are
// over draws (seeded) of the forecast's errors: those of platforms have `covariance`, scaled to `half_width` (log,
// 90%); those of copies that share a machine are its own.
InstanceChoice choose_instances(const std::vector<InstanceCandidate>& candidates, const Eigen::MatrixXd& covariance,
                                const Eigen::VectorXd& half_width, double within_ratio);

}  // namespace perfcast::program
